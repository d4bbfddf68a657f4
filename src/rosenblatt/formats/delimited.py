"""CSV and TSV: cut into blocks of whole rows, each read by pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import ClassVar

from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import TableRecipe
from rosenblatt.columns.table import MISSING, Block, Field, Wanted, require_room
from rosenblatt.exceptions import FormatError, NoRowsError, ParameterError
from rosenblatt.formats.data_file import DataFile, closed_on_error
from rosenblatt.formats.delimited_arrow import infer_fields, read_block
from rosenblatt.formats.delimited_header import LOOKED_AT, guess_delimiter, looks_like_header
from rosenblatt.text.delimited_rows import (
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

__all__ = ["CsvTable", "TsvTable"]

BYTES_A_CHARACTER = 16
"""What a character of the first rows takes, as the strings of their fields."""


class CsvTable:
    """A CSV file, opened; see `rosenblatt.columns.table.Table`.

    A delimiter or header of None is found out from the first rows. If the columns of the recipe have names and the
    first row has one of these, it is a header.
    """

    tabs: ClassVar[bool] = False

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
            sample = head[: behind_rows(head, LOOKED_AT)]
            chosen = delimiter or ("\t" if self.tabs else guess_delimiter(sample))
            na = (*options.na, *(recipe.na if recipe else ()))
            self._dialect = Dialect(chosen, not self.tabs, options.decimal or ".", (*MISSING, *na))
            width = next(rows_of(TextBlock(sample, 1), self._dialect)).n_fields
            require_room(width, self.file, BYTES_A_CHARACTER * len(sample))
            rows = list(islice(fields_of(sample, self._dialect), LOOKED_AT))
            first = [field.strip() for field in rows[0]]
            header = options.header
            self.named = (
                looks_like_header(rows, commas=chosen != "," or options.decimal == ",")
                or bool(expected & set(first))
                if header is None
                else header
            )
            self.format = ("TSV" if self.tabs else "CSV") + (
                " with a header" if self.named else " without a header"
            )
            if self.named:
                self._require_names(first)
            names = first if self.named else [f"x{j}" for j in range(1, len(first) + 1)]
            end = len(head) if complete else last_end(head, self._dialect) or len(head)
            self.fields = self._inferred(TextBlock(head[:end], 1), names)
            if options.decimal is None and chosen != ",":
                self._try_commas(TextBlock(head[:end], 1))

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def parts(self, wanted: Wanted) -> Iterator[Callable[[], Block]]:
        """Yield a function for some rows at a time, which reads their wanted columns."""
        before_header = self.named
        for text in whole_rows(self._stream, self._chunk_bytes, self._dialect, self.file):
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
            raise NoRowsError("there are names of columns, but no rows", file=self.file, line=1)
        try:
            return infer_fields(body.data, self._dialect, names)
        except pa.ArrowException:
            rows = [row.data for row in rows_of(body, self._dialect) if row.n_fields == len(names)]
        if not rows:
            problem = f"no row has {len(names)} fields, as the first has; check --delimiter and --header"
            raise FormatError(problem, file=self.file, line=body.line)
        try:
            return infer_fields(b"\n".join(rows) + b"\n", self._dialect, names)
        except pa.ArrowException as error:
            raise FormatError(f"cannot be read as {self.format}: {error}", file=self.file, line=1) from error

    def _try_commas(self, text: TextBlock) -> None:
        """Read numbers with decimal commas if some columns have them and none has decimal points."""
        if not any(field.decimal_commas for field in self.fields):
            return
        points, before = self._dialect, self.fields
        self._dialect = points._replace(decimal=",")
        self.fields = self._inferred(text, [field.name for field in before])
        for old, new in zip(before, self.fields, strict=True):
            if old.kind == "number" and new.kind != "number":
                self._dialect, self.fields = points, before
                return

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
            raise FormatError(
                "the header is not UTF-8; name its encoding, such as --encoding latin-1", file=self.file, line=1
            )


class TsvTable(CsvTable):
    """A TSV file, opened: fields are separated by tabs, and quotes are plain characters."""

    tabs = True
