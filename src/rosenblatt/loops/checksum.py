"""A checksum as fast as memory, against damage by disks and crashes, not against attackers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline, jit

LANES = 8  # words mixed at the same time, so that none waits for another

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@inline
def _mix(lane: Any, word: Any) -> Any:
    """Mix in a word. Each word is a different one-to-one map of the lane, so that no single change is lost."""
    lane = (lane ^ word) * _ODD
    return lane ^ (lane >> _SHIFT)


@jit
def absorb(words: Any, lanes: Any) -> None:
    """Mix words into the lanes in place; their number is a multiple of `LANES`."""
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
    """Return one number from all lanes."""
    total = np.uint64(0)
    for k in range(LANES):
        total = _mix(total, lanes[k])
    return total
