"""Newton's method for the squared hinge loss: it proposes a separating vector, or rows that prove there is none.

The loss is Σ max(0, 1 − z_i·v)², plus a very small ridge. If the rows are separable, its minimum is almost 0, and
v separates them on the way there. If they are not, its gradient vanishes at the minimum: Σ λ_i z_i = 0 for the
weights λ_i = max(0, 1 − z_i·v). So one method searches for both proofs. Near the minimum it suffices to fit some
of the rows by least squares: if all of them have 1 − z_i·v > 0, these are such weights.

Everything here is in floats and only proposes; what is proposed is checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from rosenblatt.certify.algebra import BLAS, FIXED, HALVINGS, Blas, Fixed, step_length
from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.shortcuts import PRODUCTS_A_UNIT, peel
from rosenblatt.certify.time_limit import Clock
from rosenblatt.typing import Floats, Ints

MAX_NEWTON_STEPS = 120  # Newton steps
RIDGE_SHARE = 1e-10  # relative to the mean diagonal of the first matrix
BLOCK_VALUES = 2**20  # values copied together
MULTIPLIED_VALUES = 2**17  # values whose products are summed together, which stay in the cache
CONVERTED_VALUES = 2**14  # values converted together
STEPS_BETWEEN_ATTEMPTS = 6  # steps between two attempts to combine rows to 0
LEAST_WEIGHT_SHARE = 1e-6  # a smaller weight, relative to the largest, may be a rounding error of 0
MAX_FITS = 40  # least squares of an attempt
CORRECTIONS_A_SOLUTION = 4  # solutions of the same equations, each for the error of the last
LEAST_WEIGHT = 1e-4  # weights of which the largest is smaller are rounding errors: v separates these rows
LEAST_PIVOT_SHARE = 1e-10  # a smaller pivot is a rounding error, relative to the largest
ROWS_AT_ONCE = 256  # rows that give their weight away between two factorisations
DOING = "minimising the squared hinge loss"

Mask = NDArray[np.bool_]


class Combined(NamedTuple):
    """Rows that may have a combination to 0 with positive weights, and these weights roughly."""

    rows: Ints
    weights: Floats


class StoredRows:
    """The rows z_i of a problem, relative to their mean, where they are; BLAS multiplies them."""

    algebra: Blas | Fixed = BLAS

    def __init__(self, problem: SeparationProblem) -> None:
        self.problem, self.center = problem, problem.center
        self.room: Floats | None = None

    def table(self, rows: Ints) -> Any:
        """Return some rows as a matrix, dense or CSR."""
        z = self.problem.signed(rows, self.center)
        return z.tocsr() if self.problem.sparse else z

    def times(self, v: Floats) -> Floats:
        """Return z_i·v of all rows."""
        problem = self.problem
        matrix, left = problem.floats
        f = matrix.times(np.ldexp(v[: problem.d], -left)) - self.center @ v[: problem.d]
        return problem.y * (f + v[-1] if problem.bias else f)

    def combine(self, weights: Floats) -> Floats:
        """Return Σ λ_i z_i over all rows."""
        problem = self.problem
        matrix, left = problem.floats
        signed = problem.y * weights
        sums = np.ldexp(matrix.combine(signed), -left) - signed.sum() * self.center
        return np.append(sums, signed.sum()) if problem.bias else sums

    def add_gram(self, rows: Ints, sign: float, gram: Floats) -> None:
        """Add or subtract the z_i z_iᵀ of some rows."""
        problem = self.problem
        if problem.sparse:
            step = max(1, BLOCK_VALUES // problem.width)
            for start in range(0, len(rows), step):
                gram += sign * BLAS.gram(problem.signed(rows[start : start + step], self.center))
            return
        # Signs cancel in the products. A block has more rows than columns, so that products outweigh their sum.
        step = max(
            1, min(BLOCK_VALUES // problem.width, max(MULTIPLIED_VALUES // problem.width, 2 * problem.width))
        )
        for start in range(0, len(rows), step):
            x = self.move(rows[start : start + step])
            gram += sign * (x.T @ x)

    def move(self, rows: Ints) -> Floats:
        """Return x_i − center of some dense rows, with a last 1 if there is a bias, until the next call.

        The same memory is used again, and few rows are converted at a time: they stay in the cache.
        """
        problem = self.problem
        if self.room is None or len(self.room) < len(rows):
            self.room = np.ones((len(rows), problem.width))
        out = self.room[: len(rows)]
        matrix, left = problem.floats
        factors, step = np.ldexp(1.0, -left), max(1, CONVERTED_VALUES // problem.d)
        with np.errstate(under="ignore"):
            for start in range(0, len(rows), step):
                part = slice(start, start + step)
                scaled = matrix.X.take(rows[part], axis=0) * factors
                np.subtract(scaled, self.center, out=out[part, : problem.d])
        return out


class CopiedRows:
    """The rows z_i of a problem, relative to their mean, in a copy; loops of fixed order multiply them."""

    algebra: Blas | Fixed = FIXED

    def __init__(self, problem: SeparationProblem) -> None:
        self.problem = problem
        X, y = problem.table(slice(None)), problem.y[:, None]
        self.center = np.zeros(problem.d)
        if problem.bias:
            self.center = FIXED.combine(X, np.full(problem.n, 1.0 / problem.n))
            X -= self.center
            X = np.hstack([X, np.ones_like(y)])
        self.Z = np.ascontiguousarray(y * X)
        self.transposed = np.ascontiguousarray(self.Z.T)

    def table(self, rows: Ints) -> Any:
        """Return some rows as a matrix."""
        return self.Z[rows]

    def times(self, v: Floats) -> Floats:
        """Return z_i·v of all rows."""
        return FIXED.combine(self.transposed, v)

    def combine(self, weights: Floats) -> Floats:
        """Return Σ λ_i z_i over all rows."""
        return FIXED.combine(self.Z, weights)

    def add_gram(self, rows: Ints, sign: float, gram: Floats) -> None:
        """Add or subtract the z_i z_iᵀ of some rows."""
        gram += sign * FIXED.gram(self.Z[rows])


class HingeNewton:
    """The loss of a problem, a vector v, and the matrix Σ z_i z_iᵀ of some rows.

    With `fixed`, all sums are made in a fixed order, so that the same rows give the same proposals everywhere.
    """

    def __init__(self, problem: SeparationProblem, clock: Clock, *, fixed: bool = False) -> None:
        self.problem, self.clock = problem, clock
        self.rows: StoredRows | CopiedRows = CopiedRows(problem) if fixed else StoredRows(problem)
        self.algebra = self.rows.algebra
        self.v = np.zeros(problem.width)
        self.margins = np.zeros(problem.n)  # z_i·v
        self.gram = np.zeros((problem.width, problem.width))
        self.within = np.zeros(problem.n, np.bool_)  # the rows that the matrix sums over
        self.ridge = 0.0

    def run(self) -> Iterator[Direction | Combined]:
        """Yield vectors that separate as floats see it, and combinations to 0, until no more can be expected."""
        for k, combined in enumerate(self.steps(MAX_NEWTON_STEPS)):
            if k == 0 or self.separates():
                found = Direction.of_floats(self.v[: self.problem.d])
                if found is not None:
                    yield found
            if combined is not None:
                yield combined

    def steps(self, rounds: int) -> Iterator[Combined | None]:
        """Make steps, and yield after each a combination to 0, or None, until no more can be expected."""
        for k in range(rounds):
            active = self.margins < 1.0
            if not active.any():
                return
            step = self.newton_step(active)
            if step is None:
                return
            self.clock.spend(self.problem.size + HALVINGS * self.problem.n, DOING)
            change = self.rows.times(step)
            square, inner = float(np.sum(step * step)), float(np.sum(self.v * step))
            length = step_length(1.0 - self.margins, change, self.ridge, inner, square)
            self.v, self.margins = self.v + length * step, self.margins + length * change
            done = length == 1.0 and np.array_equal(self.margins < 1.0, active)
            due = done or k % STEPS_BETWEEN_ATTEMPTS == STEPS_BETWEEN_ATTEMPTS - 1
            yield self.propose() if due else None
            if done:
                return

    def newton_step(self, active: Mask) -> Floats | None:
        """Return the change of v to the minimum of the loss of the active rows, if the same rows stay active."""
        self.sum_over(active)
        if not self.ridge:
            self.ridge = RIDGE_SHARE * max(np.trace(self.gram) / len(self.gram), 1e-300)
        self.clock.spend(self.problem.size, DOING)
        gradient = self.ridge * self.v - self.rows.combine(np.where(active, 1.0 - self.margins, 0.0))
        solve = self.solver(self.gram, self.ridge)
        step = None if solve is None else -solve(gradient)
        return step if step is not None and np.isfinite(step).all() else None

    def weights(self) -> Floats:
        """Return v as weights of the features as they are in the data, with the bias last: 0 if there is none."""
        problem, v = self.problem, self.v[: self.problem.d]
        offset = float(self.v[-1]) - float(np.sum(self.rows.center * v)) if problem.bias else 0.0
        with np.errstate(under="ignore", over="ignore"):
            return np.append(np.ldexp(v, -problem.scale), offset)

    def separates(self) -> bool:
        """Return whether v separates the rows with some bias, as floats see it."""
        problem = self.problem
        if not problem.bias:
            return bool(self.margins.min() > 0.0)
        sides = (self.margins[side] for side in (problem.positive, problem.negative))
        return sum(float(side.min()) for side in sides) > 0.0

    def propose(self) -> Combined | None:
        """Return rows with weights that fit 0, or None."""
        problem = self.problem
        rows = np.flatnonzero(self.margins < 1.0)
        self.clock.spend(2.0 * problem.size * len(rows) / problem.n, DOING)
        rows = rows[self.find_bound(rows)]
        return None if len(rows) <= 1 else self.fit_weights(rows, self.rows.table(rows))

    def find_bound(self, rows: Ints) -> Mask:
        """Return which of some rows can have weight in a combination to 0, as far as single columns show it."""
        problem = self.problem
        return peel(problem.matrix.X[rows], problem.y[rows], bias=problem.bias).left

    def fit_weights(self, rows: Ints, z: Any) -> Combined | None:
        """Return positive weights 1 − z_i·v by least squares on ever fewer rows.

        Rows of negative weight are left out until there are none. Then the lighter half is, if many are left.
        """
        best: Combined | None = None
        kept = np.ones(len(rows), np.bool_)
        for _ in range(MAX_FITS):
            v = self.least_squares(z)
            if v is None:
                return best
            weights = 1.0 - self.algebra.times(z, v)
            if weights.max() < LEAST_WEIGHT:
                return best
            kept = weights > LEAST_WEIGHT_SHARE * weights.max()
            if kept.all():
                best = Combined(rows, weights)
                if len(rows) <= 2 * self.problem.width:
                    return best
                kept = weights > np.median(weights)
            rows, z = rows[kept], z[kept]
            bound = self.find_bound(rows)
            if not bound.all():
                rows, z = rows[bound], z[bound]
            if len(rows) <= 1:
                return best
        return best

    def least_squares(self, z: Any) -> Floats | None:
        """Return the v that fits z_i·v = 1 on some rows, as precisely as floats can.

        Columns are scaled to one size, so that those that few rows use count as well, and the error of the ridge
        is corrected.
        """
        share = (z.size if isinstance(z, np.ndarray) else z.nnz) / z.shape[0]
        self.clock.spend(z.shape[0] * share * (share / PRODUCTS_A_UNIT + 2), DOING)
        gram, right = self.algebra.gram(z), self.algebra.times(z.T, np.ones(z.shape[0]))
        sizes = np.sqrt(np.diag(gram))
        scale = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        gram *= scale[:, None]
        gram *= scale
        right *= scale
        solve = self.solver(gram, RIDGE_SHARE)
        if solve is None:
            return None
        v = np.zeros_like(right)
        for _ in range(CORRECTIONS_A_SOLUTION):
            v += solve(right - self.algebra.times(gram, v))
        return scale * v if np.isfinite(v).all() else None

    def solver(self, gram: Floats, ridge: float) -> Any:
        """Return a function that solves equations of a matrix plus a ridge; None if that is singular."""
        self.clock.spend(len(gram) ** 3 / (3 * PRODUCTS_A_UNIT), DOING)
        return self.algebra.solver(gram, ridge)

    def sum_over(self, rows: Mask) -> None:
        """Let the matrix sum over some rows; if few change, only these are added and subtracted."""
        added, removed = rows & ~self.within, self.within & ~rows
        if 2 * (np.count_nonzero(added) + np.count_nonzero(removed)) > np.count_nonzero(rows):
            self.gram[:] = 0.0
            added, removed = rows, np.zeros_like(rows)
        self.add(np.flatnonzero(added), 1.0)
        self.add(np.flatnonzero(removed), -1.0)
        self.within = rows.copy()

    def add(self, rows: Ints, sign: float) -> None:
        """Add or subtract the z_i z_iᵀ of some rows."""
        share = self.problem.size / self.problem.n
        self.clock.spend(len(rows) * share * (share / PRODUCTS_A_UNIT + 2), DOING)
        if len(rows):
            self.rows.add_gram(rows, sign, self.gram)


def choose_fewest(problem: SeparationProblem, found: Combined, clock: Clock) -> Ints:
    """Return some of the rows of a combination to 0, so few that their weights are unique (Carathéodory 1907).

    One row after another gives its weight to rows of a basis, until it or a row of the basis has none left.
    """
    z = problem.signed(found.rows, problem.center)
    table = (z.toarray() if problem.sparse else z).T
    table = np.vstack([table[np.abs(table).max(axis=1) > 0.0], np.ones(len(found.rows))]) * found.weights
    m, n = table.shape
    clock.spend(2.0 * m * m * n / PRODUCTS_A_UNIT, DOING)
    triangle, order = qr(table, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(sizes > LEAST_PIVOT_SHARE * sizes[0]))
    triangle = triangle[:rank]
    basis, weights = np.arange(rank), np.ones(rank)
    for start in range(rank, n, ROWS_AT_ONCE):
        free = np.arange(start, min(start + ROWS_AT_ONCE, n))
        clock.spend(rank * rank * (rank + 2 * len(free)) / PRODUCTS_A_UNIT + rank * len(free) ** 2, DOING)
        T = np.linalg.solve(triangle[:, basis], triangle[:, free])
        for k in range(len(free)):
            u = T[:, k].copy()
            falling = np.flatnonzero(u < -LEAST_PIVOT_SHARE)
            ratios = weights[falling] / -u[falling]
            at = int(np.argmin(ratios)) if len(falling) else -1
            if at < 0 or ratios[at] >= 1.0:
                weights += u
                continue
            leaving = falling[at]
            weights += ratios[at] * u
            weights[leaving] = 1.0 - ratios[at]
            basis[leaving] = free[k]
            row = T[leaving, k + 1 :] / u[leaving]
            T[:, k + 1 :] -= np.outer(u, row)
            T[leaving, k + 1 :] = row
    return np.asarray(np.sort(found.rows[order[basis]]))
