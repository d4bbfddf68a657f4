"""Pairs of rows of which one is to be ranked above the other, and how many of them scores put in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.escaping import ShowsText
from rosenblatt.evaluation import Seen, not_new
from rosenblatt.exceptions import LabelError
from rosenblatt.rows.features import read_only
from rosenblatt.rows.labels import factorize, one_a_row
from rosenblatt.rows.memory import require_memory
from rosenblatt.typing import Floats, Ints

BYTES_A_PAIR = 64


def as_groups(qid: ArrayLike | None, n_rows: int) -> Ints:
    """Return the group of each row, as a number; None puts all rows into one group.

    Examples
    --------
    >>> as_groups(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    if qid is None:
        return np.zeros(n_rows, np.int64)
    try:
        return factorize(one_a_row(qid, n_rows))[1]
    except LabelError as error:
        raise LabelError(f"qid must name the group of each row. {error}") from error


def pairs_of(values: Floats, groups: Ints) -> tuple[Ints, Ints]:
    """Return all pairs of rows of the same group with different values: the rows with the larger, and the others.

    Groups come in ascending order, and pairs in the order of their rows.

    Examples
    --------
    >>> plus, minus = pairs_of(np.array([2.0, 0.0, 1.0, 5.0]), np.array([0, 0, 0, 1]))
    >>> plus.tolist(), minus.tolist()
    ([0, 0, 2], [1, 2, 1])
    """
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    members = np.split(order, starts[1:])
    need = sum(len(each) * (len(each) - 1) // 2 for each in members) * BYTES_A_PAIR
    require_memory("Comparing all pairs of rows", need, "Pass the groups of rows as qid, or fewer rows.")
    found = [np.nonzero(values[each][:, None] > values[each][None, :]) for each in members]
    plus = np.concatenate([each[above] for each, (above, _) in zip(members, found, strict=True)])
    minus = np.concatenate([each[below] for each, (_, below) in zip(members, found, strict=True)])
    return read_only(plus), read_only(minus)


@dataclass(frozen=True)
class PairEvaluation(ShowsText):
    """Scores against the order that rows of the same group should have.

    Attributes
    ----------
    n_rows, n_groups, n_pairs : int
        The numbers of rows, of groups, and of pairs with different numbers to rank by.
    right : float
        The pairs in the right order; equal scores count half.
    seen : "all", "some", "other" or None
        Whether the model was trained on all of these rows, on some of them or on others, where that is known.

    Examples
    --------
    >>> print(PairEvaluation.of([2, 1, 0, 5], [0.5, 0.7, 0.1, 0.0], ["a", "a", "a", "b"]))
    in order  66.67 %   2 of 3 pairs; 4 rows in 2 groups
    """

    n_rows: int
    n_groups: int
    n_pairs: int
    right: float
    seen: Seen | None = None

    @classmethod
    def of(cls, truth: Any, scores: Any, groups: ArrayLike | None = None) -> PairEvaluation:
        """Compare scores with the numbers that rows are to be ranked by."""
        y, found = np.asarray(truth, np.float64), np.asarray(scores, np.float64)
        numbers = as_groups(groups, len(y))
        plus, minus = pairs_of(y, numbers)
        right = np.count_nonzero(found[plus] > found[minus]) + 0.5 * np.count_nonzero(found[plus] == found[minus])
        return cls(len(y), len(np.unique(numbers)), len(plus), float(right))

    @property
    def share(self) -> float:
        """The share of pairs in the right order; 0.0 without pairs."""
        return self.right / self.n_pairs if self.n_pairs else 0.0

    def merged(self, other: PairEvaluation) -> PairEvaluation:
        """Return the evaluation of the groups of both."""
        names = ("n_rows", "n_groups", "n_pairs", "right")
        return PairEvaluation(*(getattr(self, name) + getattr(other, name) for name in names))

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "rows": self.n_rows,
            "groups": self.n_groups,
            "pairs": self.n_pairs,
            "in_order": self.share,
            "seen": self.seen,
        }

    def __str__(self) -> str:
        line = (
            f"in order  {self.share:.2%}   {self.right:,g} of {self.n_pairs:,} pairs; {self.n_rows:,} rows in "
            f"{self.n_groups:,} groups"
        ).replace("%", " %")
        return "\n\n".join([*not_new(self.seen), line])
