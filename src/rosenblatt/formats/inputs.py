"""What is to be read: paths, globs and standard input, decompressed, and of which format each is."""

from __future__ import annotations

import glob
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from rosenblatt.exceptions import FormatError, InputError, ParameterError

__all__ = ["FORMATS", "Input", "expand"]

FORMATS = ("csv", "tsv", "svmlight", "parquet", "arrow", "npz", "npy", "jsonl")
STDIN = "<stdin>"
HEAD = 1 << 16  # bytes that are looked at to tell formats apart

ENDINGS = {
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "svmlight": ("svm", "svmlight", "libsvm"),
    "jsonl": ("jsonl", "ndjson"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "arrows", "feather", "ipc"),
    "npy": ("npy",),
    "npz": ("npz",),
}
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
MARKS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
}
SVMLIGHT = re.compile(rb"[+-]?[\d.]+([eE][+-]?\d+)?([ \t]+qid:\d+)?([ \t]+\d+:[^\s:]+)+[ \t]*(#.*)?\r?$")
ONLY_FROM_FILES = ("parquet", "npz", "npy")


class Stream(io.BufferedIOBase):
    """Bytes that were begun to be looked at; damage and truncation are errors that name the file."""

    def __init__(self, raw: Any, file: str, below: Stream | None = None) -> None:
        self._raw, self._file, self._below, self._head = raw, file, below, b""

    def readable(self) -> bool:
        """Say that there is something to read."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read so many bytes, fewer only at the end."""
        parts, left = [], size if size is not None and size >= 0 else sys.maxsize
        if self._head:
            parts.append(self._head[:left])
            self._head = self._head[left:]
            left -= len(parts[0])
        parts += self._read_all(left)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def head(self) -> bytes:
        """Look at the first bytes without taking them."""
        if len(self._head) < HEAD:
            self._head += b"".join(self._read_all(HEAD - len(self._head)))
        return self._head

    def close(self) -> None:
        """Close what it was read from, unless that is standard input."""
        if not self.closed and self._raw is not getattr(sys.stdin, "buffer", None):
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
            return self._raw.read(size) or b""
        except OSError as error:
            reason = error.strerror or str(error)
            raise FormatError(
                f"cannot be read to its end: {reason}. The file may be damaged or cut short", file=self._file
            ) from error


class Input:
    """One place to read from.

    Attributes
    ----------
    name : str
        As it is named in messages.
    path : str or None
        Where it lies; None for standard input.
    """

    def __init__(self, place: str) -> None:
        self.path = None if place == "-" else place
        self.name = STDIN if self.path is None else place
        self._stdin: Stream | None = None

    def open(self) -> Stream:
        """Open it as a stream of bytes, decompressed if need be. Standard input is one stream throughout."""
        if self._stdin is not None:
            return self._stdin
        if self.path is None:
            self._stdin = self._decompressed(Stream(_standard_input(), self.name))
            return self._stdin
        try:
            return self._decompressed(Stream(open(self.path, "rb", buffering=0), self.name))
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def format(self, asked: str | None) -> str:
        """Find out the format: as asked for, or by what the file begins with and how it is called."""
        if asked is not None and asked not in FORMATS:
            raise ParameterError(f"format is {asked!r}, but must be one of {', '.join(FORMATS)}.")
        stream = self.open()
        try:
            head = stream.head()
        finally:
            if self.path is not None:
                stream.close()
        if not head and asked not in ("svmlight",):
            raise FormatError("the file is empty", file=self.name)
        found = asked or self._by_mark(head) or self._by_ending() or _by_content(head)
        if asked is None and re.match(rb"\s*\[\s*\{", head):
            raise FormatError(
                "this is an array of JSON objects; write one object a line instead, as jq -c '.[]' does",
                file=self.name,
            )
        only_from_files = found in ONLY_FROM_FILES or head.startswith(b"ARROW1")
        if only_from_files and (self.path is None or self.is_compressed):
            what = "standard input" if self.path is None else "a compressed file"
            raise FormatError(f"{found} cannot be read from {what}: save it to a plain file", file=self.name)
        return found

    def _by_mark(self, head: bytes) -> str | None:
        return next((format_ for mark, format_ in MARKS.items() if head.startswith(mark)), None)

    def _by_ending(self) -> str | None:
        parts = Path(self.path or "").name.lower().split(".")[1:]
        while parts and parts[-1] in ("gz", "gzip", "zst", "zstd"):
            parts.pop()
        return next((format_ for format_, endings in ENDINGS.items() if parts and parts[-1] in endings), None)

    @property
    def is_compressed(self) -> bool:
        """Whether the file must be decompressed first."""
        with open(self.path or "", "rb") as file:
            return _compression(file.read(4)) is not None

    def _decompressed(self, stream: Stream) -> Stream:
        try:
            kind = _compression(stream.head()[:4])
        except BaseException:
            stream.close()
            raise
        if kind is None:
            return stream
        import pyarrow as pa

        return Stream(pa.CompressedInputStream(pa.PythonFile(stream, "r"), kind), self.name, below=stream)


def expand(places: Sequence[str]) -> list[Input]:
    """Give an input for each file, in the order of the places; the files of a glob are sorted."""
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
        raise InputError(f"There is no such file: {', '.join(missing)}.")
    if found.count("-") > 1:
        raise InputError("Standard input (-) can be read only once.")
    folders = [place for place in found if os.path.isdir(place)]
    if folders:
        raise InputError(f"{', '.join(folders)}: a folder, not a file. Name its files, as in {folders[0]}/*.csv.")
    return [Input(place) for place in found]


def _by_content(head: bytes) -> str:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    lines = [line for line in text.splitlines()[:100] if line.strip() and not line.startswith(b"#")]
    if lines and SVMLIGHT.match(lines[0]):
        return "svmlight"
    return "tsv" if lines and b"\t" in lines[0] and b"," not in lines[0].split(b"\t")[0] else "csv"


def _compression(head: bytes) -> str | None:
    return next((kind for mark, kind in COMPRESSED.items() if head.startswith(mark)), None)


def _standard_input() -> BinaryIO:
    return sys.stdin.buffer


def _unreadable(path: str, error: OSError) -> InputError:
    return InputError(f"{path} cannot be read: {error.strerror or error}.")
