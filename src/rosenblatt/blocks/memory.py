"""Data that is visited block by block, wherever it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks.builder import BLOCK_BYTES, rows_of_block
from rosenblatt.blocks.raw import Raw, checksum
from rosenblatt.columns.statistics import Statistics
from rosenblatt.data.batch import Batch
from rosenblatt.data.reals import read_only
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.typing import Ints

__all__ = ["Blocks", "Change", "MemoryBlocks", "Table"]

NOTHING: Mapping[str, Any] = MappingProxyType({})


Change: TypeAlias = Callable[[Rows], Rows]
"""Makes other rows of rows, to whose values it may write."""


class Table(NamedTuple):
    """What is known of data as a whole.

    Attributes
    ----------
    n_rows, n_features, stored : int
        Its size; `stored` counts the values that are.
    classes : ndarray
        The labels, sorted.
    counts : ndarray of int
        The rows of each class.
    boundaries : ndarray of int
        The first row of each block, and behind them the number of rows.
    names : tuple of str or None
        Of the features.
    facts : mapping
        What else the reader said: JSON values by name.
    """

    n_rows: int
    n_features: int
    stored: int
    classes: NDArray[Any]
    counts: Ints
    boundaries: Ints
    names: tuple[str, ...] | None = None
    facts: Mapping[str, Any] = NOTHING


class Blocks(Protocol):
    """Labelled rows in blocks, each of which fits into memory.

    Attributes
    ----------
    n_rows, n_features, stored, classes, boundaries, names, facts
        See `Table`.
    """

    @property
    def n_rows(self) -> int: ...  # noqa: D102
    @property
    def n_features(self) -> int: ...  # noqa: D102
    @property
    def stored(self) -> int: ...  # noqa: D102
    @property
    def classes(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def boundaries(self) -> Ints: ...  # noqa: D102
    @property
    def names(self) -> tuple[str, ...] | None: ...  # noqa: D102
    @property
    def facts(self) -> Mapping[str, Any]: ...  # noqa: D102

    @property
    def counts(self) -> Ints:
        """The rows of each class; to know them all rows may have to be read."""

    @property
    def seen_counts(self) -> Ints:
        """The rows of each class among those read so far."""

    @property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names; to know it all rows may have to be read."""

    @property
    def identity(self) -> str:
        """A digest that tells this data from other, and is known before it has been read."""

    def read(self, block: int) -> Batch:
        """Return one block; its codes and classes are those of all data."""

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the order given, reading ahead; a block is good until the next is asked for.

        What `change` makes of the rows is yielded in their place; the reading thread calls it.
        """


class Tabled:
    """What blocks have that know their table."""

    table: Table

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.table.n_features

    @property
    def stored(self) -> int:
        """The number of values stored."""
        return self.table.stored

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted."""
        return self.table.classes

    @property
    def boundaries(self) -> Ints:
        """The first row of each block, and behind them the number of rows."""
        return self.table.boundaries

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features."""
        return self.table.names

    @property
    def facts(self) -> Mapping[str, Any]:
        """What else the reader said."""
        return self.table.facts

    @property
    def counts(self) -> Ints:
        """The rows of each class."""
        return self.table.counts

    @property
    def seen_counts(self) -> Ints:
        """The rows of each class."""
        return self.table.counts


class MemoryBlocks(Tabled):
    """Blocks of rows that are in memory.

    Parameters
    ----------
    batch : Batch
        All rows.
    boundaries : ndarray of int or None
        Where blocks begin; by default each takes at most 8 MiB.
    facts : mapping
        What else is known of the data.
    identity : str or None
        What tells this data from other; by default the fingerprint.
    statistics : Statistics or None
        Of its features, where they were asked for.
    scaling : Scaling or None
        By which the rows were brought to scale, if they were.

    Examples
    --------
    >>> from rosenblatt.data.batch import as_batch
    >>> blocks = MemoryBlocks(as_batch([[0.0], [1.0], [2.0]], ["no", "no", "yes"]), np.array([0, 2, 3]))
    >>> blocks.read(1).rows, blocks.read(1).codes, blocks.counts
    (array([[2.]]), array([1]), array([2, 1]))
    """

    def __init__(
        self,
        batch: Batch,
        boundaries: Ints | None = None,
        *,
        facts: Mapping[str, Any] = NOTHING,
        identity: str | None = None,
        statistics: Statistics | None = None,
        scaling: Any = None,
    ) -> None:
        self.batch, self.statistics, self.scaling = batch, statistics, scaling
        self._identity = identity
        counts = np.bincount(batch.codes, minlength=len(batch.classes))
        cuts = cut(batch) if boundaries is None else boundaries
        shape = batch.n_rows, batch.n_features, batch.stored
        self.table = Table(*shape, batch.classes, counts, cuts, batch.names, facts)

    def read(self, block: int) -> Batch:
        """Return one block, without a copy of its rows."""
        first, last = map(int, self.boundaries[block : block + 2])
        batch, rows = self.batch, self.batch.rows
        if isinstance(rows, CSR):
            start, stop = map(int, rows.indptr[[first, last]])
            ends = rows.indptr[first : last + 1] - rows.indptr[first]
            part: Any = CSR(rows.data[start:stop], rows.indices[start:stop], read_only(ends))
        else:
            part = rows[first:last]
        codes = batch.codes[first:last]
        return Batch(part, last - first, batch.n_features, batch.names, codes=codes, classes=batch.classes)

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the order given."""
        for block in order:
            batch = self.read(int(block))
            yield batch if change is None else replace(batch, rows=change(_copied(batch.rows)))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names."""
        _, firsts = np.unique(self.batch.codes, return_index=True)
        numbers = np.empty(len(self.classes), np.uint32)
        numbers[self.batch.codes[np.sort(firsts)]] = np.arange(len(firsts))
        sums = []
        for block in self.walk(range(len(self.boundaries) - 1)):
            sums.append(checksum(Raw(narrowed(block.rows), numbers[block.codes]).sections))
        return fingerprint(self.table, sums)

    @property
    def identity(self) -> str:
        """A digest that tells this data from other."""
        return self._identity or self.fingerprint


def _copied(rows: Rows) -> Rows:
    return CSR(rows.data.copy(), rows.indices, rows.indptr) if isinstance(rows, CSR) else rows.copy()


def narrowed(rows: Any) -> Any:
    """Return sparse rows with numbers of columns as narrow as in a file."""
    if not isinstance(rows, CSR):
        return rows
    largest = max(rows.data.size, int(rows.indices.max(initial=0)))
    index: Any = np.uint32 if largest <= np.iinfo(np.int32).max else np.uint64
    return CSR(rows.data, *(each.astype(index) for each in (rows.indices, rows.indptr)))


def fingerprint(table: Table, checksums: Sequence[str]) -> str:
    """Return a digest of data from what is known of it as a whole and the checksums of its blocks."""
    known = [table.n_rows, table.n_features, table.classes.tolist(), table.names, table.boundaries.tolist()]
    return hashlib.sha256(json.dumps([known, list(checksums)]).encode()).hexdigest()


def cut(batch: Batch, block_bytes: int = BLOCK_BYTES) -> Ints:
    """Return where blocks of a batch begin: where they would if it had come from a source."""
    rows = batch.rows
    if not isinstance(rows, CSR):
        step = rows_of_block(batch.n_features, rows.dtype, block_bytes)
        return np.array([*range(0, batch.n_rows, step), batch.n_rows])
    ends = np.cumsum(np.diff(rows.indptr.astype(np.int64)) * (rows.data.itemsize + 4) + 8)
    cuts, first = [0], 0
    while first < batch.n_rows:
        before = int(ends[first - 1]) if first else 0
        first = max(first + 1, int(np.searchsorted(ends, before + block_bytes, side="right")))
        cuts.append(first)
    return np.array(cuts)
