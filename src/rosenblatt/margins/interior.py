"""A primal-dual interior-point method for every loss and penalty.

The ℓ₁ penalty is one more set of hinges: ``l1 |w_j| = 2·l1 max(0, −w_j) + l1 w_j``. `loss_terms` says how each
loss enters; every step solves ``(Λ + Σ D_i x_i x_iᵀ) Δθ = r``, by n × n matrices if rows are fewer than features.
The number of steps is small (10 to 40) and hardly depends on the data, its scale or its conditioning; each step
costs as much as a least-squares fit. For a smooth loss without the ℓ₁ penalty this is Newton's method.

A step to the solution of the linearised conditions would soon meet a bound. Mehrotra (1992) adds a correction of
the second order and a target for the products; both together get the weight that allows the longest step (Colombo
and Gondzio 2008). Where a matrix costs much more than a solve with it, more corrections follow: they bring the
products that a longer step would make far too small or too large back towards the target (Gondzio 1996).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import count
from typing import TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_solve

from rosenblatt.loops.descent import Hinge, Logistic, Loss
from rosenblatt.margins.objective import (
    MAX_SMALL_FEATURES,
    ROUNDING_SHARE,
    Iterate,
    Objective,
    factor_symmetric,
    losses,
    slopes,
)
from rosenblatt.typing import Floats

# Losses and penalties as an interior-point method treats them: sums of terms with slacks and dual weights.
#
# A set of terms is a function Σ c_k φ(t_k) of shortfalls t_k that the weights move linearly, with one dual weight
# α_k for each. Newton's step on its optimality conditions, after the slacks are eliminated, has for all kinds the
# form ``Δα = e + D Δt``: `curvature` is D, `pull` is e. At the corners of φ the products of slacks and dual
# weights are kept near some μ, which the method lets go to zero.
#
# Of two variables that differ by t, the smaller one is stepped and the other is computed from it, so that slacks
# near zero keep their digits.

FIRST_SHARE = 0.2  # dual weights of hinges at the start, as a share of their costs
LEAST_SIDE = 1e-3  # the share of all costs that the less costly side counts as at least


class LossTerms(ABC):
    """The terms of one loss; the defaults are those of a loss without corners, which has no products.

    The steps of the dual weights and the slacks are the rows of one array, so that steps can be added.
    """

    alpha: Floats
    products = 0
    smooth = False

    def gaps(self) -> Floats:
        """Return all products."""
        return np.zeros(0)

    @abstractmethod
    def curvature(self) -> Floats:
        """Return D."""

    def pull(self, change: Floats) -> Floats:
        """Return e, for a change of each product."""
        return np.zeros_like(self.alpha)

    def steps(self, dalpha: Floats, change: Floats) -> Floats:
        """Return the steps of the dual weights and of the slacks that change the products, up to second order."""
        return np.zeros((0, dalpha.size))

    def bend(self, steps: Floats) -> Floats:
        """Return what steps change in the products beyond the first order."""
        return np.zeros(0)

    def gaps_after(self, steps: Floats, length: float) -> Floats:
        """Return all products after a share of the steps."""
        return np.zeros(0)

    def fastest(self, steps: Floats) -> float:
        """Return the largest share that a step takes of a value that must stay positive."""
        return 0.0

    @abstractmethod
    def advance(self, steps: Floats, length: float, t: Floats) -> None:
        """Take a share of the steps, which leads to shortfalls `t`."""

    @abstractmethod
    def barrier(self, steps: Floats, length: float, t: Floats, mu: float) -> float:
        """Return the value of the function after a share of the steps, with the logarithmic barrier."""

    @abstractmethod
    def barrier_slope(self, steps: Floats, dt: Floats, mu: float) -> float:
        """Return the derivative of `barrier` at the beginning of the steps."""


class _Hinges(LossTerms):
    """c max(0, t): slacks ξ − s = t, dual weights α + β = c, products α s and β ξ."""

    def __init__(self, c: Floats, t: Floats, alpha: Floats, near: Floats) -> None:
        self.products = 2 * c.size
        self.c, self.alpha, self.beta = c, alpha, c - alpha
        self.s, self.xi = near + np.maximum(0.0, -t), near + np.maximum(0.0, t)

    def gaps(self) -> Floats:
        return np.concatenate((self.alpha * self.s, self.beta * self.xi))

    def curvature(self) -> Floats:
        return 1.0 / (self.s / self.alpha + self.xi / self.beta)

    def pull(self, change: Floats) -> Floats:
        of_s, of_xi = np.split(change, 2)
        return self.curvature() * (of_s / self.alpha - of_xi / self.beta)

    def steps(self, dalpha: Floats, change: Floats) -> Floats:
        of_s, of_xi = np.split(change, 2)
        return np.stack((dalpha, (of_s - self.s * dalpha) / self.alpha, (of_xi + self.xi * dalpha) / self.beta))

    def bend(self, steps: Floats) -> Floats:
        dalpha, ds, dxi = steps
        return np.concatenate((dalpha * ds, -dalpha * dxi))

    def gaps_after(self, steps: Floats, length: float) -> Floats:
        dalpha, ds, dxi = length * steps
        of_s, of_xi = (self.alpha + dalpha) * (self.s + ds), (self.beta - dalpha) * (self.xi + dxi)
        return np.concatenate((of_s, of_xi))

    def fastest(self, steps: Floats) -> float:
        dalpha, ds, dxi = steps
        pairs = (dalpha, self.alpha), (-dalpha, self.beta), (ds, self.s), (dxi, self.xi)
        return max(float(np.max(-step / value)) for step, value in pairs)

    def advance(self, steps: Floats, length: float, t: Floats) -> None:
        dalpha, ds, dxi = length * steps
        positive = self.alpha + dalpha, self.beta - dalpha
        lower = positive[0] < positive[1]
        self.alpha = np.where(lower, positive[0], self.c - positive[1])
        self.beta = np.where(lower, self.c - positive[0], positive[1])
        s, xi = self.s + ds, self.xi + dxi
        self.s, self.xi = np.where(t > 0.0, s, xi - t), np.where(t > 0.0, s + t, xi)

    def barrier(self, steps: Floats, length: float, t: Floats, mu: float) -> float:
        _, ds, dxi = length * steps
        s, xi = self.s + ds, self.xi + dxi
        return float(self.c @ xi - mu * (np.log(s).sum() + np.log(xi).sum()))

    def barrier_slope(self, steps: Floats, dt: Floats, mu: float) -> float:
        _, ds, dxi = steps
        return float((self.c - mu / self.xi) @ dxi - (mu / self.s) @ ds)


class _SquaredHinges(LossTerms):
    """c max(0, t)²: slack s = α/(2c) − t, products α s."""

    def __init__(self, c: Floats, t: Floats, mu: float, times: Floats) -> None:
        self.products = c.size
        self.half = 0.5 / c
        # α s = μ with s = α/(2c) − t is a quadratic in α. A larger α is also allowed.
        root = np.sqrt(t * t + 2.0 * mu / c)
        self.alpha = times * c * (t + root)
        self.s = 0.5 * times * (t + root) - t

    def gaps(self) -> Floats:
        return self.alpha * self.s

    def curvature(self) -> Floats:
        return 1.0 / (self.s / self.alpha + self.half)

    def pull(self, change: Floats) -> Floats:
        return self.curvature() * (change / self.alpha)

    def steps(self, dalpha: Floats, change: Floats) -> Floats:
        return np.stack((dalpha, (change - self.s * dalpha) / self.alpha))

    def bend(self, steps: Floats) -> Floats:
        return np.asarray(steps[0] * steps[1])

    def gaps_after(self, steps: Floats, length: float) -> Floats:
        return np.asarray((self.alpha + length * steps[0]) * (self.s + length * steps[1]))

    def fastest(self, steps: Floats) -> float:
        return max(float(np.max(-steps[0] / self.alpha)), float(np.max(-steps[1] / self.s)))

    def advance(self, steps: Floats, length: float, t: Floats) -> None:
        dalpha, ds = length * steps
        alpha, s = self.alpha + dalpha, self.s + ds
        self.alpha = np.where(t > 0.0, (s + t) / self.half, alpha)
        self.s = np.where(t > 0.0, s, alpha * self.half - t)

    def barrier(self, steps: Floats, length: float, t: Floats, mu: float) -> float:
        s = self.s + length * steps[1]
        return float(0.5 * ((s + t) ** 2 / self.half).sum() - mu * np.log(s).sum())

    def barrier_slope(self, steps: Floats, dt: Floats, mu: float) -> float:
        return float(self.alpha @ (steps[1] + dt) - (mu / self.s) @ steps[1])


class _LogisticTerms(LossTerms):
    """c log(1 + exp(t)): it has no corner, so α is the slope itself."""

    smooth = True

    def __init__(self, c: Floats, t: Floats) -> None:
        self.c, self.loss = c, Logistic()
        self._at(t)

    def curvature(self) -> Floats:
        return self.alpha * (self.other / self.c)

    def _at(self, t: Floats) -> None:
        self.alpha = self.c * slopes(self.loss, t)
        self.other = self.c * slopes(self.loss, -t)

    def advance(self, steps: Floats, length: float, t: Floats) -> None:
        self._at(t)

    def barrier(self, steps: Floats, length: float, t: Floats, mu: float) -> float:
        return float(self.c @ losses(self.loss, t))

    def barrier_slope(self, steps: Floats, dt: Floats, mu: float) -> float:
        return float(self.alpha @ dt)


def row_terms(loss: Loss, c: Floats, y: Floats, t: Floats, mu: float, *, free: bool) -> LossTerms:
    """Return the terms of the losses of rows, with products of about μ; `free` says whether a bias is free.

    A free bias wants dual weights of the same sum on both sides: those of hinges begin so. They would else take
    many short steps to get there.
    """
    if isinstance(loss, Logistic):
        return _LogisticTerms(c, t)
    share = np.ones(c.size)
    if free:
        positive, negative = float(c[y > 0.0].sum()), float(c[y < 0.0].sum())
        fewer = max(min(positive, negative), LEAST_SIDE * (positive + negative))
        share = np.minimum(1.0, fewer / np.where(y > 0.0, positive, negative))
    if isinstance(loss, Hinge):
        return _Hinges(c, t, FIRST_SHARE * share * c, mu / c)
    return _SquaredHinges(c, t, mu, share / share.min())


def corner_terms(c: Floats, t: Floats, mu: float) -> LossTerms:
    """Return terms c max(0, t) that an ℓ₁ penalty needs, with products of about μ."""
    return _Hinges(c, t, 0.5 * c, 2.0 * mu / c)


DAMPING_SHARE = 1e-8
# The share of μ that steps aim at for a smooth loss, where no predictor step says how far to go
SMOOTH_MU_SHARE = 0.1
SAFE_MU_SHARE = 0.3  # the share of μ that a step aims at after the predictor was too bold
LEAST_FALL_SHARE = 0.1
MAX_BOUND_SHARE = 0.995  # the largest share of the way to the nearest bound that a step goes
CORRECTION_WEIGHTS = (1.0, 0.7, 0.4, 0.2, 0.1)  # of a correction
MIN_WEIGHT_FACTOR = 1.01  # a smaller weight must make the step longer by this factor
MAX_CORRECTIONS, PER_CORRECTION = 6, 100  # the most corrections, and the size of the matrix that pays for one
FARTHER, FURTHER = 1.08, 0.18  # a correction is for a step longer by this factor and this much
CENTRAL_SHARE = 0.1  # products below this share of the target, or above its inverse, are corrected
MIN_STEP_GAIN = 1e-3  # a correction must make the step longer by this
ARMIJO = 1e-4
LEAST_STEP = 1e-10
LEAST_PRODUCT = 1e-30
MAX_REFINEMENTS = 5
EXACT_RESIDUAL_SHARE = 1e-24
DIAGONAL_SHIFT = 1e-10  # added to a diagonal of ones if there is no penalty to keep the matrix regular
Solve: TypeAlias = Callable[[Floats], Floats]
Direction: TypeAlias = list[Floats]  # the step of θ, and those of each set of terms


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
        free = problem.bias == "free"
        self.rows = row_terms(problem.loss, problem.cost, problem.y, self.t, mu, free=free)
        self.sets: list[LossTerms] = [self.rows]
        self.corners: LossTerms | None = None
        if problem.l1 > 0.0:
            self.corners = corner_terms(np.full(d, 2.0 * problem.l1), -start[:d], mu)
            self.sets.append(self.corners)
        self.penalised = problem.l1 > 0.0 or problem.l2 > 0.0
        self.products = sum(each.products for each in self.sets)
        self.corrections = min(MAX_CORRECTIONS, min(problem.matrix.n, width) // PER_CORRECTION)
        self.ridge = np.full(width, float(problem.l2))
        if problem.bias == "free":
            self.ridge[-1] = 0.0
        self.settled = False
        self.square = float(np.mean(problem.matrix.squares)) or 1.0

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
            target = mu if behind else SMOOTH_MU_SHARE * mu
            to = self.direction(solve, [target - gaps for gaps in self.gaps()], -gradient)
        else:
            to, target = self.look_ahead(solve, gradient, mu), 0.0
            if not behind and self.ahead(to, self.reach(to)) > (1.0 - LEAST_FALL_SHARE) * mu:
                to = self.direction(solve, [SAFE_MU_SHARE * mu - gaps for gaps in self.gaps()], -gradient)
        dtheta = to[0]
        if not np.isfinite(dtheta).all():
            return False
        length = self.reach(to)
        if self.rows.smooth:
            length = self.backtrack(to, target, length)
        elif not behind:
            while length > LEAST_STEP and self.ahead(to, length) > (1.0 - LEAST_FALL_SHARE * length) * mu:
                length *= 0.5
        if length < LEAST_STEP:
            return False
        moves = bool(np.abs(length * dtheta).max() > ROUNDING_SHARE * np.abs(self.theta).max())
        if self.settled and not moves:
            return False
        self.settled = mu < LEAST_PRODUCT and not moves
        self.theta = self.theta + length * dtheta
        self.t = problem.shortfall(self.theta)
        self.rows.advance(to[1], length, self.t)
        if self.corners is not None:
            self.corners.advance(to[2], length, -self.theta[: matrix.d])
        return True

    def look_ahead(self, solve: Solve, gradient: Floats, mu: float) -> Direction:
        """Find a step: first towards products of zero, which chooses μ and the second-order correction."""
        to = self.direction(solve, [-gaps for gaps in self.gaps()], -gradient)
        target = mu * min(1.0, self.ahead(to, self.reach(to)) / mu) ** 3
        changes = [target - each.bend(steps) for each, steps in zip(self.sets, to[1:], strict=True)]
        to = self.corrected(to, self.direction(solve, changes, np.zeros_like(gradient)))
        for _ in range(self.corrections):
            reach = self.reach(to)
            farther = min(1.0, FARTHER * reach + FURTHER)
            ahead = [each.gaps_after(steps, farther) for each, steps in zip(self.sets, to[1:], strict=True)]
            changes = [_central(gaps, target) for gaps in ahead]
            more = self.direction(solve, changes, np.zeros_like(gradient), refine=False)
            better = self.corrected(to, more)
            if not self.reach(better) >= reach + MIN_STEP_GAIN:
                break
            to = better
        return to

    def corrected(self, to: Direction, correction: Direction) -> Direction:
        """Add a correction, with the weight that allows the longest step."""
        best, longest = to, 0.0
        for weight in CORRECTION_WEIGHTS:
            tried = [one + weight * other for one, other in zip(to, correction, strict=True)]
            reach = self.reach(tried)
            if reach > MIN_WEIGHT_FACTOR * longest:
                best, longest = tried, reach
        return best

    def reach(self, to: Direction) -> float:
        """Return the longest step allowed, at most 1."""
        fastest = max(each.fastest(steps) for each, steps in zip(self.sets, to[1:], strict=True))
        return 1.0 if fastest <= MAX_BOUND_SHARE else MAX_BOUND_SHARE / fastest

    def gaps(self) -> list[Floats]:
        """Return the products of each set."""
        return [each.gaps() for each in self.sets]

    def ahead(self, to: Direction, length: float) -> float:
        """Return the mean of the products after a step."""
        after = (each.gaps_after(steps, length) for each, steps in zip(self.sets, to[1:], strict=True))
        return sum(float(gaps.sum()) for gaps in after) / max(self.products, 1)

    def mu(self) -> float:
        """Return the mean of the products."""
        return sum(float(gaps.sum()) for gaps in self.gaps()) / max(self.products, 1)

    def direction(self, solve: Solve, changes: list[Floats], force: Floats, *, refine: bool = True) -> Direction:
        """Return the step that changes the products of each set, and the gradient by `force`."""
        problem, matrix = self.problem, self.problem.matrix
        pull = self.rows.pull(changes[0])
        right = matrix.combine(pull * problem.y) + force
        if self.corners is not None:
            own = self.corners.pull(changes[1])
            right[: matrix.d] += own
        dtheta = self.refined(solve, right) if refine else solve(right)
        dt = -problem.y * matrix.times(dtheta)
        to = [dtheta, self.rows.steps(pull + self.rows.curvature() * dt, changes[0])]
        if self.corners is not None:
            dw = dtheta[: matrix.d]
            to.append(self.corners.steps(own - self.corners.curvature() * dw, changes[1]))
        return to

    def refined(self, solve: Solve, right: Floats) -> Floats:
        """Solve to the last digits: conjugate gradients on the residual, with the factor as preconditioner."""
        x = solve(right)
        residual = right - self.apply(x)
        if not self.penalised:  # the matrix may be singular: only correct for the shift of its diagonal
            x = x + solve(residual)
            return x + solve(right - self.apply(x))
        direction = solved = solve(residual)
        left = float(residual @ solved)
        for _ in range(MAX_REFINEMENTS):
            applied = self.apply(direction)
            curvature = float(direction @ applied)
            if not (left > EXACT_RESIDUAL_SHARE * abs(float(right @ x)) and curvature > 0.0):
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

    def backtrack(self, to: Direction, mu: float, length: float) -> float:
        """Shorten a step until the objective with its barrier decreases."""
        before = self.merit(to, 0.0, mu)
        after = self.merit(to, length, mu)
        expected = self.merit_slope(to, mu)
        while not after <= before + ARMIJO * length * expected + ROUNDING_SHARE * abs(before):
            length *= 0.5
            if length < LEAST_STEP:
                return 0.0
            after = self.merit(to, length, mu)
        return length

    def merit(self, to: Direction, length: float, mu: float) -> float:
        """Return the objective with the barrier of μ, after a step."""
        problem, theta = self.problem, self.theta + length * to[0]
        t = problem.shortfall(theta)
        total = 0.5 * float(self.ridge @ theta**2) + self.rows.barrier(to[1], length, t, mu)
        if self.corners is not None:
            w = theta[: problem.matrix.d]
            total += problem.l1 * float(w.sum()) + self.corners.barrier(to[2], length, -w, mu)
        return total

    def merit_slope(self, to: Direction, mu: float) -> float:
        """Return the derivative of the merit at the beginning of the step, at most 0."""
        problem, dtheta = self.problem, to[0]
        dt = -problem.y * problem.matrix.times(dtheta)
        slope = float((self.ridge * self.theta) @ dtheta) + self.rows.barrier_slope(to[1], dt, mu)
        if self.corners is not None:
            dw = dtheta[: problem.matrix.d]
            slope += problem.l1 * float(dw.sum()) + self.corners.barrier_slope(to[2], -dw, mu)
        return min(0.0, slope)

    def factor(self) -> Solve:
        """Return a function that solves (Λ + Σ D_i x_i x_iᵀ) Δθ = r."""
        diagonal, D = self.diagonal(), self.rows.curvature()
        if self.problem.matrix.width <= max(self.problem.matrix.n, MAX_SMALL_FEATURES):
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
        factor = factor_symmetric(M, ROUNDING_SHARE * len(M) if self.penalised else DIAGONAL_SHIFT)
        return lambda r: scale * cho_solve(factor, scale * r, check_finite=False)

    def factor_wide(self, diagonal: Floats, D: Floats) -> Solve:
        """Solve by Woodbury's identity: a matrix of the size of the rows, bordered by a free bias."""
        matrix = self.problem.matrix
        free = self.problem.bias == "free"
        inner = diagonal[: matrix.d]
        if not inner.any():  # without a penalty, damping shortens the steps and does not change their limit
            inner = np.full(matrix.d, DAMPING_SHARE * float(D.mean()) * self.square)
        K = matrix.outer(1.0 / inner) if self.corners is not None else matrix.products / inner[0]
        if self.problem.bias == "penalised":
            K += matrix.pad**2 / diagonal[-1]
        root = np.sqrt(D)
        K *= root
        K *= root[:, None]
        K.flat[:: len(K) + 1] += 1.0
        factor = factor_symmetric(K, ROUNDING_SHARE * len(K))

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


def _central(gaps: Floats, target: float) -> Floats:
    """Return the changes that bring products back to where they are neither far below nor far above a target."""
    least, most = CENTRAL_SHARE * target, target / CENTRAL_SHARE
    return np.maximum(np.clip(gaps, least, most) - gaps, -most)
