"""The two layouts of a matrix that loops read: a C-contiguous array, and compressed sparse rows."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Floats, Ints, Reals

Unsigned: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]


class CSR(NamedTuple):
    """Compressed sparse rows.

    Column numbers and row starts are unsigned views of scipy's arrays: with signed ones every look-up would first
    check for a negative index.
    """

    data: Reals
    indices: Unsigned
    indptr: Unsigned


Rows: TypeAlias = Reals | CSR


def part_of(X: Rows, first: int, last: int) -> Rows:
    """Return consecutive rows, without a copy."""
    return CSR(X.data, X.indices, X.indptr[first : last + 1]) if isinstance(X, CSR) else X[first:last]


def csr_take(X: CSR, index: Ints) -> CSR:
    """Return copies of some rows."""
    starts = X.indptr.astype(np.int64)
    lengths = np.diff(starts)[index]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    # A value at p in the new rows is as far from the start of its row as it was in the old rows.
    at = np.arange(indptr[-1]) + np.repeat(starts[:-1][index] - indptr[:-1], lengths)
    return CSR(X.data[at], X.indices[at], indptr.astype(np.uint64))


def oriented(w: Floats, X: Rows) -> Floats:
    """Return the weights of several machines in the memory order that the loops for `X` read.

    Dense rows read one machine after another, sparse rows one feature after another.
    """
    if w.ndim == 1:
        return w
    return np.asfortranarray(w) if isinstance(X, CSR) else np.ascontiguousarray(w)
