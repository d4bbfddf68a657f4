"""The adaptive filter: one linear neuron, corrected at every sample (Widrow and Hoff 1960).

Signals, taps and delay line have one row if they are real, and two rows, real and imaginary parts, if they are
complex. The delay line is longer than the filter and filled from its end, so that the last samples, newest first,
are always contiguous; when its front is reached they move back to its end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.dense import NARROW, WIDE, dot_narrow, dot_wide
from rosenblatt.typing import Floats, Ints


class Step(NamedTuple):
    """The correction of the taps: μ e x̄, divided by ε + ‖x‖² if `normalised`.

    The filter diverges if the power of the error exceeds `limit` times that of the loudest microphone sample so
    far.
    """

    mu: float
    eps: float
    normalised: bool
    limit: float


class Taps(NamedTuple):
    """The filter, the delay line, and the position of the newest sample in it (one number)."""

    w: Floats
    line: Floats
    newest: Ints


class Meter(NamedTuple):
    """Powers over windows of samples: of the present window, and of those that ended in this call, one row each.

    `now` holds the power of the microphone and of the error, the number of samples, and the largest power ever.
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
    f = dot_wide(a, first, b, second, wide)
    f += dot_narrow(a, first + wide, b, second + wide, narrow - wide)
    for k in range(narrow, n):
        f += a[i, a_at + k] * b[j, b_at + k]
    return f


@inline
def _push(taps: Taps, far: Any, t: int) -> int:
    """Put sample t of the far end before the others, and return its position."""
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
    """Add the powers of one sample; return how many windows have ended."""
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
    """Filter and adapt; write the error, the microphone without its echo, to `cleaned`.

    Return the number of samples, or the position of the first sample whose error diverges; then `cleaned` and the
    state are useless.
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
