"""Where in the rows of a request a value is that the model cannot use."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

__all__ = ["in_words_of_calls", "place_of"]

TOLD = re.compile(r"\brow (\d+)(?: of \w+)?(?:, column (?:'([^']*)'|(\d+)))?")
LONGEST = 400
"""Characters of a message: it may quote a value."""


def in_words_of_calls(message: str) -> str:
    """Return a message of the library with the words of a request.

    Examples
    --------
    >>> in_words_of_calls("X, row 1, column 'age': it is missing.")
    "rows, row 1, column 'age': it is missing."
    """
    said = re.sub(r"\bthe (X|rows) argument\b", "rows", message)
    said = re.sub(r"\bX\b", "rows", said)
    return said if len(said) <= LONGEST else f"{said[:LONGEST]} …"


def place_of(
    message: str, rows: Sequence[Any], columns: Sequence[str] | None, numbers: Collection[str]
) -> dict[str, Any]:
    """Return the row and the column of the first value that is wrong, where they can be told.

    Parameters
    ----------
    message : str
        What the library said; where it names a row, that is the row.
    rows : sequence
        As they were sent.
    columns : sequence of str or None
        The columns of the model, where they have names.
    numbers : collection of str
        Those of them that must hold numbers.

    Examples
    --------
    >>> place_of("wrong", [{"age": 1}, {"age": "old"}], ["age"], {"age"})
    {'row': 1, 'column': 'age'}
    >>> place_of("row 3, column 1 is 'a'", [], None, ())
    {'row': 3, 'column': 1}
    """
    told = TOLD.search(message)
    if told is not None:
        row, name, position = told.groups()
        column = name if position is None else int(position)
        return {"row": int(row)} if column is None else {"row": int(row), "column": column}
    for number, row in enumerate(rows):
        if type(row) is not type(rows[0]) or (isinstance(row, list) and len(row) != len(rows[0])):
            return {"row": number}
        wrong = _wrong_column(row, columns, numbers)
        if wrong is not None:
            return {"row": number, "column": wrong}
    return {}


def _wrong_column(row: Any, columns: Sequence[str] | None, numbers: Collection[str]) -> str | int | None:
    if isinstance(row, dict) and columns is not None:
        for column in columns:
            if column not in row or (column in numbers and not _is_number(row[column])):
                return column
    if isinstance(row, list) and columns is None:
        return next((position for position, value in enumerate(row) if not _is_number(value)), None)
    return None


def _is_number(value: Any) -> bool:
    if not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
