"""The objective of a soft-margin classifier (Cortes and Vapnik 1995), and a lower bound on its minimum.

The objective is ``P(w, b) = Σ c_i φ(margin − y_i f(x_i)) + (l2/2)‖w‖² + l1‖w‖₁``. Any dual weights α_i ≥ 0 that
meet the conditions below give a value that no (w, b) can undercut::

    D(α) = Σ (margin·α_i − c_i φ*(α_i/c_i)) − Σ_j max(0, |v_j| − l1)² / (2 l2),   v = Σ α_i y_i x_i

The conditions are Σ α_i y_i = 0 if the bias is free, and |v_j| ≤ l1 instead of the last sum if l2 = 0.
`lower_bound` moves any α to where they hold, and evaluates D there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import xlogy

from rosenblatt.loops.descent import Hinge, Loss, SquaredHinge
from rosenblatt.margins.matrix import Matrix
from rosenblatt.typing import Floats

Bias: TypeAlias = Literal["free", "penalised"] | None

MAX_REPAIRS = 5
MAX_SMALL_FEATURES = 300  # up to this many features their matrix is used even if rows are fewer
ROUNDING_SHARE = 1e-14  # of a value: the rounding of sums over many rows, in steps, diagonals and gaps
# Without a penalty the bound holds for weights up to this many times those found or typical
MAX_WEIGHTS_FACTOR = 1e6


@dataclass(eq=False)
class Deadline:
    """The time, by `time.perf_counter`, at which a long step returns what it has; it may be moved."""

    at: float = math.inf


@dataclass(frozen=True, eq=False)
class Iterate:
    """One step, or one pass, of a solver of soft-margin problems."""

    theta: Floats  # padded weights
    t: Floats | None = None  # their shortfalls, if the solver has them
    alpha: Floats | None = None  # dual weights that bound the minimum, if the solver has them
    made: int = 0  # steps so far
    visits: int = 0  # visits to single rows so far, of a solver that steps at each visit
    judge: bool = True  # whether to evaluate the objective and the bound here
    likely: float | None = None  # the gap, roughly, if it is known: the bound can wait while that is too large
    replaces: bool = False  # whether it replaces earlier iterates even if they were better


@dataclass(frozen=True, eq=False)
class Objective:
    """A convex problem over padded weights θ = (w, b)."""

    matrix: Matrix  # the rows x_i
    y: Floats  # their sides, −1.0 and +1.0
    cost: Floats  # c_i > 0, the cost of a unit of loss of each row
    loss: Loss  # φ and its margin
    l1: float = 0.0  # the cost of ‖w‖₁
    l2: float = 0.0  # the cost of ½‖w‖²
    bias: Bias = "free"  # None without a bias; "penalised" if l2 applies to it as to a weight
    deadline: Deadline = field(default_factory=Deadline)

    def shortfall(self, theta: Floats) -> Floats:
        """Return t_i = margin − y_i f(x_i)."""
        return self.loss.margin - self.y * self.matrix.times(theta)

    def value(self, theta: Floats, t: Floats) -> float:
        """Return P(θ), given the shortfalls `t` of θ."""
        w = theta[: self.matrix.d]
        penalised = theta if self.bias == "penalised" else w
        penalty = 0.5 * self.l2 * float(penalised @ penalised) + self.l1 * float(np.abs(w).sum())
        return float(self.cost @ losses(self.loss, t)) + penalty

    def slopes(self, t: Floats) -> Floats:
        """Return c_i φ'(t_i), the dual weights of shortfalls t."""
        return self.cost * slopes(self.loss, t)

    def lower_bound(self, alpha: Floats, theta: Floats) -> float:
        """Return a lower bound on P from dual weights that nearly meet the conditions; 0 is always one.

        Without a penalty the conditions on α are d equations, which floats meet up to rounding. The residual is
        charged as if the best weights were `MAX_WEIGHTS_FACTOR` times those of θ and those that move a score
        by its margin.
        """
        alpha = self._inside(alpha)
        if self.l1 == 0.0 and self.l2 == 0.0:
            if self.matrix.width > max(
                self.matrix.n, MAX_SMALL_FEATURES
            ):  # rows in general position allow no α but 0
                return 0.0
            alpha, v = self._orthogonal(alpha)
            sizes = self.matrix.column_sizes
            typical = (self.loss.margin + 1.0) / np.where(sizes > 0.0, sizes, np.inf)
            missing = float(np.abs(v) @ (MAX_WEIGHTS_FACTOR * (np.abs(theta) + typical)))
            return max(0.0, self._dual_losses(alpha) - missing)
        if self.bias == "free":
            alpha = self._balanced(alpha)
        v = self.matrix.combine(alpha * self.y)
        if self.bias == "free":
            v = v[:-1]
        if self.l2 == 0.0:
            largest = float(np.abs(v).max())
            if largest > self.l1:
                alpha = alpha * (self.l1 / largest)
            return max(0.0, self._dual_losses(alpha))
        beyond = np.maximum(0.0, np.abs(v) - self.l1)
        return max(0.0, self._dual_losses(alpha) - float(beyond @ beyond) / (2.0 * self.l2))

    def _dual_losses(self, alpha: Floats) -> float:
        return float(self.loss.margin * alpha.sum() - self.cost @ conjugates(self.loss, alpha / self.cost))

    def _inside(self, alpha: Floats) -> Floats:
        upper = None if isinstance(self.loss, SquaredHinge) else self.cost
        return np.clip(alpha, 0.0, upper)

    def _balanced(self, alpha: Floats) -> Floats:
        """Scale the class of larger total down, so that both totals are equal."""
        positive = self.y > 0.0
        plus, minus = float(alpha[positive].sum()), float(alpha[~positive].sum())
        if plus == minus:
            return alpha
        scale = min(plus, minus) / max(plus, minus)
        return np.where(positive == (plus > minus), alpha * scale, alpha)

    def _orthogonal(self, alpha: Floats) -> tuple[Floats, Floats]:
        """Move α to where Σ α_i y_i x_i = 0; a weight near an end of its range moves less."""
        v = self.matrix.combine(alpha * self.y)
        for _ in range(MAX_REPAIRS):
            room = alpha if isinstance(self.loss, SquaredHinge) else np.minimum(alpha, self.cost - alpha)
            M = self.matrix.gram(room)
            scale = 1.0 / np.sqrt(np.where(M.diagonal() > 0.0, M.diagonal(), 1.0))
            try:
                factor = factor_symmetric(M * scale * scale[:, None], ROUNDING_SHARE * len(M))
            except LinAlgError:
                break
            step = scale * cho_solve(factor, v * scale, check_finite=False)
            moved = self._inside(alpha - room * self.y * self.matrix.times(step))
            left = self.matrix.combine(moved * self.y)
            if not np.abs(left).sum() < np.abs(v).sum():
                break
            alpha, v = moved, left
        return alpha, v


def losses(loss: Loss, t: Floats) -> Floats:
    """Return φ(t)."""
    if isinstance(loss, Hinge):
        return np.maximum(0.0, t)
    if isinstance(loss, SquaredHinge):
        return np.maximum(0.0, t) ** 2
    return np.asarray(np.maximum(0.0, t) + np.log1p(np.exp(-np.abs(t))))


def slopes(loss: Loss, t: Floats) -> Floats:
    """Return φ'(t); at the corner of the hinge 0, but 1 with margin 0, where a score of zero is a mistake."""
    if isinstance(loss, Hinge):
        return np.asarray(t > 0.0 if loss.margin else t >= 0.0, np.float64)
    if isinstance(loss, SquaredHinge):
        return 2.0 * np.maximum(0.0, t)
    e = np.exp(-np.abs(t))
    return np.where(t > 0.0, 1.0, e) / (1.0 + e)


def conjugates(loss: Loss, u: Floats) -> Floats:
    """Return φ*(u), for u in its domain."""
    if isinstance(loss, Hinge):
        return np.zeros_like(u)
    if isinstance(loss, SquaredHinge):
        return 0.25 * u * u
    return np.asarray(xlogy(u, u) + xlogy(1.0 - u, 1.0 - u))


def fenchel_gaps(loss: Loss, t: Floats, u: Floats) -> Floats:
    """Return φ(t) + φ*(u) − t u ≥ 0, which is zero where u is the slope of φ at t."""
    return losses(loss, t) + conjugates(loss, u) - t * u


def factor_symmetric(M: Floats, shift: float) -> tuple[Floats, bool]:
    """Return the Cholesky factor, for `cho_solve`, of M with `shift` added to its diagonal, which is near 1.

    If M is still singular, the shift grows.
    """
    while True:
        shifted = M.copy()
        shifted.flat[:: len(M) + 1] += shift
        try:
            factor, lower = cho_factor(shifted, overwrite_a=True, check_finite=False)
        except LinAlgError:
            shift *= 100.0
            if not shift < 1.0:
                raise
        else:
            return factor, bool(lower)
