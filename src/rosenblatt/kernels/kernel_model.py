"""Models that are kernel expansions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.kernel_state import NOT_OF_A_SET, NOVEL, Budget, KernelState, extend_inverse, shares
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.values import Kernel
from rosenblatt.learning.linear import ClassModel, Scheme, overflow
from rosenblatt.rows.features import Features, require_finite, require_width
from rosenblatt.rows.memory import require_memory
from rosenblatt.typing import Floats

# A kernel expansion that scores rows one at a time and learns from mistakes.


class Expansion:
    """f(x) = Σ α_i k(x_i, x) + b over rows that are added and, under a budget, replaced.

    The kernel is resolved, and the state changes in place. Without a budget all rows are kept.
    """

    def __init__(self, kernel: Kernel, state: KernelState, budget: Budget | None) -> None:
        self.kernel, self.state, self.budget = kernel, state, budget
        if budget is not None and len(state.born) < state.support.count:
            # Without a budget the visits were not recorded, but the rows are in order.
            state.born = np.arange(-state.support.count, 0)
        if budget is not None and budget.policy == "projection" and state.inverse is None:
            require_memory(
                f"A projection on {budget.size:,} support vectors",
                24 * budget.size**2,
                "Choose a smaller budget, or budget_policy='oldest'.",
            )
            state.inverse = np.zeros((budget.size, budget.size))
            self._rebuild_inverse()

    def scores(self, x: Points) -> tuple[Floats, Floats]:
        """Return Σ α_i k(x_i, x) of each machine as a column, and the values k(x_i, x), for one row."""
        from rosenblatt.kernels.dual_loop import add_scores

        state = self.state
        s = np.zeros((len(state.machines), 1))
        if not state.support.count:
            return s, np.empty((0, 1))
        k = self.kernel.gram(state.support.points, x)
        add_scores(state.machines, 0, k, s)
        return s, k

    def sum_anew(self, points: Points, scores: Floats) -> None:
        """Replace the scores of points by their sums in the order of the support, as prediction makes them."""
        scores[:] = 0.0
        weights = np.ascontiguousarray(self.state.machines)
        expansion_scores(self.kernel, self.state.support.points, weights, points, scores)

    def take(self, x: Points, k: Floats, c: Floats, beta: float, number: int = NOT_OF_A_SET) -> None:
        """Add c_m k(x, ·) + c_m β to each machine m, for a mistake on the next visit.

        `k` are the kernel values of x with the rows kept. A row of the training set that is kept already, as its
        number shows, gets no second place.
        """
        state = self.state
        w, u, before = state.machines, state.sums, state.visits
        w[:, -1] += c * beta
        if u is not None:
            u[:, -1] += c * before * beta
        place = self._known(number)
        if place is None and self.budget is not None and self.budget.policy == "projection":
            place = self._project(x, k[:, 0], c, number)
            if place is None:
                return
        elif place is None:
            place = self._place(x, number)
        w, u = state.machines, state.sums
        w[:, place] += c
        if u is not None:
            u[:, place] += c * before

    def _known(self, number: int) -> int | None:
        if number == NOT_OF_A_SET:
            return None
        found = np.flatnonzero(self.state.support.ids == number)
        return int(found[0]) if len(found) else None

    def _place(self, x: Points, number: int) -> int:
        """Return a place for a new row, with weights of zero."""
        state, budget = self.state, self.budget
        if budget is None or state.support.count < budget.size:
            state.make_room(1)
            place = state.support.append(x, number)
        else:
            place = budget.gives_way(state, state.visits)
            state.support.replace(place, x, number)
            state.machines[:, place] = 0.0
            if state.sums is not None:
                state.sums[:, place] = 0.0
        if budget is not None:
            state.note_born(place)
        return place

    def _project(self, x: Points, k: Floats, c: Floats, number: int) -> int | None:
        """Project a new row on the rows kept, or return its place if there is room and it is unlike them."""
        state, budget = self.state, self.budget
        assert budget is not None
        own = float(self.kernel.diagonal(x)[0])
        d, missed = shares(state, k, own)
        if missed > NOVEL * own and state.support.count < budget.size:
            extend_inverse(state, d, missed)
            return self._place(x, number)
        state.machines[:, : len(d)] += np.multiply.outer(c, d)
        if state.sums is not None:
            state.sums[:, : len(d)] += np.multiply.outer(c * state.visits, d)
        return None

    def _rebuild_inverse(self) -> None:
        """Compute the inverse for rows from before there was a budget."""
        state = self.state
        points = state.support.points
        for n in range(points.n_rows):
            x = points.part(n, n + 1)
            k = self.kernel.gram(points.part(0, n), x)[:, 0] if n else np.empty(0)
            own = float(self.kernel.diagonal(x)[0])
            d, missed = shares(state, k, own)
            extend_inverse(state, d, max(missed, NOVEL * own, np.finfo(np.float64).tiny))


ROWS_AT_ONCE = 2048  # rows predicted side by side
SUPPORT_ROWS_AT_ONCE = 512  # support rows whose kernel values are held at once


def points_of(features: Features) -> Points:
    """Return rows as the points of a kernel."""
    return Points(features.rows, features.n_rows, features.n_features)


def expansion_scores(kernel: Kernel, support: Points, w: Floats, points: Points, s: Floats) -> None:
    """Add Σ_i w_mi k(x_i, x) to ``s[m]`` for every point x, in the order of the support.

    This order is the same in blocks of any size, and that of training if it made one mistake on each row.
    """
    from rosenblatt.kernels.dual_loop import add_scores

    for first in range(0, points.n_rows if support.n_rows else 0, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, points.n_rows)
        block = points.part(first, last)
        if kernel.streams:
            block = block.like(support)
        room = np.ascontiguousarray(s[:, first:last])
        for at in range(0, support.n_rows, SUPPORT_ROWS_AT_ONCE):
            part = support.part(at, min(at + SUPPORT_ROWS_AT_ONCE, support.n_rows))
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
            raise overflow(int(np.argmin(finite)))
        return s[0] if self.alpha.ndim == 1 else np.ascontiguousarray(s.T)

    def kernel_values(self, features: Features) -> Floats:
        """Return k(x_i, x) of one row with each row of the support: the factors that `scores` adds up."""
        points = points_of(features)
        if not self.support.n_rows:
            return np.empty(0)
        values: Floats = self.kernel.gram(
            self.support, points.like(self.support) if self.kernel.streams else points
        )
        return values[:, 0].copy()

    def decision(self, features: Features) -> Floats:
        """Return the decision values of every row: f(x), or one number for each class."""
        return self.scheme.decision(self.scores(features))
