"""One table in a zip archive, decompressed while it is read."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import IO

from rosenblatt.escaping import printable
from rosenblatt.exceptions import FormatError

__all__ = ["ZIP_MARKS", "ZippedFile", "zipped_table"]

ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""What zipfile raises for damaged archives."""
DAMAGE = (*BROKEN, IndexError)  # where a file has no name
SHOWN = 8
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
    listed = ", ".join(printable(each) for each in found[:SHOWN]) + (", …" if len(found) > SHOWN else "")
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
