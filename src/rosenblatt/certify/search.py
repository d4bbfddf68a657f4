"""The search in floats, at ever finer scales, for a vector that separates or for rows that prove there is none.

A linear program in floats resolves differences down to about 10⁻¹⁰. It computes corrections of the vector found so
far, from exact residuals, and so gains ten digits each time. Rows are added only where the vector fails. All
results are checked exactly; no tolerance here decides anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.rationals import nearest
from rosenblatt.certify.sides import differences
from rosenblatt.certify.time_limit import Clock
from rosenblatt.typing import Floats, Ints

# A linear program in floats that proposes vectors: maximise t with z_i·v ≥ t and |v_j| ≤ 1, for some rows.

HIGHS_TOLERANCE = 1e-10  # the smallest tolerance of HiGHS; it decides nothing here
DOING = "solving the linear program"
MAX_STEPS_A_ROW = 5  # simplex steps for each row and column, after which HiGHS is assumed to cycle


class Proposal(NamedTuple):
    """The solution of the program."""

    v: Floats
    t: float  # the smallest z_i·v
    held: Ints  # the rows with z_i·v = t, by their position in the program
    duals: Floats  # the weight of every row: Σ λ_i z_i is about 0 where t is


class Program:
    """A program whose rows HiGHS keeps from one solution to the next.

    v has `width` entries, of which the last is unbounded with `bias`; `prescribe` can fix its product with `norm`.
    """

    def __init__(self, width: int, norm: Floats, *, bias: bool) -> None:
        import highspy

        self.highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.infinity = highspy.kHighsInf
        self.basic = highspy.HighsBasisStatus.kBasic
        self.solved = highspy.HighsModelStatus.kOptimal
        for name, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("threads", 1),
            ("primal_feasibility_tolerance", HIGHS_TOLERANCE),
            ("dual_feasibility_tolerance", HIGHS_TOLERANCE),
        ):
            self.highs.setOptionValue(name, value)
        self.width = width
        none = np.empty(0, np.int32)
        lower, upper = np.full(width + 1, -1.0), np.full(width + 1, 1.0)
        free = 2 if bias else 1
        lower[-free:], upper[-free:] = -self.infinity, self.infinity
        self.bounded = np.arange(width + 1 - free, dtype=np.int32)
        cost = np.zeros(width + 1)
        cost[-1] = -1.0
        self.highs.addCols(width + 1, cost, lower, upper, 0, none, none, np.empty(0))
        entries = np.arange(width, dtype=np.int32)
        self.highs.addRow(-self.infinity, self.infinity, width, entries, norm)

    def add(self, rows: Any) -> None:
        """Add rows z_i, dense or sparse."""
        from scipy.sparse import csr_array, hstack

        n = rows.shape[0]
        table = hstack([csr_array(rows), csr_array(np.full((n, 1), -1.0))], format="csr")
        free = np.full(n, self.infinity)
        starts = table.indptr[:-1].astype(np.int32)
        self.highs.addRows(n, np.zeros(n), free, table.nnz, starts, table.indices.astype(np.int32), table.data)

    def solve(self, clock: Clock) -> Proposal | None:
        """Solve; return None if HiGHS gives up. Raises `Unsettled` when the time or the work is over."""
        size = self.highs.getNumRow() + self.highs.getNumCol()
        step = size + self.highs.getNumNz()  # the work of a simplex step
        clock.spend(step, DOING)
        steps = MAX_STEPS_A_ROW * size
        if clock.work_left is not None:
            steps = min(steps, int(clock.work_left) // step)
        self.highs.setOptionValue("simplex_iteration_limit", steps)
        if clock.left is not None:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(clock.left, 0.0))
        self.highs.run()
        clock.spend(step * max(0, self.highs.getInfo().simplex_iteration_count), DOING)
        if self.highs.getModelStatus() != self.solved:
            if steps < MAX_STEPS_A_ROW * size:
                clock.spend(step * MAX_STEPS_A_ROW * size, DOING)  # more than is left
            self.highs.clearSolver()  # the next solution must not begin from this failure
            return None
        x = np.array(self.highs.getSolution().col_value)
        status = self.highs.getBasis().row_status
        held = np.flatnonzero([each != self.basic for each in status[1:]])
        return Proposal(x[:-1], float(x[-1]), held, np.array(self.highs.getSolution().row_dual)[1:])

    def prescribe(self, value: float | None) -> None:
        """Fix the product of v with the norm, or with None leave it free."""
        bounds = (-self.infinity, self.infinity) if value is None else (value, value)
        self.highs.changeRowBounds(0, *bounds)

    def move(self, least: Floats, lower: Floats, upper: Floats) -> None:
        """Set the lower bounds of z_i·v − t, and the bounds of the entries of v."""
        n, infinite = len(least), np.full(len(least), self.infinity)
        self.highs.changeRowsBounds(n, np.arange(1, n + 1, dtype=np.int32), least, infinite)
        self.highs.changeColsBounds(len(self.bounded), self.bounded, lower, upper)


MAX_VALUES_AT_ONCE = 200_000  # the program gets all rows at once up to this many values
TOUCHING_MARGIN = 1e-8  # a smallest z_i·v, of a vector of size 1, that may be a rounding error
LEAST_WEIGHT = 1e-7  # a larger weight in a combination is no rounding error
MAX_STEP_LENGTH = 2.0**10  # the largest step of the program, at its scale
NEAR_SCORE = 2.0**-20  # smaller scores are summed in double-double
FRACTION_BITS = 400  # binary places of the vector
FINEST_POWER = 250  # the finest scale, in powers of two
FINE_POWER = 20  # at this scale floats have resolved everything at coarser ones
POWERS_A_ZOOM = 30  # the change of scale if floats find nothing wrong
MAX_ENTRY = 2.0**12  # the largest entry of a vector of norm 1
MAX_ROUNDS = 40


class Finding(NamedTuple):
    """A vector that may separate, or rows that may prove that none does."""

    v: Direction | None
    rows: Ints


class Search:
    """A vector u, the rows of the program that seeks it, and its scale.

    With a bias both classes must occur. `v` selects the first rows.
    """

    def __init__(self, problem: SeparationProblem, clock: Clock, v: Direction | None) -> None:
        self.problem, self.clock = problem, clock
        self.batch = problem.n if problem.n * problem.width <= MAX_VALUES_AT_ONCE else problem.width + 1
        self.center = problem.center
        self.program = Program(problem.width, self.norm(), bias=problem.bias)
        self.normalised = False
        self.entries = [0] * problem.d  # u times 2**FRACTION_BITS
        self.zoom = 0  # the program solves for 2**zoom times the change of u
        self.places = np.empty(0, np.int64)  # the row numbers of the program's rows
        self.inside = np.zeros(problem.n, np.bool_)
        self.r = np.zeros(problem.n) if v is None else self.residuals(v)
        self.add_rows()
        self.r = np.zeros(problem.n)

    def run(self) -> Iterator[Finding]:
        """Yield candidates to check, until no more can be expected."""
        for _ in range(MAX_ROUNDS):
            found = self.solve()
            if found is None or found.t <= TOUCHING_MARGIN:
                break
            self.take(found.v)
            yield Finding(self.direction(), self.held(found))
            known = len(self.places)
            self.look()
            self.begin_anew()
            if len(self.places) == known:
                break
        if found is not None:
            yield from self.contradict(found)
        yield from self.magnify()

    def magnify(self) -> Iterator[Finding]:
        """Continue at finer scales, with vectors of norm 1, for which v = 0 is no solution."""
        self.normalised = True
        self.begin_anew()
        for _ in range(MAX_ROUNDS):
            found = self.solve() or self.solve()  # the second attempt begins without a basis
            if found is not None and found.t < -TOUCHING_MARGIN and self.zoom < FINE_POWER:
                self.normalised = False  # the rows are far from separable according to floats
                self.begin_anew()
                if (found := self.solve()) is not None:
                    yield from self.contradict(found)
                return
            if found is not None and found.t <= 0.0 and self.zoom >= FINE_POWER:
                yield from self.contradict(found)
                return
            if found is None:
                return
            self.take(found.v)
            if not any(self.entries):
                return
            yield Finding(self.direction(), self.held(found))
            worst = self.look()
            self.zoom = self.zoom + POWERS_A_ZOOM if worst >= 0.0 else max(0, floor(-log2(-worst)))
            if self.zoom > FINEST_POWER:
                return

    def begin_anew(self) -> None:
        """Set u to zero, so that the program finds a new one."""
        self.entries = [0] * self.problem.d
        self.zoom = 0
        self.r = np.zeros(self.problem.n)

    def direction(self) -> Direction:
        """Return u, with its significant digits only."""
        return Direction.of_integers(self.entries).shortened(53 + self.zoom)

    def look(self) -> float:
        """Compute the residuals of u, add the worst rows to the program, and return the worst residual."""
        v = Direction.of_integers(self.entries)
        self.r = np.asarray(np.ldexp(self.residuals(v), -v.power - FRACTION_BITS))
        self.add_rows()
        return float(self.r.min())

    def norm(self) -> Floats:
        """Return the difference of the class means, which has a positive product with every separating vector."""
        problem = self.problem
        shares = np.empty(problem.n)
        for side in (problem.positive, problem.negative):
            shares[side] = problem.y[side] / max(len(side), 1)
        matrix, left = problem.floats
        means = np.ldexp(matrix.combine(shares), -left)
        return np.append(means, 0.0) if problem.bias else means

    def held(self, found: Proposal) -> Ints:
        """Return the rows with z_i·v = t at a solution."""
        return self.places[found.held]

    def contradict(self, found: Proposal) -> Iterator[Finding]:
        """Yield the rows that seem to contradict each other: those of large weight, then all with z_i·v = t."""
        heavy, held = self.places[found.duals > LEAST_WEIGHT], self.held(found)
        if 0 < len(heavy) < len(held):
            yield Finding(None, heavy)
        yield Finding(None, held)

    def residuals(self, v: Direction) -> Floats:
        """Return y f of each row for v with its best bias, precisely where it is small."""
        problem = self.problem
        self.clock.spend(problem.size, "reading the data")
        f, _ = problem.scores(v)
        middle = self.middle(f)
        f -= middle
        near = np.flatnonzero(np.abs(f) <= NEAR_SCORE)
        if len(near):
            f[near] = differences(problem, near, v, middle)
            f -= self.middle(f)
        return problem.y * f

    def middle(self, f: Floats) -> float:
        """Return the score midway between the classes."""
        if not self.problem.bias:
            return 0.0
        return float(f[self.problem.positive].min() / 2.0 + f[self.problem.negative].max() / 2.0)

    def add_rows(self) -> None:
        """Add the rows that are farthest on their wrong side, or nearest to it, to the program."""
        left = nearest_rows(self.problem, self.r, self.inside, self.batch)
        if not len(left):
            return
        self.program.add(self.problem.signed(left, self.center))
        self.places = np.append(self.places, left)
        self.inside[left] = True

    def solve(self) -> Proposal | None:
        """Solve the program for a change of u, at the current scale."""
        least = -np.ldexp(self.r[self.places], self.zoom)
        longest = MAX_ENTRY if self.normalised else 1.0
        u = self.vector()
        lower, upper = (np.ldexp(side * longest - u, self.zoom) for side in (-1.0, 1.0))
        if self.zoom:
            lower, upper = np.maximum(lower, -MAX_STEP_LENGTH), np.minimum(upper, MAX_STEP_LENGTH)
            least[least < -4.0 * MAX_STEP_LENGTH * self.problem.width] = -np.inf  # out of reach
        self.program.move(least, lower, upper)
        self.program.prescribe(None if not self.normalised else 0.0 if any(self.entries) else 1.0)
        return self.program.solve(self.clock)

    def vector(self) -> Floats:
        """Return u in floats."""
        return np.array([nearest(value, 1 << FRACTION_BITS) for value in self.entries])

    def take(self, step: Floats) -> None:
        """Add the solution of the program, at its scale, to u."""
        for j, value in enumerate(step[: self.problem.d].tolist()):
            numerator, denominator = value.as_integer_ratio()
            self.entries[j] += (numerator << (FRACTION_BITS - self.zoom)) // denominator


def nearest_rows(problem: SeparationProblem, r: Floats, inside: NDArray[np.bool_], count: int) -> Ints:
    """Return up to `count` rows of each class with the smallest r that are not inside yet."""
    chosen = [np.empty(0, np.int64)]
    for side in (problem.positive, problem.negative):
        left = side[~inside[side]]
        nearest = np.argpartition(r[left], count)[:count] if len(left) > count else slice(None)
        chosen.append(left[nearest])
    return np.sort(np.concatenate(chosen))
