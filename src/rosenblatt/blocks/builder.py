"""From the chunks of a source to blocks whose size does not depend on the size of the chunks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any, TypeAlias

import numpy as np

from rosenblatt.blocks.block_layout import narrowed
from rosenblatt.blocks.label_numbers import LabelTable
from rosenblatt.blocks.summary import DataSummary
from rosenblatt.columns.source import Source
from rosenblatt.columns.statistics import Statistics
from rosenblatt.data.batch import Batch
from rosenblatt.data.chunk import Chunk
from rosenblatt.exceptions import FormatError, InputError, ShapeError
from rosenblatt.loops.layout import CSR, Rows, Unsigned
from rosenblatt.typing import Ints, Reals

BLOCK_BYTES = 1 << 23
"""The size at which a block is closed; only a single row may take more.

Two blocks are in memory at a time, which is little beside the program itself. Rows visited in random order within
8 MiB stay in the processor's cache, and switching blocks takes a thousandth of the time of training on one.
"""

UNKNOWN = np.empty(0)
"""The classes of a block whose codes are provisional."""

Built: TypeAlias = Iterator[tuple[Rows, Ints]]


class Builder:
    """Makes blocks of the rows of a source.

    Parameters
    ----------
    source : Source
        The rows.
    block_bytes : int
        See `BLOCK_BYTES`.
    statistics : Statistics or None
        Updated with every block.
    buffers : int or None
        Dense blocks share this many buffers in turn, so that a block is valid only until this many more were made;
        None gives each block its own memory.
    numbers : bool
        Whether labels may be any numbers, for a regression.

    Attributes
    ----------
    labels : LabelTable
        The labels of all rows so far.
    n_rows, n_features : int
        The size of the data so far.
    """

    def __init__(
        self,
        source: Source,
        block_bytes: int,
        statistics: Statistics | None = None,
        buffers: int | None = None,
        *,
        numbers: bool = False,
    ) -> None:
        self.labels, self.statistics = LabelTable(numbers=numbers), statistics
        self.n_rows = self.n_features = self._stored = 0
        self._source, self._block_bytes, self._buffers = source, block_bytes, buffers
        self._boundaries = [0]

    def summary(self) -> DataSummary:
        """Return the summary of all blocks, once they are made."""
        shape, boundaries = (self.n_rows, self.n_features, self._stored), np.array(self._boundaries)
        labels, source = self.labels, self._source
        return DataSummary(*shape, labels.classes, labels.counts, boundaries, source.names, facts_of(source))

    def blocks(self) -> Iterator[Batch]:
        """Yield full blocks, and at the end the rows left over.

        The codes of a block number labels in the order in which they were first seen, and its `classes` are empty:
        `labels.ranks` and `labels.classes` complete them once all rows are read.
        """
        maker: _DenseMaker | _SparseMaker | None = None
        for chunk in chunks_of(self._source):
            sparse = isinstance(chunk.rows, CSR)
            if maker is None:
                size = self._block_bytes
                maker = _SparseMaker(size) if sparse else _DenseMaker(size, self._buffers)
            if sparse is not isinstance(maker, _SparseMaker):
                raise InputError("Some rows of the source are dense and others sparse. Read them in the same way.")
            if not sparse and self.n_features not in (0, chunk.n_features):
                raise ShapeError(
                    f"Row {self.n_rows} has {chunk.n_features} features, but those before have "
                    f"{self.n_features}. Give every row the same columns."
                )
            codes = self.labels.encode(chunk.labels, self.n_rows)
            if len(codes) != chunk.n_rows:
                raise ShapeError(f"A chunk has {chunk.n_rows} rows but {len(codes)} labels.")
            self.n_rows += chunk.n_rows
            self.n_features = max(self.n_features, chunk.n_features)
            yield from self._batches(maker.add(chunk.rows, codes))
        if maker is None:
            raise ShapeError("The source has no rows, but a minimum of 1 is required.")
        yield from self._batches(maker.rest())

    def _batches(self, built: Built) -> Iterator[Batch]:
        for rows, codes in built:
            if self.statistics is not None:
                self.statistics.add(rows, len(codes), self.n_features)
            batch = Batch(rows, len(codes), self.n_features, codes=codes, classes=UNKNOWN)
            self._stored += batch.stored
            self._boundaries.append(self._boundaries[-1] + batch.n_rows)
            yield batch


class _DenseMaker:
    """Copies dense rows of one width into blocks; each block holds values of one type."""

    def __init__(self, block_bytes: int, n_buffers: int | None) -> None:
        self._block_bytes, self._n_buffers = block_bytes, n_buffers
        self._buffers: Iterator[tuple[Reals, Ints]] = iter(())
        self._rows: Reals = np.empty((0, 0))
        self._codes: Ints = np.empty(0, np.int64)
        self._filled = 0

    def add(self, rows: Any, codes: Ints) -> Built:
        if self._filled and rows.dtype != self._rows.dtype:
            yield from self.rest()
        first = 0
        while first < len(rows):
            if not self._filled:
                self._next_buffer(rows)
            last = min(len(rows), first + len(self._codes) - self._filled)
            room = slice(self._filled, self._filled + last - first)
            self._rows[room], self._codes[room] = rows[first:last], codes[first:last]
            self._filled += last - first
            first = last
            if self._filled == len(self._codes):
                yield from self.rest()

    def rest(self) -> Built:
        if self._filled:
            filled, self._filled = self._filled, 0
            yield self._rows[:filled], self._codes[:filled]

    def _next_buffer(self, rows: Reals) -> None:
        if self._n_buffers is None or rows.dtype != self._rows.dtype or not len(self._codes):
            length = rows_of_block(rows.shape[1], rows.dtype, self._block_bytes)
            shape = length, rows.shape[1]
            made = range(self._n_buffers or 1)
            self._buffers = cycle([(np.empty(shape, rows.dtype), np.empty(length, np.int64)) for _ in made])
        self._rows, self._codes = next(self._buffers)


class _SparseMaker:
    """Collects sparse rows into blocks."""

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        self._parts: list[tuple[Reals, Unsigned, Ints, Ints]] = []
        self._bytes = 0

    def add(self, rows: Any, codes: Ints) -> Built:
        starts = rows.indptr.astype(np.int64)
        lengths, ends = np.diff(starts), row_ends(rows)
        first = 0
        while first < len(lengths):
            before = int(ends[first - 1]) if first else 0
            last = int(np.searchsorted(ends, before + self._block_bytes - self._bytes, side="right"))
            if last == first and not self._parts:
                last = first + 1  # a row that is a block of its own
            if last > first:
                values = slice(starts[first], starts[last])
                part = rows.data[values], rows.indices[values], lengths[first:last], codes[first:last]
                self._parts.append(part)
                self._bytes += int(ends[last - 1]) - before
                first = last
            if first < len(lengths) or self._bytes >= self._block_bytes:
                yield from self.rest()
        # The rows left over must not keep the whole chunk in memory, nor change with it.
        self._parts = [tuple(array.copy() for array in part) for part in self._parts]  # type: ignore[misc]

    def rest(self) -> Built:
        if self._parts:
            data, indices, lengths, codes = (np.concatenate(column) for column in zip(*self._parts, strict=True))
            self._parts, self._bytes = [], 0
            yield narrowed(CSR(data, indices, np.concatenate([[0], np.cumsum(lengths)]))), codes


def rows_of_block(width: int, dtype: Any, block_bytes: int) -> int:
    """Return the number of dense rows in a block."""
    return max(1, block_bytes // (width * int(np.dtype(dtype).itemsize) + 4))


def row_ends(rows: CSR) -> Ints:
    """Return the bytes that sparse rows take in a block, summed up to each row."""
    ends: Ints = np.cumsum(np.diff(rows.indptr.astype(np.int64)) * (rows.data.itemsize + 4) + 8)
    return ends


def chunks_of(source: Source) -> Iterator[Chunk]:
    """Yield the chunks of a source; an error of the operating system becomes a `FormatError`."""
    try:
        yield from source.chunks()
    except OSError as error:
        if isinstance(error, InputError):
            raise
        raise FormatError(f"it could not be read: {error.strerror or error}.", file=error.filename) from error


def facts_of(source: Source) -> dict[str, Any]:
    """Return the recipe, the description and the number of skipped rows of a source, as JSON values."""
    recipe = None if source.recipe is None else source.recipe.to_json()
    return {"recipe": recipe, "skipped": source.skipped.count, "description": source.description}
