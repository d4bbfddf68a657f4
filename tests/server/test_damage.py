"""No flipped bit is believed: a damaged data folder gives the state that was served, or is refused."""

import asyncio
import os
import random
import re
import shutil
import uuid

import pytest

import rosenblatt as rb
from rosenblatt.exceptions import StorageError
from rosenblatt.server import writer
from rosenblatt.server.host import Host
from rosenblatt.server.messages import new_id
from rosenblatt.server.replay import History, ReplayError
from tests.server.serving import calling

MANY = 10_000
DIGESTS = 20
LOG, DATABASE, MARK = "journal.sqlite-wal", "journal.sqlite", "journal.acknowledged"


def grown():
    """Return a perceptron whose features have names, and which meets new ones."""
    learner = rb.Perceptron(average=True)
    for row, label in (({"a": 1.0}, "x"), ({"b": 1.0}, "y"), ({"c": 2.0, "a": 1.0}, "z")):
        learner.learn_one(row, label, classes=["x", "y", "z"])
    return learner


def scenario(folder):
    """Learn, roll back, erase, remember. Copy the folder while it is in use, as after a kill, and when closed."""

    async def run():
        rng = random.Random(0)
        async with calling(folder / "data", {"m": folder / "m.model"}, snapshot_every=15) as server:
            for k in range(70):
                rows = [
                    {rng.choice("abcdefgh"): rng.uniform(-2, 2), f"n{k}": 1.0} for _ in range(rng.choice([1, 3]))
                ]
                key = str(uuid.UUID(int=k, version=4)) if k % 3 == 0 else str(new_id())
                answer = await server.learn(rows, [rng.choice("xyz") for _ in rows], key)
                assert answer.status_code == 200, answer.text
                if k == 30:
                    assert (await server.post("rollback", {"version": 12})).status_code == 200
                if k == 45:
                    assert (await server.post("erase", {"versions": [{"version": 40}]})).status_code == 200
                if k % 10 == 5:
                    asked = {"rows": [{"a": 1.0, "b": k}], "remember": True}
                    assert (await server.post("predict", asked)).status_code == 200
            copied(folder / "data", folder / "killed")

    rb.save(grown(), folder / "m.model")
    every, writer.DIGEST_EVERY = writer.DIGEST_EVERY, DIGESTS
    try:
        asyncio.run(run())
    finally:
        writer.DIGEST_EVERY = every
    copied(folder / "data", folder / "closed")


def copied(folder, made):
    shutil.copytree(folder, made, ignore=shutil.ignore_patterns("*-shm", "*.lock"))


def whole(folder):
    """Start on a folder, and return all that it can tell."""
    host = Host(folder, {})
    try:
        return told_by(host, folder)
    finally:
        host.close()


def told_by(host, folder):
    """Return all that a server can tell that has just started on a folder."""
    model = host.models["m"]
    journal, number = host.journal, model.number
    events = [event for some in journal.events(number, 0, 10**9) for event in some]
    answers = {seq: answer for answer, _, seq in host.writer.unwritten}
    told = [(event.seq, event.at, event.body, event.answer or answers.get(event.seq)) for event in events]
    keys = [bytes(key) for (key,) in journal._all("SELECT key FROM keys ORDER BY key")]
    known = [(key, journal.key(number, key)[:2]) for key in keys]
    ids = [bytes(key) for (key,) in journal._all("SELECT id FROM predictions ORDER BY id")]
    predictions = [(each, journal.prediction(number, each)) for each in ids]
    history = History(journal, folder, "m")
    rest = model.version, model.base, history.ended(), model.tally.counts(), model.newest().digest()
    return told, known, predictions, rest


class Folders:
    """Copies of a data folder, each with one change."""

    def __init__(self, place, made):
        self.place = place
        self.files = {path.name: path.read_bytes() for path in sorted(made.iterdir())}
        self.truth = self.told({})

    def told(self, changed):
        folder = self.place / "copy"
        folder.mkdir(mode=0o700, exist_ok=True)
        for left in folder.iterdir():
            left.unlink()
        for name, content in (self.files | changed).items():
            if content is not None:
                (folder / name).write_bytes(content)
                os.chmod(folder / name, 0o600)
        return whole(folder)

    def flipped(self, name, bit):
        content = bytearray(self.files[name])
        content[bit // 8] ^= 1 << bit % 8
        return {name: bytes(content)}

    def judge(self, changed):
        """Return "same", or how the change was refused; fail if it was believed."""
        try:
            told = self.told(changed)
        except StorageError as error:
            return str(error)
        assert told == self.truth, f"a changed bit was believed: {list(changed)}"
        return "same"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("damage")
    scenario(place)
    return place


@pytest.fixture(scope="module")
def killed(made):
    """The folder of a server that was killed: most is in the log."""
    return Folders(made, made / "killed")


@pytest.fixture(scope="module")
def closed(made):
    """The folder of a server that was stopped: everything is in the database."""
    return Folders(made, made / "closed")


def flip(folders, number, seed):
    """Flip random bits, most of them of the journal; return the file and what became of it, for each."""
    rng = random.Random(seed)
    journal = [name for name in (DATABASE, LOG) if name in folders.files]
    told = []
    for _ in range(number):
        name = rng.choice(journal if rng.random() < 0.8 else list(folders.files))
        told.append((name, folders.judge(folders.flipped(name, rng.randrange(8 * len(folders.files[name]))))))
    return told


def test_no_flipped_bit_is_believed(killed, closed):
    cut = [each for _, each in flip(killed, 60, seed=1)]
    assert any(re.search(r"after event \d+ of m", each) for each in cut)
    told = [each for _, each in flip(closed, 100, seed=2)]
    assert any(re.search(r"[Ee]vent \d+ of m is damaged", each) for each in told)
    assert "same" in cut
    assert "same" in told  # a place that is not used


@pytest.mark.slow
def test_no_flipped_bit_of_many_is_believed(killed, closed):
    assert len(flip(killed, MANY // 2, seed=3)) + len(flip(closed, MANY // 2, seed=4)) == MANY


def test_a_changed_snapshot_that_is_not_in_use_restores_nothing(closed):
    """The server starts, because the newest one is sound; a version that needs the changed one is refused."""
    rng, name = random.Random(5), "m-15.model"
    for _ in range(5):
        assert closed.judge(closed.flipped(name, rng.randrange(8 * len(closed.files[name])))) == "same"
        host = Host(closed.place / "copy", {})
        try:
            with pytest.raises(ReplayError, match="The snapshot of version 15 of m cannot be used"):
                History(host.journal, closed.place / "copy", "m").replica_at(17)
        finally:
            host.close()


@pytest.mark.parametrize("number", [1, 40, 72])
def test_an_event_is_named_also_after_the_last_digest(closed, number):
    """A bit of the body of each kind of event: rows, an erased one, the last one after the last digest."""
    body = closed.truth[0][number - 1][2]
    place = closed.files[DATABASE].index(body)
    said = closed.judge(closed.flipped(DATABASE, 8 * (place + len(body) // 2)))
    assert said == (
        f"Event {number} of m is damaged: its checksum is wrong. Restore the data folder from a backup."
    )


def test_a_changed_answer_is_not_given(closed):
    seq, _, _, answer = closed.truth[0][70]
    place = closed.files[DATABASE].index(answer)
    said = closed.judge(closed.flipped(DATABASE, 8 * (place + len(answer) - 2)))
    assert said.startswith(f"The answer to event {seq} of m is damaged")


def test_a_message_that_is_no_text_is_refused(closed):
    """SQLite quotes a damaged name in its message, which Python then cannot decode."""
    database = closed.files[DATABASE]
    changed = database.replace(b"tableeventsevents", b"tableev\xcentsevents")
    changed = changed.replace(b"CREATE TABLE events", b"CREAT\xce TABLE events")
    assert changed != database
    assert closed.judge({DATABASE: changed}) == (
        "journal.sqlite is damaged: a text in it is not in UTF-8. Restore the data folder from a backup."
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_log_is_refused(killed, share):
    """SQLite takes it for an older state, which was never served after the later ones."""
    log = killed.files[LOG]
    said = killed.judge({LOG: log[: int(share * len(log))]})
    assert re.search(r"commit \d+ was acknowledged, but the last one there is \d+, after event \d+ of m", said), (
        said
    )


def test_what_is_missing_is_refused(killed, closed):
    assert "was acknowledged" in killed.judge({LOG: None})
    assert "is damaged: it is empty" in closed.judge({DATABASE: b""})
    assert "SQLite says" in closed.judge({DATABASE: closed.files[DATABASE][:-4096]})
    newest = max((name for name in closed.files if name.endswith(".model")), key=lambda name: int(name[2:-6]))
    assert f"{newest} is missing" in closed.judge({newest: None})
    assert closed.judge({MARK: None}) == "same"  # as in a backup
    assert closed.judge({MARK: bytes(16)}) == "same"  # as after a power failure


def test_an_older_backup_is_used_when_the_mark_is_removed(killed):
    """The message says how."""
    said = killed.judge({LOG: None})
    assert re.search(r"If you restored an older backup, remove \S+journal.acknowledged", said)
    folder = killed.place / "copy"
    (folder / MARK).unlink()
    assert whole(folder)[3][0] < killed.truth[3][0]


def test_a_list_of_changes_that_lacks_one_is_refused(closed):
    import sqlite3

    folder = closed.place / "copy"
    for seq in (32, 48):
        closed.told({})
        with sqlite3.connect(folder / DATABASE) as database:
            assert database.execute("DELETE FROM changes WHERE seq = ?", (seq,)).rowcount == 1
            database.execute("DELETE FROM snapshots WHERE seq > 30")
        database.close()
        with pytest.raises(ReplayError, match=f"Event {seq} of m is not in the journal's list of changes"):
            whole(folder)
