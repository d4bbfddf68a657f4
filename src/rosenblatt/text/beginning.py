"""The beginning of a stream, looked at before the rest is read."""

from __future__ import annotations

import re
from itertools import islice

from rosenblatt.text.row_ends import LONGEST, Bytes

__all__ = ["Joined", "beginning", "behind_rows"]

HEAD = 1 << 20
"""Bytes from which the types of columns are inferred, whatever the size of chunks: that must decide nothing."""

BOM = b"\xef\xbb\xbf"


class Joined:
    """What was read already, and then the rest.

    Examples
    --------
    >>> import io
    >>> Joined(b"abc", io.BytesIO(b"defg")).read(5)
    b'abcde'
    """

    def __init__(self, head: bytes, rest: Bytes | None = None) -> None:
        self._head, self._rest = head, rest

    def read(self, size: int, /) -> bytes:
        """Read so many bytes, fewer only at the end."""
        part, self._head = self._head[:size], self._head[size:]
        if len(part) == size or self._rest is None:
            return part
        more = self._rest.read(size - len(part))
        return part + more if part else more

    def close(self) -> None:
        """Close the rest."""
        if self._rest is not None:
            self._rest.close()


def beginning(stream: Bytes, n_rows: int) -> tuple[bytes, bool]:
    """Read the beginning, a few rows of it at least, and tell whether that is all there is."""
    head = stream.read(HEAD).removeprefix(BOM)
    wanted = HEAD - len(BOM)
    while len(head) >= wanted and behind_rows(head, n_rows) >= len(head) and len(head) < LONGEST:
        wanted = 2 * len(head)
        head += stream.read(wanted - len(head))
    return head, len(head) < wanted


def behind_rows(data: bytes, n_rows: int) -> int:
    """Give a position behind so many rows that are not empty, where none goes over several lines."""
    found = re.finditer(rb"[^\r\n](?:\r\n|\n|\r)", data)
    row = next(islice(found, n_rows - 1, None), None)
    return len(data) if row is None else row.end()
