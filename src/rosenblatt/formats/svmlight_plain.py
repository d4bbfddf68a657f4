"""The grammar of svmlight text in plain Python: it reads what the compiled loop is not sure of, and is its oracle.

A line is ``label [qid:N] index:value index:value … [# comment]``, its parts separated by blanks or tabs.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError
from rosenblatt.typing import Floats

__all__ = ["LARGEST_INDEX", "LineOfFile", "Progress", "Room", "SvmlightRow", "read_line", "read_next_line"]

LARGEST_INDEX = 2**31 - 2
"""The number of features stays below 2³¹, so that an index fits wherever sparse rows are used."""

NO_INDEX = 2**31
"""Larger than every index."""

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PART = re.compile(rb"[^ \t]+")
_NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_SHOWN = 40  # bytes shown of a bad value


class Room(NamedTuple):
    """Arrays to write rows into: a label for each line, an entry for each colon, and one start more than rows."""

    labels: Floats
    data: Floats
    indices: NDArray[np.uint32]
    indptr: NDArray[np.uint32]


class Progress(NamedTuple):
    """How far a text has been read, and the smallest and largest index met, as written."""

    at: int = 0
    lines: int = 0
    rows: int = 0
    stored: int = 0
    smallest: int = NO_INDEX
    largest: int = -1


class SvmlightRow(NamedTuple):
    """One line; the indices as written."""

    label: float
    indices: list[int]
    values: list[float]


class LineOfFile(NamedTuple):
    """A line of a file."""

    file: str
    line: int

    def wrong(self, problem: str, at: int) -> FormatError:
        """Return the error that says what is wrong at a byte of the line, counted from 0."""
        return FormatError(problem, file=self.file, line=self.line, column=at + 1)


def read_next_line(text: bytearray, base: int, room: Room, progress: Progress, file: str, before: int) -> Progress:
    """Read one line into `room`; `before` lines of the file precede the text."""
    stop = text.index(b"\n", progress.at) + 1
    row = read_line(bytes(text[progress.at : stop]), base, LineOfFile(file, before + progress.lines + 1))
    moved = progress._replace(at=stop, lines=progress.lines + 1)
    if row is None:
        return moved
    stored = progress.stored + len(row.indices)
    room.labels[progress.rows] = row.label
    room.indices[progress.stored : stored] = [index - base for index in row.indices]
    room.data[progress.stored : stored] = row.values
    room.indptr[progress.rows + 1] = stored
    smallest = min(progress.smallest, *row.indices[:1], NO_INDEX)
    largest = max(progress.largest, *row.indices[-1:], -1)
    return Progress(stop, moved.lines, progress.rows + 1, stored, smallest, largest)


def read_line(line: bytes, base: int, place: LineOfFile) -> SvmlightRow | None:
    r"""Read one line; return None if it is empty but for a comment. Raises `FormatError` with the place.

    Examples
    --------
    >>> read_line(b"+1 qid:3 2:0.5 7:1e-3 # so it is\n", 1, LineOfFile("mail.svm", 1))
    SvmlightRow(label=1.0, indices=[2, 7], values=[0.5, 0.001])
    >>> read_line(b"+1 2:0.5 2:1\n", 1, LineOfFile("mail.svm", 4))
    Traceback (most recent call last):
    rosenblatt.exceptions.FormatError: mail.svm:4:10: index 2 comes after index 2; ...
    """
    content, comment, _ = line.partition(b"#")
    if not comment:
        content = content.removesuffix(b"\n").removesuffix(b"\r")
    parts = _PART.finditer(content)
    first = next(parts, None)
    if first is None:
        return None
    label = _label(first[0], first.start(), place)
    indices: list[int] = []
    values: list[float] = []
    previous, is_second = base - 1, True
    for part in parts:
        if is_second and part[0].startswith(b"qid:"):
            if not part[0][4:].isdigit():
                raise place.wrong(
                    f"{_show(part[0])} is no query: qid: and a whole number are expected", part.start()
                )
        else:
            index, colon = _index(part[0], base, part.start(), place)
            if index <= previous:
                raise _out_of_order(index, previous, base, part.start(), place)
            previous = index
            indices.append(index)
            values.append(_number(part[0][colon + 1 :], "value", part.start() + colon + 1, place))
        is_second = False
    return SvmlightRow(label, indices, values)


def _label(part: bytes, at: int, place: LineOfFile) -> float:
    if b"," in part and all(_NUMBER.fullmatch(each) for each in part.split(b",")):
        raise place.wrong(
            f"several labels, {_show(part)}: one is expected on each line; keep the first, or split", at
        )
    if b":" in part:
        raise place.wrong(
            f"the label is missing: the line begins with {_show(part)}; put 0 before rows without one", at
        )
    return _number(part, "label", at, place)


def _number(written: bytes, what: str, at: int, place: LineOfFile) -> float:
    if _NUMBER.fullmatch(written):
        number = float(written)
        if math.isfinite(number):
            return number
        raise place.wrong(f"the {what} {_show(written)} is beyond the largest float, about 1.8e308", at)
    if not written:
        raise place.wrong(f"a {what} is missing", at)
    if _NOT_FINITE.fullmatch(written):
        raise place.wrong(f"the {what} is {_show(written)}: only finite numbers can be learned from", at)
    _require_no_return(written, at, place)
    raise place.wrong(f"the {what} {_show(written)} is no decimal number", at)


def _index(part: bytes, base: int, at: int, place: LineOfFile) -> tuple[int, int]:
    """Return the index of an entry, and where its colon is."""
    written, colon, _ = part.partition(b":")
    if colon and written.isdigit():
        digits = written if len(written) <= 10 else written.lstrip(b"0") or b"0"
        index = int(digits) if len(digits) <= 10 else NO_INDEX
        if index > LARGEST_INDEX:
            raise place.wrong(
                f"index {_show(written)} is larger than {LARGEST_INDEX}, the largest there may be", at
            )
        return index, len(written)
    if not colon:
        _require_no_return(part, at, place)
        raise place.wrong(f"{_show(part)} is no entry: index:value is expected", at)
    if written == b"qid":
        raise place.wrong("qid: stands right behind the label, and once", at)
    said = f"{_show(written)} before the colon is no index" if written else "an index is missing before the colon"
    raise place.wrong(f"{said}: whole numbers from {base} on are expected", at)


def _require_no_return(part: bytes, at: int, place: LineOfFile) -> None:
    if b"\r" in part:
        raise place.wrong("a carriage return within a line: lines end in \\n or in \\r\\n", at + part.index(b"\r"))


def _out_of_order(index: int, previous: int, base: int, at: int, place: LineOfFile) -> FormatError:
    if index < base:
        return place.wrong(
            "index 0, where indices have been taken to begin at 1; if they begin at 0, say so with --zero-based "
            "(zero_based=True)",
            at,
        )
    return place.wrong(
        f"index {index} comes after index {previous}; the indices of a row must ascend, and none may come twice. "
        "Sort the entries of each line, and add up those of one index",
        at,
    )


def _show(written: bytes) -> str:
    """Return a bad value, printable and not too long."""
    return repr(written[:_SHOWN])[1:] + ("…" if len(written) > _SHOWN else "")
