"""A file beside the source that holds its rows as training reads them.

It begins with a preamble of fixed length that says where its description is, in JSON, and what its digest is;
blocks of rows lie in between, each with a checksum in the description. It is written aside and put in place when
it is complete. Whatever does not fit is a `StaleError` when the file is opened, and the file is made anew; a block
that is not as it was written is found when it is first read, and ends the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np

from rosenblatt.atomic import replacing
from rosenblatt.blocks.memory import Change, Table, Tabled, fingerprint
from rosenblatt.blocks.prefetch import LIVE, ahead
from rosenblatt.blocks.raw import ALIGNMENT, Bytes, Raw, Shape, checksum, pieces
from rosenblatt.columns.statistics import Statistics
from rosenblatt.data.batch import Batch
from rosenblatt.exceptions import FormatError
from rosenblatt.loops.layout import CSR
from rosenblatt.typing import Ints

__all__ = ["CacheWriter", "CachedBlocks", "StaleError"]

MAGIC = b"rosenblatt cache 1\n"
PREAMBLE = struct.Struct(f"<{len(MAGIC)}sQQ32s")
FIRST = 1 << 12  # where the first block begins; all begin at a multiple of it


class StaleError(Exception):
    """A cache that is not, or no longer, what the source says; never leaves this package."""


class CacheWriter:
    """Writes a cache, block by block; without `finish` nothing is left of it.

    Parameters
    ----------
    path : path
        Where it will be once it is complete.
    stamp : mapping
        What must be the same for the cache to be of use: JSON values.
    """

    def __init__(self, path: Path, stamp: Mapping[str, Any]) -> None:
        self._path, self._stamp = path, stamp
        self._shapes: list[Shape] = []
        self._at = FIRST
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._file = self._stack.enter_context(replacing(self._path, forced=False))
        self._file.write(bytes(FIRST))
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._stack.__exit__(*error)

    def add(self, raw: Raw) -> str:
        """Write a block; return its checksum."""
        shape = Shape.of(raw, self._at)
        for section in raw.sections:
            for piece in pieces(section):
                self._file.write(piece.data)
        end = self._at + shape.n_bytes
        self._at = -(-end // FIRST) * FIRST
        self._file.write(bytes(self._at - end))
        self._shapes.append(shape)
        return shape.checksum

    def finish(self, table: Table, ranks: Ints, statistics: Statistics | None) -> None:
        """Write what is known of all blocks."""
        described = {
            "stamp": self._stamp,
            "n_features": table.n_features,
            "classes": table.classes.tolist(),
            "class_type": table.classes.dtype.str,
            "counts": table.counts.tolist(),
            "ranks": ranks.tolist(),
            "names": table.names,
            "facts": dict(table.facts),
            "blocks": [list(shape) for shape in self._shapes],
            "statistics": None if statistics is None else _written(statistics),
        }
        content = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode()
        self._file.write(content)
        self._file.seek(0)
        self._file.write(PREAMBLE.pack(MAGIC, self._at, len(content), hashlib.sha256(content).digest()))


class CachedBlocks(Tabled):
    """Blocks in a cache file.

    Attributes
    ----------
    path : Path
        Where it is.
    statistics : Statistics or None
        Of the features, if they were gathered.
    """

    def __init__(self, path: Path, stamp: Mapping[str, Any], identity: str) -> None:
        self.path, self.identity = path, identity
        try:
            self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            raise StaleError("there is none") from None
        except OSError as error:
            raise StaleError(f"it cannot be opened: {error.strerror}") from None
        weakref.finalize(self, os.close, self._descriptor)
        self._lock = threading.Lock()
        try:
            described, end = self._description(stamp)
            self._take_over(described, end)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise StaleError(f"its description cannot be understood: {error}") from None
        self._checked = np.zeros(len(self._shapes), np.bool_)

    def _description(self, stamp: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        size = os.fstat(self._descriptor).st_size
        if size < FIRST:
            raise StaleError("it is too short")
        magic, at, length, digest = PREAMBLE.unpack(self._content(0, PREAMBLE.size).tobytes())
        if magic != MAGIC:
            raise StaleError("it is no cache of this version")
        if at < FIRST or at + length != size:
            raise StaleError("its size is not what it says")
        content = self._content(at, length).tobytes()
        if hashlib.sha256(content).digest() != digest:
            raise StaleError("its description is damaged")
        described = json.loads(content)
        if described["stamp"] != json.loads(json.dumps(stamp)):
            raise StaleError("the source, or how it is read, is not what it was")
        return described, at

    def _take_over(self, described: dict[str, Any], end: int) -> None:
        self._shapes = [Shape(*shape) for shape in described["blocks"]]
        n_features = int(described["n_features"])
        classes = np.array(described["classes"], described["class_type"])
        self._ranks = np.array(described["ranks"], np.int64)
        counts = np.array(described["counts"], np.int64)
        at = FIRST
        for shape in self._shapes:
            if shape.offset != at or shape.n_rows < 1 or shape.stored < 0:
                raise StaleError("its blocks do not follow each other")
            if not shape.index_type and shape.stored != shape.n_rows * n_features:
                raise StaleError("a block has not the size it should have")
            at = -(-(at + shape.n_bytes) // FIRST) * FIRST
        boundaries = np.concatenate([[0], np.cumsum([shape.n_rows for shape in self._shapes])]).astype(np.int64)
        if (
            at != end
            or sorted(self._ranks.tolist()) != list(range(len(classes)))
            or counts.sum() != boundaries[-1]
        ):
            raise StaleError("its parts do not fit together")
        names = described["names"]
        self._type = np.result_type(*{shape.dtype for shape in self._shapes})
        self.table = Table(
            int(boundaries[-1]),
            n_features,
            sum(shape.stored for shape in self._shapes),
            classes,
            counts,
            boundaries,
            None if names is None else tuple(names),
            described["facts"],
        )
        held = described["statistics"]
        self.statistics = None if held is None else _statistics(held)

    @property
    def fingerprint(self) -> str:
        """A digest of all values, labels and names."""
        return fingerprint(self.table, [shape.checksum for shape in self._shapes])

    def read(self, block: int) -> Batch:
        """Return one block."""
        return self._batch(block, np.empty(self._shapes[block].n_bytes + ALIGNMENT, np.uint8))

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the order given, reading ahead."""
        largest = max(shape.n_bytes for shape in self._shapes)
        rooms = [np.empty(largest + ALIGNMENT, np.uint8) for _ in range(LIVE)]
        return ahead(self._batch(int(block), rooms[turn % LIVE], change) for turn, block in enumerate(order))

    def _batch(self, block: int, room: Bytes, change: Change | None = None) -> Batch:
        shape = self._shapes[block]
        content = room[-room.ctypes.data % ALIGNMENT :][: shape.n_bytes]
        self._fill(content, shape.offset)
        raw = shape.parse(content, self.n_features)
        if not self._checked[block]:
            self._check(block, shape, content, raw)
        if shape.dtype != self._type.str[1:]:  # another file of the source was of a wider type
            rows: Any = raw.rows
            rows = (
                rows._replace(data=rows.data.astype(self._type)) if shape.index_type else rows.astype(self._type)
            )
            raw = raw._replace(rows=rows)
        if change is not None:
            raw = raw._replace(rows=change(raw.rows))
        return raw.batch(self.n_features, self.names, self._ranks, self.classes)

    def _check(self, block: int, shape: Shape, content: Bytes, raw: Raw) -> None:
        sound = checksum([content]) == shape.checksum and int(raw.codes.max()) < len(self._ranks)
        if sound and isinstance(raw.rows, CSR):
            ends = raw.rows.indptr.astype(np.int64)
            sound = ends[0] == 0 and ends[-1] == shape.stored and bool((np.diff(ends) >= 0).all())
            sound = sound and int(raw.rows.indices.max(initial=0)) < self.n_features
        if not sound:
            raise self._damaged(f"block {block} of it is not what was written")
        self._checked[block] = True

    def _damaged(self, how: str) -> FormatError:
        self.path.unlink(missing_ok=True)
        return FormatError(
            f"the cache is damaged: {how}. It has been removed; run again, and it is made anew.",
            file=str(self.path),
        )

    def _content(self, at: int, length: int) -> Bytes:
        content = np.empty(length, np.uint8)
        try:
            self._fill(content, at)
        except FormatError:
            raise StaleError("it ends too early") from None
        return content

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


def _written(statistics: Statistics) -> dict[str, Any]:
    figures = {name: getattr(statistics, name).tolist() for name in ("count", "mean", "squares")}
    return figures | {"n_rows": statistics.n_rows, "sparse": statistics.sparse}


def _statistics(held: dict[str, Any]) -> Statistics:
    figures = np.array(held["count"], np.int64), np.array(held["mean"]), np.array(held["squares"])
    return Statistics(*figures, n_rows=int(held["n_rows"]), sparse=bool(held["sparse"]))
