"""The operations on a row, for dense and sparse matrices alike: the layout is chosen when a loop is compiled.

`dot` (or `dots`, for several machines at once) and `add` are the whole arithmetic of a perceptron. Training,
replaying and predicting all call them, and so give the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from rosenblatt.loops._jit import Kind, inline, verb
from rosenblatt.loops.dense import (
    dense_add,
    dense_dot,
    dense_dots,
    dense_dots_of_two,
    dense_fits,
    dense_prefetch,
    dense_square,
)
from rosenblatt.loops.layout import PAIR, Order, Rows
from rosenblatt.loops.sparse import (
    sparse_add,
    sparse_dot,
    sparse_dots,
    sparse_fits,
    sparse_prefetch,
    sparse_prefetch_weights,
    sparse_square,
)
from rosenblatt.typing import Floats, Ints, Reals

VISITS_AHEAD = 4  # how many visits ahead a row is prefetched


def _is_dense(X: Kind) -> bool:
    return isinstance(X, types.Array)


@verb
def dot(X: Kind, i: Kind, w: Kind, after: Kind) -> Any:
    """Return <w, x_i>; `after` is the row of the next call."""
    if _is_dense(X):
        return lambda X, i, w, after: dense_dot(X, i, w)
    return sparse_dot


@verb
def dots(X: Kind, i: Kind, w: Kind, which: Kind, after: Kind, out: Kind) -> Any:
    """Write <w_m, x_i>, the bits of `dot`, to ``out[m]`` for the machines `which`, and perhaps for others."""
    if _is_dense(X):
        return lambda X, i, w, which, after, out: dense_dots(X, i, w, which, out)
    return lambda X, i, w, which, after, out: sparse_dots(X, i, w, after, out)


@inline
def look_ahead(X: Rows, order: Order, t: int) -> int:
    """Prefetch a row that is visited soon, and return the row visited next.

    Rows visited in the order they are stored need no prefetch: the hardware does so itself.
    """
    if t + VISITS_AHEAD < order.size and order[t + VISITS_AHEAD] != order[t] + VISITS_AHEAD:
        prefetch_row(X, order[t + VISITS_AHEAD])
    return order[min(t + 1, order.size - 1)]


@inline
def _pair_dots_ahead(X: Reals, order: Order, t: int, w: Floats, machines: Ints, out: Floats) -> None:
    if t % PAIR == 0:
        last = order.size - 1
        if t < last:
            ahead = (order[min(t + VISITS_AHEAD, last)], order[min(t + VISITS_AHEAD + 1, last)])
            dense_dots_of_two(X, order[t], order[t + 1], ahead, w, out)
        else:
            dense_dots(X, order[t], w, machines, out[0])


@inline
def _pair_renew(X: Reals, order: Order, t: int, w: Floats, m: int, out: Floats) -> None:
    if t % PAIR == 0 and t + 1 < order.size:
        out[1, m] = dense_dot(X, order[t + 1], w[m])


@verb
def dots_ahead(X: Kind, order: Kind, t: Kind, w: Kind, machines: Kind, out: Kind) -> Any:
    """Make ``out[t % 2]`` hold <w_m, x> of visit t for all machines.

    Dense rows are scored two visits at a time, before it is known whether the first one moves weights. A loop that
    moves weights then scores the second visit again (`renew`).
    """
    if _is_dense(X):
        return _pair_dots_ahead
    return lambda X, order, t, w, machines, out: sparse_dots(
        X, order[t], w, look_ahead(X, order, t), out[t % PAIR]
    )


@verb
def renew(X: Kind, order: Kind, t: Kind, w: Kind, m: Kind, out: Kind) -> Any:
    """Score again, by machine m which visit t moved, the visit that was scored along with it."""
    if _is_dense(X):
        return _pair_renew
    return lambda X, order, t, w, m, out: None


@verb
def add(X: Kind, i: Kind, c: Kind, w: Kind) -> Any:
    """Add c x_i to w."""
    if _is_dense(X):
        return dense_add
    return sparse_add


@verb
def fits(X: Kind, i: Kind, c: Kind, w: Kind, beta: Kind) -> Any:
    """Return whether moving the weights by c x_i and the bias by c β leaves all of them finite."""
    if _is_dense(X):
        return lambda X, i, c, w, beta: np.isfinite(w[-1] + c * beta) and dense_fits(X, i, c, w)
    return lambda X, i, c, w, beta: np.isfinite(w[-1] + c * beta) and sparse_fits(X, i, c, w)


@verb
def square(X: Kind, i: Kind) -> Any:
    """Return ‖x_i‖²."""
    if _is_dense(X):
        return dense_square
    return sparse_square


@verb
def prefetch_row(X: Kind, i: Kind) -> Any:
    """Prefetch row i."""
    if _is_dense(X):
        return dense_prefetch
    return sparse_prefetch


@verb
def prefetch_weights(X: Kind, i: Kind, w: Kind) -> Any:
    """Prefetch the weights that row i moves; for a dense row the hardware does so itself."""
    if _is_dense(X):
        return lambda X, i, w: None
    return sparse_prefetch_weights
