"""The vector that is short and leaves few rows short of margin one: a soft margin by squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.typing import Floats

MOST_STEPS = 50
CLOSE = 1e-9  # of the first gradient's length


def squared_hinge(features: Features, y: Floats, pad: float, C: float) -> tuple[Floats, float]:
    """Minimise ‖v‖² + C Σ max(0, 1 − y_i <v, x̄_i>)² over v, by Newton's method; return v and the value there.

    x̄_i is x_i with `pad` as its last coordinate. The value is that of the v returned, which is never worse than
    v = 0, whether or not the minimum was reached.

    Examples
    --------
    >>> from rosenblatt.data.features import as_rows
    >>> v, value = squared_hinge(as_rows([[1.0], [-1.0]]), np.array([1.0, -1.0]), pad=0.0, C=0.5)
    >>> v.round(6).tolist(), round(value, 6)
    ([0.5, 0.0], 0.5)
    """
    X = features.native()
    v = np.zeros(features.n_features + 1)
    short = np.ones(features.n_rows)
    value, first = C * features.n_rows, 0.0
    for _ in range(MOST_STEPS):
        active = np.flatnonzero(short > 0.0)
        Xa = X[active]
        gradient = v - C * _transposed(Xa, y[active] * short[active], pad)
        length = float(np.linalg.norm(gradient))
        first = first or length
        if length <= CLOSE * first:
            break
        step = _solve(Xa, pad, C, gradient)
        along = y * (X @ step[:-1] + pad * step[-1])
        t = 1.0
        while True:
            trial, shorter = v - t * step, short + t * along
            lower = float(trial @ trial + C * np.square(np.maximum(shorter, 0.0)).sum())
            if lower < value or t < 1e-9:
                break
            t /= 2
        if not lower < value:
            break
        v, short, value = trial, 1.0 - y * (X @ trial[:-1] + pad * trial[-1]), lower
    return v, value


def _transposed(X: Any, r: Floats, pad: float) -> Floats:
    """Return Σ r_i x̄_i."""
    return np.append(X.T @ r, pad * r.sum())


def _solve(X: Any, pad: float, C: float, gradient: Floats) -> Floats:
    """Solve (I + C Σ x̄_i x̄_iᵀ) s = gradient."""
    from scipy.sparse.linalg import LinearOperator, cg

    def times(s: Floats) -> Floats:
        s = s.reshape(-1)
        return s + C * _transposed(X, X @ s[:-1] + pad * s[-1], pad)

    n = len(gradient)
    step: Floats
    step, _ = cg(LinearOperator((n, n), matvec=times, dtype=np.float64), gradient, rtol=1e-8, maxiter=10 * n)
    return step
