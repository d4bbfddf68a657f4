"""Blocks whose rows are filled, scaled and weighted as they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from rosenblatt.exceptions import ShapeError
from rosenblatt.learning.state import State
from rosenblatt.rows.batch import Batch
from rosenblatt.tables.blocks import Blocks, Change, MemoryBlocks, protect_rows
from rosenblatt.tables.scaling import Facts, Filling, Scaling, Transformation, Weighting, digest, writable
from rosenblatt.typing import Ints

__all__ = ["ScaledBlocks", "fold_state", "transform_blocks"]


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
    for step in how.steps:
        if step.n_features != blocks.n_features:
            raise ShapeError(
                f"The figures are of {step.n_features} features, but the data has {blocks.n_features}."
            )
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
    u = None if state.u is None else scaling.fold(state.u)
    w = scaling.fold(state.last())
    memory = {name: kept.anew(w, state.n_features) for name, kept in state.memory.items() if kept.rule is not None}
    return State(w, u, state.visits, met, memory)


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
