"""From whatever holds samples to a signal: one finite number after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import as_reals, first_masked
from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError

__all__ = ["as_signal", "as_signals"]


def as_signal(samples: Any, *, name: str) -> NDArray[Any]:
    """Give samples as a one-dimensional array of float64, or of complex128 if they are complex.

    Examples
    --------
    >>> as_signal([1, 2], name="far_end")
    array([1., 2.])
    """
    masked = first_masked(samples)
    if masked is not None:
        raise InputError(f"{name} has masked samples, the first at {masked}. Fill them with zeros.")
    try:
        signal = np.asarray(samples)
    except ValueError as error:
        raise ShapeError(f"{name} is no signal: it must be a flat sequence of samples. ({error})") from error
    if signal.ndim != 1:
        raise ShapeError(
            f"{name} must be one channel, a one-dimensional sequence of samples; its shape is {signal.shape}. "
            "Pass one channel at a time, such as signal[:, 0]."
        )
    if not signal.size:
        raise ShapeError(f"{name} has no samples. Pass at least one.")
    if signal.dtype.kind == "c":
        signal = signal.astype(np.complex128)
    else:
        reals = as_reals(signal, name=name, where=lambda position: f"sample {position}")
        signal = reals.astype(np.float64, copy=False)
    finite = np.isfinite(signal)
    if not finite.all():
        at = int(np.argmin(finite))
        raise NonFiniteError(
            f"{name} is {signal[at]} at sample {at}. Replace what is missing, by zero if need be."
        )
    return signal


def as_signals(far_end: Any, microphone: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give two signals of the same length."""
    far, mic = as_signal(far_end, name="far_end"), as_signal(microphone, name="microphone")
    if len(far) != len(mic):
        raise ShapeError(
            f"far_end has {len(far):,} samples, but microphone has {len(mic):,}. They must be of the same "
            "moments: cut the longer one."
        )
    return far, mic
