"""One copy of a learner, and the stream that folds events into it.

Folding is the stream's own update: rows learned here, by `learn_one` and by `partial_fit` leave the same bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from rosenblatt.exceptions import InputError, PredictionOverflowError, TrainingOverflowError
from rosenblatt.kernels.kernel_file import KERNEL_STATE
from rosenblatt.kernels.kernel_state import KernelState
from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.state import State
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.loops.rules import is_plain
from rosenblatt.rows.features import Features
from rosenblatt.rows.reals import read_only
from rosenblatt.schema.codecs import Context
from rosenblatt.server.events import INDEX, LearnEvent, join_events
from rosenblatt.typing import Floats

__all__ = ["FoldOutcome", "Replica"]

FEW_ROWS, LARGE_WEIGHT_COUNT = 8, 1 << 16
"""Rows scored one by one, and weights of which no copy is made for a few rows."""
OVERFLOWS = (TrainingOverflowError, InputError)


@dataclass
class FoldOutcome:
    """What became of the rows of one event."""

    rows: int = 0
    mistakes: int = 0
    right: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


class Replica:
    """A learner whose stream goes on in place.

    Parameters
    ----------
    learner : OnlineLearning
        A trained learner that nobody else uses.
    version : int
        The number of the last event in it.
    """

    def __init__(self, learner: Any, version: int) -> None:
        self.learner, self.version = learner, version
        self.readers: list[None] = []  # one entry for each prediction under way
        self._linear: LinearModel | None = None
        stream = learner._stream_for(learner._width, None)
        self._follow(stream, learner._width)

    def _follow(self, stream: Any, width: int) -> None:
        self.stream = stream
        self.learner._follow(stream, width, None)

    def copy(self) -> Replica:
        """Return a replica that shares nothing that learning changes."""
        learner = copy(self.learner)
        learner._stream = self.stream.fork()
        learner._state = learner._stream.state
        vocabulary = learner.__dict__.get("_vocabulary")
        if vocabulary is not None:
            learner._vocabulary = vocabulary.copy()
        return Replica(learner, self.version)

    # Prediction

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return list(self.learner._classes.tolist())

    def decide(self, features: Features) -> tuple[list[Any], list[Any]]:
        """Return the label and the score, or the scores, of each row."""
        learner, state = self.learner, self.learner._state
        scheme, zero = learner._scheme, learner._zero
        if features.n_rows <= FEW_ROWS and not isinstance(state, KernelState):
            scores = np.array([self._score(row) for row in _each(features)])
        else:
            scores = self._model().decision(features)
        labels = learner._classes[scheme.choose(scores, zero)]
        return labels.tolist(), scores.tolist()

    def _model(self) -> Any:
        if isinstance(self.learner._state, KernelState):
            return self.learner._model()
        if self._linear is None:
            model = self.learner._model()
            if model.weights.size > LARGE_WEIGHT_COUNT:
                return model
            self._linear = model
        return self._linear

    def _score(self, row: Rows) -> Any:
        """Return the score of one row, at the cost of its own features."""
        from rosenblatt.loops.passes import score_row

        state = self.learner._state
        if state.w.ndim == 1 and state.u is None and state.shrunk is None and state.met is None:
            f = score_row(row, state.w)
            if f - f == 0.0:
                return f
        if isinstance(row, CSR) or state.w.size > LARGE_WEIGHT_COUNT:
            return self.learner._score_of_row(row, state)
        return self._model().decision(Features(row, 1, row.shape[1]))[0]

    # Learning

    def expect(self, events: Sequence[LearnEvent]) -> None:
        """Give weights to all features of events at once, where only features met have some."""
        state = self.learner._state
        if len(events) > 1 and isinstance(state, State) and state.met is not None:
            packed = [event.rows for event in events]
            if all(rows.indices is not None and rows.n_features <= state.n_features for rows in packed):
                state.meet(join_events([rows.features() for rows in packed]).rows)

    def fold(self, event: LearnEvent, *, judged: bool = True) -> FoldOutcome:
        """Learn the rows of an event one by one; a row whose score overflows is left out.

        Only where the outcome is `judged` are rows predicted before they are learned.
        """
        features = event.rows.features()
        self._make_room(features.n_features, event.names)
        stream, outcome = self.stream, FoldOutcome(features.n_rows)
        before = stream.mistakes
        for number, row in enumerate(_each(features)):
            label = event.labels[number]
            self._meet(label)
            weight = 1.0 if event.weights is None else event.weights[number]
            if judged:
                with suppress(PredictionOverflowError):
                    outcome.right += bool(self._guess(row) == label)
            try:
                stream.learn_row(row, stream.target(label, weight))
            except OVERFLOWS as error:
                outcome.refused.append((number, str(error)))
            self._linear = None
        outcome.mistakes = stream.mistakes - before
        return outcome

    def fold_all(self, events: Sequence[LearnEvent]) -> None:
        """Learn the rows of events at once: the same bits in less time."""
        for event in events:
            self._make_room(event.rows.n_features, event.names)
        events = [event for event in events if event.rows.n_rows]  # rows may have been erased
        if not events:
            return
        parts = [event.rows.features() for event in events]
        labels = [label for event in events for label in event.labels]
        known = list(dict.fromkeys(labels))
        numbers = {label: code for code, label in enumerate(known)}
        codes = np.array([numbers[label] for label in labels])
        weight = None
        if any(event.weights is not None for event in events):
            each = (event.weights or [1.0] * event.rows.n_rows for event in events)
            weight = np.array([value for some in each for value in some])
        kept, self._linear = self.stream.fork(), None
        grows, self.stream.grows = self.stream.grows, True
        try:
            self.stream.learn_rows(join_events(parts), codes, known, weight)
        except OVERFLOWS:
            kept.grows = grows
            self._follow(kept, self.learner._width)
            for event in events:
                self.fold(event, judged=False)
            return
        self.stream.grows = grows
        self._follow(self.stream, self.learner._width)

    def _make_room(self, width: int, names: Sequence[str]) -> None:
        if names:
            self.learner._vocabulary.add(names)
        if width > self.learner._width:
            self.stream.make_room(width)
            self._follow(self.stream, width)

    def _meet(self, label: Any) -> None:
        """Make a label a class: whether it may be one was decided when the event was accepted."""
        stream = self.stream
        if not stream.knows(label):
            grows, stream.grows = stream.grows, True
            stream.meet(label)
            stream.grows = grows
            self._follow(stream, self.learner._width)

    def _guess(self, row: Rows) -> Any:
        learner = self.learner
        if isinstance(learner._state, KernelState):
            score = learner._model().decision(Features(row, 1, learner._width))[0]
        else:
            score = self._score(row)
        if np.ndim(score) == 0:
            positive = score >= 0.0 if learner._zero > 0 else score > 0.0
            return learner._classes[-1 if positive else 0]
        return learner._classes[learner._scheme.choose(np.asarray(score)[None], learner._zero)[0]]

    # Digest

    def digest(self) -> bytes:
        """Return a hash of all that predictions and learning depend on, however it lies in memory."""
        state, stream = self.learner._state, self.stream
        found = hashlib.blake2b(digest_size=16)
        labels = [(type(label).__name__, label) for label in self.classes]
        wrong = None if is_plain(stream.rule) else stream.wrong  # plain rules do not always count these
        told = (labels, self.learner._width, state.visits, stream.mistakes, stream.seen, wrong)
        found.update(repr(told).encode())
        if isinstance(state, KernelState):
            context = Context()
            found.update(repr(KERNEL_STATE.encode(_trimmed(state), "state", context)).encode())
            for name in sorted(context.tensors):
                found.update(np.ascontiguousarray(context.tensors[name]).data)
            return found.digest()
        width = self.learner._width
        if state.n_features != width:
            state = state.narrowed(width)
        arrays = [state.w, state.u]
        arrays += [array for memory in state.memory.values() for array in memory.moved]
        columns = None if state.met is None else state.met.columns
        for array in arrays:
            if array is not None:
                _hash_weights(found, array, columns)
        for memory in state.memory.values():
            for array in memory.shared:
                found.update(array.tobytes())
        return found.digest()


def _hash_weights(found: Any, array: Any, columns: Any) -> None:
    """Hash the features with weights whose bits are not all zero, feature by feature, and the bias."""
    bits = np.atleast_2d(array).view(np.int64).T  # in memory feature by feature for sparse rows
    kept = bits[:-1].any(axis=1)
    numbers = np.flatnonzero(kept) if columns is None else columns[kept]
    found.update(np.ascontiguousarray(numbers, np.int64).data)
    found.update(np.ascontiguousarray(bits[:-1] if kept.all() else bits[:-1][kept]).data)
    found.update(np.ascontiguousarray(bits[-1]).data)


def _trimmed(state: KernelState) -> KernelState:
    """Return a kernel state without room for later rows."""
    n = state.support.count

    def cut(w: Floats) -> Floats:
        return w[..., np.r_[0:n, -1]]

    return state._each(cut)


def _each(features: Features) -> list[Rows]:
    """Return the rows one by one, each alone in its arrays, of the types that the loops are compiled for."""
    rows = features.rows
    if features.n_rows == 1 and (not isinstance(rows, CSR) or not rows.indptr[0]):
        return [rows]
    if not isinstance(rows, CSR):
        return [rows[i : i + 1] for i in range(features.n_rows)]
    ends = rows.indptr.tolist()
    return [
        CSR(rows.data[first:last], rows.indices[first:last], read_only(np.array([0, last - first], INDEX)))
        for first, last in pairwise(ends)
    ]
