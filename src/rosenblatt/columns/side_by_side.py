"""Sparse rows joined from parts, each with its own range of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import read_only
from rosenblatt.loops.layout import CSR
from rosenblatt.typing import Floats, Ints, Reals

__all__ = ["Part", "of_columns", "of_dense", "side_by_side"]


class Part(NamedTuple):
    """Sparse rows whose features are counted from 0."""

    data: Floats
    indices: Ints
    indptr: Ints


def of_dense(rows: Reals) -> Part:
    """Return dense rows as sparse ones; NaN is stored."""
    row, column = np.nonzero(rows)
    return Part(rows[row, column].astype(np.float64), column, _starts(np.count_nonzero(rows, axis=1)))


def of_columns(features: NDArray[np.int64]) -> Part:
    """Return rows with ones at the features listed for each row, ascending; numbers below 0 are skipped."""
    present = features >= 0
    indices = features[present]
    return Part(np.ones(len(indices)), indices, _starts(present.sum(axis=1)))


def side_by_side(parts: Sequence[Part], starts: Sequence[int], n_rows: int) -> CSR:
    """Join parts row by row.

    Parameters
    ----------
    parts : sequence of Part
        Each with `n_rows` rows whose features ascend.
    starts : sequence of int
        The first feature of each part; ascending, so that the features of joined rows ascend as well.

    Returns
    -------
    CSR
        Of float64, with unsigned column numbers of 32 bits.

    Examples
    --------
    >>> left = of_dense(np.array([[0.0, 5.0], [7.0, 0.0]]))
    >>> right = of_columns(np.array([[0], [-1]]))
    >>> joined = side_by_side([left, right], [0, 10], 2)
    >>> joined.indices.tolist(), joined.indptr.tolist(), joined.data.tolist()
    ([1, 10, 0], [0, 2, 3], [5.0, 1.0, 7.0])
    """
    counts = [np.diff(part.indptr) for part in parts]
    indptr = _starts(np.sum(counts, axis=0, dtype=np.int64) if counts else np.zeros(n_rows, np.int64))
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], np.uint32)
    free = indptr[:-1].copy()  # where the next part of each row goes
    for part, start, count in zip(parts, starts, counts, strict=True):
        goal = np.arange(len(part.data)) + np.repeat(free - part.indptr[:-1], count)
        data[goal] = part.data
        indices[goal] = part.indices + start
        free += count
    return CSR(read_only(data), read_only(indices), read_only(indptr.view(np.uint64)))


def _starts(counts: NDArray[np.integer]) -> Ints:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts
