"""A checksum as fast as memory, against damage by disks and crashes, not against attackers."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops._jit import inline, jit

Words: TypeAlias = NDArray[np.uint64]

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
