"""The kernel perceptron's loops: products and distances of rows, and visits to scores that are kept.

Every sum has one order, the same whichever of two rows comes first: k(x, x') and k(x', x) are the same bits, in
whatever company they are computed. So rows met in a batch, in chunks or alone score the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import jit
from rosenblatt.loops.dense import dense_dot
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.targets import Log, Targets
from rosenblatt.loops.visits import judge, moves
from rosenblatt.typing import Floats

ONE = np.uint64(1)


@jit
def sparse_products(A: CSR, n: int, B: CSR, w: Floats, out: Floats) -> None:
    """Write <a, b> for each of the `n` rows a of A and each row b of B; `w` is all zero before and after.

    One running sum over the stored values of b in order. A value that a lacks adds a zero, which changes no sum: what
    remains is the sum over the columns both have, and that is the same seen from either row.
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
def dense_distances(A: Any, B: Any, out: Floats) -> None:
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
def sparse_distances(A: CSR, B: CSR, out: Floats) -> None:
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
    targets: Targets, order: Any, t: int, rule: Rule, s: Floats, w: Floats, log: Log, k: int
) -> tuple[int, int]:
    """Look for the next mistake from visit t on; log it from k on, and return its visit and k plus their number.

    `s` holds for each machine the score of every row without the bias, which is the last of the weights `w`. Without
    a mistake the visit returned is the number of visits; where a score is not finite the second number is −1.
    """
    room, last = log.scores[0], w.shape[1] - 1
    while t < order.size:
        for m in range(s.shape[0]):
            room[m] = s[m, order[t]] + w[m, last]
        end = judge(targets, order[t], room, rule, log, k)
        if end != k:
            return t, end
        t += 1
    return t, k


@jit
def take_mistakes(
    targets: Targets, i: int, log: Log, span: tuple[int, int], slot: int, step: tuple[float, int], w: Any, u: Any
) -> None:
    """Move the coefficients in `slot` and the biases by the mistakes `span` of the log, made on row i.

    `step` holds β, and the visits made before: u gains each move times these.
    """
    beta, before = step
    last = w.shape[1] - 1
    for k in range(span[0], span[1]):
        m, c, m2, c2 = moves(targets, i, log, k)
        w[m, slot] += c
        w[m, last] += c * beta
        w[m2, slot] += c2
        w[m2, last] += c2 * beta
        if u is not None:
            u[m, slot] += c * before
            u[m, last] += c * before * beta
            u[m2, slot] += c2 * before
            u[m2, last] += c2 * before * beta


@jit
def move_scores(targets: Targets, i: int, log: Log, span: tuple[int, int], row: Floats, s: Floats) -> None:
    """Move all scores by the mistakes `span` of the log, made on row i, whose kernel row is `row`."""
    for k in range(span[0], span[1]):
        m, c, m2, c2 = moves(targets, i, log, k)
        for j in range(row.size):
            s[m, j] += c * row[j]
        if c2 != 0.0:
            for j in range(row.size):
                s[m2, j] += c2 * row[j]


@jit
def add_scores(w: Floats, first: int, G: Floats, s: Floats) -> None:
    """Add to the scores of rows j the sums Σ w_mi G_ij, one i after the other; w's column of row 0 of G is `first`."""
    for m in range(s.shape[0]):
        for i in range(G.shape[0]):
            c = w[m, first + i]
            if c != 0.0:
                for j in range(G.shape[1]):
                    s[m, j] += c * G[i, j]


@jit
def judge_alone(targets: Targets, i: int, rule: Rule, s: Floats, w: Floats, log: Log, k: int) -> int:
    """Judge a visit to row i by its scores `s` without biases, as `next_mistake` does."""
    room = log.scores[0]
    for m in range(s.shape[0]):
        room[m] = s[m, 0] + w[m, w.shape[1] - 1]
    return judge(targets, i, room, rule, log, k)


@jit
def logged_moves(targets: Targets, i: int, log: Log, span: tuple[int, int], c: Floats) -> None:
    """Write what the mistakes `span` of the log, made on row i, add to each machine."""
    for k in range(span[0], span[1]):
        m, c1, m2, c2 = moves(targets, i, log, k)
        c[m] += c1
        c[m2] += c2


@jit
def dense_squares(X: Any, w: Floats, out: Floats) -> None:
    """Write ‖x_i‖² in the order that products are summed in; `w` is room for a row."""
    for i in range(out.size):
        for j in range(X.shape[1]):
            w[j] = X[i, j]
        out[i] = dense_dot(X, i, w)


@jit
def sparse_squares(X: CSR, out: Floats) -> None:
    """Write ‖x_i‖² in the order that products are summed in."""
    for i in range(out.size):
        f = 0.0
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            f += np.float64(X.data[p]) * np.float64(X.data[p])
        out[i] = f
