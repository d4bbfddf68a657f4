"""The journal: an SQLite database in which every event is on disk before it is acknowledged.

Write-ahead logging with ``synchronous=FULL``: a commit returns after the log has reached the disk. One connection
writes; others only read, and never wait for it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rosenblatt.exceptions import StorageError

__all__ = ["Journal", "JournalError", "KnownKey", "StoredEvent", "StoredSnapshot"]

FORMAT = 1
CHUNK = 1000
"""Events that a replay reads at a time."""

TABLES = """
CREATE TABLE models (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, source BLOB NOT NULL, base INTEGER NOT NULL DEFAULT 0,
    forgotten BLOB NOT NULL DEFAULT x'');
CREATE TABLE events (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, body BLOB NOT NULL, answer BLOB,
    PRIMARY KEY (model, seq)) WITHOUT ROWID;
CREATE TABLE changes (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, target INTEGER NOT NULL,
    PRIMARY KEY (model, seq)) WITHOUT ROWID;
CREATE TABLE keys (
    model INTEGER NOT NULL, key BLOB NOT NULL, digest BLOB NOT NULL, seq INTEGER NOT NULL, answer BLOB,
    PRIMARY KEY (model, key)) WITHOUT ROWID;
CREATE TABLE predictions (
    model INTEGER NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (model, id)) WITHOUT ROWID;
CREATE TABLE digests (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (model, seq)) WITHOUT ROWID;
CREATE TABLE snapshots (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, file TEXT NOT NULL, digest BLOB NOT NULL, counts BLOB NOT NULL,
    PRIMARY KEY (model, seq)) WITHOUT ROWID;
"""


class JournalError(StorageError):
    """The journal could not be written or read.

    Attributes
    ----------
    full : bool
        Whether the disk is full: nothing was written, and a later attempt may succeed.
    """

    def __init__(self, message: str, *, full: bool = False) -> None:
        super().__init__(message)
        self.full = full


class StoredEvent(NamedTuple):
    """One event of one model."""

    seq: int
    at: float
    body: bytes
    answer: bytes | None


class KnownKey(NamedTuple):
    """What is known of a request by its key: the digest of its body, its event and the first answer."""

    digest: bytes
    seq: int
    answer: bytes | None


class StoredSnapshot(NamedTuple):
    """A model file of one version, in the data folder."""

    seq: int
    file: str
    digest: bytes
    counts: bytes


class Journal:
    """One connection to the database of a data folder.

    Parameters
    ----------
    path : path
        The database; it is made if it is not there.
    writes : bool
        Whether this connection writes.
    """

    def __init__(self, path: str | os.PathLike[str], *, writes: bool = True) -> None:
        self.path, self.writes = Path(path).absolute(), writes
        if writes:
            # SQLite would make it readable for others; the log beside it gets the permissions of the database.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._telling("opened"):
            place = self.path.as_uri() + ("" if writes else "?mode=ro")
            self._db = sqlite3.connect(
                place, uri=True, isolation_level=None, check_same_thread=False, timeout=30.0
            )
            if writes:
                for pragma in ("journal_mode=WAL", "synchronous=FULL", "fullfsync=1", "checkpoint_fullfsync=1"):
                    self._db.execute(f"PRAGMA {pragma}").close()
                self._db.execute("PRAGMA secure_delete=ON").close()
                self._make_tables()

    def _make_tables(self) -> None:
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found == 0:
            self._db.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version={FORMAT}; COMMIT;")
        elif found != FORMAT:
            raise JournalError(
                f"{self.path} is a journal of version {found}, but this rosenblatt reads version {FORMAT}. Use "
                "the version that wrote it."
            )

    def reader(self) -> Journal:
        """Return another connection, which only reads."""
        return Journal(self.path, writes=False)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that is written meanwhile, or nothing; on disk when it ends without an error."""
        with self._telling("written"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Read one state of the journal, whatever is written meanwhile."""
        self._all("BEGIN")
        try:
            yield
        finally:
            self._all("COMMIT")

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", type(error).__name__)
            full = name == "SQLITE_FULL"
            raise JournalError(f"{self.path} could not be {what}: {error} ({name}).", full=full) from error

    def _all(self, statement: str, *values: Any) -> list[Any]:
        with self._telling("read"):
            return self._db.execute(statement, values).fetchall()

    def _one(self, statement: str, *values: Any) -> Any:
        with self._telling("read"):
            return self._db.execute(statement, values).fetchone()

    def _do(self, statement: str, *values: Any) -> int:
        with self._telling("written"):
            return self._db.execute(statement, values).rowcount

    def _do_all(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            with self._telling("written"):
                self._db.executemany(statement, rows)

    @property
    def written(self) -> int:
        """How many rows this connection has written."""
        return self._db.total_changes

    def changed(self) -> int:
        """Return a number that differs after another connection has written."""
        return int(self._one("PRAGMA data_version")[0])

    # Models

    def models(self) -> dict[str, tuple[int, bytes, int]]:
        """Return the number, the digest of the first file, and the oldest version of each model by its name."""
        return {name: (number, source, base) for number, name, source, base in self._all(
            "SELECT id, name, source, base FROM models ORDER BY id")}  # fmt: skip

    def add_model(self, name: str, source: bytes) -> int:
        """Add a model, and return its number."""
        self._do("INSERT INTO models (name, source) VALUES (?, ?)", name, source)
        (number,) = self._one("SELECT id FROM models WHERE name = ?", name)
        return int(number)

    # Events

    def add_events(self, rows: Sequence[tuple[int, int, float, bytes]]) -> None:
        """Add events: model, number, time and body of each."""
        self._do_all("INSERT INTO events (model, seq, at, body) VALUES (?, ?, ?, ?)", rows)

    def add_change(self, model: int, seq: int, kind: str, target: int) -> None:
        """Note an event that is no example, so that it is found without reading all events."""
        self._do("INSERT INTO changes VALUES (?, ?, ?, ?)", model, seq, kind, target)

    def changes(self, model: int) -> list[tuple[int, str, int, float]]:
        """Return the number, kind, target and time of all rollbacks and erasures."""
        return self._all(
            "SELECT c.seq, c.kind, c.target, e.at FROM changes c JOIN events e ON e.model = c.model AND "
            "e.seq = c.seq WHERE c.model = ? ORDER BY c.seq", model)  # fmt: skip

    def set_answers(self, rows: Sequence[tuple[bytes, int, int]]) -> None:
        """Keep the answers to events: answer, model, number."""
        self._do_all("UPDATE events SET answer = ? WHERE model = ? AND seq = ?", rows)

    def events(self, model: int, after: int, upto: int) -> Iterator[list[StoredEvent]]:
        """Yield events in order, some at a time."""
        while after < upto:
            found = [StoredEvent(*row) for row in self._all(
                "SELECT seq, at, body, answer FROM events WHERE model = ? AND seq > ? AND seq <= ? ORDER BY seq "
                "LIMIT ?", model, after, upto, CHUNK)]  # fmt: skip
            if not found:
                return
            yield found
            after = found[-1].seq

    def event(self, model: int, seq: int) -> StoredEvent | None:
        """Return one event, if it is there."""
        found = self._one("SELECT seq, at, body, answer FROM events WHERE model = ? AND seq = ?", model, seq)
        return None if found is None else StoredEvent(*found)

    def last(self, model: int) -> int | None:
        """Return the number of the last event, or None if there is none."""
        (found,) = self._one("SELECT max(seq) FROM events WHERE model = ?", model)
        return None if found is None else int(found)

    def replace_body(self, model: int, seq: int, body: bytes) -> None:
        """Replace an event."""
        self._do("UPDATE events SET body = ? WHERE model = ? AND seq = ?", body, model, seq)

    # Keys

    def key(self, model: int, key: bytes) -> KnownKey | None:
        """Return what is known of a key."""
        found = self._one(
            "SELECT k.digest, k.seq, coalesce(k.answer, e.answer) FROM keys k LEFT JOIN events e ON "
            "e.model = k.model AND e.seq = k.seq WHERE k.model = ? AND k.key = ?", model, key)  # fmt: skip
        return None if found is None else KnownKey(*found)

    def add_keys(self, rows: Sequence[tuple[int, bytes, bytes, int]]) -> None:
        """Add keys: model, key, digest of the body, number of the event."""
        self._do_all("INSERT INTO keys (model, key, digest, seq) VALUES (?, ?, ?, ?)", rows)

    def drop_keys(self, before: bytes) -> int:
        """Forget keys made before a time; keys sort by time."""
        return self._do("DELETE FROM keys WHERE key < ?", before)

    # Predictions to be judged later

    def remember(self, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
        """Keep predictions: model, id, body."""
        self._do_all("INSERT INTO predictions VALUES (?, ?, ?)", rows)

    def prediction(self, model: int, number: bytes) -> bytes | None:
        """Return a prediction that is kept."""
        found = self._one("SELECT body FROM predictions WHERE model = ? AND id = ?", model, number)
        return None if found is None else found[0]

    def drop_predictions(self, model: int, before: bytes, most: int) -> None:
        """Forget predictions made before a time, and the oldest beyond a number; ids sort by time."""
        (last,) = self._one(
            "SELECT max(coalesce((SELECT max(id) FROM predictions WHERE model = ?1 AND id < ?2), x''), "
            "coalesce((SELECT id FROM predictions WHERE model = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?3), x''))",
            model, before, most)  # fmt: skip
        if last:
            self._do("DELETE FROM predictions WHERE model = ? AND id <= ?", model, last)
            self._do("UPDATE models SET forgotten = ? WHERE id = ?", last, model)

    def drop_predictions_judged(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Forget predictions whose label is learned now: model and id of each; others may not be there."""
        self._do_all("DELETE FROM predictions WHERE model = ? AND id = ?", rows)

    def forgotten(self, model: int) -> bytes:
        """Return the id of the newest prediction that was forgotten; empty if none was."""
        found: bytes = self._one("SELECT forgotten FROM models WHERE id = ?", model)[0]
        return found

    # Digests and snapshots

    def add_digests(self, rows: Sequence[tuple[int, int, bytes]]) -> None:
        """Keep digests of states: model, version, digest."""
        self._do_all("INSERT OR REPLACE INTO digests VALUES (?, ?, ?)", rows)

    def digests(self, model: int, after: int, upto: int) -> dict[int, bytes]:
        """Return the digest of each version that has one."""
        return dict(self._all(
            "SELECT seq, digest FROM digests WHERE model = ? AND seq > ? AND seq <= ?", model, after, upto
        ))  # fmt: skip

    def add_snapshot(self, model: int, snapshot: StoredSnapshot) -> None:
        """Note that a version is in a file."""
        self._do("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", model, *snapshot)

    def snapshots(self, model: int) -> list[StoredSnapshot]:
        """Return all snapshots, the oldest first."""
        rows = self._all("SELECT seq, file, digest, counts FROM snapshots WHERE model = ? ORDER BY seq", model)
        return [StoredSnapshot(*row) for row in rows]

    def drop_snapshots(self, model: int, numbers: Sequence[int]) -> None:
        """Forget snapshots; their files are the caller's."""
        self._do_all("DELETE FROM snapshots WHERE model = ? AND seq = ?", [(model, seq) for seq in numbers])

    def begin_at(self, model: int, base: int) -> None:
        """Remove all up to a version that is in a snapshot: it becomes the oldest one."""
        self._do(
            "UPDATE keys SET answer = (SELECT answer FROM events e WHERE e.model = keys.model AND "
            "e.seq = keys.seq) WHERE model = ? AND seq <= ? AND answer IS NULL", model, base)  # fmt: skip
        for table in ("events", "changes", "digests"):
            self._do(f"DELETE FROM {table} WHERE model = ? AND seq <= ?", model, base)
        self._do("UPDATE models SET base = ? WHERE id = ?", base, model)

    def forget_requests(self, model: int, numbers: Sequence[int]) -> None:
        """Forget the bodies of requests whose rows are erased: a repetition is then refused."""
        rows = [(model, seq) for seq in numbers]
        self._do_all(
            "DELETE FROM predictions WHERE model = ?1 AND "
            "id IN (SELECT key FROM keys WHERE model = ?1 AND seq = ?2)",
            rows,
        )
        self._do_all("UPDATE keys SET digest = x'' WHERE model = ? AND seq = ?", rows)

    def forget_states(self, model: int, first: int) -> None:
        """Remove the digests of all versions from one on: they held rows that are erased."""
        self._do("DELETE FROM digests WHERE model = ? AND seq >= ?", model, first)

    def empty_log(self) -> None:
        """Move the log into the database and overwrite it, so that nothing erased stays in a file."""
        self._all("PRAGMA wal_checkpoint(TRUNCATE)")
