"""Files are whole or as they were."""

import errno
import os
import stat
import subprocess
import sys
import threading

import pytest

from rosenblatt.atomic import open_private, remove, replacing, require_place, write_whole
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
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


@pytest.mark.skipif(os.name != "posix", reason="file permissions are those of POSIX")
def test_threads_do_not_see_another_umask(tmp_path):
    """Reading the umask used to set it to 0 for a moment, in which other threads' files came out 0666."""
    stop, modes = threading.Event(), set()

    def write():
        k = 0
        while not stop.is_set():
            path = tmp_path / f"other-{k}"
            path.write_bytes(b"")
            modes.add(stat.S_IMODE(path.stat().st_mode))
            path.unlink()
            k += 1

    before = os.umask(0o077)
    other = threading.Thread(target=write)
    try:
        other.start()
        for k in range(300):
            write_whole(tmp_path / f"ours-{k}", b"")
    finally:
        stop.set()
        other.join()
        os.umask(before)
    assert modes == {0o600}
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}


@pytest.mark.skipif(os.name != "posix", reason="file permissions are those of POSIX")
def test_what_replaces_a_private_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path) as file:
        (aside,) = (each for each in tmp_path.iterdir() if each != path)
        assert stat.S_IMODE(aside.stat().st_mode) == 0o600
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


posix = pytest.mark.skipif(os.name != "posix", reason="owners, links and pipes are those of POSIX")


@posix
def test_a_temporary_file_that_someone_planted_is_not_written_to(tmp_path, monkeypatch):
    names = iter(["planted", "planted", "free"])
    monkeypatch.setattr("rosenblatt.atomic.secrets.token_hex", lambda n: next(names))
    (tmp_path / "theirs").write_bytes(b"precious")
    (tmp_path / ".model.planted.partial").symlink_to("theirs")
    write_whole(tmp_path / "model", b"new")
    assert (tmp_path / "theirs").read_bytes() == b"precious"
    assert (tmp_path / "model").read_bytes() == b"new"
    assert not list(names)


@posix
class TestPrivate:
    def write(self, path):
        with replacing(path, private=True) as file:
            file.write(b"new")

    def test_a_link_is_replaced_and_not_followed(self, tmp_path):
        (tmp_path / "theirs").write_bytes(b"precious")
        (tmp_path / "ours").symlink_to("theirs")
        self.write(tmp_path / "ours")
        assert (tmp_path / "theirs").read_bytes() == b"precious"
        assert not (tmp_path / "ours").is_symlink()
        assert (tmp_path / "ours").read_bytes() == b"new"

    def test_nobody_else_may_read_it(self, tmp_path):
        (tmp_path / "ours").write_bytes(b"old")
        (tmp_path / "ours").chmod(0o666)
        self.write(tmp_path / "ours")
        assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == 0o600

    def test_a_pipe_is_replaced(self, tmp_path):
        os.mkfifo(tmp_path / "ours")
        self.write(tmp_path / "ours")
        assert (tmp_path / "ours").read_bytes() == b"new"

    def test_ours_is_opened(self, tmp_path):
        self.write(tmp_path / "ours")
        os.close(open_private(tmp_path / "ours"))

    @pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
    def test_what_others_may_write_is_refused(self, tmp_path, mode):
        self.write(tmp_path / "ours")
        known = (tmp_path / "ours").stat()
        (tmp_path / "ours").chmod(mode)
        with pytest.raises(PermissionError, match="other users may write to it"):
            open_private(tmp_path / "ours")
        os.close(open_private(tmp_path / "ours", known))

    def test_a_link_and_a_pipe_are_refused(self, tmp_path):
        self.write(tmp_path / "ours")
        (tmp_path / "link").symlink_to("ours")
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="symbolic links"):
            open_private(tmp_path / "link")
        with pytest.raises(PermissionError, match="not a plain file"):
            open_private(tmp_path / "pipe")

    def test_what_belongs_to_another_user_is_refused(self, tmp_path, monkeypatch):
        self.write(tmp_path / "ours")
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(PermissionError, match="belongs to another user"):
            open_private(tmp_path / "ours")


def test_temporary_files_of_other_targets_are_not_removed(tmp_path):
    """Removing `fit` must not sweep what another run writes to `fit.old`."""
    other = tmp_path / ".fit.old.0123456789abcdef.partial"
    mine = tmp_path / ".fit.0123456789abcdef.partial"
    other.write_bytes(b"")
    mine.write_bytes(b"")
    remove(tmp_path / "fit")
    assert left_over(tmp_path) == [other.name]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_device_is_named():
    with pytest.raises(StorageError, match="/dev/full could not be written: No space left on device"):
        write_whole("/dev/full", b"new")


@posix
@pytest.mark.parametrize("step", ["open", "write", "fsync", "fchmod", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_fault_at_any_step_is_told_and_leaves_the_old_file(tmp_path, monkeypatch, step, code):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    error = OSError(code, os.strerror(code))

    def fail(*_, **__):
        raise error

    def attempt():
        with replacing(path) as file:
            if step == "write":
                raise error  # as a file that is written to raises it
            file.write(b"new")

    if step != "write":
        monkeypatch.setattr(os, step, fail)
    with pytest.raises(StorageError, match=f"model could not be written: {os.strerror(code)}"):
        attempt()
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert left_over(tmp_path) == ["model"]


@posix
def test_a_folder_that_cannot_be_synchronised(tmp_path, monkeypatch):
    """Some disks refuse it, which is no error; one that breaks at it has the new file already."""
    plain, code = os.fsync, errno.EINVAL

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        plain(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(tmp_path / "model", b"new")
    code = errno.EIO
    with pytest.raises(StorageError, match="model was written, but the disk failed"):
        write_whole(tmp_path / "model", b"newer")
    assert (tmp_path / "model").read_bytes() == b"newer"
