"""Codecs of tables of rows, dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.schema.codecs import (
    REALS,
    Array,
    Count,
    Either,
    Record,
    UnsoundError,
    require,
    same_length,
    wrong,
)

UNSIGNED = (np.uint32, np.uint64)


def _sound_csr(rows: CSR) -> None:
    starts = rows.indptr.astype(np.int64)
    require(same_length(rows.data, rows.indices), "the numbers of values and of column indices differ")
    require(
        len(starts) and starts[0] == 0 and starts[-1] == len(rows.data),
        "rows do not begin at 0 and end at the last value",
    )
    require((np.diff(starts) >= 0).all(), "a row ends before it begins")


CSR_ROWS = Record(
    CSR,
    {"data": Array(dtypes=REALS), "indices": Array(dtypes=UNSIGNED), "indptr": Array(dtypes=UNSIGNED)},
    check=_sound_csr,
)
TABLE = Either({"dense": (np.ndarray, Array(2, REALS)), "sparse": (CSR, CSR_ROWS)})


def require_width(rows: Rows, n_rows: int, n_features: int) -> None:
    """Require a table of the given numbers of rows and columns."""
    if isinstance(rows, CSR):
        require(len(rows.indptr) == n_rows + 1, "the number of rows is wrong")
        require(not len(rows.indices) or rows.indices.max() < n_features, "a value is beyond the last feature")
    else:
        require(rows.shape == (n_rows, n_features), "a table has the wrong shape")


def _sound_features(features: Features) -> None:
    require_width(features.rows, features.n_rows, features.n_features)


def _parts_of_features(features: Features) -> dict[str, Any]:
    rows = features.rows
    if isinstance(rows, CSR):
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        starts = (rows.indptr - rows.indptr[0]).astype(rows.indptr.dtype)
        rows = CSR(rows.data[first:last], rows.indices[first:last], starts)
    return {"rows": rows, "n_rows": features.n_rows, "n_features": features.n_features}


FEATURES = Record(
    Features,
    {"rows": TABLE, "n_rows": Count(1), "n_features": Count(1)},
    take=_parts_of_features,
    check=_sound_features,
)


class NativeTable:
    """A numpy array or a scipy sparse array, with its width."""

    def encode(self, value: Any, at: str, context: Any) -> Any:
        """Return the width, and the JSON of `TABLE`."""
        if isinstance(value, np.ndarray):
            return [value.shape[1], TABLE.encode(value, at, context)]
        rows = value.tocsr()
        parts = CSR(rows.data, rows.indices.astype(np.uint64), rows.indptr.astype(np.uint64))
        return [rows.shape[1], TABLE.encode(parts, at, context)]

    def decode(self, stored: Any, at: str, context: Any) -> Any:
        """Return the array."""
        if not isinstance(stored, list) or len(stored) != 2:
            wrong(at, "is not a table")
        width, rows = Count(1).decode(stored[0], at, context), TABLE.decode(stored[1], at, context)
        n_rows = len(rows.indptr) - 1 if isinstance(rows, CSR) else len(rows)
        try:
            require_width(rows, n_rows, width)
        except UnsoundError as error:
            wrong(at, str(error))
        return Features(rows, n_rows, width).native()
