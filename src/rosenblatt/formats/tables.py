"""Several tables read as one, by a recipe that is learned from the first and on the way, or given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.columns.encoder import Encoder
from rosenblatt.columns.labels import label_kind, label_problems, read_labels
from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import TableRecipe
from rosenblatt.columns.roles import Roles, begun, choose, find_again
from rosenblatt.columns.table import Table, Wanted
from rosenblatt.data.chunk import Chunk, Skipped
from rosenblatt.exceptions import FormatError, ParameterError
from rosenblatt.formats.inputs import Input
from rosenblatt.formats.opening import open_table

__all__ = ["Tables"]

SAYS_ITS_SIZE = ("parquet", "npy", "npz")


class Tables:
    """Tables read one after the other.

    Parameters
    ----------
    inputs : list of Input
        The files.
    formats : sequence of str
        The format of each.
    options : Options
        How to read them.
    recipe : TableRecipe or None
        How to encode them; None: to be learned.
    skipped : Skipped or None
        Where rows that cannot be read are counted; None: the first one is an error.
    """

    unmet = 0

    def __init__(
        self,
        inputs: list[Input],
        formats: tuple[str, ...],
        options: Options,
        recipe: TableRecipe | None,
        skipped: Skipped | None,
    ) -> None:
        self._inputs, self._formats, self._options, self._given = inputs, formats, options, recipe
        table = self._open(0, recipe)
        self._format = table.format
        try:
            if recipe is None:
                roles = choose(table, options)
                start = begun(table, roles, options)
            else:
                roles = find_again(table, recipe, options)
                start = _for_reading(recipe, table, roles, options)
        except BaseException:
            table.close()
            raise
        self._columns = frozenset(field.name for field in table.fields)
        self._target = roles.target
        self._encoder = Encoder(
            start, learning=recipe is None, skipped=skipped, vocabulary=options.vocabulary, chosen=roles.chosen
        )
        self._first: tuple[Table, Roles] | None = (table, roles)

    @property
    def recipe(self) -> TableRecipe:
        """The recipe, as far as it was learned."""
        return self._given or self._encoder.recipe

    @property
    def n_features(self) -> int:
        """How many features there are, as far as they were met."""
        return self._encoder.n_features

    @property
    def description(self) -> str:
        """What is read and how."""
        recipe = self._encoder.recipe
        parts = [
            _count(len(recipe.numbers), "number"),
            _count(len(recipe.texts), "text"),
            _count(len(recipe.hashed), "hashed column"),
            _count(len(recipe.categorical), "category column"),
        ]
        labels = "no labels" if self._target is None or not recipe.target else f"target {recipe.target[0]!r}"
        return f"{self._format}; {labels}; {', '.join(filter(None, parts))}"

    def chunks(self) -> Iterator[Chunk]:
        """Read all of them once."""
        for number in range(len(self._inputs)):
            table, roles = self._table(number)
            label = roles.target if self._options.labelled else None
            with closing(table):
                for block in table.blocks(Wanted(roles.numbers, roles.strings, label)):
                    chunk = self._encoder.chunk(block, table)
                    if chunk is not None:
                        yield chunk

    def close(self) -> None:
        """Close what was opened and not read."""
        if self._first is not None:
            self._first[0].close()

    def known(self) -> tuple[int, list[NDArray[Any]]] | None:
        """Give the number of rows and the labels of each block, where that takes reading no more than labels."""
        kind = self._encoder.recipe.labels
        if not set(self._formats) <= set(SAYS_ITS_SIZE) or not self._encoder.recipe.only_numbers or kind is None:
            return None
        n_rows, labels = 0, []
        for number in range(len(self._inputs)):
            with closing(self._open(number, self.recipe)) as table:
                roles = find_again(table, self.recipe, self._options)
                for block in table.blocks(Wanted(label=roles.target)):
                    if block.label is None or label_problems(block.label, kind):
                        return None  # reading will tell what is wrong, and where
                    n_rows += len(block.label)
                    labels.append(np.unique(read_labels(block.label, kind)))
        return n_rows, labels

    def _table(self, number: int) -> tuple[Table, Roles]:
        if number == 0 and self._first is not None:
            found, self._first = self._first, None
            return found
        table = self._open(number, self.recipe)
        try:
            if self._given is None:
                self._require_same_columns(table)
            return table, find_again(table, self._encoder.recipe, self._options)
        except BaseException:
            table.close()
            raise

    def _open(self, number: int, recipe: TableRecipe | None) -> Table:
        return open_table(self._inputs[number], self._formats[number], self._options, recipe)

    def _require_same_columns(self, table: Table) -> None:
        if not table.named or not self.recipe.named or table.format == "JSON Lines":
            return
        names = frozenset(field.name for field in table.fields)
        for what, differing in (("lacks", self._columns - names), ("has in addition", names - self._columns)):
            if differing:
                listed = ", ".join(map(repr, sorted(differing)[:5]))
                raise FormatError(
                    f"{what} the column {listed}, unlike {self._inputs[0].name}; files read together must agree",
                    file=table.file,
                    line=1,
                )


def _for_reading(recipe: TableRecipe, table: Table, roles: Roles, options: Options) -> TableRecipe:
    """Adapt a given recipe to labels and missing values of what is read now."""
    if recipe.missing == "error" and options.missing != "error":
        if options.missing == "mean":
            raise ParameterError("missing='mean' needs means from training, which was done without; use 'zero'.")
        recipe = replace(recipe, missing=options.missing)
    if roles.target is not None and recipe.labels is None:
        field = table.fields[roles.target]
        recipe = replace(recipe, target=(field.name, roles.target), labels=label_kind(field))
    return recipe


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""
