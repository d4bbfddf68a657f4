"""LIBSVM and SVMlight text, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError
from rosenblatt.loops.layout import CSR
from rosenblatt.parameters import check_count
from rosenblatt.rows.batch import Batch, Skipped
from rosenblatt.rows.features import Features, read_only
from rosenblatt.tables.data_file import DataFile
from rosenblatt.tables.delimited_rows import LONGEST_LINE, PADDING_BYTES, LineBlocks
from rosenblatt.tables.reading import Options, loop_pays
from rosenblatt.tables.svmlight_plain import LARGEST_INDEX, Progress, Room, ZeroIndexError, read_next_line
from rosenblatt.threads import Pool, allowed
from rosenblatt.typing import Floats

__all__ = ["SvmlightReader", "open_svmlight"]

SAMPLE_BYTES = 1 << 20
"""Bytes that decide where indices begin. It must not depend on the size of chunks."""

MAX_PLAIN_BYTES = 1 << 19
"""Bytes that plain Python reads in less time than loading the compiled loop takes."""

_WHOLE_FLOATS = 2.0**53  # below it, every whole number is a float


class TextPart(NamedTuple):
    """Whole lines: their text up to `stop`, the lines before it, the first index, and the lines skipped so far."""

    text: bytearray
    stop: int
    before: int
    base: int
    skipped: Skipped | None


def open_svmlight(file: DataFile, options: Options, width: int | None, skipped: Skipped | None) -> SvmlightReader:
    """Open a file; the parameters are explained at `SvmlightReader`."""
    return SvmlightReader(
        file.open(),
        file=file.name,
        zero_based=options.zero_based,
        skipped=skipped,
        chunk_bytes=options.chunk_bytes,
        width=width,
    )


class SvmlightReader:
    r"""Rows of a file in the format of LIBSVM and SVMlight.

    A line is ``label [qid:N] index:value … [# comment]``. Indices ascend along a line. Numbers are rounded as
    Python rounds them; ``nan`` and ``inf`` are refused. Comments are ignored.

    Parameters
    ----------
    stream : binary file
        Read once, from its current position to its end.
    file : str
        What messages call it.
    zero_based : bool or None
        Whether the first column is written as 0, not as 1. None: it is 0 if the index 0 occurs within the first
        mebibyte that has indices, else it is 1, and a later 0 is an error.
    skipped : Skipped or None
        Counts the lines that cannot be read; None makes the first one an error. A 0 after indices were found to
        begin at 1 is always an error.
    chunk_bytes : int
        About how much text becomes one chunk; a longer line is one.
    width : int or None
        The number of features. Entries beyond them are left out and counted.

    Attributes
    ----------
    zero_based : bool or None
        What was decided; None before that.
    n_features : int
        `width`, or the number of columns met so far.
    unmet : int
        Entries beyond `width`.
    span : tuple of int
        The smallest and the largest index of the last chunk, as written.
    queries : ndarray
        The number after ``qid:`` of each row of the last chunk, or −1.

    Examples
    --------
    >>> from io import BytesIO
    >>> reader = SvmlightReader(BytesIO(b"+1 1:0.5 3:2\n-1 2:1 # no\n"), file="mail.svm")
    >>> for chunk in reader.chunks():
    ...     print(chunk.labels, chunk.native().toarray())
    [ 1 -1] [[0.5 0.  2. ]
             [0.  1.  0. ]]
    >>> reader.zero_based, reader.n_features
    (False, 3)
    """

    def __init__(
        self,
        stream: BufferedIOBase,
        *,
        file: str,
        zero_based: bool | None = None,
        skipped: Skipped | None = None,
        chunk_bytes: int = 1 << 21,
        width: int | None = None,
    ) -> None:
        check_count("chunk_bytes", chunk_bytes, most=LONGEST_LINE)
        if width is not None:
            check_count("width", width, most=LARGEST_INDEX + 1)
        self.zero_based = zero_based
        self.n_features = width or 0
        self.unmet = 0
        self.span = (0, -1)
        self.queries = np.empty(0, np.int64)
        self._guesses = zero_based is None
        self._file, self._skipped, self._chunk_bytes, self._width = file, skipped, chunk_bytes, width
        self._blocks = LineBlocks(stream, file=file, skipped=None if skipped is None else Skipped())

    def chunks(self) -> Iterator[Batch]:
        """Read the rows, some at a time; each chunk has at least one."""
        while self.zero_based is None and (stop := self._blocks.read(SAMPLE_BYTES)):
            yield from self._counted(*self._rows(self._part(stop)))
        if self.zero_based is not None:
            with Pool(allowed()) as pool:
                for found in pool.ordered(self._rows, self._parts(copies=pool.n_threads > 1)):
                    yield from self._counted(*found)
        self._count_skipped(self._blocks.skipped)

    def labels(self) -> Iterator[None]:
        """Yield None: labels cannot be read without the features."""
        yield None

    def close(self) -> None:
        """Close the stream."""
        self._blocks.close()

    def _parts(self, *, copies: bool) -> Iterator[TextPart]:
        """Read blocks; several threads need a copy of each, because the next is read into the same memory."""
        while stop := self._blocks.read(self._chunk_bytes):
            part = self._part(stop)
            yield part._replace(text=part.text[: stop + PADDING_BYTES]) if copies else part

    def _part(self, stop: int) -> TextPart:
        skipped = self._blocks.skipped
        self._blocks.skipped = None if skipped is None else Skipped()
        return TextPart(self._blocks.text, stop, self._blocks.before, int(self.zero_based is False), skipped)

    def _counted(self, room: Room, progress: Progress, skipped: Skipped | None) -> Iterator[Batch]:
        self._count_skipped(skipped)
        if progress.rows:
            yield self._chunk(room, progress)

    def _count_skipped(self, found: Skipped | None) -> None:
        if self._skipped is not None and found is not None:
            self._skipped.merge(found)

    def _rows(self, part: TextPart) -> tuple[Room, Progress, Skipped | None]:
        """Read a block into arrays: with the loop the lines that it is sure of, in plain Python the others."""
        text, stop, base, progress = part.text, part.stop, part.base, Progress()
        if not loop_pays(stop, MAX_PLAIN_BYTES):
            room = _room(text.count(b"\n", 0, stop), text.count(b":", 0, stop))
            while progress.at < stop:
                progress = self._next_line(part, room, progress)
            return room, progress, part.skipped

        from rosenblatt.loops.svmlight_numbers import count_lines_and_colons, read_lines

        array, settings = np.frombuffer(text, dtype=np.uint8), (base, LARGEST_INDEX)
        room = _room(*count_lines_and_colons(array, stop))
        while True:
            progress = Progress(*read_lines(array, stop, settings, tuple(room), tuple(progress)))
            if progress.at == stop:
                return room, progress, part.skipped
            progress = self._next_line(part, room, progress)

    def _next_line(self, part: TextPart, room: Room, progress: Progress) -> Progress:
        try:
            return read_next_line(part.text, part.base, room, progress, self._file, part.before)
        except FormatError as problem:
            if part.skipped is None or (self._guesses and isinstance(problem, ZeroIndexError)):
                raise
            part.skipped.add(problem)
            return progress._replace(at=part.text.index(b"\n", progress.at) + 1, lines=progress.lines + 1)

    def _chunk(self, room: Room, progress: Progress) -> Batch:
        labels, indptr = room.labels[: progress.rows], room.indptr[: progress.rows + 1]
        data, indices = room.data[: progress.stored], room.indices[: progress.stored]
        if self.zero_based is None and progress.stored:
            self.zero_based = progress.smallest == 0
            if not self.zero_based:
                indices -= np.uint32(1)
        self.span, self.queries = (progress.smallest, progress.largest), room.queries[: progress.rows]
        met = progress.largest + int(self.zero_based is True)
        if self._width is None:
            self.n_features = max(self.n_features, met)
        elif met > self._width:
            data, indices, indptr = self._within(self._width, data, indices, indptr)
        csr = CSR(read_only(data), read_only(indices), read_only(indptr))
        return Batch.of(Features(csr, progress.rows, max(self.n_features, 1)), _whole(labels))

    def _within(self, width: int, data: Any, indices: Any, indptr: Any) -> tuple[Any, Any, Any]:
        kept = indices < width
        kept_before = np.concatenate([[0], np.cumsum(kept)])
        self.unmet += int(kept.size - kept_before[-1])
        return data[kept], indices[kept], kept_before[indptr].astype(np.uint32)


def _room(lines: int, colons: int) -> Room:
    indptr = np.empty(lines + 1, dtype=np.uint32)
    indptr[0] = 0
    entries, queries = np.empty(colons), np.empty(lines, dtype=np.int64)
    return Room(np.empty(lines), entries, np.empty(colons, dtype=np.uint32), indptr, queries)


def _whole(labels: Floats) -> NDArray[Any]:
    """Return labels as integers where all of them are."""
    whole = labels.astype(np.int64) if np.all(np.abs(labels) < _WHOLE_FLOATS) else None
    return labels if whole is None or np.any(whole != labels) else whole
