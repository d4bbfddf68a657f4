"""The points of a kernel, and the products and distances of all pairs, each the same bits in any company."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError, ShapeError
from rosenblatt.loops.layout import CSR, PAIR, Rows, csr_take, part_of
from rosenblatt.rows.features import is_sparse
from rosenblatt.typing import Floats, Ints, MatrixLike, Reals, SparseMatrix


@dataclass(eq=False, slots=True)
class Points:
    """Rows of numbers, dense or sparse."""

    rows: Rows  # as the loops read them
    n_rows: int
    n_features: int
    ids: Ints | None = None  # the number of each row in the training set; None stands for 0, 1, …
    _squares: Floats | None = None

    @property
    def squares(self) -> Floats:
        """‖x‖² of every row: the bits of the product of a row with itself, infinite if it overflows."""
        if self._squares is None:
            from rosenblatt.kernels.dual_loop import dense_squares, sparse_squares

            self._squares = np.empty(self.n_rows)
            if isinstance(self.rows, CSR):
                sparse_squares(self.rows, self._squares)
            else:
                dense_squares(self.rows, np.empty(self.n_features + 1), self._squares)
        return self._squares

    @property
    def native(self) -> Any:
        """The rows as a numpy array or a scipy sparse array."""
        if not isinstance(self.rows, CSR):
            return self.rows
        from scipy.sparse import csr_array

        data, indices, indptr = self.rows
        start, stop = int(indptr[0]), int(indptr[self.n_rows])
        starts = indptr[: self.n_rows + 1].astype(np.int64) - start
        parts = (data[start:stop], indices[start:stop].astype(np.int64), starts)
        return csr_array(parts, shape=(self.n_rows, self.n_features))

    @property
    def dense(self) -> Reals:
        """The rows as a numpy array."""
        return self.native.toarray() if isinstance(self.rows, CSR) else self.rows

    def part(self, first: int, last: int) -> Points:
        """Return consecutive rows, without a copy."""
        ids = None if self.ids is None else self.ids[first:last]
        squares = None if self._squares is None else self._squares[first:last]
        return Points(part_of(self.rows, first, last), last - first, self.n_features, ids, squares)

    def row(self, i: int) -> Points:
        """Return one row with its number."""
        one = self.part(i, i + 1)
        one.ids = np.array([i]) if self.ids is None else one.ids
        return one

    def take(self, index: Ints) -> Points:
        """Return copies of some rows with their numbers."""
        ids = index if self.ids is None else self.ids[index]
        squares = None if self._squares is None else self._squares[index]
        rows = csr_take(self.rows, index) if isinstance(self.rows, CSR) else self.rows[index]
        return Points(rows, len(index), self.n_features, ids, squares)

    def laid(self) -> Floats:
        """Return the rows as weights: float64, with a bias of zero at the end of each."""
        w = np.zeros((self.n_rows, self.n_features + 1))
        w[:, :-1] = self.rows
        return w

    def like(self, other: Points) -> Points:
        """Return the same rows in the layout, dense or sparse, of `other`."""
        if isinstance(self.rows, CSR) == isinstance(other.rows, CSR):
            return self
        if isinstance(self.rows, CSR):
            return Points(self.dense, self.n_rows, self.n_features, self.ids)
        from scipy.sparse import csr_array

        return Points(_csr(csr_array(self.rows)), self.n_rows, self.n_features, self.ids)


def as_points(X: MatrixLike | Points, name: str = "X") -> Points:
    """Return a table of numbers as points; float32 and CSR stay."""
    if isinstance(X, Points):
        return X
    if is_sparse(X):
        rows: Rows = _csr(X)
        n_rows, n_features = X.shape
        values = rows.data
    else:
        values = rows = _dense(X, name)
        n_rows, n_features = rows.shape
    if not n_rows or not n_features:
        raise ShapeError(f"{name} has shape {(n_rows, n_features)}; at least one row and one feature are needed.")
    if not np.isfinite(values).all():
        raise NonFiniteError(f"{name} holds NaN or infinity. Impute such values or drop their rows.")
    return Points(rows, int(n_rows), int(n_features))


def _dense(X: MatrixLike, name: str) -> Reals:
    try:
        array = np.asarray(X)
        if array.dtype not in (np.float32, np.float64):
            array = np.asarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"{name} must be a table of real numbers: {error}.") from None
    if array.ndim != 2:
        raise ShapeError(f"{name} must be a table, rows by features; its shape is {array.shape}.")
    return np.ascontiguousarray(array)


def _csr(X: SparseMatrix) -> CSR:
    matrix = X.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    data = matrix.data if matrix.dtype in (np.float32, np.float64) else matrix.data.astype(np.float64)
    return CSR(data, matrix.indices.astype(np.uint32), matrix.indptr.astype(np.uint64))


def require_same_width(A: Points, B: Points) -> None:
    """Raise `InputError` unless both have the same number of features."""
    if A.n_features != B.n_features:
        raise InputError(
            f"Points of {A.n_features} and of {B.n_features} features have no kernel between them. "
            "Pass the same features in the same order."
        )


def products(A: Points, B: Points, out: Floats | None = None) -> Floats:
    """Return <a, b> for each row a of A and b of B, written to `out` if it is given."""
    if out is None:
        out = np.empty((A.n_rows, B.n_rows))
    if isinstance(A.rows, CSR):
        from rosenblatt.kernels.dual_loop import sparse_products

        assert isinstance(B.rows, CSR), "points of one layout"
        sparse_products(A.rows, A.n_rows, B.rows, np.zeros(max(A.n_features, B.n_features)), out)
    elif A.n_rows == 1:
        _one_against(A, B, out[0])
    elif B.n_rows == 1:
        _one_against(B, A, out[:, 0])
    elif B.n_rows <= A.n_rows:  # the fewer rows act as weights, which are copied
        _all_against(A, B, out)
    else:
        turned = np.empty((B.n_rows, A.n_rows))
        _all_against(B, A, turned)
        out[:] = turned.T
    return out


def distances(A: Points, B: Points, out: Floats | None = None) -> Floats:
    """Return Σ |a − b| for each row a of A and b of B, written to `out` if it is given."""
    from rosenblatt.kernels.dual_loop import dense_distances, sparse_distances

    if out is None:
        out = np.empty((A.n_rows, B.n_rows))
    (sparse_distances if isinstance(A.rows, CSR) else dense_distances)(A.rows, B.rows, out)
    return out


def _one_against(A: Points, B: Points, out: Floats) -> None:
    from rosenblatt.loops.passes import scores

    w = np.zeros(A.n_features + 1)
    w[:-1] = A.rows[0]
    scores(B.rows, w, out)


def _all_against(A: Points, B: Points, out: Floats) -> None:
    from rosenblatt.loops.passes import machine_scores

    order, machines, room = np.arange(A.n_rows, dtype=np.uint64), np.arange(B.n_rows), np.empty((PAIR, B.n_rows))
    machine_scores(A.rows, B.laid(), order, machines, room, out)
