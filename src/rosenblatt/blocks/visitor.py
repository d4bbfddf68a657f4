"""Rows that are visited one block at a time, for the fit loop."""

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
from rosenblatt.learners.plan import Model, Plan
from rosenblatt.learners.screening import Screening
from rosenblatt.learners.validation import held_out_mask
from rosenblatt.learners.visitor import Visitor
from rosenblatt.loops.targets import Log
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


class BlockVisitor(Visitor):
    """Visits blocks, of which one is in memory at a time while the next is read.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    plan : Plan
        How to train; its order is `Blockwise`.
    state : State
        Changed in place.
    """

    def __init__(self, blocks: Blocks, plan: Plan, state: State) -> None:
        assert isinstance(plan.order, Blockwise), "blocks are visited one after the other"
        self.data: Blocks = blocks
        self._order = plan.order
        self.plan, self.state = plan, state
        self.held_out = held_out_mask(plan.held_out, blocks.n_rows)
        lengths = np.diff(blocks.boundaries)
        if self.held_out is not None:
            lengths = lengths - np.add.reduceat(self.held_out, blocks.boundaries[:-1], dtype=np.int64)
        self._lengths = lengths
        self._log = Log.room(0, len(state.machines))
        self._rooms = {}
        self._screening = Screening(np.empty((1, 1)), False)
        self._first = 0  # the row of all rows that the block in memory begins with

    def renumber(self) -> None:
        """Do nothing: each block is numbered when it is looked at."""

    def visits(self, epoch: int) -> Tour:
        """Return the visits of a pass."""
        blocks = self._order.blocks(epoch)
        return Tour(epoch, blocks, self._lengths[blocks])

    def visit(self, visits: Tour, made: int = 0) -> Iterator[Stretch]:
        """Make the visits of a pass but for the first `made`; yield each stretch once it is made."""
        ends = np.cumsum(visits.lengths)
        skipped = int(np.searchsorted(ends, made, side="right"))
        if skipped == len(ends):
            return
        made -= int(ends[skipped - 1]) if skipped else 0
        order = visits.blocks[skipped:]
        for k, batch in zip(order.tolist(), self.data.walk(order), strict=True):
            local = self._within(visits.epoch, k)[made:]
            made = 0
            if not len(local):
                continue
            self._look_at_block(k, batch)
            with _named_from(batch, self._first):
                for stretch in super().visit(local):
                    yield stretch._replace(visits=stretch.visits + np.uint64(self._first))

    def covers(self, visits: Tour) -> bool:
        """Whether every row that counts is visited: orders of blocks leave none out."""
        return True

    def first(self, visits: Tour) -> int:
        """Return the row visited first, in its block."""
        k = int(visits.blocks[np.argmax(visits.lengths > 0)])
        self._look_at_block(k, self.data.read(k))
        return int(self._within(visits.epoch, k)[0])

    def codes_of(self, rows: NDArray[Any]) -> Ints:
        """Return the classes of rows of the block in memory."""
        return super().codes_of(rows - np.uint64(self._first))

    def require_usable(self, visits: Tour) -> None:
        """Leave rows held out to validation, which meets them: looking now would be one more reading of all."""

    def parts(self) -> Iterator[tuple[Batch, Floats]]:
        """Yield the blocks with the weights of their rows."""
        for k, batch in self._all():
            self._look_at_block(k, batch)
            yield batch, self.weight

    def validation_error(self, model: Model) -> float:
        """Return the share of rows held out whose class is predicted wrong."""
        assert self.held_out is not None, "rows are held out"
        wrong = 0
        for k, batch in self._all():
            rows = self._part(self.held_out, k)
            if rows.any():
                held = batch.take(rows)
                with _named_from(batch, int(self.data.boundaries[k])):
                    wrong += int(np.count_nonzero(model.codes(held) != held.codes))
        return wrong / int(np.count_nonzero(self.held_out))

    def _look_at_block(self, k: int, batch: Batch) -> None:
        self._first = int(self.data.boundaries[k])
        self._look_at(batch, None if self.held_out is None else self._part(self.held_out, k))

    def _all(self) -> Iterator[tuple[int, Batch]]:
        return enumerate(self.data.walk(range(len(self._lengths))))

    def _within(self, epoch: int, k: int) -> Visits:
        visits = self._order.within(epoch, k)
        if self.held_out is None:
            return visits
        kept: Visits = visits[~self._part(self.held_out, k)[visits]]
        return kept

    def _part(self, column: NDArray[Any], k: int) -> NDArray[Any]:
        first, last = self.data.boundaries[k : k + 2]
        return column[first:last]


@contextmanager
def _named_from(batch: Batch, first: int) -> Iterator[None]:
    """Let errors name rows by their number among all rows."""
    try:
        yield
    except NonFiniteError:
        require_finite(batch, first=first)
        raise
