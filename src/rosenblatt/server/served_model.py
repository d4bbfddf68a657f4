"""A model as it is served: rows as people have them, two replicas, and what is counted.

Learning changes one replica while predictions read the other. After a batch the two change roles, and the batch is
folded into the second as well, once nobody reads it any more. So no weights are copied, however many there are, a
prediction never waits for learning, and what it reads never changes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np

from rosenblatt.exceptions import InputError, ParameterError, Remedy, RosenblattError
from rosenblatt.kernels.kernel_state import KernelState
from rosenblatt.models.files import StoredModel, open_model, write_model
from rosenblatt.models.streamed import StreamedLearner, read_streamed
from rosenblatt.registry import classes_able
from rosenblatt.rows.batch import Vocabulary, are_mappings
from rosenblatt.rows.features import EXACT_BITS, Features, as_rows, read_only, require_finite
from rosenblatt.rows.labels import list_classes
from rosenblatt.server.events import LearnEvent, PackedRows, encode_event
from rosenblatt.server.limits import LONGEST_LABEL, USUAL, RequestLimits, place_of
from rosenblatt.server.messages import RequestError
from rosenblatt.server.replica import FoldOutcome, Replica
from rosenblatt.tables.online_scaling import OnlineScaling, Unscaled
from rosenblatt.tables.preparation import Preparation
from rosenblatt.tables.recipe import TableRecipe

# Rows that are nothing but numbers, read without a table in between: the same features in a tenth of the time.

NUMBERS = {float, int}


class PlainRows:
    """Reads objects of numbers by name, where a model takes nothing else."""

    def __init__(self, preparation: Preparation) -> None:
        self._preparation = preparation
        recipe = preparation.recipe
        self._names: list[str] = []
        self._marks = 0
        if isinstance(recipe, TableRecipe) and recipe.named and recipe.only_numbers:
            self._names, self._marks = [name for name, _ in recipe.numbers], len(recipe.indicators)
        self._take = itemgetter(*self._names) if len(self._names) > 1 else None

    def read(self, rows: Sequence[Any]) -> Features | None:
        """Return the features of rows, or None if they need a closer look."""
        if self._take is None:
            return None
        values: list[Any] = []
        for row in rows:
            if type(row) is not dict or len(row) != len(self._names):
                return None
            try:
                values += self._take(row)
            except KeyError:
                return None
        features = _table(values, len(rows), len(self._names))
        if features is not None and self._marks:  # no number is missing
            table = np.pad(np.asarray(features.rows), ((0, 0), (0, self._marks)))
            features = Features(read_only(table), len(rows), len(self._names) + self._marks)
        return None if features is None else self._preparation.features(features)


def plain_arrays(rows: Sequence[Any], width: int) -> Features | None:
    """Return arrays of so many numbers each as features, or None if they need a closer look.

    Examples
    --------
    >>> plain_arrays([[1.5, 2]], 2).rows.tolist(), plain_arrays([[1.5, "a"]], 2), plain_arrays([[1.5]], 2)
    ([[1.5, 2.0]], None, None)
    """
    values: list[Any] = []
    for row in rows:
        if type(row) is not list or not row or len(row) != width:
            return None
        values += row
    return _table(values, len(rows), width)


def _table(values: list[Any], n_rows: int, width: int) -> Features | None:
    """Return finite numbers as rows; None if one is no number, or an integer that would be rounded."""
    if not set(map(type, values)) <= NUMBERS:
        return None
    try:
        table = np.array(values, np.float64).reshape(n_rows, width)
    except OverflowError:
        return None
    if not (np.abs(table) < 2.0**EXACT_BITS).all():  # NaN, infinity, or an integer that was rounded
        return None
    return Features(read_only(table), n_rows, width)


HOUR_SECONDS, DAY_SECONDS = 3600.0, 86_400.0
WINDOW_ROWS = 1000
"""Rows of the rolling accuracy."""


class Counts(msgspec.Struct):
    """What has been learned since version 0.

    `window` says how the last rows were predicted, (rows, right) of each event, and `met` how many features were
    new in each hour of the last day, (hour, features).
    """

    rows: int = 0
    mistakes: int = 0
    window: list[tuple[int, int]] = []
    met: list[tuple[int, int]] = []


class EventTally:
    """Counts as they go on."""

    def __init__(self, counts: Counts) -> None:
        self.rows, self.mistakes = counts.rows, counts.mistakes
        self._window = deque(counts.window)
        self._n = sum(rows for rows, _ in counts.window)
        self._met = dict(counts.met)

    def add(self, rows: int, mistakes: int, right: int) -> None:
        """Count an event."""
        self.rows += rows
        self.mistakes += mistakes
        self._window.append((rows, right))
        self._n += rows
        while self._n - self._window[0][0] >= WINDOW_ROWS:
            self._n -= self._window.popleft()[0]

    def meet(self, at: float, features: int) -> None:
        """Count features that were new at a time."""
        hour = int(at // HOUR_SECONDS)
        self._met[hour] = self._met.get(hour, 0) + features
        self._met = {
            each: count for each, count in self._met.items() if hour - DAY_SECONDS // HOUR_SECONDS <= each <= hour
        }

    def met(self, now: float) -> tuple[int, float]:
        """Return how many features were new in the last day, and the seconds until some of them are older."""
        # A clock that was set back leaves hours of the future, which would never be over.
        hours = now // HOUR_SECONDS
        lately = {
            hour: count
            for hour, count in self._met.items()
            if hours - DAY_SECONDS // HOUR_SECONDS <= hour <= hours
        }
        return sum(lately.values()), (
            min(lately) + 1
        ) * HOUR_SECONDS + DAY_SECONDS - now if lately else DAY_SECONDS

    @property
    def rolling(self) -> tuple[int, int]:
        """The rows of the window, and how many of them were predicted right."""
        window = self._window.copy()
        return sum(rows for rows, _ in window), sum(right for _, right in window)

    def counts(self) -> Counts:
        """Return the counts as a snapshot keeps them."""
        return Counts(self.rows, self.mistakes, list(self._window), list(self._met.items()))


def read_learner(path: str) -> tuple[StoredModel, Any]:
    """Return a model file and its learner; raise `ParameterError` if it cannot learn row by row for ever."""
    stored = open_model(path)
    if stored.calibration is not None:
        raise ParameterError(
            f"{path} is calibrated, but its probabilities no longer hold once it learns. Train it without "
            + Remedy("probabilities")
            + ".",
            parameter="models",
        )
    if any(isinstance(step, OnlineScaling) for step in stored.preparation.steps[:-1]):
        raise ParameterError(
            f"{path} has an OnlineScaler before other steps. A server goes on with one that stands directly "
            "before the learner. Make it the last step, or use StandardScaler.",
            parameter="models",
        )
    ready = read_streamed(stored)
    if ready is not None:
        return stored, ready
    from rosenblatt.estimators._linear import OnlineLearning
    from rosenblatt.learning.stream import Stream

    learner = stored.estimator()
    if not isinstance(learner, OnlineLearning) or learner._stream_kind is not Stream:
        raise ParameterError(
            f"{path} holds a {stored.learner}, which cannot learn row by row without end. Serve a "
            f"{classes_able('serves')}; a kernel needs a budget.",
            parameter="models",
        )
    if isinstance(learner._state, KernelState) and learner.get_params(deep=False)["budget"] is None:
        raise ParameterError(
            f"{path} holds a KernelPerceptron without a budget, which would grow with every mistake. Train it "
            "with " + Remedy("budget") + ".",
            parameter="models",
        )
    return stored, learner


class ServedModel:
    """A model under a name, with its number in the journal.

    `stored` is any file of the model: for its preparation and the name of its learner. `counts` are of what was
    learned before, and `base` is the oldest version. With `grows`, labels that it does not know become classes.
    """

    def __init__(
        self, name: str, number: int, stored: StoredModel, replica: Replica, counts: Counts, base: int,
        *, grows: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.number, self.base = name, number, base
        # Journal and replicas have rows before an online scaler, which goes on with its learner.
        self.learner_name, self.preparation = stored.learner, stored.preparation.with_online(None)
        self._plain = PlainRows(self.preparation)
        self.tally, self.allows_growth = EventTally(counts), grows
        self.published, self._spare = replica, replica.copy()
        self.limit(USUAL)
        self._behind: list[LearnEvent] = []  # events that the spare replica has not yet
        self.begin_intake()

    # Reading

    @contextmanager
    def reading(self) -> Iterator[Replica]:
        """Lend the published replica, which does not change until it is given back."""
        while True:
            replica = self.published
            replica.readers.append(None)
            if self.published is replica:  # else the writer may not have seen this reader
                break
            replica.readers.pop()
        try:
            yield replica
        finally:
            replica.readers.pop()

    @property
    def version(self) -> int:
        """The version that predicts."""
        return self.published.version

    def features(self, rows: Sequence[Any], vocabulary: Vocabulary | None = None) -> Features:
        """Return rows as the learner sees them; raise `RequestError` if they are not rows of this model."""
        if not rows:
            raise RequestError(422, "rows is empty. Send at least one row.", parameter="rows")
        try:
            return self._read(rows, vocabulary)
        except RosenblattError as error:
            raise RequestError.by(error, **place_of(rows, self.columns, self.numbers)) from error

    @property
    def prepares(self) -> bool:
        """Whether a step changes rows before the learner, an online scaler aside."""
        return any(not isinstance(step, Unscaled) for step in self.preparation.steps)

    def raw(self, rows: Sequence[Any], features: Features) -> Features:
        """Return rows that were read as features as they are in the data, where columns are kept."""
        if not self.preparation.steps or not self.preparation.keeps_columns:
            return features
        return self.preparation.read_raw(rows, "rows")

    def _read(self, rows: Sequence[Any], vocabulary: Vocabulary | None) -> Features:
        plain = None if self.preparation.steps else plain_arrays(rows, self.published.online.n_features)
        if plain is not None:
            return plain
        if self.preparation.steps:
            features = self._plain.read(rows) or self.preparation.read(rows, "rows")
        elif are_mappings(rows):
            known = vocabulary or self.published.online.known_vocabulary
            features = known.rows(rows, learn=False)[0]
        else:
            features = as_rows(rows, name="rows")
            width = self.published.online.n_features
            if features.n_features != width:
                raise InputError(
                    f"A row has {features.n_features} values, but the model has {width} features. Send the "
                    "features of training, in that order."
                )
        require_finite(features, name="rows")
        return features

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, where they have any."""
        return self.preparation.names if self.preparation.steps else self.published.online.feature_names

    @property
    def columns(self) -> list[str] | None:
        """The columns of rows, by the names that people gave them; None where they have none."""
        encoding = self.preparation.encoding
        if encoding is not None:
            recipe: Any = encoding.recipe
            named = getattr(recipe, "named", False)
            return [name for name, _ in recipe.columns] if named else None
        first = self.preparation.steps[0].columns if self.preparation.steps else self.published.online.names
        return None if first is None else [str(name) for name in first]

    @property
    def numbers(self) -> set[str]:
        """The columns that must hold numbers, where columns have names."""
        encoding = self.preparation.encoding
        recipe = None if encoding is None else encoding.recipe
        if isinstance(recipe, TableRecipe):
            return {name for name, _ in recipe.numbers}
        return set(self.columns or ())

    # Accepting: called by the writer alone, in the order of events

    def limit(self, limits: RequestLimits) -> None:
        """Let the model meet no more classes, and no more new features a day, than this."""
        self._most_classes, self._most_new_features = limits.classes, limits.new_features

    def begin_intake(self) -> None:
        """Accept what the state as it is now allows."""
        newest = self.newest()
        self._accepted = 0  # new features that are not yet folded
        vocabulary = newest.online.vocabulary
        self._vocabulary = vocabulary.copy() if vocabulary is not None and vocabulary.grows else None
        self._known = {label: type(label) for label in newest.classes}
        self._direct = newest.online.stream.multiclass == "direct"
        self.may_grow = self._direct and (newest.online.stream.grows or self.allows_growth)

    @property
    def names_grow(self) -> bool:
        """Whether rows may have features that were never met before."""
        return self._vocabulary is not None

    def accept(
        self, rows: Any, labels: Sequence[Any], weights: Sequence[float] | None
    ) -> tuple[LearnEvent, bytes]:
        """Return the event of rows to learn, also as bytes; `rows` are features, or mappings where names grow."""
        new = [label for label in dict.fromkeys(labels) if not self._knows(label)]
        for label in new:
            self._require_room(label, len(self._known) + len(new))
        names: list[str] = []
        if isinstance(rows, Features):
            packed = PackedRows.of(rows)
        else:
            assert self._vocabulary is not None, "only growing vocabularies see mappings here"
            try:
                features, names = self._vocabulary.rows(rows, learn=True)
            except RosenblattError as error:
                raise RequestError.by(error) from error
            packed = PackedRows.of(features)
            self._require_few(names)
        event = LearnEvent(packed, list(labels), None if weights is None else list(weights), names)
        body = encode_event(event)
        # Nothing can fail from here on.
        if self._vocabulary is not None:
            self._vocabulary.add(names)
            self._accepted += len(names)
        self._known |= {label: type(label) for label in new}
        return event, body

    def _require_few(self, names: Sequence[str]) -> None:
        for name in names:
            if len(name) > LONGEST_LABEL:
                raise RequestError(
                    422, f"The name of a feature, {name[:40]!r}…, has {len(name)} characters, but the name of a "
                    f"new one may have {LONGEST_LABEL}.", limit=LONGEST_LABEL
                )  # fmt: skip
        met, wait = self.tally.met(time.time())
        if names and met + self._accepted + len(names) > self._most_new_features:
            raise RequestError(
                429, f"These rows have {len(names)} features that the model has not met, and it met as many as "
                "a day allows. Wait, or send rows with fewer new features.", retry_after=wait
            )  # fmt: skip

    def _knows(self, label: Any) -> bool:
        kind = self._known.get(label)
        return kind is not None and (kind is type(label) or bool not in (kind, type(label)))

    def _require_room(self, label: Any, n_classes: int) -> None:
        kinds = set(self._known.values())
        if kinds and type(label) not in kinds:
            of = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise RequestError(
                422, f"The label {label!r} is a {type(label).__name__}, but the classes of this model are of type "
                f"{of}: {list_classes(self.published.online.classes)}. Send labels of that type.", label=label
            )  # fmt: skip
        if n_classes > max(self._most_classes, len(self._known)):
            raise RequestError(
                422, f"The label {label!r} would be a new class, but a model may have {self._most_classes}. Use a "
                "label that it knows.", label=label, limit=self._most_classes
            )  # fmt: skip
        if n_classes > 2 and not self.may_grow:
            grow = Remedy("grow", True)
            way = "Start the server with " + grow + " to let new labels become classes."
            if not self._direct:
                way = "A model with " + Remedy("multiclass", "direct") + " can take new ones, with " + grow + "."
            known = list_classes(self.published.online.classes)
            told = f"The label {label!r} is not one of the classes {known}. " + way
            raise RequestError(422, told, code="unknown-label", label=label)

    # Learning: called by the writer alone

    def fold(self, events: Sequence[LearnEvent]) -> list[FoldOutcome]:
        """Learn events in order in the replica that nobody reads, and return what became of each."""
        spare = self._catch_up()
        spare.expect(events)
        outcomes = []
        for event in events:
            outcome = spare.fold(event)
            spare.version += 1
            self.tally.add(outcome.rows, outcome.mistakes, outcome.right)
            if event.names:
                self.tally.meet(time.time(), len(event.names))
                self._accepted -= len(event.names)
            outcomes.append(outcome)
        self._behind = list(events)
        return outcomes

    def publish(self) -> None:
        """Let predictions read what was folded; the other replica is brought up to date later."""
        self.published, self._spare = self._spare, self.published

    def newest(self) -> Replica:
        """Return the replica with all events folded into it; the writer may read it, or copy it."""
        return self.published if self.published.version >= self._spare.version else self._spare

    def restore(self, replica: Replica) -> None:
        """Put another state in place of both replicas, as a rollback does."""
        self.published, self._spare, self._behind = replica, replica.copy(), []
        self.begin_intake()

    def _catch_up(self) -> Replica:
        spare = self._spare
        while spare.readers:  # a prediction that began before the last batch was published
            time.sleep(0.0002)
        spare.expect(self._behind)
        for event in self._behind:
            spare.fold(event, judged=False)
            spare.version += 1
        self._behind = []
        return spare

    def save(self, replica: Replica, path: str, write: Callable[..., None] = write_model) -> None:
        """Write a replica that nobody changes meanwhile to a model file."""
        where = {"served_as": self.name, "version": replica.version}
        learner = replica.learner.estimator() if isinstance(replica.learner, StreamedLearner) else replica.learner
        write(self.preparation.with_online(replica.online.scaler), learner, path, provenance=where)
