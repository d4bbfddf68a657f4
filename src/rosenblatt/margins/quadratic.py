"""The maximum-margin hyperplane of few rows: minimise ½‖w‖² subject to y_i (<w, x_i> + b) ≥ 1.

PIQP solves this quadratic program; `polish` then solves the equations of its solution to the last digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import svd

from rosenblatt.typing import Floats

PRECISION = 1e-13
STEPS = 200
REFINEMENTS = 3
MOST = 1e-4


class Widest(NamedTuple):
    """A normal vector w with y f ≥ 1 for some bias, and weights λ ≥ 0 that sum to 1 in each class."""

    w: Floats
    lam: Floats


def widest(X: Floats, y: Floats, *, bias: bool, guess: float) -> Widest | None:
    """Solve the program by PIQP; return None if it fails.

    Features are scaled to one range, which badly scaled data needs. `guess` is roughly the margin: it scales the
    objective to about 1, because PIQP would take a thin margin for zero.
    """
    import piqp

    n, d = X.shape
    size = np.abs(X).max(axis=0)
    size[size == 0.0] = 1.0
    G = y[:, None] * (np.column_stack([X / size, np.ones(n)]) if bias else X / size)
    P = np.diag(np.append((guess / size) ** 2, np.zeros(int(bias))))
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = PRECISION
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = PRECISION
    settings.max_iter = STEPS
    solver.setup(
        np.asfortranarray(P), np.zeros(d + bias), G=np.asfortranarray(G), h_l=np.ones(n), h_u=np.full(n, np.inf)
    )
    solver.solve()
    w, lam = solver.result.x[:d] / size, np.maximum(solver.result.z_l, 0.0)
    if not (np.isfinite(w).all() and np.isfinite(lam).all() and w.any()):
        return None
    shares = normalised(lam, y, bias=bias)
    return None if shares is None else Widest(w, shares)


def polish(X: Floats, y: Floats, *, bias: bool) -> Widest:
    """Return the shortest w with y f = 1 on every row, and its dual weights, some of which may be negative.

    Both come from one singular value decomposition, refined with the true residual.
    """
    A = X - X.mean(axis=0) if bias else X
    target = y - y.mean() if bias else y
    U, s, Vt = svd(A, full_matrices=False)
    kept = s > s[0] * np.finfo(float).eps * max(A.shape)
    U, s, V = U[:, kept], s[kept], Vt[kept].T
    w = V @ (U.T @ target / s)
    for _ in range(REFINEMENTS):
        w = w + V @ (U.T @ (target - A @ w) / s)
    return Widest(w, y * (U @ (V.T @ w / s)))


def sharpened(found: Widest, X: Floats, y: Floats, *, bias: bool) -> Widest | None:
    """Return the solution for the rows of largest weight only: small weights of others hide a thin margin."""
    held = np.flatnonzero(found.lam > MOST * found.lam.max())
    while held.size and not (bias and abs(y[held].sum()) == held.size):
        exact = polish(X[held], y[held], bias=bias)
        if (exact.lam > 0.0).all():
            lam = np.zeros(y.size)
            lam[held] = exact.lam
            shares = normalised(lam, y, bias=bias)
            return None if shares is None else Widest(exact.w, shares)
        held = np.delete(held, int(np.argmin(exact.lam)))
    return None


def normalised(lam: Floats, y: Floats, *, bias: bool) -> Floats | None:
    """Scale weights to sum to 1 in each class, or in total without a bias; None if that is impossible."""
    groups = (y > 0.0, y < 0.0) if bias else (np.ones(y.size, np.bool_),)
    shares = lam.copy()
    for group in groups:
        total = lam[group].sum()
        if not total > 0.0:
            return None
        shares[group] /= total
    return shares
