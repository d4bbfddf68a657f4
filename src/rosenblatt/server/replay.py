"""Any version of a model again, exactly: the nearest snapshot, and the events after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from rosenblatt.exceptions import RosenblattError, StorageError
from rosenblatt.models.files import open_model
from rosenblatt.server.events import EraseEvent, LearnEvent, RollbackEvent, decode_event
from rosenblatt.server.journal import DISK, Journal, StoredEvent, StoredSnapshot
from rosenblatt.server.messages import LearnAnswer, RefusedRow, RequestError
from rosenblatt.server.replica import FoldOutcome, Replica
from rosenblatt.server.served_model import Counts, EventTally, ServedModel, read_learner

COUNTS = msgspec.json.Decoder(Counts)
ANSWER = msgspec.json.Decoder(LearnAnswer)
T = TypeVar("T")


class ReplayError(StorageError):
    """The journal and a state that was derived from it contradict each other."""


class Leg(NamedTuple):
    """Events after one version up to another, all in the history of a state."""

    after: int
    upto: int


class StoredChange(NamedTuple):
    """A rollback to the version `target`, or an erasure that ended versions from `target` on."""

    seq: int
    kind: Literal["rollback", "erase"]
    target: int
    at: float


class Replayed(NamedTuple):
    """A model made again, and the answers to events that had none yet: answer, model, number."""

    model: ServedModel
    answers: list[tuple[bytes, int, int]]


def answer_to(version: int, outcome: FoldOutcome) -> bytes:
    """Return the answer to an event, as it is sent and kept."""
    refused = [RefusedRow(row, reason) for row, reason in outcome.refused]
    return msgspec.json.encode(LearnAnswer(version, outcome.rows, outcome.mistakes, outcome.right, refused))


class History:
    """The versions of one model."""

    def __init__(self, journal: Journal, folder: Path, name: str) -> None:
        self.journal, self.folder, self.name = journal, folder, name
        row = journal.models()[name]
        self.number, self.base = row.number, row.base
        self._erasures: set[int] = set()
        self._met: list[tuple[int, float, int]] = []  # number and time of replayed events, and their new features

    @property
    def newest(self) -> int:
        """The last version."""
        last = self.journal.last(self.number)
        return self.base if last is None else last

    def ended(self) -> list[tuple[int, int]]:
        """Return the first and the last version of each range that an erasure ended."""
        return [(each.target, each.seq - 1) for each in self.changes() if each.kind == "erase"]

    def changes(self) -> list[StoredChange]:
        """Return all rollbacks and erasures."""
        return [_change(self.name, event) for event in self.journal.changes(self.number)]

    def require(self, version: int) -> None:
        """Raise `RequestError` unless there is such a version."""
        if version > self.newest or version < 0:
            raise RequestError(404, f"{self.name} has no version {version}; the newest is {self.newest}.")
        if version < self.base:
            raise RequestError(
                410, f"Version {version} of {self.name} was folded into version {self.base}, the oldest one kept."
            )
        if any(first <= version <= last for first, last in self.ended()):
            raise RequestError(
                410, f"Version {version} of {self.name} ended when rows it had learned were erased."
            )

    def replica_at(self, version: int) -> Replica:
        """Return the state of a version."""
        replica, _ = self._replayed(version, self.journal.snapshots(self.number))
        return replica

    def start(self, *, grows: bool = False) -> Replayed:
        """Return the model at its newest version, every digest on the way compared.

        If a state differs from the one that was served, `ReplayError` names the first event where this is known.
        """
        snapshots = self.journal.snapshots(self.number)
        replica, outcomes = self._replayed(self.newest, snapshots)
        tally = self._tally(snapshots, outcomes)
        stored = self._read(snapshots[-1], open_model)
        counts = tally.counts()
        model = ServedModel(self.name, self.number, stored, replica, counts, self.base, grows=grows)
        answers = [(answer_to(seq, outcome), self.number, seq) for seq, outcome in outcomes.items()]
        return Replayed(model, answers)

    def load(self, snapshot: StoredSnapshot) -> Replica:
        """Return the state in a snapshot."""
        replica = Replica.of(*self._read(snapshot, read_learner), snapshot.seq)
        if replica.digest() != snapshot.digest:
            raise ReplayError(
                f"The snapshot {snapshot.file} of {self.name} is not the state of version {snapshot.seq}. Restore "
                "the data folder from a backup."
            )
        return replica

    def _read(self, snapshot: StoredSnapshot, read: Callable[[str], T]) -> T:
        """Read the file of a snapshot; one that is missing may have been removed meanwhile."""
        path = str(self.folder / snapshot.file)
        try:
            return read(path)
        except FileNotFoundError:
            raise
        except RosenblattError as error:
            raise ReplayError(
                f"The snapshot of version {snapshot.seq} of {self.name} cannot be used: {error}"
            ) from error
        except OSError as error:
            raise ReplayError(f"{path} could not be read: {error.strerror}. {DISK}") from error

    def _replayed(self, version: int, snapshots: list[StoredSnapshot]) -> tuple[Replica, dict[int, FoldOutcome]]:
        changes = self.changes()
        parts, snapshot = self._way_to(version, snapshots, changes)
        replica = self.load(snapshot)
        outcomes: dict[int, FoldOutcome] = {}
        self._erasures = {each.seq for each in changes if each.kind == "erase"}
        for part in parts:
            self._fold(replica, part, outcomes)
        return replica, outcomes

    def _way_to(
        self, version: int, snapshots: list[StoredSnapshot], changes: list[StoredChange]
    ) -> tuple[list[Leg], StoredSnapshot]:
        """Return the stretches of events from the best snapshot to a version, and that snapshot."""
        rollbacks = {each.seq: each.target for each in changes if each.kind == "rollback"}
        parts: list[Leg] = []
        upto = version
        while True:
            after = max((seq for seq in rollbacks if seq <= upto), default=self.base)
            usable = [each for each in snapshots if after <= each.seq <= upto]
            if usable:
                parts.append(Leg(usable[-1].seq, upto))
                return parts[::-1], usable[-1]
            if after not in rollbacks:
                raise ReplayError(f"{self.name} has no snapshot of its oldest version, {self.base}.")
            parts.append(Leg(after, upto))
            upto = rollbacks[after]

    def _fold(self, replica: Replica, part: Leg, outcomes: dict[int, FoldOutcome]) -> None:
        digests = self.journal.digests(self.number, part.after, part.upto)
        replica.version = part.after
        good = part.after
        for events in self.journal.events(self.number, part.after, part.upto):
            for some in _cut(events, digests):
                self._fold_some(replica, some, outcomes)
                expected = digests.get(replica.version)
                if expected is not None and expected != replica.digest():
                    raise ReplayError(
                        f"The state of {self.name} after event {replica.version} is not the one that was served: "
                        f"an event after {good} was changed, or learned differently. Restore the data folder from "
                        "a backup."
                    )
                good = replica.version if expected is not None else good
        if replica.version != part.upto:
            raise ReplayError(f"Event {replica.version + 1} of {self.name} is missing in the journal.")

    def _fold_some(self, replica: Replica, events: list[StoredEvent], outcomes: dict[int, FoldOutcome]) -> None:
        known: list[LearnEvent] = []
        for event in events:
            if event.seq != replica.version + len(known) + 1:
                raise ReplayError(f"Event {replica.version + len(known) + 1} of {self.name} is missing.")
            decoded = decode_event(event.body)
            if isinstance(decoded, LearnEvent) and decoded.names:
                self._met.append((event.seq, event.at, len(decoded.names)))
            if isinstance(decoded, LearnEvent) and event.answer is not None:
                known.append(decoded)
                continue
            _learn(replica, known)
            known = []
            if isinstance(decoded, LearnEvent):
                outcomes[event.seq] = replica.fold(decoded)
            elif event.seq not in self._erasures:  # legs end at rollbacks
                raise ReplayError(
                    f"Event {event.seq} of {self.name} is not in the journal's list of changes. Restore the data "
                    "folder from a backup."
                )
            replica.version += 1
        _learn(replica, known)

    def _tally(self, snapshots: list[StoredSnapshot], outcomes: dict[int, FoldOutcome]) -> EventTally:
        tally = EventTally(COUNTS.decode(snapshots[-1].counts))
        for events in self.journal.events(self.number, snapshots[-1].seq, self.newest):
            for event in events:
                if event.seq in outcomes:
                    outcome = outcomes[event.seq]
                    tally.add(outcome.rows, outcome.mistakes, outcome.right)
                elif event.answer is not None:
                    answer = ANSWER.decode(event.answer)
                    tally.add(answer.rows, answer.mistakes, answer.right)
        for seq, at, features in self._met:
            if seq > snapshots[-1].seq:  # which counted the others
                tally.meet(at, features)
        return tally


def _change(name: str, event: StoredEvent) -> StoredChange:
    decoded = decode_event(event.body)
    if isinstance(decoded, RollbackEvent):
        return StoredChange(event.seq, "rollback", decoded.version, event.at)
    if isinstance(decoded, EraseEvent):
        return StoredChange(event.seq, "erase", decoded.first, event.at)
    raise ReplayError(
        f"Event {event.seq} of {name} is in the journal's list of changes, but holds rows. Restore the data "
        "folder from a backup."
    )


def _learn(replica: Replica, events: list[LearnEvent]) -> None:
    if events:
        replica.fold_all(events)
        replica.version += len(events)


def _cut(events: list[StoredEvent], digests: dict[int, Any]) -> Iterator[list[StoredEvent]]:
    """Yield events up to each that has a digest."""
    some: list[StoredEvent] = []
    for event in events:
        some.append(event)
        if event.seq in digests:
            yield some
            some = []
    if some:
        yield some
