"""A linear program in floats, which proposes: maximise t with z_i·v ≥ t and |v_j| ≤ 1, on some of the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.typing import Floats, Ints

FEASIBLE = 1e-10  # the least tolerance that HiGHS takes; it decides nothing here


class Proposal(NamedTuple):
    """What the program came to on its rows.

    Attributes
    ----------
    v : ndarray
        The vector.
    t : float
        The least z_i·v.
    held : ndarray of int
        The rows that hold it there, by their position in the program.
    """

    v: Floats
    t: float
    held: Ints


class Program:
    """Rows that HiGHS keeps from one solution to the next.

    Parameters
    ----------
    width : int
        The length of v.
    """

    def __init__(self, width: int) -> None:
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
        lower[-1], upper[-1] = -self.infinity, self.infinity
        cost = np.zeros(width + 1)
        cost[-1] = -1.0
        self.highs.addCols(width + 1, cost, lower, upper, 0, none, none, np.empty(0))

    def add(self, rows: Any) -> None:
        """Add rows z_i, dense or sparse."""
        from scipy.sparse import csr_array, hstack

        n = rows.shape[0]
        table = hstack([csr_array(rows), csr_array(np.full((n, 1), -1.0))], format="csr")
        free = np.full(n, self.infinity)
        starts = table.indptr[:-1].astype(np.int32)
        self.highs.addRows(n, np.zeros(n), free, table.nnz, starts, table.indices.astype(np.int32), table.data)

    def solve(self, seconds: float | None = None) -> Proposal | None:
        """Solve; None if HiGHS gives up or time is over."""
        if seconds is not None:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(seconds, 0.0))
        self.highs.run()
        if self.highs.getModelStatus() != self.solved:
            return None
        x = np.array(self.highs.getSolution().col_value)
        status = self.highs.getBasis().row_status
        held = np.flatnonzero([each != self.basic for each in status])
        return Proposal(x[:-1], float(x[-1]), held)
