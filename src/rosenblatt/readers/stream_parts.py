"""The beginning of a stream, looked at before the rest is read."""

from __future__ import annotations

import io
import re
from typing import BinaryIO

from rosenblatt.readers.row_ends import LONGEST

__all__ = ["Joined", "beginning", "behind_rows"]

HEAD = 1 << 20
"""Bytes from which the types of columns are inferred, whatever the size of chunks, so that this decides nothing."""

BOM = b"\xef\xbb\xbf"


class Joined(io.BufferedIOBase):
    """What was read already, and then the rest.

    Examples
    --------
    >>> Joined(b"abc", io.BytesIO(b"defg")).read(5)
    b'abcde'
    """

    def __init__(self, head: bytes, rest: BinaryIO | None = None) -> None:
        self._head, self._rest = head, rest

    def read(self, size: int | None = -1, /) -> bytes:
        """Read so many bytes, fewer only at the end."""
        if size is None or size < 0:
            part, self._head = self._head, b""
            return part + self._rest.read() if self._rest else part
        part, self._head = self._head[:size], self._head[size:]
        if len(part) == size or self._rest is None:
            return part
        more = self._rest.read(size - len(part))
        return part + more if part else more


def beginning(stream: BinaryIO, n_rows: int) -> tuple[bytes, bool]:
    """Read the beginning, a few rows of it at least, and tell whether that is all there is."""
    head = stream.read(HEAD).removeprefix(BOM)
    wanted = HEAD - len(BOM)
    while len(head) >= wanted and behind_rows(head, n_rows) >= len(head) and len(head) < LONGEST:
        wanted = 2 * len(head)
        head += stream.read(wanted - len(head))
    return head, len(head) < wanted


def behind_rows(data: bytes, n_rows: int) -> int:
    """Give a position behind so many rows that are not empty, where none goes over several lines."""
    found = 0
    for match in re.finditer(rb"[^\r\n]+(?:\r\n|\n|\r)", data):
        found += 1
        if found == n_rows:
            return match.end()
    return len(data)
