"""Training one vector by targets that are no classes: numbers and ranks, row after row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.data.features import Features, require_finite
from rosenblatt.interrupts import stop_if_interrupted
from rosenblatt.learners.order import Order
from rosenblatt.loops import passes
from rosenblatt.loops.targets import Log
from rosenblatt.model.state import State, overflowed
from rosenblatt.stopping import Plateau, Tolerance
from rosenblatt.trace.recorder import Mistakes, Recorder, Stretch
from rosenblatt.typing import Floats


@dataclass
class VectorRun:
    """One fit or stream of a vector.

    Attributes
    ----------
    state : State
        The weights; training changes them.
    start : State
        Where it began.
    recorder : Recorder
        The updates of each pass.
    losses : list of float
        The mean loss of each pass.
    """

    state: State
    start: State
    recorder: Recorder
    losses: list[float] = field(default_factory=list)

    @property
    def mistakes(self) -> Mistakes | None:
        """All updates in order, if they were kept."""
        return self.recorder.mistakes()

    def visit(
        self, features: Features, targets: Any, rule: Any, order: Any, loss: Callable[[Any, Log], Floats]
    ) -> int:
        """Make one pass, and return the number of updates; `loss` is of the rows and the log of the updates.

        An error leaves the state as it was.
        """
        state = self.state.copy()
        rows = state.meet(features.rows)
        log = Log.room(len(order))
        k, made = passes.train(rows, targets, order, rule, state.w, state.u, state.visits, log)
        if made < len(order) or not np.isfinite(state.hypothesis()).all():
            require_finite(features)
            raise overflowed(state.visits + made)
        stretch = Stretch(order, log.part(slice(k)), state.visits)
        self.recorder.begin_pass()
        self.recorder.add(stretch)
        self.losses.append(float(loss(stretch.rows, stretch.log).sum()) / max(1, len(order)))
        state.visits += made
        self.state = state
        return k


def fit_vector(
    run: VectorRun,
    features: Features,
    targets: Any,
    rule: Any,
    order: Order,
    loss: Callable[[Any, Log], Floats],
    *,
    max_iter: int,
    tol: float | None,
    patience: int,
) -> str:
    """Make passes until one has no update, the loss or the updates no longer fall, or `max_iter`; return which."""
    plateau = Plateau(patience) if tol is None else None
    tolerance = None if tol is None else Tolerance(tol, patience)
    for epoch in range(1, max_iter + 1):
        visits = order.visits(epoch)
        updates = run.visit(features, targets, rule, visits, loss)
        if not updates:
            return "margin" if rule.margin else "separated"
        if tolerance is not None and tolerance.ends(run.losses[-1]):
            return "tol"
        if plateau is not None and plateau.ends(epoch, updates):
            return "plateau"
        stop_if_interrupted()
    return "max_iter"
