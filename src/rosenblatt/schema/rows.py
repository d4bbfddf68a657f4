"""Tables of rows, dense and sparse, as files hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.schema.codecs import REALS, Array, Count, Either, Record, require, same_length

UNSIGNED = (np.uint32, np.uint64)


def _sound_csr(rows: CSR) -> None:
    starts = rows.indptr.astype(np.int64)
    require(same_length(rows.data, rows.indices), "values and their places are not as many")
    require(len(starts) and starts[0] == 0 and starts[-1] == len(rows.data), "rows begin and end elsewhere")
    require((np.diff(starts) >= 0).all(), "a row ends before it begins")


CSR_ROWS = Record(
    CSR,
    {"data": Array(dtypes=REALS), "indices": Array(dtypes=UNSIGNED), "indptr": Array(dtypes=UNSIGNED)},
    check=_sound_csr,
)
TABLE = Either({"dense": (np.ndarray, Array(2, REALS)), "sparse": (CSR, CSR_ROWS)})


def require_width(rows: Rows, n_rows: int, n_features: int) -> None:
    """Require a table of so many rows and columns."""
    if isinstance(rows, CSR):
        require(len(rows.indptr) == n_rows + 1, "there are not as many rows as there should be")
        require(not len(rows.indices) or rows.indices.max() < n_features, "a value stands beyond the last feature")
    else:
        require(rows.shape == (n_rows, n_features), "a table is not of the shape it should be")


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
    """An array, or a sparse array of scipy's, with its shape."""

    def encode(self, value: Any, at: str, context: Any) -> Any:
        """Return what `TABLE` makes of it, and its width."""
        if isinstance(value, np.ndarray):
            return [value.shape[1], TABLE.encode(value, at, context)]
        rows = value.tocsr()
        parts = CSR(rows.data, rows.indices.astype(np.uint64), rows.indptr.astype(np.uint64))
        return [rows.shape[1], TABLE.encode(parts, at, context)]

    def decode(self, told: Any, at: str, context: Any) -> Any:
        """Return the array."""
        from rosenblatt.schema.codecs import UnsoundError, wrong

        if not isinstance(told, list) or len(told) != 2:
            wrong(at, "is no table")
        width, rows = Count(1).decode(told[0], at, context), TABLE.decode(told[1], at, context)
        n_rows = len(rows.indptr) - 1 if isinstance(rows, CSR) else len(rows)
        try:
            require_width(rows, n_rows, width)
        except UnsoundError as error:
            wrong(at, str(error))
        return Features(rows, n_rows, width).native()
