"""The loop of very many perceptrons: problems take turns at blocks of rows that fit into the cache.

A problem depends on no other, so that it may visit a whole block before the next problem does. Meanwhile the rows
of the block stay in the second-level cache and its own weights in the first. Rows are scored four at a time,
before it is known whether the first of them moves the weights; after a mistake, scoring begins anew behind it. The
sums are those of `rosenblatt.loops.dense`, so that the bits are those of a `rosenblatt.Perceptron`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops._vector import lanes_dots
from rosenblatt.loops.dense import NARROW_LANES, WIDE_LANES, dot_narrow, dot_wide
from rosenblatt.loops.layout import Order
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.visits import correction
from rosenblatt.typing import Floats, Ints

AHEAD = 4  # rows that are scored together
_wide = lanes_dots(WIDE_LANES, 1, AHEAD)
_narrow = lanes_dots(NARROW_LANES, 1, AHEAD)


@inline
def score_rows(X: Any, rows: Ints, q: int, last: int, w: Floats, at: int) -> tuple[float, float, float, float]:
    """Return <w, x> of four rows from `q` on, as `dense_dot` would; the row `last` stands for rows behind it."""
    d = X.shape[1]
    i0, i1 = rows[q], rows[min(q + 1, last)]
    i2, i3 = rows[min(q + 2, last)], rows[min(q + 3, last)]
    wide, narrow = d - d % WIDE_LANES, d - d % NARROW_LANES
    a, b, c, e = _wide(w, (at,), X, (i0 * d, i1 * d, i2 * d, i3 * d), wide, None)
    if wide < d:
        tails = (i0 * d + wide, i1 * d + wide, i2 * d + wide, i3 * d + wide)
        a8, b8, c8, e8 = _narrow(w, (at + wide,), X, tails, narrow - wide, None)
        a, b, c, e = a + a8, b + b8, c + c8, e + e8
        for j in range(narrow, d):
            v = w[at + j]
            a += v * X[i0, j]
            b += v * X[i1, j]
            c += v * X[i2, j]
            e += v * X[i3, j]
    else:
        a, b, c, e = a + 0.0, b + 0.0, c + 0.0, e + 0.0  # what `dense_dot` adds where no values are left
    return a, b, c, e


@inline
def score_row(X: Any, i: int, w: Floats, at: int) -> float:
    """Return <w, x> of one row, as `dense_dot` would."""
    d = X.shape[1]
    wide, narrow = d - d % WIDE_LANES, d - d % NARROW_LANES
    f: float = dot_wide(w, at, X, i * d, wide)
    f += dot_narrow(w, at + wide, X, i * d + wide, narrow - wide)
    for j in range(narrow, d):
        f += w[at + j] * X[i, j]
    return f


@inline
def member_signs(
    order: Order, begin: int, end: int, signs: tuple[Any, Any], column: int, left_out: int, rows: Ints, side: Ints
) -> int:
    """Write the visits of a block that are in a problem, and their sides; return their number.

    `signs` are the labels and the fold of each row.
    """
    labels, fold = signs
    count = 0
    for t in range(begin, end):
        s = labels[order[t], column]
        if s != 0 and fold[order[t]] != left_out:
            rows[count] = t
            side[count] = s
            count += 1
    return count


@jit
def train_problems(
    X: Any,
    order: Order,
    places: Order,
    signs: tuple[Any, Any],
    weight: Floats | None,
    problems: Ints,
    column: Ints,
    left_out: Ints,
    rule: Rule,
    w: Floats,
    b: Floats,
    u: Floats | None,
    v: Floats,
    t0: int,
    stride: int,
    block: int,
    room: tuple[Ints, Ints, Ints],
    mistakes: Ints,
) -> tuple[int, int]:
    """Make the visits of `order` by some problems; return −1 twice, or the visit and the problem of a bad score.

    `places` holds the row of `X` of each visit, `signs` the labels and the folds of all rows, and `weight` their
    weights. The weights of problem m begin at ``m * stride`` of `w`, its bias is ``b[m]``; `u` and `v` are their
    sums for averages, after `t0` visits. `room` has space for the visits of a block.
    """
    labels, fold = signs
    at_visit, rows, side = room
    for begin in range(0, order.size, block):
        end = min(begin + block, order.size)
        for p in range(problems.size):
            m = problems[p]
            at = m * stride
            count = member_signs(order, begin, end, (labels, fold), column[m], left_out[m], at_visit, side)
            for q in range(count):
                rows[q] = places[at_visit[q]]
            q, ahead = 0, AHEAD
            while q < count:
                if ahead == 1:
                    one = score_row(X, rows[q], w, at)
                    scores = (one, one, one, one)
                else:
                    scores = score_rows(X, rows, q, count - 1, w, at)
                last, ahead = min(ahead, count - q), AHEAD
                for r in range(last):
                    f = scores[r] + b[m]
                    if f - f != 0.0:
                        return at_visit[q], m
                    pull = np.float64(side[q])
                    if weight is not None:
                        pull *= weight[order[at_visit[q]]]
                    c = correction(rule, pull, f)
                    q += 1
                    if c != 0.0:
                        mistakes[m] += 1
                        add(X, rows[q - 1], c, c * (t0 + at_visit[q - 1]), w, u, at)
                        b[m] += c * rule.beta
                        if u is not None:
                            v[m] += c * (t0 + at_visit[q - 1]) * rule.beta
                        ahead = 1  # this saves about a twentieth of the time
                        break
    return -1, -1


@inline
def add(X: Any, i: int, c: float, late: float, w: Floats, u: Floats | None, at: int) -> None:
    """Add c x_i to the weights, and `late` times x_i to their sums."""
    if u is None:
        for j in range(X.shape[1]):
            w[at + j] += c * X[i, j]
    else:
        for j in range(X.shape[1]):
            x = X[i, j]
            w[at + j] += c * x
            u[at + j] += late * x


@jit
def count_right(
    X: Any,
    order: Order,
    places: Order,
    signs: tuple[Any, Any],
    problems: Ints,
    column: Ints,
    left_out: Ints,
    w: Floats,
    b: Floats,
    stride: int,
    block: int,
    room: tuple[Ints, Ints, Ints],
    right: Ints,
) -> tuple[int, int]:
    """Count the rows that judge a problem and that it predicts right; see `train_problems` for the arguments."""
    labels, fold = signs
    at_visit, rows, side = room
    for begin in range(0, order.size, block):
        end = min(begin + block, order.size)
        for p in range(problems.size):
            m = problems[p]
            count = 0
            for t in range(begin, end):
                s = labels[order[t], column[m]]
                if s != 0 and (left_out[m] < 0 or fold[order[t]] == left_out[m]):
                    at_visit[count], rows[count], side[count] = t, places[t], s
                    count += 1
            for q in range(0, count, AHEAD):
                scores = score_rows(X, rows, q, count - 1, w, m * stride)
                for r in range(min(AHEAD, count - q)):
                    f = scores[r] + b[m]
                    if f - f != 0.0:
                        return at_visit[q + r], m
                    right[m] += (f > 0.0) == (side[q + r] > 0)
    return -1, -1
