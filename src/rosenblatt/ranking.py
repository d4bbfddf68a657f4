"""How well scores rank the rows of one class above the others: ROC AUC, average precision, thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Floats, Ints

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


def ranked(scores: Any, codes: Ints, positive: int, n_classes: int) -> Ranking | None:
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
