"""From whatever holds the targets of a regression to numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.features import as_rows
from rosenblatt.data.reals import as_reals, first_masked, read_only
from rosenblatt.data.sparse import is_sparse
from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError
from rosenblatt.typing import Floats

__all__ = ["as_measurements"]


def as_measurements(y: Any, n_rows: int) -> Floats:
    """Give the targets of a regression as float64, one a row or one row each.

    Parameters
    ----------
    y : array-like, series or dataframe
        Finite numbers, of one dimension or two.
    n_rows : int
        How many rows there must be.

    Returns
    -------
    ndarray, shape (n_rows,) or (n_rows, n_outputs)
        As many dimensions as y; read-only.

    Raises
    ------
    InputError
        No targets, or sparse ones.
    ShapeError
        Of other dimensions, or another number of rows.
    DataTypeError, NonFiniteError
        Not numbers, or not finite.

    Examples
    --------
    >>> as_measurements([1, 2.5], 2)
    array([1. , 2.5])
    """
    if y is None:
        raise InputError(
            "A regressor requires y to be passed, but the target y is None. Hand in one number a row."
        )
    if is_sparse(y):
        raise InputError("y is a sparse matrix; targets must be dense. Hand in y.toarray().")
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ShapeError(f"y is no table: its rows must all be as long as the first. ({error})") from error
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
            f"y must be one number a row, or one row of numbers each, got {len(shape)} dimensions (shape={shape})."
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
