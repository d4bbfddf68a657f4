"""What a loop may do with a row, whatever the matrix is: one name each, dispatched when compiled.

`dot` and `add` are the whole arithmetic of a perceptron. Every mode of training, replaying and predicting
calls these two, and so gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from rosenblatt.loops._jit import inline
from rosenblatt.loops.dense import dense_add, dense_dot, dense_fits, dense_prefetch, dense_square
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.sparse import (
    sparse_add,
    sparse_dot,
    sparse_fits,
    sparse_prefetch,
    sparse_prefetch_weights,
    sparse_square,
)
from rosenblatt.typing import Floats

FAR = 4  # how many visits ahead a row is asked for

_verb = {"strict": False, "jit_options": {"forceinline": True}}


def dot(X: Rows, i: int, w: Floats, after: int) -> float:
    """Return <w, x_i>; `after` is the row that will be asked for next."""
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


@overload(dot, **_verb)  # type: ignore[untyped-decorator]
def _dot(X: Any, i: Any, w: Any, after: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, w, after: dense_dot(X, i, w)
    return lambda X, i, w, after: sparse_dot(X, i, w, after)


@overload(add, **_verb)  # type: ignore[untyped-decorator]
def _add(X: Any, i: Any, c: Any, w: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, c, w: dense_add(X, i, c, w)
    return lambda X, i, c, w: sparse_add(X, i, c, w)


@overload(fits, **_verb)  # type: ignore[untyped-decorator]
def _fits(X: Any, i: Any, c: Any, w: Any, beta: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, c, w, beta: np.isfinite(w[-1] + c * beta) and dense_fits(X, i, c, w)
    return lambda X, i, c, w, beta: np.isfinite(w[-1] + c * beta) and sparse_fits(X, i, c, w)


@overload(square, **_verb)  # type: ignore[untyped-decorator]
def _square(X: Any, i: Any) -> Any:
    if _is_dense(X):
        return lambda X, i: dense_square(X, i)
    return lambda X, i: sparse_square(X, i)


@overload(prefetch_row, **_verb)  # type: ignore[untyped-decorator]
def _prefetch_row(X: Any, i: Any) -> Any:
    if _is_dense(X):
        return lambda X, i: dense_prefetch(X, i)
    return lambda X, i: sparse_prefetch(X, i)


@overload(prefetch_weights, **_verb)  # type: ignore[untyped-decorator]
def _prefetch_weights(X: Any, i: Any, w: Any) -> Any:
    if _is_dense(X):
        return lambda X, i, w: None
    return lambda X, i, w: sparse_prefetch_weights(X, i, w)


@inline
def look_ahead(X: Rows, order: Any, t: int) -> int:
    """Ask for a row that is visited soon, and return the one visited next.

    Rows visited as they are stored need no asking: the hardware sees them coming.
    """
    if t + FAR < order.size and order[t + FAR] != order[t] + FAR:
        prefetch_row(X, order[t + FAR])
    return order[min(t + 1, order.size - 1)]
