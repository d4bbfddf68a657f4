"""Versions, rollbacks, exports, erasures, snapshots and the end of old events."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np

from rosenblatt.atomic import ASIDE
from rosenblatt.exceptions import StorageError
from rosenblatt.loops.layout import CSR, csr_take
from rosenblatt.rows.features import Features
from rosenblatt.server.events import EraseEvent, LearnEvent, PackedRows, RollbackEvent, decode_event, encode_event
from rosenblatt.server.journal import DISK, JournalError, StoredSnapshot
from rosenblatt.server.messages import (
    Change,
    EraseAnswer,
    EraseRequest,
    RequestError,
    RollbackAnswer,
    RollbackRequest,
    VersionsAnswer,
    new_id,
    read_key,
)
from rosenblatt.server.replay import History
from rosenblatt.server.replica import Replica
from rosenblatt.server.served_model import Counts, ServedModel

if TYPE_CHECKING:
    from rosenblatt.server.host import Host
    from rosenblatt.server.writer import Writer

log = logging.getLogger("rosenblatt.server")

MOST_SNAPSHOTS = 16
MOST_HELD = 4
"""Old versions that stay in memory."""
MAX_ATTEMPTS = 3
"""How often a version is looked for while snapshots are removed."""
T = TypeVar("T")


class Administration:
    """What is done to a model beside predicting and learning.

    Of its events the last `keep` stay in the journal, or all with None; older ones are folded into the oldest
    version.
    """

    def __init__(self, host: Host, keep: int | None) -> None:
        self.host, self.keep = host, keep
        self._held: OrderedDict[tuple[str, int], Replica] = OrderedDict()

    # Versions

    async def versions(self, name: str) -> VersionsAnswer:
        """Return which versions there are."""
        return await self._reading(name, _versions)

    async def replica_at(self, name: str, version: int) -> Replica:
        """Return the state of a version; it never changes."""
        model = self.host.model(name)
        held = self._held.get((name, version))
        if held is None:

            def made(history: History) -> Replica:
                history.require(version)
                return history.replica_at(version)

            held = await self._reading(name, made)
            self._held[name, version] = held
            while len(self._held) > MOST_HELD:
                self._held.popitem(last=False)
        if version < model.base:
            del self._held[name, version]
            raise RequestError(410, f"Version {version} of {name} is no longer kept.")
        return held

    async def export(self, name: str, version: int | None) -> bytes:
        """Return a version, the newest by default, as the bytes of a model file."""
        model = self.host.model(name)
        if version is None or version == model.version:
            with model.reading() as newest:
                replica = newest.copy()
        else:
            replica = await self.replica_at(name, version)
        return await asyncio.to_thread(_file_of, model, replica, self.host.folder)

    async def _reading(self, name: str, ask: Callable[[History], T]) -> T:
        """Ask the history of a model in another thread, in one state of the journal."""
        self.host.model(name)

        def asked() -> T:
            journal = self.host.journal.reader()
            try:
                with journal.one_state():
                    return ask(History(journal, self.host.folder, name))
            finally:
                journal.close()

        for _ in range(MAX_ATTEMPTS):
            with suppress(FileNotFoundError):  # a snapshot was removed meanwhile
                return await asyncio.to_thread(asked)
        raise RequestError(503, "The journal is being shortened. Try again.", retry_after=1.0)

    # Changes: each is done by the writer, between two batches

    async def rollback(self, name: str, request: RollbackRequest) -> RollbackAnswer:
        """Return to an earlier version; this is an event, and the next version."""
        model = self.host.model(name)

        def act(writer: Writer) -> RollbackAnswer:
            history = History(writer.journal, self.host.folder, name)
            history.require(request.version)
            replica = history.replica_at(request.version)
            seq = writer.last[model.number] + 1
            with writer.journal.transaction():
                event = encode_event(RollbackEvent(request.version))
                writer.journal.add_events([(model.number, seq, time.time(), event)])
                writer.journal.add_change(model.number, seq)
            self._restore(writer, model, replica, seq)
            return RollbackAnswer(seq, request.version)

        answer: RollbackAnswer = await self.host.special(model, act)
        return answer

    async def erase(self, name: str, request: EraseRequest) -> EraseAnswer:
        """Remove rows from the journal, and learn again without them; versions that knew them end."""
        model = self.host.model(name)

        def act(writer: Writer) -> EraseAnswer:
            history = History(writer.journal, self.host.folder, name)
            rows = find_rows(history, request)
            first, seq = min(rows), writer.last[model.number] + 1
            bodies, n_rows = empty_events(history, rows)
            old = [each for each in writer.journal.snapshots(model.number) if each.seq >= first]
            with writer.journal.erasing():
                for number, body in bodies.items():
                    writer.journal.replace_body(model.number, number, body)
                writer.journal.forget_requests(model.number, rows)
                writer.journal.forget_states(model.number, first)
                writer.journal.drop_snapshots(model.number, [each.seq for each in old])
                event = encode_event(EraseEvent(first))
                writer.journal.add_events([(model.number, seq, time.time(), event)])
                writer.journal.add_change(model.number, seq)
            self._remove(old)
            self._restore(writer, model, history.replica_at(seq), seq)
            try:
                writer.journal.clean()
            except JournalError as error:
                if not error.full:
                    raise
                log.warning("Traces of erased rows are still in the journal: %s", error)
                raise RequestError(
                    503, "The rows are erased, and the model is made again without them. But the files of the "
                    "journal still hold traces of them, because the disk is full, or others read the journal for "
                    "too long. Send the request again.", retry_after=10.0
                ) from error  # fmt: skip
            return EraseAnswer(seq, n_rows, first)

        answer: EraseAnswer = await self.host.special(model, act)
        return answer

    def _restore(self, writer: Writer, model: ServedModel, replica: Replica, seq: int) -> None:
        replica.version = writer.last[model.number] = seq
        model.restore(replica)
        self._held.clear()
        self.host.want_snapshot(model)

    # Snapshots

    def save(self, model: ServedModel, replica: Replica, counts: Counts) -> None:
        """Write a snapshot, and let the writer note it; called in a thread of its own."""
        file = f"{model.name}-{replica.version}.model"
        try:
            model.save(replica, str(self.host.folder / file))
            os.chmod(self.host.folder / file, 0o600)
        except StorageError as error:  # the journal has everything; the next snapshot may succeed
            log.warning("A snapshot could not be written: %s", error)
            return
        snapshot = StoredSnapshot(replica.version, file, replica.digest(), msgspec.json.encode(counts))
        self.host.post(model, lambda writer: self.note(writer, model, snapshot))

    def note(self, writer: Writer, model: ServedModel, snapshot: StoredSnapshot) -> None:
        """Make a snapshot known, and remove what it makes superfluous; called by the writer."""
        history = History(writer.journal, self.host.folder, model.name)
        if any(first <= snapshot.seq <= last for first, last in history.ended()):
            self._remove([snapshot])
            return
        known = [*(each for each in writer.journal.snapshots(model.number) if each.seq != snapshot.seq), snapshot]
        base = self._new_base(history, known)
        spare = [each for each in known if each.seq < base]
        kept = [each for each in known if each.seq >= base]
        while len(kept) > MOST_SNAPSHOTS:
            gaps = [after.seq - before.seq for before, after in zip(kept, kept[2:], strict=False)]
            spare.append(kept.pop(1 + gaps.index(min(gaps))))
        with writer.journal.transaction():
            writer.journal.add_snapshot(model.number, snapshot)
            writer.journal.drop_snapshots(model.number, [each.seq for each in spare])
            if base > model.base:
                writer.journal.begin_at(model.number, base)
        model.base = base
        self._remove(spare)

    def _new_base(self, history: History, snapshots: list[StoredSnapshot]) -> int:
        """Return the oldest version that is to be kept: a snapshot that all later versions can start from."""
        if self.keep is None:
            return history.base
        returns = [(each.seq, each.target) for each in history.changes() if each.kind == "rollback"]
        ended = history.ended()
        usable = [
            each.seq
            for each in snapshots
            if history.base < each.seq <= history.newest - self.keep
            and not any(seq > each.seq > target for seq, target in returns)
            and not any(first <= each.seq <= last for first, last in ended)
        ]
        return max(usable, default=history.base)

    def _remove(self, snapshots: list[StoredSnapshot]) -> None:
        for each in snapshots:
            (self.host.folder / each.file).unlink(missing_ok=True)


def _versions(history: History) -> VersionsAnswer:
    changes = [
        Change(each.seq, each.kind, each.at, each.target if each.kind == "rollback" else None)
        for each in history.changes()
    ]
    snapshots = [each.seq for each in history.journal.snapshots(history.number)]
    ended = [list(each) for each in history.ended()]
    return VersionsAnswer(history.name, history.base, history.newest, snapshots, changes, ended)


def _file_of(model: ServedModel, replica: Replica, folder: Path) -> bytes:
    path = folder / f".{new_id()}{ASIDE}"  # what is left of it after a kill is removed at the start
    try:
        model.save(replica, str(path))
        try:
            return path.read_bytes()
        except OSError as error:
            raise StorageError(f"{path} could not be read: {error.strerror}. {DISK}") from error
    finally:
        path.unlink(missing_ok=True)


Rows = dict[int, set[int] | None]
"""For each event the rows to erase; None: all of them."""


def find_rows(history: History, request: EraseRequest) -> Rows:
    """Return the rows that a request names; raise `RequestError` if one is not there."""
    rows: Rows = {}
    for each in request.versions:
        before = rows.get(each.version, set())
        if each.rows is not None and not each.rows:
            raise RequestError(
                422, f"rows of version {each.version} is empty. Name rows from 0, or leave rows out to name all."
            )
        rows[each.version] = None if each.rows is None or before is None else before.union(each.rows)
    for text in request.keys:
        found = history.journal.key(history.number, read_key(text, "The key", 422))
        if found is None:
            raise RequestError(404, f"No example was sent with the key {text}, or it is no longer kept.")
        rows[found.seq] = None
    if not rows:
        told = "Nothing is named. Send versions, or keys, of the examples to forget."
        raise RequestError(422, told, parameter="versions", parameters=("versions", "keys"))
    for seq, some in rows.items():
        _require(history, seq, some)
    return rows


def _require(history: History, seq: int, rows: set[int] | None) -> None:
    if 0 < seq <= history.base:
        raise RequestError(
            410,
            f"Event {seq} of {history.name} was folded into version {history.base} and cannot be taken out of it. "
            "Train the model again without it.",
        )
    event = history.journal.event(history.number, seq)
    learned = None if event is None else decode_event(event.body)
    if not isinstance(learned, LearnEvent):
        raise RequestError(404, f"Version {seq} of {history.name} learned no rows.")
    if rows and not all(0 <= row < learned.rows.n_rows for row in rows):
        raise RequestError(422, f"Version {seq} has {learned.rows.n_rows} rows, counted from 0.")


def empty_events(history: History, rows: Rows) -> tuple[dict[int, bytes], int]:
    """Return the bodies of events without rows, and how many rows that are.

    Names of features that only these rows had are replaced; their numbers stay, because later rows count on them.
    """
    events: dict[int, LearnEvent] = {}
    erased = 0
    for seq, some in rows.items():
        stored = history.journal.event(history.number, seq)
        assert stored is not None, "it was required to be there"
        event = decode_event(stored.body)
        assert isinstance(event, LearnEvent), "it was required to hold rows"
        left = [row for row in range(event.rows.n_rows) if some is not None and row not in some]
        erased += event.rows.n_rows - len(left)
        events[seq] = _with_rows(event, left)
    named = {seq: event for seq, event in events.items() if event.names}
    if named:
        used = _used(history, min(named), events)
        for seq, event in named.items():
            start = event.rows.n_features - len(event.names)
            names = [name if start + k in used else f"erased-{seq}-{k}" for k, name in enumerate(event.names)]
            events[seq] = msgspec.structs.replace(event, names=names)
    return {seq: encode_event(event) for seq, event in events.items()}, erased


def _with_rows(event: LearnEvent, left: list[int]) -> LearnEvent:
    features = event.rows.features()
    index = np.array(left, np.int64)
    rows = features.rows
    taken = csr_take(rows, index) if isinstance(rows, CSR) else rows[index]
    return LearnEvent(
        PackedRows.of(Features(taken, len(left), features.n_features)),
        [event.labels[row] for row in left],
        None if event.weights is None else [event.weights[row] for row in left],
        event.names,
    )


def _used(history: History, first: int, changed: Mapping[int, LearnEvent]) -> set[int]:
    """Return the features that rows have from an event on."""
    used: set[int] = set()
    for events in history.journal.events(history.number, first - 1, history.newest):
        for stored in events:
            event = changed.get(stored.seq) or decode_event(stored.body)
            if isinstance(event, LearnEvent) and event.rows.indices is not None:
                used.update(np.frombuffer(event.rows.indices, np.uint32).tolist())
    return used
