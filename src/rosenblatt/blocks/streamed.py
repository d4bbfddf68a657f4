"""Blocks on which training begins while their source is read for the first time."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.atomic import replacing
from rosenblatt.blocks.block_layout import checksum, stored_arrays
from rosenblatt.blocks.builder import Builder, chunks_of, facts_of, rows_of_block
from rosenblatt.blocks.cache import CachedBlocks, CacheWriter
from rosenblatt.blocks.memory import Blocks, Change
from rosenblatt.blocks.prefetch import LIVE, ahead
from rosenblatt.blocks.summary import DataSummary
from rosenblatt.columns.source import Known, Source
from rosenblatt.data.batch import Batch
from rosenblatt.data.labels import listed
from rosenblatt.exceptions import FormatError, LabelError, ParameterError
from rosenblatt.loops.layout import CSR
from rosenblatt.typing import Ints

__all__ = ["StreamedBlocks"]


class StreamedBlocks(Blocks):
    """Dense blocks of a source whose classes and size are known before it is read.

    As long as there is no cache, blocks in stored order come from the source, read by another thread. The first
    walk to the end writes the cache, and all later walks read it. A walk in another order writes the cache first.

    Parameters
    ----------
    source, known, dtype
        The rows, what is known about them, and the type of their values.
    path : Path or None
        The place of the cache; None writes no cache.
    stamp, identity, block_bytes
        See `CachedBlocks` and `Builder`.
    """

    def __init__(
        self,
        source: Source,
        known: Known,
        dtype: np.dtype[Any],
        path: Path | None,
        stamp: Mapping[str, Any],
        identity: str,
        block_bytes: int,
    ) -> None:
        self._source, self._dtype, self._path, self._stamp = source, dtype, path, stamp
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
    def facts(self) -> Mapping[str, Any]:
        """The facts about the source that were found in the rows read so far."""
        return facts_of(self._source) if self.cached is None else self.cached.facts

    def read(self, block: int) -> Batch:
        """Return one block."""
        return next(iter(self.walk([block])))

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the given order: from the cache or, in stored order, from the source."""
        blocks = [int(block) for block in order]
        stored_order = blocks == list(range(blocks[0], blocks[-1] + 1))
        if not stored_order and self._path is not None:
            self._read_all()
        if self.cached is not None:
            return self.cached.walk(blocks, change)
        if not stored_order:
            raise ParameterError(
                "Blocks without a cache can only be visited in stored order. Allow a cache for the data, or set "
                "order='cyclic'."
            )
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
        builder = Builder(self._source, self._block_bytes, buffers=LIVE)
        to_the_end = last == self.n_blocks - 1
        with ExitStack() as stack:
            writer, made = None, None
            if self._path is not None and to_the_end:
                file = stack.enter_context(replacing(self._path, forced=False, private=True))
                writer = CacheWriter(file, self._stamp)
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
            if writer is not None:
                made = writer.finish(self.summary, builder.labels.ranks, None)
        if self._path is not None:
            self.cached = CachedBlocks(self._path, self._stamp, self._identity, made)
        self._checksums = checksums

    def _ranks(self, builder: Builder) -> Ints:
        """Return the position in `classes` of each label seen so far, by its number."""
        met = builder.labels.classes
        at = np.minimum(np.searchsorted(self.classes, met), len(self.classes) - 1)
        if not np.array_equal(self.classes[at], met):
            raise LabelError(
                f"The labels are {listed(met)}, but {listed(self.classes)} were expected. "
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
