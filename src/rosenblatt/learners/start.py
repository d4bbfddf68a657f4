"""Where training starts."""

from __future__ import annotations

import numpy as np

from rosenblatt.loops.layout import Rows
from rosenblatt.loops.passes import take_step
from rosenblatt.loops.targets import Log, Targets
from rosenblatt.model.state import State
from rosenblatt.typing import Ints


def begin_at(
    state: State, X: Rows, row: int, targets: Targets, *, machines: Ints, step: float, beta: float
) -> None:
    """Add a first row to the start itself, as if each of `machines` had been wrong on it (S-10)."""
    n = len(machines)
    log = Log(np.zeros(n, np.int64), np.zeros(n), np.full(n, float(step)), machines.astype(np.int32))
    state.orient(X)
    for k in range(n):
        take_step(X, targets, row, log, k, beta, state.w)
