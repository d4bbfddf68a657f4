"""What the first rows of delimited text tell: the delimiter, and whether the first row holds names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from rosenblatt.columns.labels import NUMERAL
from rosenblatt.columns.table import MISSING
from rosenblatt.text.delimited_rows import Dialect, TextBlock, rows_of

__all__ = ["LOOKED_AT", "guess_delimiter", "looks_like_header"]

DELIMITERS = ",;\t|"
LOOKED_AT = 20  # rows
DECIMAL_COMMA = re.compile(r"^(\s*[+-]?\d+),(\d+\s*)$")
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


def looks_like_header(rows: Sequence[Sequence[str]], *, commas: bool = False) -> bool:
    """Return whether the first row names the columns.

    It does if it holds no numbers except column numbers, and a name above a column that holds only numbers. Its
    other names may be empty or repeated: reading will report that. Without such a column it does if its fields are
    distinct plain words that do not occur again in their columns. With `commas`, numbers may have decimal commas.

    Examples
    --------
    >>> looks_like_header([["age", "label"], ["31", "yes"]])
    True
    >>> looks_like_header([["sunny", "no"], ["rainy", "yes"], ["sunny", "yes"]])
    False
    """
    if commas:
        rows = [[DECIMAL_COMMA.sub(r"\1.\2", field) for field in row] for row in rows]
    first = [field.strip() for field in rows[0]]
    if not _are_column_numbers([field for field in first if NUMERAL.fullmatch(field)]):
        return False

    def column(j: int) -> list[str]:  # one at a time, because there may be very many
        return [row[j].strip() for row in rows[1:] if j < len(row)]

    for j, field in enumerate(first):
        if field not in MISSING and not NUMERAL.fullmatch(field) and _only_numbers(column(j)):
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


def _only_numbers(column: list[str]) -> bool:
    values = [value for value in column if value not in MISSING]
    return bool(values) and all(NUMERAL.fullmatch(value) for value in values)
