"""CSV and TSV: cut into blocks of whole rows, each read by pyarrow.

pyarrow reads a block at its full speed and says no more than that something was wrong with it. Only then is the
block read again as bytes, to find the rows that are wrong, and their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rosenblatt.columns.table import (
    EXACT,
    WRITTEN_TRUTH,
    Block,
    Field,
    Wanted,
    dense,
    is_rounded,
    kind_of,
    require_distinct,
    too_long,
)
from rosenblatt.exceptions import FormatError, ParameterError
from rosenblatt.formats.arrow_csv import Inferred, inferred, read_columns
from rosenblatt.formats.header import LOOKED_AT, first_rows, guess_delimiter, looks_like_header
from rosenblatt.formats.second_reading import INTEGER, SecondReading
from rosenblatt.text.beginning import Joined, beginning, behind_rows
from rosenblatt.text.row_ends import Bytes, Dialect, Text, has_rows, last_end, row_lines, rows_of, whole_rows
from rosenblatt.typing import Reals

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DelimitedTable"]

LINE_END = re.compile(rb"\r\n|\n|\r")


class DelimitedTable:
    """A CSV or TSV file, opened.

    Parameters
    ----------
    stream : binary file
        Decompressed; read once, from where it stands.
    file : str
        Its name in messages.
    tabs : bool
        Whether it is TSV: tabs stand between fields, and quotes are plain characters.
    delimiter, header : as in `Options`
        None: found out from the first rows.
    expected : collection of str
        Names of columns of which the header must have one, where it is unknown whether there is a header.
    chunk_bytes : int
        About how much to read at once.
    """

    def __init__(
        self,
        stream: Bytes,
        *,
        file: str,
        tabs: bool = False,
        delimiter: str | None = None,
        header: bool | None = None,
        expected: frozenset[str] = frozenset(),
        chunk_bytes: int = 1 << 21,
    ) -> None:
        self.file, self._chunk_bytes = file, max(chunk_bytes, 1)
        _require_delimiter(delimiter)
        self._stream = stream
        self._head, self._complete = beginning(stream, LOOKED_AT)
        if not self._head.strip():
            raise FormatError("the file is empty", file=file)
        sample = self._head[: behind_rows(self._head, LOOKED_AT)]
        chosen = delimiter or ("\t" if tabs else guess_delimiter(sample))
        self._dialect = Dialect(chosen, not tabs)
        rows = first_rows(sample, self._dialect)
        first = [field.strip() for field in rows[0]]
        if header is None:
            header = looks_like_header(rows) or bool(expected & set(first))
        self.named = header
        names = first if header else [f"x{j}" for j in range(1, len(first) + 1)]
        self.format = ("TSV" if tabs else "CSV") + (" with a header" if header else " without a header")
        if header:
            self._require_names(names)
        self.fields = self._inferred(names)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        stream = Joined(self._head, self._stream)
        self._head = b""
        before_header = self.named
        for text in whole_rows(stream, self._chunk_bytes, self._dialect, self.file):
            if not has_rows(text.data):
                continue
            body = self._without_header(text) if before_header else text
            before_header = False
            if has_rows(body.data):
                yield self._block(body, wanted)

    def _block(self, text: Text, wanted: Wanted) -> Block:
        import pyarrow as pa

        types = self._types(wanted)
        try:
            columns = read_columns(text.data, self._dialect, len(self.fields), types)
        except pa.ArrowException:
            return SecondReading(text, self._dialect, self.fields, self.file).block(wanted, types)
        n, m = len(wanted.numbers), len(wanted.strings)
        numbers, _ = dense(columns[:n], len(columns[0]))
        label = columns[-1] if wanted.label is not None else None
        lines = _Lines(text, self._dialect)
        return Block(numbers, columns[n : n + m], label, lines, self._rounded(text, numbers, wanted, lines))

    def _types(self, wanted: Wanted) -> dict[int, pa.DataType]:
        import pyarrow as pa

        types = {j: pa.bool_() if self.fields[j].type == WRITTEN_TRUTH else pa.float64() for j in wanted.numbers}
        types |= dict.fromkeys(wanted.strings, pa.string())
        return types if wanted.label is None else types | {wanted.label: pa.string()}

    def _rounded(self, text: Text, numbers: Reals, wanted: Wanted, line: _Lines) -> dict[int, FormatError]:
        """Find integers that float64 rounded. Any other number is rounded in text already."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if numbers.max(initial=0) < EXACT and numbers.min(initial=0) > -EXACT:
            return {}
        bad: dict[int, FormatError] = {}
        for k in np.flatnonzero((np.abs(numbers) >= EXACT).any(axis=0)):
            j = wanted.numbers[k]
            [values] = read_columns(text.data, self._dialect, len(self.fields), {j: pa.string()})
            long = pc.match_substring_regex(values, INTEGER).to_numpy(zero_copy_only=False)
            for row in np.flatnonzero(long).tolist():
                value = values[row].as_py().strip()
                if is_rounded(value):
                    problem = too_long(value, self.fields[j].name)
                    bad[row] = FormatError(problem, file=self.file, line=line(row), column=j + 1)
        return bad

    def _inferred(self, names: list[str]) -> tuple[Field, ...]:
        import pyarrow as pa

        end = len(self._head) if self._complete else last_end(self._head, self._dialect) or len(self._head)
        body = Text(self._head[:end], 1)
        body = self._without_header(body) if self.named else body
        if not has_rows(body.data):
            raise FormatError("there are names of columns, but no rows", file=self.file, line=1)
        try:
            found = inferred(body.data, self._dialect, len(names))
        except pa.ArrowException:
            found = self._inferred_from_whole_rows(body, len(names))
        return tuple(map(_field, names, found))

    def _inferred_from_whole_rows(self, body: Text, width: int) -> list[Inferred]:
        import pyarrow as pa

        rows = [row.data for row in rows_of(body, self._dialect) if row.n_fields == width]
        if not rows:
            problem = f"no row has {width} fields, as the first has; check --delimiter and --header"
            raise FormatError(problem, file=self.file, line=body.line)
        try:
            return inferred(b"\n".join(rows) + b"\n", self._dialect, width)
        except pa.ArrowException as error:
            raise FormatError(f"cannot be read as {self.format}: {error}", file=self.file, line=1) from error

    def _without_header(self, text: Text) -> Text:
        """Leave out the first row."""
        first = text.data[: behind_rows(text.data, 2)]
        lines = row_lines(Text(first, text.line), self._dialect)
        if len(lines) < 2:  # the header is all there is, or goes over several lines
            first, lines = text.data, row_lines(text, self._dialect)
        if len(lines) < 2:
            return Text(b"", text.line)
        start = _behind_lines(first, int(lines[1]) - text.line)
        return Text(text.data[start:], int(lines[1]))

    def _require_names(self, names: list[str]) -> None:
        for position, name in enumerate(names, 1):
            if not name:
                raise FormatError(
                    "a column has no name. Give it one, or, if it only numbers the rows, write the table without "
                    "it (in pandas, index=False); if the first line is no header, say so with --no-header",
                    file=self.file,
                    line=1,
                    column=position,
                )
        require_distinct(names, self.file)
        if "\ufffd" in "".join(names):
            raise FormatError("the header is not UTF-8; save the file as UTF-8", file=self.file, line=1)


class _Lines:
    """The lines of the rows of a block, found when they are first asked for: only errors want to know."""

    def __init__(self, text: Text, dialect: Dialect) -> None:
        self._text, self._dialect = text, dialect

    @cached_property
    def _found(self) -> NDArray[np.int64]:
        return row_lines(self._text, self._dialect)

    def __call__(self, row: int) -> int:
        return int(self._found[row])


def _field(name: str, found: Inferred) -> Field:
    if str(found.type) == "binary":  # strings that are not UTF-8, which is said where they stand
        return Field(name, "string", "string")
    type_ = WRITTEN_TRUTH if str(found.type) == "bool" else str(found.type)
    return Field(name, kind_of(found.type), type_, found.numeric, found.decimal_commas)


def _behind_lines(data: bytes, n_lines: int) -> int:
    position = 0
    for _ in range(n_lines):
        match = LINE_END.search(data, position)
        position = match.end() if match else len(data)
    return position


def _require_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise ParameterError(f"delimiter is {delimiter!r}, but must be one ASCII character that is no quote.")
