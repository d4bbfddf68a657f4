"""Normal vectors that may separate: cheap guesses in floats, none of which is believed before it is checked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.typing import Floats

DIRECT = 1500  # the smaller side of a table up to which its normal equations are solved
ROUNDS = 8
RIDGE = 1e-10


def guesses(problem: SeparationProblem) -> Iterator[Direction]:
    """Give normal vectors that may separate the rows.

    The first is of least squares; the others fit only the rows that came out too near to the hyperplane, or on
    its wrong side, which is Newton's method for the squared hinge loss.
    """
    fits = _dense(problem) if min(problem.n, problem.d) <= DIRECT and not problem.sparse else _iterative(problem)
    for v in fits:
        found = Direction.of_floats(v)
        if found is not None:
            yield found


def _dense(problem: SeparationProblem) -> Iterator[Floats]:
    X, y = problem.table(slice(None)), problem.y
    center = X.mean(axis=0) if problem.bias else np.zeros(problem.d)
    X -= center
    if problem.bias:
        X = np.column_stack([X, np.ones(problem.n)])
    active = np.arange(problem.n)
    last = None
    for _ in range(ROUNDS):
        v = _least_squares(X[active], y[active])
        if v is None:
            return
        yield v[: problem.d]
        active = np.flatnonzero(y * (X @ v) < 1.0)
        if not len(active) or (last is not None and np.array_equal(active, last)):
            return
        last = active


def _least_squares(X: Floats, y: Floats) -> Floats | None:
    """Return the v of least squares with a slight ridge, from the smaller of the two products of X with itself."""
    wide = X.shape[0] < X.shape[1]
    gram = X @ X.T if wide else X.T @ X
    gram[np.diag_indices_from(gram)] += RIDGE * max(np.trace(gram) / len(gram), 1e-300)
    try:
        found = cho_solve(cho_factor(gram, check_finite=False), y if wide else X.T @ y, check_finite=False)
    except LinAlgError:
        return None
    v: Floats = X.T @ found if wide else found
    return v


def _iterative(problem: SeparationProblem) -> Iterator[Floats]:
    """Give what a few and what many steps of LSQR come to; X is read, never copied."""
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
        start = lsqr(operator, problem.y, atol=1e-12, btol=1e-12, iter_lim=steps, x0=start)[0]
        yield start[: problem.d]
