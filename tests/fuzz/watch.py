"""What one input may take, and a note of the input that is being read."""

from __future__ import annotations

import os
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

BASE, MULTIPLE = 64 << 20, 1000
"""An input may raise the memory of the process by so many bytes, and by so many more for each byte of its own."""

HARD = 1 << 30
"""Where the memory of the process ends, beyond what it has when it begins."""


class Watch:
    """Watches the time and the memory that inputs take, and writes down the number of the current one.

    Parameters
    ----------
    at : Path
        The file that holds the number; it outlives the process.
    seconds : int
        The time of the processor that one input may take; compiling a loop is part of it. The clock may run ten
        times as long, on a busy machine.
    """

    def __init__(self, at: Path, seconds: int) -> None:
        self._seconds, self._at = seconds, os.open(at, os.O_WRONLY | os.O_CREAT, 0o600)
        self._reset = os.open("/proc/self/clear_refs", os.O_WRONLY)
        signal.signal(signal.SIGALRM, self._late)
        signal.signal(signal.SIGPROF, self._late)
        limit = _pages() * resource.getpagesize() + HARD
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))

    @contextmanager
    def input(self, number: int, size: int):
        """Raise TimeoutError or MemoryError where an input of `size` bytes takes more than it may."""
        os.pwrite(self._at, b"%20d" % number, 0)
        os.pwrite(self._reset, b"5", 0)
        before, _ = _resident()
        signal.alarm(10 * self._seconds)
        signal.setitimer(signal.ITIMER_PROF, self._seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
        _, most = _resident()
        if most - before > BASE + MULTIPLE * size:
            raise MemoryError(f"{(most - before) >> 20} MiB for an input of {size} bytes")

    def _late(self, _signal, _frame):
        raise TimeoutError(f"more than {self._seconds} seconds")


def current(at: Path, default: int) -> int:
    """Return the number that a process wrote down last."""
    return int(at.read_bytes()) if at.exists() and at.stat().st_size else default


def _pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0])


def _resident() -> tuple[int, int]:
    """Return the memory that is resident, and the most since it was reset."""
    with open("/proc/self/status") as status:
        found = dict(line.split(":", 1) for line in status if line.startswith("Vm"))
    return tuple(int(found[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
