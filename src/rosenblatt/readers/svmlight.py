"""Stand-in for the svmlight reader, to be replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.exceptions import FormatError
from rosenblatt.loops.layout import CSR
from rosenblatt.readers.chunk import Chunk, Skipped


class SvmlightReader:
    """Read it all at once."""

    def __init__(
        self,
        stream: BinaryIO,
        *,
        file: str,
        zero_based: bool | None = None,
        skipped: Skipped | None = None,
        chunk_bytes: int = 1 << 23,
        width: int | None = None,
    ) -> None:
        self._stream, self._file, self._width = stream, file, width
        self.zero_based, self.n_features, self.unmet, self._skipped = zero_based, width or 0, 0, skipped

    def chunks(self) -> Iterator[Chunk]:
        """Give one chunk."""
        labels, rows = [], []
        for line, text in enumerate(self._stream.read().splitlines(), 1):
            try:
                label, *pairs = text.split()
                rows.append({int(i): float(v) for i, v in (pair.split(b":") for pair in pairs)})
                labels.append(int(float(label)))
            except ValueError as error:
                problem = FormatError(str(error), file=self._file, line=line, column=1)
                if self._skipped is None:
                    raise problem from error
                self._skipped.add(problem)
        if self.zero_based is None:
            self.zero_based = any(0 in row for row in rows)
        base = 0 if self.zero_based else 1
        if self._width is None:
            self.n_features = max((i for row in rows for i in row), default=base) - base + 1
        kept = [{i - base: v for i, v in row.items() if i - base < self.n_features} for row in rows]
        self.unmet += sum(map(len, rows)) - sum(map(len, kept))
        flat = [(i, v) for row in kept for i, v in row.items()]
        csr = CSR(
            np.array([v for _, v in flat]),
            np.array([i for i, _ in flat], np.uint32),
            np.cumsum([0, *map(len, kept)]).astype(np.uint64),
        )
        if rows:
            yield Chunk(Features(csr, len(rows), self.n_features), np.array(labels))
