"""Responses of neurons to their weighted sums, and backpropagation through them.

Arrays have one row for each example. `respond` writes y = f(z), and `pull_back` turns ∂E/∂y into ∂E/∂z in place.
``keeps_input`` says whether `pull_back` needs z; if not, y may be written over z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["RESPONSES", "GainControl", "LogSquare", "ReLU", "Response", "Sigmoid", "Tanh"]

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
