"""From numbers of any kind to the targets of a regression, or to a signal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import as_rows
from rosenblatt.data.reals import as_reals, first_masked, read_only
from rosenblatt.data.sparse import is_sparse
from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError
from rosenblatt.typing import Floats


def as_measurements(y: Any, n_rows: int) -> Floats:
    """Return the targets of a regression, one or several for each row, as read-only float64.

    Raises
    ------
    InputError
        No targets, or sparse ones; as `ShapeError`, `DataTypeError` or `NonFiniteError` for values that do not
        fit.

    Examples
    --------
    >>> as_measurements([1, 2.5], 2)
    array([1. , 2.5])
    """
    if y is None:
        raise InputError("A regressor requires y to be passed, but the target y is None. Pass one number a row.")
    if is_sparse(y):
        raise InputError("y is a sparse matrix; targets must be dense. Pass y.toarray().")
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ShapeError(f"y is not a table: its rows must all be as long as the first. ({error})") from error
    shape = array.shape
    if len(shape) == 1:
        masked = first_masked(y)
        if masked is not None:
            raise InputError(f"y is masked at row {masked[0]}. Drop the row or give it a number.")
        flat = as_reals(array, name="y", where=lambda row: f"row {row}")
        values = flat.reshape(-1, 1).astype(np.float64, copy=False)
    elif len(shape) == 2:
        values = np.asarray(as_rows(y, name="y").rows, np.float64)
    else:
        raise ShapeError(
            f"y must have one number or one row of numbers for each row of X, got {len(shape)} dimensions "
            f"(shape={shape})."
        )
    if len(values) != n_rows:
        raise ShapeError(
            f"X has {n_rows} rows but y has {len(values)} targets (inconsistent numbers of samples). "
            "Each row needs exactly one."
        )
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        kind = "NaN" if np.isnan(values[row]).any() else "infinity"
        raise NonFiniteError(f"Input y contains {kind}, at row {row}. Drop the row or give it a number.")
    return read_only(values if len(shape) == 2 else values[:, 0])


def as_signal(samples: Any, *, name: str) -> NDArray[Any]:
    """Return samples as a one-dimensional array of float64, or of complex128 if they are complex.

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
        raise ShapeError(f"{name} is not a signal: it must be a flat sequence of samples. ({error})") from error
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
            f"{name} is {signal[at]} at sample {at}. Replace missing samples, by zero if need be."
        )
    return signal


def as_signals(far_end: Any, microphone: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two signals of the same length."""
    far, mic = as_signal(far_end, name="far_end"), as_signal(microphone, name="microphone")
    if len(far) != len(mic):
        raise ShapeError(
            f"far_end has {len(far):,} samples, but microphone has {len(mic):,}. Cut the longer one, so that both "
            "cover the same time."
        )
    return far, mic
