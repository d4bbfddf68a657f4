"""Stochastic subgradient descent as a textbook writes it: what the compiled loop is tested against.

Plain Python on any numbers that add and multiply, `fractions.Fraction` among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


def descend(
    X: Sequence[Sequence[Any]],
    pull: Sequence[Any],
    order: Iterable[int],
    slope: Callable[[Any], Any],
    margin: Any,
    eta: Callable[[int], Any],
    l2: Any = 0,
    bias: Any = 1,
) -> tuple[list[Any], Any, list[Any], Any]:
    """Visit the rows of `order` from zero weights; return w, b and their averages over the visits.

    Each visit shrinks w by η l2, then adds η φ'(margin − y f) y x to it, with f from before the visit; `pull` is y
    times the row's weight, and `slope` is φ'.

    Examples
    --------
    >>> descend([[1, 2]], [1], [0, 0], lambda t: 1 if t > 0 else 0, 1, lambda t: 1)[:2]
    ([1, 2], 1)
    """
    d = len(X[0])
    w, b = [0 * margin] * d, 0 * margin
    sum_w, sum_b, visits = list(w), b, 0
    for i in order:
        visits += 1
        y = 1 if pull[i] > 0 else -1
        f = sum(wj * xj for wj, xj in zip(w, X[i], strict=True)) + b
        step = eta(visits) * slope(margin - y * f) * pull[i]
        shrink = max(0, 1 - eta(visits) * l2)
        w = [shrink * wj + step * xj for wj, xj in zip(w, X[i], strict=True)]
        b += step * bias
        sum_w = [total + wj for total, wj in zip(sum_w, w, strict=True)]
        sum_b += b
    return w, b, [total / visits for total in sum_w], sum_b / visits
