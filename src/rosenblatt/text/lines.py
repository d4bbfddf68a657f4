"""Whole lines from a stream, in blocks of about the size asked for."""

from __future__ import annotations

import time
from typing import Any, BinaryIO, cast

from rosenblatt.data.chunk import Skipped
from rosenblatt.exceptions import FormatError

__all__ = ["LONGEST_LINE", "LineBlocks"]

LONGEST_LINE = 1 << 26
"""Bytes; memory is never asked for a longer one."""

PADDING = 16  # bytes behind a block: a last newline, and eight that loops may look at though they mean nothing
_STEP = 1 << 20  # bytes by which a line that is too long is passed over
_PAUSE = 0.01  # seconds
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LineBlocks:
    r"""Reads a stream by blocks of whole lines. The last line ends in a newline even where the file does not.

    How a stream hands over its bytes changes nothing: only the sizes asked for decide where blocks end. A byte
    order mark before the first line is left out, and not counted.

    Parameters
    ----------
    stream : binary file
        From where it stands to its end.
    file : str
        What it is called in messages.
    skipped : Skipped or None
        Counts lines that are too long; None makes them an error.

    Attributes
    ----------
    text : bytearray
        Holds the block, and a few bytes more.
    before : int
        How many lines of the file stand before the block.

    Examples
    --------
    >>> from io import BytesIO
    >>> blocks = LineBlocks(BytesIO(b"one\ntwo\nthree"), file="words", skipped=None)
    >>> while stop := blocks.read(8):
    ...     print(blocks.before, bytes(blocks.text[:stop]))
    0 b'one\ntwo\n'
    2 b'three\n'
    """

    def __init__(self, stream: BinaryIO, *, file: str, skipped: Skipped | None) -> None:
        self.text = bytearray()
        self.before = 0
        self._stream: Any = stream
        self._file, self._skipped = file, skipped
        self._filled = self._given = 0  # bytes that are there, and those of them that were given out
        self._ended = self._begun = False

    def read(self, size: int) -> int:
        """Take the next lines; return how many bytes of `text` they are, 0 at the end of the stream.

        They are as many as fit into `size` bytes, at most `LONGEST_LINE`, or into as many as one long line takes.
        """
        self.before += self.text.count(b"\n", 0, self._given)
        self._drop(self._given)
        while True:
            self._fill(size)
            if self._filled == 0:
                return 0
            stop = self.text.rfind(b"\n", 0, self._filled) + 1
            if not stop and self._filled == LONGEST_LINE:
                self._pass_over_line()
            elif not stop and not self._ended:
                size = min(2 * size, LONGEST_LINE)
            else:
                self._given = stop or self._end_last_line()
                return self._given

    def _fill(self, size: int) -> None:
        """Read until there are `size` bytes, or no more."""
        if not self._begun:
            size = max(size, len(_BYTE_ORDER_MARK))
        if len(self.text) < size + PADDING:
            larger = bytearray(size + PADDING)
            larger[: self._filled] = self.text[: self._filled]
            self.text = larger
        while self._filled < size and not self._ended:
            came = self._read_into(memoryview(self.text)[self._filled : size])
            self._filled += came
            self._ended = came == 0
        if not self._begun:
            self._begun = True
            if self.text.startswith(_BYTE_ORDER_MARK):
                self._drop(len(_BYTE_ORDER_MARK))
                self._fill(size)

    def _read_into(self, room: memoryview) -> int:
        while (came := self._read_some(room)) is None:  # a stream that does not wait has nothing yet
            time.sleep(_PAUSE)
        return came

    def _read_some(self, room: memoryview) -> int | None:
        if hasattr(self._stream, "readinto"):
            return cast("int | None", self._stream.readinto(room))
        piece = self._stream.read(len(room))
        if piece is None:
            return None
        room[: len(piece)] = piece
        return len(piece)

    def _drop(self, count: int) -> None:
        """Forget the first bytes."""
        self.text[: self._filled - count] = self.text[count : self._filled]
        self._filled -= count
        self._given = 0

    def _end_last_line(self) -> int:
        self.text[self._filled] = ord("\n")  # in the padding, if need be
        self._filled += 1
        return self._filled

    def _pass_over_line(self) -> None:
        problem = FormatError(
            f"a line of more than {LONGEST_LINE >> 20} MiB: this is no table, or its lines do not end in \\n",
            file=self._file,
            line=self.before + 1,
            column=LONGEST_LINE,
        )
        if self._skipped is None:
            raise problem
        self._skipped.add(problem)
        self.before += 1
        end = 0
        while self._filled and not end:
            self._drop(self._filled)
            self._fill(_STEP)
            end = self.text.find(b"\n", 0, self._filled) + 1
        self._drop(end)
