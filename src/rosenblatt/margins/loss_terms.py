"""Losses and penalties as an interior-point method treats them: sums of terms with slacks and dual weights.

A set of terms is a function Σ c_k φ(t_k) of shortfalls t_k that the weights move linearly, with one dual weight
α_k for each. Newton's step on its optimality conditions, after the slacks are eliminated, has for all kinds the
form ``Δα = e + D Δt``: `curvature` is D, `pull` is e. At the corners of φ the products of slacks and dual weights
are kept near some μ, which the method lets go to zero.

Of two variables that differ by t, the smaller one is stepped and the other is computed from it, so that slacks
near zero keep their digits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rosenblatt.loops.losses import Hinge, Logistic, Loss
from rosenblatt.margins.objective import losses, slopes
from rosenblatt.typing import Floats

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
