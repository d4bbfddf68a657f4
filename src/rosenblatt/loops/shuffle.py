"""A random order of rows, several times faster than numpy's: a screened pass takes little longer than that."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline, jit

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@inline
def _finalise(state: Any) -> Any:
    """Turn a counter into 64 random bits: SplitMix64's finaliser (Steele, Lea, Flood 2014)."""
    bits = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@jit
def seed_of_pass(seed: Any, number: Any) -> Any:
    """Mix the seed of a run and the number of a pass into the seed of that pass."""
    return _finalise(np.uint64(seed) + np.uint64(number) * _STEP)


@jit
def shuffle(order: Any, seed: Any) -> None:
    """Shuffle fewer than 2³² rows in place (Fisher–Yates), every permutation as likely as any other.

    Numbers below a bound are the high half of a product, and the few that would make some likelier are drawn
    again (Lemire 2019).
    """
    state = np.uint64(seed)
    for left in range(order.size, 1, -1):
        bound = np.uint64(left)
        while True:
            state += _STEP
            product = (_finalise(state) >> _HALF) * bound
            low = product & _LOW
            if low >= bound or low >= ((_LOW - bound) + np.uint64(1)) % bound:
                break
        drawn = product >> _HALF
        last = bound - np.uint64(1)
        order[last], order[drawn] = order[drawn], order[last]
