"""Files are whole or as they were."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from rosenblatt.atomic import replacing, require_place, write_whole
from rosenblatt.exceptions import StorageError


def left_over(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert left_over(tmp_path) == ["model"]


def test_a_new_file_gets_the_usual_permissions(tmp_path):
    write_whole(tmp_path / "ours", b"")
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_error_on_the_way_leaves_the_old_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def fail():
        with replacing(path) as file:
            file.write(b"half of the new one")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == b"old"
    assert left_over(tmp_path) == ["model"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_is_told_and_leaves_the_old_file(tmp_path, monkeypatch, step):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(StorageError, match="model could not be written: No space left on device"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert left_over(tmp_path) == ["model"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(StorageError, match="No such file or directory"):
        write_whole(tmp_path / "nowhere" / "model", b"")


def test_a_real_limit_on_file_size_is_told(tmp_path):
    script = (
        "import resource, signal, sys\n"
        "from rosenblatt.atomic import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_whole(sys.argv[1], bytes(5000))\n"
    )
    path = tmp_path / "model"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert "StorageError" in done.stderr
    assert path.read_bytes() == b"old"
    assert left_over(tmp_path) == ["model"]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "model").write_bytes(b"old")
    (tmp_path / "link").symlink_to("elsewhere/model")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "model").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_what_is_no_plain_file_is_written_to_and_stays(tmp_path):
    """A superuser who wrote to /dev/null by renaming would leave a plain file in its place."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    require_place(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(path, b"all of it")
        assert os.read(reader, 100) == b"all of it"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert left_over(tmp_path) == ["pipe"]
