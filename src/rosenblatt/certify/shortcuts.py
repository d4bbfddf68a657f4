"""Cheap attempts before the search: normal vectors in floats, and equal rows with different labels.

The vectors are only proposals: each is checked exactly before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.time_limit import Clock
from rosenblatt.data.features import Features
from rosenblatt.loops.targets import Log, Sides, Targets
from rosenblatt.margins.matrix import Matrix
from rosenblatt.typing import Floats, Ints

DIRECT = 1500  # normal equations of up to this size are solved
LARGE = 2**18  # values from which the perceptron is tried: its loops may have to be compiled first
PASSES = 64  # passes over all rows that its visits may amount to
HOPEFUL = 3  # passes over all rows before it is judged
INNER = 100  # passes over the rows that it was wrong on
FAST = 8  # multiplications of a matrix product for each unit of work
DOING = "fitting least squares"
RIDGE = 1e-10
BLOCK = 2**18


def guesses(problem: SeparationProblem, clock: Clock) -> Iterator[Direction]:
    """Yield normal vectors that may separate the rows: the perceptron's if they are many, then least squares."""
    if problem.size >= LARGE and (w := by_mistakes(problem, clock)) is not None:
        yield w
    if takes_newton(problem):
        return
    for v in _iterative(problem, clock) if problem.sparse or problem.n > DIRECT else _wide(problem, clock):
        found = Direction.of_floats(v)
        if found is not None:
            yield found


def takes_newton(problem: SeparationProblem) -> bool:
    """Return whether the features are few enough for `HingeNewton`, and not more than the rows."""
    return problem.width <= min(DIRECT, problem.n)


def by_mistakes(problem: SeparationProblem, clock: Clock) -> Direction | None:
    """Return the perceptron's normal vector if it separates the rows within so many passes, else None."""
    w = np.zeros(problem.d + 1)
    passes = min(PASSES, problem.width / FAST) if takes_newton(problem) else PASSES  # less than a step of Newton's
    most = problem.width if takes_newton(problem) else problem.n
    if not trained(problem.features, Sides(problem.y), w, problem.size, passes, most, clock, bias=problem.bias):
        return None
    found = problem.direction(w[:-1])
    return None if found is None else found[0]


def trained(
    features: Features,
    targets: Targets,
    w: Floats,
    size: float,
    passes: float,
    most: int,
    clock: Clock,
    *,
    bias: bool,
) -> bool:
    """Train weights by the perceptron in place; return whether a pass over all rows came to have no mistake.

    A pass over all rows, of work `size`, is followed by passes over the few that it was ever wrong on. In all they
    take the work of `passes` passes. They end early if the third pass over all rows has more than `most` mistakes.
    """
    from rosenblatt.loops.passes import train
    from rosenblatt.loops.rules import Rule

    n = features.n_rows
    rule, log = Rule(beta=float(bias)), Log.room(n, 1 if w.ndim == 1 else len(w))
    every, wrong = np.arange(n, dtype=np.uint64), np.zeros(n, np.bool_)
    left = passes * size
    full = 0
    while left > 0:
        order = every
        full += 1
        for _ in range(INNER):
            work = size * len(order) / n
            left -= work
            clock.spend(work, "running the perceptron")
            mistakes, made = train(features.rows, targets, order, rule, w, None, 0, log)
            if made < len(order):  # a score was not finite
                return False
            if not mistakes:
                break
            if order is every:
                if full >= HOPEFUL and mistakes > most:
                    return False
                wrong[log.at[:mistakes]] = True
                order = np.flatnonzero(wrong).astype(np.uint64)
        if order is every:
            return True
    return False


def _wide(problem: SeparationProblem, clock: Clock) -> Iterator[Floats]:
    """Yield the least-squares solution for fewer rows than features; it fits if the rows are independent."""
    X = problem.table(slice(None)) - problem.center()
    if problem.bias:
        X = np.column_stack([X, np.ones(problem.n)])
    clock.spend(problem.size * (problem.n / FAST + 2), DOING)
    v = _least_squares(X, problem.y)
    if v is not None:
        yield v[: problem.d]


def _least_squares(X: Floats, y: Floats) -> Floats | None:
    """Return the least-squares v with a small ridge, from X Xᵀ; None if it is singular."""
    gram = X @ X.T
    gram[np.diag_indices_from(gram)] += RIDGE * max(np.trace(gram) / len(gram), 1e-300)
    try:
        found = cho_solve(cho_factor(gram, check_finite=False), y, check_finite=False)
    except LinAlgError:
        return None
    v: Floats = X.T @ found
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


def equal_rows(matrix: Matrix, codes: Floats | Ints, digests: Ints | None = None) -> tuple[int, int] | None:
    """Return two equal rows of different classes, that of the larger code first; None if there are none.

    The digests of the rows can be given if they are known already.
    """
    X = matrix.X
    digests = row_digests(matrix) if digests is None else digests
    order = np.lexsort((codes, digests))
    same = digests[order[1:]] == digests[order[:-1]]
    differ = codes[order[1:]] != codes[order[:-1]]
    for k in np.flatnonzero(same & differ):
        smaller, larger = int(order[k]), int(order[k + 1])
        differences = X[[larger]] != X[[smaller]]
        if not (differences.nnz if matrix.sparse else differences.any()):
            return larger, smaller
    return None


def row_digests(matrix: Matrix) -> Ints:
    """Return a hash of each row: the sum of its entries' bits times odd numbers, modulo 2⁶⁴.

    The last bits of short numbers, such as 1.0, are zeros, and so would be those of every product. The first half
    of the bits is therefore mixed into the second one.
    """
    odd = np.random.default_rng(0).integers(-(2**62), 2**62, matrix.d) * 2 + 1
    X = matrix.X
    if matrix.sparse:
        terms = _bits(X.data) * odd[X.indices]
        sums = np.append(0, np.cumsum(terms))
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    step = max(1, BLOCK // matrix.d)
    blocks = (X[start : start + step] for start in range(0, matrix.n, step))
    return np.concatenate([(_bits(block) * odd).sum(axis=1) for block in blocks])


def _bits(values: Any) -> Ints:
    """Return the bits of doubles, with their first half mixed into the second one; those of zero are 0."""
    bits = (values.astype(np.float64) + 0.0).view(np.int64)  # + 0.0 turns −0.0 into 0.0
    return np.asarray(bits ^ (bits >> 32))
