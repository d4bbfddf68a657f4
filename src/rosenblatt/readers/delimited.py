"""CSV and TSV: cut into blocks of whole rows, each read by pyarrow.

pyarrow reads a block at its full speed and says no more than that something was wrong with it. Only then is the
block read again as bytes, to find the rows that are wrong, and their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import shown
from rosenblatt.exceptions import FormatError, ParameterError
from rosenblatt.readers.header import LOOKED_AT, first_rows, guess_delimiter, looks_like_header
from rosenblatt.readers.row_ends import Dialect, Text, last_end, row_lines, whole_rows
from rosenblatt.readers.stream_parts import Joined, beginning, behind_rows
from rosenblatt.readers.table import (
    EXACT,
    MISSING,
    WRITTEN_TRUTH,
    Block,
    Field,
    Wanted,
    dense,
    kind_of,
    require_distinct,
)
from rosenblatt.typing import Reals

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DelimitedTable"]

LINE_END = re.compile(rb"\r\n|\n|\r")
INTEGER = r"^\s*[+-]?\d{16,}\s*$"


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

    n_rows = None

    def __init__(
        self,
        stream: BinaryIO,
        *,
        file: str,
        tabs: bool = False,
        delimiter: str | None = None,
        header: bool | None = None,
        expected: frozenset[str] = frozenset(),
        chunk_bytes: int = 1 << 23,
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
        self.fields = tuple(map(Field, names, *zip(*self._inferred(len(names)), strict=True)))

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        stream = Joined(self._head, self._stream)
        self._head = b""
        for number, text in enumerate(whole_rows(stream, self._chunk_bytes, self._dialect, self.file)):
            body = self._without_header(text) if number == 0 and self.named else text
            if body.data.strip(b"\r\n"):
                yield self._block(body, wanted)

    def _block(self, text: Text, wanted: Wanted) -> Block:
        import pyarrow as pa

        try:
            table = self._read(text.data, self._types(wanted))
        except (pa.ArrowException, UnicodeDecodeError):
            return SlowBlock(self, text, wanted).block()
        columns = [_whole(column) for column in table.columns]
        numbers, _ = dense(columns[: len(wanted.numbers)], table.num_rows)
        lines = _Lines(text, self._dialect)
        bad = self._rounded(text, numbers, wanted, lines)
        strings = columns[len(wanted.numbers) : len(wanted.numbers) + len(wanted.strings)]
        return Block(numbers, strings, columns[-1] if wanted.label is not None else None, lines, bad)

    def _types(self, wanted: Wanted) -> dict[int, pa.DataType]:
        import pyarrow as pa

        types = {j: pa.bool_() if self.fields[j].type == WRITTEN_TRUTH else pa.float64() for j in wanted.numbers}
        types |= dict.fromkeys(wanted.strings, pa.string())
        return types if wanted.label is None else types | {wanted.label: pa.string()}

    def _read(self, data: bytes, types: dict[int, pa.DataType], **more: Any) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv

        quoted = self._dialect.quoted and b'"' in data
        slow = "invalid_row_handler" in more
        return csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(
                column_names=[str(j) for j in range(len(self.fields))],
                use_threads=not slow,
                block_size=len(data) + 1 if slow else 1 << 20,
            ),
            csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                quote_char='"' if self._dialect.quoted else False,
                newlines_in_values=quoted,
                **more,
            ),
            csv.ConvertOptions(
                column_types={str(j): type_ for j, type_ in types.items()},
                include_columns=[str(j) for j in types],
                null_values=MISSING,
            ),
        )

    def _rounded(self, text: Text, numbers: Reals, wanted: Wanted, line: _Lines) -> dict[int, FormatError]:
        """Find integers that float64 rounded. Any other number is rounded in text already."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if numbers.max(initial=0) < EXACT and numbers.min(initial=0) > -EXACT:
            return {}
        bad: dict[int, FormatError] = {}
        for k in np.flatnonzero((np.abs(numbers) >= EXACT).any(axis=0)):
            j = wanted.numbers[k]
            values = _whole(self._read(text.data, {j: pa.string()}).column(0))
            for row in np.flatnonzero(pc.match_substring_regex(values, INTEGER).to_numpy(zero_copy_only=False)):
                value = values[int(row)].as_py().strip()
                if is_rounded(value):
                    bad[int(row)] = too_long(value, self.fields[j].name, self.file, line(int(row)), j + 1)
        return bad

    def _inferred(self, width: int) -> list[tuple[Any, str]]:
        import pyarrow as pa
        from pyarrow import csv

        end = len(self._head) if self._complete else last_end(self._head, self._dialect) or len(self._head)
        body = Text(self._head[:end], 1)
        body = self._without_header(body) if self.named else body
        if not body.data.strip(b"\r\n"):
            raise FormatError("there are names of columns, but no rows", file=self.file, line=1)
        options = {
            "read_options": csv.ReadOptions(column_names=[str(j) for j in range(width)], block_size=end + 1),
            "parse_options": csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                quote_char='"' if self._dialect.quoted else False,
                newlines_in_values=True,
                invalid_row_handler=lambda row: "skip",
            ),
            "convert_options": csv.ConvertOptions(null_values=MISSING, strings_can_be_null=True),
        }
        try:
            schema = csv.read_csv(pa.BufferReader(body.data), **options).schema
        except pa.ArrowException as error:
            raise FormatError(f"cannot be read as {self.format}: {error}", file=self.file, line=1) from error
        return [_named_type(field.type) for field in schema]

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
                    "a column has no name. Give it one, or say that the first line is no header with --no-header",
                    file=self.file,
                    line=1,
                    column=position,
                )
        require_distinct(names, self.file)
        if "\ufffd" in "".join(names):
            raise FormatError("the header is not UTF-8; save the file as UTF-8", file=self.file, line=1)


class SlowBlock:
    """A block that pyarrow refused, read again as bytes to find out which rows are wrong."""

    def __init__(self, table: DelimitedTable, text: Text, wanted: Wanted) -> None:
        self._table, self._text, self._wanted = table, text, wanted
        self._bad: dict[int, FormatError] = {}
        self._lost: list[FormatError] = []
        self._lines = row_lines(text, table._dialect)

    def block(self) -> Block:
        """Read every row that can be read, and say of the others what is wrong with them."""
        import pyarrow as pa

        table, wanted = self._table, self._wanted
        types = table._types(wanted)
        refused: list[tuple[int, int]] = []

        def refuse(row: Any) -> str:
            refused.append((row.number, row.actual_columns))
            return "skip"

        try:
            raw = table._read(self._text.data, dict.fromkeys(types, pa.binary()), invalid_row_handler=refuse)
        except pa.ArrowException as error:
            problem = f"these lines cannot be read: {error}"
            raise FormatError(problem, file=table.file, line=self._text.line) from error
        for number, actual in refused:
            problem = f"the row has {actual} fields instead of {len(table.fields)}; mend it or use --skip-bad"
            self._lost.append(FormatError(problem, file=table.file, line=int(self._lines[number - 1])))
        self._lines = np.delete(self._lines, [number - 1 for number, _ in refused])
        columns = [
            self._column(j, _whole(column), type_)
            for (j, type_), column in zip(types.items(), raw.columns, strict=True)
        ]
        n, m = len(wanted.numbers), len(wanted.strings)
        numbers, _ = dense(columns[:n], raw.num_rows)
        lines = self._lines
        label = columns[-1] if wanted.label is not None else None
        return Block(
            numbers, columns[n : n + m], label, lambda row: int(lines[row]), bad=self._bad, lost=self._lost
        )

    def _column(self, j: int, raw: pa.Array, type_: pa.DataType) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        field, file = self._table.fields[j], self._table.file
        strings, wrong = convert(raw, pa.string())
        for row in wrong:
            problem = f"{field.name!r} is not UTF-8: {shown(raw[row].as_py())}; save the file as UTF-8"
            self._refuse(row, FormatError(problem, file=file, line=int(self._lines[row]), column=j + 1))
        if type_ == pa.string():
            return strings
        trimmed = pc.ascii_trim_whitespace(strings)
        missing = pc.is_in(trimmed, pa.array(MISSING))
        values, wrong = convert(pc.if_else(missing, pa.scalar(None, pa.string()), trimmed), type_)
        for row in wrong:
            problem = (
                f"{field.name!r} is {shown(strings[row].as_py())}, which is no number, though the column holds numbers: "
                f"mend it, take all of them as names with --categorical {field.name}, or use --skip-bad"
            )
            self._refuse(row, FormatError(problem, file=file, line=int(self._lines[row]), column=j + 1))
        if type_ == pa.float64():
            large = pc.fill_null(pc.greater_equal(pc.abs(values), float(EXACT)), False)
            for row in np.flatnonzero(large.to_numpy(zero_copy_only=False)):
                value = trimmed[int(row)].as_py()
                if re.match(INTEGER, value) and is_rounded(value):
                    line = int(self._lines[row])
                    self._refuse(int(row), too_long(value, field.name, file, line, j + 1))
        return values

    def _refuse(self, row: int, problem: FormatError) -> None:
        self._bad.setdefault(row, problem)


class _Lines:
    """The lines of the rows of a block, found when they are first asked for: only errors want to know."""

    def __init__(self, text: Text, dialect: Dialect) -> None:
        self._text, self._dialect = text, dialect

    @cached_property
    def _found(self) -> NDArray[np.int64]:
        return row_lines(self._text, self._dialect)

    def __call__(self, row: int) -> int:
        return int(self._found[row])


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


def is_rounded(value: str) -> bool:
    """Tell whether float64 cannot hold an integer."""
    if len(value) > 400:
        return True
    exact = int(value)
    return abs(exact) >= 2**1024 or int(float(exact)) != exact


def too_long(value: object, name: str, file: str, line: int, column: int) -> FormatError:
    """Say that an integer would be rounded."""
    problem = (
        f"{name!r} is {shown(value)}, an integer beyond 2^53 that float64 would round. If it is an identifier, leave "
        f"it out with --ignore {name}, or take it as a name with --hashed {name}"
    )
    return FormatError(problem, file=file, line=line, column=column)


def _named_type(type_: pa.DataType) -> tuple[Any, str]:
    if str(type_) == "binary":  # strings that are not UTF-8, which is said where they stand
        return "string", "string"
    return kind_of(type_), WRITTEN_TRUTH if str(type_) == "bool" else str(type_)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _behind_lines(data: bytes, n_lines: int) -> int:
    position = 0
    for _ in range(n_lines):
        match = LINE_END.search(data, position)
        position = match.end() if match else len(data)
    return position


def _require_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise ParameterError(f"delimiter is {delimiter!r}, but must be one ASCII character that is no quote.")


