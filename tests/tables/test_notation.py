"""Separators of thousands and decimal marks: in blocks, row by row, and by the plain grammar."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.tables.delimited import read_block
from rosenblatt.tables.delimited_rows import Dialect
from rosenblatt.tables.table import MISSING, NOTATIONS, Field, Notation, Wanted, notations_of, told_readings

pieces = st.sampled_from(
    ["", "1", "12", "123", "1234", "0", "007", ",", ".", "'", " ", "-", "+", "e3", "E-2", "700", "x", "NA"]
)
values = st.lists(pieces, min_size=1, max_size=5).map("".join)


@pytest.mark.parametrize(
    "notation, value, plain",
    [
        (Notation(".", ","), "7,700", "7700"),
        (Notation(".", ","), "12,345,678", "12345678"),
        (Notation(".", ","), "-1,234.5", "-1234.5"),
        (Notation(".", ","), "950", "950"),
        (Notation(".", ","), "1234567", "1234567"),
        (Notation(".", ","), " 7,700 ", "7700"),
        (Notation(".", ","), "1,25", None),
        (Notation(".", ","), "1,2345", None),
        (Notation(".", ","), "1234,567", None),
        (Notation(".", ","), "0,125", None),
        (Notation(".", ","), "1,,234", None),
        (Notation(".", ","), ",234", None),
        (Notation(".", ","), "1.5,000", None),
        (Notation(",", "."), "7.700", "7700"),
        (Notation(",", "."), "1.250,50", "1250.50"),
        (Notation(",", "."), "1.5", None),
        (Notation(",", ""), "1.5", None),
        (Notation(",", ""), "0,25", "0.25"),
        (Notation(".", "'"), "1'250", "1250"),
        (Notation(",", " "), "1 250,5", "1250.5"),
        (Notation(), "1,5", None),
        (Notation(), "١", None),
    ],
)
def test_a_number_in_a_notation(notation, value, plain):
    assert notation.plain(value) == plain


@pytest.mark.parametrize(
    "column, found",
    [
        (["7,700", "950"], {Notation(","), Notation(".", ",")}),
        (["1,250,000", "84,000"], {Notation(".", ",")}),
        (["7,700", "1,5"], {Notation(",")}),
        (["7,700", "0,125"], {Notation(",")}),
        (["7,700", "1.5"], {Notation(".", ",")}),
        (["1.234", "1,5"], {Notation(",", ".")}),
        (["1.234", "950"], {Notation(), Notation(",", ".")}),
        (["1 234", "950"], {Notation(".", " ")}),
        (["1 234,5", "950"], {Notation(",", " ")}),
        (["1", "2"], {Notation(), Notation(",")}),
    ],
)
def test_the_notations_that_values_leave_open(column, found):
    counts = {each: sum(each.plain(value) is not None for value in column) for each in NOTATIONS}
    assert {*notations_of(counts)} == found


def test_what_is_said_of_readings():
    told = told_readings("7,700", [Notation(".", ","), Notation(","), Notation(",", ".")])
    assert told.startswith("thousands=',' reads 7700, decimal=',' reads 7.700, thousands='.' decimal=',' reads")


@given(st.lists(values, min_size=1, max_size=6), st.sampled_from(NOTATIONS), st.booleans())
@example(["1.5"], Notation(","), False)  # a point is no decimal mark here
@example(["1.5", "x"], Notation(",", "."), False)
@example(["12,345,678,901,234,567"], Notation(".", ","), False)  # which float64 would round
def test_blocks_and_rows_are_read_by_the_same_grammar(column, notation, broken):
    dialect = Dialect("\t", False, notation, MISSING)
    fields = (Field("n", "number", "double"), Field("y", "string", "string"))
    rows = [f"{value}\ty\n" for value in column] + ["only one field\n"] * broken
    block = read_block("".join(rows).encode(), 1, dialect, fields, Wanted((0,), (), 1), "f.tsv")
    for row, value in enumerate(column):
        [number] = block.numbers[row]
        plain = notation.plain(value)
        if value.strip() in MISSING:
            assert math.isnan(number)
            assert row not in block.bad
        elif plain is None:
            assert row in block.bad
        elif abs(float(plain)) < 2**53:
            assert number == float(plain)
            assert row not in block.bad
    assert len(block.lost) == broken


def test_an_integer_with_separators_is_not_rounded():
    dialect = Dialect("\t", False, Notation(".", ","), MISSING)
    fields = (Field("n", "number", "double"), Field("y", "string", "string"))
    text = b"9,007,199,254,740,993\ty\n9,007,199,254,740,992\ty\n"
    block = read_block(text, 1, dialect, fields, Wanted((0,), (), 1), "f.tsv")
    assert list(block.bad) == [0]
    assert "beyond 2^53" in str(block.bad[0])
