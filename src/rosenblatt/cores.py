"""Cores that this process may use, as the system tells."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["cores_beside", "quota"]


def cores_beside(n_threads: int) -> set[int]:
    """Return the cores for the threads of a pool beside the calling one; none if the kernel is to choose.

    The kernel of a virtual machine takes an idle core for one that the host has withdrawn. It leaves a thread for
    many milliseconds on the core of the thread that started or woke it, and the two take turns there. So the other
    threads keep off the core of the calling one, if each can have a core.
    """
    if not hasattr(os, "sched_setaffinity"):
        return set()
    cores = os.sched_getaffinity(0)
    _, _, fields = _read(Path("/proc/thread-self/stat")).rpartition(")")  # a name may hold spaces
    return cores - {int(fields.split()[36])} if fields and n_threads <= len(cores) else set()


@cache
def quota(root: Path) -> float:
    """Return the limit on processor time that control groups set, in cores, rounded up; it is read once.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` are.
    """
    return min(_quotas(root), default=math.inf)


def _quotas(root: Path) -> Iterator[int]:
    groups = root / "sys" / "fs" / "cgroup"
    own = _read(root / "proc" / "self" / "cgroup")
    paths = [line.split("::", 1)[1] for line in own.splitlines() if line.startswith("0::")]
    for path in paths or ["/"]:
        place = groups / path.lstrip("/")
        for folder in (place, *place.parents):
            most, _, period = _read(folder / "cpu.max").partition(" ")
            yield from _cores(most, period)
            if folder == groups:
                break
    old = groups / "cpu"
    yield from _cores(_read(old / "cpu.cfs_quota_us"), _read(old / "cpu.cfs_period_us"))


def _cores(quota: str, period: str) -> Iterator[int]:
    if quota.isdigit() and period.isdigit() and int(period) > 0:  # "max" and -1 are no limit
        yield -(-int(quota) // int(period))


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):  # there is no such limit here, or no right to read it
        return ""
