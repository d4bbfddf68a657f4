"""Sparse rows as scipy saves them, with labels added: data, indices, indptr, shape, format and y."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.columns.arrow_buffers import from_numpy
from rosenblatt.columns.labels import LabelKind, label_kind, label_problems, read_labels
from rosenblatt.columns.table import EXACT, Field
from rosenblatt.data.chunk import Chunk, Skipped
from rosenblatt.data.features import Features
from rosenblatt.data.reals import read_only, real_dtype
from rosenblatt.exceptions import FormatError
from rosenblatt.formats.matrix import LABELS, labels_of
from rosenblatt.formats.numpy_files import Archive, Array
from rosenblatt.loops.layout import CSR

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SparseArchive"]

MEMBERS = ("data", "indices", "indptr", "shape", "format")


class SparseArchive:
    """Compressed sparse rows in an NPZ file.

    Parameters
    ----------
    archive : Archive
        The file.
    file : str
        Its name in messages.
    skipped : Skipped or None
        Where rows that cannot be read are counted; None: the first one is an error.
    chunk_bytes : int
        About how much to read at once.
    width : int or None
        How many features there are; what is stored beyond them is left out and counted in `unmet`.
    """

    def __init__(
        self,
        archive: Archive,
        *,
        file: str,
        skipped: Skipped | None = None,
        chunk_bytes: int = 1 << 21,
        width: int | None = None,
    ) -> None:
        self._file, self._skipped, self._chunk_bytes, self.unmet = file, skipped, chunk_bytes, 0
        self._data, self._indices, self._indptr = (archive.array(name) for name in MEMBERS[:3])
        written = archive.array("format").whole().reshape(-1)
        if written.tolist() not in (["csr"], [b"csr"]):
            raise self._wrong("is not of compressed sparse rows; save X.tocsr()")
        shape = archive.array("shape")
        if shape.shape != (2,) or shape.dtype.kind not in "iu":
            raise self._wrong("has no shape of two numbers")
        self.n_rows, self._stored_width = (int(number) for number in shape.whole())
        labels = next((name for name in LABELS if name in archive.names), None)
        self._labels = archive.array(labels) if labels else None
        self._require_fitting()
        self.n_features = self._stored_width if width is None else width

    @property
    def has_labels(self) -> bool:
        """Whether there are labels."""
        return self._labels is not None

    @staticmethod
    def recognises(archive: Archive) -> bool:
        """Tell whether an archive looks like scipy's."""
        return all(name in archive.names for name in MEMBERS)

    def labels(self) -> list[NDArray[Any]] | None:
        """Read the labels alone; None if there are none, or one of them has a problem."""
        if self._labels is None:
            return None
        size, found = max(self._chunk_bytes // self._labels.dtype.itemsize, 1), []
        for start in range(0, self.n_rows, size):
            raw, bad = self._raw_labels(self._labels, start, min(start + size, self.n_rows))
            if bad:
                return None
            found.append(read_labels(raw, _kind(self._labels)))
        return found

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows, some at a time."""
        stored = self._data.shape[0]
        size = max(int(self._chunk_bytes / max(12 * stored / self.n_rows, 8)), 1)
        start_of = int(self._indptr.part(0, 1)[0])
        if start_of != 0:
            raise self._wrong(f"indptr starts at {start_of} instead of 0")
        for first in range(0, self.n_rows, size):
            last = min(first + size, self.n_rows)
            ends = self._indptr.part(first + 1, last + 1).astype(np.int64)
            indptr = np.concatenate([[start_of], ends])
            if np.any(np.diff(indptr) < 0) or indptr[-1] > stored:
                raise self._wrong("indptr falls, or goes beyond what is stored")
            indices = self._indices.part(start_of, int(indptr[-1])).astype(np.int64)
            values = self._data.part(start_of, int(indptr[-1]))
            chunk = self._chunk(values, indices, indptr - start_of, first, last)
            start_of = int(indptr[-1])
            if chunk is not None:
                yield chunk

    def _chunk(
        self, values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], first: int, last: int
    ) -> Chunk | None:
        if indices.size and not (indices.min() >= 0 and indices.max() < self._stored_width):
            raise self._wrong(f"a column number lies outside 0 … {self._stored_width - 1}")
        row_of = np.repeat(np.arange(last - first), np.diff(indptr))
        falls = (np.diff(indices) <= 0) & (np.diff(row_of) == 0)
        if falls.any():
            order = np.lexsort((indices, row_of))
            values, indices = values[order], indices[order]
            if ((np.diff(indices) == 0) & (np.diff(row_of) == 0)).any():
                raise self._wrong("a value is stored twice; call sum_duplicates() before saving")
        bad = self._bad_values(values, indices, row_of, first)
        labels, raw = None, None
        if self._labels is not None:
            raw, more = self._raw_labels(self._labels, first, last)
            bad = {**more, **bad}
        keep = self._kept(bad, last - first)
        if self._labels is not None and raw is not None:
            labels = read_only(read_labels(raw.filter(from_numpy(keep)) if bad else raw, _kind(self._labels)))
        beyond = indices >= self.n_features
        wanted = keep[row_of] & ~beyond
        self.unmet += int(np.count_nonzero(beyond & keep[row_of]))
        if not keep.any():
            return None
        counts = np.bincount(row_of[wanted], minlength=last - first)[keep]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        data: Any = values[wanted].astype(real_dtype(values.dtype, name="X"))
        rows = CSR(read_only(data), read_only(indices[wanted].astype(np.uint32)), read_only(starts))
        return Chunk(Features(rows, int(keep.sum()), self.n_features), labels)

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

    def _raw_labels(self, array: Array, first: int, last: int) -> tuple[pa.Array, dict[int, FormatError]]:
        labels = labels_of(array.part(first, last), self._file)
        problems = label_problems(labels, _kind(array))
        return labels, {
            row: FormatError(problem, file=self._file, line=first + row + 1) for row, problem in problems.items()
        }

    def _kept(self, bad: dict[int, FormatError], n_rows: int) -> NDArray[np.bool_]:
        keep = np.ones(n_rows, bool)
        for row in sorted(bad):
            if self._skipped is None:
                raise bad[row]
            self._skipped.add(bad[row])
            keep[row] = False
        return keep

    def _require_fitting(self) -> None:
        stored = self._data.shape
        fits = len(stored) == 1 and self._indices.shape == stored and self._indptr.shape == (self.n_rows + 1,)
        integers = self._indices.dtype.kind in "iu" and self._indptr.dtype.kind in "iu"
        if not fits or not integers or self._data.dtype.kind not in "biuf":
            raise self._wrong("data, indices, indptr and shape do not fit together")
        if self.n_rows < 1 or not 0 < self._stored_width < 2**31:
            raise self._wrong(f"has the shape {(self.n_rows, self._stored_width)}")
        if self._labels is not None and self._labels.shape not in ((self.n_rows,), (self.n_rows, 1)):
            raise self._wrong(f"has {self.n_rows} rows, but labels of the shape {self._labels.shape}")

    def _wrong(self, problem: str) -> FormatError:
        return FormatError(f"the sparse matrix {problem}", file=self._file)


def _kind(array: Array) -> LabelKind:
    return label_kind(Field("y", "string" if array.dtype.kind == "U" else "number", str(array.dtype)))
