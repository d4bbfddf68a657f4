"""Files that are complete or absent: written to a temporary file, synchronised, and renamed in one step."""

from __future__ import annotations

import errno
import glob
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rosenblatt.exceptions import StorageError

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # errors of a full or broken disk
ASIDE = ".partial"  # the suffix of temporary files, which are never read
LONG_AGO = 24 * 3600.0  # seconds after which a temporary file is taken to be abandoned


@contextmanager
def replacing(path: str | os.PathLike[str], *, forced: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` when it is complete.

    Whenever the process ends, `path` has either the whole new content or the old one. A full disk or a folder
    without write permission raises `StorageError`; other errors pass through. Without `forced`, which is slow for
    large files, a crash of the machine can leave a damaged file; use that only if readers check the content and
    can make it again. Links are followed. A target that is no plain file, such as a pipe, is written to directly.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/model") as file:
    ...         _ = file.write(b"all of it")
    ...     Path(f"{folder}/model").read_bytes()
    b'all of it'
    """
    target = Path(os.path.realpath(path))
    if _is_special(target):
        with target.open("wb") as file:
            yield file
        return
    _sweep(target, LONG_AGO)
    try:
        descriptor, aside = tempfile.mkstemp(prefix=f".{target.name}.", suffix=ASIDE, dir=target.parent)
    except OSError as error:
        raise _not_written(target, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if forced:
                os.fsync(file.fileno())
        os.chmod(aside, _mode(target))
        os.replace(aside, target)
        _settle(target.parent)
    except OSError as error:
        if error.errno not in NO_ROOM or isinstance(error, StorageError):
            raise  # an error of the caller, which may also read
        raise _not_written(target, error) from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside)


def write_whole(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Write a file in one step; see `replacing`."""
    with replacing(path) as file:
        file.write(content)


def require_place(path: str | os.PathLike[str]) -> None:
    """Raise `StorageError` if no file can be written at `path`; call it before long work."""
    target = Path(path)
    if target.is_dir():
        raise StorageError(f"{target} is a folder. Name a file in it.")
    if _is_special(target):
        return
    if not target.parent.is_dir():
        raise StorageError(f"{target} cannot be written: there is no folder {target.parent}. Make it first.")
    if not os.access(target.parent, os.W_OK):
        raise StorageError(f"{target} cannot be written: there is no write permission for {target.parent}.")


def _is_special(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file, and the temporary files that killed processes left for it."""
    Path(path).unlink(missing_ok=True)
    _sweep(Path(path), 0.0)


def _sweep(target: Path, age: float) -> None:
    """Remove temporary files of this target that are older than `age` seconds."""
    with suppress(OSError):
        for aside in target.parent.glob(f".{glob.escape(target.name)}.*{ASIDE}"):
            if time.time() - aside.stat().st_mtime >= age:
                aside.unlink()


def _mode(target: Path) -> int:
    """Return the permissions of the old file, or those of a new one."""
    with suppress(FileNotFoundError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _settle(folder: Path) -> None:
    """Synchronise the folder with the disk, if the system supports it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _not_written(target: Path, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(
        f"{target} could not be written: {reason}. The old content is unchanged. Free some space, or choose "
        "another place."
    )
