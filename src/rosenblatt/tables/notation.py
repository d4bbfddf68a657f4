"""How numbers are written in text: their decimal mark, and what stands between thousands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from rosenblatt.exceptions import Message, Remedy, join_messages

__all__ = ["NOTATIONS", "THOUSANDS", "Doubt", "Notation", "notations_of", "told_readings"]

THOUSANDS = (",", ".", "'", " ")
"""What may stand between thousands."""


class Notation(NamedTuple):
    """A way to write numbers.

    With `thousands`, the digits before the decimal mark may stand in groups: one to three, and then three each.

    Examples
    --------
    >>> Notation(",", ".").plain("1.250,5"), Notation(".", ",").plain("1,25")
    ('1250.5', None)
    """

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def of(cls, decimal: str | None, thousands: str | None) -> Notation:
        """Return the notation of two options; the decimal mark is a point, or a comma if points group digits."""
        return cls(decimal or ("," if thousands == "." else "."), thousands or "")

    @property
    def pattern(self) -> str:
        """A regular expression, for pyarrow and for Python, that matches numbers."""
        mark = f"[{self.decimal}]"
        plain = f"(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        groups = f"[1-9][0-9]{{0,2}}(?:[{self.thousands}][0-9]{{3}})+(?:{mark}[0-9]*)?|" if self.thousands else ""
        return rf"^[\s\v]*[+-]?(?:{groups}{plain})[\s\v]*$"

    @property
    def options(self) -> Message:
        """The parameters of reading that choose it."""
        decimal, thousands = Remedy("decimal", self.decimal), Remedy("thousands", self.thousands)
        if not self.thousands:
            return Message(decimal)
        return Message(thousands) if self.decimal == "." else thousands + " " + decimal

    def plain(self, value: str) -> str | None:
        """Return a number with a decimal point and without separators; None if this is no number."""
        if not _compiled(self.pattern).search(value):
            return None
        return value.strip().replace(self.thousands, "").replace(self.decimal, ".")


NOTATIONS = (Notation(), Notation(","), *(Notation(d, t) for t in THOUSANDS for d in ".," if d != t))
"""All that are looked for, those without separators first."""


class Doubt(NamedTuple):
    """A value of a column of numbers that is no number as the column is read, but is one in other notations."""

    value: str
    line: int
    readings: tuple[Notation, ...]


def notations_of(counts: dict[Notation, int]) -> tuple[Notation, ...]:
    """Return the notations in which the most values are numbers, given how many are in each.

    A notation with separators counts only if they occur, and one with a decimal comma besides only if that does.

    Examples
    --------
    >>> values = ["7,700", "950"]
    >>> notations_of({each: sum(each.plain(value) is not None for value in values) for each in NOTATIONS})
    (Notation(decimal=',', thousands=''), Notation(decimal='.', thousands=','))
    """
    used = [each for each in NOTATIONS if not each.thousands or counts[each] > counts[each._replace(thousands="")]]
    most = max(counts[each] for each in used)
    found = [each for each in used if counts[each] == most]
    points = {each.thousands for each in found if each.decimal == "." and each.thousands}
    return tuple(each for each in found if each.decimal == "." or each.thousands not in points)


def told_readings(value: str, readings: Iterable[Notation]) -> Message:
    """Return by which parameters a value is which number.

    Examples
    --------
    >>> told_readings("7,700", [Notation(".", ","), Notation(",")])
    "thousands=',' reads 7700, decimal=',' reads 7.700"
    """
    return join_messages(", ", (each.options + f" reads {each.plain(value)}" for each in readings))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("$", r"\Z"), re.ASCII)
