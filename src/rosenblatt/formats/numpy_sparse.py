"""Sparse rows in NPZ as scipy saves them, with labels added: data, indices, indptr, shape, format and y."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.columns.arrow_buffers import from_numpy
from rosenblatt.columns.labels import label_kind, label_problems, read_labels
from rosenblatt.columns.options import Options
from rosenblatt.columns.table import EXACT
from rosenblatt.data.chunk import Chunk, Skipped
from rosenblatt.data.reals import read_only, real_dtype
from rosenblatt.exceptions import FormatError
from rosenblatt.formats.data_file import DataFile
from rosenblatt.formats.numpy_arrays import NpzArchive
from rosenblatt.formats.numpy_table import LABELS, label_field, to_arrow
from rosenblatt.loops.layout import CSR

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SparseNpz", "is_sparse_npz"]

MEMBERS = {"data", "indices", "indptr", "shape", "format"}


def is_sparse_npz(file: DataFile) -> bool:
    """Return whether an NPZ file holds a sparse matrix as scipy saves it."""
    return MEMBERS <= set(NpzArchive(file.path, file.name).names)


class SparseNpz:
    """Compressed sparse rows in an NPZ file, opened; see `rosenblatt.formats.sparse_source.SparseReader`.

    Values of features beyond `width` are left out and counted in `unmet`. Rows that cannot be read are counted in
    `skipped`; if that is None, the first one is an error.
    """

    zero_based: bool | None = None

    def __init__(self, file: DataFile, options: Options, width: int | None, skipped: Skipped | None) -> None:
        self._file, self._skipped, self._chunk_bytes, self.unmet = file.name, skipped, options.chunk_bytes, 0
        archive = NpzArchive(file.path, file.name)
        self._data, self._indices, self._indptr = map(archive.array, ("data", "indices", "indptr"))
        written, shape = archive.array("format"), archive.array("shape")
        # Nothing is read of a member that is longer than it may be.
        if written.shape not in ((), (1,)) or written.part(0, 1).tolist() not in (["csr"], [b"csr"]):
            raise self._wrong("is not of compressed sparse rows; save X.tocsr()")
        if shape.shape != (2,) or shape.dtype.kind not in "iu":
            raise self._wrong("has no shape of two numbers")
        self._n_rows, self._stored_width = (int(number) for number in shape.part(0, 2))
        self._labels = archive.find(*LABELS)
        if options.labelled and self._labels is None:
            raise FormatError("there are no labels: the file has no array called y", file=file.name)
        self._kind = label_kind(label_field(self._labels or self._data, file.name))  # not used without labels
        self._require_consistent()
        self.n_features = self._stored_width if width is None else width

    def close(self) -> None:
        """Do nothing: the file is mapped into memory."""

    def labels(self) -> Iterator[NDArray[Any] | None]:
        """Read the labels alone, some at a time; None stands for labels that are missing or wrong."""
        size = max(self._chunk_bytes // (1 if self._labels is None else self._labels.dtype.itemsize), 1)
        for start in range(0, self._n_rows, size):
            raw, bad = self._label_part(start, min(start + size, self._n_rows))
            yield None if raw is None or bad else read_labels(raw, self._kind)

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows, some at a time."""
        stored = self._data.shape[0]
        size = max(int(self._chunk_bytes / max(12 * stored / self._n_rows, 8)), 1)
        start = int(self._indptr.part(0, 1)[0])
        if start != 0:
            raise self._wrong(f"indptr starts at {start} instead of 0")
        for first in range(0, self._n_rows, size):
            last = min(first + size, self._n_rows)
            ends = self._indptr.part(first + 1, last + 1).astype(np.int64)
            lengths = np.diff(ends, prepend=start)
            if np.any(lengths < 0) or ends[-1] > stored:
                raise self._wrong("indptr falls, or goes beyond what is stored")
            indices = self._indices.part(start, int(ends[-1])).astype(np.int64)
            values = self._data.part(start, int(ends[-1]))
            start = int(ends[-1])
            chunk = self._chunk(values, indices, np.repeat(np.arange(last - first), lengths), first, last)
            if chunk is not None:
                yield chunk

    def _chunk(
        self, values: NDArray[Any], indices: NDArray[Any], row_of: NDArray[Any], first: int, last: int
    ) -> Chunk | None:
        if indices.size and not (indices.min() >= 0 and indices.max() < self._stored_width):
            raise self._wrong(f"a column number lies outside 0 … {self._stored_width - 1}")
        same_row = np.diff(row_of) == 0
        if (same_row & (np.diff(indices) <= 0)).any():
            order = np.lexsort((indices, row_of))
            values, indices = values[order], indices[order]
            if (same_row & (np.diff(indices) == 0)).any():
                raise self._wrong("a value is stored twice; call sum_duplicates() before saving")
        raw, bad = self._label_part(first, last)
        bad |= self._bad_values(values, indices, row_of, first)
        keep = self._kept(bad, last - first)
        beyond = indices >= self.n_features
        self.unmet += int(np.count_nonzero(beyond & keep[row_of]))
        if not keep.any():
            return None
        labels = None
        if raw is not None:
            labels = read_only(read_labels(raw.filter(from_numpy(keep)) if bad else raw, self._kind))
        wanted = keep[row_of] & ~beyond
        counts = np.bincount(row_of[wanted], minlength=last - first)[keep]
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        data: Any = values[wanted].astype(real_dtype(values.dtype, name="X"))
        rows = CSR(read_only(data), read_only(indices[wanted].astype(np.uint32)), read_only(indptr))
        return Chunk(rows, int(keep.sum()), self.n_features, labels=labels)

    def _bad_values(
        self, values: NDArray[Any], indices: NDArray[Any], row_of: NDArray[Any], first: int
    ) -> dict[int, FormatError]:
        if values.dtype.kind == "f":
            wrong, why = ~np.isfinite(values), "is not finite"
        elif values.dtype.itemsize == 8:
            wrong, why = (values > EXACT) | (values < -EXACT), "is an integer beyond 2^53"
        else:
            return {}
        bad: dict[int, FormatError] = {}
        for place in np.flatnonzero(wrong):
            row, column = int(row_of[place]), int(indices[place]) + 1
            problem = FormatError(f"{values[place]} {why}", file=self._file, line=first + row + 1, column=column)
            bad.setdefault(row, problem)
        return bad

    def _label_part(self, first: int, last: int) -> tuple[pa.Array | None, dict[int, FormatError]]:
        if self._labels is None:
            return None, {}
        raw = to_arrow(self._labels.part(first, last), self._file)
        problems = label_problems(raw, self._kind).items()
        return raw, {row: FormatError(what, file=self._file, line=first + row + 1) for row, what in problems}

    def _kept(self, bad: dict[int, FormatError], n_rows: int) -> NDArray[np.bool_]:
        keep = np.ones(n_rows, bool)
        for row in sorted(bad):
            if self._skipped is None:
                raise bad[row]
            self._skipped.add(bad[row])
            keep[row] = False
        return keep

    def _require_consistent(self) -> None:
        stored = self._data.shape
        fits = len(stored) == 1 and self._indices.shape == stored and self._indptr.shape == (self._n_rows + 1,)
        integers = self._indices.dtype.kind in "iu" and self._indptr.dtype.kind in "iu"
        if not fits or not integers or self._data.dtype.kind not in "biuf":
            raise self._wrong("has data, indices, indptr and shape that do not fit together")
        if self._n_rows < 1 or not 0 < self._stored_width < 2**31:
            raise self._wrong(f"has the shape {(self._n_rows, self._stored_width)}")
        if self._labels is not None and self._labels.shape not in ((self._n_rows,), (self._n_rows, 1)):
            raise self._wrong(f"has {self._n_rows} rows, but labels of the shape {self._labels.shape}")

    def _wrong(self, problem: str) -> FormatError:
        return FormatError(f"the sparse matrix {problem}", file=self._file)
