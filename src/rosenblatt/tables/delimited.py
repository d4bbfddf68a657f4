"""CSV and TSV: cut into blocks of whole rows, each read by pyarrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar

from rosenblatt.exceptions import FormatError, NoRowsError, ParameterError, Remedy
from rosenblatt.tables.data_file import DataFile, closed_on_error
from rosenblatt.tables.delimited_arrow import infer_fields, read_block
from rosenblatt.tables.delimited_rows import (
    LINE_END,
    Dialect,
    TextBlock,
    behind_rows,
    fields_of,
    has_rows,
    last_end,
    row_lines,
    rows_of,
    whole_rows,
)
from rosenblatt.tables.notation import NOTATIONS, Notation
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import TableRecipe
from rosenblatt.tables.table import FIRST_ROWS, MISSING, Block, Field, Wanted, missing_words, require_room

__all__ = ["LOOKED_AT", "CsvTable", "TsvTable", "guess_delimiter", "looks_like_header"]


# What the first rows of delimited text tell: the delimiter, and whether the first row holds names.

DELIMITERS = ",;\t|"
LOOKED_AT = 20  # rows
PLAIN_NAME = re.compile(r"[^\W\d][\w.\-]{0,63}")


def guess_delimiter(data: bytes) -> str:
    r"""Return the delimiter that splits the rows into the most fields, as many in each; a comma if none does.

    Examples
    --------
    >>> guess_delimiter(b"a;b;c\n1,5;2;3\n2,5;2;4\n")
    ';'
    """
    best, most = ",", 1
    for delimiter in DELIMITERS:
        rows = rows_of(TextBlock(data, 1), Dialect(delimiter, quoted=True))
        widths = {row.n_fields for row in islice(rows, LOOKED_AT)}
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    if most > 1:
        return best
    first = data.lstrip().partition(b"\n")[0]  # reading will report rows of different lengths
    return max(DELIMITERS, key=lambda delimiter: (first.count(delimiter.encode()), delimiter == ","))


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns.

    It does if it holds no numbers except column numbers, and a name above a column that holds only numbers. Its
    other names may be empty or repeated: reading will report that. Without such a column it does if its fields are
    distinct plain words that do not occur again in their columns. Numbers may be written in any notation.

    Examples
    --------
    >>> looks_like_header([["age", "label"], ["31", "yes"]])
    True
    >>> looks_like_header([["sunny", "no"], ["rainy", "yes"], ["sunny", "yes"]])
    False
    """
    first = [field.strip() for field in rows[0]]
    if not _are_column_numbers([field for field in first if _is_number(field)]):
        return False

    def column(j: int) -> list[str]:  # one at a time, because there may be very many
        return [row[j].strip() for row in rows[1:] if j < len(row)]

    for j, field in enumerate(first):
        if field not in MISSING and not _is_number(field) and _only_numbers(column(j)):
            return True
    # Row numbers, as pandas writes them, are in a column without a name.
    before = int(len(first) > 1 and not first[0] and _only_numbers(column(0)))
    first = first[before:]
    if len(set(first)) != len(first) or not all(PLAIN_NAME.fullmatch(f) and f not in MISSING for f in first):
        return False
    return all(field not in column(j) for j, field in enumerate(first, before))


def _are_column_numbers(numerals: list[str]) -> bool:
    """Return whether the numbers in a row count the columns, as in "label,0,1,2", and so name them."""
    starts = [[str(start + j) for j in range(len(numerals))] for start in (0, 1)]
    return not numerals or (len(numerals) > 1 and numerals in starts)


def _is_number(field: str) -> bool:
    return any(notation.plain(field) is not None for notation in NOTATIONS)


def _only_numbers(column: list[str]) -> bool:
    values = [value for value in column if value not in MISSING]
    return bool(values) and all(map(_is_number, values))


SEPARATOR = re.compile(rb"\Asep=(\\t|[\t!#-/:-@[-`{-~])[ ]*(?:\r\n|\n|\r|\Z)", re.IGNORECASE)
"""A first line that names the delimiter, as in sep=; or sep=,."""
MOST_COLUMNS = 1_000_000
"""The names of more do not fit into a model file."""
BYTES_A_CHARACTER = 16
"""What a character of the first rows takes, as the strings of their fields."""


class CsvTable:
    """A CSV file, opened; see `rosenblatt.tables.table.Table`.

    A delimiter, header or notation of numbers that is None is found out from the first rows. If the columns of the
    recipe have names and the first row has one of these, it is a header. A first line such as ``sep=;``, as Excel
    reads and writes it, names the delimiter and is no row.
    """

    tabs: ClassVar[bool] = False
    typed: ClassVar[bool] = False
    argument: ClassVar[bool] = False

    def __init__(self, file: DataFile, options: Options, recipe: TableRecipe | None = None) -> None:
        delimiter = options.delimiter
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
            raise ParameterError(f"delimiter is {delimiter!r}, but must be one ASCII character that is no quote.")
        self.file, self._chunk_bytes = file.name, options.chunk_bytes
        expected = {name for name, _ in recipe.columns} if recipe and recipe.named else set()
        with closed_on_error(file.open()) as self._stream:
            head, complete = self._stream.beginning(LOOKED_AT)
            if not head.strip():
                raise FormatError("the file is empty", file=self.file)
            told = SEPARATOR.match(head)
            self._line = 1  # the first that is read
            if told is not None:
                self._stream.read(told.end())
                head, self._line = head[told.end() :], 2
                if not has_rows(head):
                    raise NoRowsError(
                        "there is a line that names the delimiter, but no rows", file=self.file, line=1
                    )
            sample = head[: behind_rows(head, LOOKED_AT)]
            named = None if told is None else told[1].decode().replace("\\t", "\t")
            chosen = delimiter or named or ("\t" if self.tabs else guess_delimiter(sample))
            missing = missing_words((*options.na, *(recipe.na if recipe else ())), MISSING)
            given = options.decimal is not None or options.thousands is not None
            notation = Notation.of(options.decimal, options.thousands)
            if recipe is not None and not given:
                notation = Notation(recipe.decimal, recipe.thousands)
            self._dialect = Dialect(chosen, not self.tabs, notation, missing)
            width = next(rows_of(TextBlock(sample, self._line), self._dialect)).n_fields
            if width > MOST_COLUMNS:
                raise FormatError(
                    f"the first row has {width:,} fields, but a table of text may have {MOST_COLUMNS:,} columns. "
                    "Save the values that are not zero in the LIBSVM format", file=self.file, line=self._line
                )  # fmt: skip
            require_room(width, self.file, BYTES_A_CHARACTER * len(sample))
            rows = list(islice(fields_of(sample, self._dialect), LOOKED_AT))
            first = [field.strip() for field in rows[0]]
            header = options.header
            self.named = looks_like_header(rows) or bool(expected & set(first)) if header is None else header
            self.format = ("TSV" if self.tabs else "CSV") + (
                " with a header" if self.named else " without a header"
            )
            if self.named:
                self._require_names(first)
            names = first if self.named else [f"x{j}" for j in range(1, len(first) + 1)]
            end = len(head) if complete else last_end(head, self._dialect) or len(head)
            text = TextBlock(head[:end], self._line)
            self.fields = self._inferred(text, names)
            if given:
                self.fields = tuple(replace(field, grouped=None) for field in self.fields)
            else:
                self._find_notation(text)

    @property
    def notation(self) -> Notation:
        """How numbers are written."""
        return self._dialect.notation

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first rows, without missing ones."""
        head, complete = self._stream.beginning(LOOKED_AT)
        text = TextBlock(head if complete else head[: last_end(head, self._dialect)] or head, self._line)
        body = self._without_header(text) if self.named else text
        rows = islice(fields_of(body.data, self._dialect), FIRST_ROWS)
        values = (row[position].strip() for row in rows if len(row) == len(self.fields))
        return [value for value in values if value not in self._dialect.missing]

    def parts(self, wanted: Wanted) -> Iterator[Callable[[], Block]]:
        """Yield a function for some rows at a time, which reads their wanted columns."""
        before_header = self.named
        for text in whole_rows(self._stream, self._chunk_bytes, self._dialect, self.file, self._line):
            if not has_rows(text.data):
                continue
            body = self._without_header(text) if before_header else text
            before_header = False
            if has_rows(body.data):
                yield partial(read_block, body, self._dialect, self.fields, wanted, self.file)

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        return (read() for read in self.parts(wanted))

    def _inferred(self, text: TextBlock, names: list[str]) -> tuple[Field, ...]:
        """Infer what columns hold; rows of another width do not count."""
        import pyarrow as pa

        body = self._without_header(text) if self.named else text
        if not has_rows(body.data):
            raise NoRowsError("there are names of columns, but no rows", file=self.file, line=text.line)
        try:
            fields = infer_fields(body.data, self._dialect, names)
            return _with_lines(fields, lambda row: int(row_lines(body, self._dialect)[row]))
        except pa.ArrowException:
            rows = [row for row in rows_of(body, self._dialect) if row.n_fields == len(names)]
        if not rows:
            problem = f"no row has {len(names)} fields, as the first has; check " + Remedy("delimiter") + " and "
            raise FormatError(problem + Remedy("header"), code="ragged-row", file=self.file, line=body.line)
        try:
            fields = infer_fields(b"\n".join(row.data for row in rows) + b"\n", self._dialect, names)
            return _with_lines(fields, lambda row: rows[row].line)
        except pa.ArrowException as error:
            raise FormatError(f"cannot be read as {self.format}: {error}", file=self.file, line=1) from error

    def _find_notation(self, text: TextBlock) -> None:
        """Read numbers as the first rows have them, where these leave no doubt.

        The notation of the recipe is kept unless the numbers of a column can only be read in another. Decimal
        commas are read if a column can only have these, commas do not separate the columns, and no column has
        decimal points.
        """

        def only(notation: Notation | None) -> bool:
            """Return whether the numbers of some column can only be read in this notation, or in one other."""
            found = [field.doubt.readings for field in self.fields if field.doubt is not None]
            return any(len(each) == 1 and notation in (None, each[0]) for each in found)

        names = [field.name for field in self.fields]
        if self.notation != Notation() and only(None):
            self._dialect = self._dialect._replace(notation=Notation())
            self.fields = self._inferred(text, names)
        if self.notation != Notation() or self._dialect.delimiter == "," or not only(Notation(",")):
            return
        points, before = self._dialect, self.fields
        for notation in (Notation(","), Notation(",", ".")):
            self._dialect = points._replace(notation=notation)
            self.fields = self._inferred(text, names)
            lost = [
                old.kind == "number" and new.kind != "number" for old, new in zip(before, self.fields, strict=True)
            ]
            if not any(lost):
                break
        if notation.thousands or any(lost):
            readings = (Notation(","),) if any(lost) else (notation,)
            self._dialect = points
            self.fields = tuple(_with_readings(field, readings) for field in before)

    def _without_header(self, text: TextBlock) -> TextBlock:
        """Return the rows after the first."""
        first = text.data[: behind_rows(text.data, 2)]
        lines = row_lines(TextBlock(first, text.line), self._dialect)
        if len(lines) < 2:  # there is nothing but a header, or it has several lines
            first, lines = text.data, row_lines(text, self._dialect)
        if len(lines) < 2:
            return TextBlock(b"", text.line)
        second = int(lines[1])
        ends = islice(LINE_END.finditer(first), second - text.line - 1, None)
        return TextBlock(text.data[next(ends).end() :], second)

    def _require_names(self, names: list[str]) -> None:
        if "\ufffd" in "".join(names):
            problem = "the header is not UTF-8; name its encoding, such as " + Remedy("encoding", "latin-1")
            raise FormatError(problem, code="encoding", file=self.file, line=1)


def _with_lines(fields: tuple[Field, ...], line: Callable[[int], int]) -> tuple[Field, ...]:
    """Return columns whose doubts have lines instead of the numbers of rows."""
    return tuple(
        field if field.doubt is None else replace(field, doubt=field.doubt._replace(line=line(field.doubt.line)))
        for field in fields
    )


def _with_readings(field: Field, readings: tuple[Notation, ...]) -> Field:
    """Return a column that could only have decimal commas, with what the other columns allow."""
    if field.doubt is None or field.doubt.readings != (Notation(","),):
        return field
    return replace(field, doubt=field.doubt._replace(readings=readings))


class TsvTable(CsvTable):
    """A TSV file, opened: fields are separated by tabs, and quotes are plain characters."""

    tabs = True
