"""From whatever holds measurements to numbers: the targets of a regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.reals import as_reals, first_masked
from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError
from rosenblatt.typing import Floats

__all__ = ["as_measurements"]


def as_measurements(y: Any, n_rows: int) -> Floats:
    """Give y as finite float64, one number a row or several.

    Examples
    --------
    >>> as_measurements([1, 2.5], 2)
    array([1. , 2.5])
    """
    if y is None:
        raise InputError(
            "A regressor requires y to be passed, but the target y is None. Hand in one number a row."
        )
    masked = first_masked(y)
    if masked is not None:
        raise InputError(f"y is masked at row {masked[0]}. Drop the row or give it a number.")
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise ShapeError(f"y is no table of numbers: its rows differ in length. ({error})") from error
    if values.ndim not in (1, 2) or 0 in values.shape[1:]:
        raise ShapeError(f"y must be one number a row, or several; its shape is {values.shape}.")
    if len(values) != n_rows:
        raise ShapeError(
            f"X has {n_rows} rows but y has {len(values)} (inconsistent numbers of samples). "
            "Each row needs its own target."
        )
    width = values.size // n_rows
    reals = as_reals(values, name="y", where=lambda position: f"row {position // width}")
    numbers: Floats = reals.astype(np.float64, copy=False)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argwhere(~finite)[0, 0])
        kind = "NaN" if np.isnan(numbers[row]).any() else "infinity"
        raise NonFiniteError(f"Input y contains {kind}, at row {row}. Drop the row or give it a number.")
    return numbers
