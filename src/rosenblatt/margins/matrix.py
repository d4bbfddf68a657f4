"""Products of a data matrix that batch solvers need, for dense and sparse rows alike; X is never copied.

Batch solvers promise a gap, not bits, so they may use the summation orders of BLAS and scipy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from rosenblatt.loops.descent import bend
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.sparse import weighted_gram
from rosenblatt.rows.features import Features, read_only
from rosenblatt.typing import Floats, Ints

GRADIENT_PASSES = 50  # multiplications of a value that conjugate gradients take about
BLAS_TIME_SHARE = 0.1  # the time of a multiplication of dense matrices, as a share of that of a single one
MAX_DENSE_VALUES = 2**21  # values of a dense copy of some rows
BLOCK_VALUES = 2**18  # values converted to double and scaled together: two megabytes
MAX_COPIED_SHARE = 0.4  # the share of rows that are copied in less time than a product takes to read all
_Rows = TypeVar("_Rows", bound=Features)


class Matrix:
    """n rows of d features, and with `bias` a last column that holds the constant `pad`."""

    def __init__(self, features: Features, *, bias: bool, pad: float = 1.0) -> None:
        self.features, self.bias, self.pad = features, bias, pad
        self.n, self.d = features.n_rows, features.n_features
        self.width = self.d + bias
        self.sparse = isinstance(features.rows, CSR)
        self.X: Any = features.native()

    @property
    def costly(self) -> bool:
        """Whether `gram` of all rows and its factors take longer than some tens of passes over the rows."""
        values = self.X.nnz if self.sparse else self.n * self.d
        each = 1.0 if self.sparse else BLAS_TIME_SHARE  # the time of a multiplication
        gram = each * values * values / (2.0 * self.n) + BLAS_TIME_SHARE * self.d**3 / 3.0
        return bool(gram > GRADIENT_PASSES * values)

    def dense(self, rows: Any) -> Floats:
        """Return some rows as a dense array in double, without the constant column."""
        X = self.X[rows]
        return np.asarray(X.toarray() if self.sparse else X, np.float64)

    def some(self, rows: Ints) -> Any:
        """Return some rows in double, dense unless they are sparse and many, without the constant column."""
        if self.sparse and rows.size * self.d > MAX_DENSE_VALUES:
            return self.X[rows].astype(np.float64)
        return self.dense(rows)

    def times(self, theta: Floats) -> Floats:
        """Return <θ, x_i> for every row."""
        w = theta[: self.d]
        if self.sparse or self.X.dtype == w.dtype:
            product = self.X @ w
        else:
            product = np.concatenate([block @ w for _, block in self._blocks()])
        return np.asarray(product + self.pad * theta[-1] if self.bias else product, np.float64)

    def combine(self, r: Floats) -> Floats:
        """Return Σ r_i x_i; of dense rows only those are read whose r_i is not zero, if they are few.

        `np.dot` lets other threads run meanwhile; the operator @ of a vector and a matrix does not.
        """
        sums = np.empty(self.width)
        if not self.sparse and np.count_nonzero(r) < MAX_COPIED_SHARE * self.n:
            used = np.flatnonzero(r)
            parts = (
                used[at : at + BLOCK_VALUES // self.d + 1]
                for at in range(0, used.size, BLOCK_VALUES // self.d + 1)
            )
            sums[: self.d] = sum(np.dot(r[rows], self.X[rows].astype(np.float64, copy=False)) for rows in parts)
        elif self.sparse:
            sums[: self.d] = r @ self.X
        elif self.X.dtype == r.dtype:
            sums[: self.d] = np.dot(r, self.X)
        else:
            sums[: self.d] = sum(np.dot(r[rows], block) for rows, block in self._blocks())
        if self.bias:
            sums[-1] = self.pad * r.sum()
        return sums

    def gram(self, weight: Floats) -> Floats:
        """Return Σ weight_i x_i x_iᵀ, of shape (width, width)."""
        out = np.zeros((self.width, self.width))
        inner = out[: self.d, : self.d]
        if isinstance(self.features.rows, CSR):
            weighted_gram(self.features.rows, weight, inner)
            inner += np.tril(inner, -1).T
        else:
            used = np.flatnonzero(weight)
            for start in range(0, used.size, max(1, BLOCK_VALUES // self.d)):
                rows = used[start : start + max(1, BLOCK_VALUES // self.d)]
                scaled = self.X[rows] * np.sqrt(weight[rows])[:, None]
                inner += scaled.T @ scaled
        if self.bias:
            out[-1, :-1] = out[:-1, -1] = self.pad * self.combine(weight)[:-1]
            out[-1, -1] = self.pad * self.pad * weight.sum()
        return out

    def diagonal(self, weight: Floats) -> Floats:
        """Return the diagonal of `gram`, without the rest."""
        if self.sparse:
            squares = weight @ self.squared
        else:
            squares = sum(np.einsum("i,ij,ij->j", weight[rows], block, block) for rows, block in self._blocks())
        return np.append(squares, self.pad * self.pad * weight.sum()) if self.bias else np.asarray(squares)

    def bent(self, weight: Floats, theta: Floats) -> Floats:
        """Return Σ weight_i <θ, x_i> x_i, in one reading of the rows whose weight is not zero."""
        padded, sums = np.zeros(self.d + 1), np.zeros(self.d + 1)
        padded[: self.width] = theta
        bend(self.features.rows, weight, self.pad if self.bias else 0.0, padded, sums)
        return sums[: self.width]

    def outer(self, weight: Floats) -> Floats:
        """Return Σ_j weight_j x_ij x_kj for all pairs of rows, of shape (n, n), without the constant column."""
        if self.sparse:
            return np.asarray((self.X.multiply(weight).tocsr() @ self.X.T).toarray(), np.float64)
        out = np.zeros((self.n, self.n))
        columns = max(1, BLOCK_VALUES // self.n)
        for start in range(0, self.d, columns):
            part = slice(start, start + columns)
            scaled = self.X[:, part] * np.sqrt(weight[part])
            out += scaled @ scaled.T
        return out

    @cached_property
    def products(self) -> Floats:
        """<x_i, x_k> for all pairs of rows, without the constant column; all classes share them."""
        return self.outer(np.ones(self.d))

    @cached_property
    def squared(self) -> Any:
        """The squares of the values of sparse rows."""
        return self.X.astype(np.float64).power(2)

    @cached_property
    def squares(self) -> Floats:
        """‖x_i‖² of every row, without the constant column."""
        if self.sparse:
            return np.asarray(self.squared.sum(axis=1)).ravel()
        return np.concatenate([np.einsum("ij,ij->i", block, block) for _, block in self._blocks()])

    @cached_property
    def mean_square(self) -> float:
        """The mean of ‖x_i‖² over the rows, without the constant column."""
        if self.sparse:
            values = self.X.data.astype(np.float64, copy=False)
            return float(values @ values) / self.n
        return float(self.squares.mean())

    @cached_property
    def column_sizes(self) -> Floats:
        """The root mean square of each column."""
        if self.sparse:
            squares = np.asarray(self.squared.sum(axis=0)).ravel()
        else:
            squares = sum(np.einsum("ij,ij->j", block, block) for _, block in self._blocks())
        padding = np.full(int(self.bias), self.pad * self.pad)
        sizes: Floats = np.sqrt(np.append(squares / self.n, padding))
        return sizes

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield some rows at a time, in double."""
        step = max(1, BLOCK_VALUES // self.d)
        for start in range(0, self.n, step):
            rows = slice(start, start + step)
            yield rows, self.X[rows].astype(np.float64, copy=False)


def scaled_rows(features: _Rows, powers: int | Ints) -> _Rows:
    """Return rows in double, times a power of two for all columns or one for each; only underflow rounds."""
    X = features.rows
    with np.errstate(under="ignore"):
        if isinstance(X, CSR):
            own = powers if isinstance(powers, int) else powers[X.indices]
            return replace(features, rows=X._replace(data=read_only(np.ldexp(X.data.astype(np.float64), own))))
        return replace(features, rows=read_only(np.ldexp(X.astype(np.float64), powers)))
