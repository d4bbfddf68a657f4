"""From whatever holds features to rows that the loops can read: `as_rows`, and `require_finite`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import as_reals, first_masked, place
from rosenblatt.data.sparse import as_csr, is_sparse, place_in_csr
from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError
from rosenblatt.loops.layout import CSR, Rows

__all__ = ["Features", "as_rows", "require_finite", "require_table"]

BLOCK = 2**16
"""Values looked at together by `require_finite`: half a megabyte, which stays in the cache."""


@dataclass(frozen=True, eq=False, slots=True)
class Features:
    """Rows of numbers, read-only, in a layout the loops can read.

    Attributes
    ----------
    rows : ndarray or CSR
        C-contiguous float64 or float32, or compressed sparse rows of them.
    n_rows, n_features : int
        Both at least one.
    names : tuple of str or None
        The names of the columns, where the input had them and all were strings.
    """

    rows: Rows
    n_rows: int
    n_features: int
    names: tuple[str, ...] | None = None

    @property
    def stored(self) -> int:
        """The number of values stored: all of dense rows, the non-zero ones of sparse rows."""
        return self.values.size

    def part(self, rows: slice) -> Features:
        """Return some consecutive rows, without a copy."""
        first, last, _ = rows.indices(self.n_rows)
        X = self.rows
        part = CSR(X.data, X.indices, X.indptr[first : last + 1]) if isinstance(X, CSR) else X[first:last]
        return Features(part, last - first, self.n_features, self.names)

    def native(self) -> Any:
        """Return the rows as a numpy array or a scipy sparse array."""
        if not isinstance(self.rows, CSR):
            return self.rows
        from scipy.sparse import csr_array

        data, indices, indptr = self.rows
        signed = f"i{indices.itemsize}", f"i{indptr.itemsize}"
        parts = (data, indices.view(signed[0]), indptr.view(signed[1]))
        return csr_array(parts, shape=(self.n_rows, self.n_features))

    @property
    def values(self) -> NDArray[Any]:
        """The stored values, one after the other."""
        return self.rows.data if isinstance(self.rows, CSR) else self.rows.reshape(-1)

    def place(self, position: int, first: int = 0) -> str:
        """Say where the stored value at a position of `values` stands, in rows counted from `first`."""
        if isinstance(self.rows, CSR):
            row, column = place_in_csr(position, self.rows.indices, self.rows.indptr)
        else:
            row, column = divmod(position, self.n_features)
        return place(first + row, column, self.names)


def as_rows(X: Any, *, name: str = "X") -> Features:
    """Give X as rows that the loops can read.

    float32 stays float32 and float16 becomes it; all other numbers become float64, and those that float64
    would round are refused. There is no copy where X already is a C-contiguous float64 or float32 array or
    canonical CSR of them, and one conversion otherwise. X is never changed. NaN and infinity pass: see
    `require_finite`.

    Parameters
    ----------
    X : array-like, scipy sparse matrix or array, or dataframe
        Two-dimensional, at least one row and one column.
    name : str
        What X is called in messages.

    Returns
    -------
    Features
        Read-only.

    Raises
    ------
    ShapeError
        Not two-dimensional, empty or ragged.
    DataTypeError
        Not real numbers, or numbers that float64 cannot hold.
    NonFiniteError
        A dataframe with something missing.
    InputError
        A malformed sparse matrix, a lazy frame, or masked values.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4]]).rows
    array([[1., 2.],
           [3., 4.]])
    """
    if is_sparse(X):
        require_table(X.shape, name=name)
        return Features(as_csr(X, name=name), *X.shape)
    if not isinstance(X, np.ndarray | list | tuple):
        from rosenblatt.data.frames import as_frame, frame_names, frame_rows

        frame = as_frame(X, name=name)
        if frame is not None:
            require_table(frame.shape, name=name)
            return Features(frame_rows(frame, name=name), *frame.shape, frame_names(frame))
    array = _as_array(X, name=name)
    require_table(array.shape, name=name)
    n_rows, n_features = array.shape
    reals = as_reals(array, name=name, where=lambda position: place(*divmod(position, n_features)))
    return Features(reals, n_rows, n_features)


def require_finite(features: Features, *, name: str = "X", first: int = 0) -> None:
    """Raise `NonFiniteError` at the first NaN or infinity.

    Training does not need this: there a score is finite exactly if the row is, unless it overflows.

    Parameters
    ----------
    features : Features
        As `as_rows` gives them.
    name : str
        What the features are called in the message.
    first : int
        The number that the first of these rows has.
    """
    values = features.values
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        with np.errstate(over="ignore", invalid="ignore"):
            total = block.sum()
        # A finite sum has finite terms. The reverse fails when the sum overflows, so look again.
        if np.isfinite(total) or np.isfinite(block).all():
            continue
        position = start + int(np.argmin(np.isfinite(block)))
        raise _not_finite(float(values[position]), features.place(position, first), name)


def _not_finite(value: float, where: str, name: str) -> NonFiniteError:
    kind = "NaN" if np.isnan(value) else "infinity"
    return NonFiniteError(
        f"Input {name} contains {kind}. The value at {where} is {'NaN' if np.isnan(value) else value}; a "
        "perceptron needs every number finite. Impute such values or drop their rows."
    )


def _as_array(X: Any, *, name: str) -> NDArray[Any]:
    if isinstance(X, np.ndarray):
        masked = first_masked(X)
        if masked is not None:
            where = place(*masked) if len(masked) == 2 else f"index {masked}"
            raise InputError(
                f"{name} has masked values, the first at {where}. Impute them ({name}.filled) or drop rows."
            )
        return np.asarray(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ShapeError(f"{name} is no table: its rows must all be as long as the first. ({error})") from error
    return np.asarray(X, dtype=object) if isinstance(X, list | tuple) and _is_altered(array) else array


def _is_altered(array: NDArray[Any]) -> bool:
    """Tell whether numpy may have changed the values of a list to bring them to one type."""
    if array.dtype.kind in "US":  # numbers next to text became text
        return True
    # Integers next to floats, or too large for one integer type, became floats.
    return array.dtype == np.float64 and bool(np.any(np.abs(array) > 2.0**52))


def require_table(shape: tuple[int, ...], *, name: str) -> None:
    """Require two dimensions, at least one row and one column."""
    # "Reshape your data" and "Found array with 0 …" are what scikit-learn's estimator checks look for.
    if len(shape) == 1:
        raise ShapeError(
            f"Expected 2D {name}, got 1D of shape {shape}. Reshape your data: {name}.reshape(-1, 1) if it is "
            f"one feature, {name}.reshape(1, -1) if it is one row."
        )
    if len(shape) != 2:
        raise ShapeError(
            f"Expected 2D {name}, rows by features, got {len(shape)} dimensions (shape={shape}). "
            f"Hand in a table of numbers; {name}.reshape(len({name}), -1) flattens the rows."
        )
    if shape[0] == 0:
        raise ShapeError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required. {name} has no rows."
        )
    if shape[1] == 0:
        raise ShapeError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required. "
            f"{name} has no columns."
        )
