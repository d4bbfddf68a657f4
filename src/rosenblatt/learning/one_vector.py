"""Training by targets that are no classes: numbers, ranks, pairs of rows, and sets of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.interrupts import stop_if_interrupted
from rosenblatt.learning.recorder import Mistakes, Recorder, Stretch
from rosenblatt.learning.state import State, overflow_error
from rosenblatt.loops import passes
from rosenblatt.loops.layout import Log
from rosenblatt.rows.features import Features, require_finite
from rosenblatt.stopping import Plateau, Tolerance
from rosenblatt.typing import Floats

UPDATES_AT_ONCE = 1 << 20
"""The updates that there is room for at a time."""


@dataclass
class VectorRun:
    """One fit or stream of a vector, or of one for each label.

    Attributes
    ----------
    state : State
        The weights; training changes them.
    start : State
        Where it began.
    recorder : Recorder
        The updates of each pass.
    losses : list of float
        The sum of the losses of each pass.
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
        self,
        features: Features,
        targets: Any,
        rule: Any,
        order: Any,
        loss: Callable[[Any, Log], Floats],
        first: int = 0,
    ) -> int:
        """Make the visits of a pass, or of a block of one, and return the number of updates.

        `loss` is of the rows and the log of updates. Rows of a block are counted from `first`. An error does not
        change the state.
        """
        state = self.state.copy()
        rows, machines = state.meet(features.rows), len(state.machines)
        at_once = max(1, UPDATES_AT_ONCE // machines)
        log = Log.room(min(len(order), at_once) * machines, machines)
        stretches, lost = [], 0.0
        for begin in range(0, len(order), at_once):
            part = order[begin : begin + at_once]
            rule_now = state.rule_of_loops(rule)
            k, made = passes.train(rows, targets, part, rule_now, state.w, state.u, state.visits, log)
            if made < len(part) or not np.isfinite(state.hypothesis()).all():
                require_finite(features)
                raise overflow_error(state.visits + made)
            stretch = Stretch(part, log.part(slice(k)), state.visits)
            lost += float(loss(stretch.rows, stretch.log).sum())
            kept = Log._make([*(column.copy() for column in stretch.log[:4]), log.scores])
            stretches.append(Stretch(part + np.uint64(first), kept, state.visits))
            state.visits += made
        for stretch in stretches:
            self.recorder.add(stretch)
        self.losses[-1] += lost
        self.state = state
        return sum(len(stretch.log.at) for stretch in stretches)

    def begin_pass(self) -> None:
        """Start a new pass."""
        self.recorder.begin_pass()
        self.losses.append(0.0)

    @property
    def mean_loss(self) -> float:
        """The mean loss of a visit of the last pass."""
        return self.losses[-1] / max(1, self.recorder.visits_per_pass[-1])


def fit_vector(
    run: VectorRun,
    make_pass: Callable[[int], int],
    *,
    margin: float,
    max_iter: int,
    tol: float | None,
    patience: int,
) -> str:
    """Make passes until one has no update, the loss or the updates no longer fall, or `max_iter`; return which.

    `make_pass` makes the visits of the pass with a number, from 1, and returns the number of updates.
    """
    plateau = Plateau(patience) if tol is None else None
    tolerance = None if tol is None else Tolerance(tol, patience)
    for epoch in range(1, max_iter + 1):
        run.begin_pass()
        updates = make_pass(epoch)
        if not updates:
            return "margin" if margin else "separated"
        if tolerance is not None and tolerance.ends(run.mean_loss):
            return "tol"
        if plateau is not None and plateau.ends(epoch, updates):
            return "plateau"
        stop_if_interrupted()
    return "max_iter"
