"""The adaptive filter: one linear neuron, corrected at every sample.

Signals, taps and delay line are stacks of one row if they are real, and of two, real and imaginary parts, if they
are complex. The delay line is longer than the filter and filled from its end, so that the last samples, newest
first, are always a contiguous stretch of it; once its front is reached they move back to its end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops._vector import lanes_dot
from rosenblatt.typing import Floats, Ints

WIDE = 32
NARROW = 8

_dot_wide = lanes_dot(WIDE)
_dot_narrow = lanes_dot(NARROW)


class Step(NamedTuple):
    """How taps are corrected: by μ e x̄, over ε + ‖x‖² if `normalised`.

    An error whose power exceeds that of the loudest microphone sample so far times `limit` is a divergence.
    """

    mu: float
    eps: float
    normalised: bool
    limit: float


class Taps(NamedTuple):
    """The filter, the delay line, and where in it the newest sample stands (one number)."""

    w: Floats
    line: Floats
    newest: Ints


class Meter(NamedTuple):
    """Powers over windows of samples: of the one under way, and of those that ended in this call, by rows.

    `now` holds the microphone's power, the error's, the samples so far, and the power of the loudest one ever.
    """

    now: Floats
    ended: Floats
    window: int


@inline
def _stretch_dot(a: Any, i: int, a_at: int, b: Any, j: int, b_at: int, n: int) -> float:
    """Return <a[i, a_at:a_at + n], b[j, b_at:b_at + n]> by 32 lanes, then 8, then one by one, in this order."""
    wide = n - n % WIDE
    narrow = n - n % NARROW
    first, second = i * a.shape[1] + a_at, j * b.shape[1] + b_at
    f = _dot_wide(a, first, b, second, wide)
    f += _dot_narrow(a, first + wide, b, second + wide, narrow - wide)
    for k in range(narrow, n):
        f += a[i, a_at + k] * b[j, b_at + k]
    return f


@inline
def _push(taps: Taps, far: Any, t: int) -> int:
    """Put sample t of the far end before the others, and return where it stands."""
    line, n = taps.line, taps.w.shape[1]
    at = taps.newest[0]
    if at == 0:
        at = line.shape[1] - (n - 1)
        for part in range(line.shape[0]):
            for k in range(n - 1):
                line[part, at + k] = line[part, k]
    at -= 1
    for part in range(line.shape[0]):
        line[part, at] = far[part, t]
    taps.newest[0] = at
    return at


@inline
def _count(meter: Meter, heard: float, left: float, ended: int) -> int:
    """Add one sample's powers; return how many windows have ended."""
    now = meter.now
    now[0] += heard
    now[1] += left
    now[2] += 1.0
    now[3] = max(now[3], heard)
    if now[2] == meter.window:
        meter.ended[ended, 0], meter.ended[ended, 1] = now[0], now[1]
        now[:3] = 0.0
        return ended + 1
    return ended


@jit
def adapt(far: Floats, mic: Floats, cleaned: Floats, step: Step, taps: Taps, meter: Meter) -> int:
    """Filter and adapt; write what is left of the microphone to `cleaned`.

    Returns the number of samples; the position of the first whose error diverges, if one does, and then `cleaned`
    and all that is carried are of no use.
    """
    w, line = taps.w, taps.line
    n = w.shape[1]
    is_complex = w.shape[0] == 2
    ended = 0
    for t in range(far.shape[1]):
        at = _push(taps, far, t)
        e = mic[0, t] - _stretch_dot(w, 0, 0, line, 0, at, n)
        ei = 0.0
        if is_complex:
            e += _stretch_dot(w, 1, 0, line, 1, at, n)
            ei = mic[1, t] - _stretch_dot(w, 0, 0, line, 1, at, n) - _stretch_dot(w, 1, 0, line, 0, at, n)
        heard, left = mic[0, t] * mic[0, t], e * e
        if is_complex:
            heard, left = heard + mic[1, t] * mic[1, t], left + ei * ei
        ended = _count(meter, heard, left, ended)
        if left - left != 0.0 or left > step.limit * meter.now[3]:
            return t
        cleaned[0, t] = e
        if is_complex:
            cleaned[1, t] = ei
        g, gi = step.mu * e, step.mu * ei
        if step.normalised:
            power = step.eps + _stretch_dot(line, 0, at, line, 0, at, n)
            if is_complex:
                power += _stretch_dot(line, 1, at, line, 1, at, n)
            if power == 0.0:
                continue
            g, gi = g / power, gi / power
        if is_complex:
            for k in range(n):
                x, xi = line[0, at + k], line[1, at + k]
                w[0, k] += g * x + gi * xi
                w[1, k] += gi * x - g * xi
        elif g != 0.0:
            for k in range(n):
                w[0, k] += g * line[0, at + k]
    return far.shape[1]
