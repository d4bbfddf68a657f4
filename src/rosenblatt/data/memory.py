"""How much memory there is to ask for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rosenblatt.exceptions import ParameterError

__all__ = ["free_memory", "require_memory"]

_LINUX = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Return the bytes that can be had: what Linux says is available, within a container's limit.

    Elsewhere all the memory that the machine has; where not even that is known, what a pointer can address.
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
    """Refuse what would not fit, before any of it is allocated; `limit` stands in the place of what is free."""
    room = free_memory() if limit is None else limit
    if n_bytes > room:
        whose = "free" if limit is None else "allowed"
        raise ParameterError(
            f"{what} would take {written(n_bytes)}, but {written(room)} of memory are {whose}. {way_out}"
        )


def written(n_bytes: int) -> str:
    """Write a number of bytes in a unit that suits it.

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
