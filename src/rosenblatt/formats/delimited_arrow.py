"""Blocks of delimited text read by pyarrow, and read again row by row where pyarrow refuses them.

pyarrow reads a block at full speed but reports only its first error. Then the block is read again as bytes to find
all rows that are wrong, and their lines. (pyarrow's `invalid_row_handler` fails on rows that are not UTF-8, and is
not called for values of the wrong type.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.columns.table import (
    EXACT,
    WRITTEN_TRUTH,
    Block,
    Field,
    Wanted,
    dense,
    is_rounded,
    kind_of,
    no_number,
    too_long,
)
from rosenblatt.data.reals import shown
from rosenblatt.exceptions import FormatError
from rosenblatt.text.delimited_rows import Dialect, TextBlock, row_lines, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["infer_fields", "read_block", "read_columns"]

NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
DATE = (
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[-/]\d{1,2}[-/]\d{2})"
    r"([ T]\d{1,2}:\d{2}.*)?\s*$"
)
WITH_COMMA = r"^\s*[+-]?\d+(,\d+)?\s*$"
INTEGER = re.compile(r"\s*[+-]?[0-9]{16,}\s*")
AT_ONCE = 1 << 20  # bytes that one thread parses at a time


def read_block(text: TextBlock, dialect: Dialect, fields: tuple[Field, ...], wanted: Wanted, file: str) -> Block:
    """Read the wanted columns of a block of whole rows; `file` is the name in messages."""
    import pyarrow as pa

    types = {j: pa.bool_() if fields[j].type == WRITTEN_TRUTH else pa.float64() for j in wanted.numbers}
    types |= dict.fromkeys([*wanted.strings, *([] if wanted.label is None else [wanted.label])], pa.string())
    try:
        columns = read_columns(text.data, dialect, len(fields), types)
    except pa.ArrowException:
        return _read_again(text, dialect, fields, wanted, types, file)

    @cache
    def lines() -> Any:
        return row_lines(text, dialect)  # only errors need to know

    bad = _BadRows(fields, file, lambda row: int(lines()[row]))
    columns = _with_points(columns, dialect, fields, wanted)
    block = _block(columns, wanted, bad, len(columns[0]))
    numbers = block.numbers
    if not (numbers.max(initial=0) < EXACT and numbers.min(initial=0) > -EXACT):  # so NaN is looked at too
        for k in np.flatnonzero((np.abs(numbers) >= EXACT).any(axis=0)).tolist():
            j = wanted.numbers[k]
            [written] = read_columns(text.data, dialect, len(fields), {j: pa.string()})
            bad.refuse_rounded(j, written, numbers[:, k])
    return block


def read_columns(
    data: bytes, dialect: Dialect, n_columns: int, types: dict[int, pa.DataType], *, long_rows: bool = False
) -> list[pa.Array]:
    """Read some columns of rows that have `n_columns` fields each; empty lines are not rows.

    Parameters
    ----------
    types : dict of int to pyarrow.DataType
        The columns to read, by position from 0, and their types; the arrays are returned in this order.
    long_rows : bool
        Whether a row may be longer than a mebibyte; then one thread parses everything.

    Raises
    ------
    pyarrow.ArrowException
        Anything is wrong anywhere.
    """
    options = {
        "column_types": {str(j): type_ for j, type_ in types.items()},
        "include_columns": [str(j) for j in types],
    }
    table = _read(data, dialect, n_columns, len(data) + 1 if long_rows else AT_ONCE, options)
    return [column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in table.columns]


def infer_fields(data: bytes, dialect: Dialect, names: list[str]) -> tuple[Field, ...]:
    """Infer from whole rows what the columns hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def matching(column: pa.ChunkedArray, pattern: str) -> int:
        return pc.sum(pc.match_substring_regex(column, pattern)).as_py() or 0

    def mostly(column: pa.ChunkedArray, pattern: str) -> bool:
        return bool(2 * matching(column, pattern) > len(column) - column.null_count)

    def field(name: str, column: pa.ChunkedArray) -> Field:
        if pa.types.is_binary(column.type):  # strings that are not UTF-8; reading will say where they are
            return Field(name, "string", "string")
        if not pa.types.is_string(column.type):
            type_ = WRITTEN_TRUTH if pa.types.is_boolean(column.type) else str(column.type)
            return Field(name, kind_of(column.type), type_)
        numeric = mostly(column, NUMBER.replace(r"\.", re.escape(dialect.decimal)))
        if not numeric and mostly(column, DATE):
            return Field(name, "other", "date")
        commas = mostly(column, WITH_COMMA) and (not numeric or dialect.delimiter != ",")
        commas = commas and dialect.decimal == "." and matching(column, WITH_COMMA) > matching(column, NUMBER)
        return Field(name, "string", "string", numeric, commas)

    table = _read(data, dialect, len(names), len(data) + 1, {"strings_can_be_null": True})
    return tuple(map(field, names, table.columns))


def _read(data: bytes, dialect: Dialect, n_columns: int, at_once: int, options: dict[str, Any]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    return csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(
            column_names=[str(j) for j in range(n_columns)],
            block_size=at_once,
            use_threads=len(data)
            > at_once,  # threads that have nothing to do may abort a short process at its end
        ),
        csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char='"' if dialect.quoted else False,
            newlines_in_values=dialect.quotes(data),
        ),
        csv.ConvertOptions(null_values=dialect.missing, decimal_point=dialect.decimal, **options),
    )


class _BadRows(dict[int, FormatError]):
    """The first error of each row of a block that holds a bad value."""

    def __init__(self, fields: tuple[Field, ...], file: str, line: Callable[[int], int]) -> None:
        super().__init__()
        self._fields, self._file, self.line = fields, file, line

    def refuse(self, row: int, j: int, problem: str) -> None:
        """Note what is wrong in column `j` of a row."""
        self.setdefault(row, FormatError(problem, file=self._file, line=self.line(row), column=j + 1))

    def refuse_rounded(self, j: int, written: pa.Array, numbers: Any) -> None:
        """Refuse integers that float64 rounded. Other numbers are rounded already where they are written."""
        for row in np.flatnonzero(np.abs(numbers) >= EXACT).tolist():
            value = written[row].as_py()
            if INTEGER.fullmatch(value) and is_rounded(value.strip()):
                self.refuse(row, j, too_long(value.strip(), self._fields[j].name))


def _block(columns: list[pa.Array], wanted: Wanted, bad: _BadRows, n_rows: int) -> Block:
    n, m = len(wanted.numbers), len(wanted.strings)
    numbers, _ = dense(columns[:n], n_rows)
    label = columns[-1] if wanted.label is not None else None
    return Block(numbers, columns[n : n + m], label, bad.line, bad)


def _with_points(
    columns: list[pa.Array], dialect: Dialect, fields: tuple[Field, ...], wanted: Wanted
) -> list[pa.Array]:
    """Return columns whose label, if it is a number, has a decimal point."""
    import pyarrow.compute as pc

    if wanted.label is None or dialect.decimal == "." or fields[wanted.label].kind != "number":
        return columns
    return [*columns[:-1], pc.replace_substring(columns[-1], dialect.decimal, ".")]


def _read_again(
    text: TextBlock,
    dialect: Dialect,
    fields: tuple[Field, ...],
    wanted: Wanted,
    types: dict[int, pa.DataType],
    file: str,
) -> Block:
    """Read rows as bytes, keep those that can be used, and say what is wrong with the others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = list(rows_of(text, dialect))
    whole = [row for row in rows if row.n_fields == len(fields)]
    data = b"\n".join(row.data for row in whole) + b"\n"
    try:
        raw = read_columns(data, dialect, len(fields), dict.fromkeys(types, pa.binary()), long_rows=True)
    except pa.ArrowException as error:
        raise FormatError(f"these lines cannot be read: {error}", file=file, line=text.line) from error
    bad = _BadRows(fields, file, lambda row: whole[row].line)
    columns = []
    for (j, type_), column in zip(types.items(), raw, strict=True):
        name = fields[j].name
        values, wrong = strings, _ = _convert(column, pa.string())
        for row in wrong:
            bad.refuse(
                row,
                j,
                f"{name!r} is not UTF-8: {shown(column[row].as_py())}; name its encoding (--encoding latin-1)",
            )
        if type_ != pa.string():
            written = pc.ascii_trim_whitespace(strings)
            missing = pc.is_in(written, pa.array(dialect.missing))
            if dialect.decimal != ".":
                written = pc.replace_substring(written, dialect.decimal, ".")
            values, wrong = _convert(pc.if_else(missing, pa.scalar(None, pa.string()), written), type_)
            for row in wrong:
                bad.refuse(row, j, no_number(strings[row].as_py(), name))
            if type_ == pa.float64():
                bad.refuse_rounded(j, written, pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False))
        columns.append(values)
    block = _block(_with_points(columns, dialect, fields, wanted), wanted, bad, len(whole))
    block.lost = [
        FormatError(
            f"the row has {row.n_fields} fields instead of {len(fields)}; mend it or use --skip-bad",
            file=file,
            line=row.line,
        )
        for row in rows
        if row.n_fields != len(fields)
    ]
    return block


def _convert(values: pa.Array, type_: pa.DataType) -> tuple[pa.Array, list[int]]:
    """Cast values; return null where that fails, and the positions of these, found by halving."""
    import pyarrow as pa

    try:
        return values.cast(type_), []
    except pa.ArrowInvalid:
        if len(values) == 1:
            return pa.nulls(1, type_), [0]
    half = len(values) // 2
    left, wrong = _convert(values[:half], type_)
    right, more = _convert(values[half:], type_)
    return pa.concat_arrays([left, right]), [*wrong, *(half + row for row in more)]
