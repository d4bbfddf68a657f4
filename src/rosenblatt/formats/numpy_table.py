"""Dense arrays of NPY and NPZ files as tables whose columns have no names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.columns.arrow_buffers import from_numpy
from rosenblatt.columns.options import Options
from rosenblatt.columns.recipe import TableRecipe
from rosenblatt.columns.table import EXACT, Block, Field, Wanted, require_room, too_long
from rosenblatt.data.reals import real_dtype
from rosenblatt.exceptions import FormatError
from rosenblatt.formats.data_file import DataFile
from rosenblatt.formats.numpy_arrays import NpzArchive, StoredArray, open_npy

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LABELS", "NpyTable", "NpzTable", "label_field", "to_arrow"]

FEATURES = ("X", "data", "features")
LABELS = ("y", "target", "labels", "label")


class NpyTable:
    """An NPY file, opened; see `rosenblatt.columns.table.Table`. One of its columns may hold labels."""

    format, named = "NPY", False

    def __init__(self, file: DataFile, options: Options, recipe: TableRecipe | None = None) -> None:
        self.file, self._chunk_bytes = file.name, options.chunk_bytes
        self._rows, self._labels = self._open(file, options, recipe)
        shape = self._rows.shape
        if len(shape) != 2:
            raise FormatError(
                f"the array has {len(shape)} dimensions (shape {shape}), but must be a table of rows by columns",
                file=self.file,
            )
        if 0 in shape:
            raise FormatError(f"the array is empty (shape {shape})", file=self.file)
        require_room(shape[1], self.file, 3 * shape[1] * self._rows.dtype.itemsize)
        column = label_field(self._rows, self.file)
        self.fields = tuple(Field(f"x{j}", column.kind, column.type) for j in range(1, shape[1] + 1))
        if self._labels is not None:
            if self._labels.shape not in ((shape[0],), (shape[0], 1)):
                found = self._labels.shape
                raise FormatError(
                    f"there are {shape[0]} rows, but the labels have the shape {found}", file=self.file
                )
            self.fields += (label_field(self._labels, self.file),)

    def close(self) -> None:
        """Do nothing: the file is mapped into memory."""

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """Read the wanted columns, some rows at a time."""
        n_rows, width = self._rows.shape
        if width in wanted.numbers or width in wanted.strings:
            raise FormatError(
                "the labels y stand beside the table and are no feature of it; leave them out with --ignore y",
                file=self.file,
            )
        size = max(self._chunk_bytes // (width * self._rows.dtype.itemsize), 1)
        only_labels = wanted.label == width and not wanted.numbers and not wanted.strings
        for start in range(0, n_rows, size):
            end = min(start + size, n_rows)
            rows = np.empty((end - start, 0)) if only_labels else self._rows.part(start, end)
            labels = None
            if wanted.label is not None:
                beside = self._labels if wanted.label == width else None
                labels = rows[:, wanted.label] if beside is None else beside.part(start, end)
            yield self._block(rows, labels, wanted, start)

    def _open(
        self, file: DataFile, options: Options, recipe: TableRecipe | None
    ) -> tuple[StoredArray, StoredArray | None]:
        """Return the rows, and the labels beside them."""
        return open_npy(file.path, file.name), None

    def _block(self, rows: NDArray[Any], labels: NDArray[Any] | None, wanted: Wanted, start: int) -> Block:
        every = wanted.numbers == tuple(range(rows.shape[1]))
        chosen = rows if every else rows[:, list(wanted.numbers)]
        bad: dict[int, FormatError] = {}
        if chosen.dtype.kind in "iu" and chosen.dtype.itemsize == 8:
            for row, k in np.argwhere((chosen > EXACT) | (chosen < -EXACT)).tolist():
                value, j = int(chosen[row, k]), wanted.numbers[k]
                if int(float(value)) != value:
                    problem = too_long(value, self.fields[j].name)
                    bad.setdefault(row, FormatError(problem, file=self.file, line=start + row + 1, column=j + 1))
        dtype = real_dtype(chosen.dtype, name="X") if wanted.numbers else np.dtype(np.float64)
        numbers: Any = np.array(chosen, dtype, order="C") if wanted.numbers else np.empty((len(rows), 0))
        strings = [to_arrow(rows[:, j], self.file).cast("string") for j in wanted.strings]
        label = None if labels is None else to_arrow(labels, self.file)
        return Block(numbers, strings, label, lambda row: start + row + 1, bad)


class NpzTable(NpyTable):
    """An NPZ file, opened: rows X (or data, or features), perhaps with labels y (or target, or labels)."""

    format = "NPZ"

    def _open(
        self, file: DataFile, options: Options, recipe: TableRecipe | None
    ) -> tuple[StoredArray, StoredArray | None]:
        archive = NpzArchive(file.path, file.name)
        rows, labels = archive.array(*FEATURES), archive.find(*LABELS)
        if labels is None and options.labelled and options.target is None and recipe is None:
            raise FormatError(
                f"there are no labels: the file has no array called {' or '.join(LABELS)}. If they are a column "
                "of the table, name it with --target",
                file=file.name,
            )
        return rows, labels


def label_field(array: StoredArray, file: str) -> Field:
    """Return what labels in an array are; bytes are refused."""
    if array.dtype.kind == "S":
        raise FormatError("holds strings of bytes; turn them into text with astype(str)", file=file)
    return Field("y", "string" if array.dtype.kind == "U" else "number", str(array.dtype))


def to_arrow(labels: NDArray[Any], file: str) -> pa.Array:
    """Return labels as an Arrow array."""
    import pyarrow as pa

    try:
        return from_numpy(labels.reshape(-1))
    except (ValueError, pa.ArrowException) as error:
        raise FormatError(f"labels cannot be read: {error}", file=file) from error
