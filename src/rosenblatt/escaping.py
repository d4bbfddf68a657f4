"""Text from files, made safe for terminals, pages and tables.

A label or a column name may hold any character: terminals execute control characters, editors and browsers reorder
text at others, and a line end splits a row of a table in two.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["as_field", "json_text", "printable", "printable_lines"]

# Controls (C0, DEL, C1), line and paragraph separators, marks that change direction, halves of characters.
_UNSAFE = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_CONTROLS = re.compile(f"[\\x00-\\x1f{_UNSAFE}]")
_CONTROLS_IN_LINES = re.compile(f"[\\x00-\\x09\\x0b-\\x1f{_UNSAFE}]")
_BEYOND_JSON = re.compile(f"[{_UNSAFE}]")
_QUOTED = re.compile('["\t\r\n]')


def printable(value: object) -> str:
    r"""Return a value as text of one line, with control characters written as escapes.

    Examples
    --------
    >>> print(printable("spam\x1b]0;owned\x07\n"))
    spam\x1b]0;owned\x07\n
    >>> printable("größer 5 °C")
    'größer 5 °C'
    """
    return _CONTROLS.sub(_escape, str(value))


def printable_lines(text: str) -> str:
    r"""Return a text with control characters written as escapes, and its lines kept."""
    return _CONTROLS_IN_LINES.sub(_escape, text)


def json_text(value: Any) -> str:
    r"""Return a value as JSON, in which control characters beyond ASCII are escapes as well.

    Examples
    --------
    >>> print(json_text({"ä": "\x9b1m"}))
    {"ä": "\u009b1m"}
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _BEYOND_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_field(value: object) -> str:
    r"""Return a value as a field of a table: in quotes, as in CSV, if it holds a tab, a line end or a quote.

    Examples
    --------
    >>> as_field("ham"), as_field('a "b"\n')
    ('ham', '"a ""b""\n"')
    """
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
