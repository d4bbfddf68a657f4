"""The outputs of a network: their targets, the loss, and the classes they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.typing import Ints

Array = NDArray[Any]


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

    def targets(self, codes: Ints, dtype: Any) -> Array:
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
