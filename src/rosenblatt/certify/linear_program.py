"""A linear program in floats that proposes vectors: maximise t with z_i·v ≥ t and |v_j| ≤ 1, for some rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.certify.time_limit import Clock
from rosenblatt.typing import Floats, Ints

FEASIBLE = 1e-10  # the smallest tolerance of HiGHS; it decides nothing here
DOING = "solving the linear program"
ENOUGH = 5  # simplex steps for each row and column, after which HiGHS is assumed to cycle


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
            ("primal_feasibility_tolerance", FEASIBLE),
            ("dual_feasibility_tolerance", FEASIBLE),
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
        steps = ENOUGH * size
        if clock.work_left is not None:
            steps = min(steps, int(clock.work_left) // step)
        self.highs.setOptionValue("simplex_iteration_limit", steps)
        if clock.left is not None:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(clock.left, 0.0))
        self.highs.run()
        clock.spend(step * max(0, self.highs.getInfo().simplex_iteration_count), DOING)
        if self.highs.getModelStatus() != self.solved:
            if steps < ENOUGH * size:
                clock.spend(step * ENOUGH * size, DOING)  # more than is left
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

    def weigh(self, rows: Ints, share: float) -> None:
        """Require z_i·v ≥ `share`·t of some rows."""
        for row in rows:
            self.highs.changeCoeff(int(row) + 1, self.width, -share)
