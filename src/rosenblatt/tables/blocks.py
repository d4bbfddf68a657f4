"""Blocks of rows: what all kinds have in common, and those whose rows are in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.reals import read_only
from rosenblatt.tables.block_layout import checksum, narrow_indices, stored_arrays
from rosenblatt.tables.builder import BLOCK_BYTES, row_ends, rows_of_block
from rosenblatt.tables.statistics import NOTHING, DataSummary, Facts, Statistics
from rosenblatt.typing import Ints

__all__ = ["Blocks", "Change", "MemoryBlocks"]

Change: TypeAlias = Callable[[Rows], Rows]
"""Returns changed rows; it may write to the values of the rows it gets."""


class Blocks(ABC):
    """Labelled rows in blocks, each of which fits into memory.

    Parameters
    ----------
    summary : DataSummary
        Describes all rows.
    identity : str or None
        Tells this data from other data; None takes the fingerprint.

    Attributes
    ----------
    n_rows, n_features, stored, classes, boundaries, names, facts
        As in `DataSummary`.
    n_blocks : int
        The number of blocks.
    statistics : Statistics or None
        The means and variances of the features, if they were gathered while the source was read.
    scaling : Scaling or None
        The scaling that was applied to the rows, if any.
    whole : Batch or None
        All rows, if they are in memory.
    """

    statistics: Statistics | None = None
    scaling: Any = None
    whole: Batch | None = None

    def __init__(self, summary: DataSummary, identity: str | None = None) -> None:
        self.summary, self._identity = summary, identity
        self.n_rows, self.n_features, self.stored = summary.n_rows, summary.n_features, summary.stored
        self.classes, self.boundaries, self.names = summary.classes, summary.boundaries, summary.names
        self.n_blocks = len(summary.boundaries) - 1

    @property
    def facts(self) -> Facts:
        """What the source said about itself."""
        return self.summary.facts

    def unscaled(self) -> Batch:
        """Return all rows before scaling, which must be in memory; a proof is about these."""
        assert self.whole is not None, "the rows are in memory"
        return self.whole

    @property
    def counts(self) -> Ints:
        """The number of rows of each class; reads all rows if it is not yet known."""
        return self.summary.counts

    @property
    def seen_counts(self) -> Ints:
        """The number of rows of each class among the rows read so far."""
        return self.summary.counts

    @property
    def identity(self) -> str:
        """A digest that tells this data from other data."""
        return self._identity or self.fingerprint

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of all values, labels and names; reads all rows if it is not yet known."""

    @abstractmethod
    def read(self, block: int) -> Batch:
        """Return one block; its codes and classes are those of the whole data."""

    @abstractmethod
    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the given order, reading ahead; a block is valid until the next one is asked for.

        If `change` is given, the rows it returns are yielded instead; it runs in the thread that reads.
        """

    def largest_square(self) -> float:
        """Return the largest squared norm of a row; reads all rows."""
        from rosenblatt.loops.passes import largest_square

        return max(largest_square(batch.rows, batch.n_rows) for batch in self.walk(range(self.n_blocks)))

    def _batch(self, rows: Rows, codes: Ints) -> Batch:
        shape = len(codes), self.n_features, self.names
        return Batch(protect_rows(rows), *shape, codes=read_only(codes), classes=self.classes)


class MemoryBlocks(Blocks):
    """Blocks of rows in memory.

    Parameters
    ----------
    batch : Batch
        All rows.
    boundaries : ndarray of int or None
        Where blocks begin; by default each takes at most 8 MiB.
    facts, identity, statistics, scaling
        See `DataSummary` and `Blocks`.
    unscaled : callable or None
        Returns the rows before they were scaled; by default they are those of `batch`.

    Examples
    --------
    >>> from rosenblatt.rows.batch import as_batch
    >>> blocks = MemoryBlocks(as_batch([[0.0], [1.0], [2.0]], ["no", "no", "yes"]), np.array([0, 2, 3]))
    >>> blocks.read(1).rows, blocks.read(1).codes, blocks.counts
    (array([[2.]]), array([1]), array([2, 1]))
    """

    whole: Batch

    def __init__(
        self,
        batch: Batch,
        boundaries: Ints | None = None,
        *,
        facts: Facts = NOTHING,
        identity: str | None = None,
        statistics: Statistics | None = None,
        scaling: Any = None,
        unscaled: Callable[[], Batch] | None = None,
    ) -> None:
        self._unscaled = unscaled
        self.whole, self.statistics, self.scaling = batch, statistics, scaling
        shape = batch.n_rows, batch.n_features, batch.stored
        cuts = block_starts(batch) if boundaries is None else boundaries
        super().__init__(DataSummary(*shape, batch.classes, batch.counts, cuts, batch.names, facts), identity)

    def unscaled(self) -> Batch:
        """Return all rows before scaling."""
        return self.whole if self._unscaled is None else self._unscaled()

    def read(self, block: int) -> Batch:
        """Return one block, without a copy of its rows."""
        first, last = map(int, self.boundaries[block : block + 2])
        rows = self.whole.rows
        if isinstance(rows, CSR):
            start, stop = map(int, rows.indptr[[first, last]])
            ends = rows.indptr[first : last + 1] - rows.indptr[first]
            part: Rows = CSR(rows.data[start:stop], rows.indices[start:stop], ends)
        else:
            part = rows[first:last]
        return self._batch(part, self.whole.codes[first:last])

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the given order."""
        for block in order:
            batch = self.read(int(block))
            yield batch if change is None else replace(batch, rows=change(writable(batch.rows)))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names."""
        _, firsts = np.unique(self.whole.codes, return_index=True)
        numbers = np.empty(len(self.classes), np.int64)  # of each label, in the order of their first rows
        numbers[self.whole.codes[np.sort(firsts)]] = np.arange(len(firsts))
        return self.summary.fingerprint(
            [
                checksum(stored_arrays(narrow_indices(block.rows), numbers[block.codes]))
                for block in self.walk(range(self.n_blocks))
            ]
        )


def protect_rows(rows: Rows) -> Rows:
    """Return read-only views of rows."""
    if isinstance(rows, CSR):
        return CSR(read_only(rows.data), read_only(rows.indices), read_only(rows.indptr))
    return read_only(rows)


def writable(rows: Rows) -> Rows:
    """Return rows with copies of their values, which may be written to."""
    return CSR(rows.data.copy(), rows.indices, rows.indptr) if isinstance(rows, CSR) else rows.copy()


def block_starts(batch: Batch, block_bytes: int = BLOCK_BYTES) -> Ints:
    """Return the first row of each block and the number of rows, the same as for rows that come from a source."""
    rows = batch.rows
    if not isinstance(rows, CSR):
        step = rows_of_block(batch.n_features, rows.dtype, block_bytes)
        return np.array([*range(0, batch.n_rows, step), batch.n_rows])
    ends = row_ends(rows)
    starts = [0]
    while starts[-1] < batch.n_rows:
        first = starts[-1]
        before = int(ends[first - 1]) if first else 0
        starts.append(max(first + 1, int(np.searchsorted(ends, before + block_bytes, side="right"))))
    return np.array(starts)
