"""From a source to blocks: in memory if they fit, otherwise in a cache file beside the source."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.atomic import replacing
from rosenblatt.blocks.block_layout import stored_arrays
from rosenblatt.blocks.builder import BLOCK_BYTES, Builder
from rosenblatt.blocks.cache import CachedBlocks, CacheWriter, StaleError, require_replaceable
from rosenblatt.blocks.memory import Blocks, MemoryBlocks, protected
from rosenblatt.blocks.streamed import StreamedBlocks, type_of
from rosenblatt.blocks.summary import DataSummary, digest
from rosenblatt.columns.options import Options
from rosenblatt.columns.source import ReadAgainError, Source
from rosenblatt.columns.statistics import Statistics
from rosenblatt.data.batch import Batch
from rosenblatt.data.memory import require_memory
from rosenblatt.data.reals import read_only
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.threads import ordered

__all__ = ["MEMORY", "cache_path", "collect", "measure", "read_blocks"]

MEMORY = 1 << 28
SAMPLE, SAMPLES = 1 << 16, 16  # bytes, and places in a file where so many are read to recognise it

_log = logging.getLogger("rosenblatt.blocks")


def read_blocks(
    *places: str | os.PathLike[str], memory: int = MEMORY, cache: str | os.PathLike[str] = "auto", **options: Any
) -> Blocks:
    r"""Read files of any size into blocks of rows, for `Perceptron.fit_blocks`.

    Parameters
    ----------
    *places : str or path
        Files of any format, globs, or ``-`` for standard input; several are read as one data set.
    memory, cache
        See `collect`.
    **options
        How to read them: the attributes of `rosenblatt.columns.options.Options`, such as ``target="label"``.

    Returns
    -------
    Blocks
        The rows, in memory or in a cache beside the first file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from rosenblatt import Perceptron
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "or.csv"
    ...     _ = table.write_text("a,b,either\n0,0,no\n1,0,yes\n0,1,yes\n1,1,yes\n")
    ...     blocks = read_blocks(table, target="either")
    >>> blocks.n_rows, blocks.names
    (4, ('a', 'b'))
    >>> Perceptron(order="cyclic").fit_blocks(blocks).coef_
    array([[2., 2.]])
    """
    from rosenblatt.formats.source import open_source

    source = open_source([os.fspath(place) for place in places], Options(**options))
    return collect(source, memory=memory, cache=cache)


def collect(
    source: Source,
    *,
    memory: int = MEMORY,
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
    memory : int
        The number of bytes up to which all rows stay in memory, and no file is written.
    cache : "auto", "no" or path
        Where a cache is written if one is needed: beside the source (or in a temporary file, if the source is
        standard input or its folder cannot be written to), nowhere, or at a path. An existing cache is used if it
        was made from this source with the same options, and replaced if not. A path that names another file is
        refused. A full disk raises `StorageError`.
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
    memory: int,
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
    beside = None if identity is None else cache_path(source)
    path = beside if cache == "auto" else None if cache == "no" else Path(cache)
    if path is not None and cache != "auto":
        require_replaceable(path)
    if path is not None and identity is not None and os.path.lexists(path):
        try:
            found = CachedBlocks(path, stamp, identity)
        except StaleError as problem:
            log(f"The cache {path} is written again: {problem.why}.")
        else:
            log(f"The rows come from the cache {path}.")
            return found
    held_bytes = memory
    if identity is not None and (path is not None or passes == 1):
        known = source.known()
        dtype = None if known is None else known.dtype or type_of(source)
        if known is not None and dtype is not None and known.n_rows * known.n_features * dtype.itemsize > memory:
            where = None if passes == 1 else path
            if not statistics:
                if where is not None:
                    log(f"The first pass writes the cache {where}.")
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
        where = path or _temporary()
        log(f"The rows are more than {memory:,} bytes, and go into the cache {where}.")
        try:
            made = _write_cache(where, stamp, held, batches, builder)
            cached = CachedBlocks(where, stamp, identity, made)
        except BaseException:
            if path is None:
                _remove(where)
            raise
        if path is None:
            weakref.finalize(cached, _remove, where)
        return cached
    return _in_memory(held, builder, identity)


def measure(blocks: Blocks) -> Statistics:
    """Return the statistics of the features: those gathered on the way, or by reading all blocks."""
    if blocks.statistics is not None:
        return blocks.statistics
    statistics = Statistics()
    for batch in blocks.walk(range(blocks.n_blocks)):
        statistics.add(batch.rows, batch.n_rows, batch.n_features)
    return statistics


def cache_path(source: Source) -> Path | None:
    """Return the place of a cache beside the first file of a source, or None if it cannot be written there."""
    path = Path(source.files[0]) if source.files else None
    if path is None or not path.is_file() or not os.access(path.parent, os.W_OK):
        return None
    return path.with_name(f".{path.name}.rosenblatt-cache")


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
        last = max(status.st_size - SAMPLE, 0)
        for place in sorted({last * k // (SAMPLES - 1) for k in range(SAMPLES)}):
            file.seek(place)
            sampled.update(file.read(SAMPLE))
    stamp = [str(path.resolve()), status.st_size, status.st_mtime_ns, sampled.hexdigest()]
    return stamp, [status.st_ino, status.st_ctime_ns]


def _temporary() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="rosenblatt-", suffix=".cache")
    os.close(descriptor)
    return Path(name)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _write_cache(
    path: Path, stamp: dict[str, Any], held: list[Batch], more: Iterator[Batch], builder: Builder
) -> os.stat_result:
    """Write the blocks held in memory, releasing each, and all that follow; return the status of the file."""
    with replacing(path, forced=False, private=True) as file:
        writer = CacheWriter(file, stamp)
        held.reverse()
        while held:
            writer.add(held.pop())
        for batch in more:
            writer.add(batch)
        return writer.finish(builder.summary(), builder.labels.ranks, builder.statistics)


def _in_memory(held: list[Batch], builder: Builder, identity: str | None) -> MemoryBlocks:
    n_rows, n_features, _, classes, _, boundaries, names, facts = summary = builder.summary()
    codes = read_only(builder.labels.ranks[np.concatenate([batch.codes for batch in held])])
    rows = protected(_stacked(held, summary))
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

    def copy(part: tuple[Batch, int, int]) -> None:
        batch, at, row = part
        values[at : at + batch.stored] = batch.values
        if isinstance(batch.rows, CSR):
            indices[at : at + batch.stored] = batch.rows.indices
            indptr[row + 1 : row + 1 + batch.n_rows] = batch.rows.indptr[1:].astype(index) + index.type(at)

    for _ in ordered(copy, placed()):
        pass
    return CSR(values, indices, indptr) if types else values.reshape(n_rows, n_features)
