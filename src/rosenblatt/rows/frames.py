"""From dataframes (pandas, polars, pyarrow and all others that narwhals reads) to rows of numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError
from rosenblatt.rows.reals import Place, as_reals, read_only, real_dtype, require_exact, show_value
from rosenblatt.typing import Reals

if TYPE_CHECKING:
    import narwhals as nw

BLOCK_ROWS = 4096
"""Rows filled at a time: all columns of a block stay in the cache while its rows are written."""


def as_frame(X: object, *, name: str) -> nw.DataFrame[Any] | None:
    """Return X as a narwhals dataframe, or None if it is not a dataframe."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame: Any = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            frame.schema  # noqa: B018  pandas and pyarrow notice repeated names only here
    except DuplicateError as error:
        raise InputError(f"{name} has columns of the same name. Rename them. ({error})") from error
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"{name} is a lazy frame, which holds no values yet: collect() it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_names(frame: nw.DataFrame[Any]) -> tuple[str, ...] | None:
    """Return the names of the columns if all of them are strings."""
    names = tuple(frame.columns)
    return names if all(isinstance(column, str) for column in names) else None


def frame_rows(frame: nw.DataFrame[Any], *, name: str) -> Reals:
    """Return a frame as a read-only array: float32 if every column has at most 32-bit floats, else float64.

    Every column must hold bools, integers, floats or decimals, or objects that are such, and no value may be
    missing.
    """
    series = list(frame.iter_columns())
    _require_numbers(series, name=name)
    _require_no_nulls(series, name=name)
    columns = [column.to_numpy() for column in series]
    for j, column in enumerate(columns):
        where = partial(Place, column=j, name=frame.columns[j])
        if column.dtype == object:
            columns[j] = as_reals(column, name=name, where=where)
        else:
            require_exact(column, name=name, where=where)
    kinds = {real_dtype(column.dtype, name=name) for column in columns}
    rows = np.empty((len(columns[0]), len(columns)), kinds.pop() if len(kinds) == 1 else np.float64)
    for start in range(0, len(rows), BLOCK_ROWS):
        block = rows[start : start + BLOCK_ROWS]
        for j, column in enumerate(columns):
            block[:, j] = column[start : start + BLOCK_ROWS]
    return read_only(rows)


def _require_numbers(series: list[nw.Series[Any]], *, name: str) -> None:
    import narwhals as nw

    refused = []
    for column in series:
        if not _holds_numbers(column):
            kind = column.to_numpy().dtype if column.dtype == nw.Unknown else column.dtype
            refused.append(f"{show_value(column.name)} ({kind})")
    if refused:
        raise DataTypeError(
            f"{name} has columns that are not numbers: {', '.join(refused)}. Encode categories with "
            "TableEncoder, count dates from a reference date, cast numbers written as text to float, or drop the "
            "columns."
        )


def _holds_numbers(column: nw.Series[Any]) -> bool:
    import narwhals as nw

    dtype = column.dtype
    if dtype == nw.Unknown:  # pandas' sparse and longdouble columns, which numpy supports
        return column.to_numpy().dtype.kind in "biuf"
    if dtype == nw.Object:  # read value by value, as an object array is
        return True
    if dtype in (nw.Int128, nw.UInt128):  # which numpy does not support
        return False
    return dtype == nw.Boolean or dtype.is_float() or dtype.is_integer() or dtype.is_decimal()


def _require_no_nulls(series: list[nw.Series[Any]], *, name: str) -> None:
    for j, column in enumerate(series):
        if column.null_count():
            row = int(np.argmax(column.is_null().to_numpy()))
            raise NonFiniteError(
                f"Input {name} contains NaN. The value at {Place(row, j, column.name)} is missing; a perceptron "
                "needs all numbers. Impute missing values or drop their rows.",
                row=row,
                column=j,
            )
