"""Mixed bits: random orders of rows, the seeds of passes, and checksums.

Shuffling is several times faster than numpy's, which would take as long as a screened pass. The checksum is as
fast as memory, against damage by disks and crashes, not against attackers.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.layout import Order

WORD = 2**64 - 1
FIRST_FACTOR, SECOND_FACTOR = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of SplitMix64

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@inline
def split_mix(bits: np.uint64) -> Any:
    """Spread every bit over the whole word: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
    return bits ^ (bits >> np.uint64(31))


def split_mix_plain(bits: int) -> int:
    """Do what `split_mix` does, in Python."""
    bits = (bits ^ (bits >> 30)) * FIRST_FACTOR & WORD
    bits = (bits ^ (bits >> 27)) * SECOND_FACTOR & WORD
    return bits ^ (bits >> 31)


@inline
def mixed_seed(seed: np.uint64 | int, number: int) -> Any:
    """Return the seed of a pass from the seed of the run and the number of the pass, inside a loop."""
    return split_mix(np.uint64(seed) + np.uint64(number) * _STEP)


def seed_of_pass(seed: np.uint64 | int, number: np.uint64 | int) -> np.uint64:
    """Return the seed of a pass from the seed of the run and the number of the pass."""
    return np.uint64(split_mix_plain((int(seed) + int(number) * int(_STEP)) & WORD))


@jit
def shuffle(order: Order, seed: np.uint64) -> None:
    """Shuffle fewer than 2³² rows in place (Fisher–Yates), all permutations equally likely.

    Numbers below a bound are the high half of a product; the few that would make some likelier are drawn again
    (Lemire 2019).
    """
    state = np.uint64(seed)
    for left in range(order.size, 1, -1):
        bound = np.uint64(left)
        while True:
            state += _STEP
            product = (split_mix(state) >> _HALF) * bound
            low = product & _LOW
            if low >= bound or low >= ((_LOW - bound) + np.uint64(1)) % bound:
                break
        drawn = product >> _HALF
        last = bound - np.uint64(1)
        order[last], order[drawn] = order[drawn], order[last]


Words: TypeAlias = NDArray[np.uint64]

# Checksums.


LANES = 8  # words mixed at the same time, so that none waits for another
MAX_PLAIN_WORDS = 2**10  # words that numpy mixes before a loop is even loaded

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)

Word = TypeVar("Word", np.uint64, Words)


@inline
def _mix(lane: Word, word: Word) -> Any:
    """Mix in a word. Each word is a different one-to-one map of the lane, so that no single change is lost."""
    lane = (lane ^ word) * _ODD
    return lane ^ (lane >> _SHIFT)


def absorb(words: Words, lanes: Words) -> None:
    """Mix words into the lanes in place; their number is a multiple of `LANES`."""
    if words.size <= MAX_PLAIN_WORDS:
        for row in words.reshape(-1, LANES):
            lanes[:] = _mix(lanes, row)
    else:
        words = words.view()
        words.flags.writeable = False  # one loop for both kinds
        _absorb(words, lanes)


@jit
def _absorb(words: NDArray[np.uint64], lanes: NDArray[np.uint64]) -> None:
    a, b, c, d, e, f, g, h = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6], lanes[7]
    for i in range(0, words.size, LANES):
        a = _mix(a, words[i])
        b = _mix(b, words[i + 1])
        c = _mix(c, words[i + 2])
        d = _mix(d, words[i + 3])
        e = _mix(e, words[i + 4])
        f = _mix(f, words[i + 5])
        g = _mix(g, words[i + 6])
        h = _mix(h, words[i + 7])
    lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6], lanes[7] = a, b, c, d, e, f, g, h


def combine(lanes: Words) -> int:
    """Return one number from all lanes."""
    total = np.zeros(1, np.uint64)
    for k in range(LANES):
        total = _mix(total, lanes[k : k + 1])
    return int(total[0])
