"""Training by targets that are no classes: numbers, ranks, pairs of rows, and sets of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.learning.fit_loop import FitLoop, Keeper
from rosenblatt.learning.plan import Callback, PassReport, Predicts
from rosenblatt.learning.state import State, overflow_error
from rosenblatt.learning.trace import Mistakes, Recorder, Stretch
from rosenblatt.loops import passes
from rosenblatt.loops.layout import Log
from rosenblatt.loops.rules import is_plain
from rosenblatt.rows.features import Features, require_finite
from rosenblatt.stopping import Plateau, StopReason, Tolerance
from rosenblatt.typing import Floats

UPDATES_AT_ONCE = 1 << 20
"""The updates that there is room for at a time."""


class Part(NamedTuple):
    """Some visits of a pass: the rows, their targets, the order, and the number of the first row."""

    features: Features
    targets: Any
    order: Any
    loss: Callable[[Any, Log], Floats]  # of rows and the log of their updates
    first: int = 0


@dataclass(frozen=True)
class VectorPlan:
    """How to train, and what the visits of each pass are."""

    rule: Any
    n_visits: int  # of a pass
    parts: Callable[[int, int], Iterable[Part]]  # of the pass with a number, from 1, behind so many of its visits
    model: Callable[[State], Predicts]  # what predicts by a state, for reports
    max_iter: int = 1
    tol: float | None = None
    patience: int = 1
    max_time: float | None = None  # seconds
    callbacks: Sequence[Callback] = ()
    held_out: None = None


@dataclass
class VectorRun:
    """One fit or stream of a vector, or of one for each label."""

    # state, start: the weights, and where they began
    state: State
    start: State
    recorder: Recorder  # the updates of each pass
    losses: list[float]  # the sum of the losses of each pass
    stop_reason: StopReason  # why training ended
    interruption: KeyboardInterrupt | None = None  # the Ctrl-C that ended it

    @property
    def mistakes(self) -> Mistakes | None:
        """All updates in order, if they were kept."""
        return self.recorder.mistakes()


class VectorFit(FitLoop[State, VectorRun, Sized]):
    """One fit under way; `start` stays as it is."""

    def __init__(self, plan: VectorPlan, start: State, keeper: Keeper | None = None) -> None:
        super().__init__(plan, start, start.copy(), keeper=keeper)
        self.recorder = Recorder("mistakes")
        self.losses: list[float] = []
        self.tolerance = None if plan.tol is None else Tolerance(plan.tol, plan.patience)
        self.plateau = Plateau(plan.patience)

    def _visits(self, epoch: int) -> Sized:
        return range(self.plan.n_visits)

    def _steps(self, epoch: int, visits: Sized) -> Iterator[tuple[Stretch, float]]:
        if len(self.recorder.visits_per_pass) < epoch:
            self.recorder.begin_pass()
            self.losses.append(0.0)
        for part in self.plan.parts(epoch, self.recorder.visits_per_pass[-1]):
            yield from self._visit(part)

    def _visit(self, part: Part) -> Iterator[tuple[Stretch, float]]:
        """Make the visits of a part, and yield them with the sum of their losses, as many as there is room for."""
        state, features = self.state, part.features
        rows, machines = state.meet(features.rows), len(state.machines)
        at_once = max(1, UPDATES_AT_ONCE // machines)
        log = Log.room(min(len(part.order), at_once) * machines, machines)
        for begin in range(0, len(part.order), at_once):
            order = part.order[begin : begin + at_once]
            rule = state.rule_of_loops(self.plan.rule)
            k, made = passes.train(rows, part.targets, order, rule, state.w, state.u, state.visits, log)
            if made < len(order) or not np.isfinite(state.hypothesis()).all():
                require_finite(features)
                raise overflow_error(state.visits + made)
            own = Stretch(order, log.part(slice(k)), state.visits)
            lost = float(part.loss(own.rows, own.log).sum())
            state.visits += made
            yield own._replace(visits=order + np.uint64(part.first)), lost

    def _note(self, step: tuple[Stretch, float], visits: Sized) -> int:
        stretch, lost = step
        self.recorder.add(stretch)
        self.losses[-1] += lost
        return len(visits) - self.recorder.visits_per_pass[-1]

    def _end_pass(self, epoch: int, visits: Sized) -> StopReason | None:
        self.note_complete(epoch)
        told_to_end = self.report(epoch, None)
        updates = self.recorder.mistakes_per_pass[-1]
        if not updates:
            return "separated" if is_plain(self.plan.rule) or self.plan.rule.margin == 0.0 else "margin"
        if told_to_end:
            return "interrupted"
        if self.tolerance is not None and self.tolerance.ends(self._mean_loss()):
            return "tol"
        if self.tolerance is None and self.plateau.ends(epoch, updates):
            return "plateau"
        return "max_time" if self.out_of_time() else None

    def _mean_loss(self) -> float:
        return self.losses[-1] / max(1, self.recorder.visits_per_pass[-1])

    def _held_out_error(self) -> float:
        raise AssertionError("no rows are held out")

    def _report_of(self, epoch: int, error: float | None, seconds: float) -> PassReport:
        updates, visits = self.recorder.mistakes_per_pass[-1], self.recorder.visits_per_pass[-1]
        model = self.plan.model(self.complete.state.copy())
        return PassReport(epoch, updates, visits, self._mean_loss(), error, seconds, model)

    def _finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> VectorRun:
        if interruption is not None:
            self.recorder.keep(self.complete.passes)
            del self.losses[self.complete.passes :]
        return VectorRun(self.state, self.start, self.recorder, self.losses, reason, interruption)


def visit_once(plan: VectorPlan, start: State) -> VectorRun:
    """Make one pass; Ctrl-C and errors leave nothing behind."""
    fit = VectorFit(plan, start)
    for step in fit._steps(1, ()):
        fit._note(step, ())
    return fit._finish("max_iter")
