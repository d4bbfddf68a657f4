"""The journal keeps what was committed, and the data folder is private and used once at a time."""

import errno
import os
import stat
import sys

import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError, StorageError
from rosenblatt.locking import InUseError
from rosenblatt.server.host import Host
from rosenblatt.server.journal import Journal, JournalError, StoredSnapshot
from tests.server.serving import hosted, saved, trained


@pytest.fixture(scope="module")
def model():
    return trained(rb.Perceptron())


def test_a_transaction_is_whole_or_not_there(tmp_path):
    journal = Journal(tmp_path / "j")
    with journal.transaction():
        number = journal.add_model("m", b"x")
        journal.add_events([(number, 1, 0.0, b"one")])

    def fails():
        with journal.transaction():
            journal.add_events([(number, 2, 0.0, b"two"), (number, 1, 0.0, b"again")])

    with pytest.raises(JournalError, match="UNIQUE"):
        fails()
    assert journal.last(number) == 1
    reader = journal.reader()
    with reader.one_state():
        assert reader.last(number) == 1
        with journal.transaction():
            journal.add_events([(number, 2, 0.0, b"two")])
        assert reader.last(number) == 1
    assert reader.last(number) == 2
    reader.close()
    journal.close()


def test_commits_reach_the_disk(tmp_path):
    journal = Journal(tmp_path / "j")
    assert journal._one("PRAGMA journal_mode") == ("wal",)
    assert journal._one("PRAGMA synchronous") == (2,)  # FULL
    assert journal._one("PRAGMA fullfsync") == (1,)
    journal.close()


def test_what_is_folded_keeps_its_answer(tmp_path):
    journal = Journal(tmp_path / "j")
    with journal.transaction():
        number = journal.add_model("m", b"x")
        journal.add_events([(number, seq, 0.0, b"e") for seq in (1, 2, 3)])
        journal.add_keys([(number, bytes([seq]) * 16, None, b"d", seq) for seq in (1, 2, 3)])
        journal.set_answers([(b"answer", number, 1)])
        journal.add_snapshot(number, StoredSnapshot(2, "f", b"", b""))
        journal.begin_at(number, 2)
    assert journal.key(number, b"\1" * 16) == (b"d", 1, b"answer")
    assert [event.seq for some in journal.events(number, 0, 9) for event in some] == [3]
    assert journal.models()["m"].base == 2
    journal.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file permissions of this kind")
def test_the_folder_is_private(model, tmp_path):
    sources = saved(model, tmp_path)
    with hosted(tmp_path / "data", sources):
        places = [tmp_path / "data", *(tmp_path / "data").iterdir()]
        modes = {stat.S_IMODE(place.stat().st_mode) for place in places[1:]}
        assert stat.S_IMODE(places[0].stat().st_mode) == 0o700
        assert modes == {0o600}
        with pytest.raises(InUseError):
            Host(tmp_path / "data", sources)
    for place, mode in ((tmp_path / "data", 0o755), (tmp_path / "data" / "m-0.model", 0o644)):
        before = stat.S_IMODE(place.stat().st_mode)
        os.chmod(place, mode)
        with pytest.raises(StorageError, match="chmod"):
            Host(tmp_path / "data", sources)
        os.chmod(place, before)


@pytest.mark.parametrize("name", ["journal.sqlite", "journal.acknowledged"])
def test_a_folder_that_cannot_be_written_is_refused(model, tmp_path, monkeypatch, name):
    with hosted(tmp_path / "data", saved(model, tmp_path)):
        pass
    real = os.open

    def opened(path, *arguments, **options):
        if os.fspath(path).endswith(name):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return real(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr("rosenblatt.server.journal.os.open", opened)
        with pytest.raises(JournalError, match=f"{name} cannot be written: Read-only file system. Make"):
            Host(tmp_path / "data", {})
    Host(tmp_path / "data", {}).close()  # nothing is held or changed


def test_names_and_files(model, tmp_path):
    path = saved(model, tmp_path)["m"]
    for name in ("../m", "", "a/b", ".hidden", "x" * 65):
        with pytest.raises(ParameterError, match="name of a model"):
            Host(tmp_path / "data", {name: path})
    with pytest.raises(ParameterError, match="no model yet"):
        Host(tmp_path / "data", {})
    with hosted(tmp_path / "data", {"m": path}):
        pass
    rb.save(trained(rb.Perceptron(eta0=2.0)), path)
    with pytest.raises(ParameterError, match="serves another model file"):
        Host(tmp_path / "data", {"m": path})


@pytest.mark.parametrize(
    "learner, why",
    [
        (lambda: rb.PocketPerceptron(), "cannot learn row by row"),
        (lambda: rb.VotedPerceptron(), "cannot learn row by row"),
        (lambda: rb.MarkOne(random_state=0), "cannot learn row by row"),
        (lambda: rb.KernelPerceptron(kernel="rbf", budget=None), "without a budget"),
    ],
)
def test_models_that_cannot_be_served(tmp_path, learner, why):
    with pytest.raises(ParameterError, match=why):
        Host(tmp_path / "data", saved(trained(learner(), classes=2), tmp_path))
