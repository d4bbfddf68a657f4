"""Expansions in a kernel that tell classes apart (S-35)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features, require_finite
from rosenblatt.exceptions import ShapeError
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.values import Kernel
from rosenblatt.model.kernel_state import KernelState
from rosenblatt.model.linear import overflow
from rosenblatt.model.scheme import Scheme
from rosenblatt.typing import Floats, Ints

ROWS = 2048  # predicted side by side
SUPPORT = 512  # of whose rows kernel values are held at once


def points_of(features: Features) -> Points:
    """Return rows as kernels take them."""
    return Points(features.rows, features.n_rows, features.n_features)


def expansion_scores(kernel: Kernel, support: Points, w: Floats, points: Points, s: Floats) -> None:
    """Add Σ_i w_mi k(x_i, x) to ``s[m]`` for every point x, one x_i after the other in the order of the support.

    Always this order: as training summed if it made one mistake on each row, and the same in blocks of any size.
    """
    from rosenblatt.loops.kernel import add_scores

    for first in range(0, points.n_rows if support.n_rows else 0, ROWS):
        last = min(first + ROWS, points.n_rows)
        block = points.part(first, last)
        if kernel.streams:
            block = block.like(support)
        room = np.ascontiguousarray(s[:, first:last])
        for at in range(0, support.n_rows, SUPPORT):
            part = support.part(at, min(at + SUPPORT, support.n_rows))
            add_scores(w, at, kernel.gram(part, block), room)
        s[:, first:last] = room


@dataclass(frozen=True, eq=False, slots=True)
class KernelModel:
    """f(x) = Σ α_i k(x_i, x) + b, once or for several machines, and what its values mean.

    Attributes
    ----------
    kernel : Kernel
        k, with numbers for all it takes from data.
    support : Points
        The rows x_i; none of them has α_i = 0 in every machine.
    alpha : ndarray, shape (n_support,) or (n_machines, n_support)
        The signed coefficients: α_i y_i in S-35's words.
    intercept : float or ndarray
        b, or one a machine.
    scheme, classes, zero
        As in `LinearModel`.
    """

    kernel: Kernel
    support: Points
    alpha: Floats
    intercept: Any
    scheme: Scheme
    classes: NDArray[Any]
    zero: int = -1

    @classmethod
    def of(
        cls,
        state: KernelState,
        kernel: Kernel,
        scheme: Scheme,
        classes: NDArray[Any],
        zero: int,
        *,
        last: bool = False,
    ) -> KernelModel:
        """Return the hypothesis of a state, or the last one if asked; rows without weight are left out."""
        weights = state.last() if last else state.hypothesis()
        held = np.flatnonzero(np.atleast_2d(weights[..., : state.support.count]).any(axis=0))
        b = float(weights[-1]) if weights.ndim == 1 else weights[:, -1]
        alpha = np.ascontiguousarray(weights[..., held])
        return cls(kernel, state.support.points.take(held), alpha, b, scheme, classes, zero)

    def scores(self, features: Features) -> Floats:
        """Return f(x) for every row and machine."""
        if features.n_features != self.support.n_features:
            raise ShapeError(
                f"X has {features.n_features} features, but the model was trained on {self.support.n_features}. "
                "Pass the same features in the same order as in training."
            )
        require_finite(features)  # a kernel may take infinity for a point far away
        w = np.atleast_2d(self.alpha)
        s = np.zeros((len(w), features.n_rows))
        expansion_scores(self.kernel, self.support, w, points_of(features), s)
        s += np.atleast_1d(self.intercept)[:, None]
        finite = np.isfinite(s).all(axis=0)
        if not finite.all():
            raise overflow(f"row {int(np.argmin(finite))} of X")
        return s[0] if self.alpha.ndim == 1 else np.ascontiguousarray(s.T)

    def decision(self, features: Features) -> Floats:
        """Return for every row what its label is chosen by: f(x), or one number a class."""
        return self.scheme.decision(self.scores(features))

    def codes(self, features: Features) -> Ints:
        """Return the class of every row, as a position in `classes`."""
        return self.scheme.choose(self.decision(features), self.zero)

    def error(self, batch: Batch) -> float:
        """Return the share of rows whose label is predicted wrong."""
        return float(np.mean(self.codes(batch) != batch.codes))

    def predict(self, features: Features) -> NDArray[Any]:
        """Return the label of every row."""
        return self.classes[self.codes(features)]
