"""Blocks of rows: what all kinds have in common, and those whose rows are in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import cycle
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError, InputError, LabelError, ShapeError
from rosenblatt.loops.layout import CSR, Rows, Unsigned
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import EXACT_BITS, Features, read_only, show_value
from rosenblatt.rows.labels import MOST_FRACTIONS, continuous, require_classes
from rosenblatt.tables.file_source import Source
from rosenblatt.tables.scaling import NOTHING, DataSummary, Facts, Statistics
from rosenblatt.typing import Ints, Reals

__all__ = ["Blocks", "Change", "MemoryBlocks"]


# How a block of rows lies in a cache file: a few arrays in a row, and a checksum over them.

ALIGNMENT_BYTES = 64  # bytes; every array begins at a multiple of it
VALUE_TYPES, INDEX_TYPES = ("f4", "f8"), ("", "u4", "u8")

Bytes: TypeAlias = NDArray[np.uint8]


class BlockLayout(NamedTuple):
    """The place of a block in its file, and the sizes and types of its arrays.

    Attributes
    ----------
    offset : int
        The position of the first byte.
    n_rows, stored : int
        The number of rows, and the number of values they store.
    dtype, index_type : str
        The type of the values, and of the column numbers of sparse rows; "" means dense rows.
    checksum : str
        Of all bytes of the block.
    """

    offset: int
    n_rows: int
    stored: int
    dtype: str
    index_type: str
    checksum: str

    @classmethod
    def of(cls, arrays: list[NDArray[Any]], offset: int) -> BlockLayout:
        """Return the layout of the arrays of a block that begins at `offset`."""
        values, codes = arrays[0], arrays[-1]
        index_type = arrays[1].dtype.str[1:] if len(arrays) > 2 else ""
        return cls(offset, len(codes), values.size, values.dtype.str[1:], index_type, checksum(arrays))

    @property
    def sizes(self) -> list[tuple[int, str]]:
        """The length and the type of each array."""
        columns = [(self.stored, self.index_type), (self.n_rows + 1, self.index_type)] if self.index_type else []
        return [(self.stored, self.dtype), *columns, (self.n_rows, "u4")]

    @property
    def n_bytes(self) -> int:
        """The number of bytes of the block in its file."""
        return sum(align_place(length * np.dtype(dtype).itemsize) for length, dtype in self.sizes)

    def parse(self, content: Bytes, n_features: int) -> tuple[Rows, NDArray[np.uint32]]:
        """Return the rows in the bytes of a block, without a copy, and the number of each row's label."""
        arrays, at = [], 0
        for length, dtype in self.sizes:
            size = length * np.dtype(dtype).itemsize
            arrays.append(content[at : at + size].view(dtype))
            at += align_place(size)
        *rows, codes = arrays
        return CSR(*rows) if self.index_type else rows[0].reshape(self.n_rows, n_features), codes

    def is_sound(self, content: Bytes, n_features: int, n_labels: int) -> bool:
        """Return whether bytes match the checksum, and their rows have only features and labels that there are."""
        rows, codes = self.parse(content, n_features)
        if checksum([content]) != self.checksum or int(codes.max()) >= n_labels:
            return False
        if not isinstance(rows, CSR):
            return True
        starts = rows.indptr
        ordered = starts[0] == 0 and starts[-1] == self.stored and bool((starts[:-1] <= starts[1:]).all())
        return bool(ordered) and int(rows.indices.max(initial=0)) < n_features


def stored_arrays(rows: Rows, codes: Ints) -> list[NDArray[Any]]:
    """Return the arrays of a block in the order of the file."""
    return [*(rows if isinstance(rows, CSR) else [rows]), codes.astype(np.uint32)]


def narrow_indices(rows: Rows) -> Rows:
    """Return sparse rows with the narrowest indices that a file may hold, and dense rows unchanged."""
    if not isinstance(rows, CSR):
        return rows
    largest = max(rows.data.size, int(rows.indices.max(initial=0)))
    index: Any = np.uint32 if largest <= np.iinfo(np.int32).max else np.uint64
    return CSR(rows.data, rows.indices.astype(index), rows.indptr.astype(index))


def align_place(n_bytes: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-n_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def pieces(array: NDArray[Any]) -> Iterator[Bytes]:
    """Yield the bytes of an array in two pieces, the second filled with zeros up to the alignment."""
    content = array.reshape(-1).view(np.uint8)
    whole = len(content) - len(content) % ALIGNMENT_BYTES
    yield content[:whole]
    if whole < len(content):
        rest = np.zeros(ALIGNMENT_BYTES, np.uint8)
        rest[: len(content) - whole] = content[whole:]
        yield rest


def checksum(arrays: list[NDArray[Any]]) -> str:
    """Return the checksum of arrays as they lie in a file."""
    from rosenblatt.loops._bits import LANES, absorb, combine

    lanes = np.zeros(LANES, np.uint64)
    for array in arrays:
        for piece in pieces(array):
            absorb(piece.view(np.uint64), lanes)
    return f"{combine(lanes):016x}"


# From the chunks of a source to blocks whose size does not depend on the size of the chunks.

# Numbers for labels that come batch by batch.

NUMBERS = "biuf"


class LabelTable:
    """Numbers labels in the order in which they are first seen, until all are known and can be sorted.

    Integers and floats may be mixed, and then all become floats; numbers and strings may not be mixed.

    Parameters
    ----------
    numbers : bool
        Whether the labels of a regression are allowed: fractions, which name no classes.

    Examples
    --------
    >>> table, classes = LabelTable(), np.array(["ham", "spam"])
    >>> table.encode(classes, np.array([1, 0]), first=0), table.encode(classes, np.array([0]), first=2)
    (array([0, 1]), array([1]))
    >>> table.classes, table.ranks, table.counts
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0]), array([2, 1]))
    """

    def __init__(self, *, numbers: bool = False) -> None:
        self._fractions = numbers
        self._numbers: dict[Any, int] = {}
        self._counts: list[int] = []
        self._kinds = ""

    def encode(self, found: NDArray[Any], codes: Ints, first: int) -> Ints:
        """Return the number of the label of each row; `codes` are positions in `found`.

        `first` is the number of rows before these.
        """
        counts = np.bincount(codes, minlength=len(found))
        if not counts.all():  # some classes have no row here
            found, codes, counts = found[counts > 0], (np.cumsum(counts > 0) - 1)[codes], counts[counts > 0]
        if not (self._fractions and found.dtype.kind == "f" and np.isfinite(found).all()):
            require_classes(found, codes, first)
        self._require_kind(found, codes, first)
        values = found.tolist()
        for code, label in enumerate(values):
            if isinstance(label, float) and abs(label) >= 2**EXACT_BITS:
                row = first + int(np.argmax(codes == code))
                raise LabelError(
                    f"The label at row {row} is about {label:g}. A float of this size may be a rounded integer. "
                    f"Use integers below 2**{EXACT_BITS} as labels, or strings."
                )
        new = [code for code, label in enumerate(values) if label not in self._numbers]
        where = np.empty(len(values), np.int64)
        where[codes[::-1]] = np.arange(len(codes))[::-1]  # the last one written is the first row of each
        for code in sorted(new, key=where.__getitem__):
            self._numbers[values[code]] = len(self._numbers)
            self._counts.append(0)
            if len(self._numbers) > MOST_FRACTIONS and not self._fractions:
                self._require_whole(values[code], first + int(np.argmax(codes == code)))
        numbers = np.array([self._numbers[label] for label in values], np.int64)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            self._counts[number] += count
        return numbers[codes]

    def _require_whole(self, label: Any, row: int) -> None:
        """Raise `LabelError` if one of more than two labels is a float that is not whole."""
        for each in self._numbers:
            if isinstance(each, float) and not each.is_integer():
                raise continuous(label, row)

    def _require_kind(self, found: NDArray[Any], codes: Ints, first: int) -> None:
        kinds = [_kind(label) if found.dtype == object else found.dtype.kind for label in found.tolist()]
        text = (self._kinds or kinds[0])[0] == "U"
        strange = [k for k, kind in enumerate(kinds) if kind not in NUMBERS + "U" or (kind == "U") != text]
        if strange:
            row = first + int(np.argmax(codes == strange[0]))
            before = f", after labels such as {show_value(next(iter(self._numbers)))}" if self._numbers else ""
            raise LabelError(
                f"The label at row {row} is {show_value(found[strange[0]])}{before}. Labels must all be "
                "numbers or all "
                "be strings: correct it, or read the column as strings."
            )
        self._kinds += "".join({*kinds} - {*self._kinds})

    @property
    def _ordered(self) -> list[tuple[Any, int]]:
        return sorted(self._numbers.items())

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, sorted."""
        labels, kinds = [label for label, _ in self._ordered], set(self._kinds)
        if kinds <= {"b"} or kinds <= {"U"}:
            return read_only(np.array(labels))
        if "f" not in kinds:
            whole = [int(label) for label in labels]
            if whole[0] < 0 and whole[-1] >= 2**63:
                raise LabelError(
                    f"No integer type of 64 bits holds both labels {whole[0]} and {whole[-1]}. Use smaller "
                    "integers, or read the column as strings."
                )
            return read_only(np.array(whole, np.uint64 if whole[-1] >= 2**63 else np.int64))
        floats = np.array([float(label) for label in labels])
        rounded = [label for label, number in zip(labels, floats.tolist(), strict=True) if label != number]
        if rounded:
            raise LabelError(f"The label {rounded[0]} stands among floats, which would round it. Use integers.")
        return read_only(floats)

    @property
    def ranks(self) -> Ints:
        """The position of each numbered label among the sorted classes."""
        return np.argsort(np.array([number for _, number in self._ordered], np.int64))

    @property
    def counts(self) -> Ints:
        """The number of rows of each class, in the order of `classes`."""
        return np.array([self._counts[number] for _, number in self._ordered], np.int64)


def _kind(label: Any) -> str:
    kinds = {str: "U", bool: "b", int: "i", float: "f"}
    return next((kind for each, kind in kinds.items() if isinstance(label, each)), "O")


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
            if not isinstance(chunk, Batch):
                raise LabelError("The source has no labels to learn from. Name the column that holds them.")
            codes = self.labels.encode(chunk.classes, chunk.codes, self.n_rows)
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
            yield narrow_indices(CSR(data, indices, np.concatenate([[0], np.cumsum(lengths)]))), codes


def rows_of_block(width: int, dtype: Any, block_bytes: int) -> int:
    """Return the number of dense rows in a block."""
    return max(1, block_bytes // (width * int(np.dtype(dtype).itemsize) + 4))


def row_ends(rows: CSR) -> Ints:
    """Return the bytes that sparse rows take in a block, summed up to each row."""
    return _ends(np.diff(rows.indptr.astype(np.int64)), rows.data.itemsize)


def _ends(lengths: Any, itemsize: int) -> Ints:
    """Return the bytes of sparse rows, summed up to each row, by the number of values that each stores."""
    ends: Ints = np.cumsum(lengths * (itemsize + 4) + 8)
    return ends


def chunks_of(source: Source) -> Iterator[Features]:
    """Yield the chunks of a source; an error of the operating system becomes a `FormatError`."""
    try:
        yield from source.chunks()
    except OSError as error:
        if isinstance(error, InputError):
            raise
        raise FormatError(f"it could not be read: {error.strerror or error}.", file=error.filename) from error


def facts_of(source: Source) -> Facts:
    """Return the recipe, the numbers of rows that were left out and the description of a source."""
    return Facts(source.recipe, source.skipped.count, source.description, source.unlabelled.count)


# Blocks of rows: what all kinds have in common, and those whose rows are in memory.

Change: TypeAlias = Callable[[Rows], Rows]
"""Returns changed rows; it may write to the values of the rows it gets."""


Identity: TypeAlias = str | Callable[[], str] | None


class Blocks(ABC):
    """Labelled rows in blocks, each of which fits into memory.

    Parameters
    ----------
    summary : DataSummary
        Describes all rows.
    identity : str, callable or None
        Tells this data from other data, or returns what does; None takes the fingerprint.

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
        All rows, if they are in memory one after the other.
    in_memory : bool
        Whether the rows are in memory, perhaps among others.
    """

    statistics: Statistics | None = None
    scaling: Any = None
    whole: Batch | None = None
    in_memory = False

    def __init__(self, summary: DataSummary, identity: Identity = None) -> None:
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
    def is_identified(self) -> bool:
        """Whether `identity` is known without reading any row."""
        return isinstance(self._identity, str)

    @property
    def identity(self) -> str:
        """A digest that tells this data from other data."""
        if callable(self._identity):
            self._identity = self._identity()
        return self._identity or self.fingerprint

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of all values, labels and names; reads all rows if it is not yet known."""

    @abstractmethod
    def read(self, block: int) -> Batch:
        """Return one block; its codes and classes are those of the whole data."""

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the given order; a block is valid until the next one is asked for.

        If `change` is given, the rows it returns are yielded instead. Blocks that are not in memory are read
        ahead, and changed in the thread that reads.
        """
        for block in order:
            batch = self.read(int(block))
            yield batch if change is None else replace(batch, rows=change(writable(batch.rows)))

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
    in_memory = True

    def __init__(
        self,
        batch: Batch,
        boundaries: Ints | None = None,
        *,
        facts: Facts = NOTHING,
        identity: Identity = None,
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

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names."""
        return _fingerprint(self, self.whole.codes)


class TakenBlocks(Blocks):
    """Some of the rows of a batch, which are copied when they are read, a block at a time.

    Examples
    --------
    >>> from rosenblatt.rows.batch import as_batch
    >>> blocks = TakenBlocks(as_batch([[0.0], [1.0], [2.0]], ["no", "no", "yes"]), np.array([True, False, True]))
    >>> blocks.read(0).rows.tolist(), blocks.counts.tolist()
    ([[0.0], [2.0]], [1, 1])
    """

    in_memory = True

    def __init__(self, batch: Batch, index: Any, block_bytes: int = BLOCK_BYTES) -> None:
        self._all, self._index = batch, np.arange(batch.n_rows)[index]
        self._codes = batch.codes[self._index]
        if isinstance(batch.rows, CSR):
            lengths = np.diff(batch.rows.indptr.astype(np.int64))[self._index]
            boundaries = _sparse_starts(_ends(lengths, batch.rows.data.itemsize), block_bytes)
            stored = int(lengths.sum())
        else:
            boundaries = _dense_starts(len(self._index), batch.rows, block_bytes)
            stored = len(self._index) * batch.n_features
        shape = len(self._index), batch.n_features, stored
        counts = np.bincount(self._codes, minlength=len(batch.classes))
        super().__init__(DataSummary(*shape, batch.classes, counts, boundaries, batch.names))

    def read(self, block: int) -> Batch:
        """Return a copy of one block."""
        first, last = map(int, self.boundaries[block : block + 2])
        return self._all.take(self._index[first:last])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names."""
        return _fingerprint(self, self._codes)


def _fingerprint(blocks: Blocks, codes: Ints) -> str:
    """Return the digest of rows in memory, whose `codes` are given."""
    _, firsts = np.unique(codes, return_index=True)
    numbers = np.empty(len(blocks.classes), np.int64)  # of each label, in the order of their first rows
    numbers[codes[np.sort(firsts)]] = np.arange(len(firsts))
    return blocks.summary.fingerprint(
        [
            checksum(stored_arrays(narrow_indices(block.rows), numbers[block.codes]))
            for block in blocks.walk(range(blocks.n_blocks))
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
        return _dense_starts(batch.n_rows, rows, block_bytes)
    return _sparse_starts(row_ends(rows), block_bytes)


def _dense_starts(n_rows: int, like: Reals, block_bytes: int) -> Ints:
    """Return where the blocks begin of so many rows that are as wide as those given."""
    step = rows_of_block(like.shape[1], like.dtype, block_bytes)
    return np.array([*range(0, n_rows, step), n_rows])


def _sparse_starts(ends: Ints, block_bytes: int) -> Ints:
    """Return where the blocks begin of sparse rows, by the bytes that they take up to each row."""
    starts = [0]
    while starts[-1] < len(ends):
        first = starts[-1]
        before = int(ends[first - 1]) if first else 0
        starts.append(max(first + 1, int(np.searchsorted(ends, before + block_bytes, side="right"))))
    return np.array(starts)
