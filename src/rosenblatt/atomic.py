"""Files that are complete or absent: written to a temporary file, synchronised, and renamed in one step.

Files whose names we derive ourselves (caches, checkpoints, locks) are private: only their owner may read or write
them, a link at their place is replaced and never followed, and `open_private` refuses those that another user
could have written.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
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

# What not every system has: no links to refuse, no bytes to translate, no users, no folders to synchronise.
OPENED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for its writer
HAS_OWNERS, HAS_FOLDERS, HAS_MODES = (hasattr(os, name) for name in ("geteuid", "O_DIRECTORY", "fchmod"))


@contextmanager
def replacing(path: str | os.PathLike[str], *, forced: bool = True, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` when it is complete.

    Whenever the process ends, `path` has either the whole new content or the old one. A full disk or a folder
    without write permission raises `StorageError`; other errors pass through. Without `forced`, which is slow for
    large files, a crash of the machine can leave a damaged file; use that only if readers check the content and
    can make it again. Links are followed, and a target that is no plain file, such as a pipe, is written to
    directly; a `private` file replaces both, and only its owner may read and write it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/model") as file:
    ...         _ = file.write(b"all of it")
    ...     Path(f"{folder}/model").read_bytes()
    b'all of it'
    """
    target = Path(path if private else os.path.realpath(path))
    if not private and _is_special(target):
        with _telling(target), target.open("wb") as file:
            yield file
        return
    _sweep(target, LONG_AGO)
    mode = 0o600 if private else _mode(target)
    with _telling(target, always=True):
        # The system takes the umask off the permissions of a new file; an old file's are set in the end.
        aside, descriptor = _created(target, 0o666 if mode is None else 0o600)
    placed = False
    try:
        with _telling(target), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if forced:
                os.fsync(file.fileno())
            if mode is not None and HAS_MODES:
                os.fchmod(file.fileno(), mode)
        with _telling(target, always=True):
            os.replace(aside, target)
        placed = True
        _settle(target)
    finally:
        if not placed:
            with suppress(OSError):
                os.unlink(aside)


@contextmanager
def writing_unnamed(folder: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file without a name, for reading too; it is gone when its last descriptor is closed.

    A full disk, or a folder that cannot be written to, raises `StorageError`.
    """
    place = Path(folder)
    with _telling(place, "", always=True):
        file = tempfile.TemporaryFile(dir=place, prefix="rosenblatt-", suffix=ASIDE)  # noqa: SIM115
    with _telling(place, ""), file:
        yield file
        file.flush()


def write_whole(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Write a file in one step; see `replacing`."""
    with replacing(path) as file:
        file.write(content)


def open_private(path: str | os.PathLike[str], known: os.stat_result | None = None) -> int:
    """Open a private file for reading, and return its descriptor; a link is not followed.

    `PermissionError`: the file belongs to another user, others may write to it, or it is not a plain file. A file
    whose status is `known`, because this process wrote it, is trusted even on a disk that knows no owners.
    """
    descriptor = os.open(path, os.O_RDONLY | OPENED | AT_ONCE)
    try:
        found = os.fstat(descriptor)
        if known is None or not os.path.samestat(found, known):
            _require_trusted(path, found)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_trusted(path: str | os.PathLike[str], found: os.stat_result) -> None:
    why = None
    if not stat.S_ISREG(found.st_mode):
        why = "it is not a plain file"
    elif HAS_OWNERS and found.st_uid != os.geteuid():
        why = "it belongs to another user"
    elif HAS_OWNERS and found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        why = "other users may write to it"
    if why is not None:
        raise PermissionError(errno.EPERM, why, os.fspath(path))


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
    """Remove a file that no other process writes, and the temporary files that killed processes left for it."""
    Path(path).unlink(missing_ok=True)
    _sweep(Path(path), 0.0)


def _sweep(target: Path, age: float) -> None:
    """Remove temporary files of this target that are older than `age` seconds."""
    left = re.compile(rf"\.{re.escape(target.name)}\.[^.]+{re.escape(ASIDE)}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if left.fullmatch(entry.name) and time.time() - entry.stat(follow_symlinks=False).st_mtime >= age:
                os.unlink(entry)


def _created(target: Path, mode: int) -> tuple[Path, int]:
    """Return a new temporary file beside the target, and its descriptor."""
    while True:
        aside = target.with_name(f".{target.name}.{secrets.token_hex(8)}{ASIDE}")
        with suppress(FileExistsError):
            return aside, os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPENED, mode)


def _mode(target: Path) -> int | None:
    """Return the permissions of the old file, or None if there is none."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:  # creating the new file tells what is wrong with the place
        return None


def _settle(target: Path) -> None:
    """Synchronise the folder with the disk, if the system supports it."""
    if not HAS_FOLDERS:
        return
    try:
        descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno in NO_ROOM:  # others mean that this system does not synchronise folders
            raise StorageError(
                f"{target} was written, but the disk failed while its folder was synchronised: {error.strerror}. "
                "Check the disk, and write the file again."
            ) from error


@contextmanager
def _telling(target: Path, kept: str | None = None, *, always: bool = False) -> Iterator[None]:
    """Turn errors of the disk, or all errors of files, into a `StorageError` that names the target.

    Not all errors within `replacing` are about the target: the caller may also read.
    """
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        if error.errno not in NO_ROOM and not always:
            raise
        if kept is None:
            kept = "" if _is_special(target) else " The old content is unchanged."
        raise StorageError(
            f"{target} could not be written: {error.strerror or error}.{kept} Free some space, or choose another "
            "place."
        ) from error
