"""Independent answers to soft- and hard-margin problems: the textbook's formula, and other people's solvers."""

from __future__ import annotations

import numpy as np
import piqp
from scipy.optimize import minimize
from scipy.special import expit


def objective(X, y, w, b, *, loss, cost=None, l1=0.0, l2=0.0, margin=1.0):
    """The objective of a soft margin, for labels −1 and +1."""
    z = y * (X @ w + b)
    each = {
        "perceptron": np.maximum(0, margin - z),
        "hinge": np.maximum(0, 1 - z),
        "squared_hinge": np.maximum(0, 1 - z) ** 2,
        "logistic": np.logaddexp(0, -z),
    }[loss]
    mean = each.mean() if cost is None else cost @ each
    return mean + l2 / 2 * (w @ w) + l1 * np.abs(w).sum()


def least_objective(X, y, *, loss, cost=None, l1=0.0, l2=0.0, margin=1.0, bias=True):
    """The least objective by another solver: never below the true least, and to about 1e-9 equal to it."""
    n = len(y)
    cost = np.full(n, 1 / n) if cost is None else cost
    solve = _logistic if loss == "logistic" else _quadratic
    w, b = solve(X, y, cost, l1, l2, margin if loss == "perceptron" else 1.0, loss == "squared_hinge", bias)
    found = objective(X, y, w, b, loss=loss, cost=cost, l1=l1, l2=l2, margin=margin)
    return min(found, objective(X, y, 0 * w, 0, loss=loss, cost=cost, l1=l1, l2=l2, margin=margin))


def _quadratic(X, y, cost, l1, l2, margin, squared, bias):
    """Solve for (positive part of w, negative part, b, slacks)."""
    n, d = X.shape
    P = np.zeros((2 * d + 1 + n,) * 2)
    P[:d, :d] = P[d : 2 * d, d : 2 * d] = l2 * np.eye(d)
    P[:d, d : 2 * d] = P[d : 2 * d, :d] = -l2 * np.eye(d)
    P[2 * d + 1 :, 2 * d + 1 :] = np.diag(2 * cost * squared)
    c = np.concatenate([np.full(2 * d, l1), [0], cost * (not squared)])
    yX = y[:, None] * X
    G = np.hstack([yX, -yX, y[:, None] * bias, np.eye(n)])
    lower = np.concatenate([np.zeros(2 * d), [-np.inf], np.zeros(n)])
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-11
    fortran = np.asfortranarray
    solver.setup(fortran(P), c, G=fortran(G), h_l=np.full(n, margin), h_u=np.full(n, np.inf), x_l=lower)
    solver.solve()
    x = solver.result.x
    return x[:d] - x[d : 2 * d], x[2 * d] * bias


def _logistic(X, y, cost, l1, l2, margin, squared, bias):
    d = X.shape[1]

    def value(x):
        w = x[:d] - x[d : 2 * d]
        z = y * (X @ w + bias * x[-1])
        r = -cost * y * expit(-z)
        g = X.T @ r + l2 * w
        total = cost @ np.logaddexp(0, -z) + l2 / 2 * (w @ w) + l1 * x[: 2 * d].sum()
        return total, np.concatenate([g + l1, -g + l1, [bias * r.sum()]])

    bounds = [(0, None)] * (2 * d) + [(None, None)]
    options = {"maxiter": 500, "maxfun": 1000, "ftol": 1e-15, "gtol": 1e-11}
    x = minimize(value, np.zeros(2 * d + 1), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return x[:d] - x[d : 2 * d], x[-1] * bias


def largest_margin(X, y, *, bias=True):
    """The largest margin by a program of another shape: the nearest points of the hulls, all rows at once."""
    n, d = X.shape
    A = np.zeros((d + 1 + bias, n + d))
    A[:d, :n], A[:d, n:] = (y[:, None] * X).T, -np.eye(d)
    A[d, :n] = y > 0 if bias else 1
    if bias:
        A[d + 1, :n] = y < 0
    right = np.concatenate([np.zeros(d), np.ones(1 + bias)])
    P = np.zeros((n + d, n + d))
    P[n:, n:] = np.eye(d)
    lower = np.concatenate([np.zeros(n), np.full(d, -np.inf)])
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-13
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-14
    solver.setup(np.asfortranarray(P), np.zeros(n + d), np.asfortranarray(A), right, x_l=lower)
    solver.solve()
    return np.linalg.norm(solver.result.x[n:]) / (1 + bias)
