"""How much memory is free."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rosenblatt.exceptions import ParameterError

_LINUX = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Return the free bytes: on Linux what is available within the container's limit, elsewhere all memory.

    If the size of the memory is not known either, the result is the largest size of an object.
    """
    try:
        lines = dict(line.split(":") for line in _LINUX.read_text().splitlines())
        free = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        free = _installed()
    try:
        most, used = (int((_CONTAINER / name).read_text()) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # no container, or "max": no limit
        return free
    return min(free, max(most - used, 0))


def require_memory(what: str, n_bytes: int, way_out: str, limit: int | None = None) -> None:
    """Raise `ParameterError` if `n_bytes` exceed the free memory, or `limit` if it is given."""
    room = free_memory() if limit is None else limit
    if n_bytes > room:
        whose = "free" if limit is None else "allowed"
        raise ParameterError(
            f"{what} would take {written(n_bytes)}, but {written(room)} of memory are {whose}. {way_out}"
        )


def written(n_bytes: int) -> str:
    """Return a number of bytes as text, in a suitable unit.

    Examples
    --------
    >>> written(5 * 10**13)
    '50 TB'
    """
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes = n_bytes / 1000  # type: ignore[assignment]
    return f"{n_bytes:.3g} EB"


def _installed() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize
