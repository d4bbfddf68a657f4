"""Where a solver of soft-margin problems stands."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.typing import Floats


@dataclass(frozen=True, eq=False)
class Iterate:
    """One step, or one pass, of a solver.

    Attributes
    ----------
    theta : ndarray
        Padded weights.
    t : ndarray or None
        Their shortfalls, if the solver knows them.
    alpha : ndarray or None
        Dual weights to bound the minimum by, if it has any.
    made : int
        Steps made so far.
    judge : bool
        Whether it is worth finding out how good this is.
    visits : int
        Visits to single rows made so far, by a solver that steps at each.
    replaces : bool
        Whether it takes the place of those before even if one was better, as a descent's last hypothesis does.
    """

    theta: Floats
    t: Floats | None = None
    alpha: Floats | None = None
    made: int = 0
    visits: int = 0
    judge: bool = True
    replaces: bool = False
