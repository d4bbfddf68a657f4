"""Cheap attempts before the search: normal vectors in floats, and equal rows with different labels.

The vectors are only proposals: each is checked exactly before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.time_limit import Clock
from rosenblatt.typing import Floats, Ints

DIRECT = 1500  # normal equations of up to this size are solved
ROUNDS = 8
FAST = 8  # multiplications of a matrix product for each unit of work
DOING = "fitting least squares"
RIDGE = 1e-10
BLOCK = 2**18


def guesses(problem: SeparationProblem, clock: Clock) -> Iterator[Direction]:
    """Yield normal vectors that may separate the rows.

    The first is that of least squares. The others fit only the rows with y f < 1, which is Newton's method for the
    squared hinge loss.
    """
    direct = min(problem.n, problem.d) <= DIRECT and not problem.sparse
    fits = _dense(problem, clock) if direct else _iterative(problem, clock)
    for v in fits:
        found = Direction.of_floats(v)
        if found is not None:
            yield found


def _dense(problem: SeparationProblem, clock: Clock) -> Iterator[Floats]:
    X, y = problem.table(slice(None)), problem.y
    center = X.mean(axis=0) if problem.bias else np.zeros(problem.d)
    X -= center
    if problem.bias:
        X = np.column_stack([X, np.ones(problem.n)])
    active = np.arange(problem.n)
    last = None
    for _ in range(ROUNDS):
        small = min(len(active), problem.width)
        clock.spend(len(active) * problem.width * (small / FAST + 2) + small**3 / FAST, DOING)
        v = _least_squares(X[active], y[active])
        if v is None:
            return
        yield v[: problem.d]
        active = np.flatnonzero(y * (X @ v) < 1.0)
        if not len(active) or (last is not None and np.array_equal(active, last)):
            return
        last = active


def _least_squares(X: Floats, y: Floats) -> Floats | None:
    """Return the least-squares v with a small ridge, from the smaller of X Xᵀ and XᵀX; None if it is singular."""
    wide = X.shape[0] < X.shape[1]
    gram = X @ X.T if wide else X.T @ X
    gram[np.diag_indices_from(gram)] += RIDGE * max(np.trace(gram) / len(gram), 1e-300)
    try:
        found = cho_solve(cho_factor(gram, check_finite=False), y if wide else X.T @ y, check_finite=False)
    except LinAlgError:
        return None
    v: Floats = X.T @ found if wide else found
    return v


def _iterative(problem: SeparationProblem, clock: Clock) -> Iterator[Floats]:
    """Yield the results of few and of many steps of LSQR, which does not copy X."""
    from scipy.sparse.linalg import LinearOperator, lsqr

    matrix, left = problem.floats
    bias = problem.bias

    def times(v: Floats) -> Floats:
        f = matrix.times(np.ldexp(v[: problem.d], -left))
        return f + v[-1] if bias else f

    def combine(r: Floats) -> Floats:
        sums = np.ldexp(matrix.combine(r), -left)
        return np.append(sums, r.sum()) if bias else sums

    operator = LinearOperator((problem.n, problem.width), matvec=times, rmatvec=combine, dtype=np.float64)
    start = np.zeros(problem.width)
    for steps in (20, 100, 400):
        clock.spend(4 * steps * (problem.size + problem.width), DOING)
        start = lsqr(operator, problem.y, atol=1e-12, btol=1e-12, iter_lim=steps, x0=start)[0]
        yield start[: problem.d]


def equal_rows(problem: SeparationProblem) -> tuple[int, int] | None:
    """Return two equal rows of different classes, the positive one first; None if there are none."""
    X, digests = problem.matrix.X, _digests(problem)
    order = np.lexsort((problem.y, digests))
    same = digests[order[1:]] == digests[order[:-1]]
    differ = problem.y[order[1:]] != problem.y[order[:-1]]
    for k in np.flatnonzero(same & differ):
        negative, positive = int(order[k]), int(order[k + 1])
        differences = X[[positive]] != X[[negative]]
        if not (differences.nnz if problem.sparse else differences.any()):
            return positive, negative
    return None


def _digests(problem: SeparationProblem) -> Ints:
    """Return a hash of each row: the sum of its entries' bits times odd numbers, modulo 2⁶⁴."""
    odd = np.random.default_rng(0).integers(-(2**62), 2**62, problem.d) * 2 + 1
    X = problem.matrix.X
    if problem.sparse:
        terms = (X.data.astype(np.float64) + 0.0).view(np.int64) * odd[X.indices]  # + 0.0 turns −0.0 into 0.0
        sums = np.append(0, np.cumsum(terms))
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    step = max(1, BLOCK // problem.d)
    blocks = (X[start : start + step].astype(np.float64) + 0.0 for start in range(0, problem.n, step))
    return np.concatenate([(block.view(np.int64) * odd).sum(axis=1) for block in blocks])
