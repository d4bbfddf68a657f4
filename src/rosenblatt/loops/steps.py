"""Gradient steps, each in one reading of all parameters.

``theta`` holds the parameters of all layers: first the weights, on whose squares there is a penalty of
``alpha/2``, then the biases.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from rosenblatt.loops._jit import jit


class Momentum(NamedTuple):
    """Gradient descent with momentum: v ← μ v − η g, θ ← θ + v.

    With `nesterov` the step looks one step ahead: θ ← θ + μ v − η g.
    """

    eta: float = 0.1
    mu: float = 0.9
    nesterov: bool = True

    @property
    def n_moments(self) -> int:
        """The arrays kept beside the parameters: v."""
        return 1


class Adam(NamedTuple):
    """Steps of η m̂ / (sqrt(v̂) + ε), with the unbiased running means m̂ of g and v̂ of g² (Kingma and Ba 2015).

    As in that paper, ε is added to sqrt(v) before its bias is corrected.
    """

    eta: float = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8

    @property
    def n_moments(self) -> int:
        """The arrays kept beside the parameters: m and v."""
        return 2


def take_step(
    rule: Momentum | Adam, theta: Any, gradient: Any, moments: Any, decay: tuple[int, float], t: int
) -> None:
    """Make step number `t`, from 1, in place; `moments` has one row for each moment.

    `decay` is the number of weights among the parameters, and alpha. Arithmetic is in the precision of theta.
    """
    real = theta.dtype.type
    weights, alpha = decay
    if isinstance(rule, Momentum):
        pace = Pace(real(rule.eta), real(rule.mu), rule.nesterov)
        _momentum(theta, gradient, moments[0], weights, real(alpha), pace)
        return
    rate = rule.eta * math.sqrt(1.0 - rule.beta_2**t) / (1.0 - rule.beta_1**t)
    means = Means(*map(real, (rule.beta_1, 1.0 - rule.beta_1, rule.beta_2, 1.0 - rule.beta_2, rule.epsilon)))
    _adam(theta, gradient, moments[0], moments[1], weights, real(alpha), real(rate), means)


class Pace(NamedTuple):
    """The factors of `_momentum`, in the precision of theta."""

    eta: Any
    mu: Any
    nesterov: bool


class Means(NamedTuple):
    """The factors of `_adam`, in the precision of theta."""

    keep_1: Any
    add_1: Any
    keep_2: Any
    add_2: Any
    epsilon: Any


@jit
def _momentum(theta: Any, gradient: Any, velocity: Any, weights: int, alpha: Any, pace: Pace) -> None:
    for i in range(weights):
        gradient[i] += alpha * theta[i]
    if pace.nesterov:
        for i in range(theta.size):
            v = pace.mu * velocity[i] - pace.eta * gradient[i]
            velocity[i] = v
            theta[i] += pace.mu * v - pace.eta * gradient[i]
    else:
        for i in range(theta.size):
            v = pace.mu * velocity[i] - pace.eta * gradient[i]
            velocity[i] = v
            theta[i] += v


@jit
def _adam(theta: Any, gradient: Any, m: Any, v: Any, weights: int, alpha: Any, rate: Any, means: Means) -> None:
    for i in range(theta.size):
        g = gradient[i]
        if i < weights:
            g += alpha * theta[i]
        mean = means.keep_1 * m[i] + means.add_1 * g
        square = means.keep_2 * v[i] + means.add_2 * (g * g)
        m[i] = mean
        v[i] = square
        theta[i] -= rate * mean / (math.sqrt(square) + means.epsilon)
