"""Examples, plan, state, reports and result of training a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import Features, as_rows
from rosenblatt.data.memory import COPIES, require_neurons
from rosenblatt.learners.order import Order
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.steps import Adam, Momentum
from rosenblatt.model.network import Layer, Network, n_parameters, parts
from rosenblatt.model.outputs import Coding, Cost
from rosenblatt.stopping import StopReason
from rosenblatt.typing import Floats, Ints

Array = NDArray[Any]
BYTES_A_LAYER = 4096
"""What a layer takes beside its parameters: views of them, and arrays of its neurons."""


@dataclass(eq=False)
class NetworkState:
    """All that training carries from step to step."""

    theta: Array  # the parameters
    moments: Array  # what the steps remember, shape (n_moments, n_parameters)
    steps: int = 0  # made since the start
    visits: int = 0

    def become(self, other: NetworkState) -> None:
        """Take over the values of another state, in the room of this one."""
        np.copyto(self.theta, other.theta)
        np.copyto(self.moments, other.moments)
        self.steps, self.visits = other.steps, other.visits

    def copy(self) -> NetworkState:
        """Return an independent state."""
        return NetworkState(self.theta.copy(), self.moments.copy(), self.steps, self.visits)

    def scaled(self, layers: Sequence[Layer], power: int) -> NetworkState:
        """Return the state for inputs that are divided by a power of two: exact, short of underflow."""
        state = self.copy()
        first = parts(layers, state.theta)[0][0]
        np.ldexp(first, power, out=first)
        # Momentum is a change of parameters; Adam keeps means of slopes and of their squares.
        for times, moment in zip((1,) if len(state.moments) == 1 else (-1, -2), state.moments, strict=True):
            first = parts(layers, moment)[0][0]
            np.ldexp(first, power * times, out=first)
        return state

    def for_rule(self, rule: Momentum | Adam) -> NetworkState:
        """Return a state that steps of `rule` can go on from: memories of another kind of step are dropped."""
        if len(self.moments) == rule.n_moments:
            return self.copy()
        return begin(self.theta.copy(), rule, self.visits)


def begin(theta: Array, rule: Momentum | Adam, visits: int = 0) -> NetworkState:
    """Return the state before the first step."""
    return NetworkState(theta, np.zeros((rule.n_moments, theta.size), theta.dtype), 0, visits)


def require_parameters(layers: Sequence[Layer]) -> None:
    """Raise `ParameterError` if training a network would take more than the free memory."""
    n_bytes = 8 * COPIES * n_parameters(layers) + BYTES_A_LAYER * len(layers)
    require_neurons(f"Training {n_parameters(layers):,} parameters of neurons", n_bytes)


def random_parameters(layers: Sequence[Layer], scales: Sequence[float], rng: np.random.Generator) -> Floats:
    """Draw the weights and biases of each layer, uniform between minus and plus its scale."""
    require_parameters(layers)
    theta = np.empty(n_parameters(layers))
    weights, biases = parts(layers, theta)
    for scale, w, b in zip(scales, weights, biases, strict=True):
        w[...] = rng.uniform(-scale, scale, w.shape)
        if b is not None:
            b[...] = rng.uniform(-scale, scale, b.shape)
    return theta


@dataclass(frozen=True)
class NetworkReport:
    """The report of a pass that callbacks get.

    Attributes
    ----------
    epoch : int
        The number of the pass, from 1.
    visits : int
        Rows visited in it.
    loss : float
        What is minimised, as a mean over the pass: each row by the parameters before its step.
    mistakes : int or None
        Rows whose class was predicted wrong when they were visited; None in regression.
    mse : float or None
        In regression, the mean squared error of the rows when they were visited.
    validation_error : float or None
        After the pass, the share of the rows held out that are wrong, or their mean squared error.
    seconds : float
        Since training began.
    model : Network
        The network after the pass.
    """

    epoch: int
    visits: int
    loss: float
    mistakes: int | None
    mse: float | None
    validation_error: float | None
    seconds: float
    model: Network = field(repr=False)


NetworkCallback: TypeAlias = Callable[[NetworkReport], object]


@dataclass(frozen=True)
class NetworkPlan:
    """How to train: everything but the data and the start."""

    layers: tuple[Layer, ...]
    cost: Cost  # the loss of a row
    rule: Momentum | Adam  # the steps
    order: Order  # the rows of each pass
    alpha: float = 0.0  # alpha/2 times the sum of squared weights is added to the mean loss
    batch_size: int = 200  # rows a step
    max_iter: int = 1000
    max_time: float | None = None  # seconds
    tol: float | None = None  # the share by which the loss must fall within `patience` passes
    patience: int = 10
    held_out: Ints | None = None  # rows not trained on; their error ends training and chooses the best pass
    callbacks: Sequence[NetworkCallback] = ()  # called after each pass; training ends if one returns True


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows, and what a network is to answer to them."""

    features: Features
    targets: Array  # shape (n_rows, n_outputs)
    weight: Array | None = None  # what the loss of each row is multiplied by
    codes: Ints | None = None  # in a classification, the class of each row
    coding: Coding | None = None  # in a classification, how outputs name classes
    classes: Array | None = None  # in a classification, the labels
    flat: bool = True  # whether y had one dimension

    def cast(self, dtype: Any) -> Examples:
        """Return the same examples in another precision."""
        features, X = self.features, self.features.rows
        if features.values.dtype != dtype:
            rows: Any = CSR(X.data.astype(dtype), X.indices, X.indptr) if isinstance(X, CSR) else X.astype(dtype)
            features = Features(rows, features.n_rows, features.n_features, features.names)
        with np.errstate(over="ignore"):  # the loss shows what float32 cannot hold
            weight = None if self.weight is None else self.weight.astype(dtype)
            return replace(self, features=features, targets=self.targets.astype(dtype), weight=weight)

    def error(self, network: Network) -> float:
        """Return the share of rows that are wrong, or the mean squared error."""
        outputs = network.outputs(self.features)
        if self.codes is not None and self.coding is not None:
            return float(np.mean(self.coding.codes(outputs) != self.codes))
        return float(np.square(outputs - self.targets, dtype=np.float64).mean())

    def take(self, rows: Ints) -> Examples:
        """Return some of the rows, as copies."""
        return replace(
            self,
            features=as_rows(self.features.native()[rows]),
            targets=self.targets[rows],
            weight=None if self.weight is None else self.weight[rows],
            codes=None if self.codes is None else self.codes[rows],
        )


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """The result of training: a state to predict by or to go on from, and how it was reached."""

    state: NetworkState
    stop_reason: StopReason
    losses: list[float]
    training_errors: list[float]
    validation_errors: list[float]
    mistakes_per_pass: list[int]
    best_pass: int | None
    interruption: KeyboardInterrupt | None = None
