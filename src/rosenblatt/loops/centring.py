"""Scale sparse rows that are centred: they store every value of the first features, zeros too.

`rosenblatt.tables.scaling` says the same in numpy, whose temporary arrays take several times as long as training
on the rows does. Rows of a cache are scaled again in each pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import jit
from rosenblatt.loops.layout import Unsigned
from rosenblatt.typing import Floats, Reals


@jit
def count_stored(indices: Unsigned, indptr: Unsigned, width: int, ends: Unsigned) -> Any:
    """Return how many values the rows will store, and write where each row ends, after a 0, to `ends`."""
    stored = np.uint64(0)
    ends[0] = 0
    for row in range(np.uint64(indptr.size - 1)):
        stored += np.uint64(width)
        for at in range(np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])):
            stored += np.uint64(indices[at] >= width)
        ends[row + np.uint64(1)] = stored
    return stored


@jit
def center_rows(
    data: Reals,
    indices: Unsigned,
    indptr: Unsigned,
    width: int,
    mean: Floats,
    deviation: Floats,
    out: Reals,
    columns: Unsigned,
    ends: Unsigned,
) -> None:
    """Write (value − mean) / deviation of each stored value, and of the first `width` features all values."""
    for row in range(np.uint64(indptr.size - 1)):
        first = np.uint64(ends[row])
        for j in range(np.uint64(width)):
            out[first + j], columns[first + j] = (0.0 - mean[j]) / deviation[j], j
        behind = first + np.uint64(width)
        for at in range(np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])):
            column = np.uint64(indices[at])
            value = (np.float64(data[at]) - mean[column]) / deviation[column]
            if column < np.uint64(width):
                out[first + column] = value
            else:
                out[behind], columns[behind] = value, column
                behind += np.uint64(1)
