"""How the loops see a matrix: a C-contiguous array, or compressed sparse rows."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Floats, Reals

Unsigned: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]


class CSR(NamedTuple):
    """Compressed sparse rows.

    Column numbers and row starts are unsigned views of what scipy holds: signed ones would make every look-up
    check for a negative index first.
    """

    data: Reals
    indices: Unsigned
    indptr: Unsigned


Rows: TypeAlias = Reals | CSR


def oriented(w: Floats, X: Rows) -> Floats:
    """Give the weights of several machines the memory order that the loops read them in; one machine's have one.

    Dense rows meet one machine after another, sparse ones one feature after another.
    """
    if w.ndim == 1:
        return w
    return np.asfortranarray(w) if isinstance(X, CSR) else np.ascontiguousarray(w)
