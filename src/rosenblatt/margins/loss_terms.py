"""Losses and penalties as an interior-point method treats them: sums of terms with slacks and dual weights.

A set of terms is a function Σ c_k φ(t_k) of shortfalls t_k that the weights move linearly, with one dual weight
α_k for each. Newton's step on its optimality conditions, after the slacks are eliminated, has for all kinds the
form ``Δα = e + D Δt``: `curvature` is D, `pull` is e. At the corners of φ the products of slacks and dual weights
are kept at μ, which the method lets go to zero.

Of two variables that differ by t, the smaller one is stepped and the other is computed from it, so that slacks
near zero keep their digits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rosenblatt.loops.losses import Hinge, Logistic, Loss
from rosenblatt.margins.objective import losses, slopes
from rosenblatt.typing import Floats

NEAREST = 0.995  # the largest share of the way to the nearest bound that a step goes


class LossTerms(ABC):
    """The terms of one loss; the defaults are those of a loss without corners, which has no products."""

    alpha: Floats
    products = 0
    smooth = False

    def gap(self) -> float:
        """Return the sum of all products."""
        return 0.0

    @abstractmethod
    def curvature(self) -> Floats:
        """Return D."""

    def pull(self, mu: float) -> Floats:
        """Return e, towards products of μ."""
        return np.zeros_like(self.alpha)

    def aim(self, dt: Floats, dalpha: Floats, mu: float) -> None:  # noqa: B027 - no slacks without corners
        """Take the steps of the shortfalls and the dual weights, and find those of the slacks."""

    def reach(self) -> float:
        """Return the longest step of at most 1 that keeps everything positive."""
        return 1.0

    def gap_after(self, step: float) -> float:
        """Return the sum of all products after a step."""
        return 0.0

    def correct(self, share: float) -> None:  # noqa: B027 - no products without corners
        """Let the next pull correct a share of the second-order error of the products along this step."""

    @abstractmethod
    def advance(self, step: float, t: Floats) -> None:
        """Take a step, which leads to shortfalls `t`."""

    @abstractmethod
    def barrier(self, step: float, t: Floats, mu: float) -> float:
        """Return the value of the function after a step, with the logarithmic barrier of the slacks."""

    @abstractmethod
    def barrier_slope(self, dt: Floats, mu: float) -> float:
        """Return the derivative of `barrier` at the beginning of the step."""


class _Hinges(LossTerms):
    """c max(0, t): slacks ξ − s = t, dual weights α + β = c, products α s and β ξ."""

    def __init__(self, c: Floats, t: Floats, mu: float) -> None:
        self.products = 2 * c.size
        self.alpha, self.beta = 0.5 * c, 0.5 * c
        self.c = c
        near = mu / self.alpha
        self.s = np.where(t > 0.0, near, near - t)
        self.xi = np.where(t > 0.0, near + t, near)
        self.bend_s, self.bend_xi = np.zeros_like(c), np.zeros_like(c)
        self.ds, self.dxi, self.dalpha = np.zeros_like(c), np.zeros_like(c), np.zeros_like(c)

    def gap(self) -> float:
        return float(self.alpha @ self.s + self.beta @ self.xi)

    def curvature(self) -> Floats:
        return 1.0 / (self.s / self.alpha + self.xi / self.beta)

    def pull(self, mu: float) -> Floats:
        short = (mu - self.bend_s) / self.alpha - self.s - ((mu - self.bend_xi) / self.beta - self.xi)
        return self.curvature() * short

    def aim(self, dt: Floats, dalpha: Floats, mu: float) -> None:
        self.dalpha = dalpha
        self.ds = (mu - self.bend_s - self.s * dalpha) / self.alpha - self.s
        self.dxi = (mu - self.bend_xi + self.xi * dalpha) / self.beta - self.xi

    def reach(self) -> float:
        return _reach((self.alpha, self.dalpha), (self.beta, -self.dalpha), (self.s, self.ds), (self.xi, self.dxi))

    def gap_after(self, step: float) -> float:
        alpha, beta = self.alpha + step * self.dalpha, self.beta - step * self.dalpha
        return float(alpha @ (self.s + step * self.ds) + beta @ (self.xi + step * self.dxi))

    def correct(self, share: float) -> None:
        self.bend_s, self.bend_xi = share * self.dalpha * self.ds, -share * self.dalpha * self.dxi

    def advance(self, step: float, t: Floats) -> None:
        positive = self.alpha + step * self.dalpha, self.beta - step * self.dalpha
        lower = positive[0] < positive[1]
        self.alpha = np.where(lower, positive[0], self.c - positive[1])
        self.beta = np.where(lower, self.c - positive[0], positive[1])
        s, xi = self.s + step * self.ds, self.xi + step * self.dxi
        self.s, self.xi = np.where(t > 0.0, s, xi - t), np.where(t > 0.0, s + t, xi)
        self.bend_s, self.bend_xi = np.zeros_like(t), np.zeros_like(t)

    def barrier(self, step: float, t: Floats, mu: float) -> float:
        s, xi = self.s + step * self.ds, self.xi + step * self.dxi
        return float(self.c @ xi - mu * (np.log(s).sum() + np.log(xi).sum()))

    def barrier_slope(self, dt: Floats, mu: float) -> float:
        return float((self.c - mu / self.xi) @ self.dxi - (mu / self.s) @ self.ds)


class _SquaredHinges(LossTerms):
    """c max(0, t)²: slack s = α/(2c) − t, products α s."""

    def __init__(self, c: Floats, t: Floats, mu: float) -> None:
        self.products = c.size
        self.half = 0.5 / c
        # α s = μ with s = α/(2c) − t is a quadratic in α.
        self.alpha = c * (t + np.sqrt(t * t + 2.0 * mu / c))
        self.s = mu / self.alpha
        self.bend = np.zeros_like(c)
        self.ds, self.dalpha = np.zeros_like(c), np.zeros_like(c)

    def gap(self) -> float:
        return float(self.alpha @ self.s)

    def curvature(self) -> Floats:
        return 1.0 / (self.s / self.alpha + self.half)

    def pull(self, mu: float) -> Floats:
        return self.curvature() * ((mu - self.bend) / self.alpha - self.s)

    def aim(self, dt: Floats, dalpha: Floats, mu: float) -> None:
        self.dalpha = dalpha
        self.ds = (mu - self.bend - self.s * dalpha) / self.alpha - self.s

    def reach(self) -> float:
        return _reach((self.alpha, self.dalpha), (self.s, self.ds))

    def gap_after(self, step: float) -> float:
        return float((self.alpha + step * self.dalpha) @ (self.s + step * self.ds))

    def correct(self, share: float) -> None:
        self.bend = share * self.dalpha * self.ds

    def advance(self, step: float, t: Floats) -> None:
        alpha, s = self.alpha + step * self.dalpha, self.s + step * self.ds
        self.alpha = np.where(t > 0.0, (s + t) / self.half, alpha)
        self.s = np.where(t > 0.0, s, alpha * self.half - t)
        self.bend = np.zeros_like(t)

    def barrier(self, step: float, t: Floats, mu: float) -> float:
        s = self.s + step * self.ds
        return float(0.5 * ((s + t) ** 2 / self.half).sum() - mu * np.log(s).sum())

    def barrier_slope(self, dt: Floats, mu: float) -> float:
        return float(self.alpha @ (self.ds + dt) - (mu / self.s) @ self.ds)


class _LogisticTerms(LossTerms):
    """c log(1 + exp(t)): it has no corner, so α is the slope itself."""

    smooth = True

    def __init__(self, c: Floats, t: Floats) -> None:
        self.c, self.loss = c, Logistic()
        self.advance(0.0, t)

    def curvature(self) -> Floats:
        return self.alpha * (self.other / self.c)

    def advance(self, step: float, t: Floats) -> None:
        self.alpha = self.c * slopes(self.loss, t)
        self.other = self.c * slopes(self.loss, -t)

    def barrier(self, step: float, t: Floats, mu: float) -> float:
        return float(self.c @ losses(self.loss, t))

    def barrier_slope(self, dt: Floats, mu: float) -> float:
        return float(self.alpha @ dt)


def terms_of(loss: Loss, c: Floats, t: Floats, mu: float) -> LossTerms:
    """Return the terms of a loss."""
    if isinstance(loss, Hinge):
        return _Hinges(c, t, mu)
    return _LogisticTerms(c, t) if isinstance(loss, Logistic) else _SquaredHinges(c, t, mu)


def _reach(*pairs: tuple[Floats, Floats]) -> float:
    """Return the longest step, up to 1, that keeps the values of all pairs (value, step) positive."""
    fastest = max((float(np.max(-step / value)) for value, step in pairs), default=0.0)
    return 1.0 if fastest <= NEAREST else NEAREST / fastest
