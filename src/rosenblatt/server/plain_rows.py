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

__all__ = ["PlainRows"]

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
        if not set(map(type, values)) <= NUMBERS:
            return None
        try:
            table = np.array(values, np.float64).reshape(len(rows), len(self._names))
        except OverflowError:
            return None
        if not (np.abs(table) < 2.0**EXACT_BITS).all():  # NaN, infinity, or an integer that was rounded
            return None
        return self._preparation.features(Features(read_only(table), len(rows), len(self._names)))
