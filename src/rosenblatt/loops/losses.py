"""Losses as values: each is a function φ of the shortfall t = margin − y f.

================  ==========================  ==========  =========================
loss              φ(t)                        margin      φ*(u), the conjugate
================  ==========================  ==========  =========================
`Hinge`           max(0, t)                   1 (hinge),  0 for 0 ≤ u ≤ 1
                                              any ≥ 0
`SquaredHinge`    max(0, t)²                  1           u²/4 for u ≥ 0
`Logistic`        log(1 + exp(t))             0           u log u + (1−u) log(1−u)
================  ==========================  ==========  =========================

All are convex, not negative, and do not fall as t grows. The perceptron's loss max(0, −y f) is a hinge with margin
0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

from numba import types

from rosenblatt.loops._jit import verb

MOST_STEPS = 100
SETTLED = 1e-14


class Hinge(NamedTuple):
    """max(0, margin − y f)."""

    margin: float = 1.0


class SquaredHinge(NamedTuple):
    """max(0, margin − y f)²."""

    margin: float = 1.0


class Logistic(NamedTuple):
    """log(1 + exp(margin − y f))."""

    margin: float = 0.0


Loss: TypeAlias = Hinge | SquaredHinge | Logistic


def _is(loss: Any, kind: type) -> bool:
    return isinstance(loss, types.BaseNamedTuple) and loss.instance_class is kind


@verb
def value(loss: Any, t: Any) -> Any:
    """Return φ(t)."""
    if _is(loss, Hinge):
        return lambda loss, t: max(0.0, t)
    if _is(loss, SquaredHinge):
        return lambda loss, t: max(0.0, t) ** 2
    return lambda loss, t: max(0.0, t) + math.log1p(math.exp(-abs(t)))


@verb
def slope(loss: Any, t: Any) -> Any:
    """Return φ'(t); at the corner of the hinge it is 0, the least of the slopes there.

    With margin 0 it is 1 there, the largest: a score of zero is a mistake of the perceptron.
    """
    if _is(loss, Hinge):
        return lambda loss, t: 1.0 if t > 0.0 or (t == 0.0 and loss.margin == 0.0) else 0.0
    if _is(loss, SquaredHinge):
        return lambda loss, t: 2.0 * max(0.0, t)

    def logistic(loss: Any, t: Any) -> Any:
        e = math.exp(-abs(t))
        return (1.0 if t > 0.0 else e) / (1.0 + e)

    return logistic


@verb
def has_ends(loss: Any) -> Any:
    """Return whether dual weights stay at an end of their range; those of the logistic loss never reach one."""
    ends = not _is(loss, Logistic)
    return lambda loss: ends


@verb
def best_dual(loss: Any, a: Any, c: Any, t: Any, q: Any) -> Any:
    """Return the dual weight α that maximises α t' − c φ*(α/c) for one row while the others stay.

    `a` is its present value and `t` its present shortfall, which falls by q for each unit of α:
    t' = t − q (α − a)/2.
    """
    if _is(loss, Hinge):
        return lambda loss, a, c, t, q: min(c, max(0.0, a + t / q)) if q > 0.0 else (c if t > 0.0 else 0.0)
    if _is(loss, SquaredHinge):
        return lambda loss, a, c, t, q: max(0.0, (t + q * a) / (q + 0.5 / c))

    def logistic(loss: Any, a: Any, c: Any, t: Any, q: Any) -> Any:
        # Solve log(α/(c−α)) + q (α − a) = t, whose left side grows, by Newton's steps in s = log(α/(c−α)), so that
        # α = c/(1 + exp(−s)) stays between 0 and c. The bracket of s is halved instead if a step would leave it or
        # is more than half as long as the last one, because Newton's steps may jump to and fro for long.
        low, high = min(t, t + q * a - q * c), t + q * a
        s = min(high, max(low, math.log(a / (c - a)) if 0.0 < a < c else t))
        alpha, last = a, high - low
        for _ in range(MOST_STEPS):
            e = math.exp(-abs(s))
            share = (1.0 if s > 0.0 else e) / (1.0 + e)
            alpha = c * share
            residual = s + q * (alpha - a) - t
            if residual > 0.0:
                high = s
            else:
                low = s
            moved = s - residual / (1.0 + q * c * share * (1.0 - share))
            if abs(moved - s) <= SETTLED * (1.0 + abs(s)):
                break
            if not (low < moved < high and 2.0 * abs(moved - s) <= last):
                moved = 0.5 * (low + high)
            last = abs(moved - s)
            s = moved
        return alpha

    return logistic
