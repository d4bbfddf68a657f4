"""A file that holds the rows of a source in the form that training reads.

A preamble of fixed length gives the place, the length and the digest of a description in JSON. Blocks of rows lie
between the two, each with a checksum in the description. The file is written under another name and renamed when
it is complete. A file that cannot be used raises `StaleError` when it is opened; a damaged block is found when it
is first read, and ends the run.

The next block is made ready by another thread while this one trains on the last.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import struct
import threading
import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.atomic import open_private
from rosenblatt.codecs import (
    Context,
    Count,
    Flag,
    Labels,
    Maybe,
    Record,
    Several,
    Text,
    UnsoundError,
    require,
    same_length,
    strict_json,
    wrong,
)
from rosenblatt.exceptions import FormatError, Given, ParameterError, Remedy, StorageError
from rosenblatt.loops.layout import CSR
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.memory import format_bytes
from rosenblatt.stopping import stop_if_interrupted
from rosenblatt.tables.blocks import (
    ALIGNMENT_BYTES,
    INDEX_TYPES,
    VALUE_TYPES,
    BlockLayout,
    Blocks,
    Bytes,
    Change,
    Identity,
    pieces,
    stored_arrays,
)
from rosenblatt.tables.recipe import RECIPE, Name
from rosenblatt.tables.scaling import DataSummary, Facts, Statistics
from rosenblatt.typing import Ints

__all__ = ["LIVE_ITEMS", "CacheWriter", "CachedBlocks", "StaleError", "ahead", "require_replaceable"]


LIVE_ITEMS = 2
"""Items alive at a time: the one in use, and the one being made."""

INTERRUPT_CHECK_SECONDS = 0.1
"""Between two looks for Ctrl-C while an item is waited for."""

T = TypeVar("T")


def ahead(items: Generator[T, None, None]) -> Iterator[T]:
    """Yield the items of a generator that runs in a thread of its own, one ahead of what is used.

    An item is in use until the next one is asked for; only then is the one after that begun, so that two buffers
    suffice. An error of the generator is raised here in its turn. Whatever ends this iteration, the generator is
    closed and its thread over by then.
    """
    made: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
    room = threading.Semaphore(LIVE_ITEMS)
    over = threading.Event()

    def run() -> None:
        failure: BaseException | None = None
        try:
            while True:
                room.acquire()
                if over.is_set():
                    break
                made.put((next(items), None))
        except StopIteration:
            pass
        except BaseException as error:  # raised by the other thread
            failure = error
        try:
            items.close()
        except BaseException as error:
            failure = failure or error
        made.put((None, failure))

    # In this context, which says how many threads may read.
    thread = threading.Thread(target=copy_context().run, args=(run,), name="rosenblatt reader", daemon=True)
    thread.start()
    try:
        while True:
            stop_if_interrupted()
            try:
                item, failure = made.get(timeout=INTERRUPT_CHECK_SECONDS)
            except Empty:
                continue
            if failure is not None:
                raise failure
            if item is None:
                return
            yield item
            room.release()
    finally:
        over.set()
        room.release()
        thread.join()


# The description of a cache file: closed types, and parts that fit together.

FIRST_BLOCK_BYTE = 1 << 12
"""Where the first block begins; all begin at a multiple of it."""


@dataclass(frozen=True)
class NumberList:
    """An array of finite numbers, written as a list."""

    kind: type

    def encode(self, value: NDArray[Any], at: str, context: Context) -> Any:
        """Return the list."""
        return value.tolist()

    def decode(self, told: Any, at: str, context: Context) -> NDArray[Any]:
        """Return the array."""
        if not isinstance(told, list) or not {*map(type, told)} <= {self.kind}:
            wrong(at, f"is no list of {self.kind.__name__}s")
        try:
            array: NDArray[Any] = np.array(told, self.kind)
        except OverflowError:
            wrong(at, "holds a number that is too large")
        if not np.isfinite(array).all():
            wrong(at, "holds a number that is not finite")
        return array


class CacheDescription(NamedTuple):
    """What a cache says about its blocks.

    Attributes
    ----------
    summary : DataSummary
        Describes all rows.
    ranks : ndarray of int
        The position among the classes of each label, by the number that blocks have for it.
    blocks : list of BlockLayout
        Where the blocks are.
    statistics : Statistics or None
        The means and variances of the features, if they were gathered and are finite.
    """

    summary: DataSummary
    ranks: Ints
    blocks: list[BlockLayout]
    statistics: Statistics | None

    @property
    def end(self) -> int:
        """The position behind the last block."""
        return next_place(self.blocks[-1])

    def check(self) -> None:
        """Raise an error if the parts contradict each other."""
        blocks, (n_rows, n_features, stored, classes, counts, boundaries, names, _) = self.blocks, self.summary
        labels, ends = classes.tolist(), np.cumsum([0, *(layout.n_rows for layout in blocks)])
        kinds = {str if isinstance(label, str) else float for label in labels}
        require(len(kinds) == 1 and labels == sorted(labels), "the labels are not sorted")
        require(same_length(labels, counts, self.ranks), "there are not as many counts as labels")
        require(np.array_equal(np.sort(self.ranks), np.arange(len(labels))), "the ranks of the labels are wrong")
        require(sum(counts.tolist()) == n_rows and (counts > 0).all(), "the counts of the labels are wrong")
        require(names is None or len(names) == n_features, "there are not as many names as features")
        require(np.array_equal(boundaries, ends) and n_rows == ends[-1], "the blocks have other rows")
        require(stored == sum(layout.stored for layout in blocks), "the blocks have other values")
        for layout, place in zip(blocks, [FIRST_BLOCK_BYTE, *map(next_place, blocks)], strict=False):
            size = layout.stored if layout.index_type else layout.n_rows * n_features
            require(layout.offset == place, "the blocks do not follow each other")
            require(bool(layout.index_type) == bool(blocks[0].index_type), "dense and sparse blocks are mixed")
            require(layout.stored == size, "a block does not have the size of its rows")
        if self.statistics is not None:
            require(is_usable(self.statistics, self.summary), "the statistics do not belong to the rows")


def is_usable(statistics: Statistics, summary: DataSummary) -> bool:
    """Return whether statistics are finite, and can be those of the data."""
    n_rows, count, mean, squares = statistics.n_rows, statistics.count, statistics.mean, statistics.squares
    if n_rows != summary.n_rows or {len(count), len(mean), len(squares)} != {summary.n_features}:
        return False
    finite = np.isfinite(mean) & np.isfinite(squares)
    return bool((finite & (squares >= 0) & (count >= 0) & (count <= n_rows)).all())


def next_place(layout: BlockLayout) -> int:
    """Return where the block that follows begins."""
    return -(-(layout.offset + layout.n_bytes) // FIRST_BLOCK_BYTE) * FIRST_BLOCK_BYTE


STATISTICS = Record(
    Statistics,
    {
        "count": NumberList(int),
        "mean": NumberList(float),
        "squares": NumberList(float),
        "n_rows": Count(),
        "sparse": Flag(),
    },
)
LAYOUT = Record(
    BlockLayout,
    {
        "offset": Count(),
        "n_rows": Count(1),
        "stored": Count(),
        "dtype": Text(VALUE_TYPES),
        "index_type": Text(INDEX_TYPES),
        "checksum": Text(),
    },
)
FACTS = Record(
    Facts,
    {"recipe": Maybe(RECIPE), "skipped": Count(), "description": Text(), "unlabelled": Count()},
    before={"unlabelled": 0},
)
SUMMARY = Record(
    DataSummary,
    {
        "n_rows": Count(1),
        "n_features": Count(1),
        "stored": Count(),
        "classes": Labels(),
        "counts": NumberList(int),
        "boundaries": NumberList(int),
        "names": Maybe(Several(Name(), tuple)),
        "facts": FACTS,
    },
)
DESCRIPTION = Record(
    CacheDescription,
    {"summary": SUMMARY, "ranks": NumberList(int), "blocks": Several(LAYOUT), "statistics": Maybe(STATISTICS)},
    check=CacheDescription.check,
)


LEFT_BYTES, LEFT_SHARE = 1 << 30, 20
"""A cache leaves these bytes of a disk free, or this part of a small one."""

KIND = b"rosenblatt cache "
MAGIC = KIND + b"1\n"
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
    if not path.is_file():  # nothing is there, or what has no content, such as a pipe, which a cache replaces
        return
    try:
        with path.open("rb") as file:
            start = file.read(len(KIND))
    except OSError:
        return  # not there, or not readable: writing the cache will say so
    if start and start != KIND:
        raise ParameterError(
            Given("cache", str(path))
            + " is not a cache, and would be overwritten. Name another file, or remove this one."
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
        file.write(bytes(FIRST_BLOCK_BYTE))

    def add(self, batch: Batch) -> str:
        """Write a block with provisional codes, and return its checksum."""
        arrays = stored_arrays(batch.rows, batch.codes)
        self._require_room(sum(array.nbytes for array in arrays))
        layout = BlockLayout.of(arrays, next_place(self._layouts[-1]) if self._layouts else FIRST_BLOCK_BYTE)
        for array in arrays:
            for piece in pieces(array):
                self._file.write(piece.data)
        self._file.write(bytes(next_place(layout) - layout.offset - layout.n_bytes))
        self._layouts.append(layout)
        return layout.checksum

    def _require_room(self, n_bytes: int) -> None:
        """Raise `StorageError` before the cache takes what other programs need of the disk."""
        if not hasattr(os, "fstatvfs"):
            return
        disk = os.fstatvfs(self._file.fileno())
        free, whole = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
        if free < n_bytes + min(LEFT_BYTES, whole // LEFT_SHARE):
            taken = format_bytes(self._file.tell())
            raise StorageError(
                f"The cache of the rows has taken {taken}, and would fill the disk: {format_bytes(free)} are "
                "left. Put it on another disk with "
                + Remedy("cache", "PATH")
                + ", free some space, or allow the rows more "
                + Remedy("memory")
                + "."
            )

    def finish(self, summary: DataSummary, ranks: Ints, statistics: Statistics | None) -> int:
        """Write the description, and return a descriptor that reads the file, whatever becomes of its name."""
        kept = statistics if statistics is not None and is_usable(statistics, summary) else None
        description = CacheDescription(summary, ranks, self._layouts, kept)
        document = {"stamp": self._stamp, "data": DESCRIPTION.encode(description, "the data", Context())}
        content = json.dumps(document, separators=(",", ":")).encode()
        self._file.write(content)
        self._file.seek(0)
        self._file.write(PREAMBLE.pack(MAGIC, description.end, len(content), hashlib.sha256(content).digest()))
        self._file.flush()
        return os.dup(self._file.fileno())


class CachedBlocks(Blocks):
    """Blocks in a cache file.

    Parameters
    ----------
    path : path
        The file.
    stamp : mapping
        What the stamp of the file must be.
    identity : str, callable or None
        Tells this data from other data; None takes the fingerprint.
    descriptor : int or None
        Reads the file, if this process wrote it; others must belong to this user. It is closed with the blocks.

    Raises
    ------
    StaleError
        The file is not there, has another stamp, is damaged, or another user could have written it.
    """

    def __init__(
        self, path: Path, stamp: Mapping[str, Any], identity: Identity, descriptor: int | None = None
    ) -> None:
        self.path = path
        try:
            self._descriptor = open_private(path) if descriptor is None else descriptor
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
        if size < FIRST_BLOCK_BYTE:
            raise StaleError(self.path, "it is too short")
        magic, at, length, digest = PREAMBLE.unpack(self._content(0, PREAMBLE.size))
        if magic != MAGIC:
            raise StaleError(self.path, "it is not a cache of this version")
        if at < FIRST_BLOCK_BYTE or at + length != size:
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
        return self._read(block, np.empty(self._layouts[block].n_bytes + ALIGNMENT_BYTES, np.uint8))

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the given order, reading ahead."""
        largest = max(layout.n_bytes for layout in self._layouts)
        rooms = [np.empty(largest + ALIGNMENT_BYTES, np.uint8) for _ in range(LIVE_ITEMS)]
        return ahead(self._read(int(block), rooms[turn % LIVE_ITEMS], change) for turn, block in enumerate(order))

    def _read(self, block: int, room: Bytes, change: Change | None = None) -> Batch:
        layout = self._layouts[block]
        content = room[-room.ctypes.data % ALIGNMENT_BYTES :][: layout.n_bytes]
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
            if self.path.is_file():  # not the folder of a file without a name
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
