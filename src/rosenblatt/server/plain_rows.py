"""Rows that are nothing but numbers, read without a table in between: the same features in a tenth of the time."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from rosenblatt.columns.preparation import Preparation
from rosenblatt.columns.recipe import TableRecipe
from rosenblatt.data.features import Features
from rosenblatt.data.reals import EXACT_BITS, read_only

__all__ = ["PlainRows", "plain_arrays"]

NUMBERS = {float, int}


class PlainRows:
    """Reads objects of numbers by name, where a model takes nothing else.

    Parameters
    ----------
    preparation : Preparation
        That of the model.
    """

    def __init__(self, preparation: Preparation) -> None:
        self._preparation = preparation
        recipe = preparation.recipe
        self._names: list[str] = []
        if isinstance(recipe, TableRecipe) and recipe.named and recipe.only_numbers and recipe.missing == "error":
            self._names = [name for name, _ in recipe.numbers]
        self._take = itemgetter(*self._names) if len(self._names) > 1 else None

    def read(self, rows: Sequence[Any]) -> Features | None:
        """Return the features of rows, or None if they need a closer look."""
        if self._take is None:
            return None
        values: list[Any] = []
        for row in rows:
            if type(row) is not dict or len(row) != len(self._names):
                return None
            try:
                values += self._take(row)
            except KeyError:
                return None
        features = _table(values, len(rows), len(self._names))
        return None if features is None else self._preparation.features(features)


def plain_arrays(rows: Sequence[Any], width: int) -> Features | None:
    """Return arrays of so many numbers each as features, or None if they need a closer look.

    Examples
    --------
    >>> plain_arrays([[1.5, 2]], 2).rows.tolist(), plain_arrays([[1.5, "a"]], 2), plain_arrays([[1.5]], 2)
    ([[1.5, 2.0]], None, None)
    """
    values: list[Any] = []
    for row in rows:
        if type(row) is not list or not row or len(row) != width:
            return None
        values += row
    return _table(values, len(rows), width)


def _table(values: list[Any], n_rows: int, width: int) -> Features | None:
    """Return finite numbers as rows; None if one is no number, or an integer that would be rounded."""
    if not set(map(type, values)) <= NUMBERS:
        return None
    try:
        table = np.array(values, np.float64).reshape(n_rows, width)
    except OverflowError:
        return None
    if not (np.abs(table) < 2.0**EXACT_BITS).all():  # NaN, infinity, or an integer that was rounded
        return None
    return Features(read_only(table), n_rows, width)
