"""A second reading of text that pyarrow refused: which rows are wrong, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.columns.table import EXACT, MISSING, Block, Field, Wanted, dense, is_rounded, no_number, too_long
from rosenblatt.data.reals import shown
from rosenblatt.exceptions import FormatError
from rosenblatt.formats.arrow_csv import read_columns
from rosenblatt.text.row_ends import Dialect, Row, Text, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["INTEGER", "SecondReading", "convert"]

INTEGER = r"^\s*[+-]?[0-9]{16,}\s*$"


class SecondReading:
    """Reads rows as bytes, keeps those that can be used, and says of the others what is wrong with them.

    Parameters
    ----------
    text : Text
        Whole rows.
    dialect : Dialect
        How fields are told apart.
    fields : tuple of Field
        The columns.
    file : str
        The name of the file in messages.
    """

    def __init__(self, text: Text, dialect: Dialect, fields: tuple[Field, ...], file: str) -> None:
        self._dialect, self._fields, self._file, self._line = dialect, fields, file, text.line
        rows = list(rows_of(text, dialect))
        self._rows = [row for row in rows if row.n_fields == len(fields)]
        self._bad: dict[int, FormatError] = {}
        self._lost = [self._of_wrong_length(row) for row in rows if row.n_fields != len(fields)]

    def block(self, wanted: Wanted, types: dict[int, pa.DataType]) -> Block:
        """Read the wanted columns as the types given."""
        import pyarrow as pa

        data = b"\n".join(row.data for row in self._rows) + b"\n"
        raw_types = dict.fromkeys(types, pa.binary())
        try:
            raw = read_columns(data, self._dialect, len(self._fields), raw_types, long_rows=True)
        except pa.ArrowException as error:
            problem = f"these lines cannot be read: {error}"
            raise FormatError(problem, file=self._file, line=self._line) from error
        columns = [self._column(j, column, types[j]) for j, column in zip(types, raw, strict=True)]
        n, m = len(wanted.numbers), len(wanted.strings)
        numbers, _ = dense(columns[:n], len(self._rows))
        label = columns[-1] if wanted.label is not None else None
        return Block(numbers, columns[n : n + m], label, self._line_of, self._bad, self._lost)

    def _line_of(self, row: int) -> int:
        return self._rows[row].line

    def _of_wrong_length(self, row: Row) -> FormatError:
        problem = f"the row has {row.n_fields} fields instead of {len(self._fields)}; mend it or use --skip-bad"
        return FormatError(problem, file=self._file, line=row.line)

    def _column(self, j: int, raw: pa.Array, type_: pa.DataType) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        name = self._fields[j].name
        strings, wrong = convert(raw, pa.string())
        for row in wrong:
            self._refuse(row, j, f"{name!r} is not UTF-8: {shown(raw[row].as_py())}; save the file as UTF-8")
        if type_ == pa.string():
            return strings
        trimmed = pc.ascii_trim_whitespace(strings)
        missing = pc.is_in(trimmed, pa.array(MISSING))
        values, wrong = convert(pc.if_else(missing, pa.scalar(None, pa.string()), trimmed), type_)
        for row in wrong:
            self._refuse(row, j, no_number(strings[row].as_py(), name))
        if type_ == pa.float64():
            large = pc.fill_null(pc.greater_equal(pc.abs(values), float(EXACT)), False)
            for row in np.flatnonzero(large.to_numpy(zero_copy_only=False)).tolist():
                value = trimmed[row].as_py()
                if re.match(INTEGER, value) and is_rounded(value):
                    self._refuse(row, j, too_long(value, name))
        return values

    def _refuse(self, row: int, j: int, problem: str) -> None:
        problem_there = FormatError(problem, file=self._file, line=self._line_of(row), column=j + 1)
        self._bad.setdefault(row, problem_there)


def convert(values: pa.Array, type_: pa.DataType) -> tuple[pa.Array, list[int]]:
    """Cast what can be cast; give the rest as null, and its positions. Halves until it knows which these are."""
    import pyarrow as pa

    try:
        return values.cast(type_), []
    except pa.ArrowInvalid:
        if len(values) == 1:
            return pa.nulls(1, type_), [0]
    half = len(values) // 2
    left, wrong = convert(values[:half], type_)
    right, more = convert(values[half:], type_)
    return pa.concat_arrays([left, right]), [*wrong, *(half + row for row in more)]
