"""The convex hulls of two classes, and the two bounds that hold the largest margin between them.

For every normal vector w the least y f/‖w‖ over all rows is a lower bound; for all weights λ, normalised in each
class, half the distance of the two points they name is an upper bound. Without a bias there is one hull, that of
the y_i x_i, and the distance is that from the origin. Both bounds are evaluated on the data, whatever a solver
claims.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr

from rosenblatt.data.features import Features
from rosenblatt.margins.matrix import BLOCK, Matrix
from rosenblatt.typing import Floats, Ints

NARROW = 1000
"""Features that sparse rows may have to be written densely, some at a time."""
SMALL = 300
"""Features that rows may have and stay as they are, even if there are fewer rows."""
LARGE = 2**22
"""Values that sparse rows may fill when written densely."""


class Hulls:
    """Rows of two sides.

    Where there is a bias, rows are moved to have their mean at the origin: that changes no distance, and spares
    digits where they lie far out. Sparse rows of many features stay where they are, and sparse.

    Parameters
    ----------
    features : Features
        The rows.
    y : ndarray
        Their sides, −1.0 and +1.0.
    bias : bool
        Whether hyperplanes may miss the origin.
    """

    def __init__(self, features: Features, y: Floats, *, bias: bool) -> None:
        self.matrix, self.y, self.bias = Matrix(features, bias=False), y, bias
        self.center = np.zeros(features.n_features)
        self.dense = not self.matrix.sparse or features.n_features <= NARROW
        if bias and self.dense:
            self.center = self.matrix.combine(np.full(y.size, 1.0 / y.size))

    @cached_property
    def radius(self) -> float:
        """The largest norm of a row as it is seen from the center."""
        if not self.dense:
            return self.reach
        step = max(1, BLOCK // self.matrix.d)
        blocks = (self.moved(slice(start, start + step)) for start in range(0, self.matrix.n, step))
        return float(np.sqrt(max(np.einsum("ij,ij->i", block, block).max() for block in blocks)))

    @cached_property
    def reach(self) -> float:
        """The largest norm of a row as it was given, which the rounding of scores goes by."""
        return float(np.sqrt(self.matrix.squares().max()))

    def scores(self, w: Floats) -> Floats:
        """Return <w, x_i − center> for every row."""
        return self.matrix.times(w) - self.center @ w

    def place(self, rows: Ints) -> Coordinates:
        """Return some rows, in few coordinates if they are wide."""
        return Coordinates(self.moved(rows))

    def moved(self, rows: Ints | slice) -> Any:
        """Return some rows as they are seen from the center."""
        X = self.matrix.X[rows]
        if not self.dense:
            return X
        return np.asarray(X.toarray() if self.matrix.sparse else X, np.float64) - self.center

    def distance(self, rows: Ints, lam: Floats) -> float:
        """Return the distance of the points that weights of some rows name."""
        return float(np.linalg.norm((lam * self.y[rows]) @ self.moved(rows)))

    def upper(self, rows: Ints, lam: Floats) -> float:
        """Return the upper bound that weights of some rows give."""
        return self.distance(rows, lam) * (0.5 if self.bias else 1.0)

    def least(self, f: Floats, y: Floats) -> tuple[float, float]:
        """Return the least y f once the best bias is added to scores f, and that bias."""
        if not self.bias:
            return float((y * f).min()), 0.0
        plus, minus = float(f[y > 0.0].min()), float(f[y < 0.0].max())
        return 0.5 * (plus - minus), -0.5 * (plus + minus)


class Coordinates:
    """Rows written in as few coordinates as there are rows, where they have more features than that.

    Products of rows, and so distances and margins, are the same in both.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        n, d = X.shape
        sparse = hasattr(X, "indptr")
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
        """Return a normal vector in the features that the rows were given in."""
        if self.combination is not None:
            return np.asarray(self.X.T @ (self.combination @ w), np.float64)
        if self.basis is None:
            return w
        full = np.zeros(self.X.shape[1])
        full[self.used] = self.basis @ w
        return full
