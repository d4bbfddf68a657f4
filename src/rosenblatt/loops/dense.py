"""Rows of a C-contiguous matrix: the fixed-order dot product, the update, the prefetch.

Products and sums are float64 and widening is exact, so float32 and uint8 matrices train the same bits as their
float64 copies, with a half and an eighth of the memory traffic.
"""

from __future__ import annotations

import numpy as np

from rosenblatt.loops._jit import inline
from rosenblatt.loops._vector import CACHE_LINE, lanes_dot, lanes_dots, prefetch
from rosenblatt.loops.layout import PAIR
from rosenblatt.typing import Floats, Ints, Reals

WIDE_LANES = 32
NARROW_LANES = 8

dot_wide = lanes_dot(WIDE_LANES)
dot_narrow = lanes_dot(NARROW_LANES)
_dots_wide = lanes_dots(WIDE_LANES, PAIR, PAIR)
_dots_narrow = lanes_dots(NARROW_LANES, PAIR, PAIR)


@inline
def dense_dot(X: Reals, i: int, w: Floats) -> float:
    """Return <w, x_i> by 32 lanes, then 8, then one by one: always this order."""
    n = X.shape[1]
    wide = n - n % WIDE_LANES
    narrow = n - n % NARROW_LANES
    start = i * n
    f = dot_wide(w, 0, X, start, wide)
    f += dot_narrow(w, wide, X, start + wide, narrow - wide)
    for j in range(narrow, n):
        f += w[j] * X[i, j]
    return f


@inline
def dense_dots(X: Reals, i: int, w: Floats, which: Ints, out: Floats) -> None:
    """Write <w_m, x_i> to ``out[m]`` for the machines `which`."""
    for p in range(which.size):
        out[which[p]] = dense_dot(X, i, w[which[p]])


@inline
def dense_dots_of_two(X: Reals, i: int, j: int, ahead: tuple[int, int], w: Floats, out: Floats) -> None:
    """Write <w_m, x_i> to ``out[0, m]`` and <w_m, x_j> to ``out[1, m]`` for every machine, as `dense_dot` would.

    Two rows and two machines share each load: the weights of ten machines do not fit in the first-level cache, and
    fetching them for each row would take as long as all the arithmetic. The rows `ahead` are prefetched.
    """
    n, machines = X.shape[1], w.shape[0]
    wide = n - n % WIDE_LANES
    narrow = n - n % NARROW_LANES
    rows = (i * n, j * n)
    for m in range(0, machines - 1, PAIR):
        at = (m * w.shape[1], (m + 1) * w.shape[1])
        a, b, c, d = _dots_wide(w, at, X, rows, wide, ahead[(m // PAIR) % PAIR] * n)
        at, tail = (at[0] + wide, at[1] + wide), (rows[0] + wide, rows[1] + wide)
        e, f, g, h = _dots_narrow(w, at, X, tail, narrow - wide, None)
        a, b, c, d = a + e, b + f, c + g, d + h
        for k in range(narrow, n):
            a += w[m, k] * X[i, k]
            b += w[m, k] * X[j, k]
            c += w[m + 1, k] * X[i, k]
            d += w[m + 1, k] * X[j, k]
        out[0, m], out[1, m], out[0, m + 1], out[1, m + 1] = a, b, c, d
    if machines % PAIR:
        out[0, machines - 1] = dense_dot(X, i, w[machines - 1])
        out[1, machines - 1] = dense_dot(X, j, w[machines - 1])


@inline
def dense_add(X: Reals, i: int, c: float, w: Floats) -> None:
    """Add c x_i to w."""
    for j in range(X.shape[1]):
        w[j] += c * X[i, j]


@inline
def dense_fits(X: Reals, i: int, c: float, w: Floats) -> bool:
    """Return whether adding c x_i to w leaves every weight finite."""
    for j in range(X.shape[1]):
        moved = w[j] + c * X[i, j]
        if moved - moved != 0.0:
            return False
    return True


@inline
def dense_square(X: Reals, i: int) -> float:
    """Return ‖x_i‖², one value after another."""
    square = 0.0
    for j in range(X.shape[1]):
        square += np.float64(X[i, j]) * np.float64(X[i, j])
    return square


@inline
def dense_prefetch(X: Reals, i: int) -> None:
    """Prefetch the start of row i; the hardware prefetches the rest."""
    n = X.shape[1]
    line = CACHE_LINE // X.itemsize
    for j in range(0, min(n, 4 * line), line):
        prefetch(X, i * n + j)
