"""Training on sequences: passes over sentences, until all are labelled correctly or a limit is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.learning.fit_loop import Complete, FitLoop
from rosenblatt.learning.plan import Callback, PassReport, Predicts
from rosenblatt.loops.order import Visits, seed_of_pass, shuffle
from rosenblatt.sequences.beam import beam_work_for, visit_by_beam
from rosenblatt.sequences.loop import MistakeLog, visit_sentences, work_for
from rosenblatt.sequences.sentences import SequenceRows
from rosenblatt.sequences.tagger_model import SequenceState
from rosenblatt.sequences.tagger_trace import SequenceTrace, replay_updates
from rosenblatt.stopping import StopReason
from rosenblatt.typing import Floats, Ints

UPDATES = ("early", "max", "full")
"""By the numbers that `visit_by_beam` takes."""
SENTENCES_AT_ONCE = 1024
"""The number of sentences between two looks for Ctrl-C."""


@dataclass(frozen=True)
class SequencePlan:
    """How to train.

    Attributes
    ----------
    max_iter : int
        The most passes.
    margin : float
        What every wrong label scores more while training.
    ties_are_mistakes : bool
        Whether a rival with the same score as the truth is a mistake.
    seed : int or None
        Of the order of visits; None visits sentences as they are stored.
    beam : int or None
        The number of prefixes that search keeps; None searches exactly.
    order : int
        How many labels before a token are features of its label.
    update : {"early", "max", "full"}
        Where an update ends if there is a beam.
    max_time : float or None
        The most seconds.
    callbacks : sequence of callables
        Called after each pass; training ends if one returns True.
    """

    max_iter: int
    margin: float = 0.0
    ties_are_mistakes: bool = False
    seed: int | None = None
    beam: int | None = None
    order: int = 1
    update: str = "max"
    max_time: float | None = None
    callbacks: Sequence[Callback] = ()
    patience: None = None
    held_out: None = None


@dataclass
class SequenceRun:
    """A run that has ended.

    Attributes
    ----------
    state : SequenceState
        The state after the last visit, or after the last completed pass if Ctrl-C ended the run.
    log : MistakeLog
        Every mistake.
    mistakes_per_pass, visits_per_pass : list of int
        For each completed pass.
    stop_reason : str
        Why it ended.
    interruption : KeyboardInterrupt or None
        The Ctrl-C that ended it.
    """

    state: SequenceState
    log: MistakeLog
    mistakes_per_pass: list[int] = field(default_factory=list)
    visits_per_pass: list[int] = field(default_factory=list)
    stop_reason: StopReason = "max_iter"
    interruption: KeyboardInterrupt | None = None

    def trace(self, pairs: Floats, classes: NDArray[Any], vocabulary: Any, n_sentences: int) -> SequenceTrace:
        """Return the record of the run."""
        mistakes, visits = np.array(self.mistakes_per_pass, np.int64), np.array(self.visits_per_pass, np.int64)
        average = self.state.u is not None
        return SequenceTrace(self.log, mistakes, visits, n_sentences, average, pairs, classes, vocabulary)


class SequenceFit(FitLoop[SequenceState, SequenceRun, Visits]):
    """One fit under way, from a state of zeros, which is changed.

    The last completed pass is not copied, because weights may be many: after Ctrl-C it is made again from the
    mistakes.
    """

    def __init__(
        self,
        rows: SequenceRows,
        codes: Ints,
        steps: Floats,
        state: SequenceState,
        last: Floats,
        plan: SequencePlan,
        model: Callable[[SequenceState], Predicts],
    ) -> None:
        pairs = np.where(np.isneginf(state.t), state.t, 0.0)
        zero = SequenceState.zero(len(state.w), pairs, average=state.u is not None)
        super().__init__(plan, zero, state)
        self.rows, self.codes, self.steps, self.last = rows, codes, steps, last
        self.sentences = np.flatnonzero(np.diff(rows.starts)).astype(np.uint64)
        self.model = model
        self.made: list[MistakeLog] = []
        self.mistakes_per_pass: list[int] = []
        self.visits_per_pass: list[int] = []

    def _visits(self, epoch: int) -> Visits:
        return _order(self.sentences, self.plan.seed, epoch)

    def _steps(self, epoch: int, visits: Visits) -> Iterator[tuple[MistakeLog, int]]:
        self.mistakes_per_pass.append(0)
        self.visits_per_pass.append(0)
        for first in range(0, len(visits), SENTENCES_AT_ONCE):
            part = visits[first : first + SENTENCES_AT_ONCE]
            log = learn(self.rows, self.codes, self.steps, self.state, self.last, part, self.plan)
            yield log, len(part)

    def _note(self, step: tuple[MistakeLog, int], visits: Visits) -> int:
        log, made = step
        self.made.append(log)
        self.mistakes_per_pass[-1] += len(log.visit)
        self.visits_per_pass[-1] += made
        return len(visits) - self.visits_per_pass[-1]

    def _end_pass(self, epoch: int, visits: Visits) -> StopReason | None:
        self.note_complete(epoch)
        told_to_end = self.report(epoch, None)
        if self.mistakes_per_pass[-1] == 0:
            return "separated"
        if told_to_end:
            return "interrupted"
        return "max_time" if self.out_of_time() else None

    def note_complete(self, epoch: int) -> None:
        """Count a completed pass."""
        self.complete = Complete(self.start, epoch)

    def _held_out_error(self) -> float:
        raise AssertionError("no sentences are held out")

    def _report_of(self, epoch: int, error: float | None, seconds: float) -> PassReport:
        mistakes, visits = self.mistakes_per_pass[-1], self.visits_per_pass[-1]
        model = self.model(self.state.copy())
        return PassReport(epoch, mistakes, visits, mistakes / visits, error, seconds, model)

    def _finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> SequenceRun:
        log, passes = join_logs(self.made), self.complete.passes
        if interruption is not None:
            del self.mistakes_per_pass[passes:], self.visits_per_pass[passes:]
            log = _first(log, sum(self.mistakes_per_pass))
            self.state = replay_updates(
                self.rows, self.codes, self.steps, log, len(log.visit), self.start, sum(self.visits_per_pass)
            )
        return SequenceRun(self.state, log, self.mistakes_per_pass, self.visits_per_pass, reason, interruption)


def learn(
    rows: SequenceRows,
    codes: Ints,
    steps: Floats,
    state: SequenceState,
    last: Floats,
    visits: Visits,
    plan: SequencePlan,
) -> MistakeLog:
    """Visit some sentences, change the state, and return the mistakes."""
    lengths = np.diff(rows.starts)[visits]
    n, n_tokens = len(visits), int(lengths.sum())
    log = MistakeLog(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty(n_tokens, np.int64),
        np.empty(n_tokens, np.int64),
    )
    longest, n_labels = int(lengths.max(initial=1)), state.t.shape[1]
    if plan.beam is None and plan.order == 1:
        mistakes, done = visit_sentences(
            rows.indices, rows.data, rows.indptr, rows.starts, codes, steps, visits, state.w, state.u, state.t,
            state.tu, last, state.visits, plan.margin, plan.ties_are_mistakes, work_for(longest, n_labels), log,
        )  # fmt: skip
    else:
        mistakes, done = visit_by_beam(
            rows.indices, rows.data, rows.indptr, rows.starts, codes, steps, visits, state.w, state.u, state.t,
            state.tu, last, state.visits, plan.margin, UPDATES.index(plan.update),
            beam_work_for(longest, n_labels, plan.beam, plan.order), log,
        )  # fmt: skip
    state.visits += done
    if done < n:
        raise TrainingOverflowError(
            f"X[{visits[done]}] has no labelling with a finite score: weights or values are too large for floats. "
            "Scale the values of features."
        )
    return _first(log, mistakes)


def join_logs(logs: list[MistakeLog]) -> MistakeLog:
    """Return the mistakes of several logs as one."""
    before = np.cumsum([0, *(len(each.wrong_at) for each in logs)])
    moved = [each._replace(stop=each.stop + first) for each, first in zip(logs, before[:-1], strict=True)]
    empty = np.empty(0, np.int64)
    columns = [empty, empty, np.empty(0), empty, empty, empty]
    if moved:
        columns = [np.concatenate(each) for each in zip(*moved, strict=True)]
    return MistakeLog._make(columns)


def _first(log: MistakeLog, n: int) -> MistakeLog:
    """Return copies of the first mistakes of a log."""
    n_wrong = int(log.stop[n - 1]) if n else 0
    lengths = (n, n, n, n, n_wrong, n_wrong)
    return MistakeLog._make(each[:length].copy() for each, length in zip(log, lengths, strict=True))


def _order(sentences: Visits, seed: int | None, epoch: int) -> Visits:
    visits = sentences.copy()
    if seed is not None:
        shuffle(visits, np.uint64(seed_of_pass(np.uint64(seed), np.uint64(epoch))))
    return visits
