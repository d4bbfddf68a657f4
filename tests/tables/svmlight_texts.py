"""What tests of svmlight text share: an oracle that owes nothing to the reader, and ways to read."""

from __future__ import annotations

import math
import re
from io import BytesIO
from typing import Any, NamedTuple

from hypothesis import strategies as st

from rosenblatt.exceptions import FormatError
from rosenblatt.rows.batch import Skipped
from rosenblatt.tables import svmlight

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
LINE = re.compile(
    rf"[ \t]*(?:({NUMBER})(?:[ \t]+qid:\d+)?((?:[ \t]+\d+:{NUMBER})*)[ \t]*)?(?:#[^\n]*|\r)?".encode()
)


class Read(NamedTuple):
    """All rows of a text, or the error that ended it."""

    labels: list[Any]
    rows: list[tuple[list[int], list[float]]]
    error: FormatError | None = None
    skipped: int = 0
    skipped_lines: tuple[int | None, ...] = ()  # the first few
    zero_based: bool | None = None
    n_features: int = 0
    unmet: int = 0


def read(text: bytes, **options: Any) -> Read:
    """Read a text by the reader, as one list of rows."""
    skipped = options.get("skipped")
    reader = svmlight.SvmlightReader(BytesIO(text), file="f", **options)
    labels: list[Any] = []
    rows: list[Any] = []
    error = None
    try:
        for chunk in reader.chunks():
            X = chunk.rows
            assert chunk.n_rows == len(chunk.labels) == len(X.indptr) - 1
            assert X.indptr[0] == 0
            assert X.indptr[-1] == len(X.data) == len(X.indices)
            assert not len(X.indices) or X.indices.max() < chunk.n_features
            labels += chunk.labels.tolist()
            for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
                rows.append((X.indices[start:stop].tolist(), [float.hex(v) for v in X.data[start:stop].tolist()]))
    except FormatError as problem:
        error = problem
    count, first = (skipped.count, skipped.first) if skipped is not None else (0, [])
    return Read(
        labels,
        rows,
        error,
        count,
        tuple(each.line for each in first),
        reader.zero_based,
        reader.n_features,
        reader.unmet,
    )


def rounded(written: bytes) -> bool:
    """Return whether a number is written as an integer that is no float."""
    return written.lstrip(b"+-").isdigit() and int(written) != int(float(written))


def expected(text: bytes, base: int) -> tuple[list[Any], list[int]]:
    """Return the rows of the lines that are right, as (label, indices, values), and the numbers of the others."""
    rows, wrong = [], []
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == b"" else lines, start=1):
        match = LINE.fullmatch(line)
        if match is None:
            wrong.append(number)
            continue
        if match[1] is None:
            continue
        entries = [entry.split(b":") for entry in (match[2] or b"").split()]
        indices = [int(index) for index, _ in entries]
        values = [float(value) for _, value in entries]
        right = all(a < b for a, b in zip([base - 1, *indices], indices, strict=False))
        right = right and all(index <= 2**31 - 2 for index in indices)
        written = [match[1], *(value for _, value in entries)]
        right = right and all(map(math.isfinite, values)) and math.isfinite(float(match[1]))
        if right and not any(map(rounded, written)):
            rows.append((float(match[1]), [index - base for index in indices], [v.hex() for v in values]))
        else:
            wrong.append(number)
    return rows, wrong


def read_skipping(text: bytes, **options: Any) -> Read:
    return read(text, skipped=Skipped(), **options)


def by(monkeypatch: Any, way: str) -> None:
    """Make the reader use the loop, or its plain twin."""
    monkeypatch.setattr(svmlight, "loop_pays", lambda *_: way == "loop")


blanks = st.sampled_from([" ", " ", " ", "  ", "\t", " \t "])
finite = st.floats(allow_nan=False, allow_infinity=False)
written = st.one_of(
    st.integers(-9, 9).map(str),
    finite.map(repr),
    finite.map("{:.6g}".format),
    finite.map("{:.25e}".format),
    st.sampled_from(
        [".5", "5.", "+7", "-0.0", "1.e+2", "1E-400", "0e999999", "00.10e001", "12345678", "0.123456789"]
    ),
    st.text("0123456789", min_size=1, max_size=30).map(lambda text: text + "." * rounded(text.encode())),
)


@st.composite
def lines(draw: Any) -> str:
    """Draw a line that is right, its indices from 1 on."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", " ", "# nothing", "\t# 1:2"]))
    indices = sorted(draw(st.sets(st.one_of(st.integers(1, 12), st.integers(1, 2**31 - 2)), max_size=6)))
    parts = [draw(written)]
    if draw(st.integers(0, 4)) == 0:
        parts.append(f"qid:{draw(st.integers(0, 10 ** draw(st.integers(0, 9))))}")
    parts += [f"{index}:{draw(written)}" for index in indices]
    gaps = [draw(blanks) for _ in parts[1:]]
    text = draw(st.sampled_from(["", "", " "])) + parts[0]
    text += "".join(gap + part for gap, part in zip(gaps, parts[1:], strict=True))
    return text + draw(st.sampled_from(["", "", " ", "#", " # a: 1:2 comment"]))


@st.composite
def texts(draw: Any) -> bytes:
    """Draw a text all of whose lines are right."""
    ends = st.sampled_from(["\n", "\n", "\r\n"])
    text = "".join(draw(lines()) + draw(ends) for _ in range(draw(st.integers(0, 6))))
    return (text + draw(st.sampled_from(["", draw(lines())]))).encode()


SPECIAL = b"0123456789 \t\n\r#:+-.eEqidnaf,x\x00\xff"


@st.composite
def mutated(draw: Any) -> bytes:
    """Draw a text in which a few bytes were changed."""
    text = bytearray(draw(texts()))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        piece = bytes(draw(st.lists(st.sampled_from(SPECIAL), max_size=3)))
        text[at : at + draw(st.integers(0, 2))] = piece
    return bytes(text)
