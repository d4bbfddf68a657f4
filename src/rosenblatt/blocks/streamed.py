"""Blocks that are trained on while the source is read for the first time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.blocks.builder import Builder, rows_of_block
from rosenblatt.blocks.cache import CachedBlocks, CacheWriter
from rosenblatt.blocks.memory import NOTHING, Change, Table, Tabled, fingerprint
from rosenblatt.blocks.prefetch import LIVE, ahead
from rosenblatt.blocks.raw import checksum
from rosenblatt.data.batch import Batch
from rosenblatt.data.chunk import Chunk
from rosenblatt.data.labels import listed
from rosenblatt.exceptions import FormatError, InputError, LabelError, ParameterError
from rosenblatt.loops.layout import CSR
from rosenblatt.typing import Ints

__all__ = ["Source", "StreamedBlocks"]


class Source(Protocol):
    """What is needed of a reader: its chunks, from the beginning each time they are asked for."""

    def chunks(self) -> Iterator[Chunk]:
        """Yield consecutive rows."""


def chunks_of(source: Source) -> Iterator[Chunk]:
    """Yield the chunks of a source; a failing disk is told of as the source's."""
    try:
        yield from source.chunks()
    except OSError as error:
        if isinstance(error, InputError):
            raise
        raise FormatError(f"it could not be read: {error.strerror or error}.", file=error.filename) from error


def facts_of(source: Source) -> Mapping[str, Any]:
    """Return what a source says of itself once it has been read: plain values, for a cache and for a model."""
    recipe, skipped = getattr(source, "recipe", None), getattr(source, "skipped", None)
    facts = {
        "recipe": None if recipe is None else recipe.to_json(),
        "skipped": 0 if skipped is None else skipped.count,
        "description": getattr(source, "description", None),
    }
    return {name: fact for name, fact in facts.items() if fact}


class StreamedBlocks(Tabled):
    """Dense blocks of a source whose classes and size are known before it has been read.

    Walks over blocks as they are stored come straight from the source, decoded by the reading thread, until one
    has come to its end and left a cache behind; from then on all come from there. Other walks need a cache, and
    have it made first.

    Parameters
    ----------
    source : Source
        Read once for each walk, as long as there is no cache.
    dtype : dtype
        The type of its values.
    known : object
        With the attributes `classes`, `n_rows` and `n_features`, and perhaps `dtype`.
    path : Path or None
        Where the cache goes; None makes none.
    stamp, identity
        See `CachedBlocks`.
    block_bytes : int
        See `Builder`.
    """

    def __init__(
        self,
        source: Source,
        dtype: np.dtype[Any],
        known: Any,
        path: Path | None,
        stamp: Mapping[str, Any],
        identity: str,
        block_bytes: int,
    ) -> None:
        self._source, self._path, self._stamp, self._block_bytes = source, path, stamp, block_bytes
        self._dtype = dtype
        self.identity = identity
        n_rows, n_features = int(known.n_rows), int(known.n_features)
        step = rows_of_block(n_features, dtype, block_bytes)
        boundaries = np.array([*range(0, n_rows, step), n_rows])
        classes = np.unique(np.asarray(known.classes))
        names = getattr(source, "names", None)
        counts = np.zeros(len(classes), np.int64)
        self.table = Table(n_rows, n_features, n_rows * n_features, classes, counts, boundaries, names, NOTHING)
        self.cached: CachedBlocks | None = None
        self._complete = False
        self._checksums: list[str] = []

    @property
    def counts(self) -> Ints:
        """The rows of each class; reads all rows unless they have been."""
        self._read_all()
        return self.table.counts

    @property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names; reads all rows unless they have been."""
        self._read_all()
        return fingerprint(self.table, self._checksums)

    @property
    def facts(self) -> Mapping[str, Any]:
        """What else the reader said, as far as it has read."""
        return facts_of(self._source) if self.cached is None else self.cached.facts

    def read(self, block: int) -> Batch:
        """Return one block."""
        return next(iter(self.walk([block])))

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the order given: from the cache, or if that is the order of the source, from there."""
        blocks = [int(block) for block in order]
        if self.cached is None and self._path is not None and not self._is_stored_order(blocks):
            self._read_all()
        if self.cached is not None:
            return self.cached.walk(blocks, change)
        if not self._is_stored_order(blocks):
            raise ParameterError(
                "Blocks that are kept nowhere can only be visited as they are stored. Let the data have a cache, "
                "or set order='cyclic'."
            )
        return ahead(self._stream(blocks[0], blocks[-1], change))

    def _is_stored_order(self, blocks: list[int]) -> bool:
        return blocks == list(range(blocks[0], blocks[-1] + 1))

    def _read_all(self) -> None:
        if not self._complete or (self._path is not None and self.cached is None):
            for _ in self.walk(range(len(self.boundaries) - 1)):
                pass

    def _stream(self, first: int, last: int, change: Change | None) -> Generator[Batch, None, None]:
        """Yield blocks from the source, which is read to its end only if the last of them is wanted."""
        builder = Builder(self._block_bytes, rooms=LIVE)
        table = self.table
        to_the_end = last == len(table.boundaries) - 2
        with ExitStack() as stack:
            writer = None
            if self._path is not None and to_the_end:
                writer = stack.enter_context(CacheWriter(self._path, self._stamp))
            number, checksums = -1, []
            for number, raw in enumerate(builder.blocks(chunks_of(self._source))):
                checksums.append(checksum(raw.sections) if writer is None else writer.add(raw))
                self._require_known(raw.rows.dtype, builder, number)  # type: ignore[union-attr]  # dense
                if first <= number <= last:
                    raw = raw if change is None else raw._replace(rows=change(raw.rows))
                    yield raw.batch(table.n_features, table.names, self._ranks(builder), table.classes)
                if number == last and not to_the_end:
                    return
            self._require_known(self._dtype, builder, number, ended=True)
            self.table = table = table._replace(
                counts=builder.labels.counts,
                names=getattr(self._source, "names", None),
                facts=facts_of(self._source),
            )
            self._complete, self._checksums = True, checksums
            if writer is not None:
                writer.finish(table, builder.labels.ranks, None)
        if writer is not None and self._path is not None:
            self.cached = CachedBlocks(self._path, self._stamp, self.identity)

    def _ranks(self, builder: Builder) -> Ints:
        """Return the class of each label met so far, by the number it was given."""
        met: NDArray[Any] = builder.labels.classes
        at = np.minimum(np.searchsorted(self.classes, met), len(self.classes) - 1)
        if not np.array_equal(self.classes[at], met):
            raise LabelError(
                f"The labels are {listed(met)}, but were said to be {listed(self.classes)}. "
                "Has the source changed?"
            )
        return at[builder.labels.ranks]

    def _require_known(self, dtype: Any, builder: Builder, number: int, *, ended: bool = False) -> None:
        """Require the source to be what it was said to be."""
        table = self.table
        same = dtype == self._dtype and builder.n_features == table.n_features and builder.n_rows <= table.n_rows
        if ended:
            all_there = builder.n_rows == table.n_rows and len(builder.labels.classes) == len(table.classes)
            same = same and all_there and number == len(table.boundaries) - 2
        if not same:
            raise FormatError(
                f"The source has not the {table.n_rows:,} rows of {table.n_features:,} features and "
                f"{len(table.classes)} classes that were found in it before. Has it changed?",
                file=next(iter(getattr(self._source, "files", ())), None),
            )


def type_of(source: Source) -> np.dtype[Any] | None:
    """Return the type of the values of a source whose rows are dense, by its first chunk; None of others.

    The chunk is read as all will be, by another thread: what memory it takes is then there for theirs.
    """

    def first() -> Generator[np.dtype[Any] | None, None, None]:
        for chunk in chunks_of(source):
            yield None if isinstance(chunk.rows, CSR) else chunk.rows.dtype
            return

    return next(ahead(first()), None)


def digest(value: Any) -> str:
    """Return the digest of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
