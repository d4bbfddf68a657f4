"""Dense arrays of NPY and NPZ files as tables without names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.columns.arrow_buffers import from_numpy
from rosenblatt.columns.table import EXACT, Block, Field, Kind, Wanted, too_long
from rosenblatt.data.reals import real_dtype
from rosenblatt.exceptions import FormatError
from rosenblatt.formats.numpy_files import Archive, Array, open_npy

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FEATURES", "LABELS", "MatrixTable", "find_member", "labels_of"]

FEATURES = ("X", "data", "features")
LABELS = ("y", "target", "labels", "label")


class MatrixTable:
    """A dense array of rows, with its labels beside it or as one of its columns.

    Parameters
    ----------
    path : str
        An NPY file, or an NPZ file with X (or data, or features) and perhaps y (or target, or labels).
    file : str
        Its name in messages.
    archive : Archive or None
        The NPZ file, if it is one.
    chunk_bytes : int
        About how much to read at once.
    """

    named = False

    def __init__(
        self, path: str, *, file: str, archive: Archive | None = None, chunk_bytes: int = 1 << 21
    ) -> None:
        self.file, self._chunk_bytes = file, chunk_bytes
        self.format = "NPY" if archive is None else "NPZ"
        self._labels: Array | None = None
        if archive is None:
            self._rows = open_npy(path, file)
        else:
            self._rows = archive.array(find_member(archive, FEATURES, file))
            labels = next((name for name in LABELS if name in archive.names), None)
            self._labels = archive.array(labels) if labels else None
        self._require_table()
        width = self._rows.shape[1]
        kind = _kind(self._rows, file)
        called = str(self._rows.dtype)
        self.fields = tuple(Field(f"x{j}", kind, called) for j in range(1, width + 1))
        if self._labels is not None:
            self.fields += (Field("y", _kind(self._labels, file), str(self._labels.dtype)),)

    @property
    def has_labels(self) -> bool:
        """Whether the labels stand beside the rows."""
        return self._labels is not None

    def close(self) -> None:
        """Do nothing: what is mapped is let go when nobody uses it any more."""

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        width = self._rows.shape[1]
        size = max(self._chunk_bytes // (width * self._rows.dtype.itemsize), 1)
        beside = wanted.label == width
        only_labels = beside and not wanted.numbers and not wanted.strings
        n_rows = self._rows.shape[0]
        for start in range(0, n_rows, size):
            end = min(start + size, n_rows)
            rows = np.empty((end - start, 0)) if only_labels else self._rows.part(start, end)
            labels = None
            if wanted.label is not None:
                labels = self._labels.part(start, end) if beside and self._labels else rows[:, wanted.label]
            yield self._block(rows, labels, wanted, start)

    def _block(self, rows: NDArray[Any], labels: NDArray[Any] | None, wanted: Wanted, start: int) -> Block:
        def line(row: int) -> int:
            return start + row + 1

        every = wanted.numbers == tuple(range(rows.shape[1]))
        chosen = rows if every else rows[:, list(wanted.numbers)]
        bad: dict[int, FormatError] = {}
        if chosen.dtype.kind in "iu" and chosen.dtype.itemsize == 8:
            for row, k in np.argwhere((chosen > EXACT) | (chosen < -EXACT)):
                value, j = int(chosen[row, k]), wanted.numbers[k]
                if int(float(value)) != value:
                    problem = too_long(value, self.fields[j].name)
                    where = line(int(row))
                    bad.setdefault(int(row), FormatError(problem, file=self.file, line=where, column=j + 1))
        dtype = real_dtype(chosen.dtype, name="X") if wanted.numbers else np.dtype(np.float64)
        numbers: Any = np.array(chosen, dtype, order="C") if wanted.numbers else np.empty((len(rows), 0))
        strings = [_strings(rows[:, j], self.file) for j in wanted.strings]
        label = None if labels is None else labels_of(labels, self.file)
        return Block(numbers, strings, label, line, bad)

    def _require_table(self) -> None:
        shape = self._rows.shape
        if len(shape) != 2:
            raise FormatError(
                f"the array has {len(shape)} dimensions (shape {shape}), but must be a table of rows by columns",
                file=self.file,
            )
        if 0 in shape:
            raise FormatError(f"the array is empty (shape {shape})", file=self.file)
        if self._labels is not None and self._labels.shape not in ((shape[0],), (shape[0], 1)):
            raise FormatError(
                f"there are {shape[0]} rows, but the labels have the shape {self._labels.shape}", file=self.file
            )


def find_member(archive: Archive, names: tuple[str, ...], file: str) -> str:
    """Find the first of some names in an archive."""
    found = next((name for name in names if name in archive.names), None)
    if found is None:
        there = ", ".join(archive.names[:12]) or "nothing"
        raise FormatError(f"there is no array called {' or '.join(names)}; the file holds {there}", file=file)
    return found


def labels_of(labels: NDArray[Any], file: str) -> pa.Array:
    """Give labels to pyarrow."""
    import pyarrow as pa

    try:
        return from_numpy(labels.reshape(-1))
    except (ValueError, pa.ArrowException) as error:
        raise FormatError(f"labels cannot be read: {error}", file=file) from error


def _strings(values: NDArray[Any], file: str) -> pa.Array:
    import pyarrow as pa

    return labels_of(values, file).cast(pa.string())


def _kind(array: Array, file: str) -> Kind:
    if array.dtype.kind == "S":
        raise FormatError("holds strings of bytes; turn them into text with astype(str)", file=file)
    return "string" if array.dtype.kind == "U" else "number"
