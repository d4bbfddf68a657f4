"""The fit loop of the perceptron: visit, correct, and know when and why to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sized
from typing import Any, NamedTuple, Protocol

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.exceptions import WeightError
from rosenblatt.interrupts import stop_if_interrupted
from rosenblatt.learners.cycles import Cycles
from rosenblatt.learners.plan import Plan, Run
from rosenblatt.learners.pool import BatchPool, First, Pool, wrong_rows
from rosenblatt.learners.report import Model, PassReport
from rosenblatt.learners.start import begin_at
from rosenblatt.learners.visitor import Visitor
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.state import State, overflowed
from rosenblatt.stopping import Plateau, StopReason, Tolerance, Validation
from rosenblatt.trace.curve import Curve
from rosenblatt.trace.record import Trace
from rosenblatt.trace.recorder import Recorder, Stretch
from rosenblatt.typing import Floats, Ints


def row_weights(batch: Batch, class_weight: Floats | None) -> Floats:
    """Return the weight of each row times that of its class."""
    weight = np.ones(batch.n_rows) if batch.weight is None else batch.weight.copy()
    if class_weight is not None:
        weight *= class_weight[batch.codes]
    if not weight.any():
        raise WeightError("sample_weight times class_weight is zero for every row. Give some of them weight.")
    return weight


def fit(batch: Batch, weight: Floats, plan: Plan, start: State, visitor: Callable[..., Visitor] = Visitor) -> Run:
    """Train on `batch`, its rows weighing `weight`, from `start` until a stop of `plan`.

    Relatives of the perceptron bring their own `visitor`, called as `Visitor` is.
    """
    return FitLoop(plan, start, lambda state: BatchPool(batch, weight, plan, state, visitor)).run()


class Keeper(Protocol):
    """Keeps what a fit needs to go on should it be cut short."""

    def after_stretch(self, loop: FitLoop) -> None:
        """Take note of visits; the pass has more to come."""

    def after_pass(self, loop: FitLoop) -> None:
        """Take note of a pass after which training goes on."""


class _Complete(NamedTuple):
    """The last completed pass: one value, so that Ctrl-C cannot fall between its parts."""

    state: State
    passes: int


class FitLoop:
    """One fit under way; learners whose weights belong to other things than features change steps of it."""

    def __init__(
        self, plan: Plan, start: State, pool: Callable[[State], Pool], keeper: Keeper | None = None
    ) -> None:
        self.plan, self.keeper = plan, keeper
        self.start, self.state = start, start.copy()
        self.pool = pool(self.state)
        self.recorder = Recorder(plan.trace)
        self.cycles: Cycles | None = None
        self.proof: Any | None = None
        self.plateau = Plateau(self.pool.stored, plan.patience)
        self.tolerance = None if plan.tol is None else Tolerance(plan.tol, plan.patience or 5)
        self.validation = Validation(plan.patience, plan.tol or 0.0)
        self.validation_errors: list[float] = []
        self.complete = _Complete(start, 0)
        self.spare: State | None = None
        self.best = start  # by validation
        self.loss = 0.0  # of the pass under way
        self.stuck = 0
        self.began = time.perf_counter()

    def run(self) -> Run:
        """Make passes until there is a reason to end."""
        try:
            reason = None
            while reason is None:
                reason = self.next_pass(self.complete.passes + 1)
            return self.finish(reason)
        except KeyboardInterrupt as interruption:
            self.recorder.keep(self.complete.passes)
            self.state = self.complete.state
            return self.finish("interrupted", interruption)

    def next_pass(self, epoch: int) -> StopReason | None:
        """Make one pass, or the rest of it; return why training ends with it, if it does."""
        stop_if_interrupted()
        visits = self.pool.visits(epoch) if epoch <= self.plan.max_iter else None
        if visits is None:
            return "max_iter"
        if len(self.recorder.visits_per_pass) < epoch:
            self.begin_pass(epoch, visits)
        for stretch in self.pool.visit(visits, self.recorder.visits_per_pass[-1]):
            stop_if_interrupted()
            self.recorder.add(stretch)
            if self.cycles is not None:
                self.cycles.add(stretch)
            self.add_loss(stretch)
            if self.pool.settled:
                break
            if self.recorder.visits_per_pass[-1] < len(visits):
                if self.out_of_time():
                    return "max_time"
                if self.keeper is not None:
                    self.keeper.after_stretch(self)
        mistakes = self.recorder.mistakes_per_pass[-1]
        if self.pool.settled:
            return self.settle(epoch, mistakes)
        self.note_complete(epoch)
        reason = self.judge(epoch, visits, mistakes, self.loss / len(visits))
        if reason is None and self.keeper is not None:
            self.keeper.after_pass(self)
        return reason

    def begin_pass(self, epoch: int, visits: Sized) -> None:
        """Prepare a pass."""
        if epoch == 1:
            self.begin(visits)
        self.loss = 0.0
        self.recorder.begin_pass()

    def settle(self, epoch: int, mistakes: int) -> StopReason:
        """End with a pass that may be cut short, because nothing is left to learn."""
        made = self.recorder.visits_per_pass[-1]
        if made:
            self.note_complete(epoch)
            self.report(epoch, mistakes, made, self.loss / made, None)
        else:
            self.recorder.keep(epoch - 1)  # the start was right: there was no pass
        return "separated"

    def note_complete(self, epoch: int) -> None:
        """Remember the state after a completed pass.

        Two buffers take turns, so that the last completed pass is whole at every moment, and so that millions of
        weights are not allocated anew each time.
        """
        buffer = self.state.copy() if self.spare is None else self.spare
        buffer.become(self.state)
        self.spare = self.complete.state if self.complete.passes else None
        self.complete = _Complete(buffer, epoch)

    def begin(self, visits: Sized) -> None:
        """Prepare what only the first visits can tell."""
        self.pool.require_finite(visits)
        if self.plan.start_at_first:
            first = self.pool.first(visits)
            machines = self.plan.scheme.first_steps(int(first.batch.codes[first.row]), self.plan.zero)
            self.begin_at(first, machines, np.sign(first.weight))
            self.start = self.best = self.state.copy()
            self.complete = _Complete(self.start, 0)
        if self.plan.prove is not None:
            self.cycles = Cycles(self.plan.prove, self.state.w)

    def begin_at(self, first: First, machines: Ints, step: float) -> None:
        """Add a row to the start itself."""
        rows, row, targets = first.batch.rows, first.row, first.targets
        begin_at(self.state, rows, row, targets, machines=machines, step=step, beta=self.plan.rule.beta)

    def judge(self, epoch: int, visits: Sized, mistakes: int, loss: float) -> StopReason | None:
        """Return why training ends after this pass, if it does."""
        error = self.validate(epoch)
        told_to_end = self.report(epoch, mistakes, len(visits), loss, error)
        if mistakes == 0:
            self.stuck = self.unseparated(visits)
            if self.stuck == 0:
                return "separated"
            if self.at_rest(visits):
                return "plateau"
            self.stuck = 0
        if told_to_end:
            return "interrupted"
        if self.cycles is not None:
            self.proof = self.cycles.end_pass(self.state.w)
            if self.proof is not None:
                return "cycle"
        if error is not None and self.validation.ends(epoch):
            return "validation"
        if self.tolerance is not None and self.tolerance.ends(loss):
            return "tol"
        self.plateau.stored = self.pool.stored + self.pool.extra_values // epoch
        if self.plateau.ends(epoch, mistakes):
            return "plateau"
        return "max_time" if self.out_of_time() else None

    def note_as_complete(self, state: State, passes: int) -> None:
        """Take a state for that after the last completed pass."""
        self.complete = _Complete(state, passes)

    def report(self, epoch: int, mistakes: int, visits: int, loss: float, error: float | None) -> bool:
        """Tell the callbacks of a pass; return whether one of them wants to end."""
        if not self.plan.callbacks:
            return False
        seconds = time.perf_counter() - self.began
        report = PassReport(epoch, mistakes, visits, loss, error, seconds, self.model())
        answers = [callback(report) for callback in self.plan.callbacks]
        return any(answers)

    def unseparated(self, visits: Sized) -> int:
        """Count the rows that are not right, after a pass without a mistake.

        Such a pass leaves none if it visited every row, unless the rule lets ties pass that prediction
        counts as wrong, a label is chosen by the sums of several machines, each of which was right, or weights
        have shrunk since.
        """
        if self.proves(visits):
            return 0
        return sum(
            int(np.count_nonzero(wrong_rows(batch, self.last_scores(batch), self.plan) & (weight != 0.0)))
            for batch, weight in self.pool.parts()
        )

    def proves(self, visits: Sized) -> bool:
        """Whether a pass without a mistake leaves no row that is not right."""
        rule, scheme = self.plan.rule, self.plan.scheme
        lenient = rule.tie_plus == rule.tie_minus == 0.0
        return self.pool.covers(visits) and not lenient and scheme.kind != "ovo" and self.plan.penalty is None

    def at_rest(self, visits: Sized) -> bool:
        """Whether, after a pass without a mistake, no visit will ever move the weights again."""
        return self.plan.penalty is None and (self.plan.order.settles or self.pool.covers(visits))

    def last_scores(self, batch: Batch) -> Floats:
        """Return the scores of rows by the last hypothesis."""
        return LinearModel(self.state.last(), self.plan.scheme, self.pool.classes, self.plan.zero).scores(batch)

    def validate(self, epoch: int) -> float | None:
        """Measure the pass on the data held out, and remember the best."""
        if self.plan.held_out is None:
            return None
        error = self.pool.validation_error(self.model())
        assert error is not None, "rows are held out"
        self.validation_errors.append(error)
        if self.validation.improves(epoch, error):
            self.best = self.state.copy()
        return error

    def add_loss(self, stretch: Stretch) -> None:
        """Add the loss of a stretch of visits, Σ max(0, −y f); only mistakes have any.

        One after the other, so that the sum is the same wherever stretches begin and end.
        """
        if self.tolerance is None and not self.plan.callbacks:
            return
        codes = self.pool.codes_of(stretch.rows)
        lead = self.plan.scheme.lead_of_mistakes(stretch.log.score, stretch.log.machine, codes)
        self.loss = float(np.cumsum(np.concatenate([[self.loss], np.maximum(0.0, -lead)]))[-1])

    def out_of_time(self) -> bool:
        """Whether the time allowed is over."""
        return self.plan.max_time is not None and time.perf_counter() - self.began >= self.plan.max_time

    def model(self) -> Model:
        """Return the hypothesis of this moment."""
        return LinearModel(self.state.hypothesis(), self.plan.scheme, self.pool.classes, self.plan.zero)

    def finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> Run:
        """Put together what is left behind."""
        counts, visits = self.recorder.mistakes_per_pass, self.recorder.visits_per_pass
        state, passes = self.state, len(counts)
        if self.validation.best_epoch and interruption is None:
            state, passes = self.best, self.validation.best_epoch
        if not np.isfinite(state.hypothesis()).all():
            raise overflowed(state.visits)
        measured = None if self.plan.held_out is None else np.array(self.validation_errors)
        shown = len(counts) if measured is None else len(measured)  # Ctrl-C may come before a pass is measured
        return Run(
            state=state,
            stop_reason=reason,
            converged=reason == "separated" and passes == len(counts),
            mistakes_per_pass=list(counts),
            trace=self.trace(passes),
            curve=Curve((np.array(counts) / np.maximum(visits, 1))[:shown], measured),
            stuck=self.stuck,
            interruption=interruption,
            proof=self.proof,
        )

    def trace(self, passes: int) -> Trace:
        """Return the record of the first passes."""
        plan, recorder = self.plan, self.recorder
        return Trace(
            mistakes=recorder.mistakes(passes),
            mistakes_per_pass=np.array(recorder.mistakes_per_pass[:passes], np.int64),
            visits_per_pass=np.array(recorder.visits_per_pass[:passes], np.int64),
            start=self.start.copy(),
            n_rows=self.pool.n_rows,
            n_features=self.pool.n_features,
            scheme=plan.scheme,
            penalty=plan.penalty,
            classes=self.pool.classes,
            bias=plan.rule.beta,
            radius=plan.radius,
            zero=plan.zero,
        )
