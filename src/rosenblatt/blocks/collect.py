"""From a source to blocks: in memory where they fit, in a cache file beside the source where they do not."""

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

from rosenblatt.blocks.builder import BLOCK_BYTES, Builder
from rosenblatt.blocks.cache import CachedBlocks, CacheWriter, StaleError
from rosenblatt.blocks.memory import Blocks, MemoryBlocks, Table
from rosenblatt.blocks.raw import Raw, protected
from rosenblatt.blocks.streamed import Source, StreamedBlocks, chunks_of, digest, facts_of, type_of
from rosenblatt.columns.options import Options
from rosenblatt.columns.statistics import Statistics
from rosenblatt.data.batch import Batch
from rosenblatt.data.memory import require_memory
from rosenblatt.data.reals import read_only
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.typing import Ints

__all__ = ["MEMORY", "cache_path", "collect", "measure", "read_blocks"]

MEMORY = 1 << 28
SAMPLE, SAMPLES = 1 << 16, 16  # bytes read of a file at so many places, to know it again

Tell = Callable[[str], None]

_log = logging.getLogger("rosenblatt.blocks")


def read_blocks(
    *places: str | os.PathLike[str], memory: int = MEMORY, cache: str | os.PathLike[str] = "auto", **options: Any
) -> Blocks:
    r"""Read files of any size into blocks of rows, for `Perceptron.fit_blocks`.

    Parameters
    ----------
    *places : str or path
        Files of any format, globs, or ``-`` for standard input; several are one set of rows.
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

    return collect(
        open_source([os.fspath(place) for place in places], Options(**options)), memory=memory, cache=cache
    )


def collect(
    source: Source,
    *,
    memory: int = MEMORY,
    cache: str | os.PathLike[str] = "auto",
    passes: int | None = None,
    statistics: bool = False,
    options: Options | None = None,
    block_bytes: int = BLOCK_BYTES,
    tell: Tell | None = None,
) -> Blocks:
    """Read a source once, and return its rows in blocks.

    Parameters
    ----------
    source : Source
        See `rosenblatt.formats`. Where it knows its classes and its size beforehand, and does not fit into memory,
        it is not read yet: the first pass of training does that.
    memory : int
        Up to so many bytes everything stays in memory, and no file is written.
    cache : "auto", "no" or path
        Where a cache goes that is needed: beside the source (in a temporary file, if that is standard input or its
        folder may not be written to), nowhere, or there. A cache that is there already is used if it is of this
        source, read in this way, and made anew if not. A full disk is a `StorageError`.
    passes : int or None
        The most passes that are to come, if that is known: for a single one no cache is written.
    statistics : bool
        Whether the mean and the variance of each feature will be asked for: they are gathered on the way.
    options : Options or None
        How the source is read; by default its own attribute of that name. Without either, a cache cannot tell
        whether it is of use another time, and is a temporary file.
    block_bytes : int
        The size of a block.
    tell : callable or None
        Told in words what is done about the cache; None logs it.

    Returns
    -------
    Blocks
        `MemoryBlocks`, `CachedBlocks` or `StreamedBlocks`.
    """
    tell = _log.info if tell is None else tell
    stamp = stamp_of(source, options or getattr(source, "options", None), block_bytes)
    identity = None if stamp["files"] is None else digest(stamp)
    beside = cache_path(source) if identity is not None else None
    path = beside if cache == "auto" else None if cache == "no" else Path(cache)
    if path is not None and identity is not None and path.exists():
        try:
            found = CachedBlocks(path, stamp, identity)
        except StaleError as problem:
            tell(f"The cache {path} is made anew: {problem}.")
        else:
            tell(f"The rows come from the cache {path}.")
            return found
    if identity is not None and not statistics and (path is not None or passes == 1):
        known: Any = source.known() if hasattr(source, "known") else None
        dtype = None if known is None else getattr(known, "dtype", None) or type_of(source)
        if dtype is not None and known.n_rows * known.n_features * dtype.itemsize > memory:
            where = None if passes == 1 else path
            if where is not None:
                tell(f"The first pass writes the cache {where}.")
            return StreamedBlocks(source, dtype, known, where, stamp, identity, block_bytes)
    builder = Builder(block_bytes, Statistics() if statistics else None)
    raws = builder.blocks(chunks_of(source))
    held, total = [], 0
    for raw in raws:
        held.append(raw)
        total += raw.n_bytes
        if total <= memory:
            continue
        if cache != "no":
            where = _temporary() if path is None else path
            tell(f"The rows are more than {memory:,} bytes, and go into the cache {where}.")
            return _into_cache(where, held, raws, builder, source, stamp, identity, temporary=path is None)
        require_memory(f"Another block, after {total:,} bytes", 4 * raw.n_bytes, "Allow a cache for the data.")
    return _in_memory(held, builder, source, identity)


def measure(blocks: Blocks) -> Statistics:
    """Return the statistics of features: those gathered on the way, or by reading all blocks."""
    held: Statistics | None = getattr(blocks, "statistics", None)
    if held is not None:
        return held
    statistics = Statistics()
    for batch in blocks.walk(range(len(blocks.boundaries) - 1)):
        statistics.add(batch.rows, batch.n_rows, batch.n_features)
    return statistics


def cache_path(source: Source) -> Path | None:
    """Return where the cache of a source goes: beside its first file, if there is one, and it may."""
    files = getattr(source, "files", ())
    if not files or not Path(files[0]).is_file():
        return None
    path = Path(files[0])
    return path.with_name(f".{path.name}.rosenblatt-cache") if os.access(path.parent, os.W_OK) else None


def stamp_of(source: Source, options: Options | None, block_bytes: int) -> dict[str, Any]:
    """Return what tells a source as it is now from any other, and from itself read in another way.

    Of each file that is its name, size, time, and a digest of bytes from its beginning, its end and in between.
    """
    files = getattr(source, "files", ())
    usable = options is not None and bool(files) and all(Path(file).is_file() for file in files)
    how = {} if options is None else asdict(options)
    how.pop("chunk_bytes", None)  # blocks are the same whatever chunks they came in
    stamps = [_stamp_of_file(Path(file)) for file in files] if usable else None
    return {"files": stamps, "options": how, "block_bytes": block_bytes}


def _stamp_of_file(path: Path) -> list[Any]:
    sampled = hashlib.sha256()
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        last = max(status.st_size - SAMPLE, 0)
        for place in sorted({last * k // (SAMPLES - 1) for k in range(SAMPLES)}):
            file.seek(place)
            sampled.update(file.read(SAMPLE))
    return [str(path.resolve()), status.st_size, status.st_mtime_ns, sampled.hexdigest()]


def _temporary() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="rosenblatt-", suffix=".cache")
    os.close(descriptor)
    return Path(name)


def _into_cache(
    path: Path,
    held: list[Raw],
    more: Iterator[Raw],
    builder: Builder,
    source: Source,
    stamp: dict[str, Any],
    identity: str | None,
    *,
    temporary: bool,
) -> CachedBlocks:
    try:
        with CacheWriter(path, stamp) as writer:
            held.reverse()
            while held:
                writer.add(held.pop())
            for raw in more:
                writer.add(raw)
            writer.finish(
                _table(builder, source, np.zeros(1, np.int64), 0), builder.labels.ranks, builder.statistics
            )
        cached = CachedBlocks(path, stamp, identity or "")
    except BaseException:
        if temporary:
            path.unlink(missing_ok=True)
        raise
    if identity is None:
        cached.identity = cached.fingerprint
    if temporary:
        weakref.finalize(cached, _remove, path)
    return cached


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _table(builder: Builder, source: Source, boundaries: Ints, stored: int) -> Table:
    labels, names = builder.labels, getattr(source, "names", None)
    shape = builder.n_rows, builder.n_features, stored
    names = None if names is None else tuple(names)
    return Table(*shape, labels.classes, labels.counts, boundaries, names, facts_of(source))


def _in_memory(held: list[Raw], builder: Builder, source: Source, identity: str | None) -> MemoryBlocks:
    """Put blocks under each other, letting go of each as soon as it is copied."""
    boundaries = np.concatenate([[0], np.cumsum([len(raw.codes) for raw in held])]).astype(np.int64)
    table = _table(builder, source, boundaries, sum(raw.stored for raw in held))
    codes = builder.labels.ranks[np.concatenate([raw.codes for raw in held])]
    rows = _under_each_other(held, table)
    batch = Batch(rows, table.n_rows, table.n_features, table.names, codes=read_only(codes), classes=table.classes)
    return MemoryBlocks(batch, boundaries, facts=table.facts, identity=identity, statistics=builder.statistics)


def _under_each_other(held: list[Raw], table: Table) -> Rows:
    sparse = [raw.rows for raw in held if isinstance(raw.rows, CSR)]
    if len(held) == 1:
        return protected(held.pop().rows)
    if sparse:
        dtype = np.result_type(*(rows.data for rows in sparse))
        index = np.result_type(*(rows.indices for rows in sparse))
        if table.stored > np.iinfo(np.int32).max:
            index = np.dtype(np.uint64)
        data, indices = np.empty(table.stored, dtype), np.empty(table.stored, index)
        indptr = np.zeros(table.n_rows + 1, index)
        del sparse
        at = row = 0
        held.reverse()
        while held:
            part: Any = held.pop().rows
            n, count = len(part.indptr) - 1, part.data.size
            data[at : at + count], indices[at : at + count] = part.data, part.indices
            indptr[row + 1 : row + 1 + n] = part.indptr[1:].astype(index) + index.type(at)
            at, row = at + count, row + n
        return protected(CSR(data, indices, indptr))
    dense = np.empty((table.n_rows, table.n_features), np.result_type(*(raw.rows for raw in held)))
    row = 0
    held.reverse()
    while held:
        part = held.pop().rows
        dense[row : row + len(part)] = part
        row += len(part)
    return read_only(dense)
