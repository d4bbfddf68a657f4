"""From a source to blocks: in memory if they fit, otherwise in a cache file.

Blocks whose rows are filled, scaled and weighted as they are read.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from rosenblatt.atomic import replacing, writing_unnamed
from rosenblatt.exceptions import FormatError, LabelError, ParameterError, Remedy
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import read_only
from rosenblatt.rows.labels import list_classes
from rosenblatt.rows.memory import format_bytes, require_memory, return_freed_memory, usual_memory
from rosenblatt.tables.blocks import (
    BLOCK_BYTES,
    Blocks,
    Builder,
    Change,
    Identity,
    MemoryBlocks,
    checksum,
    chunks_of,
    facts_of,
    protect_rows,
    rows_of_block,
    stored_arrays,
)
from rosenblatt.tables.cache import LIVE_ITEMS, CachedBlocks, CacheWriter, StaleError, ahead, require_replaceable
from rosenblatt.tables.file_source import Known, ReadAgainError, Source
from rosenblatt.tables.recipe import Recipe, TableRecipe
from rosenblatt.tables.scaling import (
    DataSummary,
    Facts,
    Filling,
    Scaling,
    Statistics,
    Transformation,
    Weighting,
    digest,
    mark_missing,
    writable,
)
from rosenblatt.threads import ordered
from rosenblatt.typing import Ints

__all__ = [
    "MarkedBlocks",
    "ScaledBlocks",
    "StreamedBlocks",
    "cache_folder",
    "collect",
    "fingerprint_of",
    "mark_gaps",
    "measure",
    "transform_blocks",
    "weigh",
]


# Where a cache is written.


class CachePlace(NamedTuple):
    """A file that stays, or a folder for a file without a name, which is gone when nothing reads it any more."""

    path: Path
    stays: bool

    def __str__(self) -> str:
        if self.stays:
            return f"the cache {self.path}"
        home = Path.home()
        shown = Path("~") / self.path.relative_to(home) if self.path.is_relative_to(home) else self.path
        return f"a cache in {shown} until training ends"

    def writing(self) -> AbstractContextManager[BinaryIO]:
        """Open a file for the cache."""
        return replacing(self.path, forced=False, private=True) if self.stays else writing_unnamed(self.path)


def cache_folder() -> Path:
    """Return the folder of this user for caches of this package, or that of temporary files if there is none."""
    usual = {"darwin": "~/Library/Caches", "win32": os.environ.get("LOCALAPPDATA", "~")}
    place = os.environ.get("XDG_CACHE_HOME") or usual.get(sys.platform, "~/.cache")
    folder = Path(place).expanduser() / "rosenblatt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return Path(tempfile.gettempdir())
    return folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())


# Blocks on which training begins while their source is read for the first time.


class StreamedBlocks(Blocks):
    """Dense blocks of a source whose classes and size are known before it is read.

    As long as there is no cache, blocks in stored order come from the source, read by another thread. The first
    walk to the end writes the cache, and all later walks read it. A walk in another order writes the cache first.

    Parameters
    ----------
    source, known, dtype
        The rows, what is known about them, and the type of their values.
    place : CachePlace or None
        The place of the cache; None writes no cache.
    stamp, identity, block_bytes
        See `CachedBlocks` and `Builder`.
    """

    def __init__(
        self,
        source: Source,
        known: Known,
        dtype: np.dtype[Any],
        place: CachePlace | None,
        stamp: Mapping[str, Any],
        identity: str,
        block_bytes: int,
    ) -> None:
        self._source, self._dtype, self._place, self._stamp = source, dtype, place, stamp
        self._block_bytes = block_bytes
        n_rows, n_features, classes = known.n_rows, known.n_features, np.unique(known.classes)
        starts = np.array([*range(0, n_rows, rows_of_block(n_features, dtype, block_bytes)), n_rows])
        shape, counts = (n_rows, n_features, n_rows * n_features), np.zeros(len(classes), np.int64)
        super().__init__(DataSummary(*shape, classes, counts, starts, source.names), identity)
        self.cached: CachedBlocks | None = None
        self._checksums: list[str] | None = None

    @property
    def counts(self) -> Ints:
        """The number of rows of each class; reads all rows if they have not been read."""
        self._read_all()
        return self.summary.counts

    @property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names; reads all rows if they have not been read."""
        return self.summary.fingerprint(self._read_all())

    @property
    def facts(self) -> Facts:
        """The facts about the source that were found in the rows read so far."""
        return facts_of(self._source) if self.cached is None else self.cached.facts

    def read(self, block: int) -> Batch:
        """Return one block."""
        return next(iter(self.walk([block])))

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the given order: from the cache or, in stored order, from the source."""
        blocks = [int(block) for block in order]
        stored_order = blocks == list(range(blocks[0], blocks[-1] + 1))
        if not stored_order and self._place is not None:
            self._read_all()
        if self.cached is not None:
            return self.cached.walk(blocks, change)
        if not stored_order:
            told = (
                "Blocks without a cache can only be visited in stored order. Allow a cache for the data, or set "
            )
            raise ParameterError(told + Remedy("order", "cyclic") + ".", parameters=("cache", "order"))
        return ahead(self._stream(blocks[0], blocks[-1], change))

    def _read_all(self) -> list[str]:
        """Read all rows unless they were read before, and return the checksums of the blocks."""
        if self._checksums is None:
            for _ in self.walk(range(self.n_blocks)):
                pass
        assert self._checksums is not None, "the source was read to its end"
        return self._checksums

    def _stream(self, first: int, last: int, change: Change | None) -> Generator[Batch, None, None]:
        """Yield blocks from the source, which is read to its end only if the last block is wanted."""
        builder = Builder(self._source, self._block_bytes, buffers=LIVE_ITEMS)
        to_the_end = last == self.n_blocks - 1
        with ExitStack() as stack:
            writer = None
            if self._place is not None and to_the_end:
                writer = CacheWriter(stack.enter_context(self._place.writing()), self._stamp)
            checksums: list[str] = []
            for number, batch in enumerate(builder.blocks()):
                if writer is not None:
                    checksums.append(writer.add(batch))
                else:
                    checksums.append(checksum(stored_arrays(batch.rows, batch.codes)))
                self._require_known(batch.values.dtype, builder)
                if first <= number <= last:
                    rows = batch.rows if change is None else change(batch.rows)
                    yield self._batch(rows, self._ranks(builder)[batch.codes])
                if number == last and not to_the_end:
                    return
            self._require_known(self._dtype, builder, len(checksums))
            self.summary = builder.summary()._replace(classes=self.classes)
            if writer is not None and self._place is not None:
                made = writer.finish(self.summary, builder.labels.ranks, None)
                self.cached = CachedBlocks(self._place.path, self._stamp, self._identity, made)
        self._checksums = checksums

    def _ranks(self, builder: Builder) -> Ints:
        """Return the position in `classes` of each label seen so far, by its number."""
        met = builder.labels.classes
        at = np.minimum(np.searchsorted(self.classes, met), len(self.classes) - 1)
        if not np.array_equal(self.classes[at], met):
            raise LabelError(
                f"The labels are {list_classes(met)}, but {list_classes(self.classes)} were expected. "
                "Check whether the source has changed."
            )
        return at[builder.labels.ranks]

    def _require_known(self, dtype: Any, builder: Builder, n_blocks: int | None = None) -> None:
        """Raise an error if the source, read to its end if `n_blocks` is given, is not what it said it was."""
        n_rows, n_features, n_classes = self.n_rows, self.n_features, len(self.classes)
        same = dtype == self._dtype and builder.n_features == n_features and builder.n_rows <= n_rows
        if n_blocks is not None:
            found = builder.n_rows, len(builder.labels.classes), n_blocks
            same = same and found == (n_rows, n_classes, self.n_blocks)
        if not same:
            raise FormatError(
                f"The source does not have the {n_rows:,} rows of {n_features:,} features and {n_classes} classes "
                "that were found in it before. Has it changed?",
                file=next(iter(self._source.files), None),
            )


def type_of(source: Source) -> np.dtype[Any] | None:
    """Return the type of the values in the first chunk of a source; None if its rows are sparse.

    Another thread reads the chunk, as it will read all chunks, so that they can reuse its memory.
    """

    def first() -> Generator[np.dtype[Any] | None, None, None]:
        for chunk in chunks_of(source):
            yield None if isinstance(chunk.rows, CSR) else chunk.rows.dtype
            return

    return next(ahead(first()), None)


RELEASED_BLOCKS = 2  # that are copied before their memory goes back to the system
SAMPLE_BYTES, SAMPLE_PLACES = 1 << 16, 16  # bytes, and places in a file where so many are read to recognise it

_log = logging.getLogger("rosenblatt.tables")


def collect(
    source: Source,
    *,
    memory: int | None = None,
    cache: str | os.PathLike[str] = "auto",
    passes: int | None = None,
    statistics: bool = False,
    numbers: bool = False,
    block_bytes: int = BLOCK_BYTES,
    log: Callable[[str], None] = _log.info,
) -> Blocks:
    """Read a source once, and return its rows in blocks.

    Parameters
    ----------
    source : Source
        The rows. If its classes and its size are known beforehand and it does not fit into memory, it is not read
        here: the first pass of training reads it.
    memory : int or None
        The number of bytes up to which all rows stay in memory, and no file is written. None takes a quarter of
        the free memory, within the limits of a container.
    cache : "auto", "no" or path
        Where a cache is written if one is needed: in `cache_folder`, from which it is gone when the blocks are no
        longer used, nowhere, or at a path (in a folder, under the name of the first file), where it stays. An
        existing cache is used if it was made from this source with the same options, and replaced if not. A path
        that names another file is refused. A disk that is full, or almost, raises `StorageError`.
    passes : int or None
        The largest number of passes to come, if it is known: a single pass needs no cache.
    statistics : bool
        Whether to gather the mean and the variance of each feature on the way.
    numbers : bool
        Whether labels may be any numbers, for a regression.
    block_bytes : int
        The size of a block.
    log : callable
        Gets a sentence about what is done with the cache.

    Returns
    -------
    Blocks
        `MemoryBlocks`, `CachedBlocks` or `StreamedBlocks`.
    """
    how: dict[str, Any] = {"memory": memory, "cache": cache, "passes": passes, "statistics": statistics}
    how["numbers"] = numbers
    try:
        return _collect(source, **how, block_bytes=block_bytes, log=log)
    except ReadAgainError as found:
        log(f"Reading begins again: {found}")
        return _collect(source, **how, block_bytes=block_bytes, log=log)


def _collect(
    source: Source,
    *,
    memory: int | None,
    cache: str | os.PathLike[str],
    passes: int | None,
    statistics: bool,
    numbers: bool,
    block_bytes: int,
    log: Callable[[str], None],
) -> Blocks:
    stamp = stamp_of(source, block_bytes)
    # A fit may go on after its data were moved or restored; only a cache must be of the very same file.
    identity = None if stamp["files"] is None else digest({**stamp, "changes": None})
    most, share = (usual_memory(), ", a quarter of the free memory,") if memory is None else (memory, "")
    path = None if cache in ("auto", "no") else _named_cache(Path(cache), source)
    if path is not None:
        require_replaceable(path)
    if path is not None and identity is not None and os.path.lexists(path):
        try:
            found = CachedBlocks(path, stamp, identity)
        except StaleError as problem:
            log(f"The cache {path} is written again: {problem.why}.")
        else:
            log(f"The rows come from the cache {path}.")
            source.close()
            return found
    held_bytes = most
    if identity is not None and (cache != "no" or passes == 1):
        known = source.known()
        dtype = None if known is None else known.dtype or type_of(source)
        if known is not None and dtype is not None and known.n_rows * known.n_features * dtype.itemsize > most:
            where = None if passes == 1 else _place_of(path)
            if not statistics:
                if where is not None:
                    log(f"The rows take more than {format_bytes(most)}{share} and the first pass writes {where}.")
                return StreamedBlocks(source, known, dtype, where, stamp, identity, block_bytes)
            held_bytes = 0  # no row waits in memory until it is clear that a cache is needed
    builder = Builder(source, block_bytes, Statistics() if statistics else None, numbers=numbers)
    batches = builder.blocks()
    held, total = [], 0
    for batch in batches:
        held.append(batch)
        n_bytes = sum(array.nbytes for array in stored_arrays(batch.rows, batch.codes))
        total += n_bytes
        if total <= held_bytes:
            continue
        if cache == "no":
            require_memory(f"Another block, after {total:,} bytes", 4 * n_bytes, "Allow a cache for the data.")
            continue
        where = _place_of(path)
        log(f"The rows take more than {format_bytes(most)}{share} and go into {where}.")
        return _write_cache(where, stamp, identity, held, batches, builder)
    return _in_memory(held, builder, identity)


def measure(blocks: Blocks) -> Statistics:
    """Return the statistics of the features: those gathered on the way, or by reading all blocks."""
    if blocks.statistics is not None:
        return blocks.statistics
    statistics = Statistics()
    for batch in blocks.walk(range(blocks.n_blocks)):
        statistics.add(batch.rows, batch.n_rows, batch.n_features)
    return statistics


def weigh(blocks: Blocks, recipe: Recipe | None) -> Weighting | None:
    """Return how the words of blocks are weighted, by how many of their rows have each; reads all blocks."""
    weighting = Weighting.of(recipe)
    if weighting is not None:
        for batch in blocks.walk(range(blocks.n_blocks)):
            weighting = weighting.add(batch.rows, batch.n_rows)
    return weighting


def fingerprint_of(source: Source, *, numbers: bool = False) -> str:
    """Read a source, a block at a time, and return the fingerprint that its blocks would have."""
    builder = Builder(source, BLOCK_BYTES, buffers=1, numbers=numbers)
    checksums = [checksum(stored_arrays(batch.rows, batch.codes)) for batch in builder.blocks()]
    return builder.summary().fingerprint(checksums)


def _named_cache(path: Path, source: Source) -> Path:
    """Return the file of a cache whose place was given; in a folder it has the name of the first file."""
    name = Path(source.files[0]).name if source.files else "rows"
    return path / f"{name}.rosenblatt-cache" if path.is_dir() else path


def _place_of(path: Path | None) -> CachePlace:
    return CachePlace(cache_folder(), stays=False) if path is None else CachePlace(path, stays=True)


def stamp_of(source: Source, block_bytes: int) -> dict[str, Any]:
    """Return what distinguishes the current content of a source, and how it is read, from any other.

    Of each file these are its name, size, time, and a digest of bytes at its start, its end and in between; its
    changes are its inode and the time of its last change, which no program can set. No files mean that a cache of
    the source cannot be used again.
    """
    how = {} if source.options is None else asdict(source.options)
    how.pop("chunk_bytes", None)  # the size of chunks does not change blocks
    files = [Path(file) for file in source.files]
    again = bool(how) and bool(files) and all(file.is_file() for file in files)
    stamps = [_stamp_of_file(file) for file in files] if again else []
    return {
        "files": [stamp for stamp, _ in stamps] or None,
        "changes": [changes for _, changes in stamps],
        "options": how,
        "block_bytes": block_bytes,
    }


def _stamp_of_file(path: Path) -> tuple[list[Any], list[int]]:
    sampled = hashlib.sha256()
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        last = max(status.st_size - SAMPLE_BYTES, 0)
        for place in sorted({last * k // (SAMPLE_PLACES - 1) for k in range(SAMPLE_PLACES)}):
            file.seek(place)
            sampled.update(file.read(SAMPLE_BYTES))
    stamp = [str(path.resolve()), status.st_size, status.st_mtime_ns, sampled.hexdigest()]
    return stamp, [status.st_ino, status.st_ctime_ns]


def _write_cache(
    place: CachePlace,
    stamp: dict[str, Any],
    identity: str | None,
    held: list[Batch],
    more: Iterator[Batch],
    builder: Builder,
) -> CachedBlocks:
    """Write the blocks held in memory, releasing each, and all that follow; return them from the cache."""
    with place.writing() as file:
        writer = CacheWriter(file, stamp)
        held.reverse()
        while held:
            writer.add(held.pop())
        for batch in more:
            writer.add(batch)
        made = writer.finish(builder.summary(), builder.labels.ranks, builder.statistics)
        return CachedBlocks(place.path, stamp, identity, made)


def _in_memory(held: list[Batch], builder: Builder, identity: str | None) -> MemoryBlocks:
    n_rows, n_features, _, classes, _, boundaries, names, facts = summary = builder.summary()
    codes = read_only(builder.labels.ranks[np.concatenate([batch.codes for batch in held])])
    rows = protect_rows(_stacked(held, summary))
    batch = Batch(rows, n_rows, n_features, names, codes=codes, classes=classes)
    return MemoryBlocks(batch, boundaries, facts=facts, identity=identity, statistics=builder.statistics)


def _stacked(held: list[Batch], summary: DataSummary) -> Rows:
    """Return the rows of all blocks in one piece, releasing each block once it is copied."""
    if len(held) == 1:
        return held.pop().rows
    n_rows, n_features, stored, *_ = summary
    values = np.empty(stored, np.result_type(*(batch.values.dtype for batch in held)))
    types = [batch.rows.indices.dtype for batch in held if isinstance(batch.rows, CSR)]
    index: Any = np.result_type(*types, np.uint64 if stored > np.iinfo(np.int32).max else np.uint32)
    indices, indptr = np.empty(stored if types else 0, index), np.zeros(n_rows + 1, index)

    def placed() -> Iterator[tuple[Batch, int, int]]:
        at = row = 0
        held.reverse()
        while held:
            batch = held.pop()
            yield batch, at, row
            at, row = at + batch.stored, row + batch.n_rows
            if len(held) % RELEASED_BLOCKS == 0:
                return_freed_memory()

    def copy(part: tuple[Batch, int, int]) -> None:
        batch, at, row = part
        values[at : at + batch.stored] = batch.values
        if isinstance(batch.rows, CSR):
            indices[at : at + batch.stored] = batch.rows.indices
            indptr[row + 1 : row + 1 + batch.n_rows] = batch.rows.indptr[1:].astype(index) + index.type(at)

    for _ in ordered(copy, placed()):
        pass
    return CSR(values, indices, indptr) if types else values.reshape(n_rows, n_features)


# Blocks whose rows are filled, scaled and weighted as they are read.


def transform_blocks(
    blocks: Blocks,
    filling: Filling | None = None,
    scaling: Scaling | None = None,
    weighting: Weighting | None = None,
) -> Blocks:
    """Return blocks without missing values, scaled, and with weighted words.

    Blocks in memory are copied once, a block at a time, so that nothing is held twice besides.

    Their `scaling` is what the weights of a model trained on them must be folded by, so that they fit unscaled
    features: `Perceptron.fit_blocks` does that.
    """
    how = Transformation(filling, scaling, weighting)
    how.require_width(blocks.n_features)
    if not any(how.steps) and (blocks.whole is not None or not blocks.in_memory):
        return blocks
    if not blocks.in_memory:
        return ScaledBlocks(blocks, how)
    known: dict[str, Any] = {"facts": blocks.facts, "identity": _identity(blocks, how)}
    unscaled = None if scaling is None else lambda: _gathered(blocks, how._replace(scaling=None))
    return MemoryBlocks(_gathered(blocks, how), blocks.boundaries, scaling=scaling, unscaled=unscaled, **known)


def _gathered(blocks: Blocks, how: Transformation) -> Batch:
    """Return all rows of blocks in memory one after the other, transformed."""
    whole = blocks.whole
    if whole is not None and not (isinstance(whole.rows, CSR) and how.centred):
        changed = how.changes(whole.rows)
        return replace(whole, rows=protect_rows(how.into(writable(whole.rows)))) if changed else whole
    # A block at a time: sparse rows that are centred become other arrays, and those that are taken are copies.
    codes: Ints = np.empty(blocks.n_rows, np.int64)
    parts = blocks.walk(range(blocks.n_blocks), how.into if any(how.steps) else None)
    return_freed_memory()
    shape = blocks.n_rows, blocks.n_features, blocks.names
    most = min(blocks.stored + blocks.n_rows * how.centred, blocks.n_rows * blocks.n_features)
    rows = protect_rows(_one_piece(parts, codes, most))
    weight = None if whole is None else whole.weight
    return Batch(rows, *shape, codes=read_only(codes), classes=blocks.classes, weight=weight)


def _one_piece(parts: Iterable[Batch], codes: Ints, most: int) -> Rows:
    """Return the rows of parts in one piece, which store at most so many values, and fill `codes`."""
    at, row, sparse = 0, 0, False
    index: Any = np.uint64 if most > np.iinfo(np.int32).max else np.uint32
    values, indices, indptr = np.empty(0), np.empty(0, index), np.zeros(len(codes) + 1, index)
    for part in parts:
        stored = slice(at, at + part.stored)
        if not row:  # pages of memory that are never written to take none
            values, sparse = np.empty(most, part.values.dtype), isinstance(part.rows, CSR)
            indices = np.empty(most if sparse else 0, index)
        values[stored], codes[row : row + part.n_rows] = part.values, part.codes
        if isinstance(part.rows, CSR):
            indices[stored] = part.rows.indices
            indptr[row + 1 : row + 1 + part.n_rows] = part.rows.indptr[1:].astype(index) + index(at)
        at, row = stored.stop, row + part.n_rows
    values.resize(at, refcheck=False)
    if not sparse:
        return values.reshape(len(codes), -1)
    indices.resize(at, refcheck=False)
    return CSR(values, indices, indptr)


def mark_gaps(blocks: Blocks) -> tuple[Blocks, dict[str, int]]:
    """Return blocks with marks of missing numbers, if their recipe asks for them, and the gaps of each column.

    The recipe of the new blocks has the marks, so that other rows are read with them.
    """
    recipe = blocks.facts.recipe
    if not isinstance(recipe, TableRecipe) or recipe.missing != "indicator" or not recipe.n_numbers:
        return blocks, {}
    if recipe.indicators:  # that of a trained model, by which the rows were marked when they were read
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

    def chunks(self) -> Iterator[Batch]:
        """Yield the blocks, one after the other."""
        return self._blocks.walk(range(self._blocks.n_blocks))


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
        batch = self._blocks.read(block)
        return replace(batch, rows=protect_rows(self._how.into(writable(batch.rows))))

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the order given, reading ahead."""
        how = self._how.into
        return self._blocks.walk(order, how if change is None else lambda rows: change(how(rows)))


def _identity(blocks: Blocks, how: Transformation) -> Identity:
    """Return what tells transformed rows from others; where that takes a reading of all rows, when asked for."""

    def told() -> str:
        return digest([blocks.identity, *how.figures])

    return told() if blocks.is_identified else told
