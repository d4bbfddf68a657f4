"""Names for the types that cross module borders: arrays, and what people hand in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
"""A float64 array."""

Reals: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
"""Feature values as they are stored: float64 or float32."""

Ints: TypeAlias = NDArray[np.int64]
"""An int64 array: row numbers, counts, class codes."""


class DataFrame(Protocol):
    """A table of pandas, polars, pyarrow, Dask or another library."""

    @property
    def columns(self) -> Any:
        """The names of the columns, or the columns."""


class SparseMatrix(Protocol):
    """A matrix or an array of scipy.sparse, of any format."""

    @property
    def shape(self) -> Any:
        """The number of rows and columns."""

    @property
    def dtype(self) -> Any:
        """The type of the values."""

    def tocsr(self, copy: bool = ...) -> Any:
        """Return compressed sparse rows."""


MatrixLike: TypeAlias = ArrayLike | DataFrame | SparseMatrix | Iterable[Mapping[Any, Any]] | Iterable[str]
"""Rows as people have them: arrays, lists, data frames, sparse matrices, mappings, texts."""

RowLike: TypeAlias = ArrayLike | SparseMatrix | Mapping[Any, Any]
"""One row: numbers, or a mapping of names to values."""

ColumnLike: TypeAlias = ArrayLike | Iterable[Any]
"""A value for each row, such as labels."""
