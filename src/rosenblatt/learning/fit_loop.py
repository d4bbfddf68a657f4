"""The skeleton of every fit: passes, the last complete one, validation, callbacks, time and Ctrl-C."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sized
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from rosenblatt.loops.compilation import seconds_compiling
from rosenblatt.stopping import StopReason, Validation, stop_if_interrupted


class Carried(Protocol):
    """What training carries from step to step."""

    def copy(self) -> Self:
        """Return an independent state."""

    def become(self, other: Any) -> None:
        """Take over the values of another state."""


S = TypeVar("S", bound=Carried)
R = TypeVar("R")
V = TypeVar("V", bound=Sized)


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
    """

    def __init__(self, plan: Any, start: S, state: S, tol: float = 0.0) -> None:
        self.plan, self.start, self.state = plan, start, state
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
        """Write a checkpoint, where there are any: called between steps and between passes."""

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
