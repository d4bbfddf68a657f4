"""Delimited text in memory, handed to pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.columns.table import MISSING
from rosenblatt.text.row_ends import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Inferred", "inferred", "read_columns"]

NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
WITH_COMMA = r"^\s*[+-]?\d+(,\d+)?\s*$"
AT_ONCE = 1 << 20  # bytes that one thread takes apart at a time


def read_columns(
    data: bytes, dialect: Dialect, n_columns: int, types: dict[int, pa.DataType], *, long_rows: bool = False
) -> list[pa.Array]:
    """Read some columns of whole rows.

    Parameters
    ----------
    data : bytes
        Rows of `n_columns` fields; empty lines are no rows.
    dialect : Dialect
        How fields are told apart.
    n_columns : int
        How many each row has.
    types : dict of int to pyarrow.DataType
        The columns to read, by position from 0, and what they are to become.
    long_rows : bool
        Whether a row may be longer than a mebibyte, which takes giving all of it to one thread.

    Returns
    -------
    list of pyarrow.Array
        In the order of `types`. Anything wrong anywhere is a pyarrow.ArrowException.
    """
    options = {
        "column_types": {str(j): type_ for j, type_ in types.items()},
        "include_columns": [str(j) for j in types],
    }
    table = _read(data, dialect, n_columns, len(data) + 1 if long_rows else AT_ONCE, options)
    return [column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in table.columns]


class Inferred(NamedTuple):
    """The type of a column, and whether most of its strings are numbers, written with a point or with a comma."""

    type: pa.DataType
    numeric: bool = False
    decimal_commas: bool = False


def inferred(data: bytes, dialect: Dialect, n_columns: int) -> list[Inferred]:
    """Infer from whole rows what all columns hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def mostly(column: pa.ChunkedArray, pattern: str) -> bool:
        numbers = pc.sum(pc.match_substring_regex(column, pattern)).as_py() or 0
        return bool(2 * numbers > len(column) - column.null_count)

    found = []
    for column in _read(data, dialect, n_columns, len(data) + 1, {"strings_can_be_null": True}).columns:
        written = pa.types.is_string(column.type)
        numeric = written and mostly(column, NUMBER)
        found.append(Inferred(column.type, numeric, written and not numeric and mostly(column, WITH_COMMA)))
    return found


def _read(data: bytes, dialect: Dialect, n_columns: int, at_once: int, options: dict[str, Any]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    return csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(column_names=[str(j) for j in range(n_columns)], block_size=at_once),
        csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char='"' if dialect.quoted else False,
            newlines_in_values=dialect.quoted and b'"' in data,
        ),
        csv.ConvertOptions(null_values=MISSING, **options),
    )
