"""NPY and NPZ files: tables, columns, and sparse rows as scipy saves them with labels added.

Sparse rows have data, indices, indptr, shape, format and y.
"""

from __future__ import annotations

import io
import math
import mmap
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.escaping import printable
from rosenblatt.exceptions import FormatError, Remedy
from rosenblatt.loops.layout import CSR
from rosenblatt.rows.batch import Batch, Skipped
from rosenblatt.rows.features import Features, read_only, real_dtype
from rosenblatt.tables.data_file import BROKEN, DataFile, reason_of
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import TableRecipe
from rosenblatt.tables.table import (
    FIRST_ROWS,
    LARGEST_EXACT_INTEGER,
    Block,
    Field,
    TypedTable,
    Wanted,
    from_numpy,
    label_kind,
    label_problems,
    read_labels,
    require_room,
    too_long,
)
from rosenblatt.typing import Ints

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "LABELS",
    "NpyTable",
    "NpzArchive",
    "NpzTable",
    "SparseNpz",
    "StoredArray",
    "is_sparse_npz",
    "label_field",
    "open_npy",
    "to_arrow",
]


# Dense arrays of NPY and NPZ files as tables whose columns have no names.

FEATURES = ("X", "data", "features")
LABELS = ("y", "target", "labels", "label")


class NpyTable(TypedTable):
    """An NPY file, opened; see `rosenblatt.tables.table.Table`. One of its columns may hold labels."""

    format, named = "NPY", False

    def __init__(self, file: DataFile, options: Options, recipe: TableRecipe | None = None) -> None:
        self.file, self._chunk_bytes = file.name, options.chunk_bytes
        self._rows, self._labels = self._open(file, options, recipe)
        shape = self._rows.shape
        if len(shape) != 2:
            raise FormatError(
                f"the array has {len(shape)} dimensions (shape {shape}), but must be a table of rows by columns",
                file=self.file,
            )
        if 0 in shape:
            raise FormatError(f"the array is empty (shape {shape})", file=self.file)
        require_room(shape[1], self.file, 3 * shape[1] * self._rows.dtype.itemsize)
        column = label_field(self._rows, self.file)
        self.fields = tuple(Field(f"x{j}", column.kind, column.type) for j in range(1, shape[1] + 1))
        if self._labels is not None:
            if self._labels.shape not in ((shape[0],), (shape[0], 1)):
                found = self._labels.shape
                raise FormatError(
                    f"there are {shape[0]} rows, but the labels have the shape {found}", file=self.file
                )
            self.fields += (label_field(self._labels, self.file),)

    def close(self) -> None:
        """Do nothing: the file is mapped into memory."""

    def first_values(self, position: int) -> list[Any]:
        """Return the values of a column in the first rows."""
        last = min(FIRST_ROWS, self._rows.shape[0])
        if position == self._rows.shape[1] and self._labels is not None:
            return list(self._labels.part(0, last).reshape(-1).tolist())
        return list(self._rows.part(0, last)[:, position].tolist())

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        n_rows, width = self._rows.shape
        if width in wanted.numbers or width in wanted.strings:
            raise FormatError(
                "the labels y stand beside the table and are no feature of it; leave them out with "
                + Remedy("ignore", ("y",)),
                file=self.file,
            )
        size = max(self._chunk_bytes // (width * self._rows.dtype.itemsize), 1)
        only_labels = wanted.label == width and not wanted.numbers and not wanted.strings
        for start in range(0, n_rows, size):
            end = min(start + size, n_rows)
            rows = np.empty((end - start, 0)) if only_labels else self._rows.part(start, end)
            labels = None
            if wanted.label is not None:
                beside = self._labels if wanted.label == width else None
                labels = rows[:, wanted.label] if beside is None else beside.part(start, end)
            yield self._block(rows, labels, wanted, start)

    def _open(
        self, file: DataFile, options: Options, recipe: TableRecipe | None
    ) -> tuple[StoredArray, StoredArray | None]:
        """Return the rows, and the labels beside them."""
        return open_npy(file.path, file.name), None

    def _block(self, rows: NDArray[Any], labels: NDArray[Any] | None, wanted: Wanted, start: int) -> Block:
        every = wanted.numbers == tuple(range(rows.shape[1]))
        chosen = rows if every else rows[:, list(wanted.numbers)]
        bad: dict[int, FormatError] = {}
        if chosen.dtype.kind in "iu" and chosen.dtype.itemsize == 8:
            for row, k in np.argwhere(
                (chosen > LARGEST_EXACT_INTEGER) | (chosen < -LARGEST_EXACT_INTEGER)
            ).tolist():
                value, j = int(chosen[row, k]), wanted.numbers[k]
                if int(float(value)) != value:
                    problem = too_long(value, self.fields[j].name)
                    bad.setdefault(row, problem.error(file=self.file, line=start + row + 1, column=j + 1))
        dtype = real_dtype(chosen.dtype, name="X") if wanted.numbers else np.dtype(np.float64)
        numbers: Any = np.array(chosen, dtype, order="C") if wanted.numbers else np.empty((len(rows), 0))
        strings = [to_arrow(rows[:, j], self.file).cast("string") for j in wanted.strings]
        label = None if labels is None else to_arrow(labels, self.file)
        return Block(numbers, strings, label, lambda row: start + row + 1, bad)


class NpzTable(NpyTable):
    """An NPZ file, opened: rows X (or data, or features), perhaps with labels y (or target, or labels)."""

    format = "NPZ"

    def _open(
        self, file: DataFile, options: Options, recipe: TableRecipe | None
    ) -> tuple[StoredArray, StoredArray | None]:
        archive = NpzArchive(file.path, file.name)
        rows, labels = archive.array(*FEATURES), archive.find(*LABELS)
        if labels is None and options.labelled and options.target is None and recipe is None:
            raise FormatError(
                f"there are no labels: the file has no array called {' or '.join(LABELS)}. If they are a column "
                "of the table, name it with " + Remedy("target"),
                code="no-target",
                file=file.name,
            )
        return rows, labels


def label_field(array: StoredArray, file: str) -> Field:
    """Return what labels in an array are; bytes are refused."""
    if array.dtype.kind == "S":
        raise FormatError("holds strings of bytes; turn them into text with astype(str)", file=file)
    return Field("y", "string" if array.dtype.kind == "U" else "number", str(array.dtype))


def to_arrow(labels: NDArray[Any], file: str) -> pa.Array:
    """Return labels as an Arrow array."""
    import pyarrow as pa

    try:
        return from_numpy(labels.reshape(-1))
    except (ValueError, pa.ArrowException) as error:
        raise FormatError(f"labels cannot be read: {error}", file=file) from error


# NPY and NPZ: arrays mapped into memory, or read row by row where they are compressed.
#
# Headers are matched with one strict pattern: numpy's own reader parses any Python literal, and warns or fails
# with errors of the parser where it is damaged. The size that a header claims is compared with that of the file
# before memory is allocated. Nothing is ever unpickled.

LONGEST_HEADER, LONGEST_STRING = 1 << 16, 1 << 16  # bytes
BEGINNING = re.compile(rb"\x93NUMPY(?:\x01.(?P<short>..)|[\x02\x03].(?P<long>....))", re.DOTALL)
HEADER = re.compile(
    r"\s*\{\s*'descr':\s*'(?P<dtype>[<>|=]?(?P<kind>[a-zA-Z])(?P<size>[0-9]{0,6}))',"
    r"\s*'fortran_order':\s*(?P<fortran>True|False),\s*'shape':\s*\((?P<shape>[0-9,\s]*)\),?\s*\}\s*"
)


@dataclass(frozen=True)
class StoredArray:
    """An array in a file.

    Attributes
    ----------
    shape : tuple of int
        Its shape; the file has exactly the bytes that it takes.
    dtype : dtype
        Real numbers, bools or strings.
    part : callable
        Takes the first row and the one behind the last, and returns the rows. Compressed arrays return parts only
        in order, and again from row 0 on.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    part: Callable[[int, int], NDArray[Any]]


def open_npy(path: str, file: str) -> StoredArray:
    """Map an NPY file into memory."""
    mapped = _map(path)
    return _mapped(mapped, 0, len(mapped), file)


class NpzArchive:
    """An NPZ file: a zip archive of arrays. Nothing needs to be closed, because the file is mapped into memory.

    Attributes
    ----------
    names : tuple of str
        The names of the arrays.
    """

    def __init__(self, path: str, file: str) -> None:
        self._file, self._bytes = file, _map(path)
        try:
            self._zip = zipfile.ZipFile(self._bytes)  # type: ignore[call-overload]  # reads, seeks, tells
        except (*BROKEN, struct.error) as error:
            raise FormatError(f"is no valid NPZ file: {reason_of(error)}", file=file) from error
        self._members = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}
        self.names = tuple(self._members)
        if len(self.names) != len(self._zip.infolist()):
            raise FormatError("two arrays of the NPZ file have the same name", file=file)

    def array(self, *names: str) -> StoredArray:
        """Return the first array that has one of the names."""
        array = self.find(*names)
        if array is None:
            there = printable(", ".join(self.names[:12])) or "nothing"
            problem = f"there is no array called {' or '.join(names)}; the file holds {there}"
            raise FormatError(problem, file=self._file)
        return array

    def find(self, *names: str) -> StoredArray | None:
        """Return the first array that has one of the names, or None."""
        name = next((name for name in names if name in self._members), None)
        if name is None:
            return None
        info, called = self._members[name], f"{self._file}[{name}]"
        if info.flag_bits & 1:
            raise FormatError("is encrypted", file=called)
        if info.compress_type == zipfile.ZIP_STORED:
            start = self._start_of(info, called)
            if not 0 < start <= len(self._bytes) - info.file_size or info.file_size != info.compress_size:
                raise FormatError("the archive is cut short or damaged", file=called)
            return _mapped(self._bytes, start, info.file_size, called)
        return _compressed(lambda: self._zip.open(info), info.file_size, called)

    def _start_of(self, info: zipfile.ZipInfo, called: str) -> int:
        local = self._bytes[info.header_offset : info.header_offset + 30]
        if len(local) < 30 or not local.startswith(b"PK\x03\x04"):
            raise FormatError("the archive is damaged", file=called)
        name_length, extra_length = struct.unpack("<HH", local[26:30])
        return int(info.header_offset + 30 + name_length + extra_length)


class _MappedFile(mmap.mmap):
    """A mapped file that zipfile can read; mmap itself has this method from Python 3.13."""

    def seekable(self) -> bool:
        return True


def _map(path: str) -> _MappedFile:
    with open(path, "rb") as file:
        return _MappedFile(file.fileno(), 0, access=mmap.ACCESS_READ)


def _mapped(mapped: _MappedFile, start: int, size: int, file: str) -> StoredArray:
    head = io.BytesIO(mapped[start : start + min(size, LONGEST_HEADER + 12)])
    dtype, fortran, shape, offset = _read_header(head.read, size, file)
    if math.prod(shape) == 0:
        return StoredArray(shape, dtype, lambda first, last: np.empty((last - first, *shape[1:]), dtype))
    flat: NDArray[Any] = np.frombuffer(mapped, dtype, math.prod(shape), start + offset)
    array = flat.reshape(shape or (1,), order="F" if fortran else "C")
    return StoredArray(shape, dtype, lambda first, last: array[first:last])


def _compressed(open_again: Callable[[], IO[bytes]], size: int, file: str) -> StoredArray:
    stream: IO[bytes] | None = None

    def read(count: int) -> bytes:
        nonlocal stream
        try:
            if stream is None:
                stream = open_again()
            return stream.read(count)
        except BROKEN as error:
            raise FormatError(f"the archive is damaged: {reason_of(error)}", file=file) from error

    dtype, fortran, shape, offset = _read_header(read, size, file)
    if fortran and len(shape) > 1 and min(shape) > 1:
        raise FormatError(
            "is compressed and in Fortran order, and so cannot be read row by row: save it uncompressed, "
            "or np.ascontiguousarray of it",
            file=file,
        )
    width = math.prod(shape[1:]) * dtype.itemsize
    done = 0

    def part(first: int, last: int) -> NDArray[Any]:
        nonlocal done, stream
        if first == 0 and done:  # again from the beginning
            stream, done = None, 0
            read(offset)
        assert first == done, "compressed arrays are read in order"
        done = last
        data = read((last - first) * width)
        if len(data) != (last - first) * width:
            raise FormatError("the archive is cut short", file=file)
        if done == (shape[0] if shape else 1) and read(1):  # the end, where zipfile compares the checksum
            raise FormatError("the archive holds more than its header says", file=file)
        return np.frombuffer(data, dtype).reshape((last - first, *shape[1:]))

    return StoredArray(shape, dtype, part)


def _read_header(
    read: Callable[[int], bytes], size: int, file: str
) -> tuple[np.dtype[Any], bool, tuple[int, ...], int]:
    """Read the header of an array of `size` bytes; the values begin at the position returned last."""
    begin = read(10)
    begin += read(2) if begin[6:7] in (b"\x02", b"\x03") else b""
    match = BEGINNING.fullmatch(begin)
    if match is None:
        raise FormatError("is no NPY file", file=file)
    length = int.from_bytes(match["short"] or match["long"], "little")
    offset = len(begin) + length
    if length > LONGEST_HEADER or offset > size:
        raise FormatError("the header of the NPY file is damaged", file=file)
    text = read(length).decode("latin-1")
    header = HEADER.fullmatch(text)
    if header is None:
        objects = "'|O'" in text or "[(" in text
        why = "holds Python objects or records" if objects else "has no header that can be read"
        raise FormatError(f"{why}; save plain arrays of numbers or strings", file=file)
    if header["kind"] not in "biufUS" or (header["kind"] == "f" and header["size"] not in ("2", "4", "8")):
        raise FormatError(
            f"holds values of type {header['dtype']!r}, which are neither strings nor real numbers of 64 bits at "
            "most; convert them with astype",
            file=file,
        )
    try:
        dtype = np.dtype(header["dtype"])
    except (TypeError, ValueError):
        raise FormatError(f"holds values of the unknown type {header['dtype']!r}", file=file) from None
    if not 0 < dtype.itemsize <= LONGEST_STRING:
        raise FormatError(f"holds strings of {dtype.itemsize} bytes each", file=file)
    shape = tuple(int(number[:30]) for number in header["shape"].replace(",", " ").split())
    needed = math.prod(shape) * dtype.itemsize
    if needed != size - offset:
        raise FormatError(
            f"the header announces {needed} bytes of values (shape {shape}, {dtype}), not of {size - offset}",
            file=file,
        )
    return dtype, header["fortran"] == "True", shape, offset


MEMBERS = {"data", "indices", "indptr", "shape", "format"}


def is_sparse_npz(file: DataFile) -> bool:
    """Return whether an NPZ file holds a sparse matrix as scipy saves it."""
    return MEMBERS <= set(NpzArchive(file.path, file.name).names)


class SparseNpz:
    """Compressed sparse rows in an NPZ file, opened; see `rosenblatt.tables.sparse_source.SparseReader`.

    Values of features beyond `width` are left out and counted in `unmet`. Rows that cannot be read are counted in
    `skipped`; if that is None, the first one is an error.
    """

    zero_based: bool | None = None

    def __init__(self, file: DataFile, options: Options, width: int | None, skipped: Skipped | None) -> None:
        self._file, self._skipped, self._chunk_bytes, self.unmet = file.name, skipped, options.chunk_bytes, 0
        archive = NpzArchive(file.path, file.name)
        self._data, self._indices, self._indptr = map(archive.array, ("data", "indices", "indptr"))
        written, shape = archive.array("format"), archive.array("shape")
        # Nothing is read of a member that is longer than it may be.
        if written.shape not in ((), (1,)) or written.part(0, 1).tolist() not in (["csr"], [b"csr"]):
            raise self._wrong("is not of compressed sparse rows; save X.tocsr()")
        if shape.shape != (2,) or shape.dtype.kind not in "iu":
            raise self._wrong("has no shape of two numbers")
        self._n_rows, self._stored_width = (int(number) for number in shape.part(0, 2))
        self._labels = archive.find(*LABELS)
        if options.labelled and self._labels is None:
            raise FormatError("there are no labels: the file has no array called y", file=file.name)
        self._kind = label_kind(label_field(self._labels or self._data, file.name))  # not used without labels
        self._require_consistent()
        self.n_features = self._stored_width if width is None else width

    def close(self) -> None:
        """Do nothing: the file is mapped into memory."""

    def labels(self) -> Iterator[tuple[NDArray[Any], Ints] | None]:
        """Read the labels alone, some at a time, as `read_labels` does; None: they are missing or wrong."""
        size = max(self._chunk_bytes // (1 if self._labels is None else self._labels.dtype.itemsize), 1)
        for start in range(0, self._n_rows, size):
            raw, bad = self._label_part(start, min(start + size, self._n_rows))
            yield None if raw is None or bad else read_labels(raw, self._kind)

    def chunks(self) -> Iterator[Features]:
        """Read the rows, some at a time."""
        stored = self._data.shape[0]
        size = max(int(self._chunk_bytes / max(12 * stored / self._n_rows, 8)), 1)
        start = int(self._indptr.part(0, 1)[0])
        if start != 0:
            raise self._wrong(f"indptr starts at {start} instead of 0")
        for first in range(0, self._n_rows, size):
            last = min(first + size, self._n_rows)
            ends = self._indptr.part(first + 1, last + 1).astype(np.int64)
            lengths = np.diff(ends, prepend=start)
            if np.any(lengths < 0) or ends[-1] > stored:
                raise self._wrong("indptr falls, or goes beyond what is stored")
            indices = self._indices.part(start, int(ends[-1])).astype(np.int64)
            values = self._data.part(start, int(ends[-1]))
            start = int(ends[-1])
            chunk = self._chunk(values, indices, np.repeat(np.arange(last - first), lengths), first, last)
            if chunk is not None:
                yield chunk

    def _chunk(
        self, values: NDArray[Any], indices: NDArray[Any], row_of: NDArray[Any], first: int, last: int
    ) -> Features | None:
        if indices.size and not (indices.min() >= 0 and indices.max() < self._stored_width):
            raise self._wrong(f"a column number lies outside 0 … {self._stored_width - 1}")
        same_row = np.diff(row_of) == 0
        if (same_row & (np.diff(indices) <= 0)).any():
            order = np.lexsort((indices, row_of))
            values, indices = values[order], indices[order]
            if (same_row & (np.diff(indices) == 0)).any():
                raise self._wrong("a value is stored twice; call sum_duplicates() before saving")
        raw, bad = self._label_part(first, last)
        bad |= self._bad_values(values, indices, row_of, first)
        keep = self._kept(bad, last - first)
        beyond = indices >= self.n_features
        self.unmet += int(np.count_nonzero(beyond & keep[row_of]))
        if not keep.any():
            return None
        wanted = keep[row_of] & ~beyond
        counts = np.bincount(row_of[wanted], minlength=last - first)[keep]
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        data: Any = values[wanted].astype(real_dtype(values.dtype, name="X"))
        rows = CSR(read_only(data), read_only(indices[wanted].astype(np.uint32)), read_only(indptr))
        shape = int(keep.sum()), self.n_features
        if raw is None:
            return Features(rows, *shape)
        classes, codes = map(read_only, read_labels(raw.filter(from_numpy(keep)) if bad else raw, self._kind))
        return Batch(rows, *shape, codes=codes, classes=classes)

    def _bad_values(
        self, values: NDArray[Any], indices: NDArray[Any], row_of: NDArray[Any], first: int
    ) -> dict[int, FormatError]:
        if values.dtype.kind == "f":
            wrong, why = ~np.isfinite(values), "is not finite"
        elif values.dtype.itemsize == 8:
            wrong, why = (
                (values > LARGEST_EXACT_INTEGER) | (values < -LARGEST_EXACT_INTEGER),
                "is an integer beyond 2^53",
            )
        else:
            return {}
        bad: dict[int, FormatError] = {}
        for place in np.flatnonzero(wrong):
            row, column = int(row_of[place]), int(indices[place]) + 1
            problem = FormatError(f"{values[place]} {why}", file=self._file, line=first + row + 1, column=column)
            bad.setdefault(row, problem)
        return bad

    def _label_part(self, first: int, last: int) -> tuple[pa.Array | None, dict[int, FormatError]]:
        if self._labels is None:
            return None, {}
        raw = to_arrow(self._labels.part(first, last), self._file)
        problems = label_problems(raw, self._kind, typed=True).items()
        return raw, {row: what.error(file=self._file, line=first + row + 1) for row, what in problems}

    def _kept(self, bad: dict[int, FormatError], n_rows: int) -> NDArray[np.bool_]:
        keep = np.ones(n_rows, bool)
        for row in sorted(bad):
            if self._skipped is None:
                raise bad[row]
            self._skipped.add(bad[row])
            keep[row] = False
        return keep

    def _require_consistent(self) -> None:
        stored = self._data.shape
        fits = len(stored) == 1 and self._indices.shape == stored and self._indptr.shape == (self._n_rows + 1,)
        integers = self._indices.dtype.kind in "iu" and self._indptr.dtype.kind in "iu"
        if not fits or not integers or self._data.dtype.kind not in "biuf":
            raise self._wrong("has data, indices, indptr and shape that do not fit together")
        if self._n_rows < 1 or not 0 < self._stored_width < 2**31:
            raise self._wrong(f"has the shape {(self._n_rows, self._stored_width)}")
        if self._labels is not None and self._labels.shape not in ((self._n_rows,), (self._n_rows, 1)):
            raise self._wrong(f"has {self._n_rows} rows, but labels of the shape {self._labels.shape}")

    def _wrong(self, problem: str) -> FormatError:
        return FormatError(f"the sparse matrix {problem}", file=self._file)
