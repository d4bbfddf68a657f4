"""The two layouts of a matrix that loops read: a C-contiguous array, and compressed sparse rows."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Floats, Reals

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


def oriented(w: Floats, X: Rows) -> Floats:
    """Return the weights of several machines in the memory order that the loops for `X` read.

    Dense rows read one machine after another, sparse rows one feature after another.
    """
    if w.ndim == 1:
        return w
    return np.asfortranarray(w) if isinstance(X, CSR) else np.ascontiguousarray(w)
