"""Dates as numbers: the forms in which people write them, and what becomes of a column of them.

A date is its number of days since 1 January 1970, with the time of day as a fraction. Its month and its weekday
are categories besides, where these vary in the first rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Final, Literal, TypeAlias

__all__ = [
    "DATE_FORMS",
    "MONTHS",
    "WEEKDAYS",
    "Form",
    "are_compact",
    "days_of",
    "find_form",
    "find_stray",
    "parts_of",
    "varying_parts",
]

Form: TypeAlias = Literal["ymd", "mdy", "dmy", "named", "compact"]
DATE_FORMS: tuple[Form, ...] = ("ymd", "mdy", "dmy", "named", "compact")
"""Year first, month first, day first, with the name of the month, and eight digits, year first."""
MARKED_FORMS = DATE_FORMS[:-1]
"""Those that no number has."""

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LONG_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
               "november", "december")  # fmt: skip

EPOCH: Final = date(1970, 1, 1).toordinal()
FIRST_SHORT_YEAR = 69  # 69 is 1969, and 68 is 2068, as in POSIX
DAY_SECONDS = 86_400

TIME = (
    r"(?:(?:[T ]|, )\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
NAMED_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?"
SHORT = r"(?P<year>\d{4}|\d{2})"
PATTERNS = {
    "ymd": (r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",),
    "mdy": (rf"(?P<month>\d{{1,2}})(?P<mark>[-/])(?P<day>\d{{1,2}})(?P=mark){SHORT}",),
    "dmy": (
        rf"(?P<day>\d{{1,2}})(?P<mark>[-/])(?P<month>\d{{1,2}})(?P=mark){SHORT}",
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
        r"(?P<day>\d{2})\.(?P<month>\d{2})\.(?P<year>\d{2})",
    ),
    "named": (
        rf"{NAMED_DAY}(?P<month>[A-Za-z]{{3,9}})\.?\s+(?P<day>\d{{1,2}})(?:,\s*|\s+)(?P<year>\d{{4}})",
        rf"{NAMED_DAY}(?P<day>\d{{1,2}})(?P<mark>[\s-])(?P<month>[A-Za-z]{{3,9}})\.?(?P=mark){SHORT}",
    ),
    "compact": (r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",),
}
COMPILED = {form: [re.compile(each + TIME, re.ASCII) for each in PATTERNS[form]] for form in DATE_FORMS}
LONGEST_DATE = 64  # characters


def days_of(text: str, form: Form) -> float | None:
    """Return the days since 1 January 1970 of a date in a form, or None if it is no such date.

    Examples
    --------
    >>> days_of("1970-01-02T06:00:00Z", "ymd"), days_of("Jun 12 1998", "named"), days_of("12.06.1998", "dmy")
    (1.25, 10389.0, 10389.0)
    >>> days_of("6/12/98 0:00", "mdy"), days_of("31/02/2000", "dmy"), days_of("12.06.98", "dmy")
    (10389.0, None, 10389.0)
    """
    text = text.strip()
    if len(text) > LONGEST_DATE:
        return None
    for pattern in COMPILED[form]:
        found = pattern.fullmatch(text)
        if found:
            try:
                return _days(found.groupdict())
            except ValueError:  # there is no such day, or no such month
                return None
    return None


def _days(parts: dict[str, Any]) -> float:
    month = parts["month"]
    number = int(month) if month.isdigit() else _month(month.lower())
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= FIRST_SHORT_YEAR else 2000
    whole = date(year, number, int(parts["day"])).toordinal() - EPOCH
    if parts["hour"] is None:
        return float(whole)
    hour, minute, second = int(parts["hour"]), int(parts["minute"]), float(parts["second"] or 0)
    if parts["half"] is not None:
        if not 1 <= hour <= 12:
            raise ValueError("no such hour")
        hour = hour % 12 + 12 * (parts["half"].lower() == "pm")
    if hour > 24 or minute > 59 or second >= 61:
        raise ValueError("no such time")
    zone, away = parts["zone"], 0
    if zone is not None and zone[0] in "+-":
        digits = zone[1:].replace(":", "")
        away = (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (1 if zone[0] == "+" else -1)
    return whole + (hour * 3600 + minute * 60 + second - away) / DAY_SECONDS


def _month(name: str) -> int:
    for number, long in enumerate(LONG_MONTHS, 1):
        if name in (long, long[:3]) or (name == "sept" and number == 9):
            return number
    raise ValueError("no such month")


def find_form(values: Iterable[object]) -> Form | None:
    """Return the form in which all values are dates, or None; where the order is open, the month comes first.

    Eight digits are a number, unless the name of their column says otherwise; see `are_compact`.

    Examples
    --------
    >>> find_form(["1/8/90", "3/14/91"]), find_form(["1/8/90", "14/3/91"]), find_form(["1/8/90", "x"])
    ('mdy', 'dmy', None)
    """
    left: list[Form] = list(MARKED_FORMS)
    empty = True
    for value in values:
        if not isinstance(value, str):
            return None
        left = [form for form in left if days_of(value, form) is not None]
        if not left:
            return None
        empty = False
    return None if empty else left[0]


def are_compact(values: Sequence[object]) -> bool:
    """Return whether all values are days in eight digits, as in 20120131.

    Examples
    --------
    >>> are_compact(["20120131", "20120229"]), are_compact(["20120131", "20120230"])
    (True, False)
    """
    return bool(values) and all(isinstance(each, str) and days_of(each, "compact") is not None for each in values)


def find_stray(values: Sequence[object]) -> tuple[Form, str] | None:
    """Return the form in which most values are dates, and the first that is none; None if most are in no form.

    Examples
    --------
    >>> find_stray(["2020-01-05", "2020-13-45", "2020-02-01"])
    ('ymd', '2020-13-45')
    """
    texts = [value for value in values if isinstance(value, str)]
    known = {form: [days_of(value, form) is not None for value in texts] for form in MARKED_FORMS}
    best = max(MARKED_FORMS, key=lambda form: sum(known[form]))
    if 2 * sum(known[best]) <= len(values) or all(known[best]):
        return None
    return best, texts[known[best].index(False)]


def parts_of(days: float) -> dict[str, str]:
    """Return the month and the weekday of a day by their English names.

    Examples
    --------
    >>> parts_of(10389.75)
    {'month': 'Jun', 'weekday': 'Fri'}
    """
    day = date.fromordinal(EPOCH + int(days // 1))
    return {"month": MONTHS[day.month - 1], "weekday": WEEKDAYS[day.weekday()]}


def varying_parts(values: Sequence[str], form: Form) -> list[str]:
    """Return which of month and weekday differ among dates."""
    found = [parts_of(days) for value in values if (days := days_of(value, form)) is not None]
    return [part for part in ("month", "weekday") if len({each[part] for each in found}) > 1]
