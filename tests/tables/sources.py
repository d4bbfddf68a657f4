"""Sources in memory and on disk, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.blocks import Blocks
from rosenblatt.tables.collect import collect
from rosenblatt.tables.file_source import Known, Source
from rosenblatt.tables.reading import Options


class ArraySource(Source):
    """Rows and labels that come in chunks of a few rows, each as narrow as a reader would make it."""

    files: tuple[str, ...] = ()
    options: Options | None = None

    def __init__(self, X: Any, y: Any, step: int = 3) -> None:
        self.X, self.y, self.step = X, np.asarray(y), step
        self.read = 0

    def chunks(self) -> Iterator[Batch]:
        self.read += 1
        for first in range(0, len(self.y), self.step):
            part = self.X[first : first + self.step]
            if issparse(part):
                width = int(self.X[: first + self.step].indices.max(initial=0)) + 1
                if first + self.step >= len(self.y):
                    width = self.X.shape[1]
                part = csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], width))
            yield Batch.of(as_rows(part), self.y[first : first + self.step])


class FileSource(ArraySource):
    """Rows and labels in a file, read anew each time."""

    def __init__(self, path: Path, step: int = 3, known: bool = False) -> None:
        self.path, self.step, self.read = path, step, 0
        self.files = (str(path),)
        self._known = known
        self.options = Options()

    @classmethod
    def write(cls, path: Path, X: np.ndarray, y: Any, **how: Any) -> FileSource:
        with path.open("wb") as file:
            np.save(file, X)
            np.save(file, np.asarray(y))
        return cls(path, **how)

    def chunks(self) -> Iterator[Batch]:
        self.X, self.y = self._arrays()
        return super().chunks()

    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        with self.path.open("rb") as file:
            return np.load(file), np.load(file)

    def known(self) -> Known | None:
        if not self._known:
            return None
        X, y = self._arrays()
        return Known(np.unique(y), *X.shape)


def everywhere(X: Any, y: Any, folder: Path, *, block_bytes: int, step: int = 3) -> dict[str, Blocks]:
    """Return the same rows in memory, in a cache, and where they can be, streamed from their source."""
    found = {
        "memory": collect(ArraySource(X, y, step), block_bytes=block_bytes),
        "cache": collect(ArraySource(X, y, step), memory=0, cache=folder / "cache", block_bytes=block_bytes),
    }
    if not issparse(X):
        source = FileSource.write(folder / "data.npy", X, y, step=step, known=True)
        found["streamed"] = collect(source, memory=0, block_bytes=block_bytes)
    return found


class Chunks(Source):
    """A source of given chunks."""

    def __init__(self, *chunks):
        self._chunks = chunks

    def chunks(self):
        return (as_rows(X) if y is None else Batch.of(as_rows(X), np.asarray(y)) for X, y in self._chunks)


def rows_of(blocks):
    parts = [blocks.read(k) for k in range(blocks.n_blocks)]
    native = [part.native() for part in parts]
    dense = [each if isinstance(each, np.ndarray) else each.toarray() for each in native]
    return np.concatenate(dense), np.concatenate([part.labels for part in parts])
