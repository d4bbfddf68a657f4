"""Backpropagation as a textbook writes it, against which the fast networks are tested.

Plain Python, one example and one neuron at a time. A layer is (weights, biases, kinds): ``weights[j][i]`` leads
from input i to neuron j, and `kinds` names the responses that are applied to the sums, one after another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Numbers: TypeAlias = list[float]
Layer: TypeAlias = tuple[Sequence[Numbers], Numbers, Sequence[Any]]
Gradient: TypeAlias = list[tuple[list[Numbers], Numbers]]


SLOPES: dict[str, Callable[[float], float]] = {
    "logistic": lambda t: math.exp(-t) / (1.0 + math.exp(-t)) ** 2,
    "tanh": lambda t: 1.0 / math.cosh(t) ** 2,
    "relu": lambda t: 1.0 if t > 0.0 else 0.0,
    "log_square": lambda t: 2.0 * t / (t * t + 1.0),
}


def respond(kind: Any, z: Numbers) -> Numbers:
    """Return the responses of the neurons of a layer to their sums; ("gain", σ) is gain control.

    Examples
    --------
    >>> respond("relu", [-1.0, 2.0])
    [0.0, 2.0]
    """
    if kind == "logistic":
        return [1.0 / (1.0 + math.exp(-t)) for t in z]
    if kind == "tanh":
        return [math.tanh(t) for t in z]
    if kind == "relu":
        return [max(t, 0.0) for t in z]
    if kind == "log_square":
        return [math.log(t * t + 1.0) for t in z]
    pool = math.sqrt(kind[1] ** 2 + sum(t * t for t in z) / len(z))
    return [t / pool for t in z]


def slopes(kind: Any, z: Numbers) -> list[Numbers]:
    """Return the matrix ∂y_i/∂z_j of the responses, which is diagonal except for gain control."""
    n = len(z)
    if isinstance(kind, str):
        slope = SLOPES[kind]
        return [[slope(z[j]) if i == j else 0.0 for j in range(n)] for i in range(n)]
    pool = math.sqrt(kind[1] ** 2 + sum(t * t for t in z) / n)
    return [[(1.0 if i == j else 0.0) / pool - z[i] * z[j] / (n * pool**3) for j in range(n)] for i in range(n)]


def loss_and_error(loss: str, o: Numbers, u: Numbers) -> tuple[float, Numbers]:
    """Return the loss of the outputs, and its derivatives with respect to them."""
    if loss == "squared_error":
        wrong = [a - b for a, b in zip(o, u, strict=True)]
        return sum(e * e for e in wrong) / 2.0, wrong
    if len(o) == 1:
        p = 1.0 / (1.0 + math.exp(-o[0]))
        return -u[0] * math.log(p) - (1.0 - u[0]) * math.log(1.0 - p), [p - u[0]]
    total = sum(math.exp(a) for a in o)
    chances = [math.exp(a) / total for a in o]
    return (
        -sum(b * math.log(p) for p, b in zip(chances, u, strict=True)),
        [p - b for p, b in zip(chances, u, strict=True)],
    )


def backpropagate(layers: Sequence[Layer], loss: str, x: Numbers, u: Numbers) -> tuple[float, Gradient]:
    """Return the loss of one example, and its derivatives by weights and biases, layer by layer.

    Examples
    --------
    >>> backpropagate([([[2.0]], [1.0], [])], "squared_error", [3.0], [5.0])
    (2.0, [([[6.0]], [2.0])])
    """
    inputs, steps = [x], []
    for weights, biases, kinds in layers:
        z = [
            sum(w * t for w, t in zip(row, inputs[-1], strict=True)) + b
            for row, b in zip(weights, biases, strict=True)
        ]
        before = []
        for kind in kinds:
            before.append(z)
            z = respond(kind, z)
        steps.append(before)
        inputs.append(z)
    value, error = loss_and_error(loss, inputs[-1], u)
    gradient: Gradient = []
    for (weights, _, kinds), before, seen in zip(
        reversed(layers), reversed(steps), reversed(inputs[:-1]), strict=True
    ):
        for kind, z in zip(reversed(kinds), reversed(before), strict=True):
            slope = slopes(kind, z)
            error = [sum(error[i] * slope[i][j] for i in range(len(z))) for j in range(len(z))]
        gradient.insert(0, ([[e * t for t in seen] for e in error], error))
        error = [sum(e * row[i] for e, row in zip(error, weights, strict=True)) for i in range(len(seen))]
    return value, gradient


def momentum(theta: Numbers, gradients: Sequence[Numbers], eta: float, mu: float, nesterov: bool) -> Numbers:
    """Return theta after one step with momentum for each gradient.

    Examples
    --------
    >>> momentum([0.0], [[1.0], [1.0]], eta=1.0, mu=0.5, nesterov=False)
    [-2.5]
    """
    velocity = [0.0] * len(theta)
    for g in gradients:
        velocity = [mu * v - eta * d for v, d in zip(velocity, g, strict=True)]
        moves = [mu * v - eta * d for v, d in zip(velocity, g, strict=True)] if nesterov else velocity
        theta = [t + move for t, move in zip(theta, moves, strict=True)]
    return theta


def adam(
    theta: Numbers, gradients: Sequence[Numbers], eta: float, beta_1: float, beta_2: float, epsilon: float
) -> Numbers:
    """Return theta after one step of Adam for each gradient; ε is added before the bias of √v is corrected.

    Examples
    --------
    >>> [round(t, 6) for t in adam([0.0], [[5.0]], eta=0.1, beta_1=0.9, beta_2=0.999, epsilon=1e-8)]
    [-0.1]
    """
    m, v = [0.0] * len(theta), [0.0] * len(theta)
    for t, g in enumerate(gradients, 1):
        m = [beta_1 * a + (1 - beta_1) * d for a, d in zip(m, g, strict=True)]
        v = [beta_2 * a + (1 - beta_2) * d * d for a, d in zip(v, g, strict=True)]
        rate = eta * math.sqrt(1 - beta_2**t) / (1 - beta_1**t)
        theta = [p - rate * a / (math.sqrt(b) + epsilon) for p, a, b in zip(theta, m, v, strict=True)]
    return theta
