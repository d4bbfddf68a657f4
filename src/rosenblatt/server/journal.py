"""The journal: an SQLite database in which every event is on disk before it is acknowledged.

Write-ahead logging with ``synchronous=FULL``: a commit returns after the log has reached the disk. One connection
writes; others only read, and never wait for it.

No damage is believed. Every value has a checksum that covers its place too, and is checked whenever it is read. At
the start all are checked, and SQLite checks the structure of the file. Commits are numbered, and the number of the
last one is also in a file beside the database, because SQLite takes a damaged log for the end of the log.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from rosenblatt.exceptions import StorageError

JOURNAL = "journal.sqlite"
"""The file in the data folder."""
FORMAT = 1
EVENTS_AT_ONCE = 1000
"""Events that a replay reads at a time."""
CLEAN = b"clean"
"""Follows the number of the last commit where no file holds traces of what was erased."""
MOST_NUMBER = (1 << 63) - 1
CHECKSUM_BYTES = 8
"""Bytes of a checksum."""
ACKNOWLEDGED = ".acknowledged"
"""Ends the name of the file with the number of the last commit."""
LONGEST_CLEANING = 60.0
"""Seconds to wait for those who still read what was erased."""

TABLES = """
CREATE TABLE commits (id INTEGER PRIMARY KEY, number BLOB NOT NULL);
CREATE TABLE models (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, source BLOB NOT NULL, base INTEGER NOT NULL,
    forgotten BLOB NOT NULL, sum BLOB NOT NULL);
CREATE TABLE events (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, body BLOB NOT NULL, answer BLOB,
    PRIMARY KEY (model, seq)) WITHOUT ROWID;
CREATE TABLE changes (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (model, seq)) WITHOUT ROWID;
CREATE TABLE keys (
    model INTEGER NOT NULL, key BLOB NOT NULL, at REAL, digest BLOB NOT NULL, seq INTEGER NOT NULL, answer BLOB,
    PRIMARY KEY (model, key)) WITHOUT ROWID;
CREATE INDEX keys_by_time ON keys (at) WHERE at IS NOT NULL;
CREATE TABLE predictions (
    model INTEGER NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (model, id)) WITHOUT ROWID;
CREATE TABLE digests (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (model, seq)) WITHOUT ROWID;
CREATE TABLE snapshots (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, file TEXT NOT NULL, digest BLOB NOT NULL, counts BLOB NOT NULL,
    PRIMARY KEY (model, seq)) WITHOUT ROWID;
"""


def seal(content: bytes, *place: Any) -> bytes:
    """Return bytes with a checksum of them and of their place: a table, a model, a number."""
    return content + blake2b(repr(place).encode() + content, digest_size=CHECKSUM_BYTES).digest()


CORRUPT = ("SQLITE_CORRUPT", "SQLITE_CORRUPT_INDEX", "SQLITE_CORRUPT_SEQUENCE")
"""Errors that SQLite gives for what it cannot make sense of, and also where the disk fails as it reads (EIO)."""


DISK = "Check the disk, or restore the data folder from a backup on another one."
"""What to do if the disk fails."""


def _said(error: object) -> str:
    return "SQLite says: " + " ".join(str(error).split())


def _cannot_read(check: str) -> bool:
    """Return whether a check of SQLite ended because the disk failed; it tells only the code of the error."""
    code = re.search(r"error code=(\d+)", check)
    return code is not None and int(code[1]) & 0xFF == sqlite3.SQLITE_IOERR


class JournalError(StorageError):
    """The journal could not be written or read.

    If the disk is `full`, nothing was written, and a later attempt may succeed.
    """

    def __init__(self, message: str, *, full: bool = False) -> None:
        super().__init__(message)
        self.full = full


class DamageError(JournalError):
    """Something in the journal is not what was written."""


class StoredModelRow(NamedTuple):
    """One model: its number, the digest of its first file, its oldest version, the newest prediction forgotten."""

    number: int
    source: bytes
    base: int
    forgotten: bytes


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
    """One connection to the database of a data folder, which is made if it is not there."""

    def __init__(self, path: str | os.PathLike[str], *, writes: bool = True) -> None:
        self.path, self.writes = Path(path).absolute(), writes
        if writes:
            # SQLite would make it readable for others; the log beside it gets the permissions of the database.
            os.close(self._file(self.path))
        with self._telling("opened"):
            place = self.path.as_uri() + ("" if writes else "?mode=ro")
            self._db = sqlite3.connect(
                place, uri=True, isolation_level=None, check_same_thread=False, timeout=30.0
            )
            if writes:
                self._commits, self._clean = 0, True
                self._mark = -1
                try:
                    self._begin()
                except BaseException:
                    self.close()
                    raise

    def _begin(self) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "fullfsync=1", "checkpoint_fullfsync=1"):
            self._db.execute(f"PRAGMA {pragma}").close()
        self._db.execute("PRAGMA secure_delete=ON").close()
        acknowledged = self._open_mark()
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found == 0 and acknowledged == 0:
            first = self._commit_number(0).hex()
            self._db.executescript(
                f"BEGIN IMMEDIATE; {TABLES} INSERT INTO commits VALUES (0, x'{first}'); "
                f"PRAGMA user_version={FORMAT}; COMMIT;"
            )
            return
        if found not in (0, FORMAT):
            raise JournalError(
                f"{self.path} is a journal of version {found}, but this rosenblatt reads version {FORMAT}. Use "
                "the version that wrote it."
            )
        if found == 0:
            raise self._damage(self.path.name, "it is empty")
        wrong = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if _cannot_read(wrong):
            raise self._unreadable(self.path, "disk I/O error when SQLite checked it")
        if wrong != "ok":
            raise self._damage(self.path.name, _said(wrong))
        [(number,)] = self._db.execute("SELECT number FROM commits").fetchall() or [(None,)]
        told = self._opened(number, "The number of the last commit", "commits")
        self._commits, self._clean = int.from_bytes(told[:8], "little"), told[8:] == CLEAN
        if self._commits < acknowledged:
            raise self._damage(
                "The end of the journal", f"commit {acknowledged} was acknowledged, but the last one there is "
                f"{self._commits}, {self._ends()}. If you restored an older backup, remove {self._mark_path}"
            )  # fmt: skip

    def _ends(self) -> str:
        """Return the last event of each model, in words."""
        rows = self._db.execute("SELECT name, (SELECT max(seq) FROM events WHERE model = id) FROM models")
        told = [f"after event {seq or 0} of {name}" for name, seq in rows]
        return ", ".join(told) or "before the first event"

    # The number of the last commit, in a file of its own. It is written after each commit, and not synchronised:
    # after a power failure it may be older, and then proves less.

    @property
    def _mark_path(self) -> Path:
        return self.path.with_name(self.path.stem + ACKNOWLEDGED)

    def _file(self, path: Path) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as error:
            raise JournalError(
                f"{path} cannot be written: {error.strerror}. Make the data folder your own, on a disk that can "
                "be written, or choose another one."
            ) from error

    def _open_mark(self) -> int:
        self._mark = self._file(self._mark_path)
        try:
            found = os.read(self._mark, 64)
        except OSError as error:
            raise self._unreadable(self._mark_path, str(error.strerror)) from error
        if not any(found):
            return 0
        number = int.from_bytes(found[:8], "little")
        if found != seal(found[:8], "commits"):
            raise self._damage(str(self._mark_path), "remove it if the rest is as it should be")
        return number

    def _acknowledge(self) -> None:
        try:
            os.lseek(self._mark, 0, os.SEEK_SET)
            os.write(self._mark, seal(self._commits.to_bytes(8, "little"), "commits"))
        except OSError as error:
            raise JournalError(f"{self._mark_path} could not be written: {error.strerror}.") from error

    def _commit_number(self, number: int) -> bytes:
        return seal(number.to_bytes(8, "little") + (CLEAN if self._clean else b""), "commits")

    def check(self) -> None:
        """Check every value, also those that the state of no model depends on; `DamageError` names the event."""
        for number in (row.number for row in self.models().values()):
            for _ in self.events(number, -1, MOST_NUMBER):
                pass
            self.changes(number)
            self.digests(number, -1, MOST_NUMBER)
            self.snapshots(number)
        for model, key, at, digest, seq, answer in self._each(
            "SELECT model, key, at, digest, seq, answer FROM keys"
        ):
            self._opened(digest, KEY, "keys", model, seq, key, at)
            self._answer(answer, model, seq)
        for model, number, body in self._each("SELECT model, id, body FROM predictions"):
            self._opened(body, PREDICTION, "predictions", model, number)

    def _each(self, statement: str) -> Iterator[Any]:
        with self._telling("read"):
            yield from self._db.execute(statement)

    def _damage(self, what: str, why: str = "its checksum is wrong") -> DamageError:
        return DamageError(f"{what} is damaged: {why}. Restore the data folder from a backup.")

    def _unreadable(self, path: Path, why: str) -> JournalError:
        return JournalError(f"{path} could not be read: {why}. {DISK}")

    def _opened(self, sealed: Any, what: str, *place: Any) -> bytes:
        """Return a value of the journal without its checksum, which must be right."""
        if isinstance(sealed, bytes):
            content = sealed[:-CHECKSUM_BYTES]
            if seal(content, *place) == sealed:
                return content
        raise self._damage(what.format(*(self._name(each) for each in place[1:2]), *place[2:]))

    def _name(self, model: Any) -> str:
        found = self._one("SELECT name FROM models WHERE id = ?", model)
        return f"model {model}" if found is None else str(found[0])

    def reader(self) -> Journal:
        """Return another connection, which only reads."""
        return Journal(self.path, writes=False)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()
        if self.writes and self._mark >= 0:
            os.close(self._mark)
            self._mark = -1

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that is written meanwhile, or nothing; on disk when it ends without an error."""
        with self._telling("written"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("UPDATE commits SET number = ?", (self._commit_number(self._commits + 1),))
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._commits += 1
            self._acknowledge()

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Read one state of the journal; what is written meanwhile does not show."""
        self._all("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:  # SQLite ends it when the disk fails
                self._all("COMMIT")

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError:  # of a message of SQLite that quotes what is damaged
            raise self._damage(self.path.name, "a text in it is not in UTF-8") from None
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None)
            if name is None and isinstance(error, sqlite3.OperationalError):  # its message would quote a row
                raise self._damage(self.path.name, "a text in it is not in UTF-8") from None
            if name in CORRUPT:
                raise DamageError(
                    f"{self.path} is damaged, or the disk cannot be read. {_said(error)}. Check the disk. If it "
                    "is sound, restore the data folder from a backup."
                ) from error
            if name == "SQLITE_NOTADB" or (name == "SQLITE_ERROR" and what != "written"):  # without our columns
                raise self._damage(self.path.name, _said(error)) from error
            full = name == "SQLITE_FULL"
            advice = f" {DISK}" if str(name).startswith("SQLITE_IOERR") else ""
            raise JournalError(f"{self.path} could not be {what}: {error} ({name}).{advice}", full=full) from error

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

    def models(self) -> dict[str, StoredModelRow]:
        """Return all models by their names."""
        found = {}
        for number, name, source, base, forgotten, total in self._all(
            "SELECT id, name, source, base, forgotten, sum FROM models ORDER BY id"
        ):
            self._opened(total, f"The entry of model {number}", "models", number, name, source, base, forgotten)
            found[name] = StoredModelRow(number, source, base, forgotten)
        return found

    def add_model(self, name: str, source: bytes) -> int:
        """Add a model, and return its number."""
        (last,) = self._one("SELECT coalesce(max(id), 0) FROM models")
        number = int(last) + 1
        total = seal(b"", "models", number, name, source, 0, b"")
        self._do("INSERT INTO models VALUES (?, ?, ?, 0, x'', ?)", number, name, source, total)
        return number

    def _change_model(self, number: int, **new: Any) -> None:
        name, row = next((name, row) for name, row in self.models().items() if row.number == number)
        row = row._replace(**new)
        total = seal(b"", "models", number, name, row.source, row.base, row.forgotten)
        self._do(
            "UPDATE models SET base = ?, forgotten = ?, sum = ? WHERE id = ?",
            row.base,
            row.forgotten,
            total,
            number,
        )

    # Events

    def add_events(self, rows: Sequence[tuple[int, int, float, bytes]]) -> None:
        """Add events: model, number, time and body of each."""
        sealed = [(model, seq, at, seal(body, "events", model, seq, at)) for model, seq, at, body in rows]
        self._do_all("INSERT INTO events (model, seq, at, body) VALUES (?, ?, ?, ?)", sealed)

    def add_change(self, model: int, seq: int) -> None:
        """Note that an event is no example, so that it is found without reading all events."""
        self._do("INSERT INTO changes VALUES (?, ?)", model, seq)

    def changes(self, model: int) -> list[StoredEvent]:
        """Return all rollbacks and erasures."""
        found = self._all(
            "SELECT c.seq, e.at, e.body, e.answer FROM changes c LEFT JOIN events e ON e.model = c.model AND "
            "e.seq = c.seq WHERE c.model = ? ORDER BY c.seq", model)  # fmt: skip
        return [self._event(model, *row) for row in found]

    def set_answers(self, rows: Sequence[tuple[bytes, int, int]]) -> None:
        """Keep the answers to events: answer, model, number."""
        sealed = [(seal(answer, "answers", model, seq), model, seq) for answer, model, seq in rows]
        self._do_all("UPDATE events SET answer = ? WHERE model = ? AND seq = ?", sealed)

    def events(self, model: int, after: int, upto: int) -> Iterator[list[StoredEvent]]:
        """Yield events in order, some at a time."""
        while after < upto:
            found = [self._event(model, *row) for row in self._all(
                "SELECT seq, at, body, answer FROM events WHERE model = ? AND seq > ? AND seq <= ? ORDER BY seq "
                "LIMIT ?", model, after, upto, EVENTS_AT_ONCE)]  # fmt: skip
            if not found:
                return
            yield found
            after = found[-1].seq

    def event(self, model: int, seq: int) -> StoredEvent | None:
        """Return one event, if it is there."""
        found = self._one("SELECT seq, at, body, answer FROM events WHERE model = ? AND seq = ?", model, seq)
        return None if found is None else self._event(model, *found)

    def _event(self, model: int, seq: int, at: float, body: Any, answer: Any) -> StoredEvent:
        told = self._opened(body, EVENT, "events", model, seq, at)
        return StoredEvent(seq, at, told, self._answer(answer, model, seq))

    def _answer(self, answer: Any, model: int, seq: int) -> bytes | None:
        return None if answer is None else self._opened(answer, ANSWER, "answers", model, seq)

    def last(self, model: int) -> int | None:
        """Return the number of the last event, or None if there is none."""
        (found,) = self._one("SELECT max(seq) FROM events WHERE model = ?", model)
        return None if found is None else int(found)

    def replace_body(self, model: int, seq: int, body: bytes) -> None:
        """Replace an event."""
        at = self._one("SELECT at FROM events WHERE model = ? AND seq = ?", model, seq)[0]
        sealed = seal(body, "events", model, seq, at)
        self._do("UPDATE events SET body = ? WHERE model = ? AND seq = ?", sealed, model, seq)

    # Keys

    def key(self, model: int, key: bytes) -> KnownKey | None:
        """Return what is known of a key."""
        found = self._one(
            "SELECT k.at, k.digest, k.seq, coalesce(k.answer, e.answer) FROM keys k LEFT JOIN events e ON "
            "e.model = k.model AND e.seq = k.seq WHERE k.model = ? AND k.key = ?", model, key)  # fmt: skip
        if found is None:
            return None
        at, digest, seq, answer = found
        told = self._opened(digest, KEY, "keys", model, seq, key, at)
        return KnownKey(told, seq, self._answer(answer, model, seq))

    def add_keys(self, rows: Sequence[tuple[int, bytes, float | None, bytes, int]]) -> None:
        """Add keys: model, key, when it came, digest of the body, number of the event.

        A key that tells its own time has None for when it came.
        """
        sealed = [
            (model, key, at, seal(digest, "keys", model, seq, key, at), seq)
            for model, key, at, digest, seq in rows
        ]
        self._do_all("INSERT INTO keys (model, key, at, digest, seq) VALUES (?, ?, ?, ?, ?)", sealed)

    def drop_keys(self, model: int, before: bytes, came_before: float) -> None:
        """Forget keys made before a time, of which keys are sorted by it, or that came before a time."""
        self._do("DELETE FROM keys WHERE model = ? AND key < ?", model, before)
        self._do("DELETE FROM keys WHERE model = ? AND at < ?", model, came_before)

    # Predictions to be judged later

    def remember(self, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
        """Keep predictions: model, id, body."""
        sealed = [(model, number, seal(body, "predictions", model, number)) for model, number, body in rows]
        self._do_all("INSERT INTO predictions VALUES (?, ?, ?)", sealed)

    def prediction(self, model: int, number: bytes) -> bytes | None:
        """Return a prediction that is kept."""
        found = self._one("SELECT body FROM predictions WHERE model = ? AND id = ?", model, number)
        return None if found is None else self._opened(found[0], PREDICTION, "predictions", model, number)

    def drop_predictions(self, model: int, before: bytes, most: int) -> None:
        """Forget predictions made before a time, and the oldest beyond a number; ids sort by time."""
        (last,) = self._one(
            "SELECT max(coalesce((SELECT max(id) FROM predictions WHERE model = ?1 AND id < ?2), x''), "
            "coalesce((SELECT id FROM predictions WHERE model = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?3), x''))",
            model, before, most)  # fmt: skip
        if last:
            self._do("DELETE FROM predictions WHERE model = ? AND id <= ?", model, last)
            self._change_model(model, forgotten=last)

    def drop_predictions_judged(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Forget predictions whose label is learned now: model and id of each; others may not be there."""
        self._do_all("DELETE FROM predictions WHERE model = ? AND id = ?", rows)

    # Digests and snapshots

    def add_digests(self, rows: Sequence[tuple[int, int, bytes]]) -> None:
        """Keep digests of states: model, version, digest."""
        sealed = [(model, seq, seal(digest, "digests", model, seq)) for model, seq, digest in rows]
        self._do_all("INSERT OR REPLACE INTO digests VALUES (?, ?, ?)", sealed)

    def digests(self, model: int, after: int, upto: int) -> dict[int, bytes]:
        """Return the digest of each version that has one."""
        found = self._all(
            "SELECT seq, digest FROM digests WHERE model = ? AND seq > ? AND seq <= ?", model, after, upto
        )
        return {seq: self._opened(digest, DIGEST, "digests", model, seq) for seq, digest in found}

    def add_snapshot(self, model: int, snapshot: StoredSnapshot) -> None:
        """Note that a version is in a file."""
        seq, file, digest, counts = snapshot
        sealed = seal(counts, "snapshots", model, seq, file, digest)
        self._do("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", model, seq, file, digest, sealed)

    def snapshots(self, model: int) -> list[StoredSnapshot]:
        """Return all snapshots, the oldest first."""
        rows = self._all("SELECT seq, file, digest, counts FROM snapshots WHERE model = ? ORDER BY seq", model)
        return [
            StoredSnapshot(
                seq, file, digest, self._opened(counts, SNAPSHOT, "snapshots", model, seq, file, digest)
            )
            for seq, file, digest, counts in rows
        ]

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
        self._change_model(model, base=base)

    def forget_requests(self, model: int, numbers: Iterable[int]) -> None:
        """Forget the bodies of requests whose rows are erased: a repetition is then refused."""
        wanted = set(numbers)
        found = self._all("SELECT key, at, seq FROM keys WHERE model = ?", model)
        gone = [(key, at, seq) for key, at, seq in found if seq in wanted]
        self.drop_predictions_judged([(model, key) for key, _, _ in gone])
        self._do_all(
            "UPDATE keys SET digest = ? WHERE model = ? AND key = ?",
            [(seal(b"", "keys", model, seq, key, at), model, key) for key, at, seq in gone],
        )

    def forget_states(self, model: int, first: int) -> None:
        """Remove the digests of all versions from one on: they held rows that are erased."""
        self._do("DELETE FROM digests WHERE model = ? AND seq >= ?", model, first)

    # Erased content. SQLite overwrites what is deleted, but when it moves rows between pages, it leaves copies in
    # unused places, and the log holds all that was written. So the database is made anew, and the log emptied.

    @contextmanager
    def erasing(self) -> Iterator[None]:
        """Write a transaction that erases something: the files hold traces of it until `clean`."""
        before, self._clean = self._clean, False
        try:
            with self.transaction():
                yield
        except BaseException:
            self._clean = before
            raise

    def clean(self) -> None:
        """Leave nothing in the files that was erased, if there may be something.

        `JournalError` says that there is no room for it, or that somebody reads for too long; the next attempt may
        succeed.
        """
        if self._clean:
            return
        with self._telling("cleaned"):
            self._db.execute("VACUUM")
        self._empty_log()
        self._clean = True
        try:
            with self.transaction():
                pass
        except BaseException:
            self._clean = False
            raise

    def _empty_log(self) -> None:
        end = time.monotonic() + LONGEST_CLEANING
        while self._one("PRAGMA wal_checkpoint(TRUNCATE)")[0]:  # those who read still need the log
            if time.monotonic() > end:
                raise JournalError(f"The log of {self.path} is still read, so it cannot be emptied.", full=True)


EVENT, ANSWER, KEY = "Event {1} of {0}", "The answer to event {1} of {0}", "The key of event {1} of {0}"
PREDICTION, DIGEST = "A prediction of {0}", "The digest of version {1} of {0}"
SNAPSHOT = "The entry of the snapshot of version {1} of {0}"
