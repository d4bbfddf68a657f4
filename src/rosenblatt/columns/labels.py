"""Labels of a table: whole numbers, numbers, truth values or names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.columns.arrow_buffers import distinct
from rosenblatt.columns.table import EXACT, MISSING_NAMES, WRITTEN_TRUTH, Field
from rosenblatt.data.reals import shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LabelKind", "label_kind", "label_problems", "read_labels"]

LabelKind: TypeAlias = Literal["number", "truth", "name"]

NUMERAL = re.compile(r"\s*+[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?\s*+", re.ASCII)
LONGEST = 1000  # characters; a longer label is a text that was taken for one


def label_kind(field: Field) -> LabelKind:
    """Return what the labels of a column are."""
    if field.type == "bool":
        return "truth"
    return "number" if field.kind == "number" and field.type != WRITTEN_TRUTH else "name"


def label_problems(labels: pa.Array, kind: LabelKind) -> dict[int, str]:
    """Return what is wrong with the rows whose label is missing or of another kind."""
    if kind == "number" and _are_integers(labels):
        return {}
    values, codes = distinct(labels)
    wrong = {code: problem for code, value in enumerate(values) if (problem := _problem(value, kind))}
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


def _problem(value: Any, kind: LabelKind) -> str | None:
    if value is None or value != value or (isinstance(value, str) and value.strip() in MISSING_NAMES):
        return "the label is missing; give the row one, or leave such rows out with --skip-bad"
    if kind == "number":
        if isinstance(value, bool) or (isinstance(value, str) and not NUMERAL.fullmatch(value)):
            return f"the label {shown(value)} is no number, but those at the beginning are; write them all alike"
        if abs(float(value)) == np.inf:
            return f"the label {shown(value)} is not finite"
        if isinstance(_number(value), int) and abs(int(_number(value))) >= 2**63:
            return f"the label {shown(value)} is beyond 64 bits"
    if kind == "truth" and not isinstance(value, bool) and str(value).lower() not in ("true", "false"):
        return f"the label {shown(value)} is neither true nor false, as those at the beginning are"
    if kind == "name":
        name = _name(value)
        if len(name) > LONGEST:
            return f"the label has {len(name)} characters, more than {LONGEST}; name the target with --target"
        if "\0" in name:
            return "the label holds a NUL character"
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
    return int(number) if number.is_integer() and abs(number) < EXACT else number


def _truth(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() == "true"


def _name(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
