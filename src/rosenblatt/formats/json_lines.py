"""JSON Lines: one flat object a line.

Lines are read by the standard library, all of a block at once, which knows exactly one JSON and names the place of
every error. pyarrow's reader would be faster, but lets objects go over lines and types change from block to block.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rosenblatt.columns.arrow_buffers import from_strings
from rosenblatt.columns.table import EXACT, Block, Field, Kind, Wanted, is_rounded, no_number, too_long
from rosenblatt.data.reals import shown
from rosenblatt.exceptions import FormatError
from rosenblatt.text.beginning import Joined, beginning
from rosenblatt.text.row_ends import Bytes, Dialect, Text, last_end, whole_rows

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["JsonLinesTable"]

Refuse: TypeAlias = Callable[[int, str, int], None]
"""Takes a row, what is wrong with it, and the column."""

LINE_END = re.compile(rb"\r\n|\n|\r")
LINES = Dialect("\n", quoted=False)
SIMPLE = frozenset((str, int, float, bool, type(None)))


class JsonLinesTable:
    """A file of JSON objects, one a line, opened.

    Parameters
    ----------
    stream : binary file
        Decompressed; read once, from where it stands.
    file : str
        Its name in messages.
    expected : sequence of str
        Columns that exist even if the first lines lack them.
    closed : bool
        Whether a key that neither the first lines nor `expected` have is an error.
    chunk_bytes : int
        About how much to read at once.
    """

    format, named = "JSON Lines", True

    def __init__(
        self,
        stream: Bytes,
        *,
        file: str,
        expected: Sequence[str] = (),
        closed: bool = True,
        chunk_bytes: int = 1 << 21,
    ) -> None:
        self.file, self._closed, self._chunk_bytes = file, closed, max(chunk_bytes, 1)
        head, complete = beginning(stream, 1)
        if not head.strip():
            raise FormatError("the file is empty", file=file)
        self._stream, self._head = stream, head
        first = Text(head if complete else head[: last_end(head, LINES)] or head, 1)
        self._known = dict.fromkeys(expected)
        kinds: dict[str, type] = {}
        for row in self._rows(first)[0]:
            for name, value in row.items():
                self._known.setdefault(name)
                if value is not None:
                    kinds.setdefault(name, type(value))
        if not self._known:
            self._complain(first)
        self.fields = tuple(_field(name, kinds.get(name)) for name in self._known)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        for text in whole_rows(Joined(self._head, self._stream), self._chunk_bytes, LINES, self.file):
            rows, lines, lost = self._rows(text)
            if rows or lost:
                yield self._block(rows, lines, lost, wanted)

    def _complain(self, text: Text) -> None:
        lost = self._rows(text)[2]
        raise lost[0] if lost else FormatError("the objects have no keys", file=self.file, line=text.line)

    def _block(
        self, rows: list[dict[str, Any]], lines: list[int], lost: list[FormatError], wanted: Wanted
    ) -> Block:
        bad: dict[int, FormatError] = {}

        def refuse(row: int, problem: str, j: int) -> None:
            bad.setdefault(row, FormatError(problem, file=self.file, line=lines[row], column=j + 1))

        numbers = np.empty((len(rows), len(wanted.numbers)))
        for k, j in enumerate(wanted.numbers):
            numbers[:, k] = self._numbers(rows, j, refuse)
        strings = [self._strings(rows, j, refuse) for j in wanted.strings]
        label = None if wanted.label is None else self._strings(rows, wanted.label, refuse)
        return Block(numbers, strings, label, lines.__getitem__, bad, lost)

    def _numbers(self, rows: list[dict[str, Any]], j: int, refuse: Refuse) -> list[float]:
        name = self.fields[j].name
        values = [row.get(name) for row in rows]
        types = set(map(type, values))
        if str in types or int in types:
            for row, value in enumerate(values):
                if isinstance(value, str):
                    refuse(row, no_number(value, name), j)
                elif isinstance(value, int) and abs(value) > EXACT and is_rounded(str(value)):
                    refuse(row, too_long(value, name), j)
                else:
                    continue
                values[row] = None
        return [math.nan if value is None else value for value in values]

    def _strings(self, rows: list[dict[str, Any]], j: int, refuse: Refuse) -> pa.Array:
        name = self.fields[j].name
        values = [row.get(name) for row in rows]
        return self._encodable([_as_string(value) for value in values], j, refuse)

    def _encodable(self, values: list[str | None], j: int, refuse: Refuse) -> pa.Array:
        try:
            return from_strings(values)
        except UnicodeEncodeError:
            for row, value in enumerate(values):
                try:
                    (value or "").encode()
                except UnicodeEncodeError:
                    refuse(row, f"{self.fields[j].name!r} holds half of a character (a lone surrogate)", j)
                    values[row] = None
            return from_strings(values)

    def _rows(self, text: Text) -> tuple[list[dict[str, Any]], list[int], list[FormatError]]:
        numbered = [(n, line) for n, line in enumerate(LINE_END.split(text.data), text.line) if line.strip()]
        lines = [line for _, line in numbered]
        try:
            # A line end cannot stand within a string, so that lines joined by it are taken apart where they end.
            rows = _loads(b"[" + b",\n".join(lines) + b"]")
            if len(rows) == len(lines) and not any(map(self._problem, rows)):
                return rows, [number for number, _ in numbered], []
        except (ValueError, RecursionError):
            pass  # one of the lines is wrong: find out which
        return self._one_by_one(numbered)

    def _one_by_one(
        self, numbered: list[tuple[int, bytes]]
    ) -> tuple[list[dict[str, Any]], list[int], list[FormatError]]:
        rows, lines, lost = [], [], []
        for number, line in numbered:
            column = None
            try:
                row = _loads(line)
                problem = self._problem(row)
            except json.JSONDecodeError as error:
                problem, column = f"is no JSON: {error.msg}", error.colno
            except UnicodeDecodeError as error:
                problem, column = "is not UTF-8; save the file as UTF-8", error.start + 1
            except (ValueError, RecursionError) as error:
                problem = f"is no JSON that can be used: {error}"
            if problem:
                lost.append(FormatError(problem, file=self.file, line=number, column=column))
            else:
                rows.append(row)
                lines.append(number)
        return rows, lines, lost

    def _problem(self, row: object) -> str | None:
        if not isinstance(row, dict):
            return f'is {shown(row)}, but every line must be an object, as in {{"x": 1.5, "label": "yes"}}'
        if not SIMPLE.issuperset(map(type, row.values())):
            name = next(name for name, value in row.items() if type(value) not in SIMPLE)
            return f"{name!r} is {shown(row[name])}; nested values are no features: flatten them"
        if self._closed and hasattr(self, "fields") and not row.keys() <= self._known.keys():
            name = next(name for name in row if name not in self._known)
            return (
                f"the key {name!r} is not among those of the first lines. Name the columns to use with "
                "--features, or give the first line every key (null where it has no value)"
            )
        return None


def _field(name: str, first: type | None) -> Field:
    kind: Kind = "string" if first is str else "number"
    return Field(name, kind, "bool" if first is bool else kind)


def _loads(data: bytes) -> Any:
    return json.loads(data.decode(), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON; a missing number is null")


def _as_string(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None or isinstance(value, str) else repr(value)
