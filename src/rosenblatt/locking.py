"""A lock beside a file, so that two runs do not write to it in turn."""

from __future__ import annotations

import errno
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rosenblatt.atomic import OPENED
from rosenblatt.exceptions import StorageError

HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # what systems say of a lock that another run holds
LOCKED_BYTE = 1 << 30  # the byte that Windows locks, behind all that is read

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    def _take(descriptor: int) -> None:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
else:

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class InUseError(StorageError):
    """Another run holds the lock of a file."""


@contextmanager
def hold_lock(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of a file; it ends with the process, however that ends.

    The lock is a private file beside `path`, with ``.lock`` behind its name and the number of the process in it.
    If another run holds it, an `InUseError` is raised.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, hold_lock(f"{folder}/checkpoint"):
    ...     os.listdir(folder)
    ['checkpoint.lock']
    """
    lock = Path(f"{os.fspath(path)}.lock")
    descriptor = _locked(Path(path), lock)
    try:
        yield
    finally:
        if os.name == "posix":  # elsewhere an open file cannot be removed
            lock.unlink(missing_ok=True)
        with suppress(OSError):  # closing gives up the lock even where it fails, and there is nothing to lose
            os.close(descriptor)
        if os.name != "posix":
            with suppress(OSError):
                lock.unlink()


def _locked(path: Path, lock: Path) -> int:
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | OPENED, 0o600)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be locked: {lock}: {error.strerror}. Choose another place."
            ) from error
        try:
            _take(descriptor)
        except OSError as error:
            if error.errno in HELD:
                holder = _holder(descriptor)
                os.close(descriptor)
                raise InUseError(
                    f"{path} is in use by another run{holder}. Wait until it ends, or choose another place."
                ) from None
            warnings.warn(
                f"{path} cannot be locked on this disk ({error.strerror}). Make sure that no other run uses it.",
                stacklevel=4,
            )
            return descriptor
        if _is_there(descriptor, lock):
            _sign(descriptor, lock)
            return descriptor
        os.close(descriptor)  # its holder removed it before we held it


def _is_there(descriptor: int, lock: Path) -> bool:
    """Return whether the open file is still the one at its place."""
    try:
        return os.path.samestat(os.fstat(descriptor), lock.lstat())
    except FileNotFoundError:
        return False


def _sign(descriptor: int, lock: Path) -> None:
    """Write the number of this process into its lock, for whoever finds it held."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:  # it may be another file under this name
        os.close(descriptor)
        raise StorageError(f"{lock} is not a lock of ours. Remove it, or choose another place.")
    with suppress(OSError):  # a full disk does not unlock it
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())


def _holder(descriptor: int) -> str:
    with suppress(OSError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        written = os.read(descriptor, 20).strip()
        if written.isdigit():
            return f" (process {written.decode()})"
    return ""
