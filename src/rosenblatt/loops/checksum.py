"""A checksum as fast as memory: for files that time and disks may damage, not against people who mean to."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline, jit

LANES = 8  # words taken in together, each by a lane of its own, so that none waits for another

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@inline
def _mix(lane: Any, word: Any) -> Any:
    """Take in a word: for each word another one-to-one map, so that no change of one word is ever lost."""
    lane = (lane ^ word) * _ODD
    return lane ^ (lane >> _SHIFT)


@jit
def absorb(words: Any, lanes: Any) -> None:
    """Take in words, as many as a multiple of `LANES`, changing the lanes in place."""
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


@jit
def combine(lanes: Any) -> Any:
    """Return one number made of all lanes."""
    total = np.uint64(0)
    for k in range(LANES):
        total = _mix(total, lanes[k])
    return total
