"""Where training stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.loops.layout import Rows, oriented
from rosenblatt.loops.shrinking import Shrunk
from rosenblatt.typing import Floats


@dataclass(eq=False, slots=True)
class State:
    """All that training carries from one visit to the next.

    Attributes
    ----------
    w : ndarray, shape (n_features + 1,) or (n_machines, n_features + 1)
        The weights, the bias last (S-5). Training changes them in place.
    u : ndarray of the same shape, or None
        When averaging, each correction so far times the visits before it, summed.
    visits : int
        The visits made so far.
    shrunk : Shrunk or None
        With a penalty, how far the weights have shrunk since they were written to `w` (`rosenblatt.loops.decay`).
    """

    w: Floats
    u: Floats | None = None
    visits: int = 0
    shrunk: Shrunk | None = None

    @classmethod
    def zero(cls, shape: tuple[int, ...], *, average: bool = False, shrinks: bool = False) -> State:
        """Return the start at the origin."""
        shrunk = Shrunk(np.array([1.0, 0.0]), np.zeros(shape)) if shrinks else None
        return cls(np.zeros(shape), np.zeros(shape) if average else None, shrunk=shrunk)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.w.shape[-1]) - 1

    @property
    def machines(self) -> Floats:
        """The weights as a matrix, a row a machine: a view, through which training changes them."""
        return np.atleast_2d(self.w)

    @property
    def shrunk_machines(self) -> Shrunk:
        """How far the weights have shrunk, a row a machine: views as well."""
        assert self.shrunk is not None, "only weights under a penalty shrink"
        return self.shrunk._replace(paid=np.atleast_2d(self.shrunk.paid))

    def copy(self) -> State:
        """Return a state that no longer shares its arrays with this one."""
        return self._each(lambda w: w.copy(order="K"))

    def orient(self, X: Rows) -> None:
        """Take the memory order in which the loops for `X` read weights."""
        self.w = oriented(self.w, X)
        self.u = None if self.u is None else oriented(self.u, X)
        if self.shrunk is not None:
            self.shrunk = self.shrunk._replace(paid=oriented(self.shrunk.paid, X))

    def become(self, other: State) -> None:
        """Take over the values of a state of the same shape."""
        np.copyto(self.w, other.w)
        if self.u is not None and other.u is not None:
            np.copyto(self.u, other.u)
        if self.shrunk is not None and other.shrunk is not None:
            np.copyto(self.shrunk.sums, other.shrunk.sums)
            np.copyto(self.shrunk.paid, other.shrunk.paid)
        self.visits = other.visits

    def last(self) -> Floats:
        """Return the weights after the last visit, bias last."""
        return self.w.copy(order="K") if self.shrunk is None else self.shrunk.weights(self.w)

    def hypothesis(self) -> Floats:
        """Return the weights to predict by, bias last: the last ones, or their average over the visits."""
        if self.u is None or self.visits == 0:
            return self.last()
        return self.w - self.u / self.visits

    def grown(self, n_features: int) -> State:
        """Return the same state over more features, the new ones with weight zero."""
        more = n_features - self.n_features
        return self._each(lambda w: np.insert(w, [self.n_features] * more, 0.0, axis=-1))

    def narrowed(self, n_features: int) -> State:
        """Return the same state over the first features only."""
        return self._each(lambda w: w[..., [*range(n_features), -1]])

    def for_rule(self, *, average: bool, shrinks: bool) -> State:
        """Return the state that training goes on from by a rule that averages, or shrinks weights, or neither.

        An average that begins now is over the visits from now on.
        """
        begins = average and self.u is None
        shrunk = self.shrunk
        if shrinks != (shrunk is not None):
            shrunk = Shrunk(np.array([1.0, 0.0]), np.zeros_like(self.w)) if shrinks else None
        return State(
            self.w if shrunk is self.shrunk else self.last(),
            np.zeros_like(self.w) if begins else self.u if average else None,
            0 if begins else self.visits,
            shrunk,
        )

    def mirrored(self) -> State:
        """Return the state that the opposite labels would have led to.

        Subtracting from zero, not negating, keeps a zero positive as training would have left it.
        """
        return self._each(lambda w: 0.0 - w)

    def unfolded(self) -> State:
        """Return the one machine of two classes as one vector for each of them.

        It is what comparing them directly from zero would have led to: a mistake adds to the one vector what it
        takes from the other.
        """
        return self._each(lambda w: np.stack([0.0 - w, w]))

    def with_class(self, code: int) -> State:
        """Return the same state with one more class, of weight zero, at position `code`."""
        return self._each(lambda w: np.insert(w, code, 0.0, axis=0))

    def _each(self, change: Callable[[Floats], Floats]) -> State:
        u = None if self.u is None else change(self.u)
        shrunk = self.shrunk and Shrunk(self.shrunk.sums.copy(), np.abs(change(self.shrunk.paid)))
        return State(change(self.w), u, self.visits, shrunk)


def overflowed(visits: int) -> TrainingOverflowError:
    """Return the error for weights or scores that outgrew floats on finite data."""
    return TrainingOverflowError(
        f"Training overflowed: a score or weight exceeds the largest float after {visits} visits, though X is "
        "finite. Scale the features down, or lower eta0 or the weights."
    )
