"""Why a model predicts what it predicts: the parts of each decision score, which add up to it exactly.

A linear model's score is the sum of weight times value over its features, and a bias. A kernel's score is a sum
over its support points, and a vote's a sum over its hypotheses. Each part is known exactly, as a rational number.
Floats round while they add, so the score that predicts differs from the exact sum in its last digits. The
difference is a part of its own, `rounding`, and with it the parts add up to the score exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import plain_value
from rosenblatt.escaping import Html, align_columns, count, html_bar, html_card, html_table, number
from rosenblatt.exceptions import Given, InputError, LabelError, ParameterError
from rosenblatt.kernels.kernel_model import KernelModel
from rosenblatt.learning.linear import LinearModel, Scheme
from rosenblatt.learning.trace import frame_of
from rosenblatt.learning.vote import VotedModel
from rosenblatt.loops.layout import CSR
from rosenblatt.rows.features import Features
from rosenblatt.typing import Floats

SHOWN_PARTS, SHOWN_ROWS = 10, 5
"""Parts of a row, and rows, that are printed; `to_frame` has all."""


@dataclass(frozen=True, eq=False, repr=False)
class RowExplanation:
    """The parts of the decision score of one row.

    Attributes
    ----------
    row : int
        The number of the row, counted from 0 unless `explain` was told otherwise.
    label : label or None
        The predicted label; None for models that predict no labels.
    of : label or None
        The class whose score this is: of two classes, the second, for which a positive score speaks. None for
        models that predict numbers.
    score : float
        The decision score, as the model computes it.
    by : str
        What the parts are: ``"feature"``, ``"support point"`` or ``"hypothesis"``.
    names : tuple of str
        The name of each part.
    values : ndarray
        The value of each feature as it is in the data, the kernel's value k(x_i, x), or the side that a hypothesis
        votes for.
    inputs : ndarray
        The same as the learner gets it: scaled, with missing values filled.
    """

    row: int
    label: Any
    of: Any
    score: float
    by: str
    names: tuple[str, ...]
    values: Floats
    inputs: Floats
    other: Any = None  # of two classes, the first
    # Of each hyperplane that the score is a sum of: its weights, its bias and its sign; and what divides the sum.
    machines: Floats = field(default_factory=lambda: np.empty((0, 0)))
    biases: Floats = field(default_factory=lambda: np.empty(0))
    signs: Floats = field(default_factory=lambda: np.empty(0))
    divisor: int = 1

    @cached_property
    def weights(self) -> Floats:
        """What each input is multiplied by, rounded to a float."""
        if len(self.machines) == self.divisor == 1:
            return np.asarray(self.signs[0] * self.machines[0])
        ones = np.ones(len(self.inputs))
        return np.array([float(each) for each in _exact(self.machines, self.signs, ones, self.divisor)])

    @cached_property
    def contributions(self) -> Floats:
        """Each part of the score, rounded to a float."""
        if len(self.machines) == self.divisor == 1:
            return np.asarray(self.weights * self.inputs)
        return np.array([float(each) for each in self._parts])

    @property
    def bias(self) -> float:
        """The part that does not depend on the row, rounded to a float."""
        return float(self._bias)

    @cached_property
    def rounding(self) -> float:
        """The score minus the exact sum of all parts, rounded to a float."""
        return float(self.exact()["rounding"])

    def exact(self) -> dict[str, Any]:
        """Return the contributions, the bias and the rounding as rational numbers, whose sum is the score.

        Returns
        -------
        dict
            ``"contributions"``, a list of `fractions.Fraction` in the order of `names`, ``"bias"`` and
            ``"rounding"``.
        """
        parts, bias = self._parts, self._bias
        rounding = Fraction(self.score) - sum(parts, bias)
        return {"contributions": parts, "bias": bias, "rounding": rounding}

    @cached_property
    def _parts(self) -> list[Fraction]:
        return _exact(self.machines, self.signs, self.inputs, self.divisor)

    @cached_property
    def _bias(self) -> Fraction:
        [bias] = _exact(self.biases[:, None], self.signs, np.ones(1), self.divisor)
        return bias

    def largest(self, top: int | None = None) -> list[int]:
        """Return the positions of the parts that are not zero, largest first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        found = [int(k) for k in order if self.contributions[k] != 0.0]
        return found if top is None else found[:top]

    @property
    def title(self) -> str:
        """What is predicted for the row, and by which score, in words."""
        if self.label is None:
            whose = "" if self.of is None else f"the score of {self.of} is "
            return f"row {self.row}: {whose}{number(self.score)}"
        if self.other is not None:
            sides = f"positive: {self.of}, negative: {self.other}"
            return f"row {self.row}: {self.label}, by a score of {number(self.score)} ({sides})"
        whose = "" if self.of is None or self.of == self.label else f" of {self.of}"
        return f"row {self.row}: {self.label}; the score{whose} is {number(self.score)}"

    def lines(self, top: int = SHOWN_PARTS) -> list[tuple[str, str, str, float]]:
        """Return the name, value, weight and contribution of the largest parts, and of all others together."""
        shown = self.largest(top)
        weights = self.weights
        found = [(self.names[k], self._value(k), number(weights[k]), float(self.contributions[k])) for k in shown]
        rest = sorted(set(self.largest()) - set(shown))
        if rest:
            together = sum((self._parts[k] for k in rest), Fraction(0))
            found.append((count(len(rest), f"other {self.by}", OTHERS[self.by]), "", "", float(together)))
        if self.bias:
            found.append(("bias", "", "", self.bias))
        if self.rounding:
            found.append(("rounding", "", "", self.rounding))
        return found

    def _value(self, k: int) -> str:
        value, used = float(self.values[k]), float(self.inputs[k])
        if np.isnan(value):
            return f"missing ({number(used)})"
        return number(value) if value == used else f"{number(value)} ({number(used)})"

    def to_text(self, top: int = SHOWN_PARTS) -> str:
        """Return the title, and the `top` largest parts as a table."""
        found = [(self.by, "value", "weight", "contribution")]
        found += [(name, value, weight, _signed(part)) for name, value, weight, part in self.lines(top)]
        return "\n".join([self.title, *("  " + line for line in align_columns(found, left=[0]))])

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them."""
        values, inputs, weights = (each.tolist() for each in (self.values, self.inputs, self.weights))
        parts = [
            {
                "name": self.names[k],
                "value": None if np.isnan(values[k]) else values[k],
                "input": inputs[k],
                "weight": weights[k],
                "contribution": float(self.contributions[k]),
            }
            for k in self.largest()
        ]
        told = {"row": self.row, "label": plain_value(self.label), "of": plain_value(self.of), "score": self.score}
        return told | {"by": self.by, "parts": parts, "bias": self.bias, "rounding": self.rounding}

    def plot(self, *, top: int = SHOWN_PARTS, ax: Any = None) -> Any:
        """Draw the parts as bars; see `rosenblatt.plot.explanation`.

        Parameters
        ----------
        top : int
            The number of parts to draw; all others are one bar.
        ax : matplotlib Axes, optional
            Where to draw. The default is a new figure.
        """
        from rosenblatt.plot.bars import explanation

        return explanation(self, top=top, ax=ax)

    def _repr_html_(self) -> str:
        lines = self.lines()
        most = max((abs(part) for *_, part in lines), default=0.0) or 1.0
        rows = [(name, value, weight, _signed(part), html_bar(part / most)) for name, value, weight, part in lines]
        return html_card(self.title, html_table((self.by, "value", "weight", "contribution", ""), rows))


class Explanation(Sequence[RowExplanation]):
    """The explanations of rows, in their order. ``print`` and notebooks show the first; `to_frame` has all.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> model = rb.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> explanation = rb.explain(model, [[2.0, 0.5]])
    >>> explanation[0].contributions.tolist(), explanation[0].bias, explanation[0].score
    ([2.0, -0.5], 0.0, 1.5)
    """

    def __init__(self, rows: Iterable[RowExplanation]) -> None:
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, which: Any) -> Any:
        return Explanation(self._rows[which]) if isinstance(which, slice) else self._rows[which]

    def to_text(self, top: int = SHOWN_PARTS) -> str:
        """Return all rows as text, each with its `top` largest parts."""
        return "\n\n".join(each.to_text(top) for each in self._rows)

    def __str__(self) -> str:
        return "\n\n".join([self[:SHOWN_ROWS].to_text(), *self._more])

    def __repr__(self) -> str:
        return str(self)

    @property
    def _more(self) -> list[str]:
        more = len(self) - SHOWN_ROWS
        return [f"… and {count(more, 'row')} more. Use to_frame() for all."] if more > 0 else []

    def columns(self) -> dict[str, list[Any]]:
        """Return one entry for each part of each row, as columns.

        Returns
        -------
        dict of str to list
            ``row``, ``label``, ``of``, ``part`` (the name), ``value``, ``input``, ``weight`` and ``contribution``.
            The bias and the rounding of each row come last, without values.
        """
        found: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        for each in self._rows:
            n = len(each.names)
            found["row"] += [each.row] * (n + 2)
            found["label"] += [plain_value(each.label)] * (n + 2)
            found["of"] += [plain_value(each.of)] * (n + 2)
            found["part"] += [*each.names, "bias", "rounding"]
            found["value"] += [*each.values.tolist(), np.nan, np.nan]
            found["input"] += [*each.inputs.tolist(), np.nan, np.nan]
            found["weight"] += [*each.weights.tolist(), np.nan, np.nan]
            found["contribution"] += [*each.contributions.tolist(), each.bias, each.rounding]
        return found

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return `columns` as a data frame of pandas, polars or pyarrow.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library, which must be installed.
        """
        return frame_of(self.columns(), backend)

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain values, as JSON can hold them."""
        return [each.to_json() for each in self._rows]

    def plot(self, row: int | None = None, *, top: int = SHOWN_PARTS, ax: Any = None) -> Any:
        """Draw the parts of one row as bars; see `rosenblatt.plot.explanation`.

        Parameters
        ----------
        row : int or None
            The position in this explanation. None is for an explanation of a single row.
        top : int
            The number of parts to draw; all others are one bar.
        ax : matplotlib Axes, optional
            Where to draw. The default is a new figure.
        """
        if row is None and len(self) != 1:
            raise ParameterError(
                f"A picture shows one row, but {count(len(self), 'row is', 'rows are')} explained. Name one by "
                "its position, as in plot(0), or draw it by itself, as in explanation[0].plot().",
                parameter="row",
            )
        return self._rows[row or 0].plot(top=top, ax=ax)

    def _repr_html_(self) -> str:
        told = "".join(each._repr_html_() for each in self._rows[:SHOWN_ROWS])
        return Html(told + "".join(f"<div>{more}</div>" for more in self._more))


OTHERS = {
    "feature": "other features",
    "support point": "other support points",
    "hypothesis": "other hypotheses",
}
COLUMNS = ("row", "label", "of", "part", "value", "input", "weight", "contribution")


Explainer: TypeAlias = Callable[[int, Features, Features, Floats, Sequence[str] | None], RowExplanation]
"""From a row's number, its values, the same as the learner gets them, its scores, and names of features."""


def model_of(learner: Any) -> Any:
    """Return the model of an estimator whose score is a sum of parts, or its vectors, biases and score names."""
    from rosenblatt.estimators._linear import LinearClassifier  # which load scikit-learn, as the server does not
    from rosenblatt.estimators._one_vector import OneVector

    if type(learner).__name__ == "Probes":
        return learner.coef_, learner.intercept_, np.array(learner.names_)
    if hasattr(learner, "_vote"):
        return learner._vote()
    if isinstance(learner, LinearClassifier):
        return learner._model()
    if isinstance(learner, OneVector):
        coef = np.atleast_2d(learner.coef_)
        intercept = np.atleast_1d(getattr(learner, "intercept_", np.zeros(len(coef))))
        return coef, intercept, getattr(learner, "classes_", None)
    raise InputError(
        f"The score of {type(learner).__name__} is not a sum over features, so its parts cannot be given. Use "
        "sklearn.inspection.permutation_importance, or train a linear learner such as Perceptron."
    )


def explainer_of(model: Any, label: Any = None) -> Explainer:
    """Return what explains one row of a model, see `model_of`; the label names a class."""
    if isinstance(model, KernelModel | LinearModel | VotedModel):
        return _ByClasses(model, label).explain
    coef, intercept, names_of_scores = model
    if len(coef) > 1 and label is None:
        known = ", ".join(map(str, names_of_scores[:5])) + (", …" if len(names_of_scores) > 5 else "")
        raise ParameterError("Each label has a score of its own. Name one by " + Given("label") + f": {known}.")
    which = 0 if len(coef) == 1 else _code(label, names_of_scores)
    of = None if len(coef) == 1 else names_of_scores[which]

    def explain_number(
        row: int, raw: Features, features: Features, scores: Floats, names: Sequence[str] | None
    ) -> RowExplanation:
        columns, values, inputs = row_values(raw, features)
        return RowExplanation(
            row, None, of, float(np.ravel(scores)[which]), "feature", _names(names, columns), values, inputs,
            machines=coef[[which]][:, columns], biases=intercept[[which]], signs=np.ones(1),
        )  # fmt: skip

    return explain_number


@dataclass(frozen=True, eq=False)
class _ByClasses:
    """Explains the scores of a model that predicts classes."""

    model: KernelModel | LinearModel | VotedModel
    label: Any

    @cached_property
    def fixed(self) -> int | None:
        """The position of the class that was asked for."""
        return None if self.label is None else _code(self.label, self.model.classes)

    def explain(
        self, row: int, raw: Features, features: Features, decision: Floats, names: Sequence[str] | None
    ) -> RowExplanation:
        """Explain the score of the class that was asked for, or of the one that is predicted."""
        model, scheme = self.model, self.model.scheme
        code = int(scheme.choose(decision, model.zero)[0])
        labels = model.classes.tolist()
        if scheme.kind == "binary":
            of, other = labels[-1], labels[0] if len(labels) == 2 else None
            score, chosen = float(decision[0]), len(labels) - 1
            if self.fixed is not None and self.fixed != chosen:
                text = f"Two classes share one score, which is positive for {of!s}. Drop " + Given("label") + "."
                raise ParameterError(text, value=labels[self.fixed])
        else:
            chosen = code if self.fixed is None else self.fixed
            of, other = labels[chosen], None
            score = float(decision[0, chosen])
        told = {"row": row, "label": labels[code], "of": of, "other": other, "score": score}
        if isinstance(model, VotedModel):
            return self._vote(told, features, chosen, scheme.kind == "binary")
        which, signs = machines_of(scheme, chosen)
        if isinstance(model, KernelModel):
            alpha = np.atleast_2d(model.alpha)[which]
            values = model.kernel_values(features)
            called = tuple(f"support point {k}" for k in range(len(values)))
            return RowExplanation(
                **told, by="support point", names=called, values=values, inputs=values,
                machines=alpha, biases=np.atleast_1d(model.intercept)[which], signs=signs,
            )  # fmt: skip
        columns, values, inputs = row_values(raw, features)
        weights = np.atleast_2d(model.all_weights)[which]
        return RowExplanation(
            **told, by="feature", names=_names(names, columns), values=values, inputs=inputs,
            machines=weights[:, columns], biases=weights[:, -1], signs=signs,
        )  # fmt: skip

    def _vote(self, told: dict[str, Any], features: Features, chosen: int, binary: bool) -> RowExplanation:
        """Explain a vote: each hypothesis counts the visits after which it was the current one."""
        assert isinstance(self.model, VotedModel)
        survived, codes = self.model.ballots(features)
        sides = np.where(codes[0] == chosen, 1.0, -1.0 if binary else 0.0)
        return RowExplanation(
            **told, by="hypothesis", names=tuple(f"hypothesis {k}" for k in range(len(sides))),
            values=sides, inputs=sides, machines=survived[None].astype(np.float64), biases=np.zeros(1),
            signs=np.ones(1), divisor=int(max(1, survived.sum())),
        )  # fmt: skip


def _code(label: Any, classes: NDArray[Any]) -> int:
    """Return the position of a label, which may be given as text."""
    found = [code for code, each in enumerate(classes.tolist()) if each == label or str(each) == str(label)]
    if not found:
        known = ", ".join(map(str, classes[:20].tolist())) + (", …" if len(classes) > 20 else "")
        raise LabelError(f"The model has no class {label!s}; its classes are {known}.")
    return found[0]


def machines_of(scheme: Scheme, code: int) -> tuple[list[int], Floats]:
    """Return the hyperplanes whose scores make the score of a class, and their signs."""
    if scheme.kind != "ovo":
        which = 0 if scheme.kind == "binary" else code
        return [which], np.ones(1)
    pairs = [(m, pair) for m, pair in enumerate(scheme.pairs) if code in pair]
    return [m for m, _ in pairs], np.array([1.0 if pair[1] == code else -1.0 for _, pair in pairs])


def row_values(raw: Features, features: Features) -> tuple[NDArray[Any], Floats, Floats]:
    """Return the columns of one row that hold values, the values as they are, and as the learner gets them."""
    if not isinstance(features.rows, CSR):
        columns = np.arange(features.n_features)
        return columns, raw.dense()[0], features.dense()[0]
    begin, end = int(features.rows.indptr[0]), int(features.rows.indptr[-1])
    columns = features.rows.indices[begin:end].astype(np.int64)
    inputs = features.rows.data[begin:end].astype(np.float64)
    if raw is features or not isinstance(raw.rows, CSR):
        return columns, inputs if raw is features else raw.dense()[0][columns], inputs
    begin, end = int(raw.rows.indptr[0]), int(raw.rows.indptr[-1])
    held = dict(zip(raw.rows.indices[begin:end].tolist(), raw.rows.data[begin:end].tolist(), strict=True))
    return columns, np.array([held.get(column, 0.0) for column in columns.tolist()]), inputs


def _names(names: Sequence[str] | None, columns: NDArray[Any]) -> tuple[str, ...]:
    known = () if names is None else names
    return tuple(str(known[j]) if j < len(known) else f"x{j + 1}" for j in columns.tolist())


def _exact(machines: Floats, signs: Floats, inputs: Floats, divisor: int) -> list[Fraction]:
    """Return Σ_m signs_m machines_mj inputs_j / divisor of each j, as rational numbers."""
    sides = [int(sign) for sign in signs]
    weights = (
        sum((s * Fraction(w) for s, w in zip(sides, each, strict=True)), Fraction(0))
        for each in machines.T.tolist()
    )
    return [weight * Fraction(x) / divisor for weight, x in zip(weights, inputs.tolist(), strict=True)]


def _signed(value: float) -> str:
    text = f"{value:+.6g}"
    return "0" if float(text) == 0.0 else text
