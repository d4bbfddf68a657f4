"""The convex hulls of two classes, and the two bounds that enclose the largest margin.

For every normal vector w the smallest y f/‖w‖ over all rows is a lower bound. For all weights λ that sum to 1 in
each class, half the distance between the two points they define is an upper bound. Without a bias there is one
hull, that of the y_i x_i, and the distance is that from the origin. Both bounds are evaluated on the data.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr
from scipy.sparse import issparse

from rosenblatt.data.features import Features
from rosenblatt.margins.matrix import BLOCK, Matrix
from rosenblatt.typing import Floats, Ints

NARROW = 1000  # sparse rows of up to this many features are made dense, some at a time
SMALL = 300  # rows of up to this many features are not reduced, even if there are fewer rows
LARGE = 2**22  # values that sparse rows may have when made dense


class Hulls:
    """Rows of two sides y, −1.0 and +1.0; with `bias`, hyperplanes need not contain the origin.

    With a bias the rows are moved to have their mean at the origin: that changes no distance, and saves digits
    when they lie far from it. Sparse rows of many features are neither moved nor made dense.
    """

    def __init__(self, features: Features, y: Floats, *, bias: bool) -> None:
        self.matrix, self.y, self.bias = Matrix(features, bias=False), y, bias
        self.center = np.zeros(features.n_features)
        self.dense = not self.matrix.sparse or features.n_features <= NARROW
        if bias and self.dense:
            self.center = self.matrix.combine(np.full(y.size, 1.0 / y.size))

    @cached_property
    def radius(self) -> float:
        """The largest distance of a row from the center."""
        if not self.dense:
            return self.reach
        step = max(1, BLOCK // self.matrix.d)
        blocks = (self.moved(slice(start, start + step)) for start in range(0, self.matrix.n, step))
        return float(np.sqrt(max(np.einsum("ij,ij->i", block, block).max() for block in blocks)))

    @cached_property
    def reach(self) -> float:
        """The largest norm of a row, to which the rounding errors of scores are proportional."""
        return float(np.sqrt(self.matrix.squares.max()))

    def scores(self, w: Floats) -> Floats:
        """Return <w, x_i − center> for every row."""
        return self.matrix.times(w) - self.center @ w

    def place(self, rows: Ints) -> Coordinates:
        """Return some rows, in fewer coordinates if they have many features."""
        return Coordinates(self.moved(rows))

    def moved(self, rows: Ints | slice) -> Any:
        """Return some rows relative to the center."""
        return self.matrix.dense(rows) - self.center if self.dense else self.matrix.X[rows]

    def distance(self, rows: Ints, lam: Floats) -> float:
        """Return the distance between the two points that weights of some rows define."""
        return float(np.linalg.norm((lam * self.y[rows]) @ self.moved(rows)))

    def upper(self, rows: Ints, lam: Floats) -> float:
        """Return the upper bound on the margin from weights of some rows."""
        return self.distance(rows, lam) * (0.5 if self.bias else 1.0)

    def least(self, f: Floats, y: Floats) -> tuple[float, float]:
        """Return the smallest y (f + b) for scores f and the best bias b, and b."""
        if not self.bias:
            return float((y * f).min()), 0.0
        plus, minus = float(f[y > 0.0].min()), float(f[y < 0.0].max())
        return 0.5 * (plus - minus), -0.5 * (plus + minus)


class Coordinates:
    """Rows in at most as many coordinates as there are rows, with the same products, distances and margins."""

    def __init__(self, X: Any) -> None:
        self.X = X
        n, d = X.shape
        sparse = issparse(X)
        self.basis: Floats | None = None
        self.combination: Floats | None = None
        used: Any = np.unique(X.indices) if sparse else slice(None)
        self.used = used
        if d <= max(n, SMALL):
            self.rows: Floats = np.asarray(X.toarray() if sparse else X, np.float64)
        elif sparse and n * used.size > LARGE:
            values, vectors = eigh((X.astype(np.float64) @ X.T).toarray())
            root = np.sqrt(np.maximum(values, values[-1] * np.finfo(float).eps))
            self.rows, self.combination = vectors * root, vectors / root
        else:
            few = X[:, used].toarray() if sparse else X
            Q, R = qr(np.asarray(few, np.float64).T, mode="economic")
            self.basis, self.rows = np.asarray(Q, np.float64), np.ascontiguousarray(R.T)

    def original(self, w: Floats) -> Floats:
        """Return a normal vector in the original features."""
        if self.combination is not None:
            return np.asarray(self.X.T @ (self.combination @ w), np.float64)
        if self.basis is None:
            return w
        full = np.zeros(self.X.shape[1])
        full[self.used] = self.basis @ w
        return full
