"""The products of a data matrix that batch solvers need, whatever its layout; X is read, never copied.

Rows are padded with a constant for the bias where there is one. Batch solvers promise a gap, not bits, and so may
use the sums that BLAS and scipy choose.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.sparse import weighted_gram
from rosenblatt.typing import Floats

BLOCK = 2**18
"""Values widened and scaled together: two megabytes."""


class Matrix:
    """n rows of d features, and a last column that is constant if there is a bias.

    Parameters
    ----------
    features : Features
        The rows.
    bias : bool
        Whether rows are padded.
    pad : float
        What they are padded with.
    """

    def __init__(self, features: Features, *, bias: bool, pad: float = 1.0) -> None:
        self.features, self.bias, self.pad = features, bias, pad
        self.n, self.d = features.n_rows, features.n_features
        self.width = self.d + bias
        self.sparse = isinstance(features.rows, CSR)
        self.X: Any = features.native()

    def times(self, theta: Floats) -> Floats:
        """Return <θ, x_i> for every row."""
        w = theta[: self.d]
        product = self.X @ w if self.sparse or self.X.dtype == w.dtype else self._times_narrow(w)
        return np.asarray(product + self.pad * theta[-1] if self.bias else product, np.float64)

    def combine(self, r: Floats) -> Floats:
        """Return Σ r_i x_i."""
        sums = np.empty(self.width)
        if self.sparse or self.X.dtype == r.dtype:
            sums[: self.d] = r @ self.X
        else:
            sums[: self.d] = sum(r[rows] @ block for rows, block in self._blocks())
        if self.bias:
            sums[-1] = self.pad * r.sum()
        return sums

    def gram(self, weight: Floats) -> Floats:
        """Return Σ weight_i x_i x_iᵀ, of size width × width."""
        out = np.zeros((self.width, self.width))
        inner = out[: self.d, : self.d]
        if isinstance(self.features.rows, CSR):
            weighted_gram(self.features.rows, weight, inner)
            inner += np.tril(inner, -1).T
        else:
            for rows, block in self._blocks():
                scaled = block * np.sqrt(weight[rows])[:, None]
                inner += scaled.T @ scaled
        if self.bias:
            out[-1, :-1] = out[:-1, -1] = self.pad * self.combine(weight)[:-1]
            out[-1, -1] = self.pad * self.pad * weight.sum()
        return out

    def outer(self, weight: Floats) -> Floats:
        """Return Σ_j weight_j x_ij x_kj, the scaled products of all rows, n × n; the bias is left out."""
        if self.sparse:
            return np.asarray((self.X.multiply(weight).tocsr() @ self.X.T).toarray(), np.float64)
        out = np.zeros((self.n, self.n))
        columns = max(1, BLOCK // self.n)
        for start in range(0, self.d, columns):
            part = slice(start, start + columns)
            scaled = self.X[:, part] * np.sqrt(weight[part])
            out += scaled @ scaled.T
        return out

    def squares(self) -> Floats:
        """Return ‖x_i‖² for every row, the bias left out."""
        if self.sparse:
            return np.asarray(self.X.astype(np.float64).power(2).sum(axis=1)).ravel()
        return np.concatenate([np.einsum("ij,ij->i", block, block) for _, block in self._blocks()])

    @cached_property
    def column_sizes(self) -> Floats:
        """The root of the mean square of each column."""
        if self.sparse:
            squares = np.asarray(self.X.astype(np.float64).power(2).sum(axis=0)).ravel()
        else:
            squares = sum(np.einsum("ij,ij->j", block, block) for _, block in self._blocks())
        padding = np.full(int(self.bias), self.pad * self.pad)
        sizes: Floats = np.sqrt(np.append(squares / self.n, padding))
        return sizes

    def _times_narrow(self, w: Floats) -> Floats:
        return np.concatenate([block @ w for _, block in self._blocks()])

    def _blocks(self) -> Any:
        """Give the rows some at a time, in double."""
        step = max(1, BLOCK // self.d)
        for start in range(0, self.n, step):
            rows = slice(start, start + step)
            yield rows, self.X[rows].astype(np.float64, copy=False)
