"""How much memory is free, and how much weights would take."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from rosenblatt.exceptions import InputError, Remedy

__all__ = [
    "format_bytes",
    "free_memory",
    "require_features",
    "require_memory",
    "require_neurons",
    "require_weights",
    "return_freed_memory",
    "usual_memory",
    "weights_bytes",
]

_LINUX = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_OWN_SIZE = Path("/proc/self/statm")

UNCHECKED_BYTES = 1 << 24
"""Bytes that are taken without a look at the free memory, which takes longer than a small fit."""

FEWER = (
    "Number the features of a LIBSVM file without gaps, hash text into fewer ("
    + Remedy("bits")
    + "), or leave columns out."
)

BYTES_A_FEATURE = 160
"""What certifying, and learners that need all rows at once, take for a feature at most, by measurement."""

PEAK_COPIES = 8
"""How often training and saving hold each number of a state of training at their peak, by measurement."""


def free_memory() -> int:
    """Return the free bytes: on Linux what is available within the limits of this process, elsewhere all memory.

    The limits are those of its control groups, of version 1 or 2, and that of ``ulimit -v``. If the size of the
    memory is not known either, the result is the largest size of an object.
    """
    try:
        lines = dict(line.split(":") for line in _LINUX.read_text().splitlines())
        free = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        free = _installed()
    return min([free, *_left_in_groups(), *_left_to_the_process()])


def usual_memory() -> int:
    """Return the bytes that rows may take by default: a quarter of the free memory.

    Training holds them once more, scaled, and may hold as much again beside them.
    """
    return free_memory() // 4


def return_freed_memory() -> None:
    """Return freed memory to the system; the C library of Linux keeps blocks of up to 32 MiB for itself."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
        if trim is not None:
            trim(0)


def weights_bytes(shape: tuple[int, ...], *, average: bool = False, shrinks: bool = False) -> int:
    """Estimate the memory that training weights of a shape takes, saving the model included.

    Examples
    --------
    >>> format_bytes(weights_bytes((2**28 + 1,), average=True))
    '34.4 GB'
    """
    return 8 * PEAK_COPIES * math.prod(shape) * (1 + average + shrinks)


def require_weights(shape: tuple[int, ...], *, average: bool = False, shrinks: bool = False) -> None:
    """Raise `InputError` if training weights of a shape would take more than the free memory."""
    needed = weights_bytes(shape, average=average, shrinks=shrinks)
    require_memory(f"Training weights of {shape[-1] - 1:,} features", needed, FEWER)


def require_features(n_features: int) -> None:
    """Raise `InputError` if methods that need all rows at once would take more for features than is free."""
    require_memory(f"Working on {n_features:,} features", BYTES_A_FEATURE * n_features, FEWER)


def require_neurons(what: str, n_bytes: int) -> None:
    """Raise `InputError` if what neurons take, such as "A filter of 9 taps", exceeds the free memory."""
    require_memory(what, n_bytes, "Choose fewer, or use fewer features.")


def require_memory(what: str, n_bytes: int, way_out: str, limit: int | None = None) -> None:
    """Raise `InputError` if `n_bytes` exceed the free memory, or `limit` if it is given."""
    if limit is None and n_bytes <= UNCHECKED_BYTES:
        return
    room = free_memory() if limit is None else limit
    if n_bytes > room:
        whose = "free" if limit is None else "allowed"
        raise InputError(
            f"{what} would take {format_bytes(n_bytes)}, but {format_bytes(room)} of memory are {whose}. "
            + way_out,
            code="memory",
        )


def format_bytes(n_bytes: int) -> str:
    """Return a number of bytes as text, in a suitable unit.

    Examples
    --------
    >>> format_bytes(5 * 10**13)
    '50 TB'
    """
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes = n_bytes / 1000  # type: ignore[assignment]
    return f"{n_bytes:.3g} EB"


def _left_in_groups() -> Iterator[int]:
    """Yield what each control group of this process, and each group around one, leaves."""
    try:
        told = [line.split(":", 2) for line in _OWN_GROUPS.read_text().splitlines()]
    except OSError:
        told = []
    for _, controllers, path in (each for each in told if len(each) == 3):
        if controllers in ("", "memory"):
            root = _GROUPS / controllers
            old = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            names = old if controllers else ("memory.max", "memory.current")
            own = root / path.lstrip("/")
            # Within a container the path may be that of the host, and only the root be visible.
            for group in {own, *own.parents, root} if own.is_dir() else {root}:
                if group.is_relative_to(root):
                    yield from _left_in_group(group, *names)


def _left_in_group(group: Path, limit: str, usage: str) -> Iterator[int]:
    try:
        most, used = (int((group / name).read_text()) for name in (limit, usage))
        kept = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        used -= int(kept.get("total_inactive_file", kept.get("inactive_file", 0)))  # files that can be dropped
    except (OSError, ValueError):  # no such group, or "max": no limit
        return
    yield max(most - used, 0)


def _left_to_the_process() -> Iterator[int]:
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            yield max(limit - int(_OWN_SIZE.read_text().split()[0]) * resource.getpagesize(), 0)
    except (ImportError, OSError, ValueError):  # not Linux
        return


def _installed() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize
