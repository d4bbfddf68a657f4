"""What is sent to a server: rows of any kind as JSON, and the keys of calls."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from rosenblatt.exceptions import DataTypeError

__all__ = ["as_json", "as_list", "new_key"]


def new_key() -> str:
    """Return a new idempotency key: a UUID of version 7, which holds the time at which it was made.

    Examples
    --------
    >>> UUID(new_key()).version
    7
    """
    milliseconds = time.time_ns() // 1_000_000
    number = (milliseconds << 80) | secrets.randbits(80)
    number = number & ~(0xF << 76) | (7 << 76)
    number = number & ~(0x3 << 62) | (2 << 62)
    return str(UUID(int=number))


def as_list(values: Any) -> Any:
    """Return rows, labels or weights as lists of plain values."""
    if isinstance(values, (str, bytes, Mapping)):
        raise DataTypeError(
            f"rows, labels and weights are lists, but this is one {type(values).__name__}. Put it into a list."
        )
    if hasattr(values, "to_dicts"):  # polars
        return values.to_dicts()
    if hasattr(values, "to_dict") and hasattr(values, "columns"):  # pandas
        return values.to_dict("records")
    if hasattr(values, "to_pylist"):  # pyarrow
        return values.to_pylist()
    if hasattr(values, "tolist"):  # numpy, and columns of dataframes
        return values.tolist()
    return values if isinstance(values, Sequence) else list(values)


def as_json(value: Any) -> str:
    """Return a value as JSON; numpy's numbers become plain ones."""
    try:
        return json.dumps(value, allow_nan=False, default=_plain, separators=(",", ":"))
    except ValueError as error:
        raise DataTypeError(
            "The rows hold NaN or infinity, which the server refuses. Leave such rows out, or send null where the "
            "model fills missing values."
        ) from error


def _plain(value: Any) -> Any:
    """Return numpy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise DataTypeError(f"A row holds a {type(value).__name__}, which JSON cannot. Send numbers, texts or null.")
