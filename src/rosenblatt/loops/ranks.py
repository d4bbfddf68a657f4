"""PRank: one vector scores rows, and thresholds cut the scores into ranks (Crammer and Singer 2001).

A row of rank y should score above the thresholds below y and below the others. An update moves each threshold that
the score is on the wrong side of, and the vector by their number. The thresholds stay in order.
"""

from __future__ import annotations

from typing import Any

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.rows import add, dot, look_ahead
from rosenblatt.loops.targets import Log, Ranks
from rosenblatt.typing import Floats, Ints


@inline
def _slip(targets: Any, i: Any, r: Any, f: Any, w: Any) -> float:
    """Return ±1, the side of threshold r that row i belongs to, if its score f is not there; otherwise 0."""
    side = 1.0 if targets.code[i] > r else -1.0
    return side if side * (f + w[targets.first + r]) <= 0.0 else 0.0


@inline
def decide_rank(targets: Any, X: Any, order: Any, t: Any, rule: Any, w: Any, log: Any, k: Any) -> int:
    """Score visit t and log its update, if it needs one, with the number of thresholds to move as its machine."""
    after = look_ahead(X, order, t)
    i = order[t]
    f = dot(X, i, w, after)
    if f - f != 0.0:
        return -1
    if targets.weight[i] == 0.0:
        return k
    slips = 0
    for r in range(w.size - targets.first):
        slips += 1 if _slip(targets, i, r, f, w) != 0.0 else 0
    if slips == 0:
        return k
    log.score[k] = f
    log.step[k] = rule.eta * targets.weight[i]
    log.machine[k] = slips
    return k + 1


@inline
def update_rank(targets: Any, X: Any, i: Any, log: Any, k: Any, t: Any, rule: Any, w: Any, u: Any) -> None:
    """Move the thresholds on the wrong side of a score, and the vector by their number."""
    step, slips = log.step[k], 0.0
    for r in range(w.size - targets.first):
        slip = _slip(targets, i, r, log.score[k], w)
        slips += slip
        w[targets.first + r] += step * slip * rule.beta
        if u is not None:
            u[targets.first + r] += step * slip * rule.beta * t
    add(X, i, step * slips, w)
    if u is not None:
        add(X, i, step * slips * t, u)


@jit
def rank_scores(X: Rows, order: Any, w: Floats, out: Floats) -> None:
    """Write <w, x_i> for every row of `order`, which is 0, 1, …: the bits that training decides by."""
    for i in range(order.size):
        out[i] = dot(X, order[i], w, look_ahead(X, order, i))


@jit
def replay_ranks(X: Rows, targets: Ranks, index: Any, log: Log, rule: Any, w: Floats, u: Floats | None) -> int:
    """Take logged steps again, in place, as `rosenblatt.loops.passes.replay` does."""
    for k in range(index.size):
        if dot(X, index[k], w, look_ahead(X, index, k)) != log.score[k]:
            return k
        update_rank(targets, X, index[k], log, k, log.at[k], rule, w, u)
    return -1


def ranks_of(scores: Floats, w: Floats, first: int) -> Ints:
    """Return the rank of each score: the number of thresholds that it reaches before the first it does not."""
    reached = scores[:, None] + w[None, first:] >= 0.0
    ranks: Ints = reached.cumprod(axis=1).sum(axis=1)
    return ranks
