"""The parameters of `TableEncoder` that are lists, checked and as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rosenblatt.columns.options import Column
from rosenblatt.exceptions import ParameterError

__all__ = ["CHOSEN", "chosen", "from_1", "plain_parameters", "words"]

CHOSEN = ("text", "categorical", "hashed", "ignore")
"""The parameters that name columns."""


def chosen(name: str, columns: Any) -> tuple[Column, ...]:
    """Return the columns that a parameter names."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ParameterError(f"{name}={columns!r} must be a list of columns, such as [{columns!r}].")
    found = [column.item() if isinstance(column, np.generic) else column for column in columns]
    if not all(type(column) in (str, int) for column in found):
        raise ParameterError(f"{name}={columns!r} must hold names of columns, or positions.")
    return tuple(found)


def words(name: str, words: Any) -> tuple[str, ...]:
    """Return the words that a parameter lists."""
    if isinstance(words, str) or not isinstance(words, Iterable) or not all(type(each) is str for each in words):
        raise ParameterError(f"{name}={words!r} must be a list of words, such as ['unknown'].")
    return tuple(words)


def from_1(column: Column) -> Column:
    """Return a position counted from 1, as files are read; names and positions from the end stay."""
    return column + 1 if isinstance(column, int) and column >= 0 else column


def plain_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as plain values, which files can hold."""
    lists: dict[str, tuple[Any, ...]] = {name: chosen(name, parameters[name]) for name in CHOSEN}
    lists["na"] = words("na", parameters["na"])
    return parameters | {
        name: each if isinstance(parameters[name], tuple) else list(each) for name, each in lists.items()
    }
