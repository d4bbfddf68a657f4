"""The contents of a model file: learner, largest weights, how training went, and origin."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.escaping import ShowsText, align_columns, count, number, printable
from rosenblatt.models.files import Predictor, StoredModel, open_model
from rosenblatt.models.opened import OpenedModel
from rosenblatt.registry import defaults_of
from rosenblatt.tasks.data import TAGGER, Place

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate

__all__ = ["ModelContents", "NamedWeight", "inspect_model"]


class NamedWeight(NamedTuple):
    """A weight of a hyperplane.

    Attributes
    ----------
    of : str
        The class on the positive side of the hyperplane.
    feature : str
        The name of the feature.
    weight : float
        Its weight.
    """

    of: str
    feature: str
    weight: float


@dataclass(frozen=True, eq=False)
class ModelContents(ShowsText):
    """The contents of a model file; ``print`` shows them.

    Attributes
    ----------
    learner : str
        The name of the estimator class.
    classes : ndarray or None
        The labels.
    n_features : int or None
        The number of features that the learner sees; None for a filter of signals, which has none.
    parameters, training, provenance : dict
        The parameters of the estimator, single results of training such as ``n_iter_``, and where the model comes
        from.
    certificate : Certificate or None
        The proof that ended training, or the verdict in floats; reading does not verify it.
    weights : list of NamedWeight
        The largest weights of each hyperplane; empty for models that are not linear.
    preprocessing : dict or None
        How columns become features.
    """

    learner: str
    classes: NDArray[Any] | None
    n_features: int | None
    parameters: dict[str, Any]
    training: dict[str, Any]
    weights: list[NamedWeight]
    preprocessing: dict[str, Any] | None
    provenance: dict[str, Any]
    certificate: Certificate | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them; others, such as kernels, as Python shows them."""
        return {
            "learner": self.learner,
            "classes": None if self.classes is None else self.classes.tolist(),
            "features": self.n_features,
            "parameters": _plain(self.parameters),
            "training": _plain(self.training),
            "certificate": None if self.certificate is None else str(self.certificate).splitlines(),
            "weights": [each._asdict() for each in self.weights],
            "preprocessing": self.preprocessing,
            "provenance": _plain(self.provenance),
        }

    def __str__(self) -> str:
        usual = defaults_of(self.learner)
        given = self.parameters.items()
        changed = {name: value for name, value in given if _plain(value) != _plain(usual.get(name))}
        lines = [f"{self.learner}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"]
        if self.classes is not None and self.n_features is not None:
            labels = ", ".join(map(printable, self.classes.tolist()[:20]))
            lines.append(f"{count(self.n_features, 'feature')}, {len(self.classes)} classes: {labels}")
        if self.weights:
            several = len({each.of for each in self.weights}) > 1
            rows = [[*([of] if several else []), name, f"{weight:+.6g}"] for of, name, weight in self.weights]
            lines += [
                "",
                "largest weights",
                *("  " + line for line in align_columns(rows, left=range(1 + several))),
            ]
        if self.certificate is not None:
            lines += ["", "certificate (rows are counted from 0; its method verify checks it)"]
            lines += ["  " + line for line in str(self.certificate).splitlines()]
        for title, values in (("training", self.training), ("provenance", self.provenance)):
            if values:
                named = align_columns([[name, _short(value)] for name, value in values.items()], left=(0, 1))
                lines += ["", title, *("  " + line for line in named)]
        return "\n".join(lines)


def inspect_model(path: Place, *, weights: int = 10) -> ModelContents:
    """Return the contents of a model file. Nothing in the file is executed.

    Parameters
    ----------
    path : path
        The file.
    weights : int
        The number of weights of each hyperplane, largest first.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> with TemporaryDirectory() as folder:
    ...     rb.train("@or", "perceptron", parameters={"order": "cyclic"}).save(f"{folder}/or.model")
    ...     contents = inspect_model(f"{folder}/or.model")
    >>> contents.learner, contents.training["stop_reason_"]
    ('Perceptron', 'separated')
    >>> contents.weights[0]
    NamedWeight(of='1', feature='x1', weight=2.0)
    """
    stored = open_model(path)
    if stored.learner == TAGGER:
        return _contents_of_tagger(stored, weights)
    opened = OpenedModel(stored)
    recipe = opened.recipe
    return ModelContents(
        learner=stored.learner,
        classes=stored.classes,
        n_features=opened.predictor.n_features if hasattr(opened.predictor, "n_features") else None,
        parameters=stored.parameters,
        training=stored.facts,
        weights=_largest(opened, weights),
        preprocessing=None if recipe is None else recipe.to_json(),
        provenance=stored.provenance,
        certificate=stored.certificate,
    )


def _contents_of_tagger(stored: StoredModel, n: int) -> ModelContents:
    """Return the contents of a tagger: for each label its features with the largest weights."""
    tagger = stored.estimator()
    by_label: dict[Any, list[tuple[float, str]]] = {label: [] for label in tagger.classes_.tolist()}
    for (feature, label), weight in tagger.state_features_.items():
        by_label[label].append((weight, feature))
    return ModelContents(
        learner=stored.learner,
        classes=stored.classes,
        n_features=tagger.n_features_,
        parameters=stored.parameters,
        training=stored.facts,
        weights=[
            NamedWeight(str(label), feature, weight)
            for label, found in by_label.items()
            for weight, feature in heapq.nlargest(n, found, key=lambda each: abs(each[0]))
        ],
        preprocessing=None,
        provenance=stored.provenance,
    )


def _largest(opened: OpenedModel, n: int) -> list[NamedWeight]:
    """Return the weights that are largest in absolute value, for each hyperplane."""
    if not isinstance(opened.predictor, Predictor):
        return []
    linear, names, found = opened.predictor.model, opened.names, []
    columns = np.arange(linear.n_features) if linear.met is None else linear.met.columns
    for of, w in zip(linear.scheme.titles(linear.classes), np.atleast_2d(linear.weights)[:, :-1], strict=True):
        order = np.argsort(-np.abs(w), kind="stable")[:n]
        largest = [(int(columns[j]), float(w[j])) for j in order if w[j] != 0.0]
        found += [NamedWeight(of, names[j] if names else f"x{j + 1}", weight) for j, weight in largest]
    return found


def _plain(value: object) -> Any:
    """Return a value as JSON can hold it; others become text.

    Examples
    --------
    >>> _plain({"kernel": 1 + 2j, "sizes": (3, np.float64(0.5)), 1: float("inf")})
    {'kernel': '(1+2j)', 'sizes': [3, 0.5], '1': 'inf'}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    plain = value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return value if plain else repr(value)


def _short(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_short(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_short, value[:12])) + (f", … ({len(value)})" if len(value) > 12 else "")
    return str(value)
