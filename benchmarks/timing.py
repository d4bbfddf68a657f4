"""Processor seconds of contestants that take turns, and how fast memory can be read at all."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

FAR_BEYOND_CACHE = 1 << 28  # bytes


@dataclass(frozen=True)
class Setup:
    """How a run is made.

    Parameters
    ----------
    repeats
        The turns each contestant gets.
    quick
        Whether to cut the data to a tenth of its rows.
    data
        A folder of real data, if there is one.
    """

    repeats: int
    quick: bool
    data: Path | None = None

    def rows(self, n: int) -> int:
        """Return how many rows to take of `n`."""
        return n // 10 if self.quick else n


class Timed(NamedTuple):
    """The seconds of every turn, and what the last one returned."""

    seconds: list[float]
    result: Any


def race(
    contestants: Mapping[str, Callable[[], Any]],
    repeats: int,
    calls: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, Timed]:
    """Let contestants take turns, so that what disturbs one disturbs all; return seconds a call."""
    timed = {name: Timed([], None) for name in contestants}
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            for name, call in contestants.items():
                start = clock()
                for _ in range(calls):
                    result = call()
                seconds = (clock() - start) / calls
                timed[name] = Timed([*timed[name].seconds, seconds], result)
    finally:
        gc.enable()
    return timed


def read_limit(repeats: int = 7) -> float:
    """Return how many bytes a second one thread can read from memory, by summing a large array."""
    values = np.ones(FAR_BEYOND_CACHE // 8)
    _sum(values[:8])  # compiles
    best = min(race({"sum": lambda: _sum(values)}, repeats)["sum"].seconds)
    return values.nbytes / best


@numba.njit(fastmath=True)
def _sum(values: Any) -> float:
    total = 0.0
    for i in range(values.size):  # not `for value in values`, which numba adds one by one
        total += values[i]
    return total
