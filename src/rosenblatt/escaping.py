"""Text for people: numbers in a few digits, and what comes from files, made safe to show.

A label or a column name may hold any character: terminals execute control characters, editors and browsers reorder
text at others, and a line end splits a row of a table in two.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

# Controls (C0, DEL, C1), line and paragraph separators, marks that change direction, halves of characters.
_UNSAFE = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_CONTROLS = re.compile(f"[\\x00-\\x1f{_UNSAFE}]")
_CONTROLS_IN_LINES = re.compile(f"[\\x00-\\x09\\x0b-\\x1f{_UNSAFE}]")
_BEYOND_JSON = re.compile(f"[{_UNSAFE}]")
_QUOTED = re.compile('["\t\r\n]')
_WORDS = re.compile("(?<=[a-z])(?=[A-Z])")
_NUMERAL = re.compile(r"[-+−]?[\d,]*\.?\d*(e[-+−]?\d+)?%?")


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


class Html(str):
    """Markup that was made here: `html_text` leaves it as it is."""

    __slots__ = ()


def html_text(value: object) -> Html:
    r"""Return a value as HTML that shows it as text: markup and control characters in it do nothing.

    Examples
    --------
    >>> print(html_text("a<b & \x1b[1m"))
    a&lt;b &amp; \x1b[1m
    """
    return value if isinstance(value, Html) else Html(html.escape(printable_lines(str(value))))


def html_table(headings: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    """Return a table as HTML. Numbers are aligned to the right; colours and fonts are those around it.

    Examples
    --------
    >>> print(html_table(["name", "n"], [["<b>", 3]]))
    <table><thead><tr><th style="text-align:left">name</th>...
    >>> "&lt;b&gt;" in html_table(["name"], [["<b>"]])
    True
    """
    body = [list(row) for row in rows]
    right = [
        bool(body) and all(_is_number(row[j]) for row in body if row[j] not in ("", None))
        for j in range(len(headings))
    ]

    def cells(tag: str, row: Sequence[object]) -> str:
        return "".join(
            f'<{tag} style="text-align:{"right" if right[j] else "left"}">{_shown(each)}</{tag}>'
            for j, each in enumerate(row)
        )

    head = f"<thead><tr>{cells('th', headings)}</tr></thead>" if any(headings) else ""
    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in body)
    return Html(f"<table>{head}<tbody>{lines}</tbody></table>")


def html_card(title: object, *parts: object, facts: Iterable[tuple[object, object]] = ()) -> Html:
    """Return what a notebook shows of a result: a title, its facts in two columns, and further parts.

    Examples
    --------
    >>> print(html_card("Certificate", facts=[("verdict", "separable")]))
    <div class="rosenblatt"><div><strong>Certificate</strong></div><table>...</table></div>
    """
    listed = list(facts)
    table = html_table(("", ""), [(name, Html(_shown(value))) for name, value in listed]) if listed else ""
    rest = "".join(part if isinstance(part, Html) else f"<div>{html_text(part)}</div>" for part in parts)
    return Html(f'<div class="rosenblatt"><div><strong>{html_text(title)}</strong></div>{table}{rest}</div>')


def html_lines(text: str) -> Html:
    """Return text as HTML that keeps its lines and columns."""
    look = "white-space:pre-wrap;margin:0.3em 0;background:none;color:inherit"
    return Html(f'<pre style="{look}">{html_text(text)}</pre>')


def html_frame(page: str, height: int, title: str) -> Html:
    """Return a frame with a page of its own, whose script has no access to the notebook around it."""
    look = f"width:100%;height:{height}px;border:1px solid #8886;border-radius:8px"
    attributes = f'sandbox="allow-scripts allow-downloads" title="{html.escape(title)}"'
    return Html(f'<iframe {attributes} style="{look}" srcdoc="{html.escape(page)}"></iframe>')


class ShowsText:
    """A result that notebooks show as the text that ``print`` shows; its parts may be tables instead."""

    __slots__ = ()

    def __init_subclass__(cls, **asked: Any) -> None:
        """Give every class a `_repr_pretty_` of its own, which IPython prefers to a `__repr__` of that class."""
        super().__init_subclass__(**asked)
        if "_repr_pretty_" not in cls.__dict__:
            cls._repr_pretty_ = ShowsText._repr_pretty_  # type: ignore[method-assign]

    def _html_parts(self) -> tuple[object, ...]:
        """Return a title, by default the name of the class in words, and the parts below it."""
        return _WORDS.sub(" ", type(self).__name__).capitalize(), html_lines(str(self))

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        title, *parts = self._html_parts()
        return html_card(title, *parts)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print what IPython shows where there is no HTML: the text of ``print``."""
        printer.text(str(self))


def html_bar(share: float) -> Html:
    """Return a bar from the middle to the right for a positive share of the largest, to the left for a negative.

    Its two colours can be told apart by colour-blind people, on light and on dark pages.
    """
    width = min(abs(share), 1.0) * 50
    left, colour = (50.0, "#2f8fce") if share > 0 else (50.0 - width, "#e0702a")
    return Html(
        '<div style="position:relative;width:8em;height:0.8em;border-left:1px solid transparent">'
        f'<div style="position:absolute;left:{left:.1f}%;width:{width:.1f}%;height:100%;'
        f'background:{colour}"></div>'
        '<div style="position:absolute;left:50%;height:100%;border-left:1px solid currentColor;opacity:0.5"></div>'
        "</div>"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or (
        isinstance(value, str) and not isinstance(value, Html) and bool(_NUMERAL.fullmatch(value))
    )


def _shown(value: object) -> str:
    """Return a cell of a table; floats are short."""
    if value is None:
        return ""
    if isinstance(value, float):
        return html_text(f"{value:.6g}")
    return html_text(f"{value:,}" if type(value) is int else value)


def number(value: float) -> str:
    """Return a number in a few digits, without the dust of rounding.

    Examples
    --------
    >>> number(0.6000000000000001), number(-0.0), number(1234567.0)
    ('0.6', '0', '1.23457e+06')
    """
    return f"{round(float(value), 12) + 0.0:g}"


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
