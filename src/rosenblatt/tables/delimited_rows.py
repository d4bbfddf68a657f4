"""Where the rows of delimited text end, so that blocks hold whole rows and errors know their lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from io import BufferedIOBase
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError
from rosenblatt.rows.batch import Skipped
from rosenblatt.tables.table import Notation

__all__ = [
    "BYTE_ORDER_MARK",
    "LONGEST_LINE",
    "Dialect",
    "LineBlocks",
    "behind_rows",
    "field_ends",
    "fields_of",
    "last_end",
    "row_lines",
    "rows_of",
    "whole_rows",
]


# Whole lines from a stream, in blocks of about the size asked for.

LONGEST_LINE = 1 << 26
"""Bytes; no memory is allocated for a longer line or row."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PADDING_BYTES = 16  # bytes behind a block: a last newline, and eight that loops may look at without using them
_SKIP_BYTES = 1 << 20  # bytes by which a line that is too long is skipped


class LineBlocks:
    r"""Reads a stream by blocks of whole lines. The last line ends in a newline even where the file does not.

    Only the sizes asked for decide where blocks end, not the sizes in which the stream delivers its bytes. A byte
    order mark before the first line is dropped and not counted.

    Parameters
    ----------
    stream : binary file
        Read from its current position to its end.
    file : str
        What messages call it.
    skipped : Skipped or None
        Counts lines that are too long; None makes them an error.

    Attributes
    ----------
    text : bytearray
        Holds the block, and a few bytes more.
    before : int
        The number of lines of the file before the block.
    skipped : Skipped or None
        As given; it may be replaced between blocks.

    Examples
    --------
    >>> from io import BytesIO
    >>> blocks = LineBlocks(BytesIO(b"one\ntwo\nthree"), file="words", skipped=None)
    >>> while stop := blocks.read(8):
    ...     print(blocks.before, bytes(blocks.text[:stop]))
    0 b'one\ntwo\n'
    2 b'three\n'
    """

    def __init__(self, stream: BufferedIOBase, *, file: str, skipped: Skipped | None) -> None:
        self.text = bytearray()
        self.before = 0
        self.skipped = skipped
        self._stream, self._file = stream, file
        self._filled = self._given = 0  # bytes in the buffer, and those of them in the current block
        self._ended = self._begun = False

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def read(self, size: int) -> int:
        """Take the next lines; return how many bytes of `text` they are, 0 at the end of the stream.

        They are as many as fit into `size` bytes, at most `LONGEST_LINE`, or one line if that is longer.
        """
        self.before += self.text.count(b"\n", 0, self._given)
        self._drop(self._given)
        while True:
            self._fill(size)
            if self._filled == 0:
                return 0
            stop = self.text.rfind(b"\n", 0, self._filled) + 1
            if not stop and self._filled == LONGEST_LINE:
                self._skip_line()
            elif not stop and not self._ended:
                size = min(2 * size, LONGEST_LINE)
            else:
                if not stop:  # the last line lacks its newline, for which there is padding
                    self.text[self._filled] = ord("\n")
                    stop = self._filled = self._filled + 1
                self._given = stop
                return stop

    def _fill(self, size: int) -> None:
        """Read until there are `size` bytes, or no more."""
        if not self._begun:
            size = max(size, len(BYTE_ORDER_MARK))
        if len(self.text) < size + PADDING_BYTES:
            larger = bytearray(size + PADDING_BYTES)
            larger[: self._filled] = self.text[: self._filled]
            self.text = larger
        while self._filled < size and not self._ended:
            count = self._stream.readinto(memoryview(self.text)[self._filled : size])
            self._filled += count
            self._ended = count == 0
        if not self._begun:
            self._begun = True
            if self.text.startswith(BYTE_ORDER_MARK):
                self._drop(len(BYTE_ORDER_MARK))
                self._fill(size)

    def _drop(self, count: int) -> None:
        """Remove the first bytes."""
        self.text[: self._filled - count] = self.text[count : self._filled]
        self._filled -= count
        self._given = 0

    def _skip_line(self) -> None:
        problem = FormatError(
            f"a line of more than {LONGEST_LINE >> 20} MiB: this is no table, or its lines do not end in \\n",
            file=self._file,
            line=self.before + 1,
            column=LONGEST_LINE,
        )
        if self.skipped is None:
            raise problem
        self.skipped.add(problem)
        self.before += 1
        end = 0
        while self._filled and not end:
            self._drop(self._filled)
            self._fill(_SKIP_BYTES)
            end = self.text.find(b"\n", 0, self._filled) + 1
        self._drop(end)


# Where the rows of delimited text end, so that blocks hold whole rows and errors know their lines.

QUOTE, NEWLINE, RETURN = b'"\n\r'
LINE_END = re.compile(rb"\r\n|\n|\r")
PLAIN_ROW = re.compile(rb"(?!\Z)[^\r\n]*+(?:\r\n|\n|\r|\Z)")
BETWEEN_QUOTES = rb'[^"]*+(?:""[^"]*+)*+'
QUOTED = re.compile(rb'"(%b)"?+' % BETWEEN_QUOTES)


class Dialect(NamedTuple):
    """The delimiter of fields, and whether quotes may enclose delimiters and line ends.

    `notation` says how numbers are written, and `missing` are the words that stand for none.
    """

    delimiter: str
    quoted: bool
    notation: Notation = Notation()
    missing: tuple[str, ...] = ("",)

    def quotes(self, data: bytes) -> bool:
        """Return whether quotes have a meaning in this text."""
        return self.quoted and b'"' in data


class TextRow(NamedTuple):
    """One row: its line, its bytes without the line end, and its number of fields."""

    line: int
    data: bytes
    n_fields: int


def whole_rows(
    stream: BufferedIOBase, size: int, dialect: Dialect, file: str, line: int = 1
) -> Iterator[tuple[bytes, int]]:
    """Cut a stream where rows end, about every `size` bytes; yield the bytes and their first line.

    `line` is the first line of the stream.
    """
    rest = b""
    while True:
        asked = max(size - len(rest), size // 2, len(rest), 1)
        fresh = stream.read(asked)
        data = rest + fresh if rest else fresh
        if len(fresh) < asked:
            if data:
                _require_closed(data, line, dialect, file)
                yield data, line
            return
        end = last_end(data, dialect)
        if end == 0 and len(data) > LONGEST_LINE:
            why = " A quote may have been opened and never closed." if dialect.quoted else ""
            raise FormatError(f"a row goes on for more than {LONGEST_LINE >> 20} MiB.{why}", file=file, line=line)
        if end:
            rest, block = data[end:], data[:end]
            del data, fresh  # so that one block at a time is in memory
            yield block, line
            line += _count_lines(block)
        else:
            rest = data


def last_end(data: bytes, dialect: Dialect) -> int:
    """Return the position behind the last complete row; 0 if there is none."""
    if not dialect.quotes(data):
        return data.rfind(b"\n") + 1 or data.rfind(b"\r", 0, -1) + 1
    quotes = _alternating_quotes(data, dialect)
    if quotes is None:
        return _last_end_slowly(data, dialect)
    end = data.rfind(b"\n")
    while end >= 0 and (before := bisect_left(quotes, end)) % 2:  # within quotes; go to before they open
        end = data.rfind(b"\n", 0, int(quotes[before - 1]))
    return end + 1 or _last_end_slowly(data, dialect)


def row_lines(data: bytes, dialect: Dialect, line: int) -> NDArray[np.int64]:
    """Return the line of each row of a text that begins at `line`; empty lines are not rows."""
    if dialect.quotes(data):
        starts = [row.start() for row in _rows(data, dialect) if data[row.start()] not in b"\r\n"]
    else:
        starts = [row.start() for row in re.finditer(rb"[^\r\n]+", data)]
    ends = np.array([match.end() for match in LINE_END.finditer(data)], np.int64)
    return line + np.searchsorted(ends, np.array(starts, np.int64), side="right")


def rows_of(data: bytes, dialect: Dialect, line: int = 1) -> Iterator[TextRow]:
    """Split a text that begins at `line` into rows, and count their fields."""
    between = dialect.delimiter.encode()
    for match in _rows(data, dialect):
        row = match[0] if match.lastgroup == "open" else match[0].rstrip(b"\r\n")
        if row:
            quotes = dialect.quotes(row)
            n_fields = len(_field(dialect.delimiter).findall(between + row)) if quotes else row.count(between) + 1
            yield TextRow(line, row, n_fields)
        line += _count_lines(match[0])


def fields_of(data: bytes, dialect: Dialect) -> Iterator[list[str]]:
    """Split rows into fields; bytes that are not UTF-8 become replacement characters."""
    between = dialect.delimiter.encode()
    for row in rows_of(data, dialect):
        if dialect.quotes(row.data):
            fields = [_unquoted(field) for field in _field(dialect.delimiter).findall(between + row.data)]
        else:
            fields = row.data.split(between)
        yield [field.decode(errors="replace") for field in fields]


def field_ends(row: bytes, dialect: Dialect) -> NDArray[np.int64]:
    """Return the position behind each field of a row.

    Examples
    --------
    >>> field_ends(b'1,"a,b",', Dialect(",", quoted=True))
    array([1, 7, 8])
    """
    between = dialect.delimiter.encode()
    if dialect.quotes(row):
        fields = _field(dialect.delimiter).finditer(between + row)
        return np.fromiter((field.end() - 1 for field in fields), np.int64)
    return np.append(np.flatnonzero(np.frombuffer(row, np.uint8) == between[0]), len(row))


def behind_rows(data: bytes, n_rows: int) -> int:
    """Return a position behind `n_rows` lines that are not empty, or the end of the text."""
    found = re.finditer(rb"[^\r\n](?:\r\n|\n|\r)", data)
    row = next(islice(found, n_rows - 1, None), None)
    return len(data) if row is None else row.end()


def has_rows(data: bytes) -> bool:
    """Return whether there is anything but empty lines."""
    return re.search(rb"[^\r\n]", data) is not None


def _unquoted(field: bytes) -> bytes:
    quoted = QUOTED.match(field)
    return field if quoted is None else quoted[1].replace(b'""', b'"') + field[quoted.end() :]


def _last_end_slowly(data: bytes, dialect: Dialect) -> int:
    ends = [
        row.end() for row in _rows(data, dialect) if data[row.end() - 1] in b"\r\n" and row.lastgroup != "open"
    ]
    if ends and ends[-1] == len(data) and data.endswith(b"\r"):
        ends.pop()  # the other half of this line end may still come
    return ends[-1] if ends else 0


def _require_closed(data: bytes, line: int, dialect: Dialect, file: str) -> None:
    if not dialect.quotes(data):
        return
    quotes = _alternating_quotes(data, dialect)
    if quotes is not None and len(quotes) % 2 == 0:
        return
    for row in _rows(data, dialect):
        if row.end() == len(data) and row.lastgroup == "open":
            raise FormatError(
                "a quote is opened in this row and never closed. If quotes are plain characters here, save the "
                "table as TSV",
                file=file,
                line=line + _count_lines(data[: row.start()]),
            )


def _alternating_quotes(data: bytes, dialect: Dialect) -> NDArray[np.int64] | None:
    """Return the positions of quotes if every second one opens a field, so that counting suffices; else None.

    A quote that opens a field stands behind a delimiter or a line end, or behind the quote that it doubles. Any
    other is a plain character of an unquoted field, and counting would be wrong from there on.
    """
    characters = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(characters == QUOTE)
    opening = quotes[::2]
    before = characters[np.maximum(opening, 1) - 1]
    allowed = np.array([QUOTE, NEWLINE, RETURN, ord(dialect.delimiter)], np.uint8)
    return quotes if np.all(np.isin(before, allowed) | (opening == 0)) else None


def _rows(data: bytes, dialect: Dialect) -> Iterator[re.Match[bytes]]:
    return (_row(dialect.delimiter) if dialect.quotes(data) else PLAIN_ROW).finditer(data)


@lru_cache(maxsize=16)
def _row(delimiter: str) -> re.Pattern[bytes]:
    # Quotes count only where a field begins, as in pyarrow. The possessive ?+ and *+ never backtrack. Before
    # Python 3.11.5 they fail where alternatives are repeated, so there are none here but the last.
    between = re.escape(delimiter).encode()
    quoted = rb'"(?:(?<![^%b\r\n]")%b(?:"|(?P<open>\Z)))?+' % (between, BETWEEN_QUOTES)
    return re.compile(rb'(?!\Z)[^\r\n"]*+(?:%b[^\r\n"]*+)*+(?:\r\n|\n|\r|\Z)' % quoted)


@lru_cache(maxsize=16)
def _field(delimiter: str) -> re.Pattern[bytes]:
    between = re.escape(delimiter).encode()
    return re.compile(rb'%b((?:"%b"?+)?+[^%b]*+)' % (between, BETWEEN_QUOTES, between))


def _count_lines(data: bytes) -> int:
    if b"\r" not in data:
        return data.count(b"\n")
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
