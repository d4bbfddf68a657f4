"""NPY and NPZ: arrays mapped into memory, or read row by row where they are compressed.

Headers are matched with one strict pattern: numpy's own reader parses any Python literal, and warns or fails with
errors of the parser where it is damaged. The size that a header claims is compared with that of the file before
memory is allocated. Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import math
import mmap
import re
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError
from rosenblatt.formats.data_file import reason_of
from rosenblatt.formats.zipped import BROKEN

__all__ = ["NpzArchive", "StoredArray", "open_npy"]

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
        in order.
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
            there = ", ".join(self.names[:12]) or "nothing"
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
        try:
            stream = self._zip.open(info)
        except BROKEN as error:
            raise FormatError(f"the archive is damaged: {reason_of(error)}", file=called) from error
        return _compressed(stream, info.file_size, called)

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


def _compressed(stream: IO[bytes], size: int, file: str) -> StoredArray:
    def read(count: int) -> bytes:
        try:
            return stream.read(count)
        except BROKEN as error:
            raise FormatError(f"the archive is damaged: {reason_of(error)}", file=file) from error

    dtype, fortran, shape, _ = _read_header(read, size, file)
    if fortran and len(shape) > 1 and min(shape) > 1:
        raise FormatError(
            "is compressed and in Fortran order, and so cannot be read row by row: save it uncompressed, "
            "or np.ascontiguousarray of it",
            file=file,
        )
    width = math.prod(shape[1:]) * dtype.itemsize
    done = 0

    def part(first: int, last: int) -> NDArray[Any]:
        nonlocal done
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
