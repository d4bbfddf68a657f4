"""Saying that loops are compiled. This module loads no numba, so that commands that need none stay quick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["MESSAGE", "announced", "when_compiling"]

MESSAGE = "Compiling for this processor (once) …"

when_compiling: list[Callable[[], None]] = []
"""Functions to call whenever a loop is about to be compiled because the cache does not have it."""

_announcers = 0


@contextmanager
def announced(log: Callable[[str], object]) -> Iterator[None]:
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
