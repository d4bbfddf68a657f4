"""The grammar of svmlight text in plain Python: it reads what the compiled loop is not sure of, and is its oracle.

A line is ``label [qid:N] index:value index:value … [# comment]``, its parts separated by blanks or tabs.

Rows and labels as svmlight text that reads back the same.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.atomic import replacing
from rosenblatt.exceptions import FormatError, LabelError, Remedy, ShapeError
from rosenblatt.loops.layout import CSR
from rosenblatt.rows.features import Features, as_rows, require_finite
from rosenblatt.tables.table import LARGEST_EXACT_INTEGER, is_rounded
from rosenblatt.typing import Floats, Ints

__all__ = [
    "LARGEST_INDEX",
    "Progress",
    "Room",
    "SvmlightRow",
    "ZeroIndexError",
    "read_line",
    "read_next_line",
    "write_svmlight",
]


LARGEST_INDEX = 2**31 - 2
"""The number of features stays below 2³¹, so that an index fits wherever sparse rows are used."""

LONGEST_QUERY = len("qid:") + 18
"""Bytes of a query, so that its number fits into 64 bits."""

NO_INDEX = 2**31
"""Larger than every index."""

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(rb"[+-]?[0-9]+")
_PART = re.compile(rb"[^ \t]+")
_NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_SHOWN_BYTES = 40  # bytes shown of a bad value


class Room(NamedTuple):
    """Arrays to write rows into: a label and a query for each line, and an entry for each colon.

    There is one start more than rows. A row without a query has −1.
    """

    labels: Floats
    data: Floats
    indices: NDArray[np.uint32]
    indptr: NDArray[np.uint32]
    queries: Ints


class Progress(NamedTuple):
    """How far a text has been read, and the smallest and largest index met, as written."""

    at: int = 0
    lines: int = 0
    rows: int = 0
    stored: int = 0
    smallest: int = NO_INDEX
    largest: int = -1


class SvmlightRow(NamedTuple):
    """One line; the indices as written, and the number after ``qid:``, or −1."""

    label: float
    indices: list[int]
    values: list[float]
    query: int = -1


class ZeroIndexError(FormatError):
    """An index 0, where indices have been taken to begin at 1."""


class _BadLineError(Exception):
    """What is wrong in a line, and at which byte of it, counted from 0."""

    def __init__(self, at: int, problem: str, kind: type[FormatError] = FormatError) -> None:
        super().__init__(problem)
        self.at, self.problem, self.kind = at, problem, kind


def read_next_line(text: bytearray, base: int, room: Room, progress: Progress, file: str, before: int) -> Progress:
    """Read one line into `room`; `before` lines of the file precede the text."""
    stop = text.index(b"\n", progress.at) + 1
    moved = progress._replace(at=stop, lines=progress.lines + 1)
    row = read_line(bytes(text[progress.at : stop]), base, file, before + moved.lines)
    if row is None:
        return moved
    stored = progress.stored + len(row.indices)
    room.labels[progress.rows] = row.label
    room.queries[progress.rows] = row.query
    room.indices[progress.stored : stored] = [index - base for index in row.indices]
    room.data[progress.stored : stored] = row.values
    room.indptr[progress.rows + 1] = stored
    smallest = min(progress.smallest, *row.indices[:1], NO_INDEX)
    largest = max(progress.largest, *row.indices[-1:], -1)
    return Progress(stop, moved.lines, progress.rows + 1, stored, smallest, largest)


def read_line(line: bytes, base: int, file: str, number: int) -> SvmlightRow | None:
    r"""Read one line; return None if it is empty but for a comment. Raises `FormatError` with the place.

    Examples
    --------
    >>> read_line(b"+1 qid:3 2:0.5 7:1e-3 # a comment\n", 1, "mail.svm", 1)
    SvmlightRow(label=1.0, indices=[2, 7], values=[0.5, 0.001], query=3)
    >>> read_line(b"+1 2:0.5 2:1\n", 1, "mail.svm", 4)
    Traceback (most recent call last):
    rosenblatt.exceptions.FormatError: mail.svm:4:10: index 2 comes after index 2; ...
    """
    try:
        return _parse(line, base)
    except _BadLineError as error:
        raise error.kind(error.problem, file=file, line=number, column=error.at + 1) from None


def _parse(line: bytes, base: int) -> SvmlightRow | None:
    content, comment, _ = line.partition(b"#")
    if not comment:
        content = content.removesuffix(b"\n").removesuffix(b"\r")
    parts = _PART.finditer(content)
    first = next(parts, None)
    if first is None:
        return None
    label = _label(first[0], first.start())
    indices: list[int] = []
    values: list[float] = []
    previous, is_second, query = base - 1, True, -1
    for part in parts:
        written, at = part[0], part.start()
        if is_second and written.startswith(b"qid:"):
            if not written[4:].isdigit() or len(written) > LONGEST_QUERY:
                raise _BadLineError(at, f"{_show(written)} is no query: qid: and a whole number are expected")
            query = int(written[4:])
        else:
            index, colon = _index(written, base, at)
            if index <= previous:
                kind = ZeroIndexError if index < base else FormatError
                raise _BadLineError(at, _out_of_order(index, previous, base), kind)
            previous = index
            indices.append(index)
            values.append(_number(written[colon + 1 :], "value", at + colon + 1))
        is_second = False
    return SvmlightRow(label, indices, values, query)


def _label(part: bytes, at: int) -> float:
    if b"," in part and all(_NUMBER.fullmatch(each) for each in part.split(b",")):
        problem = f"several labels, {_show(part)}: one is expected on each line; keep the first, or split"
        raise _BadLineError(at, problem)
    if b":" in part:
        problem = f"the label is missing: the line begins with {_show(part)}; put 0 before rows without one"
        raise _BadLineError(at, problem)
    return _number(part, "label", at)


def _number(written: bytes, what: str, at: int) -> float:
    if _NUMBER.fullmatch(written):
        number = float(written)
        if not math.isfinite(number):
            raise _BadLineError(at, f"the {what} {_show(written)} is beyond the largest float, about 1.8e308")
        if abs(number) >= LARGEST_EXACT_INTEGER and _WHOLE.fullmatch(written) and is_rounded(written.decode()):
            problem = f"the {what} {_show(written)} is an integer beyond 2^53 that float64 would round"
            raise _BadLineError(at, problem)
        return number
    if not written:
        raise _BadLineError(at, f"a {what} is missing")
    if _NOT_FINITE.fullmatch(written):
        raise _BadLineError(at, f"the {what} is {_show(written)}: only finite numbers can be learned from")
    _require_no_return(written, at)
    raise _BadLineError(at, f"the {what} {_show(written)} is no decimal number")


def _index(part: bytes, base: int, at: int) -> tuple[int, int]:
    """Return the index of an entry, and where its colon is."""
    written, colon, _ = part.partition(b":")
    if colon and written.isdigit():
        digits = written if len(written) <= 10 else written.lstrip(b"0") or b"0"
        index = int(digits) if len(digits) <= 10 else NO_INDEX
        if index > LARGEST_INDEX:
            raise _BadLineError(
                at, f"index {_show(written)} is larger than {LARGEST_INDEX}, the largest there may be"
            )
        return index, len(written)
    if not colon:
        _require_no_return(part, at)
        raise _BadLineError(at, f"{_show(part)} is no entry: index:value is expected")
    if written == b"qid":
        raise _BadLineError(at, "qid: stands right behind the label, and once")
    said = f"{_show(written)} before the colon is no index" if written else "an index is missing before the colon"
    raise _BadLineError(at, f"{said}: whole numbers from {base} on are expected")


def _require_no_return(part: bytes, at: int) -> None:
    if b"\r" in part:
        problem = "a carriage return within a line: lines end in \\n or in \\r\\n"
        raise _BadLineError(at + part.index(b"\r"), problem)


def _out_of_order(index: int, previous: int, base: int) -> str:
    if index < base:
        return "index 0, where indices have been taken to begin at 1; if they begin at 0, say so with " + Remedy(
            "zero_based", True
        )
    return (
        f"index {index} comes after index {previous}; the indices of a row must ascend, and none may come twice. "
        "Sort the entries of each line, and add up those of one index"
    )


def _show(written: bytes) -> str:
    """Return a bad value, printable and not too long."""
    return repr(written[:_SHOWN_BYTES])[1:] + ("…" if len(written) > _SHOWN_BYTES else "")


_ROWS_AT_ONCE = 1024  # written at once


def write_svmlight(file: str | os.PathLike[str] | BinaryIO, X: Any, y: Any, *, zero_based: bool = False) -> None:
    """Write rows and their labels in the format of LIBSVM and SVMlight.

    Every number is the shortest that reads back as the same float. Zeros of dense rows are left out; zeros that
    sparse rows store are written. The number of features is not written, so columns of zeros at the end are lost.

    Parameters
    ----------
    file : path or binary file
        A file at this path is replaced as a whole, or left unchanged if writing fails.
    X : array, DataFrame or sparse matrix
        Finite numbers.
    y : array
        A finite number for each row.
    zero_based : bool
        Whether the first column is written as 0, not as 1.

    Examples
    --------
    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> write_svmlight(file, [[0.5, 0], [0.1, -3]], [1, -1])
    >>> print(file.getvalue().decode(), end="")
    1 1:0.5
    -1 1:0.1 2:-3
    """
    features = as_rows(X)
    require_finite(features)
    labels = _labels(y, features)
    base = 0 if zero_based else 1
    if features.n_features - 1 + base > LARGEST_INDEX:
        raise ShapeError(f"X has {features.n_features} features; this format holds {LARGEST_INDEX + 1 - base}")
    if isinstance(file, str | os.PathLike):
        with replacing(file) as opened:
            _write(opened, features, labels, base)
    else:
        _write(file, features, labels, base)


def _labels(y: Any, features: Features) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.shape != (features.n_rows,):
        raise ShapeError(f"y must hold one label for each of the {features.n_rows} rows, got shape {labels.shape}")
    if labels.dtype.kind not in "biuf":
        raise LabelError(
            f"this format holds numbers as labels, y is of {labels.dtype}: number the classes, or use CSV"
        )
    if not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise LabelError(f"y must be finite, but holds {labels[row]} at row {row}")
    return labels.astype(np.int64) if labels.dtype.kind == "b" else labels


def _write(file: BinaryIO, features: Features, labels: NDArray[Any], base: int) -> None:
    for start in range(0, features.n_rows, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        lines = zip(labels[rows].tolist(), _entries(features.part(rows)), strict=True)
        file.write("".join(f"{_shortest(label)}{_line(*entries, base)}\n" for label, entries in lines).encode())


def _entries(features: Features) -> Iterator[tuple[list[int], list[float]]]:
    X = features.rows
    if isinstance(X, CSR):
        starts = X.indptr.tolist()
        for start, stop in pairwise(starts):
            yield X.indices[start:stop].tolist(), X.data[start:stop].tolist()
    else:
        for x in X:
            columns = np.flatnonzero((x != 0) | np.signbit(x))  # −0.0 is another number to a reader
            yield columns.tolist(), x[columns].tolist()


def _line(indices: list[int], values: list[float], base: int) -> str:
    return "".join(f" {index + base}:{_shortest(value)}" for index, value in zip(indices, values, strict=True))


def _shortest(number: float) -> str:
    return repr(number).removesuffix(".0")
