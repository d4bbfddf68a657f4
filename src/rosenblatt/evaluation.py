"""How well labels are predicted: the confusion matrix, and the rates that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.escaping import printable
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError
from rosenblatt.ranking import MOST_RANKED, Ranking, ranked
from rosenblatt.typing import Floats, Ints

NORMAL_95 = 1.959963984540054  # the absolute value of a standard normal exceeds it with probability 0.05
WIDEST = 12
"""Up to so many classes the text has the whole confusion matrix."""
MOST_CONFUSED = 10
"""For more classes, the number of confusions that are listed."""


@dataclass(frozen=True, eq=False)
class Evaluation:
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
        }

    def __str__(self) -> str:
        if not self.n_rows:
            return "no rows"
        low, high = self.interval
        right = f"{self.n_right:,} of {self.n_rows:,} rows right; 95% interval {low:.4f} to {high:.4f}"
        lines = [f"accuracy  {self.accuracy:.4f}   {right}"]
        labels = [printable(label) for label in self.classes.tolist()]
        lines.append(f"majority  {self.majority:.4f}   always '{labels[int(self.support.argmax())]}'")
        if self.f1_positive is None:
            lines.append(f"F1        {self.macro_f1:.4f}   macro: the mean of {len(labels)} classes")
        else:
            positive = labels[self.positive_code or 0]
            lines.append(f"F1        {self.f1_positive:.4f}   of '{positive}'; macro {self.macro_f1:.4f}")
            if self.ranks is not None:
                auc, mean = self.ranks.roc_auc, self.ranks.average_precision
                lines.append(f"ROC AUC   {auc:.4f}   of '{positive}'; average precision {mean:.4f}")
        parts = [lines, self.rate_lines(labels), self.confusion_lines(labels), self._threshold_lines(labels)]
        return "\n\n".join("\n".join(part) for part in parts if part)

    def rate_lines(self, labels: list[str], unit: str = "rows") -> list[str]:
        """Return the lines of the table of precision, recall and F1 of each class."""
        rates = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        table = [["", "precision", "recall", "F1", unit]]
        for c, label in enumerate(labels):
            cells = ["–" if self.undefined[name][c] else f"{rate[c]:.4f}" for name, rate in rates.items()]
            table.append([label, *cells, f"{self.support[c]:,}"])
        lines = aligned(table)
        if any(where.any() for where in self.undefined.values()):
            lines.append("– is undefined (never predicted, or no such row) and counts as 0")
        return lines

    def confusion_lines(self, labels: list[str]) -> list[str]:
        """Return the lines of the confusion matrix, or of the most frequent confusions."""
        if len(labels) <= WIDEST:
            counts = [[f"{count:,}" for count in row] for row in self.confusion.tolist()]
            lines = aligned([["", *labels], *([a, *row] for a, row in zip(labels, counts, strict=True))])
            return [lines[0] + "   predicted", *lines[1:]]
        shown = self.confusions[:MOST_CONFUSED]
        return ["most frequent confusions:"] * bool(shown) + [
            f"  {labels[a]} for {labels[b]}: {count:,}" for a, b, count in shown
        ]

    def _threshold_lines(self, labels: list[str]) -> list[str]:
        if self.ranks is None:
            return []
        table = [
            ["", f"score for '{labels[self.positive_code or 0]}' at least", "rows", "precision", "recall", "F1"]
        ]
        for each in self.ranks.thresholds:
            rates = [f"{rate:.4f}" for rate in (each.precision, each.recall, each.f1)]
            table.append([each.name, f"{each.threshold:.6g}", f"{each.flagged:,}", *rates])
        return aligned(table)

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
        raise ParameterError(f"classes must be a sequence of at least one class; got {classes!r}.")
    K = len(labels)
    truth, predicted = _codes("truth", truth_codes, K), _codes("predicted", predicted_codes, K)
    if truth.shape != predicted.shape:
        raise ShapeError(f"{len(truth)} rows have a true class, but {len(predicted)} a predicted one.")
    counts = np.bincount(truth * K + predicted, minlength=K * K).reshape(K, K)
    code = 1 if positive is None and K == 2 else positive
    ranking = None if scores is None or code is None else ranked(scores, truth, code, K)
    return Evaluation(_read_only(counts.astype(np.int64)), labels, positive, ranking)


def class_code(label: Any, classes: NDArray[Any]) -> int:
    """Return the position of a label, which may be given as text; raise `LabelError` if there is no such class."""
    found = [code for code, each in enumerate(classes.tolist()) if each == label or str(each) == str(label)]
    if not found:
        known = ", ".join(map(str, classes[:20].tolist())) + (", …" if len(classes) > 20 else "")
        raise LabelError(f"positive is {label!s}, but the classes are {known}.")
    return found[0]


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


def aligned(table: list[list[str]]) -> list[str]:
    """Return the lines of a table: the first column aligned left, all others right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table]
