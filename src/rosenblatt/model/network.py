"""Feed-forward networks: layers of neurons, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import Features, require_finite, require_width
from rosenblatt.exceptions import PredictionOverflowError
from rosenblatt.loops.neurons import Response

BLOCK = 2**19
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

    Attributes
    ----------
    layers : tuple of Layer
        From the inputs to the outputs.
    theta : ndarray, float64 or float32
        All parameters, as `parts` splits them; read-only.

    Examples
    --------
    >>> from rosenblatt.data.features import as_rows
    >>> from rosenblatt.loops.neurons import ReLU
    >>> doubled = Network((Layer(1, 2, (ReLU(),)), Layer(2, 1)), np.array([1.0, -1, 2, -2, 0, 0, 0]))
    >>> doubled.outputs(as_rows([[3.0], [-1.0]])).ravel()
    array([ 6., -2.])
    """

    layers: tuple[Layer, ...]
    theta: NDArray[Any]

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
                "row; if the features are so large, scale them down before training and predicting."
            )
        return out

    def _blocks(self, n_rows: int) -> Iterator[slice]:
        widest = max(max(layer.n_neurons, layer.n_inputs) for layer in self.layers)
        size = max(1, BLOCK // widest)
        return (slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size))

    def _respond(self, x: Any, out: NDArray[Any]) -> None:
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
