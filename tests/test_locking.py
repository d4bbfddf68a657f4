"""Two runs do not write to one file."""

import os
import subprocess
import sys

import pytest

from rosenblatt.exceptions import StorageError
from rosenblatt.locking import InUseError, hold_lock

HOLD = """import sys
from rosenblatt.locking import hold_lock
with hold_lock(sys.argv[1]):
    print(1, flush=True)
    input()
"""


def holding(path):
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    other.stdout.readline()
    return other


def test_the_second_run_hears_who_holds_it(tmp_path):
    with holding(tmp_path / "fit") as other:
        with pytest.raises(InUseError, match=rf"fit is in use by another run \(process {other.pid}\)\. Wait"):
            hold_lock(tmp_path / "fit").__enter__()
        other.communicate(b"\n")
    with hold_lock(tmp_path / "fit"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_killed_holder_holds_nothing(tmp_path):
    with holding(tmp_path / "fit") as other:
        other.kill()
    assert [each.name for each in tmp_path.iterdir()] == ["fit.lock"]
    with hold_lock(tmp_path / "fit"):
        assert (tmp_path / "fit.lock").read_text() == f"{os.getpid()}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are those of POSIX")
@pytest.mark.parametrize("plant", ["symbolic", "hard", "pipe", "folder"])
def test_planted_names_are_refused(tmp_path, plant):
    victim, lock = tmp_path / "victim", tmp_path / "fit.lock"
    victim.write_bytes(b"precious")
    if plant == "symbolic":
        lock.symlink_to("victim")
    elif plant == "hard":
        os.link(victim, lock)
    elif plant == "pipe":
        os.mkfifo(lock)
    else:
        lock.mkdir()
    with pytest.raises(StorageError, match=r"fit\.lock"):
        hold_lock(tmp_path / "fit").__enter__()
    assert victim.read_bytes() == b"precious"


def test_a_place_without_a_folder_is_told(tmp_path):
    with pytest.raises(StorageError, match=r"cannot be locked: .*No such file"):
        hold_lock(tmp_path / "nowhere" / "fit").__enter__()
