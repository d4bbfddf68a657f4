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
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.time_limit import Clock
from rosenblatt.typing import Floats, Ints

ROUNDS = 120  # Newton steps
RIDGE = 1e-10  # relative to the mean diagonal of the first matrix
FAST = 8  # multiplications of a matrix product for each unit of work
BLOCK = 2**20  # values copied together
MULTIPLIED = 2**17  # values whose products are summed together, which stay in the cache
CACHED = 2**14  # values converted together
EVERY = 6  # steps between two attempts to combine rows to 0
TINY = 1e-6  # a smaller weight, relative to the largest, may be a rounding error of 0
FITS = 40  # least squares of an attempt
CORRECTIONS = 4  # solutions of the same equations, each for the error of the last
PERFECT = 1e-4  # weights of which the largest is smaller are rounding errors: v separates these rows
FULL = 1e-10  # a smaller pivot is a rounding error, relative to the largest
TOGETHER = 256  # rows that give their weight away between two factorisations
HALVINGS = 20  # halvings of the interval of a step length
DOING = "minimising the squared hinge loss"

Mask = NDArray[np.bool_]


class Combined(NamedTuple):
    """Rows that may have a combination to 0 with positive weights, and these weights roughly."""

    rows: Ints
    weights: Floats


class HingeNewton:
    """The loss of a problem, a vector v, and the matrix Σ z_i z_iᵀ of some rows."""

    def __init__(self, problem: SeparationProblem, clock: Clock) -> None:
        self.problem, self.clock = problem, clock
        self.center = problem.center
        self.v = np.zeros(problem.width)
        self.margins = np.zeros(problem.n)  # z_i·v
        self.gram = np.zeros((problem.width, problem.width))
        self.within = np.zeros(problem.n, np.bool_)  # the rows that the matrix sums over
        self.ridge = 0.0
        self.room: Floats | None = None

    def run(self) -> Iterator[Direction | Combined]:
        """Yield vectors that separate as floats see it, and combinations to 0, until no more can be expected."""
        for k in range(ROUNDS):
            active = self.margins < 1.0
            if not active.any():
                return
            step = self.newton_step(active)
            if step is None:
                return
            change = self.products(step)
            length = self.length(step, change)
            self.v, self.margins = self.v + length * step, self.margins + length * change
            if k == 0 or self.separates():
                found = Direction.of_floats(self.v[: self.problem.d])
                if found is not None:
                    yield found
            done = length == 1.0 and np.array_equal(self.margins < 1.0, active)
            if (done or k % EVERY == EVERY - 1) and (combined := self.combined()) is not None:
                yield combined
            if done:
                return

    def newton_step(self, active: Mask) -> Floats | None:
        """Return the change of v to the minimum of the loss of the active rows, if the same rows stay active."""
        self.sum_over(active)
        if not self.ridge:
            self.ridge = RIDGE * max(np.trace(self.gram) / len(self.gram), 1e-300)
        gradient = self.ridge * self.v - self.total(np.where(active, 1.0 - self.margins, 0.0))
        factor = self.factor(self.gram, self.ridge)
        step = None if factor is None else -cho_solve(factor, gradient, check_finite=False)
        return step if step is not None and np.isfinite(step).all() else None

    def length(self, step: Floats, change: Floats) -> float:
        """Return the step length, at most 1, that minimises the loss along a step."""
        left, square, inner = 1.0 - self.margins, float(step @ step), float(self.v @ step)
        self.clock.spend(HALVINGS * self.problem.n, DOING)

        def slope(t: float) -> float:
            rest = np.maximum(left - t * change, 0.0)
            return self.ridge * (inner + t * square) - float(rest @ change)

        if slope(1.0) <= 0.0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            low, high = (low, middle) if slope(middle) > 0.0 else (middle, high)
        return low or high

    def separates(self) -> bool:
        """Return whether v separates the rows with some bias, as floats see it."""
        problem = self.problem
        if not problem.bias:
            return bool(self.margins.min() > 0.0)
        sides = (self.margins[side] for side in (problem.positive, problem.negative))
        return sum(float(side.min()) for side in sides) > 0.0

    def combined(self) -> Combined | None:
        """Return rows with weights that fit 0, or None."""
        problem = self.problem
        rows = np.flatnonzero(self.margins < 1.0)
        self.clock.spend(2.0 * problem.size * len(rows) / problem.n, DOING)
        rows = rows[_not_alone(problem, rows)]
        if len(rows) <= 1:
            return None
        z = problem.signed(rows, self.center)
        z = z.tocsr() if problem.sparse else z
        return self.fitted(rows, z)

    def fitted(self, rows: Ints, z: Any) -> Combined | None:
        """Return positive weights 1 − z_i·v by least squares on ever fewer rows.

        Rows of negative weight are left out until there are none. Then the lighter half is, if many are left.
        """
        best: Combined | None = None
        kept = np.ones(len(rows), np.bool_)
        for _ in range(FITS):
            v = self.least_squares(z)
            if v is None:
                return best
            weights = 1.0 - z @ v
            if weights.max() < PERFECT:
                return best
            kept = weights > TINY * weights.max()
            if kept.all():
                best = Combined(rows, weights)
                if len(rows) <= 2 * self.problem.width:
                    return best
                kept = weights > np.median(weights)
            rows, z = rows[kept], z[kept]
            alone = ~_not_alone(self.problem, rows)
            if alone.any():
                rows, z = rows[~alone], z[~alone]
            if len(rows) <= 1:
                return best
        return best

    def least_squares(self, z: Any) -> Floats | None:
        """Return the v that fits z_i·v = 1 on some rows, as precisely as floats can.

        Columns are scaled to one size, so that those that few rows use count as well, and the error of the ridge
        is corrected.
        """
        share = (z.nnz if self.problem.sparse else z.size) / z.shape[0]
        self.clock.spend(z.shape[0] * share * (share / FAST + 2), DOING)
        gram, right = z.T @ z, z.T @ np.ones(z.shape[0])
        gram = gram.toarray() if self.problem.sparse else gram
        sizes = np.sqrt(np.diag(gram))
        scale = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        gram *= scale[:, None]
        gram *= scale
        right *= scale
        factor = self.factor(gram, RIDGE)
        if factor is None:
            return None
        v = np.zeros_like(right)
        for _ in range(CORRECTIONS):
            v += cho_solve(factor, right - gram @ v, check_finite=False)
        return scale * v if np.isfinite(v).all() else None

    def factor(self, gram: Floats, ridge: float) -> Any:
        """Return the Cholesky factor of a matrix plus a ridge; None if that is singular."""
        matrix = gram.copy()
        matrix[np.diag_indices_from(matrix)] += ridge
        self.clock.spend(len(matrix) ** 3 / (3 * FAST), DOING)
        try:
            return cho_factor(matrix, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None

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
        problem = self.problem
        share = problem.size / problem.n
        self.clock.spend(len(rows) * share * (share / FAST + 2), DOING)
        if problem.sparse:
            step = max(1, BLOCK // problem.width)
            for start in range(0, len(rows), step):
                z = problem.signed(rows[start : start + step], self.center)
                self.gram += sign * (z.T @ z).toarray()
            return
        # Signs cancel in the products. A block has more rows than columns, so that products outweigh their sum.
        step = max(1, min(BLOCK // problem.width, max(MULTIPLIED // problem.width, 2 * problem.width)))
        for start in range(0, len(rows), step):
            x = self.moved(rows[start : start + step])
            self.gram += sign * (x.T @ x)

    def moved(self, rows: Ints) -> Floats:
        """Return x_i − center of some dense rows, with a last 1 if there is a bias, until the next call.

        The same memory is used again, and few rows are converted at a time: they stay in the cache.
        """
        problem = self.problem
        if self.room is None or len(self.room) < len(rows):
            self.room = np.ones((len(rows), problem.width))
        out = self.room[: len(rows)]
        matrix, left = problem.floats
        factors, step = np.ldexp(1.0, -left), max(1, CACHED // problem.d)
        with np.errstate(under="ignore"):
            for start in range(0, len(rows), step):
                part = slice(start, start + step)
                scaled = matrix.X.take(rows[part], axis=0) * factors
                np.subtract(scaled, self.center, out=out[part, : problem.d])
        return out

    def products(self, v: Floats) -> Floats:
        """Return z_i·v of all rows."""
        problem = self.problem
        self.clock.spend(problem.size, DOING)
        matrix, left = problem.floats
        f = matrix.times(np.ldexp(v[: problem.d], -left)) - self.center @ v[: problem.d]
        return problem.y * (f + v[-1] if problem.bias else f)

    def total(self, weights: Floats) -> Floats:
        """Return Σ λ_i z_i over all rows."""
        problem = self.problem
        self.clock.spend(problem.size, DOING)
        matrix, left = problem.floats
        signed = problem.y * weights
        sums = np.ldexp(matrix.combine(signed), -left) - signed.sum() * self.center
        return np.append(sums, signed.sum()) if problem.bias else sums


def _not_alone(problem: SeparationProblem, rows: Ints) -> Mask:
    """Return which of some rows can have weight in a combination to 0, as far as single columns show it.

    A row cannot if some column has one sign in all rows that are left: y_i x_ij ≥ 0, and > 0 in this row.
    """
    left = np.ones(len(rows), np.bool_)
    X = problem.matrix.X[rows]
    if problem.sparse:
        X = X.multiply(problem.y[rows][:, None]).tocsr()
        X.eliminate_zeros()
        of, above, places = np.repeat(np.arange(len(rows)), np.diff(X.indptr)), X.data > 0.0, X.indices
    else:
        plus, minus = X[problem.y[rows] > 0.0], X[problem.y[rows] < 0.0]
        up = (plus > 0.0).any(axis=0) | (minus < 0.0).any(axis=0)
        down = (plus < 0.0).any(axis=0) | (minus > 0.0).any(axis=0)
        if np.array_equal(up, down):
            return left
        of, places = np.nonzero(X)
        above = (X[of, places] > 0.0) == (problem.y[rows][of] > 0.0)
    while True:
        up = np.bincount(places[above], minlength=problem.d)
        down = np.bincount(places[~above], minlength=problem.d)
        lonely = (up == 0) != (down == 0)
        if not lonely.any():
            return left
        left[of[lonely[places]]] = False
        stay = left[of]
        of, places, above = of[stay], places[stay], above[stay]


def fewest(problem: SeparationProblem, found: Combined, clock: Clock) -> Ints:
    """Return some of the rows of a combination to 0, so few that their weights are unique (Carathéodory 1907).

    One row after another gives its weight to rows of a basis, until it or a row of the basis has none left.
    """
    z = problem.signed(found.rows, problem.center)
    table = (z.toarray() if problem.sparse else z).T
    table = np.vstack([table[np.abs(table).max(axis=1) > 0.0], np.ones(len(found.rows))]) * found.weights
    m, n = table.shape
    clock.spend(2.0 * m * m * n / FAST, DOING)
    triangle, order = qr(table, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(sizes > FULL * sizes[0]))
    triangle = triangle[:rank]
    basis, weights = np.arange(rank), np.ones(rank)
    for start in range(rank, n, TOGETHER):
        free = np.arange(start, min(start + TOGETHER, n))
        clock.spend(rank * rank * (rank + 2 * len(free)) / FAST + rank * len(free) ** 2, DOING)
        T = np.linalg.solve(triangle[:, basis], triangle[:, free])
        for k in range(len(free)):
            u = T[:, k].copy()
            falling = np.flatnonzero(u < -FULL)
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
