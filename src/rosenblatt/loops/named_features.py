"""One example given as names and values: one row of a sparse matrix, made of numbers that come in any order.

`pairs` holds 0, n, the n places of the features and then their n values, all as floats: numpy makes one array of a
list of floats faster than two of anything else. The first half becomes the row's start, end and column numbers
where it lies. Columns are sorted, so that the bits do not depend on the order of the names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.passes import visit_only_row
from rosenblatt.loops.rows import dot
from rosenblatt.loops.rules import Rule
from rosenblatt.typing import Floats

HEAD_NUMBERS = 2  # numbers before the places
LARGEST_EXACT_INTEGER = 2.0**53  # from here on a float may be a rounded integer


@inline
def _sort(pairs: Floats, n: int) -> None:
    """Sort the places, and the values with them (Shell 1959)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(HEAD_NUMBERS + gap, HEAD_NUMBERS + n):
            place, value = pairs[k], pairs[k + n]
            at = k
            while at >= HEAD_NUMBERS + gap and pairs[at - gap] > place:
                pairs[at], pairs[at + n] = pairs[at - gap], pairs[at - gap + n]
                at -= gap
            pairs[at], pairs[at + n] = place, value
        gap //= 3


@inline
def _usual(pairs: Floats, n: int) -> bool:
    """Return whether every value is an ordinary number, which needs no further check."""
    for k in range(HEAD_NUMBERS + n, HEAD_NUMBERS + 2 * n):  # noqa: SIM110 - loops have no generators
        if not abs(pairs[k]) < LARGEST_EXACT_INTEGER:
            return False
    return True


@inline
def _row(pairs: Floats, n: int) -> Any:
    """Return the pairs as a sparse matrix of one row, in their own memory."""
    _sort(pairs, n)
    whole = pairs.view(np.uint64)
    for k in range(HEAD_NUMBERS + n):
        whole[k] = np.uint64(pairs[k])
    return CSR(pairs[HEAD_NUMBERS + n :], whole[HEAD_NUMBERS : HEAD_NUMBERS + n], whole[:HEAD_NUMBERS])


@jit
def learn_named(
    pairs: Floats, pull: float, rule: Rule | tuple[float, ...], w: Floats, u: Floats | None, t: int
) -> tuple[float, float]:
    """Visit an example by one machine, as `rosenblatt.loops.passes.learn_row` does.

    The score is not finite, and nothing changed, also where a value needs a closer look.
    """
    n = int(pairs[1])
    if not _usual(pairs, n):
        return np.nan, 0.0
    return visit_only_row(_row(pairs, n), pull, rule, w, u, t)


@jit
def score_named(pairs: Floats, w: Floats, u: Floats | None, t: int) -> float:
    """Return the score of an example by one machine, or by its average over t visits if u is given.

    Only the weights of its own features are read: they are put in the places of the column numbers.
    """
    n = int(pairs[1])
    if not _usual(pairs, n):
        return np.nan
    if u is None or t == 0:
        return dot(_row(pairs, n), 0, w, 0) + w[-1]
    _sort(pairs, n)
    own = pairs[HEAD_NUMBERS : HEAD_NUMBERS + n]
    for k in range(n):
        place = np.uint64(own[k])
        own[k] = w[place] - u[place] / t
    return own_dot(own, pairs[HEAD_NUMBERS + n :]) + (w[-1] - u[-1] / t)


@inline
def own_dot(w: Floats, x: Floats) -> float:
    """Return <w, x> in the order of `rosenblatt.loops.sparse.sparse_dot`."""
    four = x.size - x.size % 4
    a = b = c = d = 0.0
    for p in range(0, four, 4):
        a += w[p] * x[p]
        b += w[p + 1] * x[p + 1]
        c += w[p + 2] * x[p + 2]
        d += w[p + 3] * x[p + 3]
    f = (a + b) + (c + d)
    for p in range(four, x.size):
        f += w[p] * x[p]
    return f
