"""The learning rule of each lecture, by name.

Each rule is declared here once. Python, `rosenblatt trace --preset` and the addresses of the lab page use it.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.exceptions import Given, InputError, ParameterError, Remedy
from rosenblatt.parameters import unknown_name

if TYPE_CHECKING:
    from rosenblatt.estimators.perceptron import Perceptron

__all__ = ["Preset", "fit", "get", "names"]


@dataclass(frozen=True)
class Preset:
    """The rule of a lecture, and how the lecture starts it.

    Attributes
    ----------
    name : str
        Its name.
    lecture : str
        The author and the year.
    says : str
        What is special about the rule, in a few words.
    data : str
        The built-in set that shows it, such as "six-points".
    rule : mapping
        The parameters of `rosenblatt.Perceptron` that differ from its defaults, apart from the order.
    start : tuple of float or None
        The weights to start from. None means what `rule` says, by default zeros.
    start_bias : float
        The bias to start from.
    first : int
        The first row of each pass, counted from 1.

    Examples
    --------
    >>> get("harchaoui").rule
    {'bias': None, 'tie': 'correct', 'init': 'first'}
    """

    name: str
    lecture: str
    says: str
    data: str
    rule: Mapping[str, Any] = field(default_factory=dict)
    start: tuple[float, ...] | None = None
    start_bias: float = 0.0
    first: int = 1

    def perceptron(self, **changes: Any) -> Perceptron:
        """Return an untrained perceptron with this rule; `changes` are other parameters."""
        from rosenblatt.estimators.perceptron import Perceptron

        return Perceptron(**{"order": "cyclic", **self.rule, **changes})

    def fit(self, X: ArrayLike, y: NDArray[Any] | Sequence[Any], **changes: Any) -> Perceptron:
        """Train a perceptron with this rule, from the start of the lecture, and keep every update.

        Parameters
        ----------
        X, y : array-like
            The rows and their labels.
        **changes
            Other parameters of `rosenblatt.Perceptron`.

        Returns
        -------
        Perceptron

        Examples
        --------
        >>> import rosenblatt as rb
        >>> clf = get("koski-example").fit(*rb.datasets.load_six_points())
        >>> (clf.trace_.index + 1).tolist()
        [5, 3, 1]
        """
        order = "cyclic" if self.first == 1 else np.roll(np.arange(len(y)), 1 - self.first)
        given: dict[str, Any] = {}
        if self.start is not None:
            self.require_features(np.shape(X)[-1])
            given = {"coef_init": [list(self.start)], "intercept_init": [self.start_bias]}
        return self.perceptron(**{"order": order, "trace": "mistakes", **changes}).fit(X, y, **given)

    def require_features(self, n_features: int) -> None:
        """Raise `ParameterError` if the start of the lecture has another number of weights."""
        if self.start is not None and len(self.start) != n_features:
            raise ParameterError(
                Given("preset", self.name)
                + f" starts from {len(self.start)} weights, but the data has {n_features} features. Choose "
                "another " + Remedy("start") + " or another preset."
            )

    def lab_document(
        self,
        X: ArrayLike,
        y: NDArray[Any] | Sequence[Any],
        *,
        name: str = "points",
        features: Sequence[str] | None = None,
        passes: int = 200,
    ) -> dict[str, Any]:
        """Return rows and this rule as the lab page reads them; the parameters are those of `lab_address`."""
        rows, labels = np.asarray(X, dtype=float), np.unique(y)
        if len(labels) != 2:
            raise ParameterError(f"y has {len(labels)} labels; an address of the lab needs two.", parameter="y")
        config: dict[str, Any] = {"passes": passes}
        named = {"eta0": "eta", "tie": "tie", "zero": "zero", "init": "start"}
        config |= {named[key]: value for key, value in self.rule.items() if key in named}
        if "bias" in self.rule:
            config["bias"] = self.rule["bias"] or "none"
        if self.first != 1:
            config |= {"order": "given", "given": [np.roll(np.arange(len(rows)), 1 - self.first).tolist()]}
        if self.start is not None:
            self.require_features(rows.shape[1])
            config |= {"start": "given", "w0": [*self.start, self.start_bias]}
        return {
            "n": name,
            "f": [f"x{j + 1}" for j in range(rows.shape[1])] if features is None else list(features),
            "l": [str(label) for label in labels],
            "X": [[int(value) if value.is_integer() else value for value in row] for row in rows.tolist()],
            "y": "".join(str(int(each)) for each in np.searchsorted(labels, y)),
            "a": config,
        }

    def lab_address(
        self,
        X: ArrayLike,
        y: NDArray[Any] | Sequence[Any],
        *,
        name: str = "points",
        features: Sequence[str] | None = None,
        passes: int = 200,
    ) -> str:
        """Return the end of an address that opens the lab page with these rows and this rule.

        Append it to the address of the page, such as ``lab.html``. The rows must have two labels.

        Parameters
        ----------
        X, y : array-like
            At most a few hundred rows; addresses are limited to 8,192 characters.
        name : str
            What the page calls the data.
        features : sequence of str or None
            What the page calls the columns. None means x1, x2 and so on.
        passes : int
            The maximum number of passes.

        Examples
        --------
        >>> import rosenblatt as rb
        >>> get("zhang").lab_address(*rb.datasets.load_or()).startswith("#v1.")
        True
        """
        document = self.lab_document(X, y, name=name, features=features, passes=passes)
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = packer.compress(text) + packer.flush()
        address = "#v1." + base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")
        if len(address) > LONGEST_ADDRESS:
            raise InputError(f"The {len(document['X'])} rows do not fit into an address. Pass fewer of them.")
        return address


LONGEST_ADDRESS = 8192
"""The most characters of an address that the page writes or a reader can send."""

_ALL = (
    Preset(
        "koski",
        "Koski 2017",
        "Rosenblatt's algorithm: from zero, and the bias gains y·R²",
        "six-points",
        {"bias": "radius", "zero": 1},
    ),
    Preset(
        "koski-example",
        "Koski 2017",
        "the worked example: η = 0.2 from w = (1, 0.5), and point 5 is first",
        "six-points",
        {"eta0": 0.2, "tie": "sign", "zero": 1},
        start=(1.0, 0.5),
        first=5,
    ),
    Preset("hladka-holub", "Hladká and Holub 2016", "from zero, a tie is a mistake", "and"),
    Preset(
        "harchaoui",
        "Harchaoui",
        "no bias, from y₁x₁, a tie is correct",
        "diagonal",
        {"bias": None, "tie": "correct", "init": "first"},
    ),
    Preset(
        "kernels",
        "Slides on perceptrons and kernels",
        "a step of η/2·(y − sgn f), with sgn 0 = −1",
        "or",
        {"tie": "sign", "zero": -1},
    ),
    Preset(
        "zhang",
        "Zhang 2024",
        "from zero, a tie is a mistake, and a cycle ends the run",
        "spam-table",
        {"stop_on_cycle": True},
    ),
)


def names() -> list[str]:
    """Return the names of all presets.

    Examples
    --------
    >>> names()
    ['koski', 'koski-example', 'hladka-holub', 'harchaoui', 'kernels', 'zhang']
    """
    return [each.name for each in _ALL]


def get(name: str) -> Preset:
    """Return a preset by its name.

    Raises
    ------
    ParameterError
        If there is no such preset.

    Examples
    --------
    >>> get("zhang").lecture
    'Zhang 2024'
    """
    for each in _ALL:
        if each.name == name:
            return each
    raise unknown_name("preset", name, "is not a preset", names())


def fit(name: str, X: ArrayLike, y: NDArray[Any] | Sequence[Any], **changes: Any) -> Perceptron:
    """Train a perceptron by the rule of a lecture; see `Preset.fit`.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> clf = rb.presets.fit("koski", *rb.datasets.load_six_points())
    >>> clf.n_mistakes_, clf.coef_, clf.intercept_
    (11, array([[1.5, 7.5]]), array([8.]))
    """
    return get(name).fit(X, y, **changes)
