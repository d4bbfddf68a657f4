"""Saying that loops are compiled, and for how long. This module loads no numba, so that commands stay quick."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MESSAGE = "Compiling for this processor (once) …"

when_compiling: list[Callable[[], None]] = []
"""Functions to call whenever a loop is about to be compiled because the cache does not have it."""

_announcers = 0
_depth = 0  # loops that are being compiled, each for the one before it
_seconds = 0.0


@contextmanager
def compiling() -> Iterator[None]:
    """Compile a loop inside: those that wait for it are called, and the time is added up.

    numba lets one thread at a time compile.
    """
    global _depth, _seconds
    for begins in tuple(when_compiling):
        begins()
    began = time.perf_counter()
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _seconds += time.perf_counter() - began


def seconds_compiling() -> float:
    """Return the seconds that this process has compiled loops so far."""
    return _seconds


@dataclass(frozen=True)
class Seconds:
    """How long something took without compiling loops, and that; the latter is 0 if the cache had them all.

    Examples
    --------
    >>> print(Seconds(0.01, 0.0)), print(Seconds(0.01, 2.3))
    0.01 s
    0.01 s (and 2.30 s to compile, once)
    (None, None)
    """

    own: float
    compiling: float

    def __str__(self) -> str:
        once = f" (and {self.compiling:.2f} s to compile, once)" if self.compiling else ""
        return f"{self.own:.2f} s{once}"


class Stopwatch:
    """Measures the time from its making, that of compiling apart.

    What numba loads at its first use is loaded before.
    """

    def __init__(self) -> None:
        if "numba" in sys.modules:
            from numba.core.registry import cpu_target

            cpu_target.typing_context.refresh()
            cpu_target.target_context.refresh()
        self._began, self._compiled = time.perf_counter(), seconds_compiling()

    def read(self) -> Seconds:
        """Return the time since then."""
        compiled = seconds_compiling() - self._compiled
        return Seconds(max(0.0, time.perf_counter() - self._began - compiled), compiled)


@contextmanager
def announce_compilation(log: Callable[[str], object]) -> Iterator[None]:
    """Say that loops are compiled, once, when that happens inside; the cache usually has them.

    Inside another such block nothing more is said.
    """
    global _announcers

    def say() -> None:
        when_compiling.remove(say)
        log(MESSAGE)

    _announcers += 1
    if _announcers == 1:
        when_compiling.append(say)
    try:
        yield
    finally:
        _announcers -= 1
        if say in when_compiling:
            when_compiling.remove(say)
