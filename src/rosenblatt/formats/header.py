"""Telling from the first rows of delimited text what stands between fields, and whether the first row is names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from rosenblatt.columns.labels import NUMERAL
from rosenblatt.columns.table import MISSING
from rosenblatt.text.row_ends import Dialect, Text, fields_of, rows_of

__all__ = ["LOOKED_AT", "first_rows", "guess_delimiter", "looks_like_header"]

DELIMITERS = ",;\t|"
LOOKED_AT = 20  # rows
PLAIN_NAME = re.compile(r"[^\W\d][\w.\-]{0,63}")


def first_rows(data: bytes, dialect: Dialect) -> list[list[str]]:
    """Take the first rows apart."""
    return list(islice(fields_of(data, dialect), LOOKED_AT))


def guess_delimiter(data: bytes) -> str:
    r"""Choose what splits the rows into the most fields, as many in each; a comma where nothing does.

    Examples
    --------
    >>> guess_delimiter(b"a;b;c\n1,5;2;3\n2,5;2;4\n")
    ';'
    """
    best, most = ",", 1
    for delimiter in DELIMITERS:
        rows = rows_of(Text(data, 1), Dialect(delimiter, quoted=True))
        widths = {row.n_fields for row in islice(rows, LOOKED_AT)}
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    if most > 1:
        return best
    first = data.lstrip().partition(b"\n")[0]  # rows of different lengths are for the reader to complain about
    return max(DELIMITERS, key=lambda delimiter: (first.count(delimiter.encode()), delimiter == ","))


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row names the columns.

    It does if it has no numbers, save column numbers, and a name above a column that holds only numbers: whatever
    else it has, a name may be empty, or there twice, for the reader to complain about. Without such a column it
    does if its fields are distinct plain words, and no column holds its own again.

    Examples
    --------
    >>> looks_like_header([["age", "label"], ["31", "yes"]])
    True
    >>> looks_like_header([["sunny", "no"], ["rainy", "yes"], ["sunny", "yes"]])
    False
    """
    if not rows:
        return False
    first, below = [field.strip() for field in rows[0]], rows[1:]
    if not _are_column_numbers([field for field in first if NUMERAL.fullmatch(field)]):
        return False
    columns = [[row[j].strip() for row in below if j < len(row)] for j in range(len(first))]
    if any(_only_numbers(column) and _is_name(field) for field, column in zip(first, columns, strict=True)):
        return True
    if len(set(first)) != len(first) or not all(PLAIN_NAME.fullmatch(f) and f not in MISSING for f in first):
        return False
    return all(field not in column for field, column in zip(first, columns, strict=True))


def _is_name(field: str) -> bool:
    return field not in MISSING and not NUMERAL.fullmatch(field)


def _are_column_numbers(numerals: Sequence[str]) -> bool:
    """Tell whether numbers in a row count the columns, as in "label,0,1,2", and so name them."""
    starts = [[str(start + j) for j in range(len(numerals))] for start in (0, 1)]
    return not numerals or (len(numerals) > 1 and list(numerals) in starts)


def _only_numbers(column: Sequence[str]) -> bool:
    values = [value for value in column if value not in MISSING]
    return bool(values) and all(NUMERAL.fullmatch(value) for value in values)
