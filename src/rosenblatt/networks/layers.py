"""Feed-forward networks: layers of neurons, one after another.

Responses of neurons to their weighted sums, and backpropagation through them.

Arrays have one row for each example. `respond` writes y = f(z), and `pull_back` turns ∂E/∂y into ∂E/∂z in place.
``keeps_input`` says whether `pull_back` needs z; if not, y may be written over z.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rosenblatt.exceptions import PredictionOverflowError
from rosenblatt.rows.features import Features, require_finite, require_width
from rosenblatt.typing import Ints

Array = NDArray[Any]  # float64 or float32, the same for all arguments of a call


class Response(Protocol):
    """The response of a layer to its weighted sums."""

    keeps_input: ClassVar[bool]

    def respond(self, z: Array, out: Array) -> None:
        """Write f(z)."""

    def pull_back(self, z: Array, y: Array, error: Array, room: Array) -> None:
        """Turn the error of y = f(z) into the error of z, in place; `room` may be overwritten."""


@dataclass(frozen=True)
class Sigmoid:
    """f(z) = 1 / (1 + exp(−z)), computed as (1 + tanh(z/2)) / 2, which cannot overflow."""

    keeps_input: ClassVar[bool] = False

    def respond(self, z: Array, out: Array) -> None:
        """Write f(z)."""
        np.multiply(z, 0.5, out=out)
        np.tanh(out, out=out)
        out += 1.0
        out *= 0.5

    def pull_back(self, z: Array, y: Array, error: Array, room: Array) -> None:
        """Multiply the error by y (1 − y)."""
        np.subtract(1.0, y, out=room)
        room *= y
        error *= room


@dataclass(frozen=True)
class Tanh:
    """f(z) = tanh(z)."""

    keeps_input: ClassVar[bool] = False

    def respond(self, z: Array, out: Array) -> None:
        """Write f(z)."""
        np.tanh(z, out=out)

    def pull_back(self, z: Array, y: Array, error: Array, room: Array) -> None:
        """Multiply the error by 1 − y²."""
        np.multiply(y, y, out=room)
        np.subtract(1.0, room, out=room)
        error *= room


@dataclass(frozen=True)
class ReLU:
    """f(z) = max(z, 0); its slope at 0 is taken as 0."""

    keeps_input: ClassVar[bool] = False

    def respond(self, z: Array, out: Array) -> None:
        """Write f(z)."""
        np.maximum(z, 0.0, out=out)

    def pull_back(self, z: Array, y: Array, error: Array, room: Array) -> None:
        """Drop the error where the neuron was silent."""
        np.sign(y, out=room)  # y is not negative; a product is several times faster than a masked assignment
        error *= room


@dataclass(frozen=True)
class LogSquare:
    """f(z) = log(z² + 1)."""

    keeps_input: ClassVar[bool] = True

    def respond(self, z: Array, out: Array) -> None:
        """Write f(z)."""
        np.multiply(z, z, out=out)
        np.log1p(out, out=out)

    def pull_back(self, z: Array, y: Array, error: Array, room: Array) -> None:
        """Multiply the error by 2 z / (z² + 1)."""
        np.multiply(z, z, out=room)
        room += 1.0
        np.divide(z, room, out=room)
        room *= 2.0
        error *= room


@dataclass(frozen=True)
class GainControl:
    """Divisive normalisation: f(z)_i = z_i / sqrt(σ² + mean_j z_j²), the mean over all neurons of the layer.

    Strong and weak stimuli of the same pattern give almost the same response. σ is the strength at which division
    sets in; responses to much weaker stimuli are z/σ.
    """

    sigma: float = 1.0
    keeps_input: ClassVar[bool] = True

    def respond(self, z: Array, out: Array) -> None:
        """Write f(z)."""
        np.divide(z, self._gain(z), out=out)

    def pull_back(self, z: Array, y: Array, error: Array, room: Array) -> None:
        """Turn the error e of y into (e − y mean_j(e_j y_j)) / sqrt(σ² + mean_j z_j²)."""
        np.multiply(error, y, out=room)
        shared = room.mean(axis=1, keepdims=True)
        np.multiply(y, shared, out=room)
        error -= room
        error /= self._gain(z)

    def _gain(self, z: Array) -> Array:
        squares = np.einsum("ij,ij->i", z, z)[:, None]
        squares /= z.shape[1]
        squares += self.sigma**2
        gain: Array = np.sqrt(squares, out=squares)
        return gain


RESPONSES: dict[str, tuple[Response, ...]] = {
    "logistic": (Sigmoid(),),
    "tanh": (Tanh(),),
    "relu": (ReLU(),),
    "identity": (),
}
"""The responses by the name of an activation."""


# The outputs of a network: their targets, the loss, and the classes they stand for.


class Cost(Protocol):
    """A loss of outputs against targets, both of shape (n_rows, n_outputs)."""

    def charge(self, outputs: Array, targets: Array, weight: Array | None, error: Array) -> float:
        """Return the sum of the losses of all rows, each times its weight; write their gradient to `error`."""


@dataclass(frozen=True)
class SquaredError:
    """½ Σ_j (o_j − u_j)² of a row with outputs o and targets u."""

    def charge(self, outputs: Array, targets: Array, weight: Array | None, error: Array) -> float:
        """Return the sum of the losses; their gradient is o − u."""
        np.subtract(outputs, targets, out=error)
        if weight is None:
            return 0.5 * float(np.vdot(error, error))
        total = 0.5 * float(np.einsum("i,ij,ij->", weight, error, error))
        error *= weight[:, None]
        return total


@dataclass(frozen=True)
class CrossEntropy:
    """−Σ_j u_j log p_j of a row with targets u that sum to 1, where p is the softmax of the outputs.

    A single output z is the log-odds of u = 1: p = 1 / (1 + exp(−z)).
    """

    def charge(self, outputs: Array, targets: Array, weight: Array | None, error: Array) -> float:
        """Return the sum of the losses; their gradient is p − u."""
        if outputs.shape[1] == 1:
            # log(1 + e^z) − u z, which is accurate for any size of z.
            losses = np.logaddexp(0.0, outputs) - targets * outputs
            total = float(losses.sum() if weight is None else weight @ losses[:, 0])
            error[...] = self.chances(outputs)
        else:
            np.subtract(outputs, outputs.max(axis=1, keepdims=True), out=error)
            of_target = np.einsum("ij,ij->i", targets, error)
            np.exp(error, out=error)
            normaliser = error.sum(axis=1, keepdims=True)
            error /= normaliser
            losses = np.log(normaliser[:, 0]) - of_target
            total = float(losses.sum() if weight is None else weight @ losses)
        error -= targets
        if weight is not None:
            error *= weight[:, None]
        return total

    def chances(self, outputs: Array) -> Array:
        """Return p."""
        if outputs.shape[1] == 1:
            p: Array = 0.5 + 0.5 * np.tanh(0.5 * outputs)
            return p
        p = outputs - outputs.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        return p


@dataclass(frozen=True)
class Coding:
    """How a network represents classes.

    There is one output for each class, with target `high` for the class of the row and `low` for all others. Two
    classes have one output, for the second class, unless there is no `middle`.
    """

    n_classes: int  # at least two
    low: float = 0.0  # the target for a class that is not that of the row
    high: float = 1.0  # the target for the class of the row
    middle: float | None = 0.5  # the second of two classes is predicted above this; None gives each an output

    @property
    def n_outputs(self) -> int:
        """The neurons of the last layer."""
        return 1 if self.n_classes == 2 and self.middle is not None else self.n_classes

    def targets(self, codes: Ints, dtype: DTypeLike) -> Array:
        """Return the targets of rows, shape (n_rows, n_outputs)."""
        targets = np.full((len(codes), self.n_outputs), self.low, dtype)
        if self.n_outputs == 1:
            targets[codes == 1] = self.high
        else:
            targets[np.arange(len(codes)), codes] = self.high
        return targets

    def decision(self, outputs: Array) -> Array:
        """Return one number for each row, positive for the second of two classes, or one for each class."""
        if self.n_classes > 2:
            return outputs
        if self.middle is None:
            difference: Array = outputs[:, 1] - outputs[:, 0]
            return difference
        return np.asarray(outputs[:, 0] - outputs.dtype.type(self.middle))

    def codes(self, outputs: Array) -> Ints:
        """Return the classes; a tie goes to the first."""
        if self.n_outputs == 1:
            return np.asarray(outputs[:, 0] > self.middle, np.int64)
        codes: Ints = np.argmax(outputs, axis=1)
        return codes


BLOCK_NUMBERS = 2**19
"""Numbers in one layer for a block of rows: a few megabytes."""


@dataclass(frozen=True)
class Layer:
    """Neurons with the same inputs: weighted sums, and the responses to them."""

    n_inputs: int
    n_neurons: int
    responses: tuple[Response, ...] = ()  # applied to the sums one after another
    bias: bool = True  # whether the sums have a constant term
    nonnegative: bool = False  # whether training keeps the weights from becoming negative


class Parts(NamedTuple):
    """The weights of each layer, shape (n_inputs, n_neurons), and its biases, or None: views of one array."""

    weights: list[NDArray[Any]]
    biases: list[NDArray[Any] | None]


def n_weights(layers: Sequence[Layer]) -> int:
    """Return the number of weights, which come before the biases."""
    return sum(layer.n_inputs * layer.n_neurons for layer in layers)


def n_parameters(layers: Sequence[Layer]) -> int:
    """Return the number of weights and biases."""
    return n_weights(layers) + sum(layer.n_neurons for layer in layers if layer.bias)


def parts(layers: Sequence[Layer], theta: NDArray[Any]) -> Parts:
    """Split the array of all parameters into the weights and then the biases of each layer.

    Examples
    --------
    >>> W, b = parts([Layer(2, 3), Layer(3, 1, bias=False)], np.arange(12.0))
    >>> W[1].ravel(), b
    (array([6., 7., 8.]), [array([ 9., 10., 11.]), None])
    """
    weights: list[NDArray[Any]] = []
    biases: list[NDArray[Any] | None] = []
    at, bias_at = 0, n_weights(layers)
    for layer in layers:
        size = layer.n_inputs * layer.n_neurons
        weights.append(theta[at : at + size].reshape(layer.n_inputs, layer.n_neurons))
        at += size
        biases.append(theta[bias_at : bias_at + layer.n_neurons] if layer.bias else None)
        bias_at += layer.n_neurons * layer.bias
    return Parts(weights, biases)


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """Layers and their parameters, in whose precision it computes.

    Examples
    --------
    >>> from rosenblatt.rows.features import as_rows
    >>> from rosenblatt.networks.layers import ReLU
    >>> doubled = Network((Layer(1, 2, (ReLU(),)), Layer(2, 1)), np.array([1.0, -1, 2, -2, 0, 0, 0]))
    >>> doubled.outputs(as_rows([[3.0], [-1.0]])).ravel()
    array([ 6., -2.])
    """

    layers: tuple[Layer, ...]  # from the inputs to the outputs
    theta: NDArray[Any]  # all parameters, as `parts` splits them; read-only

    @property
    def n_features(self) -> int:
        """The number of inputs."""
        return self.layers[0].n_inputs

    @property
    def parts(self) -> Parts:
        """The weights and biases of each layer, as views."""
        return parts(self.layers, self.theta)

    def first(self, n_layers: int) -> Network:
        """Return the network of the first layers."""
        weights, biases = parts(self.layers[:n_layers], self.theta)[0], self.parts.biases[:n_layers]
        flat = [each.ravel() for each in (*weights, *biases) if each is not None]
        return Network(self.layers[:n_layers], np.concatenate(flat))

    def outputs(self, features: Features) -> NDArray[Any]:
        """Return the response of the last layer to every row, shape (n_rows, n_outputs)."""
        require_width(features, self.n_features)
        # A saturated neuron maps infinity to a finite output, so the outputs do not show it.
        require_finite(features)
        out = np.empty((features.n_rows, self.layers[-1].n_neurons), self.theta.dtype)
        # Numbers too large for float32, and overflows between layers, show in the outputs.
        with np.errstate(over="ignore", invalid="ignore"):
            native = features.native()
            for rows in self._blocks(features.n_rows):
                self._respond(native[rows], out[rows])
        finite = np.isfinite(out)
        if not finite.all():
            row = int(np.argmin(finite.all(axis=1)))
            raise PredictionOverflowError(
                f"The output for row {row} of X exceeds the largest float. Look for a wrong value or unit in this "
                "row; if the features are so large, scale them down before training and predicting.",
                row=row,
            )
        return out

    def _blocks(self, n_rows: int) -> Iterator[slice]:
        widest = max(max(layer.n_neurons, layer.n_inputs) for layer in self.layers)
        size = max(1, BLOCK_NUMBERS // widest)
        return (slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size))

    def _respond(self, x: NDArray[Any], out: NDArray[Any]) -> None:
        weights, biases = self.parts
        x = x.astype(self.theta.dtype, copy=False)
        for layer, w, b in zip(self.layers, weights, biases, strict=True):
            sums = x @ w
            if b is not None:
                sums += b
            for response in layer.responses:
                response.respond(sums, sums)  # prediction needs no pull_back, so the sums may be overwritten
            x = sums
        out[...] = x
