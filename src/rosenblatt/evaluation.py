"""How well labels are predicted: the confusion matrix, and the rates that follow from it.

Whether a model was trained on the rows that it is measured on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.escaping import ShowsText, html_table, printable
from rosenblatt.exceptions import Given, LabelError, ParameterError, ShapeError
from rosenblatt.typing import Floats, Ints

Seen: TypeAlias = Literal["all", "some", "other"]
"""Which rows were in the training data: all, some, or other rows than these."""


def seen_words(seen: Seen | None, rows: str = "rows") -> str:
    """Return whether the model was trained on these rows, in a sentence.

    Examples
    --------
    >>> seen_words("all")
    'The model was trained on these rows. Expect worse results on new rows.'
    """
    if seen is None:
        return f"It is not known whether the model was trained on these {rows}."
    if seen == "other":
        return f"These are not the {rows} that the model was trained on, although some of them may be."
    which = f"most of these {rows}" if seen == "some" else f"these {rows}"
    return f"The model was trained on {which}. Expect worse results on new {rows}."


def not_new(seen: Seen | None, rows: str = "rows") -> list[str]:
    """Return a line that says so if rows are known to be training rows, and none otherwise."""
    return [seen_words(seen, rows)] if seen in ("all", "some") else []


# How well scores rank the rows of one class above the others: ROC AUC, average precision, thresholds.

MOST_RANKED = 10**7
"""Scores of more rows are not kept."""
RECALLS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""The table of thresholds has the highest threshold that reaches each of these."""


class Threshold(NamedTuple):
    """The rates of calling every row positive whose score is at least `threshold`."""

    name: str
    threshold: float
    flagged: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scores, and which rows are positive; there are rows of both kinds.

    Examples
    --------
    >>> found = Ranking(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    >>> found.roc_auc, round(found.average_precision, 4)
    (0.75, 0.8333)
    """

    scores: Floats
    positive: NDArray[np.bool_]

    @cached_property
    def _steps(self) -> tuple[Floats, Ints, Ints]:
        """Each distinct score from the largest, with the true and the false positives at that threshold."""
        order = np.argsort(-self.scores, kind="stable")
        scores, hits = self.scores[order], self.positive[order]
        last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
        true = np.cumsum(hits, dtype=np.int64)[last]
        return scores[last], true, last + 1 - true

    @property
    def roc_auc(self) -> float:
        """The probability that a positive row scores higher than a negative one; ties count one half."""
        _, true, false = self._steps
        t, f = np.insert(true, 0, 0).astype(float), np.insert(false, 0, 0).astype(float)
        return float(np.sum(np.diff(f) * (t[1:] + t[:-1]) / 2.0) / (t[-1] * f[-1]))

    @property
    def average_precision(self) -> float:
        """The mean precision at the scores of the positive rows."""
        _, true, false = self._steps
        return float(np.sum(np.diff(true, prepend=0) / true[-1] * (true / (true + false))))

    @property
    def thresholds(self) -> list[Threshold]:
        """The threshold of the best F1, and the highest ones that reach recalls of 50 % to 99 %."""
        scores, true, false = self._steps
        precision, recall = true / (true + false), true / true[-1]
        f1 = 2.0 * true / (true + false + true[-1])
        chosen = [("best F1", int(np.argmax(f1)))]
        chosen += [(f"recall {each:.0%}", int(np.argmax(recall >= each))) for each in RECALLS]
        return [
            Threshold(
                name,
                float(scores[k]),
                int(true[k] + false[k]),
                float(precision[k]),
                float(recall[k]),
                float(f1[k]),
            )
            for name, k in chosen
        ]

    def merged(self, other: Ranking) -> Ranking:
        """Return the ranking of the rows of both."""
        return Ranking(np.append(self.scores, other.scores), np.append(self.positive, other.positive))

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "roc_auc": self.roc_auc,
            "average_precision": self.average_precision,
            "thresholds": [each._asdict() for each in self.thresholds],
        }


def rank_scores(scores: Any, codes: Ints, positive: int, n_classes: int) -> Ranking | None:
    """Return how decision scores rank one class; None where there are too many rows.

    The score of the first of two classes is the opposite of the decision score; of more classes, it is the lead of
    the class over the best other one.
    """
    if len(codes) > MOST_RANKED:
        return None
    scores = np.asarray(scores, np.float64)
    if scores.ndim == 1:
        return Ranking(scores if positive == n_classes - 1 else -scores, codes == positive)
    rivals = np.delete(scores, positive, axis=1).max(axis=1)
    return Ranking(scores[:, positive] - rivals, codes == positive)


# How well numbers are predicted: the mean squared error beside that of the mean.


@dataclass(frozen=True)
class RegressionEvaluation(ShowsText):
    """Predicted numbers against true ones.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    squared_error : float
        The sum of the squared errors.
    mean, squares : float
        The mean of the true numbers, and the sum of their squared differences from it.
    seen : "all", "some", "other" or None
        Whether the model was trained on all of these rows, on some of them or on others, where that is known.

    Examples
    --------
    >>> found = RegressionEvaluation.of([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    >>> print(found)
    MSE       0.333333   3 rows; root 0.57735
    mean      0.666667   MSE of always predicting the mean, 2
    R²        0.5000
    """

    n_rows: int
    squared_error: float
    mean: float
    squares: float
    seen: Seen | None = None

    @classmethod
    def of(cls, truth: Any, predicted: Any) -> RegressionEvaluation:
        """Compare predicted numbers with true ones."""
        y, found = np.asarray(truth, np.float64), np.asarray(predicted, np.float64)
        mean = float(y.mean()) if len(y) else 0.0
        return cls(len(y), float(((y - found) ** 2).sum()), mean, float(((y - mean) ** 2).sum()))

    @property
    def mse(self) -> float:
        """The mean squared error; 0.0 without rows."""
        return self.squared_error / self.n_rows if self.n_rows else 0.0

    @property
    def variance(self) -> float:
        """The mean squared error of always predicting the mean of these rows; 0.0 without rows."""
        return self.squares / self.n_rows if self.n_rows else 0.0

    @property
    def r2(self) -> float | None:
        """The share of the variance that is explained; None if all true numbers are the same."""
        return 1.0 - self.squared_error / self.squares if self.squares else None

    def merged(self, other: RegressionEvaluation) -> RegressionEvaluation:
        """Return the evaluation of the rows of both."""
        n_rows = self.n_rows + other.n_rows
        apart, share = other.mean - self.mean, other.n_rows / max(n_rows, 1)
        squares = self.squares + other.squares + apart * apart * share * self.n_rows
        return RegressionEvaluation(
            n_rows, self.squared_error + other.squared_error, self.mean + apart * share, squares
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "rows": self.n_rows,
            "mse": self.mse,
            "r2": self.r2,
            "mean": self.mean,
            "variance": self.variance,
            "seen": self.seen,
        }

    def __str__(self) -> str:
        r2 = "undefined: all numbers are the same" if self.r2 is None else f"{self.r2:.4f}"
        return "".join(f"{line}\n\n" for line in not_new(self.seen)) + (
            f"MSE       {self.mse:g}   {self.n_rows:,} rows; root {sqrt(self.mse):g}\n"
            f"mean      {self.variance:g}   MSE of always predicting the mean, {self.mean:g}\n"
            f"R²        {r2}"
        )


NORMAL_95 = 1.959963984540054  # the absolute value of a standard normal exceeds it with probability 0.05
MAX_MATRIX_CLASSES = 12
"""Up to so many classes the text has the whole confusion matrix."""
MOST_CONFUSED = 10
"""For more classes, the number of confusions that are listed."""


@dataclass(frozen=True, eq=False)
class Evaluation(ShowsText):
    """Predicted labels against true ones.

    A rate whose denominator is zero is undefined. It is 0.0, also in averages, and marked in `undefined`:
    precision of a class that was never predicted, recall of one that never occurs, and F1 of one with neither.

    Attributes
    ----------
    confusion : ndarray of int64, shape (n_classes, n_classes)
        The number of rows of each class (first axis) predicted as each class (second axis).
    classes : ndarray
        The labels, in the order of both axes.
    positive : int or None
        The position of the positive class; by default the second of two classes.
    ranking : Ranking or None
        How well the scores rank the positive class, where they are known.
    seen : "all", "some", "other" or None
        Whether the model was trained on all of these rows, on some of them or on others, where that is known.

    Examples
    --------
    >>> found = evaluate([0, 0, 1, 1], [0, 1, 1, 1], ["ham", "spam"])
    >>> found.accuracy, found.precision.round(3), found.f1_positive
    (0.75, array([1.   , 0.667]), 0.8)
    >>> print(found)
    accuracy  0.7500   3 of 4 rows right; 95% interval 0.3006 to 0.9544
    majority  0.5000   always 'ham'
    F1        0.8000   of 'spam'; macro 0.7333
    <BLANKLINE>
          precision  recall      F1  rows
    ham      1.0000  0.5000  0.6667     2
    spam     0.6667  1.0000  0.8000     2
    <BLANKLINE>
          ham  spam   predicted
    ham     1     1
    spam    0     2
    """

    confusion: Ints
    classes: NDArray[Any]
    positive: int | None = None
    ranking: Ranking | None = None
    seen: Seen | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.confusion.sum())

    @property
    def n_right(self) -> int:
        """The number of rows predicted right."""
        return int(self._right.sum())

    @property
    def accuracy(self) -> float:
        """The share of rows predicted right; 0.0 without rows."""
        return self.n_right / self.n_rows if self.n_rows else 0.0

    @property
    def majority(self) -> float:
        """The share of the most frequent class, which a constant prediction gets right; 0.0 without rows."""
        return int(self.support.max()) / self.n_rows if self.n_rows else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the accuracy on new rows; it does not hold for training rows."""
        return wilson(self.n_right, self.n_rows)

    @property
    def support(self) -> Ints:
        """The number of rows of each class."""
        return np.asarray(self.confusion.sum(axis=1), np.int64)

    @property
    def predicted(self) -> Ints:
        """The number of rows predicted as each class."""
        return np.asarray(self.confusion.sum(axis=0), np.int64)

    @property
    def precision(self) -> Floats:
        """Of the rows predicted as each class, the share that belong to it."""
        return _shares(self._right, self.predicted)

    @property
    def recall(self) -> Floats:
        """Of the rows of each class, the share predicted as it."""
        return _shares(self._right, self.support)

    @property
    def f1(self) -> Floats:
        """The harmonic mean of precision and recall of each class."""
        return _shares(2 * self._right, self.predicted + self.support)

    @property
    def macro_f1(self) -> float:
        """The mean F1 of all classes."""
        return float(self.f1.mean())

    @property
    def f1_positive(self) -> float | None:
        """F1 of the positive class; None where there is none."""
        code = self.positive_code
        return None if code is None else float(self.f1[code])

    @property
    def positive_code(self) -> int | None:
        """The position of the positive class; None where there is none."""
        return 1 if self.positive is None and len(self.classes) == 2 else self.positive

    @cached_property
    def undefined(self) -> dict[str, NDArray[np.bool_]]:
        """For "precision", "recall" and "f1", the classes whose rate is undefined and 0.0 instead."""
        return {
            "precision": self.predicted == 0,
            "recall": self.support == 0,
            "f1": self.predicted + self.support == 0,
        }

    @property
    def confusions(self) -> list[tuple[int, int, int]]:
        """The confusions as (true code, predicted code, rows), the most frequent first."""
        wrong = self.confusion.copy()
        np.fill_diagonal(wrong, 0)
        truth, predicted = np.nonzero(wrong)
        found = zip(truth.tolist(), predicted.tolist(), wrong[truth, predicted].tolist(), strict=True)
        return sorted(found, key=lambda each: (-each[2], each[0], each[1]))

    def merged(self, other: Evaluation) -> Evaluation:
        """Return the evaluation of the rows of both; raise `LabelError` unless their classes are the same."""
        if self.classes.tolist() != other.classes.tolist():
            raise LabelError(
                f"The classes {self.classes.tolist()} and {other.classes.tolist()} differ, so their counts cannot "
                "be added. Evaluate both on the same classes, in the same order."
            )
        ranking = None
        if self.ranking is not None and other.ranking is not None and self.n_rows + other.n_rows <= MOST_RANKED:
            ranking = self.ranking.merged(other.ranking)
        return Evaluation(_read_only(self.confusion + other.confusion), self.classes, self.positive, ranking)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        code = self.positive_code
        per_class = [
            {
                "label": plain_label(label),
                "precision": float(self.precision[c]),
                "recall": float(self.recall[c]),
                "f1": float(self.f1[c]),
                "rows": int(self.support[c]),
                "undefined": [name for name, where in self.undefined.items() if where[c]],
            }
            for c, label in enumerate(self.classes.tolist())
        ]
        return {
            "rows": self.n_rows,
            "right": self.n_right,
            "accuracy": self.accuracy,
            "interval": list(self.interval),
            "majority": self.majority,
            "positive": None if code is None else plain_label(self.classes.tolist()[code]),
            "f1_positive": self.f1_positive,
            "macro_f1": self.macro_f1,
            "classes": per_class,
            "confusion": self.confusion.tolist(),
            "ranking": None if self.ranks is None else self.ranks.to_json(),
            "seen": self.seen,
        }

    def __str__(self) -> str:
        if not self.n_rows:
            return "no rows"
        labels = [printable(label) for label in self.classes.tolist()]
        lines = [f"{name:<10}{value:.4f}   {note}" for name, value, note in self._figures(labels)]
        thresholds = align_columns(self._thresholds(labels)) if self.ranks is not None else []
        parts = [not_new(self.seen), lines, self.rate_lines(labels), self.confusion_lines(labels), thresholds]
        return "\n\n".join("\n".join(part) for part in parts if part)

    def _html_parts(self) -> tuple[object, ...]:
        if not self.n_rows:
            return "Evaluation", "no rows"
        labels = [printable(label) for label in self.classes.tolist()]
        figures = [(name, f"{value:.4f}", note) for name, value, note in self._figures(labels)]
        parts = [*not_new(self.seen), html_table(("", "", ""), figures)]
        parts += [html_table(*_headed(self._rates(labels, "rows"))), *self._undefined_lines()]
        if len(labels) <= MAX_MATRIX_CLASSES:
            counts = self.confusion.tolist()
            matrix = [[a, *row] for a, row in zip(labels, counts, strict=True)]
            parts += [html_table(("true ↓ predicted →", *labels), matrix)]
        else:
            parts += self.confusion_lines(labels)
        if self.ranks is not None:
            parts.append(html_table(*_headed(self._thresholds(labels))))
        return "Evaluation", *parts

    def _figures(self, labels: list[str]) -> list[tuple[str, float, str]]:
        """Return the figures of all rows, each with its name and a note."""
        low, high = self.interval
        right = f"{self.n_right:,} of {self.n_rows:,} rows right"
        right += "" if not_new(self.seen) else f"; 95% interval {low:.4f} to {high:.4f}"
        found = [("accuracy", self.accuracy, right)]
        found.append(("majority", self.majority, f"always '{labels[int(self.support.argmax())]}'"))
        if self.f1_positive is None:
            return [*found, ("F1", self.macro_f1, f"macro: the mean of {len(labels)} classes")]
        positive = labels[self.positive_code or 0]
        found.append(("F1", self.f1_positive, f"of '{positive}'; macro {self.macro_f1:.4f}"))
        if self.ranks is not None:
            auc, mean = self.ranks.roc_auc, self.ranks.average_precision
            found.append(("ROC AUC", auc, f"of '{positive}'; average precision {mean:.4f}"))
        return found

    def rate_lines(self, labels: list[str], unit: str = "rows") -> list[str]:
        """Return the lines of the table of precision, recall and F1 of each class."""
        return [*align_columns(self._rates(labels, unit)), *self._undefined_lines()]

    def _rates(self, labels: list[str], unit: str) -> list[list[str]]:
        rates = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        table = [["", "precision", "recall", "F1", unit]]
        for c, label in enumerate(labels):
            cells = ["–" if self.undefined[name][c] else f"{rate[c]:.4f}" for name, rate in rates.items()]
            table.append([label, *cells, f"{self.support[c]:,}"])
        return table

    def _undefined_lines(self) -> list[str]:
        undefined = any(where.any() for where in self.undefined.values())
        return ["– is undefined (never predicted, or no such row) and counts as 0"] if undefined else []

    def confusion_lines(self, labels: list[str]) -> list[str]:
        """Return the lines of the confusion matrix, or of the most frequent confusions."""
        if len(labels) <= MAX_MATRIX_CLASSES:
            counts = [[f"{count:,}" for count in row] for row in self.confusion.tolist()]
            lines = align_columns([["", *labels], *([a, *row] for a, row in zip(labels, counts, strict=True))])
            return [lines[0] + "   predicted", *lines[1:]]
        shown = self.confusions[:MOST_CONFUSED]
        return ["most frequent confusions:"] * bool(shown) + [
            f"  {labels[a]} for {labels[b]}: {count:,}" for a, b, count in shown
        ]

    def _thresholds(self, labels: list[str]) -> list[list[str]]:
        assert self.ranks is not None
        table = [
            ["", f"score for '{labels[self.positive_code or 0]}' at least", "rows", "precision", "recall", "F1"]
        ]
        for each in self.ranks.thresholds:
            rates = [f"{rate:.4f}" for rate in (each.precision, each.recall, each.f1)]
            table.append([each.name, f"{each.threshold:.6g}", f"{each.flagged:,}", *rates])
        return table

    @property
    def ranks(self) -> Ranking | None:
        """The ranking, if there are rows of both kinds."""
        both = self.ranking is not None and 0 < self.ranking.positive.sum() < self.n_rows
        return self.ranking if both else None

    @property
    def _right(self) -> Ints:
        return np.diagonal(self.confusion)


def evaluate(
    truth_codes: Any, predicted_codes: Any, classes: Any, *, positive: int | None = None, scores: Any = None
) -> Evaluation:
    """Compare predicted classes with true ones, both given as positions in `classes`.

    Parameters
    ----------
    truth_codes, predicted_codes : array of int
        Positions in `classes`. There may be no rows; `Evaluation.merged` adds more.
    classes : sequence
        The labels.
    positive : int or None
        The position of the positive class; by default the second of two classes.
    scores : array or None
        Decision scores, for ROC AUC, average precision and thresholds of the positive class.
    """
    labels = np.asarray(classes)
    if labels.ndim != 1 or not len(labels):
        raise ParameterError(
            f"classes must be a sequence of at least one class; got {classes!r}.",
            parameter="classes",
            value=classes,
        )
    K = len(labels)
    truth, predicted = _codes("truth", truth_codes, K), _codes("predicted", predicted_codes, K)
    if truth.shape != predicted.shape:
        raise ShapeError(f"{len(truth)} rows have a true class, but {len(predicted)} a predicted one.")
    counts = np.bincount(truth * K + predicted, minlength=K * K).reshape(K, K)
    code = 1 if positive is None and K == 2 else positive
    ranking = None if scores is None or code is None else rank_scores(scores, truth, code, K)
    return Evaluation(_read_only(counts.astype(np.int64)), labels, positive, ranking)


def class_code(label: Any, classes: NDArray[Any]) -> int:
    """Return the position of a label, which may be given as text; raise `LabelError` if there is no such class."""
    found = [code for code, each in enumerate(classes.tolist()) if each == label or str(each) == str(label)]
    if not found:
        known = ", ".join(map(str, classes[:20].tolist())) + (", …" if len(classes) > 20 else "")
        raise LabelError(Given("positive", str(label)) + f" is not one of the classes {known}.")
    return found[0]


def _headed(table: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heading of a table, and its rows."""
    return table[0], table[1:]


def wilson(right: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share, from `right` of `n` independent trials; [0, 1] if n is 0.

    Examples
    --------
    >>> low, high = wilson(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.5958, 0.9821)
    """
    if n == 0:
        return 0.0, 1.0
    z2 = NORMAL_95**2
    middle = right + z2 / 2.0
    half = NORMAL_95 * sqrt(right * (n - right) / n + z2 / 4.0)
    # Rounding must not move the share itself out of its interval.
    low = 0.0 if right == 0 else (middle - half) / (n + z2)
    high = 1.0 if right == n else (middle + half) / (n + z2)
    return low, high


def plain_label(label: Any) -> Any:
    """Return a label for JSON: itself, or as text."""
    return label if isinstance(label, str | bool | int | float) else str(label)


def _codes(name: str, given: Any, n_classes: int) -> Ints:
    codes = np.asarray(given)
    if codes.ndim != 1 or (codes.size and codes.dtype.kind not in "iu"):
        raise ShapeError(f"{name}_codes must have one whole number for each row, the position of its class.")
    codes = codes.astype(np.int64)
    strange = np.flatnonzero((codes < 0) | (codes >= n_classes))
    if strange.size:
        raise LabelError(
            f"{name}_codes is {codes[strange[0]]} at row {strange[0]}, but there are {n_classes} classes, "
            f"numbered from 0 to {n_classes - 1}."
        )
    return codes


def _shares(part: Ints, whole: Ints) -> Floats:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)


def _read_only(array: Ints) -> Ints:
    array.flags.writeable = False
    return array


def align_columns(table: list[list[str]]) -> list[str]:
    """Return the lines of a table: the first column aligned left, all others right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table]
