"""Backpropagation: the gradient of a loss with respect to every weight, from the last layer to the first.

For a layer with inputs x, sums z = x W + b, responses y = f(z), and ∂E/∂y known from the layer after it::

    ∂E/∂z = f'(z) ∂E/∂y        ∂E/∂W = xᵀ ∂E/∂z        ∂E/∂b = Σ_rows ∂E/∂z        ∂E/∂x = ∂E/∂z Wᵀ

and ∂E/∂x is ∂E/∂y of the layer before. All room is made once, for the largest batch.

Gradient steps, each in one reading of all parameters.

``theta`` holds the parameters of all layers: first the weights, on whose squares there is a penalty of
``alpha/2``, then the biases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rosenblatt.loops._jit import jit
from rosenblatt.networks.layers import Cost, Layer, n_parameters, parts
from rosenblatt.rows.memory import require_memory
from rosenblatt.typing import Reals


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
    rule: Momentum | Adam, theta: Reals, gradient: Reals, moments: Any, decay: tuple[int, float], t: int
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
def _momentum(
    theta: Reals, gradient: Reals, velocity: Reals, weights: int, alpha: np.floating[Any], pace: Pace
) -> None:
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
def _adam(
    theta: Reals,
    gradient: Reals,
    m: Reals,
    v: Reals,
    weights: int,
    alpha: np.floating[Any],
    rate: np.floating[Any],
    means: Means,
) -> None:
    for i in range(theta.size):
        g = gradient[i]
        if i < weights:
            g += alpha * theta[i]
        mean = means.keep_1 * m[i] + means.add_1 * g
        square = means.keep_2 * v[i] + means.add_2 * (g * g)
        m[i] = mean
        v[i] = square
        theta[i] -= rate * mean / (math.sqrt(square) + means.epsilon)


Array = NDArray[Any]


class Backpropagation:
    """The gradient at parameters that may change from call to call: `theta` is read where it stands."""

    def __init__(self, layers: Sequence[Layer], theta: Array, cost: Cost, most_rows: int) -> None:
        self.layers, self.cost = layers, cost
        self.weights, self.biases = parts(layers, theta)
        arrays = sum(layer.n_neurons * (3 + len(layer.responses)) for layer in layers)
        require_memory(
            f"Backpropagation of {most_rows:,} rows through {sum(layer.n_neurons for layer in layers):,} neurons",
            theta.itemsize * (n_parameters(layers) + most_rows * arrays),
            "Choose fewer neurons, or a smaller batch_size.",
        )
        self.gradient = np.empty(n_parameters(layers), theta.dtype)
        self.weight_gradients, self.bias_gradients = parts(layers, self.gradient)
        self._rooms = [_Room(layer, most_rows, theta.dtype) for layer in layers]

    def outputs(self, x: Array) -> Array:
        """Return the outputs for a batch of rows, dense or sparse; the next call writes over them."""
        for room, w, b in zip(self._rooms, self.weights, self.biases, strict=True):
            x = room.respond(x, w, b)
        return x

    def charge(self, x: Any, targets: Array, weight: Array | None) -> tuple[float, Array]:
        """Set `gradient` to that of the batch's mean loss; return the sum of its losses, and its outputs."""
        outputs = self.outputs(x)
        n_rows = len(outputs)
        error = self._rooms[-1].errors[:n_rows]
        total = self.cost.charge(outputs, targets, weight, error)
        error *= 1.0 / n_rows
        for k in reversed(range(len(self.layers))):
            self._rooms[k].pull_back(error)
            inputs = x if k == 0 else self._rooms[k - 1].responses(n_rows)
            if isinstance(inputs, np.ndarray):
                np.matmul(inputs.T, error, out=self.weight_gradients[k])
            else:
                self.weight_gradients[k][...] = inputs.T @ error
            sums = self.bias_gradients[k]
            if sums is not None:
                error.sum(axis=0, out=sums)
            if k:
                error = np.matmul(error, self.weights[k].T, out=self._rooms[k - 1].errors[:n_rows])
        return total, outputs


class _Room:
    """What one layer computes for a batch."""

    def __init__(self, layer: Layer, most_rows: int, dtype: DTypeLike) -> None:
        shape = most_rows, layer.n_neurons
        self.layer = layer
        self.errors, self._scratch = np.empty(shape, dtype), np.empty(shape, dtype)
        # What stands before each response, and after the last: the same array where y may be written over z.
        self._stages = [np.empty(shape, dtype)]
        for k, response in enumerate(layer.responses):
            over = k == 0 and not response.keeps_input  # a second one would write over what the first needs
            self._stages.append(self._stages[-1] if over else np.empty(shape, dtype))

    def responses(self, n_rows: int) -> Array:
        return self._stages[-1][:n_rows]

    def respond(self, x: Any, w: Any, b: Array | None) -> Array:
        n_rows = x.shape[0]
        z = self._stages[0][:n_rows]
        if isinstance(x, np.ndarray):
            np.matmul(x, w, out=z)
        else:
            z[...] = x @ w
        if b is not None:
            z += b
        for k, response in enumerate(self.layer.responses):
            response.respond(self._stages[k][:n_rows], self._stages[k + 1][:n_rows])
        return self.responses(n_rows)

    def pull_back(self, error: Array) -> None:
        n_rows = len(error)
        scratch = self._scratch[:n_rows]
        for k in reversed(range(len(self.layer.responses))):
            z, y = self._stages[k][:n_rows], self._stages[k + 1][:n_rows]
            self.layer.responses[k].pull_back(z, y, error, scratch)
