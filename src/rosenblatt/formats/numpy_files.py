"""NPY and NPZ: arrays that are mapped where they lie, or read row by row where they are compressed.

Their headers are read by one strict pattern instead of numpy's own reader, which evaluates what it finds and
trusts the sizes it is told. Here a size is compared with that of the file before anything is made of it. Nothing
is ever unpickled.
"""

from __future__ import annotations

import io
import math
import mmap
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError

__all__ = ["Archive", "Array", "open_npy"]

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1 << 16
HEADER = re.compile(
    r"\s*\{\s*'descr':\s*'(?P<dtype>[<>|=]?[a-zA-Z][0-9]{0,6})',\s*'fortran_order':\s*(?P<fortran>True|False),"
    r"\s*'shape':\s*\((?P<shape>[0-9,\s]*)\),?\s*\}\s*"
)
KINDS = "biufUS"


@dataclass(frozen=True)
class Array:
    """An array in a file, not yet read.

    Attributes
    ----------
    shape : tuple of int
        As the header says; the file has just as many bytes as that takes.
    dtype : dtype
        Numbers, bools or strings.
    part : callable
        Takes the first and the last row (not included) and gives a part. Compressed ones give parts only in turn.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    part: Callable[[int, int], NDArray[Any]]

    def whole(self) -> NDArray[Any]:
        """Read all of it."""
        return self.part(0, self.shape[0] if self.shape else 1)


def open_npy(path: str, file: str) -> Array:
    """Map an NPY file."""
    with open(path, "rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    return _mapped(mapped, 0, len(mapped), file)


class _Seekable(io.RawIOBase):
    """What is mapped as a file to read."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped, self._position = mapped, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        begin = (0, self._position, len(self._mapped))[whence]
        if begin + offset < 0:
            raise ValueError("a position before the beginning")
        self._position = begin + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        end = len(self._mapped) if size < 0 else self._position + size
        part = self._mapped[self._position : end]
        self._position += len(part)
        return part


class Archive:
    """An NPZ file: a zip of arrays."""

    def __init__(self, path: str, file: str) -> None:
        self._file = file
        with open(path, "rb") as opened:
            self._mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._zip = zipfile.ZipFile(_Seekable(self._mapped))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
            raise FormatError(f"is no sound NPZ file: {error}", file=file) from error
        self._members = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}
        if len(self._members) != len(self._zip.infolist()):
            raise FormatError("two arrays of the NPZ file have the same name", file=file)

    @property
    def names(self) -> tuple[str, ...]:
        """The arrays that it holds."""
        return tuple(self._members)

    def array(self, name: str) -> Array:
        """Open one of them."""
        info, called = self._members[name], f"{self._file}[{name}]"
        if info.flag_bits & 1:
            raise FormatError("is encrypted", file=called)
        if info.compress_type == zipfile.ZIP_STORED:
            start = self._start_of(info, called)
            if start + info.file_size > len(self._mapped) or info.file_size != info.compress_size:
                raise FormatError("the archive is cut short or damaged", file=called)
            return _mapped(self._mapped, start, info.file_size, called)
        return _compressed(self._opener(info, called), info.file_size, called)

    def _start_of(self, info: zipfile.ZipInfo, called: str) -> int:
        local = self._mapped[info.header_offset : info.header_offset + 30]
        if len(local) < 30 or not local.startswith(b"PK\x03\x04"):
            raise FormatError("the archive is damaged", file=called)
        name_length, extra_length = struct.unpack("<HH", local[26:30])
        return int(info.header_offset + 30 + name_length + extra_length)

    def _opener(self, info: zipfile.ZipInfo, called: str) -> Callable[[], BinaryIO]:
        def opened() -> Any:
            try:
                return self._zip.open(info)
            except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
                raise FormatError(f"the archive is damaged: {error}", file=called) from error

        return opened


def _mapped(mapped: mmap.mmap, start: int, size: int, file: str) -> Array:
    def read(position: int, count: int) -> bytes:
        return mapped[start + position : start + min(position + count, size)]

    dtype, fortran, shape, offset = _header(read, size, file)

    def part(first: int, last: int) -> NDArray[Any]:
        count = math.prod(shape)
        flat: NDArray[Any] = np.frombuffer(mapped, dtype, count, start + offset) if count else np.empty(0, dtype)
        return flat.reshape(shape, order="F" if fortran else "C")[first:last] if shape else flat

    return Array(shape, dtype, part)


def _compressed(opener: Callable[[], BinaryIO], size: int, file: str) -> Array:
    stream = opener()

    def pull(count: int) -> bytes:
        try:
            data = stream.read(count)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise FormatError(f"the archive is damaged: {error}", file=file) from error
        if len(data) != count:
            raise FormatError("the archive is cut short", file=file)
        return data

    taken = b""

    def read(position: int, count: int) -> bytes:
        nonlocal taken
        if position + count > len(taken):
            taken += pull(min(position + count, size) - len(taken))
        return taken[position : position + count]

    dtype, fortran, shape, _ = _header(read, size, file)
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
        assert first == done, "compressed arrays are read in turn"
        done = last
        data = pull((last - first) * width)
        if done == (shape[0] if shape else 1):
            pull_end(stream, file)
        return np.frombuffer(data, dtype).reshape((last - first, *shape[1:])) if data else _empty(shape, dtype)

    return Array(shape, dtype, part)


def pull_end(stream: BinaryIO, file: str) -> None:
    """Read the end of a compressed array, where its checksum is compared."""
    try:
        if stream.read(1):
            raise FormatError("the archive holds more than its header says", file=file)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise FormatError(f"the archive is damaged: {error}", file=file) from error


def _empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.empty((0, *shape[1:]), dtype)


def _header(
    read: Callable[[int, int], bytes], size: int, file: str
) -> tuple[np.dtype[Any], bool, tuple[int, ...], int]:
    """Read the header of an array; the values begin at the position given last."""
    begin = read(0, min(12, size))
    if len(begin) < 10 or not begin.startswith(MAGIC) or begin[6] not in (1, 2, 3):
        raise FormatError("is no NPY file", file=file)
    wide = begin[6] > 1
    length = int.from_bytes(begin[8:12] if wide else begin[8:10], "little")
    offset = (12 if wide else 10) + length
    if length > LONGEST_HEADER or offset > size:
        raise FormatError("the header of the NPY file is damaged", file=file)
    text = read(12 if wide else 10, length).decode("latin-1")
    match = HEADER.fullmatch(text)
    if match is None:
        why = (
            "holds Python objects or records"
            if "'|O'" in text or "[(" in text
            else "has no header that can be read"
        )
        raise FormatError(f"{why}; save plain arrays of numbers or strings", file=file)
    dtype = _dtype(match["dtype"], file)
    shape = tuple(int(number[:30]) for number in match["shape"].replace(",", " ").split())
    needed = math.prod(shape) * dtype.itemsize
    if needed != size - offset:
        raise FormatError(
            f"the header speaks of {needed} bytes of values (shape {shape}, {dtype}), not of {size - offset}",
            file=file,
        )
    return dtype, match["fortran"] == "True", shape, offset


def _dtype(written: str, file: str) -> np.dtype[Any]:
    kind, size = written.lstrip("<>|=")[0], written.lstrip("<>|=")[1:]
    if kind not in KINDS or (kind == "f" and size not in ("2", "4", "8")):
        what = f"holds values of type {written!r}, which are neither strings nor real numbers of 64 bits at most"
        raise FormatError(f"{what}; convert them with astype", file=file)
    try:
        dtype = np.dtype(written)
    except (TypeError, ValueError):
        raise FormatError(f"holds values of the unknown type {written!r}", file=file) from None
    if not 0 < dtype.itemsize <= 1 << 16:
        raise FormatError(f"holds strings of {dtype.itemsize} bytes each", file=file)
    return dtype
