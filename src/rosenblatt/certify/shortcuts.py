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
BLOCK = 2**16  # values hashed together, which stay in the cache
FIRST, FURTHER = 512, 8  # rows among which equal ones are sought first, and how many times as many next


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
            if left <= 0:  # no pass over all rows can follow
                return False
        if order is every:
            return True
    return False


def _wide(problem: SeparationProblem, clock: Clock) -> Iterator[Floats]:
    """Yield the least-squares solution for fewer rows than features; it fits if the rows are independent."""
    X = problem.table(slice(None)) - problem.center
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

    Few rows are looked through first, then ever more: data that contradicts itself often does so early. The
    digests of the rows can be given if they are known already.
    """
    found, odd = np.empty(matrix.n, np.int64) if digests is None else digests, _odd_numbers(matrix)
    stop = 0
    while stop < matrix.n:
        start, stop = stop, min(matrix.n, max(FIRST, FURTHER * stop))
        if digests is None:
            _digest(matrix, odd, slice(start, stop), found)
        for pair in _same_digests(found[:stop], codes):
            differences = matrix.X[pair[:1]] != matrix.X[pair[1:]]
            if not (differences.nnz if matrix.sparse else differences.any()):
                smaller, larger = pair.tolist()
                return larger, smaller
    return None


def row_digests(matrix: Matrix) -> Ints:
    """Return a hash of each row, for `equal_rows`."""
    digests = np.empty(matrix.n, np.int64)
    _digest(matrix, _odd_numbers(matrix), slice(0, matrix.n), digests)
    return digests


def _odd_numbers(matrix: Matrix) -> Ints:
    return np.random.default_rng(0).integers(-(2**62), 2**62, matrix.d) * 2 + 1


def _same_digests(digests: Ints, codes: Floats | Ints) -> Ints:
    """Return pairs of rows with the same hash, of a smaller and a larger code; those of the first rows first."""
    order = np.argsort(digests)
    same = digests[order[1:]] == digests[order[:-1]]
    if not same.any():
        return np.empty((0, 2), np.int64)
    rows = np.sort(order[np.append(same, False) | np.append(False, same)])
    rows = rows[np.lexsort((codes[rows], digests[rows]))]
    pairs = np.column_stack([rows[:-1], rows[1:]])
    clash = (digests[rows[:-1]] == digests[rows[1:]]) & (codes[rows[:-1]] != codes[rows[1:]])
    pairs = pairs[clash]
    return np.asarray(pairs[np.argsort(pairs.max(axis=1), kind="stable")])


def _digest(matrix: Matrix, odd: Ints, rows: slice, digests: Ints) -> None:
    """Put a hash of some rows into `digests`: the sum of their entries' bits times odd numbers, modulo 2⁶⁴."""
    X = matrix.X
    if matrix.sparse:
        ends = X.indptr[rows.start : rows.stop + 1]
        stored = slice(ends[0], ends[-1])
        sums = np.append(0, np.cumsum(_bits(X.data[stored]) * odd[X.indices[stored]]))
        digests[rows] = np.diff(sums[ends - ends[0]])
        return
    step = max(1, BLOCK // matrix.d)
    for start in range(rows.start, rows.stop, step):
        part = slice(start, min(start + step, rows.stop))
        np.matmul(_bits(X[part]), odd, out=digests[part])


def _bits(values: Any) -> Ints:
    """Return the bits of values as doubles; those of zero are 0.

    The last bits of short numbers, such as 1.0, are zeros, and so would be those of their products. The first half
    of the bits is therefore mixed into the second one.
    """
    bits = np.add(values, 0.0, dtype=np.float64).view(np.int64)  # + 0.0 turns −0.0 into 0.0
    bits ^= bits >> 32
    return np.asarray(bits)
