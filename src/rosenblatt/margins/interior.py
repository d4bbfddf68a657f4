"""A primal-dual interior-point method (Mehrotra 1992) for every loss and penalty.

The ℓ₁ penalty is one more set of hinges: ``l1 |w_j| = 2·l1 max(0, −w_j) + l1 w_j``. `loss_terms` says how each
loss enters; every step solves ``(Λ + Σ D_i x_i x_iᵀ) Δθ = r``, by n × n matrices if rows are fewer than features.
The number of steps is small (10 to 40) and hardly depends on the data, its scale or its conditioning; each step
costs as much as a least-squares fit. For a smooth loss without the ℓ₁ penalty this is Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_solve

from rosenblatt.loops.losses import Hinge
from rosenblatt.margins.loss_terms import LossTerms, terms_of
from rosenblatt.margins.objective import Iterate, Objective, factor_symmetric
from rosenblatt.typing import Floats

DAMPING = 1e-8
SHRINK = 0.1  # the share of μ that steps aim at for a smooth loss, where no predictor step says how far to go
SAFE = 0.3  # the share of μ that a step aims at after the predictor was too bold
LEAST_FALL = 0.1
ARMIJO = 1e-4
LEAST_STEP = 1e-10
LEAST_PRODUCT = 1e-30
REFINEMENTS = 5
EXACT = 1e-24
SHIFT = 1e-10  # added to a diagonal of ones if there is no penalty to keep the matrix regular
SMALL = 300  # up to this many features their matrix is used even if rows are fewer
ROUNDING = 1e-14
Solve: TypeAlias = Callable[[Floats], Floats]


def interior(problem: Objective, start: Floats) -> Iterator[Iterate]:
    """Yield one iterate per step, each closer to the minimum, until floats allow no further step."""
    method = _Method(problem, start)
    for made in count(1):
        if not method.step():
            return
        yield Iterate(method.theta, method.t, method.rows.alpha, made)


class _Method:
    """The state of one run."""

    def __init__(self, problem: Objective, start: Floats) -> None:
        self.problem, self.theta = problem, start
        self.t = problem.shortfall(start)
        d, width = problem.matrix.d, problem.matrix.width
        mu = float(np.mean(problem.cost)) * max(problem.loss.margin, 0.1)
        self.rows = terms_of(problem.loss, problem.cost, self.t, mu)
        self.sets: list[LossTerms] = [self.rows]
        self.corners: LossTerms | None = None
        if problem.l1 > 0.0:
            self.corners = terms_of(Hinge(0.0), np.full(d, 2.0 * problem.l1), -start[:d], mu)
            self.sets.append(self.corners)
        self.penalised = problem.l1 > 0.0 or problem.l2 > 0.0
        self.products = sum(each.products for each in self.sets)
        self.ridge = np.full(width, float(problem.l2))
        if problem.bias == "free":
            self.ridge[-1] = 0.0
        self.settled = False
        self.square = float(np.mean(problem.matrix.squares)) or 1.0
        self.outer: Floats | None = None  # products of rows, where they stay the same

    def step(self) -> bool:
        """Take one step; return whether a step was possible."""
        problem, matrix = self.problem, self.problem.matrix
        gradient = self.ridge * self.theta - matrix.combine(self.rows.alpha * problem.y)
        if self.corners is not None:
            gradient[: matrix.d] += problem.l1 - self.corners.alpha
        try:
            solve = self.factor()
        except LinAlgError:
            return False
        mu = self.mu()
        # Products must not shrink faster than the gradient: corners would then shorten every step.
        behind = float(np.abs(gradient) @ np.abs(self.theta)) > self.products * mu
        if self.rows.smooth:
            target = mu if behind else SHRINK * mu
            dtheta = self.aim(solve, gradient, target, refine=True)
        else:
            dtheta, target = self.look_ahead(solve, gradient, mu), 0.0
            if not behind and self.ahead(self.reach()) > (1.0 - LEAST_FALL) * mu:
                self.correct(0.0)
                dtheta = self.aim(solve, gradient, SAFE * mu, refine=True)
        if not np.isfinite(dtheta).all():
            return False
        length = self.reach()
        if self.rows.smooth:
            length = self.backtrack(dtheta, target, length)
        elif not behind:
            while length > LEAST_STEP and self.ahead(length) > (1.0 - LEAST_FALL * length) * mu:
                length *= 0.5
        if length < LEAST_STEP:
            return False
        moves = bool(np.abs(length * dtheta).max() > ROUNDING * np.abs(self.theta).max())
        if self.settled and not moves:
            return False
        self.settled = mu < LEAST_PRODUCT and not moves
        self.theta = self.theta + length * dtheta
        self.t = problem.shortfall(self.theta)
        self.rows.advance(length, self.t)
        if self.corners is not None:
            self.corners.advance(length, -self.theta[: matrix.d])
        return True

    def look_ahead(self, solve: Solve, gradient: Floats, mu: float) -> Floats:
        """Find Mehrotra's step: a first one towards products of zero chooses μ and the second-order correction."""
        self.aim(solve, gradient, 0.0)
        target = mu * min(1.0, self.ahead(self.reach()) / mu) ** 3
        self.correct(1.0)
        return self.aim(solve, gradient, target, refine=True)

    def correct(self, share: float) -> None:
        for each in self.sets:
            each.correct(share)

    def reach(self) -> float:
        """Return the longest step allowed."""
        return min(each.reach() for each in self.sets)

    def ahead(self, length: float) -> float:
        """Return the mean of the products after a step."""
        return sum(each.gap_after(length) for each in self.sets) / max(self.products, 1)

    def mu(self) -> float:
        """Return the mean of the products."""
        return sum(each.gap() for each in self.sets) / max(self.products, 1)

    def aim(self, solve: Solve, gradient: Floats, mu: float, *, refine: bool = False) -> Floats:
        """Find the step towards products of μ, and pass it to all terms."""
        problem, matrix = self.problem, self.problem.matrix
        pull = self.rows.pull(mu)
        right = matrix.combine(pull * problem.y) - gradient
        if self.corners is not None:
            own = self.corners.pull(mu)
            right[: matrix.d] += own
        dtheta = self.refined(solve, right) if refine else solve(right)
        dt = -problem.y * matrix.times(dtheta)
        self.rows.aim(dt, pull + self.rows.curvature() * dt, mu)
        if self.corners is not None:
            dw = dtheta[: matrix.d]
            self.corners.aim(-dw, own - self.corners.curvature() * dw, mu)
        return dtheta

    def refined(self, solve: Solve, right: Floats) -> Floats:
        """Solve to the last digits: conjugate gradients on the residual, with the factor as preconditioner."""
        x = solve(right)
        residual = right - self.apply(x)
        if not self.penalised:  # the matrix may be singular: only correct for the shift of its diagonal
            x = x + solve(residual)
            return x + solve(right - self.apply(x))
        direction = solved = solve(residual)
        left = float(residual @ solved)
        for _ in range(REFINEMENTS):
            applied = self.apply(direction)
            curvature = float(direction @ applied)
            if not (left > EXACT * abs(float(right @ x)) and curvature > 0.0):
                break
            length = left / curvature
            x, residual = x + length * direction, residual - length * applied
            solved = solve(residual)
            before, left = left, float(residual @ solved)
            direction = solved + (left / before) * direction
        return x

    def apply(self, dtheta: Floats) -> Floats:
        """Return (Λ + Σ D_i x_i x_iᵀ) Δθ, computed from the rows."""
        matrix = self.problem.matrix
        return self.diagonal() * dtheta + matrix.combine(self.rows.curvature() * matrix.times(dtheta))

    def diagonal(self) -> Floats:
        """Return Λ."""
        diagonal = self.ridge.copy()
        if self.corners is not None:
            diagonal[: self.problem.matrix.d] += self.corners.curvature()
        return diagonal

    def backtrack(self, dtheta: Floats, mu: float, length: float) -> float:
        """Shorten a step until the objective with its barrier decreases."""
        before = self.merit(dtheta, 0.0, mu)
        after = self.merit(dtheta, length, mu)
        expected = self.merit_slope(dtheta, mu)
        while not after <= before + ARMIJO * length * expected + ROUNDING * abs(before):
            length *= 0.5
            if length < LEAST_STEP:
                return 0.0
            after = self.merit(dtheta, length, mu)
        return length

    def merit(self, dtheta: Floats, step: float, mu: float) -> float:
        """Return the objective with the barrier of μ, after a step."""
        problem, theta = self.problem, self.theta + step * dtheta
        total = 0.5 * float(self.ridge @ theta**2) + self.rows.barrier(step, problem.shortfall(theta), mu)
        if self.corners is not None:
            w = theta[: problem.matrix.d]
            total += problem.l1 * float(w.sum()) + self.corners.barrier(step, -w, mu)
        return total

    def merit_slope(self, dtheta: Floats, mu: float) -> float:
        """Return the derivative of the merit at the beginning of the step, at most 0."""
        problem = self.problem
        dt = -problem.y * problem.matrix.times(dtheta)
        slope = float((self.ridge * self.theta) @ dtheta) + self.rows.barrier_slope(dt, mu)
        if self.corners is not None:
            dw = dtheta[: problem.matrix.d]
            slope += problem.l1 * float(dw.sum()) + self.corners.barrier_slope(-dw, mu)
        return min(0.0, slope)

    def factor(self) -> Solve:
        """Return a function that solves (Λ + Σ D_i x_i x_iᵀ) Δθ = r."""
        diagonal, D = self.diagonal(), self.rows.curvature()
        if self.problem.matrix.width <= max(self.problem.matrix.n, SMALL):
            return self.factor_tall(diagonal, D)
        return self.factor_wide(diagonal, D)

    def factor_tall(self, diagonal: Floats, D: Floats) -> Solve:
        """Solve for θ by a matrix of the size of the features, its diagonal scaled to 1."""
        M = self.problem.matrix.gram(D)
        M.flat[:: len(M) + 1] += diagonal
        size = M.diagonal().copy()
        scale = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        M *= scale
        M *= scale[:, None]
        factor = factor_symmetric(M, ROUNDING * len(M) if self.penalised else SHIFT)
        return lambda r: scale * cho_solve(factor, scale * r, check_finite=False)

    def factor_wide(self, diagonal: Floats, D: Floats) -> Solve:
        """Solve by Woodbury's identity: a matrix of the size of the rows, bordered by a free bias."""
        matrix = self.problem.matrix
        free = self.problem.bias == "free"
        inner = diagonal[: matrix.d]
        if not inner.any():  # without a penalty, damping shortens the steps and does not change their limit
            inner = np.full(matrix.d, DAMPING * float(D.mean()) * self.square)
        if self.corners is not None:
            K = matrix.outer(1.0 / inner)
        else:
            if self.outer is None:
                self.outer = matrix.outer(np.ones(matrix.d))
            K = self.outer / inner[0]
        if self.problem.bias == "penalised":
            K += matrix.pad**2 / diagonal[-1]
        root = np.sqrt(D)
        K *= root
        K *= root[:, None]
        K.flat[:: len(K) + 1] += 1.0
        factor = factor_symmetric(K, ROUNDING * len(K))

        def rows_solve(r: Floats) -> Floats:
            return root * cho_solve(factor, root * r, check_finite=False)

        over = np.append(inner, diagonal[-1]) if matrix.bias else inner
        if not free:
            return lambda r: r / over - matrix.combine(rows_solve(matrix.times(r / over))) / over
        ones = rows_solve(np.ones(matrix.n))

        def solve(r: Floats) -> Floats:
            # θ = (w, b) with Λ w + Xᵀ q = r_w and pad 1ᵀ q = r_b, where q = D (X w + pad b).
            ahead = matrix.times(np.append(r[:-1] / inner, 0.0))
            shift = (r[-1] / matrix.pad - ones @ ahead) / ones.sum()
            q = rows_solve(ahead + shift)
            return np.append((r[:-1] - matrix.combine(q)[:-1]) / inner, shift / matrix.pad)

        return solve
