"""The perceptron loop on rows lifted by one coordinate each, of which only its weight is kept (S-22).

The lifted row is [a x_i; sqrt(1 − a²) e_i], and the lifted weights sum y times such rows over the mistakes. So the
lifted score is a² (<w, x_i> + b) + (1 − a²) v_i, where w, b and v_i are the same sums without the factors: no
square root is taken, and where a² is a dyadic fraction exact data stays exact.
"""

from __future__ import annotations

from typing import Any

from rosenblatt.loops._jit import jit
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.rows import dot, look_ahead
from rosenblatt.loops.targets import Log, Sides
from rosenblatt.loops.visits import move
from rosenblatt.typing import Floats


@jit
def train(
    X: Rows, targets: Sides, order: Any, square: float, beta: float, w: Floats, v: Floats, log: Log
) -> tuple[int, int]:
    """Visit the rows of `order`, correcting `w` and `v` in place; return (mistakes, visits made).

    `square` is a². The scores logged are f, those of the weights that predict. Fewer visits than rows in `order`
    mean that the next row's score was not finite.
    """
    k = 0
    for t in range(order.size):
        after = look_ahead(X, order, t)
        i = order[t]
        f = dot(X, i, w, after) + w[-1]
        lifted = square * f + (1.0 - square) * v[i]
        if lifted - lifted != 0.0:
            return k, t
        step = 1.0 if targets.pull[i] > 0.0 else -1.0
        if step * lifted <= 0.0:
            log.at[k] = t
            log.score[k] = f
            log.step[k] = 1.0
            move(X, i, step, beta, w)
            v[i] += step
            k += 1
    return k, order.size
