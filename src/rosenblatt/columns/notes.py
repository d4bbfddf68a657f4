"""Notes about columns that a user may want to treat in another way, each with the way to do so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rosenblatt.columns.wording import COMMAND_LINE

if TYPE_CHECKING:
    from rosenblatt.columns.table import Field, Table

__all__ = ["doubtful", "is_index", "left_out"]

DATES = ("date", "timestamp", "time32", "time64")
"""How the types of columns of dates and times begin."""
IDENTIFIER = re.compile(r"(?:.*[_\s.-])?(?:id|ID|Id|index|Index)|.*[a-z](?:Id|ID)")
"""Names of columns of numbers that seldom are features."""


def left_out(table: Table, asked: set[int | None]) -> dict[int, str]:
    """Return the columns that are no features unless they are asked for, each with a note about it."""
    notes: dict[int, str] = {}
    for j, field in enumerate(table.fields):
        if j in asked:
            continue
        if is_index(field, j):
            which = "the first column has no name" if j == 0 else f"column {j + 1} has no name and no values"
            which = which if not field.name else f"the first column is called {field.name!r}"
            notes[j] = f"{which} and was left out; give it a name to use it"
        elif field.type == "null":
            notes[j] = f"{field.name!r} has no values, at least in the first rows, and was left out"
        elif field.kind == "other" and field.type.startswith(DATES):
            notes[j] = (
                f"{field.name!r} holds dates or times and was left out; "
                f"{COMMAND_LINE.use('categorical', field.name)} takes each as a category"
            )
    return notes


def is_index(field: Field, position: int) -> bool:
    """Return whether a column seems to number the rows, as pandas and R write it, or to be empty."""
    if position == 0 and field.name == "Unnamed: 0":
        return field.type.startswith("int")
    return not field.name and (position == 0 or field.type == "null")


def doubtful(table: Table, features: Sequence[int]) -> Iterator[str]:
    """Yield notes about features that seem to be identifiers, or numbers that were not read as numbers."""
    fields = [table.fields[j] for j in features]
    decorated = [f"{field.name!r} ({field.decorated!r})" for field in fields if field.decorated is not None]
    if decorated:
        yield (
            f"numbers were taken as categories in {', '.join(decorated)}; write them without signs and separators "
            "of thousands to use them as numbers"
        )
    for field in fields:
        if field.type.startswith(("int", "uint")) and IDENTIFIER.fullmatch(field.name):
            yield (
                f"{field.name!r} is used as a feature; if it only numbers the rows, leave it out with "
                f"{COMMAND_LINE.use('ignore', field.name)}"
            )
