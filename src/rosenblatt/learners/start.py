"""Where training starts."""

from __future__ import annotations

from rosenblatt.loops.layout import Rows
from rosenblatt.loops.passes import take_step
from rosenblatt.loops.targets import Log, Targets
from rosenblatt.model.state import State
from rosenblatt.typing import Ints


def begin_at(
    state: State, X: Rows, row: int, targets: Targets, *, machines: Ints, step: float, beta: float
) -> None:
    """Add a first row to the start itself, as if each of `machines` had been wrong on it (S-10)."""
    log = Log.room(len(machines))
    log.step[:], log.machine[:] = step, machines
    state.orient(X)
    for k in range(len(machines)):
        take_step(X, targets, row, log, k, beta, state.w)
