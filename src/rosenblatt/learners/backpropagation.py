"""Backpropagation: the gradient of a loss with respect to every weight, from the last layer to the first.

For a layer with inputs x, sums z = x W + b, responses y = f(z), and ∂E/∂y known from the layer after it::

    ∂E/∂z = f'(z) ∂E/∂y        ∂E/∂W = xᵀ ∂E/∂z        ∂E/∂b = Σ_rows ∂E/∂z        ∂E/∂x = ∂E/∂z Wᵀ

and ∂E/∂x is ∂E/∂y of the layer before. All room is made once, for the largest batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.memory import require_memory
from rosenblatt.model.network import Layer, n_parameters, parts
from rosenblatt.model.outputs import Cost

Array = NDArray[Any]


class Backpropagation:
    """The gradient at parameters that may change from call to call.

    Parameters
    ----------
    layers : sequence of Layer
        The network.
    theta : ndarray
        Its parameters, read where they stand.
    cost : Cost
        What is to be small.
    most_rows : int
        Of a batch.
    """

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

    def outputs(self, x: Any) -> Array:
        """Return the outputs for a batch of rows, dense or sparse; the next call writes over them."""
        for room, w, b in zip(self._rooms, self.weights, self.biases, strict=True):
            x = room.respond(x, w, b)
        return x  # type: ignore[no-any-return]  # the last room's array

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

    def __init__(self, layer: Layer, most_rows: int, dtype: Any) -> None:
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

    def respond(self, x: Any, w: Array, b: Array | None) -> Array:
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
