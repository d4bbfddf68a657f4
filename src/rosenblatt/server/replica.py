"""One copy of a learner, and the stream that folds events into it.

Folding is the stream's own update: rows learned here, by `learn_one` and by `partial_fit` leave the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.exceptions import InputError, PredictionOverflowError, TrainingOverflowError
from rosenblatt.learning.online import OnlineModel
from rosenblatt.models.files import StoredModel
from rosenblatt.rows.features import Features
from rosenblatt.server.events import LearnEvent, join_events

OVERFLOWS = (TrainingOverflowError, InputError)


@dataclass
class FoldOutcome:
    """What became of the rows of one event."""

    rows: int = 0
    mistakes: int = 0
    right: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


class Replica:
    """A trained learner that nobody else uses, whose online model goes on in place."""

    def __init__(self, learner: Any, version: int, online: OnlineModel | None = None) -> None:
        self.learner, self.version = learner, version
        self.readers: list[None] = []  # one entry for each prediction under way
        self.online: OnlineModel = learner.online_model() if online is None else online
        self._publish()

    @classmethod
    def of(cls, stored: StoredModel, learner: Any, version: int) -> Replica:
        """Return the replica of a model file; an online scaler before the learner goes on with it."""
        replica = cls(learner, version)
        scaling = stored.preparation.online
        replica.online.scaler = None if scaling is None else scaling.copy()
        return replica

    def _publish(self) -> None:
        """Let the learner follow: the state, the classes or the features may be others."""
        self.learner.go_on_with(self.online)

    def copy(self) -> Replica:
        """Return a replica that shares nothing that learning changes."""
        return Replica(copy(self.learner), self.version, self.online.copy())

    # Prediction

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return list(self.online.classes.tolist())

    def decide(self, features: Features) -> tuple[list[Any], list[Any]]:
        """Return the label and the score, or the scores, of each row."""
        labels, scores = self.online.decide(features)
        return labels.tolist(), scores.tolist()

    # Learning

    def expect(self, events: Sequence[LearnEvent]) -> None:
        """Give weights to all features of events at once, where only features met have some."""
        packed, state = [event.rows for event in events], self.online.stream.state
        if len(packed) < 2 or state.met is None:
            return
        if all(rows.indices is not None and rows.n_features <= state.n_features for rows in packed):
            state.meet(join_events([rows.features() for rows in packed]).rows)

    def fold(self, event: LearnEvent, *, judged: bool = True) -> FoldOutcome:
        """Learn the rows of an event one by one; a row whose score overflows is left out.

        Only where the outcome is `judged` are rows predicted before they are learned.
        """
        features, online = event.rows.features(), self.online
        self._make_room(features.n_features, event.names)
        outcome = FoldOutcome(features.n_rows)
        before = online.mistakes
        for number, row in enumerate(features.each()):
            label = event.labels[number]
            if not online.stream.knows(label):  # whether it may be a class was decided when the event was accepted
                online.meet(label, anyway=True)
                self._publish()
            weight = 1.0 if event.weights is None else event.weights[number]
            if judged:
                with suppress(PredictionOverflowError):
                    outcome.right += bool(online.predict(row) == label)
            try:
                online.learn(row, label, weight)
            except OVERFLOWS as error:
                outcome.refused.append((number, str(error)))
                online.forget_model()
        outcome.mistakes = online.mistakes - before
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
        online, stream = self.online, self.online.stream
        kept, grows, scaler = stream.fork(), stream.grows, online.scaler
        online.forget_model()
        stream.grows = True
        try:
            features = join_events(parts)
            if scaler is not None:
                online.scaler = scaler.copy()
                features = Features(online.scaler.follow(features.rows), features.n_rows, features.n_features)
            stream.learn_rows(features, codes, known, weight)
        except OVERFLOWS:
            kept.grows = grows
            online.stream, online.scaler = kept, scaler
            self._publish()
            for event in events:
                self.fold(event, judged=False)
            return
        stream.grows = grows
        self._publish()

    def _make_room(self, width: int, names: Sequence[str]) -> None:
        before = self.online.n_features
        self.online.grow(width, names)
        if width > before:
            self._publish()

    def digest(self) -> bytes:
        """Return a hash of all that predictions and learning depend on, however it lies in memory."""
        return self.online.digest()
