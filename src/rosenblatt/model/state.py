"""Where training stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.typing import Floats


@dataclass(eq=False, slots=True)
class State:
    """All that training carries from one visit to the next.

    Attributes
    ----------
    w : ndarray, shape (n_features + 1,)
        The weights, the bias last (S-5). Training changes them in place.
    u : ndarray, shape (n_features + 1,), or None
        When averaging, each correction so far times the visits before it, summed.
    visits : int
        The visits made so far.
    """

    w: Floats
    u: Floats | None = None
    visits: int = 0

    @classmethod
    def zero(cls, n_features: int, *, average: bool = False) -> State:
        """Return the start at the origin."""
        return cls(np.zeros(n_features + 1), np.zeros(n_features + 1) if average else None)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.w) - 1

    def copy(self) -> State:
        """Return a state that no longer shares its arrays with this one."""
        return State(self.w.copy(), None if self.u is None else self.u.copy(), self.visits)

    def become(self, other: State) -> None:
        """Take over the values of a state of the same shape."""
        np.copyto(self.w, other.w)
        if self.u is not None and other.u is not None:
            np.copyto(self.u, other.u)
        self.visits = other.visits

    def hypothesis(self) -> Floats:
        """Return the weights to predict by, bias last: the last ones, or their average over the visits."""
        if self.u is None or self.visits == 0:
            return self.w.copy()
        return self.w - self.u / self.visits

    def grown(self, n_features: int) -> State:
        """Return the same state over more features, the new ones with weight zero."""
        return State(
            _grown(self.w, n_features), None if self.u is None else _grown(self.u, n_features), self.visits
        )

    def narrowed(self, n_features: int) -> State:
        """Return the same state over the first features only."""
        kept = [*range(n_features), -1]
        return State(self.w[kept], None if self.u is None else self.u[kept], self.visits)

    def mirrored(self) -> State:
        """Return the state that the opposite labels would have led to.

        Subtracting from zero, not negating, keeps a zero positive as training would have left it.
        """
        return State(0.0 - self.w, None if self.u is None else 0.0 - self.u, self.visits)


def _grown(padded: Floats, n_features: int) -> Floats:
    grown = np.zeros(n_features + 1)
    grown[: len(padded) - 1] = padded[:-1]
    grown[-1] = padded[-1]
    return grown


def overflowed(visits: int) -> TrainingOverflowError:
    """Return the error for weights or scores that outgrew floats on finite data."""
    return TrainingOverflowError(
        f"Training overflowed: a score or weight exceeds the largest float after {visits} visits, though X is "
        "finite. Scale the features down, or lower eta0 or the weights."
    )
