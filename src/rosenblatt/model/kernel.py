"""Models that are kernel expansions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import Features, require_finite, require_width
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.values import Kernel
from rosenblatt.model.kernel_state import KernelState
from rosenblatt.model.linear import overflow
from rosenblatt.model.scheme import ClassModel, Scheme
from rosenblatt.typing import Floats

ROWS = 2048  # rows predicted side by side
SUPPORT = 512  # support rows whose kernel values are held at once


def points_of(features: Features) -> Points:
    """Return rows as the points of a kernel."""
    return Points(features.rows, features.n_rows, features.n_features)


def expansion_scores(kernel: Kernel, support: Points, w: Floats, points: Points, s: Floats) -> None:
    """Add Σ_i w_mi k(x_i, x) to ``s[m]`` for every point x, in the order of the support.

    This order is the same in blocks of any size, and that of training if it made one mistake on each row.
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
class KernelModel(ClassModel):
    """f(x) = Σ α_i k(x_i, x) + b for one or several machines, and how f becomes a class."""

    kernel: Kernel  # k, without parameters that depend on data
    support: Points  # the rows x_i; none of them has α_i = 0 in every machine
    # (n_support,) or (n_machines, n_support): the signed coefficients, which textbooks write as α_i y_i
    alpha: Floats
    intercept: Any  # b, one for each machine
    scheme: Scheme  # as in `LinearModel`
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
        """Return the model of a state, averaged unless `last`; rows without weight are left out."""
        weights = state.last() if last else state.hypothesis()
        held = np.flatnonzero(np.atleast_2d(weights[..., : state.support.count]).any(axis=0))
        b = float(weights[-1]) if weights.ndim == 1 else weights[:, -1]
        alpha = np.ascontiguousarray(weights[..., held])
        return cls(kernel, state.support.points.take(held), alpha, b, scheme, classes, zero)

    def scores(self, features: Features) -> Floats:
        """Return f(x) for every row and machine."""
        require_width(features, self.support.n_features)
        require_finite(features)  # a kernel may give infinity a finite value
        w = np.atleast_2d(self.alpha)
        s = np.zeros((len(w), features.n_rows))
        expansion_scores(self.kernel, self.support, w, points_of(features), s)
        s += np.atleast_1d(self.intercept)[:, None]
        finite = np.isfinite(s).all(axis=0)
        if not finite.all():
            raise overflow(f"row {int(np.argmin(finite))} of X")
        return s[0] if self.alpha.ndim == 1 else np.ascontiguousarray(s.T)

    def decision(self, features: Features) -> Floats:
        """Return the decision values of every row: f(x), or one number for each class."""
        return self.scheme.decision(self.scores(features))
