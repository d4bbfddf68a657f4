"""Random rows with an exactly known largest margin.

A telephone call with an echo from a known room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from rosenblatt.datasets.dataset import Dataset, Seed, check_share, flip_share, float_type, whole
from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Floats, Reals


class Echo(NamedTuple):
    """Both ends of a call, and the room between loudspeaker and microphone.

    Attributes
    ----------
    far_end, microphone : ndarray, shape (n,)
        The signal of the loudspeaker, and its echo at the microphone with noise.
    path : ndarray, shape (n_taps,)
        The impulse response of the room, of norm 1.

    Examples
    --------
    >>> from rosenblatt.datasets import make_echo
    >>> call = make_echo(1000, n_taps=8, seed=0)
    >>> call.far_end.shape, call.path.shape
    ((1000,), (8,))
    """

    far_end: Floats
    microphone: Floats
    path: Floats


def make_echo(far_end: Any, *, n_taps: int = 256, echo_to_noise: float = 40.0, seed: Seed) -> Echo:
    """Return a far end and its echo at a microphone in a random room.

    The echo begins after a sixteenth of the taps, and decays by 60 dB over the rest.

    Parameters
    ----------
    far_end : int or sequence of numbers
        The far end, or the number of samples of white noise to use.
    n_taps : int
        The length of the echo in samples.
    echo_to_noise : float
        The ratio of the echo to the noise of the microphone, in dB.
    seed : int or numpy Generator
        The source of randomness.

    Examples
    --------
    >>> call = make_echo(1000, n_taps=32, seed=0)
    >>> call.microphone.shape, call.path[:2]
    ((1000,), array([0., 0.]))
    """
    rng, n_taps = np.random.default_rng(seed), whole("n_taps", n_taps, 1)
    if not np.isfinite(echo_to_noise):
        raise ParameterError(f"echo_to_noise must be a finite number of dB, got {echo_to_noise!r}")
    if np.ndim(far_end) == 0:
        far = rng.standard_normal(whole("far_end", far_end, 1))
    else:
        far = np.array(far_end, dtype=np.float64)
    path = np.zeros(n_taps)
    late = n_taps // 16
    path[late:] = rng.standard_normal(n_taps - late) * 10.0 ** (-3.0 * np.arange(n_taps - late) / (n_taps - late))
    path /= np.sqrt(np.square(path).sum())
    echo = np.convolve(far, path)[: len(far)]
    noise = rng.standard_normal(len(far))
    noise *= np.sqrt(np.square(echo).mean() / np.square(noise).mean()) * 10.0 ** (-echo_to_noise / 20.0)
    return Echo(far, echo + noise, path)


_NUMBERS_AT_ONCE = 1 << 16
"""Numbers computed at a time, so that they stay in the cache. No result depends on it."""


def make_separable(
    n: int,
    d: int,
    *,
    margin: float,
    seed: Seed,
    flip: float = 0.0,
    radius: float = 1.0,
    dtype: DTypeLike = np.float64,
) -> Dataset[Reals]:
    """Return separable rows whose largest geometric margin is exactly `margin`, with a bias or without.

    The normal ``w`` has entries ±2⁻ʲ on 4ʲ ≤ d random coordinates and zeros elsewhere, so its length is exactly 1.
    Two rows are ±margin·w: they are 2·margin apart, so no hyperplane is further than `margin` from both. Every
    other row is strictly further from the hyperplane ``<w, x> = 0``, and every row lies within `radius` of the
    origin: the perceptron without bias makes at most (radius/margin)² mistakes (Novikoff 1962).

    Parameters
    ----------
    n, d : int
        Number of rows (at least 2) and of features. Half the rows are positive, one more if n is odd.
    margin : float
        The largest margin, between 0 and `radius`. For float32 it is the nearest float32, which the attribute
        ``margin`` holds.
    seed : int or numpy Generator
        The source of randomness.
    flip : float
        This random share of the labels, up to one half, is flipped. Then the attribute ``margin`` is None.
    radius : float
        No row is longer than this.
    dtype : float64 or float32
        The dtype of the rows.

    Examples
    --------
    >>> data = make_separable(100, 5, margin=0.1, seed=0)
    >>> float((data.y * (data.X @ data.w)).min())
    0.1
    """
    n, d, rng = whole("n", n, 2), whole("d", d, 1), np.random.default_rng(seed)
    kind = float_type(dtype)
    check_share(flip)
    radius = float(radius)
    margin, gap = _check_margin(float(margin), radius, d, kind)

    w = _exact_unit_vector(d, rng)
    y = rng.permutation(np.where(np.arange(n) % 2, -1, 1)).astype(np.int64)

    # Heights over the hyperplane are distributed as in a uniform ball, but start at the margin. The rest of each
    # row is uniform in the slice of the ball at its height.
    low, high = margin + gap, radius - gap
    height = y * (low + (high - low) * np.sqrt(rng.beta(0.5, (d + 1) / 2, n)))
    width = np.sqrt(np.maximum(high - np.abs(height), 0.0)) * np.sqrt(high + np.abs(height))
    across = width * rng.random(n) ** (1 / max(d - 1, 1))

    X = np.empty((n, d), kind)
    step = max(1, _NUMBERS_AT_ONCE // d)
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        X[part] = _rows_at(height[part], across[part], w, rng)
    for sign in (1, -1):
        X[rng.choice(np.flatnonzero(y == sign))] = sign * margin * w

    flipped = flip_share(y, flip, rng)
    text = f"Random rows with margin {margin:g} and radius {radius:g}, {flipped.size} labels flipped."
    known = None if flipped.size else margin
    return Dataset(X, y, name="separable", description=text, w=w, margin=known, flipped=flipped)


def _check_margin(margin: float, radius: float, d: int, kind: np.dtype[Any]) -> tuple[float, float]:
    """Return the margin as `kind` holds it, and the gap that keeps all other rows strictly above it.

    The gap suffices because x has the height <w, x> asked for, up to the rounding of one dot product of d terms
    and one subtraction in float64, and of storing x as `kind`. As ‖w‖ = 1 the first is at most (d + 4)·eps64·‖x‖
    and the second at most eps·‖x‖; the gap is more than twice their sum. The same holds for the length of x and
    `radius`.
    """
    limits = np.finfo(kind)
    most, tiny, eps, eps64 = map(float, (limits.max, limits.tiny, limits.eps, np.finfo(np.float64).eps))
    if not 0 < radius <= most:
        raise ParameterError(f"radius must be positive and within {kind}, got {radius!r}")
    if not 0 < margin < radius:
        raise ParameterError(f"margin must lie between 0 and radius = {radius!r}, got {margin!r}")
    stored = float(kind.type(margin))
    gap = (4 * eps + 4 * (d + 16) * eps64) * radius
    if stored + gap >= radius - gap:
        raise ParameterError(f"margin {margin!r} leaves {kind} rows no room below radius = {radius!r}")
    if stored < (d + 16) * tiny / eps:  # nothing above holds for subnormal numbers
        raise ParameterError(f"margin {margin!r} is too small for {kind}: enlarge margin and radius")
    return stored, gap


def _exact_unit_vector(d: int, rng: np.random.Generator) -> Floats:
    j = (d.bit_length() - 1) // 2  # the largest j with 4ʲ ≤ d
    w = np.zeros(d)
    w[rng.choice(d, 4**j, replace=False)] = rng.choice([-1.0, 1.0], 4**j) * 2.0**-j
    return w


def _rows_at(height: Floats, across: Floats, w: Floats, rng: np.random.Generator) -> Floats:
    """Draw rows with <w, x> = height whose part orthogonal to w has length `across`."""
    G = rng.standard_normal((height.size, w.size))
    G -= (G * w).sum(axis=1)[:, None] * w
    length = np.sqrt((G * G).sum(axis=1))
    G *= np.divide(across, length, out=np.zeros_like(length), where=length > 0)[:, None]
    G += (height - (G * w).sum(axis=1))[:, None] * w  # measured again, because scaling enlarges rounding
    return G
