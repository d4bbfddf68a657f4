"""What a loop may do with a row, whatever the matrix is: one name each, dispatched when compiled.

`dot` (for several machines at once `dots`) and `add` are the whole arithmetic of a perceptron. Every mode of
training, replaying and predicting calls these, and so gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from rosenblatt.loops._jit import VERB, inline
from rosenblatt.loops.dense import (
    dense_add,
    dense_dot,
    dense_dots,
    dense_dots_of_two,
    dense_fits,
    dense_prefetch,
    dense_square,
)
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.sparse import (
    sparse_add,
    sparse_dot,
    sparse_dots,
    sparse_fits,
    sparse_prefetch,
    sparse_prefetch_weights,
    sparse_square,
)
from rosenblatt.loops.targets import PAIR
from rosenblatt.typing import Floats

FAR = 4  # how many visits ahead a row is asked for


def dot(X: Rows, i: int, w: Floats, after: int) -> float:
    """Return <w, x_i>; `after` is the row that will be asked for next."""
    raise TypeError("called from compiled loops only")


def dots(X: Rows, i: int, w: Floats, which: Any, after: int, out: Floats) -> None:
    """Write <w_m, x_i> to ``out[m]`` for the machines `which`, perhaps for others too: the bits of `dot`."""
    raise TypeError("called from compiled loops only")


def dots_ahead(X: Rows, order: Any, t: int, w: Floats, machines: Any, out: Floats) -> None:
    """See to it that ``out[t % 2]`` holds <w_m, x> of the visit t for all machines.

    Dense rows are scored two visits at a time, before it is known whether the first will move weights: whoever
    moves some writes the second's score by them anew (`renew`).
    """
    raise TypeError("called from compiled loops only")


def renew(X: Rows, order: Any, t: int, w: Floats, m: int, out: Floats) -> None:
    """Score by machine m, which the visit t moved, the visit that was scored along with it."""
    raise TypeError("called from compiled loops only")


def add(X: Rows, i: int, c: float, w: Floats) -> None:
    """Add c x_i to w."""
    raise TypeError("called from compiled loops only")


def fits(X: Rows, i: int, c: float, w: Floats, beta: float) -> bool:
    """Whether moving the weights by c x_i and the bias by c β leaves all of them finite."""
    raise TypeError("called from compiled loops only")


def square(X: Rows, i: int) -> float:
    """Return ‖x_i‖²."""
    raise TypeError("called from compiled loops only")


def prefetch_row(X: Rows, i: int) -> None:
    """Ask memory for row i."""
    raise TypeError("called from compiled loops only")


def prefetch_weights(X: Rows, i: int, w: Floats) -> None:
    """Ask memory for the weights that row i moves; the hardware sees those of a dense row coming."""
    raise TypeError("called from compiled loops only")


def _is_dense(X: Any) -> bool:
    return isinstance(X, types.Array)


@overload(dot, **VERB)  # type: ignore[untyped-decorator]
def _dot(X: Any, i: Any, w: Any, after: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, w, after: dense_dot(X, i, w)
    return lambda X, i, w, after: sparse_dot(X, i, w, after)


@overload(dots, **VERB)  # type: ignore[untyped-decorator]
def _dots(X: Any, i: Any, w: Any, which: Any, after: Any, out: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, w, which, after, out: dense_dots(X, i, w, which, out)
    return lambda X, i, w, which, after, out: sparse_dots(X, i, w, after, out)


@inline
def look_ahead(X: Rows, order: Any, t: int) -> int:
    """Ask for a row that is visited soon, and return the one visited next.

    Rows visited as they are stored need no asking: the hardware sees them coming.
    """
    if t + FAR < order.size and order[t + FAR] != order[t] + FAR:
        prefetch_row(X, order[t + FAR])
    return order[min(t + 1, order.size - 1)]


@inline
def _pair_dots_ahead(X: Rows, order: Any, t: int, w: Any, machines: Any, out: Floats) -> None:
    if t % PAIR == 0:
        last = order.size - 1
        if t < last:
            ahead = (order[min(t + FAR, last)], order[min(t + FAR + 1, last)])
            dense_dots_of_two(X, order[t], order[t + 1], ahead, w, out)
        else:
            dense_dots(X, order[t], w, machines, out[0])


@inline
def _pair_renew(X: Rows, order: Any, t: int, w: Any, m: int, out: Floats) -> None:
    if t % PAIR == 0 and t + 1 < order.size:
        out[1, m] = dense_dot(X, order[t + 1], w[m])


@overload(dots_ahead, **VERB)  # type: ignore[untyped-decorator]
def _dots_ahead(X: Any, order: Any, t: Any, w: Any, machines: Any, out: Any) -> Any:
    if _is_dense(X):
        return lambda X, order, t, w, machines, out: _pair_dots_ahead(X, order, t, w, machines, out)
    return lambda X, order, t, w, machines, out: sparse_dots(
        X, order[t], w, look_ahead(X, order, t), out[t % PAIR]
    )


@overload(renew, **VERB)  # type: ignore[untyped-decorator]
def _renew(X: Any, order: Any, t: Any, w: Any, m: Any, out: Any) -> Any:
    if _is_dense(X):
        return lambda X, order, t, w, m, out: _pair_renew(X, order, t, w, m, out)
    return lambda X, order, t, w, m, out: None


@overload(add, **VERB)  # type: ignore[untyped-decorator]
def _add(X: Any, i: Any, c: Any, w: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, c, w: dense_add(X, i, c, w)
    return lambda X, i, c, w: sparse_add(X, i, c, w)


@overload(fits, **VERB)  # type: ignore[untyped-decorator]
def _fits(X: Any, i: Any, c: Any, w: Any, beta: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, c, w, beta: np.isfinite(w[-1] + c * beta) and dense_fits(X, i, c, w)
    return lambda X, i, c, w, beta: np.isfinite(w[-1] + c * beta) and sparse_fits(X, i, c, w)


@overload(square, **VERB)  # type: ignore[untyped-decorator]
def _square(X: Any, i: Any) -> Any:
    if _is_dense(X):
        return lambda X, i: dense_square(X, i)
    return lambda X, i: sparse_square(X, i)


@overload(prefetch_row, **VERB)  # type: ignore[untyped-decorator]
def _prefetch_row(X: Any, i: Any) -> Any:
    if _is_dense(X):
        return lambda X, i: dense_prefetch(X, i)
    return lambda X, i: sparse_prefetch(X, i)


@overload(prefetch_weights, **VERB)  # type: ignore[untyped-decorator]
def _prefetch_weights(X: Any, i: Any, w: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, w: None
    return lambda X, i, w: sparse_prefetch_weights(X, i, w)
