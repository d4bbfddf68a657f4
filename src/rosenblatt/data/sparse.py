"""From any scipy sparse matrix to compressed sparse rows that the loops can read without checks."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import as_reals, place, read_only
from rosenblatt.exceptions import DataTypeError, InputError
from rosenblatt.loops.layout import CSR, Unsigned


def is_sparse(X: object) -> bool:
    """Return whether X is a scipy sparse matrix or array, without importing scipy: its maker has imported it."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def place_in_csr(position: int, indices: NDArray[Any], indptr: NDArray[Any]) -> tuple[int, int]:
    """Return the row and the column of a stored value."""
    # In the type of indptr: a mixed search would turn both into floats.
    row = int(np.searchsorted(indptr, indptr.dtype.type(position), side="right")) - 1
    return row, int(indices[position])


def as_csr(X: Any, *, name: str) -> CSR:
    """Return a scipy sparse matrix of any format as read-only CSR in canonical form, with every index checked.

    In canonical form the columns of each row ascend and none is stored twice. Duplicates are summed in the dtype
    of X, as ``X.toarray()`` does. Stored zeros stay. Canonical CSR of float64 or float32 is not copied, and X is
    never changed. Indices are checked here because the loops check none.
    """
    _require_sound(X, name=name)
    try:
        matrix = X.tocsr()
        data, indices, indptr = _sound_csr(matrix, name=name)
        if not _is_canonical(indices, indptr):
            data, indices, indptr = _sum_duplicates(data, indices, indptr, matrix.shape, copy=matrix is X)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise DataTypeError(
            f"{name} is a sparse matrix of dtype {X.dtype}, which scipy does not support: {error}. "
            f"Convert it with {name}.astype(float) or build it from numbers."
        ) from error
    reals = as_reals(data, name=name, where=lambda position: place(*place_in_csr(position, indices, indptr)))
    return CSR(reals, _unsigned(indices), _unsigned(indptr))


def _require_sound(X: Any, *, name: str) -> None:
    """Check the formats whose conversion to CSR does not check its indices."""
    n_rows, n_features = X.shape
    if X.format == "csc":
        _require_sound_compressed(X, n_features, n_rows, name=name)
    elif X.format == "bsr":
        height, width = X.blocksize
        _require_sound_compressed(X, n_rows // height, n_features // width, name=name)
    elif X.format == "coo":
        for index, size, what in zip(X.coords, X.shape, ("row", "column"), strict=True):
            if index.shape != X.data.shape:
                found = f"{what} numbers of shape {index.shape} for values of shape {X.data.shape}"
                raise _malformed(X, found, name)
            _require_in_range(index, size, X, name=name)


def _sound_csr(matrix: Any, *, name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    _require_sound_compressed(matrix, *matrix.shape, name=name)
    stored = int(matrix.indptr[-1])  # scipy allows spare room after the last row
    return matrix.data[:stored], matrix.indices[:stored], matrix.indptr


def _require_sound_compressed(matrix: Any, n_major: int, n_minor: int, *, name: str) -> None:
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise _malformed(matrix, "indices and indptr must be one-dimensional and of integers", name)
    if matrix.data.ndim != (3 if matrix.format == "bsr" else 1):
        raise _malformed(matrix, f"data has {matrix.data.ndim} dimensions", name)
    if len(indptr) != n_major + 1:
        raise _malformed(matrix, f"indptr has {len(indptr)} entries instead of {n_major + 1}", name)
    if indptr[0] != 0:
        raise _malformed(matrix, f"indptr starts at {indptr[0]} instead of 0", name)
    if np.any(indptr[1:] < indptr[:-1]):
        raise _malformed(matrix, f"indptr falls after entry {np.argmax(indptr[1:] < indptr[:-1])}", name)
    room = min(len(indices), len(matrix.data))
    if indptr[-1] > room:
        raise _malformed(matrix, f"indptr ends at {indptr[-1]}, but only {room} values are stored", name)
    _require_in_range(indices[: int(indptr[-1])], n_minor, matrix, name=name)


def _require_in_range(index: NDArray[Any], size: int, matrix: Any, *, name: str) -> None:
    if index.size and not (index.min() >= 0 and index.max() < size):
        found = f"an index runs from {index.min()} to {index.max()}, but must lie in 0 … {size - 1}"
        raise _malformed(matrix, found, name)


def _malformed(matrix: Any, found: str, name: str) -> InputError:
    return InputError(
        f"{name} is a malformed sparse {matrix.format} matrix: {found}. "
        "Build it again from its rows, columns and values with scipy.sparse.coo_array."
    )


def _is_canonical(indices: NDArray[Any], indptr: NDArray[Any]) -> bool:
    # Not scipy's has_canonical_format, which is cached and may be older than the indices.
    ascends = indices[1:] > indices[:-1]
    first_of_row = indptr[1:-1]
    first_of_row = first_of_row[(first_of_row > 0) & (first_of_row < len(indices))]
    ascends[first_of_row - 1] = True
    return bool(ascends.all())


def _sum_duplicates(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int], *, copy: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from scipy.sparse import csr_array

    summed: Any = csr_array((data, indices, indptr), shape=shape, copy=copy)
    summed.sum_duplicates()
    return summed.data, summed.indices, summed.indptr


def _unsigned(index: NDArray[Any]) -> Unsigned:
    signed = index if index.dtype in (np.int32, np.int64) else index.astype(np.int64)
    signed = np.require(signed, requirements=["C", "A"])
    return read_only(signed.view(np.uint32)) if signed.itemsize == 4 else read_only(signed.view(np.uint64))
