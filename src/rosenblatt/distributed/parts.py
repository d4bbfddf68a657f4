"""Partitions as workers hold them: what is read, what is known of it, and what a fit makes of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import NoRowsError
from rosenblatt.loops.layout import CSR
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.rows.features import read_only
from rosenblatt.tables.blocks import Blocks, Change, MemoryBlocks
from rosenblatt.tables.collect import collect, measure, transform_blocks
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.preparation import Encoding
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import Recipe
from rosenblatt.tables.scaling import NOTHING, Facts, Statistics, Transformation, Weighting
from rosenblatt.typing import Ints

PARTITION_BYTES = 1 << 28
"""Up to which a partition stays in memory by default: workers hold several, and share machines."""


@dataclass(frozen=True)
class FilePart:
    """A file, or some row groups of it, that a worker reads by itself."""

    path: str  # the file, as every worker can open it
    options: Options  # how to read it; `row_groups` names the row groups of Parquet
    recipe: Recipe | None  # how columns become features, the same in every partition; None for sparse files
    memory: int  # partitions of more bytes go through a cache on the disk of their worker
    statistics: bool = False  # whether to gather means and variances on the way

    @property
    def name(self) -> str:
        """The name of the partition in messages."""
        groups = self.options.row_groups
        return self.path if groups is None else f"{self.path}, row group {', '.join(map(str, groups))}"

    def read(self) -> Blocks | None:
        """Read the file; None if it has no rows."""
        try:
            source = open_source([self.path], self.options, self.recipe)
            blocks = collect(source, memory=self.memory, statistics=self.statistics)
        except NoRowsError:
            return None
        if blocks.whole is None:
            source.close()
        return blocks


@dataclass(frozen=True, eq=False)
class Settlement:
    """What all partitions agree on: the labels, the features, and what is done to rows before training."""

    classes: NDArray[Any]
    n_features: int
    names: tuple[str, ...] | None = None
    how: Transformation = field(default_factory=Transformation)


@dataclass(frozen=True, eq=False)
class PartFacts:
    """What is known of one partition; `identity` and `fingerprint` only where they were asked for."""

    name: str
    n_rows: int
    n_features: int = 0
    stored: int = 0
    classes: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    counts: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    names: tuple[str, ...] | None = None
    sparse: bool = False
    in_memory: bool = True
    statistics: Statistics | None = None
    facts: Facts = NOTHING


class WorkerPart:
    """One partition in the memory of a worker.

    It can move to another worker: rows in memory travel, rows in a cache are read again from their file. `settled`
    is what was done to them since.
    """

    def __init__(
        self, blocks: Blocks | None, name: str, file: FilePart | None = None, settled: Settlement | None = None
    ) -> None:
        self.blocks, self.name, self.file, self.settled = blocks, name, file, settled
        self.kept: dict[str, Any] = {}  # what makes the next pass faster, and changes no result

    def __reduce__(self) -> tuple[Any, ...]:
        if self.file is not None and self.blocks is not None and self.blocks.whole is None:
            return _read_again, (self.file, self.settled)
        return WorkerPart, (self.blocks, self.name, self.file, self.settled)

    def __sizeof__(self) -> int:
        """Return the bytes of the rows, by which Dask decides what to keep in memory."""
        if self.blocks is None or self.blocks.whole is None:
            return 1 << 16
        rows = self.blocks.whole.rows
        held = rows.data.nbytes + rows.indices.nbytes if isinstance(rows, CSR) else rows.nbytes
        return int(held + self.blocks.whole.codes.nbytes)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return 0 if self.blocks is None else self.blocks.n_rows

    @property
    def rows(self) -> Blocks:
        """The rows of a partition that has some."""
        assert self.blocks is not None, "empty partitions get no tasks"
        return self.blocks

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield the rows, in memory all at once, with the number of the first of them in the partition."""
        if self.blocks is None:
            return
        if self.blocks.whole is not None:
            yield 0, self.blocks.whole
            return
        starts = self.blocks.boundaries.tolist()
        yield from zip(starts, self.blocks.walk(range(self.blocks.n_blocks)), strict=False)


def _read_again(file: FilePart, settled: Settlement | None) -> WorkerPart:
    part = load_file(file)
    return part if settled is None else settle(part, settled)


def load_file(file: FilePart) -> WorkerPart:
    """Read a file on a worker."""
    return WorkerPart(file.read(), file.name, file)


def load_rows(X: Any, y: NDArray[Any], name: str, encoding: Encoding | None = None) -> WorkerPart:
    """Take rows and labels that other tasks computed; encode them if they are a table."""
    if not len(y) or not (X.shape[0] if hasattr(X, "shape") else len(X)):
        return WorkerPart(None, name)
    if encoding is not None:
        X = encoding.features(encoding.read(X)).native()
    return WorkerPart(MemoryBlocks(as_batch(X, y)), name)


def load_batch(rows: Any, name: str) -> WorkerPart:
    """Take a `Batch`, or a pair of rows and labels, that another task computed."""
    if isinstance(rows, Batch):
        return WorkerPart(MemoryBlocks(rows), name) if rows.n_rows else WorkerPart(None, name)
    if not isinstance(rows, tuple | list) or len(rows) != 2:
        raise TypeError(f"{name} is a {type(rows).__name__}, but must be a pair (X, y) or a Batch.")
    X, y = rows
    return load_rows(X, y, name)


def describe(part: WorkerPart) -> PartFacts:
    """Return what is known of a partition."""
    blocks = part.blocks
    if blocks is None:
        return PartFacts(part.name, 0)
    first = blocks.read(0)
    return PartFacts(
        part.name,
        blocks.n_rows,
        blocks.n_features,
        blocks.stored,
        blocks.classes,
        blocks.counts,
        blocks.names,
        isinstance(first.rows, CSR),
        blocks.whole is not None,
        blocks.statistics,
        blocks.facts,
    )


def identity_of_part(part: WorkerPart) -> str:
    """Return a digest that tells the rows of a partition from others."""
    return "" if part.blocks is None else part.blocks.identity


def fingerprint_of_part(part: WorkerPart) -> str:
    """Return a digest of all values and labels of a partition."""
    return "" if part.blocks is None else part.blocks.fingerprint


def statistics_of(part: WorkerPart) -> Statistics:
    """Return the means and variances of a partition."""
    return Statistics() if part.blocks is None else measure(part.blocks)


def weighting_of(part: WorkerPart, begun: Weighting) -> Weighting:
    """Return a weighting with the rows of a partition counted."""
    for _, batch in part.batches():
        begun = begun.add(batch.rows, batch.n_rows)
    return begun


def largest_square_of(part: WorkerPart) -> float:
    """Return the largest squared norm of a row."""
    return 0.0 if part.blocks is None else part.blocks.largest_square()


def settle(part: WorkerPart, agreed: Settlement) -> WorkerPart:
    """Return a partition with the labels and features of all partitions, filled and scaled."""
    blocks = part.blocks
    if blocks is None:
        return part
    same = np.array_equal(blocks.classes, agreed.classes) and blocks.classes.dtype == agreed.classes.dtype
    if not same or (blocks.n_features, blocks.names) != (agreed.n_features, agreed.names):
        blocks = _recoded(blocks, agreed)
    return WorkerPart(transform_blocks(blocks, *agreed.how), part.name, part.file, agreed)


def _recoded(blocks: Blocks, agreed: Settlement) -> Blocks:
    if blocks.whole is None:
        return RecodedBlocks(blocks, agreed)
    batch = _agreeing(blocks.whole, agreed, _places(blocks, agreed))
    known: dict[str, Any] = {"facts": blocks.facts, "identity": blocks._identity, "statistics": blocks.statistics}
    return MemoryBlocks(batch, blocks.boundaries, **known)


def _places(blocks: Blocks, agreed: Settlement) -> Ints:
    """Return the position of each label of these blocks among all labels."""
    order = {label: k for k, label in enumerate(agreed.classes.tolist())}
    return np.array([order[label] for label in blocks.classes.tolist()], np.int64)


def _agreeing(batch: Batch, agreed: Settlement, places: Ints) -> Batch:
    return replace(
        batch,
        codes=read_only(places[batch.codes]),
        classes=agreed.classes,
        n_features=agreed.n_features,
        names=agreed.names,
    )


class RecodedBlocks(Blocks):
    """Blocks of a partition in a cache, with the labels and features of all partitions."""

    def __init__(self, blocks: Blocks, agreed: Settlement) -> None:
        places = _places(blocks, agreed)
        counts = np.zeros(len(agreed.classes), np.int64)
        counts[places] = blocks.counts
        summary = blocks.summary._replace(
            classes=agreed.classes, counts=counts, n_features=agreed.n_features, names=agreed.names
        )
        super().__init__(summary, blocks.identity)
        self._blocks, self._agreed, self._places = blocks, agreed, places
        self.statistics = blocks.statistics

    @property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names of the partition alone."""
        return self._blocks.fingerprint

    def read(self, block: int) -> Batch:
        """Return one block."""
        return _agreeing(self._blocks.read(block), self._agreed, self._places)

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the given order, reading ahead."""
        return (_agreeing(batch, self._agreed, self._places) for batch in self._blocks.walk(order, change))


def row_groups_of(path: str) -> int:
    """Return the number of row groups of a Parquet file, or 0 for other files; runs on a worker."""
    import pyarrow.parquet as pq

    with open(os.fspath(path), "rb") as file:
        if file.read(4) != b"PAR1":
            return 0
        return int(pq.ParquetFile(path).metadata.num_row_groups)
