"""Blocks whose rows are filled, scaled and weighted as they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from rosenblatt.learning.state import State
from rosenblatt.loops.rules import Averaging
from rosenblatt.rows.batch import Batch, Chunk
from rosenblatt.tables.blocks import Blocks, Change, MemoryBlocks, protect_rows
from rosenblatt.tables.collect import fingerprint_of, measure
from rosenblatt.tables.file_source import Source
from rosenblatt.tables.recipe import TableRecipe
from rosenblatt.tables.scaling import (
    Facts,
    Filling,
    Scaling,
    Transformation,
    Weighting,
    digest,
    mark_missing,
    writable,
)
from rosenblatt.typing import Ints

__all__ = ["MarkedBlocks", "ScaledBlocks", "fold_state", "mark_gaps", "transform_blocks"]


def transform_blocks(
    blocks: Blocks,
    filling: Filling | None = None,
    scaling: Scaling | None = None,
    weighting: Weighting | None = None,
) -> Blocks:
    """Return blocks without missing values, scaled, and with weighted words; blocks in memory are copied once.

    Their `scaling` is what the weights of a model trained on them must be folded by, so that they fit unscaled
    features: `Perceptron.fit_blocks` does that.
    """
    how = Transformation(filling, scaling, weighting)
    how.require_width(blocks.n_features)
    if not any(how.steps):
        return blocks
    whole = blocks.whole
    if whole is None:
        return ScaledBlocks(blocks, how)
    batch = _transformed(whole, how)
    known: dict[str, Any] = {"facts": blocks.facts, "identity": _identity(blocks, how)}
    unscaled = None if scaling is None else lambda: _transformed(whole, how._replace(scaling=None))
    return MemoryBlocks(batch, blocks.boundaries, scaling=scaling, unscaled=unscaled, **known)


def _transformed(batch: Batch, how: Transformation) -> Batch:
    return replace(batch, rows=protect_rows(how.into(writable(batch.rows)))) if any(how.steps) else batch


def fold_state(state: State, scaling: Scaling) -> State:
    """Return a state for unscaled features; the sum behind an average is folded as the weights are.

    What a rule keeps besides becomes that of the weights.
    """
    met = state.met
    if met is not None:
        scaling = Scaling(scaling.mean[met.columns], scaling.deviation[met.columns])
    u = state.plain_sums()
    u = None if u is None else scaling.fold(u)
    w = scaling.fold(state.last())
    memory = {name: kept.anew(w, state.n_features) for name, kept in state.memory.items() if kept.rule is not None}
    memory |= Averaging.needed(state.average, state.visits, shrinks=False)
    return State(w, u, state.visits, met, memory)


def mark_gaps(blocks: Blocks) -> tuple[Blocks, dict[str, int]]:
    """Return blocks with marks of missing numbers, if their recipe asks for them, and the gaps of each column.

    The recipe of the new blocks has the marks, so that other rows are read with them.
    """
    recipe = blocks.facts.recipe
    if not isinstance(recipe, TableRecipe) or recipe.missing != "indicator" or not recipe.n_numbers:
        return blocks, {}
    counts = measure(blocks).gaps(recipe.n_numbers)
    found = np.flatnonzero(counts).tolist()
    gaps = {recipe.measured[j]: int(counts[j]) for j in found}
    return (MarkedBlocks.of(blocks, replace(recipe, indicators=tuple(found))) if gaps else blocks), gaps


class MarkedBlocks(Blocks):
    """Blocks that are not in memory, with marks of missing numbers; see `mark_gaps`."""

    def __init__(self, blocks: Blocks, recipe: TableRecipe) -> None:
        more = len(recipe.indicators)
        names = None if blocks.names is None else recipe.names(blocks.n_features + more)
        stored = blocks.stored + int(measure(blocks).gaps(recipe.n_numbers).sum())
        facts = blocks.facts._replace(recipe=recipe)
        width = blocks.n_features + more
        summary = blocks.summary._replace(n_features=width, names=names, stored=stored, facts=facts)
        super().__init__(summary, digest([blocks.identity, list(recipe.indicators)]))
        self._blocks = blocks
        self._mark = partial(mark_missing, numbers=recipe.n_numbers, indicators=recipe.indicators)
        self.statistics = measure(blocks).marked(recipe.n_numbers, recipe.indicators)

    @classmethod
    def of(cls, blocks: Blocks, recipe: TableRecipe) -> Blocks:
        """Return the blocks with marks; in memory if they are there now."""
        made = cls(blocks, recipe)
        if blocks.whole is None:
            return made
        batch = replace(
            blocks.whole,
            rows=protect_rows(made._mark(blocks.whole.rows)),
            n_features=made.n_features,
            names=made.names,
        )
        how: dict[str, Any] = {"facts": made.facts, "identity": made.identity, "statistics": made.statistics}
        return _MarkedInMemory(batch, blocks.boundaries, **how)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names: that of these rows read anew."""
        return fingerprint_of(_Walked(self))

    def read(self, block: int) -> Batch:
        """Return one block."""
        batch = self._blocks.read(block)
        return self._batch(self._mark(batch.rows), batch.codes)

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the order given, reading ahead."""
        mark = self._mark
        for batch in self._blocks.walk(order, mark if change is None else lambda rows: change(mark(rows))):
            yield self._batch(batch.rows, batch.codes)


class _MarkedInMemory(MemoryBlocks):
    """Blocks in memory, with marks of missing numbers."""

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names: that of these rows read anew, whose blocks begin elsewhere."""
        return MemoryBlocks(self.whole).fingerprint


class _Walked(Source):
    """Blocks as a source."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features."""
        return self._blocks.names

    def chunks(self) -> Iterator[Chunk]:
        """Yield the blocks, one after the other."""
        for batch in self._blocks.walk(range(self._blocks.n_blocks)):
            yield Chunk.of(batch, batch.classes[batch.codes])


class ScaledBlocks(Blocks):
    """Blocks whose rows the reading thread transforms; everything else is that of the blocks underneath."""

    def __init__(self, blocks: Blocks, how: Transformation) -> None:
        super().__init__(blocks.summary, _identity(blocks, how))
        self._blocks, self._how = blocks, how
        self.scaling = how.scaling

    @property
    def facts(self) -> Facts:
        """What the source says about itself."""
        return self._blocks.facts

    @property
    def counts(self) -> Ints:
        """The number of rows of each class."""
        return self._blocks.counts

    @property
    def seen_counts(self) -> Ints:
        """The number of rows of each class among the rows read so far."""
        return self._blocks.seen_counts

    @property
    def fingerprint(self) -> str:
        """A digest of the values underneath, and of the transformation."""
        return digest([self._blocks.fingerprint, self.identity])

    def read(self, block: int) -> Batch:
        """Return one block."""
        return _transformed(self._blocks.read(block), self._how)

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the order given, reading ahead."""
        how = self._how.into
        return self._blocks.walk(order, how if change is None else lambda rows: change(how(rows)))


def _identity(blocks: Blocks, how: Transformation) -> str:
    return digest([blocks.identity, *how.figures])
