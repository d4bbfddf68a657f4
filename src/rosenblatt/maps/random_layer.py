"""A layer of neurons with random weights that are not trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.features import Features, require_finite
from rosenblatt.data.memory import require_neurons
from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.loops.layout import oriented
from rosenblatt.loops.targets import PAIR
from rosenblatt.typing import Floats

GRAIN = 2.0**-20
"""Weights are multiples of this, so that sums of dyadic features are exact in any order, and dense and sparse rows
of such data give the same bits."""

BLOCK = 2**16
"""Outputs computed at a time."""


def _logistic(z: Floats) -> Any:
    from scipy.special import expit

    return expit(z)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "tanh": np.tanh,
    "logistic": _logistic,
    "relu": lambda z: np.maximum(z, 0.0),
    "sine": np.sin,
    "step": lambda z: (z > 0.0).astype(np.float64),
}


class RandomLayer(NamedTuple):
    """Neurons with one row of weights each, the bias last, and their activation."""

    weights: Floats
    activation: str

    @classmethod
    def draw(
        cls, n_neurons: int, n_features: int, activation: str, scale: float, rng: np.random.Generator
    ) -> RandomLayer:
        """Draw normal weights, by which the sums of standardised features have a standard deviation of `scale`."""
        require_neurons(
            f"Drawing {n_neurons:,} neurons for {n_features:,} features", 24 * n_neurons * (n_features + 1)
        )
        weights = scale * rng.standard_normal((n_neurons, n_features + 1))
        weights[:, :-1] /= np.sqrt(n_features)
        return cls(np.round(weights / GRAIN) * GRAIN, activation)

    def outputs(self, features: Features) -> Iterator[tuple[slice, Floats]]:
        """Yield some rows at a time and the output of each neuron, so that never all are in memory.

        The order of sums does not depend on the blocks.
        """
        step = max(1, BLOCK // len(self.weights))
        for first in range(0, features.n_rows, step):
            rows = slice(first, min(first + step, features.n_rows))
            sums = self._sums(features.part(rows))
            finite = np.isfinite(sums)
            if not finite.all():
                require_finite(features)
                row = first + int(np.argwhere(~finite)[0, 0])
                raise TrainingOverflowError(
                    f"Row {row} of X gives a neuron a sum beyond the largest float. Scale the features down."
                )
            yield rows, ACTIVATIONS[self.activation](sums)

    def _sums(self, features: Features) -> Floats:
        from rosenblatt.loops.passes import machine_scores

        n = len(self.weights)
        sums, room = np.empty((features.n_rows, n)), np.empty((PAIR, n))
        weights = oriented(self.weights, features.rows)
        machine_scores(features.rows, weights, np.arange(features.n_rows), np.arange(n), room, sums)
        return sums
