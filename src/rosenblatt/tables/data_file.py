"""Files to read: paths, globs, pipes and standard input, decompressed while they are read."""

from __future__ import annotations

import codecs
import glob
import io
import os
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cached_property
from typing import IO, Any, Protocol, TypeVar

from rosenblatt.escaping import printable
from rosenblatt.exceptions import FormatError, Given, InputError, ParameterError, Remedy
from rosenblatt.parameters import RANGE
from rosenblatt.tables.delimited_rows import BYTE_ORDER_MARK, LONGEST_LINE, behind_rows

__all__ = [
    "ZIP_MARKS",
    "ByteStream",
    "DataFile",
    "ZippedFile",
    "closed_on_error",
    "expand",
    "once_only",
    "reason_of",
    "zipped_table",
]


# One table in a zip archive, decompressed while it is read.

ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""What zipfile raises for damaged archives."""
DAMAGE = (*BROKEN, IndexError)  # where a file has no name
MAX_LISTED_NAMES = 8
"""The most names that an error lists."""


def zipped_table(path: str, name: str) -> str | None:
    """Return the only file in an archive, or None if the archive is an NPZ file.

    Raises
    ------
    FormatError
        The archive is damaged, is empty, or holds several files; `name` is what messages call it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            found = [each.filename for each in archive.infolist() if not _is_extra(each)]
    except DAMAGE as error:
        if path.lower().endswith(".npz"):
            return None  # which its own reader explains
        raise FormatError(f"is no valid zip archive: {printable(str(error))[:300]}", file=name) from error
    if path.lower().endswith(".npz") or (found and all(each.endswith(".npy") for each in found)):
        return None
    if {"[Content_Types].xml", "content.xml"} & {*found}:
        problem = "this is a spreadsheet or document, not a table as text; save its sheet as CSV"
        raise FormatError(problem, file=name)
    if len(found) == 1:
        return found[0]
    if not found:
        raise FormatError("the zip archive holds no file", file=name)
    listed = ", ".join(printable(each) for each in found[:MAX_LISTED_NAMES]) + (
        ", …" if len(found) > MAX_LISTED_NAMES else ""
    )
    raise FormatError(
        f"the zip archive holds {len(found)} files, but one table is expected: {listed}. Extract the one to read",
        file=name,
    )


class ZippedFile(io.RawIOBase):
    """One file of an archive, opened; all damage is an OSError."""

    def __init__(self, path: str, member: str) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except DAMAGE as error:
            raise OSError(str(error)) from error
        self._opened: IO[bytes] | None = None
        self._member = member

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to `size` bytes; none are the end, where the checksum has been compared."""
        try:
            if self._opened is None:
                self._opened = self._archive.open(self._member)
            return self._opened.read(-1 if size is None else size)
        except DAMAGE as error:
            raise OSError(str(error)) from error

    def close(self) -> None:
        """Close the archive."""
        if self._opened is not None:
            self._opened.close()
        self._archive.close()
        super().close()


def _is_extra(info: zipfile.ZipInfo) -> bool:
    """Return whether an entry is a folder, or a file that a file manager adds."""
    parts = info.filename.split("/")
    return info.is_dir() or parts[0] == "__MACOSX" or parts[-1].startswith(".")


STDIN = "<stdin>"
STDIN_PATHS = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
TYPED_HEAD_BYTES = 1 << 20
"""Bytes from which the types of columns are inferred. It must not depend on the size of chunks."""

PAUSE_SECONDS = 0.01  # seconds between looks at a stream that does not block
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class ByteStream(io.BufferedIOBase):
    """A stream of bytes whose beginning can be looked at before it is read; its errors name the file."""

    def __init__(self, raw: Any, file: str, *, below: ByteStream | None = None, keep_open: bool = False) -> None:
        self.file, self._raw, self._below, self._keep_open = file, raw, below, keep_open
        self._head = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read `size` bytes, fewer only at the end."""
        parts, left = [], size if size is not None and size >= 0 else sys.maxsize
        if self._head:
            parts.append(self._head[:left])
            self._head = self._head[left:]
            left -= len(parts[0])
        parts += self._read_all(left)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def head(self, size: int) -> bytes:
        """Return the first `size` bytes without taking them."""
        if len(self._head) < size:
            self._head += b"".join(self._read_all(size - len(self._head)))
        return self._head[:size]

    def beginning(self, n_rows: int) -> tuple[bytes, bool]:
        """Return at least `n_rows` rows of text without taking them, and whether that is the whole text.

        A byte order mark is dropped.
        """
        if self.head(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK:
            self.read(len(BYTE_ORDER_MARK))
        size, head = TYPED_HEAD_BYTES, self.head(TYPED_HEAD_BYTES)
        while len(head) == size and behind_rows(head, n_rows) == size and size < LONGEST_LINE:
            size *= 2
            head = self.head(size)
        if len(head) == LONGEST_LINE == size:
            self._require_end_of_line(head)
        return head, len(head) < size

    def _require_end_of_line(self, head: bytes) -> None:
        """Raise `FormatError` if the line in which `head` ends is too long."""
        begun = len(head) - max(head.rfind(b"\n"), head.rfind(b"\r")) - 1
        more = self.head(len(head) + LONGEST_LINE - begun + 1)[len(head) :]
        if len(more) > LONGEST_LINE - begun and b"\n" not in more and b"\r" not in more:
            raise FormatError(
                f"a line has more than {LONGEST_LINE >> 20} MiB: this is no table, or its lines do not end in \\n",
                file=self.file,
                line=head.count(b"\n") + 1,
            )

    def close(self) -> None:
        """Close what is read from, unless that is to be kept open, as standard input is."""
        if not self.closed and not self._keep_open:
            self._raw.close()
            if self._below is not None:
                self._below.close()
        super().close()

    def _read_all(self, left: int) -> Iterator[bytes]:
        while left > 0 and (part := self._read_some(min(left, 1 << 24))):
            yield part
            left -= len(part)

    def _read_some(self, size: int) -> bytes:
        try:
            while (part := self._raw.read(size)) is None:  # nothing has arrived yet
                time.sleep(PAUSE_SECONDS)
            return bytes(part)
        except OSError as error:
            raise FormatError(
                f"cannot be read to its end: {reason_of(error)}. The file may be damaged or cut short",
                file=self.file,
            ) from error


class DataFile:
    """A file on disk, standard input, or another stream: a named pipe, a shell's ``<(…)``, a device.

    Attributes
    ----------
    path : str
        Where the file is; ``-`` for standard input.
    name : str
        What messages call it.
    is_stream : bool
        Whether this is no regular file, so that its bytes come only once.
    encoding : str or None
        The encoding of its text; None: UTF-8, or UTF-16 where the file begins with its mark.
    """

    def __init__(self, path: str, encoding: str | None = None) -> None:
        self.encoding = encoding
        self.path = "-" if path in STDIN_PATHS and not os.path.isfile(path) else path
        self.name = STDIN if self.path == "-" else path
        self.is_stream = self.path == "-" or not os.path.isfile(path)
        self._opened: ByteStream | None = None

    @property
    def where(self) -> str:
        """The kind of place where the bytes come from."""
        return "standard input" if self.path == "-" else "a pipe" if self.is_stream else "a file"

    @property
    def is_plain(self) -> bool:
        """Whether this is a file on disk that is not compressed."""
        if self.is_stream:
            return False
        with open(self.path, "rb") as file:
            return _compression(file.read(4)) is None and self._zipped is None

    @property
    def inner(self) -> str:
        """The path, or the name of the table in a zip archive."""
        return self._zipped or self.path

    @cached_property
    def _zipped(self) -> str | None:
        """The only file in a zip archive; None if this is no such archive."""
        if self.is_stream:
            return None
        with self._raw() as raw:
            is_zip = raw.head(4) in ZIP_MARKS
        return zipped_table(self.path, self.name) if is_zip else None

    def open(self) -> ByteStream:
        """Open the file as decompressed bytes. A stream is opened once, and what was looked at is not lost."""
        if self._opened is not None:
            if self._opened.closed:
                raise once_only([self])
            return self._opened
        opened = _recoded(_decompressed(self._raw(self._zipped)), self.encoding)
        if self.is_stream:
            self._opened = opened
        return opened

    def _raw(self, zipped: str | None = None) -> ByteStream:
        if self.path == "-":
            if sys.stdin is None:
                raise InputError("Standard input is closed: name a file, or send data with a pipe.")
            return ByteStream(sys.stdin.buffer, self.name, keep_open=True)
        try:
            if zipped is not None:
                return ByteStream(ZippedFile(self.path, zipped), self.name)
            return ByteStream(open(self.path, "rb", buffering=0), self.name)
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror or error}.") from error

    def head(self, size: int) -> bytes:
        """Return the first bytes, decompressed."""
        stream = self.open()
        try:
            return stream.head(size)
        finally:
            if not self.is_stream:
                stream.close()


def once_only(files: Sequence[DataFile]) -> InputError:
    """Return the error of reading a stream a second time."""
    stream = next(file for file in files if file.is_stream)
    named = "Standard input" if stream.path == "-" else f"{stream.name} is a pipe, which"
    return InputError(f"{named} can be read only once: save it to a file first, and name that file.")


def expand(places: Sequence[str], encoding: str | None = None) -> list[DataFile]:
    """Return the files that paths and globs name, in their order; the files of each glob are sorted."""
    if encoding is not None:
        require_encoding(encoding)
    if not places:
        raise InputError("There is nothing to read: name a file, a glob, or - for standard input.")
    found: list[str] = []
    missing: list[str] = []
    for place in map(os.fspath, places):
        if place == "-" or os.path.exists(place):
            found.append(place)
        else:
            matches = sorted(glob.glob(place, recursive=True)) if glob.has_magic(place) else []
            found += matches
            if not matches:
                missing.append(place)
    if missing:
        raise InputError(f"There is no such file: {', '.join(missing)}{near_names(missing[0])}")
    folders = [place for place in found if os.path.isdir(place)]
    if folders:
        raise InputError(f"{', '.join(folders)}: a folder, not a file. Name its files, as in {folders[0]}/*.csv.")
    files = [DataFile(place, encoding) for place in found]
    streams = [file for file in files if file.is_stream]
    if len({os.path.realpath(file.path) for file in streams}) < len(streams):
        raise InputError("A pipe or standard input (-) can be read only once, but is named twice.")
    return files


def near_names(path: str) -> str:
    """Return the end of a sentence about a path that does not exist: a similar name, if there is one."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or os.curdir)
    except OSError:
        return f". There is no folder {folder}." if folder and not os.path.isdir(folder) else "."
    near = get_close_matches(name, names, 1)
    return f"; did you mean {os.path.join(folder, near[0])}?" if near else "."


class _Closes(Protocol):
    def close(self) -> None: ...


_Opened = TypeVar("_Opened", bound=_Closes)


@contextmanager
def closed_on_error(opened: _Opened) -> Iterator[_Opened]:
    """Close a stream or a source if an error is raised while it is used, and leave it open otherwise."""
    try:
        yield opened
    except BaseException:
        opened.close()
        raise


def reason_of(error: BaseException) -> str:
    """Return what a library says of a damaged file, in one line of a length that people read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return printable(" ".join(reason.split()))[:300]


def _decompressed(stream: ByteStream) -> ByteStream:
    with closed_on_error(stream):
        kind = _compression(stream.head(4))
    if kind is None:
        return stream
    import pyarrow as pa

    return ByteStream(pa.CompressedInputStream(pa.PythonFile(stream, "r"), kind), stream.file, below=stream)


def require_encoding(encoding: str) -> None:
    """Raise `ParameterError` unless this is the name of an encoding of text."""
    try:
        "".encode(encoding)  # refuses codecs that are not of text
    except (LookupError, ValueError) as error:
        told = " is no encoding of text. Use one such as latin-1, cp1252 or utf-16."
        raise ParameterError(Given("encoding", encoding) + told, code=RANGE) from error


class _Recoder(io.RawIOBase):
    """A stream of text in another encoding, as UTF-8."""

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        self._stream, self._encoding = stream, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ended = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Read about `size` bytes; none are the end."""
        while not self._ended:
            part = self._stream.read(size)
            self._ended = not part
            try:
                text = self._decoder.decode(part, final=self._ended)
            except UnicodeError as error:
                raise FormatError(
                    f"is not {self._encoding} throughout: {error}; name another encoding with "
                    + Remedy("encoding"),
                    code="encoding",
                    file=self._stream.file,
                ) from error
            if text:
                return text.encode(errors="replace")
        return b""


def _recoded(stream: ByteStream, encoding: str | None) -> ByteStream:
    with closed_on_error(stream):
        if encoding is None and stream.head(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            encoding = "utf-16"
        if encoding is None:
            return stream
        return ByteStream(_Recoder(stream, encoding), stream.file, below=stream)


def _compression(head: bytes) -> str | None:
    return next((kind for mark, kind in COMPRESSED.items() if head.startswith(mark)), None)
