"""The skeleton of every fit: passes, the last complete one, validation, callbacks, time and Ctrl-C.

Below it is the fit of the perceptron: visit, correct, and know when and why to end.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sized
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.plan import Cycles, Model, PassReport, PerceptronRun, Plan
from rosenblatt.learning.state import State, overflow_error
from rosenblatt.learning.trace import Curve, Recorder, Stretch, Trace
from rosenblatt.learning.visitor import MISTAKE_RATE, Visitor
from rosenblatt.loops.compilation import seconds_compiling
from rosenblatt.loops.rules import is_plain, margin_of
from rosenblatt.rows.batch import Batch
from rosenblatt.stopping import (
    BRIEF_PATIENCE_PASSES,
    Plateau,
    StopReason,
    Tolerance,
    Trend,
    Validation,
    stop_if_interrupted,
)
from rosenblatt.typing import Floats


class Carried(Protocol):
    """What training carries from step to step."""

    def copy(self) -> Self:
        """Return an independent state."""

    def become(self, other: Any) -> None:
        """Take over the values of another state."""


S = TypeVar("S", bound=Carried)
R = TypeVar("R")
V = TypeVar("V", bound=Sized)

Keeper: TypeAlias = Callable[[Any], None]


class Complete(NamedTuple, Generic[S]):
    """The last completed pass: one value, so that Ctrl-C cannot fall between its parts."""

    state: S
    passes: int


class FitLoop(ABC, Generic[S, R, V]):
    """One fit under way; learners fill in the steps.

    Parameters
    ----------
    plan : Plan, NetworkPlan, VectorPlan or SequencePlan
        How to train.
    start : State, NetworkState or SequenceState
        The state before the first pass; it stays as it is.
    state : State, NetworkState or SequenceState
        A copy of it, which training changes.
    tol : float
        The fall of the validation error that counts as one.
    keeper : callable or None
        Called with this object between steps and after passes, to write checkpoints.
    """

    def __init__(self, plan: Any, start: S, state: S, tol: float = 0.0, keeper: Keeper | None = None) -> None:
        self.plan, self.start, self.state, self.keeper = plan, start, state, keeper
        self.complete = Complete(start, 0)
        self.spare: S | None = None
        self.best = start  # by validation
        self.validation = Validation(plan.patience, tol)
        self.validation_errors: list[float] = []
        self.began = time.perf_counter()
        self._compiled = seconds_compiling()

    @abstractmethod
    def _visits(self, epoch: int) -> V | None:
        """Return the visits of a pass; None if the order has come to its end."""

    @abstractmethod
    def _steps(self, epoch: int, visits: V) -> Iterable[Any]:
        """Begin a pass; return an iterator that makes its visits, some at a time."""

    @abstractmethod
    def _note(self, step: Any, visits: V) -> int:
        """Take note of visits made; return how many are left to make."""

    @abstractmethod
    def _end_pass(self, epoch: int, visits: V) -> StopReason | None:
        """Take note of a pass; return why training ends with it, if it does."""

    @abstractmethod
    def _held_out_error(self) -> float:
        """Return the error of the present state on the rows held out."""

    @abstractmethod
    def _report_of(self, epoch: int, error: float | None, seconds: float) -> Any:
        """Return the report of a pass that callbacks get."""

    @abstractmethod
    def _finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> R:
        """Return the result."""

    def run(self) -> R:
        """Make passes until there is a reason to end."""
        try:
            reason = None
            while reason is None:
                stop_if_interrupted()
                reason = self.next_pass(self.complete.passes + 1)
            return self._finish(reason)
        except KeyboardInterrupt as interruption:
            self.state = self.complete.state
            return self._finish("interrupted", interruption)

    def next_pass(self, epoch: int) -> StopReason | None:
        """Make one pass, or the rest of it; return why training ends with it, if it does."""
        visits = self._visits(epoch) if epoch <= self.plan.max_iter else None
        if visits is None:
            return "max_iter"
        for step in self._steps(epoch, visits):
            if self._note(step, visits):  # Ctrl-C within the last step of a pass leaves this pass complete
                stop_if_interrupted()
                if self.out_of_time():
                    return "max_time"
                self._keep()
        reason = self._end_pass(epoch, visits)
        if reason is None:
            self._keep()
        return reason

    def _keep(self) -> None:
        """Write a checkpoint if there are any: called between steps and between passes."""
        if self.keeper is not None:
            self.keeper(self)

    def note_complete(self, epoch: int) -> None:
        """Remember the state after a completed pass.

        Two buffers take turns, so that the last completed pass is whole at every moment, and so that millions of
        weights are not allocated anew each time.
        """
        if self.spare is None:
            buffer = self.state.copy()
        else:
            buffer = self.spare
            buffer.become(self.state)
        self.spare = self.complete.state if self.complete.passes else None
        self.complete = Complete(buffer, epoch)

    def validate(self, epoch: int) -> float | None:
        """Measure the pass on the rows held out, and remember the best."""
        if self.plan.held_out is None:
            return None
        error = self._held_out_error()
        self.validation_errors.append(error)
        if self.validation.improves(epoch, error):
            self.best = self.state.copy()
        return error

    def report(self, epoch: int, error: float | None) -> bool:
        """Call the callbacks; return whether one of them ends training."""
        if not self.plan.callbacks:
            return False
        compiling = seconds_compiling() - self._compiled
        report = self._report_of(epoch, error, time.perf_counter() - self.began - compiling)
        answers = [callback(report) for callback in self.plan.callbacks]
        return any(answers)

    def out_of_time(self) -> bool:
        """Whether the time allowed is over."""
        return self.plan.max_time is not None and time.perf_counter() - self.began >= self.plan.max_time


Verdict: TypeAlias = Literal["separable", "undecided"]

# The work allowed to a proof, in multiplications: about as many as take the time of the passes made. It is counted
# from the mistakes alone, so that a run that was cut short asks with the same work.
VISIT, MISTAKE, VALUE = 15.0, 200.0, 0.2  # for each visit, mistake, and value read
LEAST_WORK = 8e6  # more, in any case: thousandths of a second
LAST_WORK_SHARE = 0.5  # of the work of the passes, if it is asked again before training ends
HOPEFUL_PATIENCE_FACTOR = 10  # times the patience, once it is proved that training can succeed
UNDECIDED_PATIENCE_FACTOR = 20  # if that is not known: then only more passes can show it
HOPEFUL_WORK = 2e8  # and then in any case: tenths of a second, so that small sets go on until they are separated


def fit(batch: Batch, plan: Plan, start: State) -> PerceptronRun:
    """Train on `batch` from `start` until a stop of `plan`."""
    return PerceptronFit(Visitor(batch, plan, start.copy()), start).run()


class PerceptronFit(FitLoop[State, PerceptronRun, Any]):
    """One fit under way; learners whose weights do not belong to features change some steps.

    The state of the visitor is a copy of `start`, where training begins.
    """

    def __init__(self, visitor: Visitor, start: State, keeper: Keeper | None = None) -> None:
        plan = visitor.plan
        super().__init__(plan, start, visitor.state, plan.tol or 0.0, keeper)
        self.visitor = visitor
        self.recorder = Recorder(plan.trace, plan.most_mistakes)
        self.cycles: Cycles | None = None
        self.proof: Any | None = None
        brief = plan.patience is not None or plan.brief or plan.ask is not None
        self.plateau = Plateau(plan.patience or BRIEF_PATIENCE_PASSES) if brief else None
        self.trend = Trend()
        self.verdict: Verdict | None = None  # of the plan's question
        self.asked: int | None = None  # the pass after which it was asked first
        self.tolerance = None if plan.tol is None else Tolerance(plan.tol, plan.patience or 5)
        self.loss = 0.0  # of the pass under way
        self.stuck = 0
        self.plain = is_plain(plan.rule)
        # whether a rule or a callback uses the leads of mistakes
        self.needs_leads = not self.plain or self.tolerance is not None or bool(plan.callbacks)

    def _visits(self, epoch: int) -> Sized | None:
        visits: Sized | None = self.visitor.visits(epoch)
        return visits

    def _steps(self, epoch: int, visits: Any) -> Iterable[Stretch]:
        if len(self.recorder.visits_per_pass) < epoch:
            if epoch == 1:
                self._begin(visits)
            self.loss = 0.0
            self.recorder.begin_pass()
        return self.visitor.visit(visits, self.recorder.visits_per_pass[-1])

    def _begin(self, visits: Any) -> None:
        """Prepare what depends on the first visits."""
        self.visitor.require_usable(visits)
        if self.plan.start_at_first:
            self.visitor.begin_at(self.visitor.first(visits))
            self.start = self.best = self.state.copy()
            self.complete = Complete(self.start, 0)
        if self.plan.prove is not None:
            self.cycles = Cycles(self.plan.prove, self.state.w)

    def _note(self, step: Stretch, visits: Any) -> int:
        lead = self._lead(step)
        self.recorder.add(step, 0 if self.plain else int(np.count_nonzero(lead <= 0.0)))
        if self.cycles is not None:
            self.cycles.add(step)
        self._add_loss(lead)
        return 0 if self.visitor.settled else len(visits) - self.recorder.visits_per_pass[-1]

    def _lead(self, stretch: Stretch) -> Floats:
        """Return y f of each mistake, or the lead over its rival; empty if no rule or callback uses it."""
        if not self.needs_leads:
            return np.empty(0)
        codes = self.visitor.codes_of(stretch.rows)
        lead: Floats = self.plan.scheme.lead_of_mistakes(stretch.log.score, stretch.log.machine, codes)
        return lead

    def _add_loss(self, lead: Floats) -> None:
        """Add the loss of some mistakes, Σ max(0, −y f), or Σ max(0, margin − y f) by a rule of another kind.

        One after the other, so that the sum is the same wherever stretches begin and end.
        """
        short = 0.0 - lead if self.plain else self.plan.rule.margin - lead
        self.loss = float(np.cumsum(np.concatenate([[self.loss], np.maximum(0.0, short)]))[-1])

    def _keep(self) -> None:
        if self.keeper is not None:
            self.visitor.gather()
        super()._keep()

    def _end_pass(self, epoch: int, visits: Any) -> StopReason | None:
        if self.visitor.settled:
            return self._settle(epoch)
        self.note_complete(epoch)
        error = self.validate(epoch)
        told_to_end = self.report(epoch, error)
        mistakes = self.recorder.mistakes_per_pass[-1]
        if mistakes == 0:
            self.stuck = self._unseparated(visits)
            if self.stuck == 0:
                return "separated" if self.plain or self.plan.rule.margin == 0.0 else "margin"
            if self._at_rest(visits):
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
        if self.tolerance is not None and self.tolerance.ends(self.loss / len(visits)):
            return "tol"
        stalled = self.judge(epoch, mistakes)
        if self.out_of_time():
            return "max_time"
        return self._end_on_plateau() if stalled else None

    def judge(self, epoch: int, mistakes: int) -> bool:
        """Take note of the mistakes of a pass; say whether they no longer fall, as far as that matters.

        With a tolerance the loss decides alone, and with rows held out their error, as in scikit-learn.
        """
        read = self.visitor.data.stored + self.visitor.extra_values // epoch
        flat = self.trend.ends(mistakes, read if self.verdict is None else None)
        waited = self.plateau is not None and self.plateau.ends(epoch, mistakes)
        by_trend = self.plateau is None or (self.verdict == "undecided" and self.plan.patience is None)
        stalled = waited or (by_trend and flat)
        stalled = stalled and self.tolerance is None and self.plan.held_out is None
        if stalled and self.asked is None:
            self.asked = epoch
        return stalled

    def _end_on_plateau(self) -> StopReason | None:
        """End where mistakes no longer fall, but ask first whether training can succeed: if so, it gets longer.

        What was not decided is asked once more before the end, when more work is allowed.
        """
        if self.plan.ask is None:
            return "plateau"
        if self.verdict == "separable":
            hopeful = len(self.recorder.visits_per_pass) * self._most_work() < HOPEFUL_WORK
            return None if hopeful else "plateau"
        last, work = self.verdict == "undecided", LEAST_WORK + self._work(self.asked)
        if last and LAST_WORK_SHARE * self._work() < work:
            return "plateau"
        proof = self._ask(LAST_WORK_SHARE * self._work() if last else work)
        if proof is not None and proof.verdict == "inseparable":
            self.proof = proof
            return "inseparable"
        if proof is not None:
            self.proof = proof
            self.learn("separable")
            return None
        self.learn("undecided")
        return "plateau" if last or self.plan.patience is not None else None

    def _ask(self, work: float) -> Any:
        """Ask whether training can succeed; what was learned says which rows to look at first."""
        assert self.plan.ask is not None, "there is a question"
        model = self._last_model() if self.plan.scheme.kind in ("binary", "direct") else None
        return self.plan.ask(self.visitor.weight, work, model)

    def _proof_of(self, reason: StopReason) -> Any:
        """Return the proof to keep: that a hyperplane exists, only where training has not found one.

        It is asked for again where the run was cut short after it was found, because checkpoints do not keep it.
        """
        if self.verdict != "separable":
            return self.proof
        if reason in ("separated", "margin") or self.plan.scheme.kind not in ("binary", "direct"):
            return None
        return self._ask(LEAST_WORK + self._work()) if self.proof is None else self.proof

    def _most_work(self) -> float:
        """Return the most that the work of a pass can be; it is asked for after each of very many passes."""
        visits, machines = self.recorder.visits_per_pass[-1], len(self.state.machines)
        return float((VISIT + MISTAKE * machines) * visits + VALUE * machines * self.visitor.data.stored)

    def _work(self, passes: int | None = None) -> float:
        """Return the work of the first passes, or of all; the screen reads few values of one with few mistakes."""
        mistakes, visits = (
            np.array(counts[:passes])
            for counts in (self.recorder.mistakes_per_pass, self.recorder.visits_per_pass)
        )
        values = (
            len(self.state.machines) * self.visitor.data.stored * np.minimum(1.0, mistakes / visits / MISTAKE_RATE)
        )
        return float((VISIT * visits + MISTAKE * mistakes + VALUE * values).sum())

    def learn(self, verdict: Verdict) -> None:
        """Take note of the answer to the plan's question."""
        self.verdict = verdict
        if verdict == "separable":
            patience = HOPEFUL_PATIENCE_FACTOR * (self.plan.patience or BRIEF_PATIENCE_PASSES)
            old = Plateau() if self.plateau is None else self.plateau
            self.plateau = Plateau(patience, old.mark, old.mark_epoch)
        elif self.plan.patience is None:  # the trend decides, or a long plateau
            old = Plateau() if self.plateau is None else self.plateau
            patience = UNDECIDED_PATIENCE_FACTOR * BRIEF_PATIENCE_PASSES
            self.plateau = Plateau(patience, old.mark, old.mark_epoch)

    def _settle(self, epoch: int) -> StopReason:
        """End with a pass that may be cut short, because nothing is left to learn."""
        if self.recorder.visits_per_pass[-1]:
            self.note_complete(epoch)
            self.report(epoch, None)
        else:
            self.recorder.keep(epoch - 1)  # the start was right: there was no pass
        return "separated"

    def _report_of(self, epoch: int, error: float | None, seconds: float) -> PassReport:
        mistakes, visits = self.recorder.mistakes_per_pass[-1], self.recorder.visits_per_pass[-1]
        return PassReport(epoch, mistakes, visits, self.loss / visits, error, seconds, self.model())

    def _held_out_error(self) -> float:
        return self.visitor.validation_error(self.model())

    def _unseparated(self, visits: Any) -> int:
        """Count the rows that are not right, after a pass without a mistake.

        Such a pass leaves none if it visited every row, unless the rule allows ties that prediction counts as
        wrong, a label is chosen by the sums of several machines, each of which was right, or weights have shrunk
        since.
        """
        if self._proves(visits):
            return 0
        return sum(
            int(np.count_nonzero(wrong_rows(batch, self._last_scores(batch), self.plan) & (weight != 0.0)))
            for batch, weight in self.visitor.parts()
        )

    def _proves(self, visits: Any) -> bool:
        """Whether a pass without a mistake leaves no row that is not right."""
        rule, scheme = self.plan.rule, self.plan.scheme
        lenient = rule.tie_plus == rule.tie_minus == margin_of(rule, 1) * margin_of(rule, -1) == 0.0
        return self.visitor.covers(visits) and not lenient and scheme.kind != "ovo" and self.plan.penalty is None

    def _at_rest(self, visits: Any) -> bool:
        """Whether, after a pass without a mistake, no visit will ever move the weights again."""
        return self.plan.penalty is None and (self.plan.order.settles or self.visitor.covers(visits))

    def _last_scores(self, batch: Batch) -> Floats:
        """Return the scores of rows by the last hypothesis."""
        return self._last_model().scores(batch)

    def _last_model(self) -> LinearModel:
        """Return the last hypothesis, which need not be the one that predicts."""
        return LinearModel(self.state.last(), *self._labelled(), self.state.met)

    def model(self) -> Model:
        """Return the hypothesis of this moment."""
        return LinearModel(self.state.hypothesis(), *self._labelled(), self.state.met)

    def _labelled(self) -> tuple[Any, NDArray[Any], int]:
        return self.plan.scheme, self.visitor.data.classes, self.plan.zero

    def _finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> PerceptronRun:
        self.visitor.gather()  # time may be over within a pass
        if interruption is not None:
            self.recorder.keep(self.complete.passes)
        counts, visits = self.recorder.mistakes_per_pass, self.recorder.visits_per_pass
        state, passes = self.state, len(counts)
        if self.validation.best_epoch and interruption is None:
            state, passes = self.best, self.validation.best_epoch
        if not np.isfinite(state.hypothesis()).all():
            raise overflow_error(state.visits)
        measured = None if self.plan.held_out is None else np.array(self.validation_errors)
        shown = len(counts) if measured is None else len(measured)  # Ctrl-C may come before a pass is measured
        return PerceptronRun(
            state=state,
            stop_reason=reason,
            converged=reason in ("separated", "margin") and passes == len(counts),
            mistakes_per_pass=list(counts),
            wrong_per_pass=list(self.recorder.wrong_per_pass),
            trace=self.trace(passes),
            curve=Curve((np.array(counts) / np.maximum(visits, 1))[:shown], measured),
            stuck=self.stuck,
            interruption=interruption,
            proof=None if interruption is not None else self._proof_of(reason),
            separable=self.verdict == "separable",
            undecided=self.verdict == "undecided",
        )

    def trace(self, passes: int) -> Trace:
        """Return the record of the first passes."""
        plan, recorder, data = self.plan, self.recorder, self.visitor.data
        return Trace(
            mistakes=recorder.mistakes(passes),
            mistakes_per_pass=np.array(recorder.mistakes_per_pass[:passes], np.int64),
            visits_per_pass=np.array(recorder.visits_per_pass[:passes], np.int64),
            start=self.start.copy(),
            n_rows=data.n_rows,
            n_features=data.n_features,
            scheme=plan.scheme,
            penalty=plan.penalty,
            classes=data.classes,
            bias=plan.rule.beta,
            radius=plan.radius,
            zero=plan.zero,
            cut=recorder.cut,
        )


def wrong_rows(batch: Batch, scores: Floats, plan: Plan) -> NDArray[np.bool_]:
    """Return which rows are not right: a visit would correct them, or prediction gets them wrong."""
    rule, scheme, codes = plan.rule, plan.scheme, batch.codes
    lead, positive = scheme.leads(scores, codes, plan.zero)
    tie_counts = np.where(positive, rule.tie_plus, rule.tie_minus) > 0.0
    margin = margin_of(rule, np.where(positive, 1, -1))
    wrong = ((lead < margin) | ((lead == margin) & tie_counts)).any(axis=1)
    return np.asarray(wrong | (scheme.choose(scheme.decision(scores), plan.zero) != codes))
