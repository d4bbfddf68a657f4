"""From dataframes (pandas, polars, pyarrow and whatever else narwhals reads) to rows of numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import place, read_only, real_dtype, require_exact, shown
from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError
from rosenblatt.typing import Reals

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["as_frame", "frame_names", "frame_rows"]

BLOCK = 4096
"""Rows filled at a time: all columns of a block stay in the cache while its rows are written."""


def as_frame(X: object, *, name: str) -> nw.DataFrame[Any] | None:
    """Give X as a narwhals dataframe, or None where it is none."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame: Any = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            frame.schema  # noqa: B018  pandas and pyarrow find repeated names only when asked
    except DuplicateError as error:
        raise InputError(f"{name} has columns of the same name. Rename them. ({error})") from error
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"{name} is a lazy frame, which holds no values yet: collect() it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_names(frame: nw.DataFrame[Any]) -> tuple[str, ...] | None:
    """Give the names of the columns if all of them are strings."""
    names = tuple(frame.columns)
    return names if all(isinstance(column, str) for column in names) else None


def frame_rows(frame: nw.DataFrame[Any], *, name: str) -> Reals:
    """Give a frame as a read-only array: float32 if every column is of at most 32-bit floats, else float64.

    Parameters
    ----------
    frame : narwhals.DataFrame
        At least one row and one column; every column of bools, integers or floats, and nothing missing.
    name : str
        What the frame is called in messages.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        C-contiguous.
    """
    series = list(frame.iter_columns())
    _require_numbers(series, name=name)
    _require_no_nulls(series, name=name)
    columns = [column.to_numpy() for column in series]
    for j, column in enumerate(columns):
        require_exact(column, name=name, where=partial(place, column=j, names=frame.columns))
    kinds = {real_dtype(column.dtype, name=name) for column in columns}
    return read_only(_interleave(columns, kinds.pop() if len(kinds) == 1 else np.dtype(np.float64)))


def _interleave(columns: list[NDArray[Any]], dtype: np.dtype[Any]) -> Reals:
    rows = np.empty((len(columns[0]), len(columns)), dtype)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        for j, column in enumerate(columns):
            block[:, j] = column[start : start + BLOCK]
    return rows


def _require_numbers(series: list[nw.Series[Any]], *, name: str) -> None:
    refused = [f"{shown(column.name)} ({_type_name(column)})" for column in series if not _holds_numbers(column)]
    if refused:
        raise DataTypeError(
            f"{name} has columns that are not numbers: {', '.join(refused)}. One-hot encode categories, "
            "count dates from a reference date, cast what spells numbers to float, or drop the columns."
        )


def _holds_numbers(column: nw.Series[Any]) -> bool:
    import narwhals as nw

    dtype = column.dtype
    if dtype == nw.Unknown:  # pandas' sparse and longdouble columns, which numpy knows
        return column.to_numpy().dtype.kind in "biuf"
    if dtype in (nw.Int128, nw.UInt128):  # which numpy does not know
        return False
    return dtype == nw.Boolean or dtype.is_float() or dtype.is_integer()


def _type_name(column: nw.Series[Any]) -> str:
    import narwhals as nw

    dtype = column.dtype
    return str(column.to_numpy().dtype if dtype == nw.Unknown else dtype)


def _require_no_nulls(series: list[nw.Series[Any]], *, name: str) -> None:
    for j, column in enumerate(series):
        if column.null_count():
            row = int(np.argmax(column.is_null().to_numpy()))
            raise NonFiniteError(
                f"Input {name} contains NaN. The value at {place(row, j)} ({shown(column.name)}) is missing; "
                "a perceptron needs every number. Impute the missing values or drop their rows."
            )
