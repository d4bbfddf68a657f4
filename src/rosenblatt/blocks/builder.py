"""From chunks as a reader gives them to blocks of one size, whatever the size of the chunks was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Any

import numpy as np

from rosenblatt.blocks.label_numbers import LabelTable, Provisional
from rosenblatt.blocks.raw import Raw
from rosenblatt.columns.statistics import Statistics
from rosenblatt.data.chunk import Chunk
from rosenblatt.data.features import Features
from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.loops.layout import CSR, Unsigned
from rosenblatt.typing import Ints, Reals

BLOCK_BYTES = 1 << 23
"""Blocks close before they take more than this, but for a single row that does.

Two of them are in memory at a time, and hardly show beside the program itself. Rows visited in random order within
8 MiB are found in the processor's cache; switching blocks costs a thousandth of training on one.
"""


class Builder:
    """Makes blocks of chunks. Where blocks end depends on the rows alone, not on how they came.

    Parameters
    ----------
    block_bytes : int
        See `BLOCK_BYTES`.
    statistics : Statistics or None
        Told of every block.
    rooms : int or None
        Dense blocks take turns in so many buffers, so that each is good only until that many more were made; None
        gives each its own.

    Attributes
    ----------
    labels : LabelTable
        Of all rows so far.
    n_rows, n_features : int
        So far.
    """

    def __init__(
        self, block_bytes: int = BLOCK_BYTES, statistics: Statistics | None = None, rooms: int | None = None
    ) -> None:
        self.labels = LabelTable()
        self.statistics = statistics
        self.n_rows = self.n_features = 0
        self._block_bytes = block_bytes
        self._rooms: Any = None if rooms is None else cycle([{} for _ in range(rooms)])

    def blocks(self, chunks: Iterable[Chunk]) -> Iterator[Raw]:
        """Yield full blocks, and what is left in the end."""
        sparse: bool | None = None
        maker: _Dense | _Sparse | None = None
        for chunk in chunks:
            if maker is None:
                sparse = isinstance(chunk.rows, CSR)
                maker = _Sparse(self._block_bytes) if sparse else _Dense(self._block_bytes, self._rooms)
            if isinstance(chunk.rows, CSR) is not sparse:
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
            yield from self._noted(maker.add(chunk, codes))
        if maker is None:
            raise ShapeError("The source has no rows, but a minimum of 1 is required.")
        yield from self._noted(maker.rest())

    def _noted(self, blocks: Iterable[Raw]) -> Iterator[Raw]:
        for raw in blocks:
            if self.statistics is not None:
                self.statistics.add(raw.rows, len(raw.codes), self.n_features)
            yield raw


class _Dense:
    """Rows of numbers, all of one width; a block holds values of one type."""

    def __init__(self, block_bytes: int, rooms: Any) -> None:
        self._block_bytes, self._rooms = block_bytes, rooms
        self._rows: Reals = np.empty((0, 0))
        self._codes: Provisional = np.empty(0, np.uint32)
        self._filled = 0

    def add(self, features: Features, codes: Provisional) -> Iterator[Raw]:
        rows = features.rows
        assert not isinstance(rows, CSR), "sparse rows are made elsewhere"
        if self._filled and rows.dtype != self._rows.dtype:
            yield from self.rest()
        first = 0
        while first < len(rows):
            if not self._filled:
                self._make_room(rows)
            last = min(len(rows), first + len(self._codes) - self._filled)
            room = slice(self._filled, self._filled + last - first)
            self._rows[room], self._codes[room] = rows[first:last], codes[first:last]
            self._filled += last - first
            first = last
            if self._filled == len(self._codes):
                yield from self.rest()

    def rest(self) -> Iterator[Raw]:
        if self._filled:
            filled, self._filled = self._filled, 0
            yield Raw(self._rows[:filled], self._codes[:filled])

    def _make_room(self, rows: Reals) -> None:
        width = rows.shape[1]
        length = rows_of_block(width, rows.dtype, self._block_bytes)
        room = {} if self._rooms is None else next(self._rooms)
        key = length, width, rows.dtype
        if key not in room:
            room.clear()
            room[key] = np.empty((length, width), rows.dtype), np.empty(length, np.uint32)
        self._rows, self._codes = room[key]


def rows_of_block(width: int, dtype: Any, block_bytes: int) -> int:
    """Return how many dense rows a block holds."""
    return max(1, block_bytes // (width * int(np.dtype(dtype).itemsize) + 4))


class _Sparse:
    """Rows of which the values that are not zero are stored."""

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        self._parts: list[tuple[Reals, Unsigned, Ints, Provisional]] = []
        self._bytes = 0

    def add(self, features: Features, codes: Provisional) -> Iterator[Raw]:
        rows = features.rows
        assert isinstance(rows, CSR), "dense rows are made elsewhere"
        starts = rows.indptr.astype(np.int64)
        lengths = np.diff(starts)
        ends = np.cumsum(lengths * (rows.data.itemsize + 4) + 8)
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
        # What is left over must not keep the whole chunk alive, nor change with it.
        self._parts = [tuple(array.copy() for array in part) for part in self._parts]  # type: ignore[misc]

    def rest(self) -> Iterator[Raw]:
        if not self._parts:
            return
        data, indices, lengths, codes = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        self._parts, self._bytes = [], 0
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        largest = max(int(indptr[-1]), int(indices.max(initial=0)))
        index: Any = np.uint32 if largest <= np.iinfo(np.int32).max else np.uint64
        yield Raw(CSR(data, indices.astype(index), indptr.astype(index)), codes)
