"""Iterative parameter mixing (McDonald, Hall and Mann 2010) as a textbook writes it.

Plain Python, one partition after the other, never optimised. The distributed engine is tested against it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from rosenblatt.loops.reference import plus, train
from rosenblatt.loops.rules import Rule

Partition = tuple[Sequence[Sequence[Any]], Sequence[int]]
"""Rows and their labels, −1 or +1."""


class Mixed(NamedTuple):
    """The mixed weights, bias last, the mistakes of each partition in each pass, and Σ μ k over all passes."""

    w: list[Any]
    mistakes: list[list[int]]
    weighted: Fraction


def shares(mistakes: Sequence[int], mixing: str) -> list[Fraction]:
    """Return the mixing weight μ of each partition; uniform where no partition made a mistake.

    >>> shares([3, 1], "uniform"), shares([3, 1], "mistakes")
    ([Fraction(1, 2), Fraction(1, 2)], [Fraction(3, 4), Fraction(1, 4)])
    """
    total = sum(mistakes)
    if mixing == "uniform" or not total:
        return [Fraction(1, len(mistakes))] * len(mistakes)
    return [Fraction(k, total) for k in mistakes]


def mix(vectors: Sequence[Sequence[Any]], weights: Sequence[Any]) -> list[Any]:
    """Return Σ μ_i w_i, added in the order of the partitions; a partition of weight 0 adds nothing."""
    total: list[Any] | None = None
    for w, share in zip(vectors, weights, strict=True):
        if share:
            total = [share * w_j for w_j in w] if total is None else plus(total, share, w)
    assert total is not None, "some partition has weight"
    return total


def train_mixed(
    partitions: Sequence[Partition],
    passes: int,
    rule: Rule = Rule(),  # noqa: B008 - a rule is an immutable value
    mixing: str = "uniform",
    number: Callable[[Fraction], Any] = float,
) -> Mixed:
    """Train: in each pass every partition starts at the mixed weights, and the results are mixed.

    `number` turns mixing weights into the numbers of the arithmetic. The weights stay as they are after a pass
    without a mistake, which ends training.

    Examples
    --------
    >>> halves = [([[0, 0], [1, 0]], [-1, 1]), ([[0, 1], [1, 1]], [1, 1])]
    >>> mixed = train_mixed(halves, passes=9)
    >>> mixed.w, mixed.mistakes[:3], mixed.weighted
    ([1.5, 1.0, -0.5], [[2, 1], [2, 0], [1, 0]], Fraction(11, 2))
    """
    w: list[Any] = [0] * (len(partitions[0][0][0]) + 1)
    counts, weighted = [], Fraction(0)
    for _ in range(passes):
        results = [train(X, y, range(len(X)), rule, w[:-1], w[-1]) for X, y in partitions]
        mistakes = [len(result.mistakes) for result in results]
        counts.append(mistakes)
        if not any(mistakes):
            break
        weights = shares(mistakes, mixing)
        weighted += sum((share * k for share, k in zip(weights, mistakes, strict=True)), Fraction(0))
        w = mix([[*result.w, result.b] for result in results], [number(share) for share in weights])
    return Mixed(w, counts, weighted)
