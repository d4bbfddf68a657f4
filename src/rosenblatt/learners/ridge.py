"""Least squares with a penalty, learned from blocks of rows: recursive least squares in square-root form.

What is carried is the triangle R and the matrix Z of the QR factorisation of all rows so far, penalty rows first.
New rows are put below it and the whole is factorised again. The normal equations, RᵀR β = RᵀZ, are never formed,
so that the result is as good as that of one factorisation of everything: rounding is multiplied by the condition
of the rows, not by its square.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from rosenblatt.data.memory import require_neurons
from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.typing import Floats

LEAST_BLOCK = 256
SQUARES = 14
"""How many arrays as large as the triangle a factorisation holds at its peak, by measurement."""


class Solution(NamedTuple):
    """The weights of each output, the bias last; and each output's sum of squared errors, as weighted."""

    weights: Floats
    squares: Floats


class RecursiveRidge:
    """The minimum of Σ weight (y − <β, h> − b)² + alpha ‖β‖², after any number of rows.

    Rows wait until there are as many as a block takes, wherever chunks end: so any chunking makes the same
    factorisations, and leaves the same bits. A single row costs, on average, what the classical update does.

    Parameters
    ----------
    n_inputs, n_outputs : int
        Of each row h, and of its target.
    alpha : float
        The penalty, at least 0. With 0, and where the rows do not determine all weights, the shortest are found.
    """

    def __init__(self, n_inputs: int, n_outputs: int, alpha: float) -> None:
        m = n_inputs + 1  # the bias is the weight of a constant, and the only one without a penalty
        require_neurons(f"Least squares for {n_inputs:,} neurons", 8 * SQUARES * m * (m + n_outputs))
        self.alpha = alpha
        self.block = max(2 * m, LEAST_BLOCK)
        self.triangle = np.zeros((m, m))
        np.fill_diagonal(self.triangle[:-1, :-1], np.sqrt(alpha))
        self.turned = np.zeros((m, n_outputs))
        self.unexplained = np.zeros(n_outputs)
        self.total_weight = 0.0
        self._waiting: list[Floats] = []
        self._n_waiting = 0
        self._solution: Solution | None = None

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return self.turned.shape[1]

    def fork(self) -> RecursiveRidge:
        """Return one that goes on by itself: nothing here is ever changed in place."""
        other = copy(self)
        other._waiting = list(self._waiting)
        return other

    def insert_output(self, at: int) -> None:
        """Add an output that has been 0 so far."""
        m = len(self.triangle)
        self.turned = np.insert(self.turned, at, 0.0, axis=1)
        self.unexplained = np.insert(self.unexplained, at, 0.0)
        self._waiting = [np.insert(rows, m + at, 0.0, axis=1) for rows in self._waiting]
        self._solution = None

    def add(self, H: Floats, Y: Floats, weight: Floats | None) -> None:
        """Learn from rows and their targets, shapes (n, n_inputs) and (n, n_outputs)."""
        rows = np.hstack([H, np.ones((len(H), 1)), Y])
        if weight is not None:
            counts = weight > 0.0  # others must not fill a block
            rows = rows[counts] * np.sqrt(weight[counts])[:, None]
        with np.errstate(over="ignore"):
            if not np.isfinite(np.vdot(rows, rows)):  # said of these rows, not when they have become a block
                raise TrainingOverflowError(
                    "Squares exceed the largest float. Scale features, targets or weights."
                )
        self.total_weight += len(H) if weight is None else float(weight.sum())
        while self._n_waiting + len(rows) >= self.block:
            missing = self.block - self._n_waiting
            self._waiting.append(rows[:missing])
            self.triangle, self.turned, self.unexplained = self._factorised()
            self._waiting, self._n_waiting = [], 0
            rows = rows[missing:]
        if len(rows):
            self._waiting.append(rows)
            self._n_waiting += len(rows)
        self._solution = None

    def solution(self) -> Solution:
        """Return the weights that all rows so far lead to."""
        if self._solution is None:
            self._solution = self._solve()
        return self._solution

    def _factorised(self) -> tuple[Floats, Floats, Floats]:
        """Return triangle, targets and the squares no weights explain, with the rows that wait."""
        from scipy.linalg import qr

        m, k = self.turned.shape
        stacked = np.vstack([np.hstack([self.triangle, self.turned]), *self._waiting])
        (factor,) = qr(np.asfortranarray(stacked), mode="r", overwrite_a=True, check_finite=False)
        if not np.isfinite(factor).all():
            raise TrainingOverflowError("Sums of squares exceed the largest float. Scale features or targets.")
        left = np.square(factor[m : m + k, m:]).sum(axis=0)
        return factor[:m, :m].copy(), factor[:m, m:].copy(), self.unexplained + left

    def _solve(self) -> Solution:
        from scipy.linalg import lstsq, solve_triangular

        R, Z, unexplained = self._factorised() if self._waiting else (self.triangle, self.turned, self.unexplained)
        if self.alpha > 0.0 and R[-1, -1] != 0.0:
            weights = solve_triangular(R, Z, check_finite=False)
        else:
            weights = lstsq(R, Z, check_finite=False)[0]
        # Where the triangle is singular, not even the turned targets are reached.
        squares = unexplained + np.square(Z - R @ weights).sum(axis=0)
        squares -= self.alpha * np.square(weights[:-1]).sum(axis=0)
        return Solution(weights.T, np.maximum(squares, 0.0))
