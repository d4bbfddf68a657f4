"""Newton's method for the ℓ₂ penalty, with few features and any number of rows.

The squared hinge and the logistic loss are smooth. A hinge is replaced by a smooth one, which is quadratic where
``|t| ≤ h/2``; the width h shrinks until the gap is small (Chapelle 2007). Only rows with curvature enter a
step: for a hinge those near the margin.

A step solves a linear system. Where its matrix takes longer than some tens of passes over the rows, conjugate
gradients solve it without the matrix, only as well as the wanted gap needs (Lin, Weng and Keerthi 2008). Rows that
take too many of them get a matrix after all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve

from rosenblatt.loops.descent import Hinge, Logistic, SquaredHinge
from rosenblatt.margins.coordinate import coordinate
from rosenblatt.margins.interior import interior
from rosenblatt.margins.objective import ROUNDING_SHARE, Iterate, Objective, factor_symmetric, losses, slopes
from rosenblatt.typing import Floats, Ints

Solve: TypeAlias = Callable[[Floats], Floats]

FIRST_WIDTH_MARGINS = 4.0  # the first width of a smooth hinge, in margins: at zero weights every row has curvature
LEAST_WIDTH = 1e-9
SECOND_WIDTH_SHARE = 0.25  # the second width, as a share of the first
FIRST_WIDTH_SHORTFALLS = 4.0  # the first width from dual weights, in their root mean square shortfalls
KEPT_WIDTH_SHARE = 0.7  # the share of the width that is kept where it shrinks
# The width shrinks once the gradient adds less to the gap than this many times the width does
SHRINK_BELOW_WIDTHS = 3.0
MAX_ROWS_SHARE = 0.6  # rows with curvature, as a share of the features, up to which a matrix of rows is used
MOST_CONJUGATE = 1000  # conjugate gradients of all steps of a problem, after which matrices are used
MAX_CONJUGATE_STEPS = 250  # the most conjugate gradients of a step
RESIDUAL_SHARE = 0.1  # their residual, as a share of the gradient
ENOUGH_GAP_SHARE = 0.1  # or what adds this share of the wanted gap
SMALLEST_GAP = 1e-300
FIRST_PASSES, FIRST_OF_HINGE = 3, 45  # passes of coordinate ascent before the first step, where steps are costly
TIGHT_TOL = 1e-5  # the tol of a hinge below which its corners need direct solves
MAX_NEWTON_STEPS = 50  # steps; more mean that the penalty is tiny for the size of the features
# Margins that a dual weight can move its own score by, from which on a hinge is nearly linear
LINEAR_MARGINS = 3e4
MAX_SEARCH_STEPS = 30
FLAT_SLOPE_SHARE = 0.05  # the slope at which the search along a step ends, as a share of the first slope


class NewtonFirst:
    """Newton's method, and the interior-point method for a problem that is too hard for it.

    The problems after it are taken for as hard. Not so with the squared hinge, which is hard where classes are
    separable: the next ones may not be.

    Where the matrix of a step takes much longer than a pass over the rows, a few passes of coordinate ascent come
    first: they find most rows that are far from the margin, which no later matrix needs to hold.

    A hinge whose penalty is tiny for the size of its rows is nearly a linear program. Then coordinate ascent moves
    dual weights by a tiny part of their range, and Newton's method meets one corner after the other. So interior
    points solve it, unless time is limited: their first steps predict nothing yet.
    """

    def __init__(self, tol: float, seed: int) -> None:
        self.newton, self.seed, self.hard = Newton(tol), seed, False

    def __call__(self, problem: Objective, start: Floats) -> Iterator[Iterate]:
        """Yield one iterate per step, or about one per pass."""
        made, theta, alpha = 0, start, None
        if not self.hard and not (_nearly_linear(problem) and problem.deadline.at == math.inf):
            if problem.matrix.costly and not isinstance(problem.loss, Logistic):
                first = FIRST_OF_HINGE if isinstance(problem.loss, Hinge) else FIRST_PASSES
                for iterate in coordinate(problem, start, self.seed):
                    made, theta, alpha = iterate.made, iterate.theta, iterate.alpha
                    yield iterate
                    if made >= first:
                        break
            passes = made
            for iterate in self.newton(problem, theta, alpha):
                made = passes + iterate.made
                yield replace(iterate, made=made)
                if iterate.made == MAX_NEWTON_STEPS:
                    break
            self.hard = not isinstance(problem.loss, SquaredHinge)
        for iterate in interior(problem, start):
            yield replace(iterate, made=made + iterate.made)


def _nearly_linear(problem: Objective) -> bool:
    """Whether the loss is a hinge and a dual weight within its range moves its own score by very many margins.

    Not so where features outnumber rows: those rows are separable in general position, and no loss is left.
    """
    matrix = problem.matrix
    if not isinstance(problem.loss, Hinge) or matrix.width > matrix.n:
        return False
    moves = float(problem.cost.mean()) * matrix.mean_square
    return moves > LINEAR_MARGINS * problem.l2 * problem.loss.margin


class _Smooth(NamedTuple):
    """The first and second derivatives of the losses of all rows; the last two times the costs."""

    share: Floats
    alpha: Floats
    curvature: Floats


class _Near(NamedTuple):
    """The smooth hinge max_u (t u − width/2 (u − share)²), 0 ≤ u ≤ 1: u stays near the shares of the last one."""

    width: float
    share: Floats


class Newton:
    """The solver; called for several problems of the same rows it remembers whether they need direct solves."""

    def __init__(self, tol: float) -> None:
        self.tol, self.direct, self.made = tol, False, 0

    def __call__(self, problem: Objective, start: Floats, alpha: Floats | None = None) -> Iterator[Iterate]:
        """Yield one iterate per step; it is judged where the gap is likely to be within `tol` of the objective.

        `alpha` holds the dual weights of the start, if it is better than zero weights.
        """
        self.made = 0  # conjugate gradients for this problem
        matrix, y = problem.matrix, problem.y
        ridge = np.full(matrix.width, problem.l2)
        if problem.bias == "free":
            ridge[-1] = 0.0
        theta, t = start, problem.shortfall(start)
        near = _first_near(problem, t, alpha) if isinstance(problem.loss, Hinge) else None
        smooth = _smooth(problem, t, near)
        gradient = ridge * theta - matrix.combine(smooth.alpha * y)
        cold, value = alpha is None, problem.value(theta, t)
        for made in count(1):
            step = self.step(problem, ridge, smooth.curvature, gradient, value)
            dt = -y * matrix.times(step)
            length = _search(problem, ridge, near, (theta, t), (step, dt))
            moved = theta + length * step
            stalled = not np.abs(moved - theta).max() > ROUNDING_SHARE * np.abs(theta).max()
            theta, t = moved, t + length * dt
            smooth = _smooth(problem, t, near)
            gradient = ridge * theta - matrix.combine(smooth.alpha * y)
            left = float(gradient[: matrix.d] @ gradient[: matrix.d]) / (2.0 * problem.l2)
            value = problem.value(theta, t)
            # What a smooth loss in the place of a hinge adds to the gap.
            corner = float(problem.cost @ losses(problem.loss, t) - smooth.alpha @ t) if near else 0.0
            judge = left + corner <= self.tol * value or stalled
            if judge:  # without the rounding errors of all steps
                t = problem.shortfall(theta)
            yield Iterate(theta, t if judge else None, smooth.alpha, made, judge=judge)
            if stalled and (near is None or near.width < LEAST_WIDTH * problem.loss.margin):
                return
            if near is not None and (left < SHRINK_BELOW_WIDTHS * corner or stalled or cold):
                near = _Near(near.width * (SECOND_WIDTH_SHARE if cold else KEPT_WIDTH_SHARE), smooth.share)
                cold = False
                smooth = _smooth(problem, t, near)
                gradient = ridge * theta - matrix.combine(smooth.alpha * y)

    def step(self, problem: Objective, ridge: Floats, curvature: Floats, gradient: Floats, value: float) -> Floats:
        """Return about −H⁻¹ g, H = Λ + Σ D_i x_i x_iᵀ."""
        tight = isinstance(problem.loss, Hinge) and self.tol < TIGHT_TOL
        if problem.matrix.costly and not self.direct and not tight:
            found, made = _conjugate(problem, ridge, curvature, gradient, ENOUGH_GAP_SHARE * self.tol * value)
            self.made += made
            self.direct = found is None or self.made > MOST_CONJUGATE
            if found is not None:
                return found
        return -_solver(problem, ridge, curvature)(gradient)


def _conjugate(
    problem: Objective, ridge: Floats, curvature: Floats, gradient: Floats, gap: float
) -> tuple[Floats | None, int]:
    """Return about −H⁻¹ g by conjugate gradients, or None if they take too many; and their number.

    They end where the residual is a small share of g, or adds at most `gap` to the gap: r adds ‖r‖²/(2 l2). The
    residual of a free bias adds more, because both classes must have the same sum of dual weights: itself, times
    shortfalls of about 1, and as much as the balancing moves Σ α_i y_i x_i.
    """
    matrix, double = problem.matrix, 2.0 * problem.l2
    weigh = np.full(matrix.width, 1.0 / double)
    if problem.bias == "free":
        weigh[-1] = max(float(matrix.squares.mean()) / double, 1.0 / max(gap, SMALLEST_GAP)) / matrix.pad**2

    def parts(r: Floats) -> tuple[float, float]:
        """Return what r adds, the bias apart: its large weight must not hide the rest."""
        each = weigh * r * r
        return float(each[: matrix.d].sum()), float(each[matrix.d :].sum())

    rest, bias = (max(gap, RESIDUAL_SHARE * RESIDUAL_SHARE * part) for part in parts(gradient))
    size = ridge + matrix.diagonal(curvature)
    if not size[-1] > 0.0:  # a free bias without curvature: any length will do, it is searched for
        ridge = np.append(ridge[:-1], matrix.pad**2 * problem.cost.sum())
        size[-1] = ridge[-1]
    x, residual = np.zeros_like(gradient), -gradient
    solved = residual / size
    direction, left = solved, float(residual @ solved)
    for made in range(MAX_CONJUGATE_STEPS):
        of_rest, of_bias = parts(residual)
        if (of_rest <= rest and of_bias <= bias) or (made and time.perf_counter() > problem.deadline.at):
            return x, made
        bent = ridge * direction + matrix.bent(curvature, direction)
        length = left / float(direction @ bent)
        x, residual = x + length * direction, residual - length * bent
        solved = residual / size
        before, left = left, float(residual @ solved)
        direction = solved + (left / before) * direction
    return None, MAX_CONJUGATE_STEPS


def _first_near(problem: Objective, t: Floats, alpha: Floats | None) -> _Near:
    """Return the first smooth hinge: a wide one, or one about as wide as the violations of given dual weights."""
    if alpha is None:
        return _Near(FIRST_WIDTH_MARGINS * problem.loss.margin, np.full(problem.matrix.n, 0.5))
    share = np.clip(alpha / problem.cost, 0.0, 1.0)
    inside = (share > 0.0) & (share < 1.0)
    typical = float(np.sqrt(np.mean(t[inside] ** 2))) if inside.any() else 0.0
    least = LEAST_WIDTH * problem.loss.margin
    return _Near(
        min(max(FIRST_WIDTH_SHORTFALLS * typical, least), FIRST_WIDTH_MARGINS * problem.loss.margin), share
    )


def _smooth(problem: Objective, t: Floats, near: _Near | None) -> _Smooth:
    loss, cost = problem.loss, problem.cost
    if near is not None:
        share = np.clip(near.share + t / near.width, 0.0, 1.0)
        inside = (share > 0.0) & (share < 1.0)
        return _Smooth(share, cost * share, np.where(inside, cost / near.width, 0.0))
    slope = slopes(loss, t)
    second = 2.0 * (t > 0.0) if isinstance(loss, SquaredHinge) else slope * (1.0 - slope)
    return _Smooth(slope, cost * slope, cost * second)


def _solver(problem: Objective, ridge: Floats, curvature: Floats) -> Solve:
    """Return a function that solves (Λ + Σ D_i x_i x_iᵀ) x = r, by rows with curvature if they are few."""
    matrix = problem.matrix
    rows = np.flatnonzero(curvature)
    if rows.size <= MAX_ROWS_SHARE * matrix.width:
        return _solver_by_rows(problem, rows, curvature[rows])
    M = matrix.gram(curvature)
    M.flat[:: len(M) + 1] += ridge
    size = M.diagonal().copy()
    scale = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    M *= scale
    M *= scale[:, None]
    factor = factor_symmetric(M, ROUNDING_SHARE * len(M))
    return lambda r: scale * cho_solve(factor, scale * r, check_finite=False)


def _solver_by_rows(problem: Objective, rows: Ints, D: Floats) -> Solve:
    """Solve for q = D (X w + pad b), with (D⁻¹ + X Xᵀ / l2) q = X r / l2 + pad b, and then for w."""
    matrix, l2 = problem.matrix, problem.l2
    x = matrix.some(rows)
    root = np.sqrt(D)
    products: Any = x @ x.T
    K: Floats = (products.toarray() if matrix.sparse and sparse.issparse(x) else products) / l2
    if problem.bias == "penalised":
        K += matrix.pad**2 / l2
    K *= root
    K *= root[:, None]
    K.flat[:: len(K) + 1] += 1.0
    factor = factor_symmetric(K, ROUNDING_SHARE * len(K))

    def by_rows(r: Floats) -> Floats:
        return root * cho_solve(factor, root * r, check_finite=False)

    ones = by_rows(np.ones(rows.size))
    total = float(ones.sum()) or float(
        problem.cost.sum()
    )  # without curvature any length will do: it is searched for

    def solve(r: Floats) -> Floats:
        ahead, shift = x @ r[: matrix.d] / l2, 0.0
        if problem.bias == "penalised":
            shift = matrix.pad * r[-1] / l2
        elif problem.bias == "free":
            shift = (r[-1] / matrix.pad - ones @ ahead) / total
        q = by_rows(ahead + shift)
        w = (r[: matrix.d] - q @ x) / l2
        if problem.bias == "penalised":
            return np.append(w, (r[-1] - matrix.pad * q.sum()) / l2)
        return np.append(w, shift / matrix.pad) if problem.bias == "free" else w

    return solve


def _search(
    problem: Objective, ridge: Floats, near: _Near | None, at: tuple[Floats, Floats], to: tuple[Floats, Floats]
) -> float:
    """Return how far to go along a step so that the smooth objective is nearly least there."""
    (theta, t), (step, dt) = at, to
    first, bend = float((ridge * theta) @ step), float((ridge * step) @ step)

    def slope_at(length: float) -> tuple[float, float]:
        smooth = _smooth(problem, t + length * dt, near)
        return float(smooth.alpha @ dt) + first + length * bend, float(smooth.curvature @ (dt * dt)) + bend

    begin, _ = slope_at(0.0)
    if not begin < 0.0:
        return 0.0
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(MAX_SEARCH_STEPS):
        slope, second = slope_at(length)
        if abs(slope) <= -FLAT_SLOPE_SHARE * begin:
            break
        if slope > 0.0:
            high = length
        else:
            low = length
        length = length - slope / second if second > 0.0 else np.inf
        if not low < length < high:
            length = 0.5 * (low + high) if high < np.inf else 2.0 * low + 1.0
    return length
