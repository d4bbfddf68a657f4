"""Where the rows of delimited text end, compared with an oracle and with pyarrow."""

import csv
import io
from bisect import bisect_left

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.exceptions import FormatError
from rosenblatt.tables import delimited_rows
from rosenblatt.tables.delimited import read_columns
from rosenblatt.tables.delimited_rows import (
    Dialect,
    fields_of,
    last_end,
    row_lines,
    rows_of,
    whole_rows,
)

COMMA = Dialect(",", quoted=True)

pieces = st.lists(st.sampled_from(['"', ",", "\n", "\r\n", "a", "é", '""', 'b"c']), max_size=30).map("".join)


def oracle(text):
    """Take text apart character by character: quotes count where a field begins, as in pyarrow."""
    rows, row, field, state, line, start = [], [], "", "start", 1, None
    index = 0
    while index < len(text):
        c = text[index]
        end = c in "\r\n"
        step = 2 if text[index : index + 2] == "\r\n" else 1
        if start is None:
            start = line
        if state == "quoted":
            if c == '"' and text[index + 1 : index + 2] == '"':
                field, index = field + '"', index + 2
                continue
            if c == '"':
                state = "plain"
            else:
                field += c
        elif end:
            if row or field or state == "plain":
                rows.append((start, [*row, field]))
            row, field, state, start = [], "", "start", None
        elif c == '"' and state == "start":
            state = "quoted"
        elif c == ",":
            row, field, state = [*row, field], "", "start"
        else:
            field, state = field + c, "plain"
        if end and state == "quoted" and step == 2:
            field += "\n"
        line += end
        index += step if end else 1
    if row or field or state != "start":
        rows.append((start, [*row, field]))
    return rows, state == "quoted"


@example('"a\n"x,b"\n,"\n')
@given(pieces)
def test_rows_end_where_they_do(text):
    rows, is_open = oracle(text)
    data = text.encode()
    if not is_open:
        assert list(fields_of(data, COMMA)) == [fields for _, fields in rows]
        assert row_lines(data, COMMA, 1).tolist() == [line for line, _ in rows]
    for size in (1, 3, 7, 1000):
        blocks = whole_rows(io.BytesIO(data), size, COMMA, "f")
        if is_open:
            with pytest.raises(FormatError, match="never closed") as caught:
                list(blocks)
            assert caught.value.line == rows[-1][0]
            continue
        parts = list(blocks)
        assert b"".join(part for part, _ in parts) == data
        lines = [line for part, first in parts for line in row_lines(part, COMMA, first)]
        assert lines == [line for line, _ in rows]
    end = last_end(data, COMMA)
    assert end == 0 or data[end - 1] in b"\r\n"


def test_the_oracle_is_pythons_reader_where_quotes_are_proper():
    text = 'a,"b ""c""",d\n\n"e\nf",,g\n'
    assert [fields for _, fields in oracle(text)[0]] == [row for row in csv.reader(io.StringIO(text)) if row]


@given(pieces)
def test_pyarrow_takes_rows_apart_as_the_oracle_does(text):
    rows, is_open = oracle(text)
    whole = list(rows_of(text.encode(), COMMA))
    if is_open:
        return
    for row, (_, fields) in zip(whole, rows, strict=True):
        types = dict.fromkeys(range(len(fields)), pa.binary())
        [columns] = read_columns(row.data + b"\n", COMMA, len(fields), types)
        if row.data != b'""':  # which pyarrow takes for an empty line
            assert [column.to_pylist() for column in columns.values()] == [[field.encode()] for field in fields]
        assert row.n_fields == len(fields)


def test_lines_within_quotes_are_not_looked_at_one_by_one(monkeypatch):
    """A few bytes can unpack to millions of lines behind a quote that is never closed."""
    looked = []

    def looks(quotes, end):
        looked.append(end)
        return bisect_left(quotes, end)

    monkeypatch.setattr(delimited_rows, "bisect_left", looks)
    assert last_end(b'1,2\n3,"' + b"y\n" * 1000, COMMA) == 4
    assert len(looked) == 2
