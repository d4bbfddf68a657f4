"""What is erased is in no file of the data folder, however the server ends."""

import asyncio
import random
import shutil

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.server import journal as journals
from rosenblatt.server.host import Host
from rosenblatt.server.journal import Journal
from rosenblatt.server.messages import new_id
from tests.server.serving import calling, hosted, noted, saved, trained


@pytest.fixture(scope="module")
def model():
    return trained(rb.Perceptron())


@pytest.fixture
def named(tmp_path):
    """A model whose features have names, and which meets new ones."""
    learner = rb.Perceptron()
    for row, label in (({"a": 1.0}, "x"), ({"b": 1.0}, "y"), ({"a": 2.0}, "z")):
        learner.learn_one(row, label, classes=["x", "y", "z"])
    return saved(learner, tmp_path)


def traces(folder, secrets):
    """Return where bytes are found that were to be erased."""
    found = []
    for path in folder.iterdir():
        if path.is_file() and not path.name.endswith("-shm"):
            content = path.read_bytes()
            found += [(path.name, secret) for secret in secrets if secret in content]
    return found


def bytes_of(rows):
    """Return what a file could hold of rows: each value, and each name."""
    names = [name.encode() for row in rows for name in row if name.startswith("secret")]
    return [np.float64(value).tobytes() for row in rows for value in row.values()] + names


def row_of(rng, name):
    return {name: rng.uniform(1, 2), "a": rng.uniform(1, 2)}


@pytest.mark.parametrize(
    "versions, erased",
    [
        ([{"version": 1}, {"version": 1, "rows": [0]}], 3),
        ([{"version": 1, "rows": [0]}, {"version": 1}], 3),
        ([{"version": 1, "rows": [0]}, {"version": 1, "rows": [0, 2]}], 2),
    ],
)
def test_rows_of_a_version_are_named_together(model, tmp_path, versions, erased):
    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            rows = [[float(k), 1.25 + k, 2.5, 0.125] for k in range(3)]
            await server.learn(rows, ["a", "b", "c"])
            told = await server.post("erase", {"versions": versions})
            assert told.json()["erased"] == erased
            await server.post("rollback", {"version": 2})
            left = [row for k, row in enumerate(rows) if erased == 2 and k == 1]
        found = traces(tmp_path / "data", [np.array(row).tobytes() for row in rows])
        assert {secret for _, secret in found} == {np.array(row).tobytes() for row in left}

    asyncio.run(scenario())


def test_no_rows_are_not_all_rows(model, tmp_path):
    async def scenario():
        async with calling(tmp_path / "data", saved(model, tmp_path)) as server:
            await server.learn([[1.0, 2.0, 3.0, 4.0]], ["a"])
            told = await server.post("erase", {"versions": [{"version": 1, "rows": []}]})
            assert (told.status_code, "rows of version 1 is empty" in told.text) == (422, True)
            assert (await server.of_model("versions")).json()["ended"] == []

    asyncio.run(scenario())


@pytest.mark.slow
def test_nothing_is_left_among_many_events(named, tmp_path):
    """SQLite copies rows when it divides a page, and leaves the copies where nothing is stored."""
    rng = random.Random(0)

    async def scenario():
        async with calling(tmp_path / "data", named, snapshot_every=100) as server:
            secrets, versions = [], []
            for k in range(1, 401):
                row = row_of(rng, f"secret{k}" if k % 7 == 0 else f"n{k}") | {
                    f"m{j}": rng.uniform(1, 2) for j in range(rng.randrange(40))
                }
                assert (await server.learn([row], [rng.choice("xyz")])).json()["version"] == k
                if k % 7 == 0:
                    secrets.append(row)
                    versions.append({"version": k})
            assert traces(tmp_path / "data", bytes_of(secrets))
            assert (await server.post("erase", {"versions": versions})).json()["erased"] == len(secrets)
            assert not traces(tmp_path / "data", bytes_of(secrets))
            await server.learn([{"a": 1.0}], ["x"])
        assert not traces(tmp_path / "data", bytes_of(secrets))

    asyncio.run(scenario())


def test_a_kill_at_any_step_leaves_nothing(named, tmp_path):
    """The folder is copied before each statement and each removal: this is what a kill at that moment leaves."""
    rng = random.Random(1)
    copies = []

    async def scenario():
        async with calling(tmp_path / "data", named, snapshot_every=3) as server:
            for k in range(1, 11):
                row = secret if k == 5 else row_of(rng, f"n{k}")
                await server.learn([row], [rng.choice("xyz")], key if k == 5 else None)
                await noted(server.host)

            def copy(*_):
                copies.append(tmp_path / f"copy{len(copies)}")
                shutil.copytree(tmp_path / "data", copies[-1], ignore=shutil.ignore_patterns("*-shm", "*.lock"))

            def removing(snapshots, remove=server.host.administration._remove):
                copy()
                remove(snapshots)
                copy()

            server.host.administration._remove = removing
            database = server.host.journal._db
            database.set_trace_callback(copy)
            assert (await server.post("erase", {"versions": [{"version": 5}]})).json()["version"] == 11
            database.set_trace_callback(None)
            assert not traces(tmp_path / "data", bytes_of([secret]))

    secret, key = row_of(rng, "secret"), str(new_id())
    asyncio.run(scenario())
    assert len(copies) > 20
    before = after = left_over = 0
    for folder in copies:
        left_over += bool(traces(folder, bytes_of([secret])))
        with hosted(folder, {}) as host:
            version = host.models["m"].version
            assert version == 10 or not traces(folder, bytes_of([secret])), folder  # while it runs, too
        if version == 10:
            before += 1
        else:
            after += 1
            assert version == 11
            assert not traces(folder, bytes_of([secret])), folder
        shutil.rmtree(folder)
    assert min(before, after) > 3
    assert left_over > before  # some kills after the commit did leave traces, which the start removed


def test_a_log_that_is_read_is_emptied_later(named, tmp_path, monkeypatch):
    rng = random.Random(2)
    secret = row_of(rng, "secret")
    monkeypatch.setattr(journals, "LONGEST_CLEANING", 0.0)

    async def scenario():
        async with calling(tmp_path / "data", named) as server:
            await server.learn([secret], ["x"])
            server.host.journal._db.execute("PRAGMA busy_timeout = 0")
            reader = server.host.journal.reader()
            with reader.one_state():
                assert reader.last(1) == 1
                told = await server.post("erase", {"versions": [{"version": 1}]})
                assert (told.status_code, told.headers["retry-after"]) == (503, "10")
                assert "traces" in told.json()["detail"]
                assert (await server.of_model("")).json()["version"] == 2
                await noted(server.host)
                shutil.copytree(tmp_path / "data", tmp_path / "copy", ignore=shutil.ignore_patterns("*-shm"))
            reader.close()
            again = await server.post("erase", {"versions": [{"version": 1}]})
            assert (again.status_code, again.json()["erased"]) == (200, 0)
            assert not traces(tmp_path / "data", bytes_of([secret]))

    asyncio.run(scenario())
    assert traces(tmp_path / "copy", bytes_of([secret]))
    with hosted(tmp_path / "copy", {}):
        assert not traces(tmp_path / "copy", bytes_of([secret]))


def test_an_export_leaves_nothing_behind(named, tmp_path):
    async def scenario():
        async with calling(tmp_path / "data", named) as server:
            before = {path.name for path in (tmp_path / "data").iterdir()}
            assert (await server.of_model("export")).status_code == 200
            assert {path.name for path in (tmp_path / "data").iterdir()} == before
        (tmp_path / "data" / ".killed.partial").write_bytes(b"an export that was not finished")
        Host(tmp_path / "data", {}).close()
        assert not (tmp_path / "data" / ".killed.partial").exists()

    asyncio.run(scenario())


def test_a_journal_that_was_not_cleaned_says_so_until_it_is(tmp_path):
    journal = Journal(tmp_path / "j")
    with journal.erasing():
        journal.add_model("m", b"x")
    journal.close()
    again = Journal(tmp_path / "j")
    assert not again._clean
    again.clean()
    again.close()
    last = Journal(tmp_path / "j")
    assert last._clean
    last.close()
