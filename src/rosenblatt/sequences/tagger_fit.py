"""Training on sequences: passes over sentences, until all are labelled correctly or a limit is reached.

A run can be made again from its mistakes alone, so that these are all that a checkpoint holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import Count, Record, require, same_length
from rosenblatt.exceptions import ModelFileError, TrainingOverflowError
from rosenblatt.learning.checkpoint import COUNTS, SECONDS, Checkpoint, Saved
from rosenblatt.learning.fit_loop import Complete, FitLoop, Keeper
from rosenblatt.learning.plan import Callback, PassReport, Predicts
from rosenblatt.loops.order import Visits, seed_of_pass, shuffle
from rosenblatt.sequences.beam import beam_work_for, visit_by_beam
from rosenblatt.sequences.loop import MistakeLog, visit_sentences, work_for
from rosenblatt.sequences.sentences import SequenceRows
from rosenblatt.sequences.tagger_file import LOG
from rosenblatt.sequences.tagger_model import SequenceState
from rosenblatt.sequences.tagger_trace import SequenceTrace, fault_of, replay_updates
from rosenblatt.stopping import StopReason
from rosenblatt.typing import Floats, Ints

UPDATES = ("early", "max", "full")
"""By the numbers that `visit_by_beam` takes."""
SENTENCES_AT_ONCE = 1024
"""The number of sentences between two looks for Ctrl-C."""
REPLAYED_TOKENS = 1 << 18
"""The wrong tokens of passes that may have to be replayed after Ctrl-C, before the state is copied: a blink."""
WEIGHTS_A_TOKEN = 16
"""With many weights, copying the state takes as long as replaying one wrong token for so many of them."""


@dataclass(frozen=True)
class SequencePlan:
    """How to train."""

    max_iter: int  # the most passes
    margin: float = 0.0  # what every wrong label scores more while training
    ties_are_mistakes: bool = False  # whether a rival with the same score as the truth is a mistake
    seed: int | None = None  # of the order of visits; None visits sentences as they are stored
    beam: int | None = None  # the number of prefixes that search keeps; None searches exactly
    order: int = 1  # how many labels before a token are features of its label
    update: str = "max"  # where an update ends if there is a beam
    max_time: float | None = None  # the most seconds
    callbacks: Sequence[Callback] = ()  # called after each pass; training ends if one returns True
    patience: None = None
    held_out: None = None


@dataclass
class SequenceRun:
    """A run that has ended."""

    # the state after the last visit, or after the last completed pass if Ctrl-C ended the run
    state: SequenceState
    log: MistakeLog  # every mistake
    # mistakes_per_pass, visits_per_pass: for each completed pass
    mistakes_per_pass: list[int] = field(default_factory=list)
    visits_per_pass: list[int] = field(default_factory=list)
    stop_reason: StopReason = "max_iter"  # why it ended
    interruption: KeyboardInterrupt | None = None  # the Ctrl-C that ended it

    def trace(self, pairs: Floats, classes: NDArray[Any], vocabulary: Any, n_sentences: int) -> SequenceTrace:
        """Return the record of the run."""
        mistakes, visits = np.array(self.mistakes_per_pass, np.int64), np.array(self.visits_per_pass, np.int64)
        average = self.state.u is not None
        return SequenceTrace(self.log, mistakes, visits, n_sentences, average, pairs, classes, vocabulary)


class SequenceFit(FitLoop[SequenceState, SequenceRun, Visits]):
    """One fit under way, from a state of zeros, which is changed.

    Not every completed pass is copied, because weights may be many: after Ctrl-C the last one is made again from
    the mistakes since the last copy.
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
        keeper: Keeper | None = None,
    ) -> None:
        pairs = np.where(np.isneginf(state.t), state.t, 0.0)
        zero = SequenceState.zero(len(state.w), pairs, average=state.u is not None)
        super().__init__(plan, zero, state, keeper=keeper)
        self.rows, self.codes, self.steps, self.last = rows, codes, steps, last
        self.sentences = np.flatnonzero(np.diff(rows.starts)).astype(np.uint64)
        self.model = model
        self.log = GrowingLog()
        self.mistakes_per_pass: list[int] = []
        self.visits_per_pass: list[int] = []
        self._since_copy = 0  # wrong tokens

    def _visits(self, epoch: int) -> Visits:
        visits = self.sentences.copy()
        if self.plan.seed is not None:
            shuffle(visits, np.uint64(seed_of_pass(np.uint64(self.plan.seed), np.uint64(epoch))))
        return visits

    def _steps(self, epoch: int, visits: Visits) -> Iterator[tuple[MistakeLog, int]]:
        if len(self.visits_per_pass) < epoch:
            self.mistakes_per_pass.append(0)
            self.visits_per_pass.append(0)
        for first in range(self.visits_per_pass[-1], len(visits), SENTENCES_AT_ONCE):
            part = visits[first : first + SENTENCES_AT_ONCE]
            log = learn(self.rows, self.codes, self.steps, self.state, self.last, part, self.plan)
            yield log, len(part)

    def _note(self, step: tuple[MistakeLog, int], visits: Visits) -> int:
        log, made = step
        self.log.add(log)
        self._since_copy += len(log.wrong_at)
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
        """Count a completed pass; copy its state if making it again would take longer than that."""
        copied = self._since_copy >= max(REPLAYED_TOKENS, self.state.w.size // WEIGHTS_A_TOKEN)
        self.complete = Complete(self.state.copy() if copied else self.complete.state, epoch)
        if copied:
            self._since_copy = 0

    def go_on(self, saved: Saved) -> None:
        """Go on from a checkpoint of a fit with the same plan and data, before the first pass."""
        kept, n_visits = saved.snapshot, len(self.sentences)
        log, whole = kept.log, kept.visits_per_pass[: kept.passes]
        fault = fault_of(log, self.rows, self.state.t.shape[1])
        if any(visits != n_visits for visits in whole) or sum(kept.visits_per_pass[kept.passes :]) >= n_visits:
            fault = "a pass has other visits"
        if fault is not None:
            raise ModelFileError(f"The checkpoint is not of this fit: {fault}. Remove it, and train again.")
        self.log.add(log)
        self._since_copy = len(log.wrong_at)
        self.mistakes_per_pass, self.visits_per_pass = kept.mistakes_per_pass, kept.visits_per_pass
        visits = sum(kept.visits_per_pass)
        replay_updates(self.rows, self.codes, self.steps, log, len(log.visit), self.state, visits)
        self.complete = Complete(self.start, kept.passes)
        self.began = time.perf_counter() - kept.seconds

    def _held_out_error(self) -> float:
        raise AssertionError("no sentences are held out")

    def _report_of(self, epoch: int, error: float | None, seconds: float) -> PassReport:
        mistakes, visits = self.mistakes_per_pass[-1], self.visits_per_pass[-1]
        model = self.model(self.state.copy())
        return PassReport(epoch, mistakes, visits, mistakes / visits, error, seconds, model)

    def _finish(self, reason: StopReason, interruption: KeyboardInterrupt | None = None) -> SequenceRun:
        if interruption is not None:
            del self.mistakes_per_pass[self.complete.passes :], self.visits_per_pass[self.complete.passes :]
        log = self.log.first(sum(self.mistakes_per_pass))
        if interruption is not None:
            first, visits = int(np.searchsorted(log.visit, self.state.visits)), sum(self.visits_per_pass)
            replay_updates(self.rows, self.codes, self.steps, log, len(log.visit), self.state, visits, first)
        return SequenceRun(self.state, log, self.mistakes_per_pass, self.visits_per_pass, reason, interruption)


def _sound(kept: Any) -> None:
    under_way = len(kept.visits_per_pass) - kept.passes
    require(same_length(kept.mistakes_per_pass, kept.visits_per_pass), "counts are of different numbers of passes")
    require(under_way in (0, 1), "the passes are not those that were counted")
    require(sum(kept.mistakes_per_pass) == len(kept.log.visit), "mistakes are not those that were counted")
    ends = np.cumsum([0, *kept.visits_per_pass])
    firsts, stops = (np.repeat(each, kept.mistakes_per_pass) for each in (ends[:-1], ends[1:]))
    visit = kept.log.visit
    require(((visit >= firsts) & (visit < stops)).all(), "mistakes are of other passes")
    require((np.diff(visit) > 0).all(), "mistakes are not in order")


class SequenceCheckpoint(Checkpoint):
    """The checkpoints of a fit on sequences."""

    snapshot = Record(
        SimpleNamespace,
        {
            "log": LOG,
            "passes": Count(),
            "mistakes_per_pass": COUNTS,
            "visits_per_pass": COUNTS,
            "seconds": SECONDS,
        },
        check=_sound,
    )

    def _visits_per_pass(self, loop: SequenceFit) -> list[int]:
        return loop.visits_per_pass

    def _parts(self, loop: SequenceFit) -> dict[str, Any]:
        return {
            "log": loop.log.first(sum(loop.mistakes_per_pass)),
            "passes": loop.complete.passes,
            "mistakes_per_pass": loop.mistakes_per_pass,
            "visits_per_pass": loop.visits_per_pass,
            "seconds": time.perf_counter() - loop.began,
        }


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
    log = MistakeLog.room(n, n_tokens)
    longest, n_labels = int(lengths.max(initial=1)), state.t.shape[1]
    if plan.beam is None and plan.order == 1:
        mistakes, done = visit_sentences(
            *rows, codes, steps, visits, state.w, state.u, state.t, state.tu, last, state.visits, plan.margin,
            plan.ties_are_mistakes, work_for(longest, n_labels), log,
        )  # fmt: skip
    else:
        mistakes, done = visit_by_beam(
            *rows, codes, steps, visits, state.w, state.u, state.t, state.tu, last, state.visits, plan.margin,
            UPDATES.index(plan.update), beam_work_for(longest, n_labels, plan.beam, plan.order), log,
        )  # fmt: skip
    state.visits += done
    if done < n:
        raise TrainingOverflowError(
            f"X[{visits[done]}] has no labelling with a finite score: weights or values are too large for floats. "
            "Scale the values of features."
        )
    return log.first(mistakes).copy()


class GrowingLog:
    """The mistakes of a run, in arrays that have room for more: nothing is left to be joined when it ends."""

    def __init__(self) -> None:
        self._room = MistakeLog.room(0, 0)
        self._lengths = 0, 0

    def add(self, log: MistakeLog) -> None:
        """Add the mistakes of some visits."""
        mistakes, wrong = self._lengths
        ends = mistakes + len(log.visit), wrong + len(log.wrong_at)
        log, grown = log._replace(stop=log.stop + wrong), []
        for room, new, end in zip(self._room, log, (*(ends[0],) * 4, *(ends[1],) * 2), strict=True):
            grown.append(_with_room(room, end))
            grown[-1][end - len(new) : end] = new
        self._room, self._lengths = MistakeLog._make(grown), ends

    def first(self, n: int) -> MistakeLog:
        """Return the first mistakes, without a copy."""
        return self._room.first(n)


def _with_room(array: NDArray[Any], wanted: int) -> NDArray[Any]:
    """Return an array, or if it is too short one of twice the length that begins with it."""
    if len(array) >= wanted:
        return array
    longer = np.empty(max(wanted, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer
