"""Ranking: one vector, corrected by pairs of rows of which one should score higher than the other.

A pair is an example x⁺ − x⁻ of a perceptron without a bias. Its score is the difference of two scores that
prediction computes too, so that a pair that training left in its right order is predicted in this order.
"""

from __future__ import annotations

from typing import Any

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.rows import add, dot
from rosenblatt.loops.targets import Log, Pairs
from rosenblatt.typing import Floats


@inline
def pair_score(targets: Any, X: Any, order: Any, t: Any, w: Any) -> float:
    """Return f(x⁺) − f(x⁻) of the pair that is visited at t; the rows of the next pair are prefetched."""
    p, after = order[t], order[min(t + 1, order.size - 1)]
    plus, minus = targets.plus[p], targets.minus[p]
    return dot(X, plus, w, minus) - dot(X, minus, w, targets.plus[after])


@inline
def decide_pair(targets: Any, X: Any, order: Any, t: Any, rule: Any, w: Any, log: Any, k: Any) -> int:
    """Score visit t, a pair, and log its update if it needs one: the score falls short of the margin, or ties."""
    f = pair_score(targets, X, order, t, w)
    if f - f != 0.0:
        return -1
    weight = targets.weight[order[t]]
    share = 1.0 if f < rule.margin else rule.tie_plus if f == rule.margin else 0.0
    if share * weight == 0.0:
        return k
    log.score[k] = f
    log.step[k] = rule.eta * share * weight
    return k + 1


@inline
def update_pair(targets: Any, X: Any, p: Any, log: Any, k: Any, t: Any, w: Any, u: Any) -> None:
    """Add the better row of pair p to the vector, and subtract the other one."""
    add(X, targets.plus[p], log.step[k], w)
    add(X, targets.minus[p], -log.step[k], w)
    if u is not None:
        add(X, targets.plus[p], log.step[k] * t, u)
        add(X, targets.minus[p], -log.step[k] * t, u)


@jit
def replay_pairs(X: Rows, targets: Pairs, index: Any, log: Log, w: Floats, u: Floats | None) -> int:
    """Take logged steps again, in place, as `rosenblatt.loops.passes.replay` does; `index` holds pairs."""
    for k in range(index.size):
        if pair_score(targets, X, index, k, w) != log.score[k]:
            return k
        update_pair(targets, X, index[k], log, k, log.at[k], w, u)
    return -1
