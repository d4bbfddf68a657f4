"""Rows of a CSR matrix: the fixed-order dot product, the update, the prefetch."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops._vector import CACHE_LINE, columns_dot, prefetch
from rosenblatt.loops.layout import CSR
from rosenblatt.typing import Floats

# Unsigned like the indices: one signed operand would make the whole position signed.
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
LONGEST_PREFETCH = np.uint64(1024)

WIDE_MACHINES, NARROW_MACHINES = 8, 4  # neighbouring machines in a group
_eight_dots = columns_dot(NARROW_MACHINES, NARROW_MACHINES)
_twelve_dots = columns_dot(WIDE_MACHINES, NARROW_MACHINES)
_sixteen_dots = columns_dot(WIDE_MACHINES, WIDE_MACHINES)
_twenty_dots = columns_dot(WIDE_MACHINES, WIDE_MACHINES, NARROW_MACHINES)


@inline
def sparse_dot(X: CSR, i: int, w: Floats, after: int) -> float:
    """Return <w, x_i>: the stored values in order, by four running sums, the rest one by one.

    Scattered reads of w take most of the time, so the weights of row `after` are prefetched while row i is summed.
    If row `after` is shorter, the place is moved back to stay inside the arrays.
    """
    start, stop = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + ONE])
    four = stop - (stop - start) % FOUR
    ahead = _way_to(X, start, stop, after)
    a = b = c = d = 0.0
    for p in range(start, four, FOUR):
        prefetch(w, X.indices[p + ahead])
        prefetch(w, X.indices[p + ahead + ONE])
        prefetch(w, X.indices[p + ahead + TWO])
        prefetch(w, X.indices[p + ahead + THREE])
        a += w[X.indices[p]] * X.data[p]
        b += w[X.indices[p + ONE]] * X.data[p + ONE]
        c += w[X.indices[p + TWO]] * X.data[p + TWO]
        d += w[X.indices[p + THREE]] * X.data[p + THREE]
    f = (a + b) + (c + d)
    for p in range(four, stop):
        f += w[X.indices[p]] * X.data[p]
    return f


@inline
def _way_to(X: CSR, start: np.uint64 | int, stop: np.uint64 | int, after: int) -> Any:
    """Return how far row `after` lies ahead of a row; wraps around if it lies behind."""
    return min(np.uint64(X.indptr[after]), np.uint64(X.indices.size) - (stop - start)) - start


@inline
def sparse_dots(X: CSR, i: int, w: Floats, after: int, out: Floats) -> None:
    """Write <w_m, x_i> to ``out[m]`` for every machine: the bits of `sparse_dot`.

    w lies in memory feature by feature, so that a look-up brings the weights of all machines. Up to twenty are
    scored in one reading of the row. Where some lanes have no machine left, the last group overlaps the one before
    and writes some numbers twice.
    """
    machines = out.size
    start, stop = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + ONE])
    ahead = _way_to(X, start, stop, after)
    if machines < NARROW_MACHINES:
        for m in range(machines):
            out[m] = sparse_dot(X, i, w[m], after)
        return
    first = 0
    while machines - first > WIDE_MACHINES + WIDE_MACHINES + NARROW_MACHINES:
        _sixteen_dots(w.T, (first, first + WIDE_MACHINES), X.data, X.indices, start, stop, ahead, out)
        first += WIDE_MACHINES + WIDE_MACHINES
    left, wide, narrow = machines - first, machines - WIDE_MACHINES, machines - NARROW_MACHINES
    if left > WIDE_MACHINES + WIDE_MACHINES:
        _twenty_dots(w.T, (first, first + WIDE_MACHINES, narrow), X.data, X.indices, start, stop, ahead, out)
    elif left > WIDE_MACHINES + NARROW_MACHINES:
        _sixteen_dots(w.T, (first, wide), X.data, X.indices, start, stop, ahead, out)
    elif left > WIDE_MACHINES:
        _twelve_dots(w.T, (first, narrow), X.data, X.indices, start, stop, ahead, out)
    else:
        _eight_dots(w.T, (first, narrow), X.data, X.indices, start, stop, ahead, out)


@inline
def sparse_add(X: CSR, i: int, c: float, w: Floats) -> None:
    """Add c x_i to w."""
    for p in range(X.indptr[i], X.indptr[i + ONE]):
        w[X.indices[p]] += c * X.data[p]


@inline
def sparse_fits(X: CSR, i: int, c: float, w: Floats) -> bool:
    """Return whether adding c x_i to w leaves every weight finite."""
    for p in range(X.indptr[i], X.indptr[i + ONE]):
        moved = w[X.indices[p]] + c * X.data[p]
        if moved - moved != 0.0:
            return False
    return True


@inline
def sparse_square(X: CSR, i: int) -> float:
    """Return ‖x_i‖², one value after another."""
    square = 0.0
    for p in range(X.indptr[i], X.indptr[i + ONE]):
        square += np.float64(X.data[p]) * np.float64(X.data[p])
    return square


@inline
def sparse_prefetch(X: CSR, i: int) -> None:
    """Prefetch the stored values and column numbers of row i."""
    start = np.uint64(X.indptr[i])
    stop = min(np.uint64(X.indptr[i + ONE]), start + LONGEST_PREFETCH)
    for p in range(start, stop, np.uint64(CACHE_LINE // X.indices.itemsize)):
        prefetch(X.indices, p)
    for p in range(start, stop, np.uint64(CACHE_LINE // X.data.itemsize)):
        prefetch(X.data, p)


@inline
def sparse_prefetch_weights(X: CSR, i: int, w: Floats) -> None:
    """Prefetch the weights that row i will move."""
    start = np.uint64(X.indptr[i])
    for p in range(start, min(np.uint64(X.indptr[i + ONE]), start + LONGEST_PREFETCH)):
        prefetch(w, X.indices[p])


@jit
def weighted_gram(X: CSR, weight: Floats, out: Floats) -> None:
    """Add weight_i x_ij x_ik to ``out[j, k]`` for k ≤ j (for Newton's method); columns ascend in each row."""
    for i in range(weight.size):
        if weight[i] == 0.0:
            continue
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            c = weight[i] * np.float64(X.data[p])
            for q in range(X.indptr[i], p + ONE):
                out[X.indices[p], X.indices[q]] += c * X.data[q]
