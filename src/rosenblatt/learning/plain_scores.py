"""Scores by numpy alone, the same bits as those of the compiled loops.

Loading numba takes longer than scoring a small table. The dense loops fuse each multiplication and addition into
one rounding, which numpy cannot do, so it is built from ordinary operations (Boldo and Melquiond 2008): product
and sums are split without error into a float and a rest, and the rests are rounded to odd before the last
addition, so that rounding twice gives the same as rounding once. Where a number is too large or too small for
their conditions, exact fractions decide.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.typing import Floats, Reals

MAX_PLAIN_PRODUCTS, MAX_PLAIN_STEPS = 2**21, 2**12
"""Products, and consecutive steps, up to which this is faster than loading the loops: a third of a second."""
PRODUCTS_AT_ONCE = 2**15
"""Products computed together: their few megabytes stay in the cache."""
WIDE_LANES, NARROW_LANES = 32, 8  # lanes, as in `rosenblatt.loops.dense`
SPLITTER = 2.0**27 + 1.0
LARGEST_SAFE_SIZE, LEAST_SAFE_SIZE = 2.0**990, 2.0**-960
"""Between these sizes of factors and products no part overflows or underflows."""


def suffices(rows: Rows, n_machines: int) -> bool:
    """Return whether numba is not loaded yet and there is too little to score to load it."""
    if "numba" in sys.modules:
        return False
    if isinstance(rows, CSR):
        lengths = np.diff(rows.indptr.astype(np.int64))
        values, steps = int(lengths.sum()), int(lengths.max(initial=0)) // 4
    else:
        n, d = rows.shape
        values, steps = rows.size, -(-n // _side_by_side(n_machines)) * (d // WIDE_LANES)
    return values * n_machines <= MAX_PLAIN_PRODUCTS and steps <= MAX_PLAIN_STEPS


def plain_scores(rows: Rows, weights: Floats) -> Floats:
    """Return f(x) of every row and machine, in the shape of `LinearModel.scores`.

    Examples
    --------
    >>> plain_scores(np.array([[1.0, 2.0], [0.5, 0.0]]), np.array([2.0, -1.0, 0.25]))
    array([0.25, 1.25])
    """
    machines = np.atleast_2d(weights)
    with np.errstate(all="ignore"):  # the scores show what is not finite
        dots = _sparse_dots(rows, machines) if isinstance(rows, CSR) else _dense_dots(rows, machines)
        scores: Floats = dots + machines[:, -1]
    return scores[:, 0] if weights.ndim == 1 else scores


def _dense_dots(X: Reals, w: Floats) -> Floats:
    """Return <w_m, x_i> by 32 lanes, then 8, then one by one, in the order of `dense_dot`."""
    n, d = X.shape
    out = np.empty((n, len(w)))
    step = _side_by_side(len(w))
    for first in range(0, n, step):
        x = X[first : first + step].astype(np.float64)[:, None, :]
        wide, narrow = d - d % WIDE_LANES, d - d % NARROW_LANES
        f = _lanes(x[..., :wide], w[:, :wide], WIDE_LANES)
        f += _lanes(x[..., wide:narrow], w[:, wide:narrow], NARROW_LANES)
        for j in range(narrow, d):
            f += w[:, j] * x[..., j]
        out[first : first + step] = f
    return out


def _side_by_side(n_machines: int) -> int:
    return max(1, PRODUCTS_AT_ONCE // (WIDE_LANES * n_machines))


def _lanes(x: Floats, w: Floats, lanes: int) -> Floats:
    """Return dot products by one running sum for each lane, folded in halves."""
    sums = np.zeros((len(x), len(w), lanes))
    for j in range(0, w.shape[1], lanes):
        sums = multiply_add(w[:, j : j + lanes], x[..., j : j + lanes], sums)
    while lanes > 1:
        lanes //= 2
        sums = sums[..., :lanes] + sums[..., lanes:]
    return sums[..., 0]


def _sparse_dots(X: CSR, w: Floats) -> Floats:
    """Return <w_m, x_i> by four running sums, then one by one, in the order of `sparse_dot`.

    Rows are summed side by side, the longest first, so that rows with values left are always the first ones.
    """
    starts = X.indptr.astype(np.int64)
    lengths = np.diff(starts)
    by = np.argsort(-lengths, kind="stable")
    starts, fours, rest = starts[:-1][by], lengths[by] // 4, lengths[by] % 4
    columns = np.ascontiguousarray(w.T)

    def products(at: NDArray[np.int64]) -> Floats:
        return np.asarray(columns[X.indices[at]] * X.data[at].astype(np.float64)[:, None])

    sums = np.zeros((4, len(by), len(w)))
    for k in range(int(fours.max(initial=0))):
        active = int(np.searchsorted(-fours, -k, side="left"))
        for lane in range(4):
            sums[lane, :active] += products(starts[:active] + (4 * k + lane))
    f = (sums[0] + sums[1]) + (sums[2] + sums[3])
    for k in range(3):
        left = np.flatnonzero(rest > k)
        f[left] += products(starts[left] + 4 * fours[left] + k)
    out: Floats = np.empty_like(f)
    out[by] = f
    return out


def multiply_add(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return a b + c, rounded once.

    Examples
    --------
    >>> tiny = 2.0**-30
    >>> a, b, c = (np.array([value]) for value in (1 + tiny, 1 - tiny, -1.0))
    >>> (a * b + c).item(), multiply_add(a, b, c).item() == -(tiny**2)
    (0.0, True)
    """
    a, b, c = np.broadcast_arrays(a, b, c)
    product, left = _product(a, b)
    low, lost = _sum(c, left)
    high, kept = _sum(product, low)
    result: Floats = high + _to_odd(kept, lost)
    size = np.abs(product)
    exact = (a == 0.0) | (b == 0.0)  # one rounding, that of the addition
    result = np.where(exact, product + c, result)
    doubtful = (
        (size < LEAST_SAFE_SIZE)
        | ~(size < LARGEST_SAFE_SIZE)
        | ~(np.abs(a) < LARGEST_SAFE_SIZE)
        | ~(np.abs(b) < LARGEST_SAFE_SIZE)
    )
    doubtful |= ~(np.abs(c) < LARGEST_SAFE_SIZE)
    doubtful &= ~exact
    for at in np.argwhere(doubtful):
        place = tuple(at)
        result[place] = _exactly(float(a[place]), float(b[place]), float(c[place]))
    return result


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b and its rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _halves(a: Floats) -> tuple[Floats, Floats]:
    """Return two numbers of half as many digits, whose sum is a (Veltkamp)."""
    t = SPLITTER * a
    high = t - (t - a)
    return high, a - high


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a b and its rounding error (Dekker)."""
    p = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


def _to_odd(a: Floats, b: Floats) -> Floats:
    """Return a + b if it is a float, and otherwise the one of its two neighbours whose last bit is odd."""
    s, lost = _sum(a, b)
    digits = s.view(np.int64)
    even = (lost != 0.0) & (digits & 1 == 0)
    outwards = (lost > 0.0) == (s > 0.0)
    odd: Any = np.where(even, np.where(outwards, digits + 1, digits - 1), digits)
    return np.asarray(odd.view(np.float64))


def _exactly(a: float, b: float, c: float) -> float:
    """Return a b + c by fractions; infinite beyond the largest float."""
    if not np.isfinite([a, b]).all():
        return a * b + c
    if not np.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return np.inf if exact > 0 else -np.inf
