"""Versions, rollbacks, exports, erasures, snapshots and the end of old events."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

import msgspec

from rosenblatt.exceptions import StorageError
from rosenblatt.server.erasing import emptied, named_rows
from rosenblatt.server.events import EraseEvent, RollbackEvent, encode_event
from rosenblatt.server.journal import StoredSnapshot
from rosenblatt.server.messages import (
    Change,
    EraseAnswer,
    EraseRequest,
    RollbackAnswer,
    RollbackRequest,
    VersionsAnswer,
)
from rosenblatt.server.problems import RequestError
from rosenblatt.server.replay import History
from rosenblatt.server.replica import Replica
from rosenblatt.server.served_model import Counts, ServedModel

if TYPE_CHECKING:
    from rosenblatt.server.host import Host
    from rosenblatt.server.writer import Writer

__all__ = ["Administration"]

MOST_SNAPSHOTS = 16
MOST_HELD = 4
"""Old versions that stay in memory."""
ATTEMPTS = 3
"""How often a version is looked for while snapshots are removed."""
T = TypeVar("T")
log = logging.getLogger("rosenblatt.server")


class Administration:
    """What is done to a model beside predicting and learning.

    Parameters
    ----------
    host : Host
        The models.
    keep : int or None
        Events that stay in the journal; older ones are folded into the oldest version. None: all.
    """

    def __init__(self, host: Host, keep: int | None) -> None:
        self.host, self.keep = host, keep
        self._held: OrderedDict[tuple[str, int], Replica] = OrderedDict()

    # Versions

    async def versions(self, name: str) -> VersionsAnswer:
        """Return which versions there are."""
        return await self._reading(name, _versions)

    async def replica_at(self, name: str, version: int) -> Replica:
        """Return the state of a version, which nobody changes."""
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
            raise RequestError.of(410, f"Version {version} of {name} is no longer kept.")
        return held

    async def export(self, name: str, version: int | None) -> bytes:
        """Return a version, the newest by default, as the bytes of a model file."""
        model = self.host.model(name)
        if version is None or version == model.version:
            with model.reading() as newest:
                replica = newest.copy()
        else:
            replica = await self.replica_at(name, version)
        return await asyncio.to_thread(_file_of, model, replica)

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

        for _ in range(ATTEMPTS):
            with suppress(FileNotFoundError):  # a snapshot was removed meanwhile
                return await asyncio.to_thread(asked)
        raise RequestError.of(503, "The journal is being shortened. Try again.", retry_after=1.0)

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
                writer.journal.add_change(model.number, seq, "rollback", request.version)
            self._restore(writer, model, replica, seq)
            return RollbackAnswer(seq, request.version)

        answer: RollbackAnswer = await self.host.special(model, act)
        return answer

    async def erase(self, name: str, request: EraseRequest) -> EraseAnswer:
        """Remove rows from the journal, and learn again without them; versions that knew them end."""
        model = self.host.model(name)

        def act(writer: Writer) -> EraseAnswer:
            history = History(writer.journal, self.host.folder, name)
            rows = named_rows(history, request)
            first, seq = min(rows), writer.last[model.number] + 1
            bodies, n_rows = emptied(history, rows)
            old = [each for each in writer.journal.snapshots(model.number) if each.seq >= first]
            with writer.journal.transaction():
                for number, body in bodies.items():
                    writer.journal.replace_body(model.number, number, body)
                writer.journal.forget_requests(model.number, list(rows))
                writer.journal.forget_states(model.number, first)
                writer.journal.drop_snapshots(model.number, [each.seq for each in old])
                event = encode_event(EraseEvent(first))
                writer.journal.add_events([(model.number, seq, time.time(), event)])
                writer.journal.add_change(model.number, seq, "erase", first)
            writer.journal.empty_log()
            self._remove(old)
            self._restore(writer, model, history.replica_at(seq), seq)
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
        changes = history.journal.changes(history.number)
        returns = [(seq, target) for seq, kind, target, _ in changes if kind == "rollback"]
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
        Change(seq, kind, at, target if kind == "rollback" else None)
        for seq, kind, target, at in history.journal.changes(history.number)
    ]
    snapshots = [each.seq for each in history.journal.snapshots(history.number)]
    ended = [list(each) for each in history.ended()]
    return VersionsAnswer(history.name, history.base, history.newest, snapshots, changes, ended)


def _file_of(model: ServedModel, replica: Replica) -> bytes:
    with TemporaryDirectory() as folder:  # for this user alone
        path = Path(folder, "model")
        model.save(replica, str(path))
        return path.read_bytes()
