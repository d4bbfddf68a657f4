"""Rows that are visited a block at a time, for the fit loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks.memory import Blocks
from rosenblatt.data.batch import Batch
from rosenblatt.data.features import require_finite
from rosenblatt.exceptions import NonFiniteError
from rosenblatt.learners.order import Blockwise, Visits
from rosenblatt.learners.plan import Plan
from rosenblatt.learners.pool import First
from rosenblatt.learners.report import Model
from rosenblatt.learners.visitor import Visitor
from rosenblatt.loops.targets import Targets
from rosenblatt.model.state import State
from rosenblatt.trace.recorder import Stretch
from rosenblatt.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Tour:
    """The visits of a pass: its blocks in order, and how many rows are visited in each."""

    epoch: int
    blocks: Ints
    lengths: Ints

    def __len__(self) -> int:
        return int(self.lengths.sum())


class BlockPool:
    """Blocks, of which one is at hand at a time and the next is on its way.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    class_weight : ndarray or None
        The weight of each class.
    plan : Plan
        Its order is `Blockwise`.
    state : State
        Changed in place by visits.
    """

    settled = False
    extra_values = 0

    def __init__(self, blocks: Blocks, class_weight: Floats | None, plan: Plan, state: State) -> None:
        self._blocks, self._class_weight, self._plan, self._state = blocks, class_weight, plan, state
        self.n_rows, self.n_features, self.classes = blocks.n_rows, blocks.n_features, blocks.classes
        self.stored = blocks.stored
        self._held_out: NDArray[np.bool_] | None = None
        lengths = np.diff(blocks.boundaries)
        if plan.held_out is not None:
            self._held_out = np.zeros(blocks.n_rows, np.bool_)
            self._held_out[plan.held_out] = True
            lengths = lengths - np.add.reduceat(self._held_out, blocks.boundaries[:-1], dtype=np.int64)
        self._lengths = lengths
        self._at_hand: tuple[Batch, int] | None = None

    @property
    def _order(self) -> Blockwise:
        order: Any = self._plan.order
        return order  # type: ignore[no-any-return]  # whoever makes the plan sees to it

    def visits(self, epoch: int) -> Tour:
        """Return the visits of a pass."""
        blocks = self._order.blocks(epoch)
        return Tour(epoch, blocks, self._lengths[blocks])

    def visit(self, visits: Tour, made: int = 0) -> Iterator[Stretch]:
        """Make the visits but for the first `made` of them."""
        ends = np.cumsum(visits.lengths)
        skipped = int(np.searchsorted(ends, made, side="right"))
        if skipped == len(ends):
            return
        made -= int(ends[skipped - 1]) if skipped else 0
        order = visits.blocks[skipped:]
        plan = self._plan
        for k, batch in zip(order.tolist(), self._blocks.walk(order), strict=True):
            local = self._within(visits.epoch, k)[made:]
            made = 0
            if not len(local):
                continue
            first = int(self._blocks.boundaries[k])
            self._at_hand = batch, first
            with _named_from(batch, first):
                visitor = Visitor(batch, self._targets(batch, k), plan.rule, self._state, False, plan.penalty)
                for stretch in visitor.visit(local):
                    yield stretch._replace(visits=stretch.visits + np.uint64(first))

    def covers(self, visits: Tour) -> bool:
        """Whether every row that counts is visited: orders of blocks leave none out."""
        return True

    def first(self, visits: Tour) -> First:
        """Return the row visited first."""
        k = int(visits.blocks[np.argmax(visits.lengths > 0)])
        batch = self._blocks.read(k)
        row = int(self._within(visits.epoch, k)[0])
        return First(batch, self._targets(batch, k), row, float(self._weight(batch, k)[row]))

    def codes_of(self, rows: NDArray[Any]) -> Ints:
        """Return the classes of rows of the block at hand."""
        assert self._at_hand is not None, "a stretch was told of"
        batch, first = self._at_hand
        codes: Ints = batch.codes[rows - np.uint64(first)]
        return codes

    def require_finite(self, visits: Tour) -> None:
        """Leave rows held out to validation, which meets them: looking now would be one more reading of all."""

    def parts(self) -> Iterator[tuple[Batch, Floats]]:
        """Yield the blocks with the weights of their rows."""
        for k, batch in self._all():
            yield batch, self._weight(batch, k)

    def validation_error(self, model: Model) -> float | None:
        """Return the share of rows held out whose class is predicted wrong."""
        if self._held_out is None:
            return None
        wrong = 0
        for k, batch in self._all():
            rows = self._part(self._held_out, k)
            if rows.any():
                held = batch.take(rows)
                with _named_from(batch, int(self._blocks.boundaries[k])):
                    wrong += int(np.count_nonzero(model.codes(held) != held.codes))
        return wrong / int(np.count_nonzero(self._held_out))

    def _all(self) -> Iterator[tuple[int, Batch]]:
        return enumerate(self._blocks.walk(range(len(self._lengths))))

    def _within(self, epoch: int, k: int) -> Visits:
        visits = self._order.within(epoch, k)
        if self._held_out is None:
            return visits
        kept: Visits = visits[~self._part(self._held_out, k)[visits]]
        return kept

    def _part(self, column: NDArray[Any], k: int) -> NDArray[Any]:
        first, last = self._blocks.boundaries[k : k + 2]
        return column[first:last]

    def _weight(self, batch: Batch, k: int) -> Floats:
        weight = np.ones(batch.n_rows) if self._class_weight is None else self._class_weight[batch.codes]
        return weight if self._held_out is None else np.where(self._part(self._held_out, k), 0.0, weight)

    def _targets(self, batch: Batch, k: int) -> Targets:
        return self._plan.scheme.targets(batch.codes, self._weight(batch, k), self._plan.zero)


@contextmanager
def _named_from(batch: Batch, first: int) -> Iterator[None]:
    """Let errors tell rows by their number among all rows."""
    try:
        yield
    except NonFiniteError:
        require_finite(batch, first=first)
        raise
