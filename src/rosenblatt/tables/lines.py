"""Whole lines from a stream, in blocks of about the size asked for."""

from __future__ import annotations

from io import BufferedIOBase

from rosenblatt.exceptions import FormatError
from rosenblatt.rows.batch import Skipped

__all__ = ["BYTE_ORDER_MARK", "LONGEST_LINE", "LineBlocks"]

LONGEST_LINE = 1 << 26
"""Bytes; no memory is allocated for a longer line or row."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PADDING_BYTES = 16  # bytes behind a block: a last newline, and eight that loops may look at without using them
_SKIP_BYTES = 1 << 20  # bytes by which a line that is too long is skipped


class LineBlocks:
    r"""Reads a stream by blocks of whole lines. The last line ends in a newline even where the file does not.

    Only the sizes asked for decide where blocks end, not the sizes in which the stream delivers its bytes. A byte
    order mark before the first line is dropped and not counted.

    Parameters
    ----------
    stream : binary file
        Read from its current position to its end.
    file : str
        What messages call it.
    skipped : Skipped or None
        Counts lines that are too long; None makes them an error.

    Attributes
    ----------
    text : bytearray
        Holds the block, and a few bytes more.
    before : int
        The number of lines of the file before the block.
    skipped : Skipped or None
        As given; it may be replaced between blocks.

    Examples
    --------
    >>> from io import BytesIO
    >>> blocks = LineBlocks(BytesIO(b"one\ntwo\nthree"), file="words", skipped=None)
    >>> while stop := blocks.read(8):
    ...     print(blocks.before, bytes(blocks.text[:stop]))
    0 b'one\ntwo\n'
    2 b'three\n'
    """

    def __init__(self, stream: BufferedIOBase, *, file: str, skipped: Skipped | None) -> None:
        self.text = bytearray()
        self.before = 0
        self.skipped = skipped
        self._stream, self._file = stream, file
        self._filled = self._given = 0  # bytes in the buffer, and those of them in the current block
        self._ended = self._begun = False

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def read(self, size: int) -> int:
        """Take the next lines; return how many bytes of `text` they are, 0 at the end of the stream.

        They are as many as fit into `size` bytes, at most `LONGEST_LINE`, or one line if that is longer.
        """
        self.before += self.text.count(b"\n", 0, self._given)
        self._drop(self._given)
        while True:
            self._fill(size)
            if self._filled == 0:
                return 0
            stop = self.text.rfind(b"\n", 0, self._filled) + 1
            if not stop and self._filled == LONGEST_LINE:
                self._skip_line()
            elif not stop and not self._ended:
                size = min(2 * size, LONGEST_LINE)
            else:
                if not stop:  # the last line lacks its newline, for which there is padding
                    self.text[self._filled] = ord("\n")
                    stop = self._filled = self._filled + 1
                self._given = stop
                return stop

    def _fill(self, size: int) -> None:
        """Read until there are `size` bytes, or no more."""
        if not self._begun:
            size = max(size, len(BYTE_ORDER_MARK))
        if len(self.text) < size + PADDING_BYTES:
            larger = bytearray(size + PADDING_BYTES)
            larger[: self._filled] = self.text[: self._filled]
            self.text = larger
        while self._filled < size and not self._ended:
            count = self._stream.readinto(memoryview(self.text)[self._filled : size])
            self._filled += count
            self._ended = count == 0
        if not self._begun:
            self._begun = True
            if self.text.startswith(BYTE_ORDER_MARK):
                self._drop(len(BYTE_ORDER_MARK))
                self._fill(size)

    def _drop(self, count: int) -> None:
        """Remove the first bytes."""
        self.text[: self._filled - count] = self.text[count : self._filled]
        self._filled -= count
        self._given = 0

    def _skip_line(self) -> None:
        problem = FormatError(
            f"a line of more than {LONGEST_LINE >> 20} MiB: this is no table, or its lines do not end in \\n",
            file=self._file,
            line=self.before + 1,
            column=LONGEST_LINE,
        )
        if self.skipped is None:
            raise problem
        self.skipped.add(problem)
        self.before += 1
        end = 0
        while self._filled and not end:
            self._drop(self._filled)
            self._fill(_SKIP_BYTES)
            end = self.text.find(b"\n", 0, self._filled) + 1
        self._drop(end)
