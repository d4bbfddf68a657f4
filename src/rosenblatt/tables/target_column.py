"""Labels of a table: whole numbers, numbers, truth values or names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import Remedy
from rosenblatt.rows.reals import show_value
from rosenblatt.tables.table import (
    LARGEST_EXACT_INTEGER,
    MISSING_NAMES,
    SKIP,
    WRITTEN_TRUTH,
    Field,
    Problem,
    asked_words,
    distinct,
    missing_words,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LabelKind", "label_kind", "label_problems", "read_labels"]

LabelKind: TypeAlias = Literal["number", "truth", "name"]

NUMERAL = re.compile(r"\s*+[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?\s*+", re.ASCII)
LONGEST_LABEL = 1000  # characters; a longer label is a text that was taken for one


def label_kind(field: Field) -> LabelKind:
    """Return what the labels of a column are."""
    if field.type == "bool":
        return "truth"
    return "number" if field.kind == "number" and field.type != WRITTEN_TRUTH else "name"


def label_problems(
    labels: pa.Array, kind: LabelKind, na: Sequence[str] = (), *, typed: bool = False
) -> dict[int, Problem]:
    """Return what is wrong with the rows whose label is missing or of another kind.

    The words of `na` stand for missing labels if labels are names. The usual words do so only among numbers, and
    not in a table that is `typed`.
    """
    if kind == "number" and _are_integers(labels):
        return {}
    values, codes = distinct(labels)
    words = {*(asked_words(na) if kind == "name" or typed else missing_words(na, MISSING_NAMES))}
    wrong = {code: problem for code, value in enumerate(values) if (problem := _problem(value, kind, words))}
    if not wrong:
        return {}
    rows = np.flatnonzero(np.isin(codes, list(wrong)))
    return {int(row): wrong[int(codes[row])] for row in rows}


def read_labels(labels: pa.Array, kind: LabelKind) -> NDArray[Any]:
    """Return labels without problems as an array: int64 where all are whole, else float64; bool; or str."""
    if kind == "number" and _are_integers(labels):
        return np.frombuffer(labels.buffers()[1], np.int64, len(labels), 8 * labels.offset)
    values, codes = distinct(labels)
    if kind == "truth":
        return np.array([_truth(value) for value in values], bool)[codes]
    if kind == "name":
        return np.array([_name(value) for value in values], dtype=np.str_)[codes]
    numbers = [_number(value) for value in values]
    if all(isinstance(number, int) for number in numbers):
        return np.array(numbers, np.int64)[codes]
    return np.array(numbers, np.float64)[codes]


def _are_integers(labels: pa.Array) -> bool:
    """Return whether labels are int64 without nulls, so that none has to be looked at."""
    return str(labels.type) == "int64" and labels.null_count == 0 and len(labels) > 0


def _problem(value: Any, kind: LabelKind, words: Collection[str]) -> Problem | None:
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return Problem("the label is missing", ("give the row one", SKIP), "missing-label")
    if kind == "number":
        if isinstance(value, bool) or (isinstance(value, str) and not NUMERAL.fullmatch(value)):
            if isinstance(value, str) and value.strip() in words:
                told = f"the label is {show_value(value)}, which is taken for missing among numbers"
                names_a_class = "use " + Remedy("na", "=") + " if it names a class"
                return Problem(told, ("give the row a number", names_a_class, SKIP), "missing-label", value)
            return Problem(
                f"the label {show_value(value)} is no number, but those at the beginning are; write them all "
                "alike",
                code="unlike-label",
                value=value,
            )
        if abs(float(value)) == np.inf:
            return Problem(f"the label {show_value(value)} is not finite", code="unlike-label", value=value)
        if isinstance(_number(value), int) and abs(int(_number(value))) >= 2**63:
            return Problem(f"the label {show_value(value)} is beyond 64 bits", code="unlike-label", value=value)
    if kind == "truth" and not isinstance(value, bool) and str(value).lower() not in ("true", "false"):
        return Problem(
            f"the label {show_value(value)} is neither true nor false, as those at the beginning are",
            code="unlike-label",
            value=value,
        )
    if kind == "name":
        name = _name(value)
        if name.strip() in words:
            told = (
                f"the label is {show_value(value)}, which " + Remedy("na") + " names as a word for missing values"
            )
            return Problem(told, ("give the row one", SKIP), "missing-label", value)
        if len(name) > LONGEST_LABEL:
            told = f"the label has {len(name)} characters, more than {LONGEST_LABEL}; name the target with "
            return Problem(told + Remedy("target"))
        if "\0" in name:
            return Problem("the label holds a NUL character")
    return None


def _number(value: Any) -> int | float:
    """Read a number, as an int where it is whole; an integer that is written as one is never rounded."""
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < LARGEST_EXACT_INTEGER else number


def _truth(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() == "true"


def _name(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
