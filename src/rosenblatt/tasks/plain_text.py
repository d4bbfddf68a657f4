"""Numbers and tables as people read them, in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rosenblatt.escaping import printable

__all__ = ["align_columns", "count", "number", "percent", "size", "vector"]


def number(value: float) -> str:
    """Return a number in a few digits, without the dust of rounding.

    Examples
    --------
    >>> number(0.6000000000000001), number(-0.0), number(1234567.0)
    ('0.6', '0', '1.23457e+06')
    """
    return f"{np.round(value, 12) + 0.0:g}"


def vector(values: Iterable[float]) -> str:
    """Return a vector in parentheses.

    Examples
    --------
    >>> vector([1, 0.5])
    '(1, 0.5)'
    """
    return "(" + ", ".join(number(float(value)) for value in values) + ")"


def count(amount: int, what: str, plural: str | None = None) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> count(1, "pass", "passes"), count(1200, "row")
    ('1 pass', '1,200 rows')
    """
    return f"{amount:,} {what if amount == 1 else plural or what + 's'}"


def percent(share: float) -> str:
    """Return a share of one in percent.

    Examples
    --------
    >>> percent(0.98765), percent(1.0), percent(0.99999)
    ('98.77 %', '100 %', '99.999 %')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    digits = 2
    while digits < 6 and float(f"{100 * share:.{digits}f}") in (0.0, 100.0):
        digits += 1
    return f"{100 * share:.{digits}f} %"


def size(n_bytes: int) -> str:
    """Return a number of bytes.

    Examples
    --------
    >>> size(999), size(12_300_000)
    ('999 bytes', '12.3 MB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return f"{n_bytes} bytes"


def align_columns(rows: Sequence[Sequence[Any]], *, left: Iterable[int] = ()) -> list[str]:
    r"""Return the lines of a table, its columns aligned to the right, or to the `left`.

    Examples
    --------
    >>> print("\n".join(align_columns([["row", "w"], [12, "(1, 0)"]])))
    row       w
     12  (1, 0)
    """
    texts = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*texts, strict=True)]
    starts = set(left)
    return [
        "  ".join(
            cell.ljust(width) if j in starts else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]
