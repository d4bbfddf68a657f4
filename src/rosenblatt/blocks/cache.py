"""A file beside the source that holds its rows in the form that training reads.

A preamble of fixed length gives the place, the length and the digest of a description in JSON. Blocks of rows lie
between the two, each with a checksum in the description. The file is written under another name and renamed when
it is complete. A file that cannot be used raises `StaleError` when it is opened; a damaged block is found when it
is first read, and ends the run.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import struct
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rosenblatt.atomic import open_private
from rosenblatt.blocks.block_layout import ALIGNMENT, BlockLayout, Bytes, pieces, stored_arrays
from rosenblatt.blocks.cache_description import DESCRIPTION, FIRST, CacheDescription, is_usable, next_place
from rosenblatt.blocks.memory import Blocks, Change
from rosenblatt.blocks.prefetch import LIVE, ahead
from rosenblatt.blocks.summary import DataSummary
from rosenblatt.columns.statistics import Statistics
from rosenblatt.data.batch import Batch
from rosenblatt.exceptions import FormatError, ParameterError
from rosenblatt.loops.layout import CSR
from rosenblatt.schema.codecs import Context, UnsoundError, require
from rosenblatt.schema.json_text import strict_json
from rosenblatt.typing import Ints

__all__ = ["CacheWriter", "CachedBlocks", "StaleError", "require_replaceable"]

KIND = b"rosenblatt cache "
MAGIC = KIND + b"2\n"
PREAMBLE = struct.Struct(f"<{len(MAGIC)}sQQ32s")


class StaleError(FormatError):
    """A cache that does not belong to its source, or is damaged.

    Attributes
    ----------
    why : str
        The reason, as a part of a sentence.
    """

    def __init__(self, path: Path, why: str) -> None:
        self.why = why
        super().__init__(f"the cache cannot be used: {why}. Remove it, and run again.", file=str(path))


def require_replaceable(path: Path) -> None:
    """Raise `ParameterError` if a path names a file with content that is no cache of any version."""
    try:
        with path.open("rb") as file:
            start = file.read(len(KIND))
    except OSError:
        return  # not there, or not readable: writing the cache will say so
    if start and start != KIND:
        raise ParameterError(
            f"cache={str(path)!r} is not a cache, and would be overwritten. Name another file, or remove this one."
        )


class CacheWriter:
    """Writes a cache block by block into an open file; `finish` completes it.

    Parameters
    ----------
    file : file
        An empty file; see `rosenblatt.atomic.replacing`.
    stamp : mapping
        JSON values that must be the same for the cache to be used again.
    """

    def __init__(self, file: BinaryIO, stamp: Mapping[str, Any]) -> None:
        self._file, self._stamp = file, stamp
        self._layouts: list[BlockLayout] = []
        file.write(bytes(FIRST))

    def add(self, batch: Batch) -> str:
        """Write a block with provisional codes, and return its checksum."""
        arrays = stored_arrays(batch.rows, batch.codes)
        layout = BlockLayout.of(arrays, next_place(self._layouts[-1]) if self._layouts else FIRST)
        for array in arrays:
            for piece in pieces(array):
                self._file.write(piece.data)
        self._file.write(bytes(next_place(layout) - layout.offset - layout.n_bytes))
        self._layouts.append(layout)
        return layout.checksum

    def finish(self, summary: DataSummary, ranks: Ints, statistics: Statistics | None) -> os.stat_result:
        """Write the description, and return the status of the file, by which it is known again."""
        kept = statistics if statistics is not None and is_usable(statistics, summary) else None
        description = CacheDescription(summary, ranks, self._layouts, kept)
        document = {"stamp": self._stamp, "data": DESCRIPTION.encode(description, "the data", Context())}
        content = json.dumps(document, separators=(",", ":")).encode()
        self._file.write(content)
        self._file.seek(0)
        self._file.write(PREAMBLE.pack(MAGIC, description.end, len(content), hashlib.sha256(content).digest()))
        return os.fstat(self._file.fileno())


class CachedBlocks(Blocks):
    """Blocks in a cache file.

    Parameters
    ----------
    path : path
        The file.
    stamp : mapping
        What the stamp of the file must be.
    identity : str or None
        Tells this data from other data; None takes the fingerprint.
    known : os.stat_result or None
        The status of a file that this process wrote; others must belong to this user.

    Raises
    ------
    StaleError
        The file is not there, has another stamp, is damaged, or another user could have written it.
    """

    def __init__(
        self, path: Path, stamp: Mapping[str, Any], identity: str | None, known: os.stat_result | None = None
    ) -> None:
        self.path = path
        try:
            self._descriptor = open_private(path, known)
        except OSError as error:
            raise StaleError(path, f"it cannot be trusted: {_reason(error)}") from None
        weakref.finalize(self, os.close, self._descriptor)
        self._lock = threading.Lock()
        found = self._description(stamp)
        self._layouts, self._ranks, self.statistics = found.blocks, found.ranks, found.statistics
        self._checked = np.zeros(len(self._layouts), np.bool_)
        self._type = np.result_type(*{layout.dtype for layout in self._layouts})
        super().__init__(found.summary, identity)

    def _description(self, stamp: Mapping[str, Any]) -> CacheDescription:
        size = os.fstat(self._descriptor).st_size
        if size < FIRST:
            raise StaleError(self.path, "it is too short")
        magic, at, length, digest = PREAMBLE.unpack(self._content(0, PREAMBLE.size))
        if magic != MAGIC:
            raise StaleError(self.path, "it is not a cache of this version")
        if at < FIRST or at + length != size:
            raise StaleError(self.path, "its size does not match its description")
        content = self._content(at, length)
        if hashlib.sha256(content).digest() != digest:
            raise StaleError(self.path, "its description is damaged")
        try:
            document = strict_json(content.decode())
            require(isinstance(document, dict) and document.keys() == {"stamp", "data"}, "it has other parts")
            found: CacheDescription | None = None
            if document["stamp"] == json.loads(json.dumps(stamp)):
                found = DESCRIPTION.decode(document["data"], "the data", Context())
                require(found.end == at, "the blocks do not end where it begins")
        except RecursionError:
            raise StaleError(self.path, "its description is nested too deeply") from None
        except (UnsoundError, ValueError) as error:
            raise StaleError(self.path, f"its description cannot be used: {str(error).rstrip('.')}") from None
        if found is None:
            raise StaleError(self.path, "the source or the reading options have changed")
        return found

    @property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names."""
        return self.summary.fingerprint([layout.checksum for layout in self._layouts])

    def read(self, block: int) -> Batch:
        """Return one block."""
        return self._read(block, np.empty(self._layouts[block].n_bytes + ALIGNMENT, np.uint8))

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the given order, reading ahead."""
        largest = max(layout.n_bytes for layout in self._layouts)
        rooms = [np.empty(largest + ALIGNMENT, np.uint8) for _ in range(LIVE)]
        return ahead(self._read(int(block), rooms[turn % LIVE], change) for turn, block in enumerate(order))

    def _read(self, block: int, room: Bytes, change: Change | None = None) -> Batch:
        layout = self._layouts[block]
        content = room[-room.ctypes.data % ALIGNMENT :][: layout.n_bytes]
        self._fill(content, layout.offset)
        if not self._checked[block]:
            if not layout.is_sound(content, self.n_features, len(self._ranks)):
                raise self._damaged(f"block {block} has changed since it was written")
            self._checked[block] = True
        rows, codes = layout.parse(content, self.n_features)
        if layout.dtype != self._type.str[1:]:  # another file of the source has a wider type
            wide: Any = self._type
            rows = rows._replace(data=rows.data.astype(wide)) if isinstance(rows, CSR) else rows.astype(wide)
        return self._batch(rows if change is None else change(rows), self._ranks[codes])

    def _damaged(self, how: str) -> FormatError:
        try:
            self.path.unlink(missing_ok=True)
            advice = "It has been removed; run again to write it again."
        except OSError:
            advice = "Remove it, and run again to write it again."
        return FormatError(f"the cache is damaged: {how}. {advice}", file=str(self.path))

    def _content(self, at: int, length: int) -> bytes:
        content = np.empty(length, np.uint8)
        self._fill(content, at)
        return content.tobytes()

    def _fill(self, content: Bytes, at: int) -> None:
        view, filled = content.data, 0
        while filled < len(view):
            try:
                got = self._read_into(view[filled:], at + filled)
            except OSError as error:
                raise self._damaged(str(error.strerror)) from None
            if not got:
                raise self._damaged("it ends too early")
            filled += got

    def _read_into(self, view: memoryview, at: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._descriptor, [view], at)
        with self._lock:
            os.lseek(self._descriptor, at, os.SEEK_SET)
            read = os.read(self._descriptor, len(view))
            view[: len(read)] = read
            return len(read)


def _reason(error: OSError) -> str:
    return "it is a link" if error.errno == errno.ELOOP else str(error.strerror)
