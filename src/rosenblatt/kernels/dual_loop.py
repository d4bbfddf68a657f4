"""Loops of the kernel perceptron: products and distances of rows, and visits by stored scores.

Every sum has a fixed order that does not depend on which of two rows comes first, so k(x, x') and k(x', x) are the
same bits. Rows in a batch, in chunks or alone therefore score the same bits.

The exponential function in fixed operations: the same bits on every processor, within a unit in the last place.

`numpy.exp` chooses its instructions by the processor, and its last bits with them. Here x = k ln 2 + r with
|r| ≤ ln 2 / 2, where k ln 2 is subtracted in two parts, the first without rounding (Cody and Waite 1980); e^r is a
Taylor polynomial of degree 13, and 2^k is written into the exponent, in two factors so that results below the
smallest normal number are rounded once. There is no table and no branch, so that the loop is compiled to vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.loops._bits import float_of
from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.dense import dense_dot
from rosenblatt.loops.layout import CSR, Log, Targets
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.sparse import ONE
from rosenblatt.loops.visits import judge, moves
from rosenblatt.typing import Floats

LOG2_E = float.fromhex("0x1.71547652b82fep+0")
LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # 21 zero bits at the end: k times it is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
SHIFT = 1.5 * 2.0**52  # adding it rounds to an integer, which stands in the last bits
SHIFT_BITS = np.int64(0x4338000000000000)
LEAST_EXPONENT, LARGEST_EXPONENT = -746.0, 710.0  # from here on the result is 0 or infinite


@intrinsic  # type: ignore[untyped-decorator]
def _bits_of(_context: types.Type, value: types.Type) -> Any:
    """Return the bit pattern of a float64."""

    def codegen(_context: ir.Value, builder: ir.Value, _signature: ir.Value, args: ir.Value) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@jit
def exponentials(values: Floats) -> None:
    """Replace each value of a contiguous table by e^value; NaN stays NaN."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            x = values[i, j]
            x = LEAST_EXPONENT if x < LEAST_EXPONENT else x
            x = LARGEST_EXPONENT if x > LARGEST_EXPONENT else x
            shifted = x * LOG2_E + SHIFT
            k = shifted - SHIFT
            high, low = x - k * LN2_HIGH, k * LN2_LOW
            r = high - low
            rest = (high - r) - low
            s = r * r
            t = s * s
            # (e^r - 1 - r) / r² as a Taylor polynomial, its terms added in pairs
            a = (1 / 2 + r * (1 / 6)) + s * (1 / 24 + r * (1 / 120))
            b = (1 / 720 + r * (1 / 5040)) + s * (1 / 40320 + r * (1 / 362880))
            c = (1 / 3628800 + r * (1 / 39916800)) + s * (1 / 479001600 + r * (1 / 6227020800))
            power = 1.0 + (r + (s * (a + t * (b + t * c)) + rest))
            exponent = _bits_of(shifted) - SHIFT_BITS
            half = ((exponent + 2200) >> 1) - 1100
            first = float_of(np.uint64(half + 1023) << np.uint64(52))
            second = float_of(np.uint64(exponent - half + 1023) << np.uint64(52))
            values[i, j] = power * first * second


@jit
def sparse_products(A: CSR, n: int, B: CSR, w: Floats, out: Floats) -> None:
    """Write <a, b> for each of the `n` rows a of A and each row b of B; `w` is all zero before and after.

    One running sum adds the stored values of b in order. A value that a lacks adds zero, so the sum is over the
    columns that both have, which is the same for either row.
    """
    for i in range(n):
        for p in range(A.indptr[i], A.indptr[i + ONE]):
            w[A.indices[p]] = A.data[p]
        for j in range(out.shape[1]):
            f = 0.0
            for p in range(B.indptr[j], B.indptr[j + ONE]):
                f += w[B.indices[p]] * B.data[p]
            out[i, j] = f
        for p in range(A.indptr[i], A.indptr[i + ONE]):
            w[A.indices[p]] = 0.0


@jit
def gaussian_exponents(a: Floats, b: Floats, gamma: float, out: Floats) -> None:
    """Turn products into −γ ‖a − b‖², given the squared norms; a distance below zero becomes zero.

    NaN stays NaN: it comes from an overflow, which the scores must show.
    """
    for i in range(out.shape[0]):
        own = a[i]
        for j in range(out.shape[1]):
            square = (own + b[j]) - 2.0 * out[i, j]
            out[i, j] = -gamma * (0.0 if square < 0.0 else square)


@jit
def dense_distances(A: ir.Value, B: ir.Value, out: Floats) -> None:
    """Write Σ |a − b| for each row a of A and b of B, by four running sums."""
    d = A.shape[1]
    four = d - d % 4
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            p = q = r = s = 0.0
            for k in range(0, four, 4):
                p += abs(np.float64(A[i, k]) - np.float64(B[j, k]))
                q += abs(np.float64(A[i, k + 1]) - np.float64(B[j, k + 1]))
                r += abs(np.float64(A[i, k + 2]) - np.float64(B[j, k + 2]))
                s += abs(np.float64(A[i, k + 3]) - np.float64(B[j, k + 3]))
            total = (p + q) + (r + s)
            for k in range(four, d):
                total += abs(np.float64(A[i, k]) - np.float64(B[j, k]))
            out[i, j] = total


@jit
def sparse_distances(A: ir.Value, B: ir.Value, out: Floats) -> None:
    """Write Σ |a − b| for each row a of A and b of B, over the columns that one of them has, in their order."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            p, p_end = A.indptr[i], A.indptr[i + ONE]
            q, q_end = B.indptr[j], B.indptr[j + ONE]
            total = 0.0
            while p < p_end or q < q_end:
                if q >= q_end or (p < p_end and A.indices[p] < B.indices[q]):
                    total += abs(np.float64(A.data[p]))
                    p += ONE
                elif p >= p_end or B.indices[q] < A.indices[p]:
                    total += abs(np.float64(B.data[q]))
                    q += ONE
                else:
                    total += abs(np.float64(A.data[p]) - np.float64(B.data[q]))
                    p += ONE
                    q += ONE
            out[i, j] = total


@jit
def next_mistake(
    targets: Targets, order: ir.Value, t: int, rule: Rule, s: Floats, w: Floats, log: Log, k: int
) -> tuple[int, int]:
    """Find the next mistake from visit t on and log it from k on; return its visit, and k plus their number.

    `s` holds for each machine the score of every row without the bias, which is the last of the weights `w`.
    Without a mistake the visit returned is the number of visits. If a score is not finite, the second number is
    −1.
    """
    room, last = log.scores[0], w.shape[1] - 1
    while t < order.size:
        for m in range(s.shape[0]):
            room[m] = s[m, order[t]] + w[m, last]
        end = judge(targets, None, order[t], room, rule, log, k)
        if end != k:
            return t, end
        t += 1
    return t, k


class Moving(NamedTuple):
    """The arrays that a mistake moves: all scores, the coefficients, and the sums for averaging (or empty)."""

    scores: Floats
    w: Floats
    u: Floats


@inline
def _move(s: Floats, m: int, c: float, row: Floats, which: ir.Value) -> None:
    if which.size:
        for j in range(row.size):
            s[m, which[j]] += c * row[j]
    else:
        for j in range(row.size):
            s[m, j] += c * row[j]


@jit
def correct(
    targets: Targets,
    order: ir.Value,
    t: int,
    rule: Rule,
    moving: Moving,
    log: Log,
    span: tuple[int, int],
    own: ir.Value,
) -> None:
    """Correct the mistakes `span` of the log, made on visit t.

    `own` holds the place of its row, the kernel row, the rows whose values it holds (empty for all), and t0. The
    coefficient in that place and the bias move by c and c β, all scores by c times the kernel row, and u by each
    move times the visits before it, t0 + t.
    """
    place, row, which, t0 = own
    s, w, u = moving
    last = w.shape[1] - 1
    for k in range(span[0], span[1]):
        log.at[k] = t
        m, c, m2, c2 = moves(targets, order[t], log, k)
        w[m, place] += c
        w[m, last] += c * rule.beta
        w[m2, place] += c2
        w[m2, last] += c2 * rule.beta
        if u.size:
            u[m, place] += c * (t0 + t)
            u[m, last] += c * (t0 + t) * rule.beta
            u[m2, place] += c2 * (t0 + t)
            u[m2, last] += c2 * (t0 + t) * rule.beta
        _move(s, m, c, row, which)
        if c2 != 0.0:
            _move(s, m2, c2, row, which)


@jit
def correct_and_go_on(
    targets: Targets,
    order: ir.Value,
    t: int,
    rule: Rule,
    moving: Moving,
    log: Log,
    span: tuple[int, int],
    own: ir.Value,
) -> tuple[int, int]:
    """Correct as `correct` does, and find the next mistake."""
    correct(targets, order, t, rule, moving, log, span, own)
    return next_mistake(targets, order, t + 1, rule, moving.scores, moving.w, log, span[1])


@jit
def move_scores(c: Floats, row: Floats, s: Floats) -> None:
    """Move all scores of each machine m by c_m times a kernel row."""
    for m in range(c.size):
        if c[m] != 0.0:
            for j in range(row.size):
                s[m, j] += c[m] * row[j]


@jit
def add_scores(w: Floats, first: int, G: Floats, s: Floats) -> None:
    """Add Σ w_mi G_ij to the scores of rows j, one i after the other; the columns of w begin at `first`."""
    for m in range(s.shape[0]):
        for i in range(G.shape[0]):
            c = w[m, first + i]
            if c != 0.0:
                for j in range(G.shape[1]):
                    s[m, j] += c * G[i, j]


@jit
def judge_alone(targets: Targets, i: int, rule: Rule, s: Floats, w: Floats, log: Log, k: int) -> int:
    """Judge a visit to row i by its scores `s` without biases; return the same as `judge`."""
    room = log.scores[0]
    for m in range(s.shape[0]):
        room[m] = s[m, 0] + w[m, w.shape[1] - 1]
    return judge(targets, None, i, room, rule, log, k)


@jit
def logged_moves(targets: Targets, i: int, log: Log, span: tuple[int, int], c: Floats) -> None:
    """Add to c what the mistakes `span` of the log, made on row i, add to each machine."""
    for k in range(span[0], span[1]):
        m, c1, m2, c2 = moves(targets, i, log, k)
        c[m] += c1
        c[m2] += c2


@jit
def dense_squares(X: ir.Value, w: Floats, out: Floats) -> None:
    """Write ‖x_i‖², summed in the order of products; `w` is room for a row."""
    for i in range(out.size):
        for j in range(X.shape[1]):
            w[j] = X[i, j]
        out[i] = dense_dot(X, i, w)


@jit
def sparse_squares(X: CSR, out: Floats) -> None:
    """Write ‖x_i‖², summed in the order of products."""
    for i in range(out.size):
        f = 0.0
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            f += np.float64(X.data[p]) * np.float64(X.data[p])
        out[i] = f
