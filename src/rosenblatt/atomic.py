"""Files that are whole or not there: written aside, forced to the disk, then put in place in one step."""

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

__all__ = ["remove", "replacing", "require_place", "write_whole"]

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # what the disk says when it cannot take more
ASIDE = ".partial"  # how names of files under way end; none is ever read
LONG_AGO = 24 * 3600.0  # seconds; nobody is still writing to a file that was not written to since


@contextmanager
def replacing(path: str | os.PathLike[str], *, forced: bool = True) -> Iterator[BinaryIO]:
    """Open a file to be written that takes the place of `path` once it is complete.

    Whatever ends this process, and when, `path` holds either all that was written or what it held before. A disk
    that is full, or a folder that may not be written to, is a `StorageError`; any other error passes through.
    Where what is written is checked when it is read, and can be made again, it need not be `forced` to the disk,
    which takes long for large files: only a machine that goes down can then leave a damaged one. A link is
    followed, and what is no plain file, such as a pipe or the null device, is written to and not replaced.

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
            raise  # whoever writes may read, too, and fail at that
        raise _not_written(target, error) from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside)


def write_whole(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Write a file in one step; see `replacing`."""
    with replacing(path) as file:
        file.write(content)


def require_place(path: str | os.PathLike[str]) -> None:
    """Require that a file can be written at `path`, before the work that is to be written there is done."""
    target = Path(path)
    if target.is_dir():
        raise StorageError(f"{target} is a folder. Name a file in it.")
    if _is_special(target):
        return
    if not target.parent.is_dir():
        raise StorageError(f"{target} cannot be written: there is no folder {target.parent}. Make it first.")
    if not os.access(target.parent, os.W_OK):
        raise StorageError(f"{target} cannot be written: the folder {target.parent} may not be written to.")


def _is_special(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file that nobody writes to any more, and what killed processes left of others for its place."""
    Path(path).unlink(missing_ok=True)
    _sweep(Path(path), 0.0)


def _sweep(target: Path, age: float) -> None:
    """Remove what processes left behind that were killed while they wrote to this place, so many seconds ago."""
    with suppress(OSError):
        for aside in target.parent.glob(f".{glob.escape(target.name)}.*{ASIDE}"):
            if time.time() - aside.stat().st_mtime >= age:
                aside.unlink()


def _mode(target: Path) -> int:
    """Return the permissions of what is replaced, or those that a new file gets."""
    with suppress(FileNotFoundError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _settle(folder: Path) -> None:
    """Force the new name to the disk, where the system lets folders be forced."""
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
        f"{target} could not be written: {reason}. What stood there before is as it was. "
        "Free some space, or choose another place."
    )
