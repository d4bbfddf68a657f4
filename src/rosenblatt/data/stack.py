"""Rows that came in parts, put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rosenblatt.data.features import Features, as_rows
from rosenblatt.data.reals import read_only


def stacked(parts: Sequence[Features]) -> Features:
    """Put the rows of several parts under each other.

    Dense parts of one width stay dense; otherwise the rows become sparse ones, as wide as the widest.

    Examples
    --------
    >>> stacked([as_rows([[1.0, 2.0]]), as_rows([[3.0, 4.0]])]).rows
    array([[1., 2.],
           [3., 4.]])
    """
    if len(parts) == 1:
        return parts[0]
    n_rows, width = sum(part.n_rows for part in parts), max(part.n_features for part in parts)
    tables = [part.rows for part in parts if isinstance(part.rows, np.ndarray)]
    if len(tables) == len(parts) and all(part.n_features == width for part in parts):
        table = np.concatenate(tables, dtype=np.result_type(*tables))
        return Features(read_only(table), n_rows, width)
    from scipy.sparse import csr_array, vstack

    each = [csr_array(part.native()) for part in parts]
    wide = [csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], width)) for part in each]
    return as_rows(csr_array(vstack(wide, format="csr")))
