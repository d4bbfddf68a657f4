"""Templates: which columns of which neighbours of a token are its features.

Columns are computed once for each kind of token, and the loop combines their numbers. So no text is made for the
features of a token, which is what takes most of the time elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

from rosenblatt.exceptions import ParameterError

Column: TypeAlias = str | int
Template: TypeAlias = tuple[tuple[Column, int], ...]

WORDS: tuple[Template, ...] = (
    *((("lower", offset),) for offset in (-2, -1, 0, 1, 2)),
    (("form", 0),),
    *(((column, 0),) for column in ("prefix1", "prefix2", "prefix3", "suffix1", "suffix2", "suffix3", "suffix4")),
    *((("shape", offset),) for offset in (-1, 0, 1)),
    (("lower", -1), ("lower", 0)),
    (("lower", 0), ("lower", 1)),
)
"""The templates called "words", for tagging words of a language written with letters."""
MOST_TEMPLATES, FARTHEST, LONGEST_AFFIX = 256, 100, 20
AFFIX = re.compile(r"(prefix|suffix)([1-9]\d?)")


def as_templates(templates: Any) -> tuple[Template, ...]:
    """Return templates as tuples of pairs (column, offset), or raise `ParameterError`.

    Examples
    --------
    >>> as_templates(["lower", ("suffix3", -1), [("lower", -1), ("lower", 0)]])
    ((('lower', 0),), (('suffix3', -1),), (('lower', -1), ('lower', 0)))
    """
    if isinstance(templates, str) and templates == "words":
        return WORDS
    if (
        isinstance(templates, str)
        or not isinstance(templates, Sequence)
        or not 0 < len(templates) <= MOST_TEMPLATES
    ):
        raise ParameterError(
            f"templates={templates!r} must be None, 'words', or a list of up to {MOST_TEMPLATES} templates such "
            "as 'lower', ('lower', -1) or (('lower', -1), ('lower', 0))."
        )
    return tuple(_template(each) for each in templates)


def word_templates(n_fields: int) -> Any:
    """Return templates for words with so many further fields: "words", and pairs of neighbours of each field."""
    if not n_fields:
        return "words"
    of_fields: list[Template] = []
    for field in range(1, n_fields + 1):
        of_fields += [((field, offset),) for offset in (-2, -1, 0, 1, 2)]
        of_fields += [((field, offset), (field, offset + 1)) for offset in (-1, 0)]
        of_fields.append((("lower", 0), (field, 0)))
    return [*WORDS, *of_fields]


def _template(given: Any) -> Template:
    parts = [given] if isinstance(given, str | int) or _is_pair(given) else given
    if not isinstance(parts, list | tuple) or not parts:
        raise ParameterError(
            f"templates: {given!r} is not a template. Use (column, offset) or a tuple of such pairs."
        )
    return tuple(_part(part) for part in parts)


def _part(given: Any) -> tuple[Column, int]:
    column, offset = given if _is_pair(given) else (given, 0)
    affix = AFFIX.fullmatch(column) if isinstance(column, str) else None
    known = column in ("form", "lower", "shape") or (affix is not None and int(affix[2]) <= LONGEST_AFFIX)
    further = type(column) is int and 0 <= column <= FARTHEST
    if not (known or further):
        raise ParameterError(
            f"templates: {column!r} is not a column. Use form, lower, shape, prefixN, suffixN (N up to "
            f"{LONGEST_AFFIX}), or the number of a field of the tokens, from 0."
        )
    if abs(offset) > FARTHEST:
        raise ParameterError(f"templates: the offset {offset} of {column!r} is beyond ±{FARTHEST}.")
    return column, offset


def _is_pair(given: Any) -> bool:
    if not isinstance(given, list | tuple) or len(given) != 2:
        return False
    return isinstance(given[0], str | int) and type(given[1]) is int


def shape(form: str) -> str:
    """Return the shape of a word: X for capitals, x for other letters, d for digits; each run counts once.

    Examples
    --------
    >>> shape("McDonald's"), shape("3.14"), shape("U.S.")
    ("XxXx'x", 'd.d', 'X.X.')
    """
    letters = ["X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in form]
    return "".join(c for i, c in enumerate(letters) if i == 0 or letters[i - 1] != c)


def cell(token: Hashable, column: Column) -> str:
    """Return the text of a column of a token."""
    fields: tuple[Any, ...] = token if isinstance(token, tuple) else (token,)
    if type(column) is int:
        return str(fields[column])
    form: str = fields[0]
    match column:
        case "form":
            return form
        case "lower":
            return form.lower()
        case "shape":
            return shape(form)
    assert isinstance(column, str)
    length = int(column[6:])
    return form[:length] if column.startswith("prefix") else form[-length:]
