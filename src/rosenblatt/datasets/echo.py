"""A telephone call with an echo from a known room."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.datasets.dataset import Seed, whole
from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Floats


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
