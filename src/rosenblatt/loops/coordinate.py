"""Dual coordinate ascent: each visit gives one row the dual weight that is best while all others stay."""

from __future__ import annotations

from typing import Any, NamedTuple

from rosenblatt.loops._jit import jit
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.losses import Loss, best_dual
from rosenblatt.loops.rows import add, dot, look_ahead
from rosenblatt.typing import Floats


class Costs(NamedTuple):
    """What each row's loss costs, and how much its score moves with its own dual weight: ‖x‖²/l2 and the bias."""

    cost: Floats
    q: Floats
    l2: float
    bias: float


@jit
def ascend(X: Rows, y: Floats, order: Any, loss: Loss, costs: Costs, alpha: Floats, w: Floats) -> None:
    """Visit the rows of `order`, improving `alpha` and with it ``w = Σ α_i y_i x_i / l2`` in place."""
    for k in range(order.size):
        after = look_ahead(X, order, k)
        i = order[k]
        t = loss.margin - y[i] * (dot(X, i, w, after) + w[-1])
        a = best_dual(loss, alpha[i], costs.cost[i], t, costs.q[i])
        step = y[i] * (a - alpha[i])
        if step != 0.0:
            alpha[i] = a
            add(X, i, step / costs.l2, w)
            w[-1] += step * costs.bias
