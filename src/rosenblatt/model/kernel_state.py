"""The state of training a kernel perceptron."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rosenblatt.loops.layout import Rows
from rosenblatt.model.state import State
from rosenblatt.model.support import Support
from rosenblatt.typing import Floats, Ints


class Kept(NamedTuple):
    """The scores of a training set, without the bias, for a fit that continues on the same rows.

    They are sums of steps in the order of training; summed again they would differ in their last bits.
    """

    digest: bytes
    scores: Floats


@dataclass(eq=False, slots=True)
class KernelState(State):
    """A state whose weights belong to rows instead of features: f(x) = Σ w_i k(x_i, x) + b.

    Weights beyond the number of rows, before the bias, are zero: room for later rows.
    """

    support: Support = field(default_factory=lambda: Support(0))  # the rows
    kept: Kept | None = None  # the scores of the rows it was trained on
    # the inverse Gram matrix of the rows, ridge included, where a budget projects on them
    inverse: Floats | None = None
    # for each row the number of visits before it was added
    born: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def empty(cls, n_machines: int | None, support: Support, *, average: bool) -> KernelState:
        """Return a state of zeros without rows; `n_machines` is None for two classes, which need one machine."""
        shape = (1,) if n_machines is None else (n_machines, 1)
        return cls(np.zeros(shape), np.zeros(shape) if average else None, support=support)

    @property
    def n_features(self) -> int:
        """The number of features of the rows."""
        return self.support.n_features

    @property
    def sums(self) -> Floats | None:
        """The sums for averaging as a matrix, one row for each machine."""
        return None if self.u is None else np.atleast_2d(self.u)

    def meet(self, X: Rows) -> Rows:
        """Return the rows as they are: they are not multiplied by these weights."""
        return X

    def copy(self) -> KernelState:
        """Return a state that shares no array with this one."""
        inverse = None if self.inverse is None else self.inverse.copy()
        copy = self._each(lambda w: w.copy())
        return replace(copy, support=self.support.copy(), inverse=inverse, born=self.born.copy())

    def become(self, other: State) -> None:
        """Take over the values of another state."""
        assert isinstance(other, KernelState)
        copy = other.copy()
        self.w, self.u, self.visits = copy.w, copy.u, copy.visits
        self.support, self.kept, self.inverse, self.born = copy.support, copy.kept, copy.inverse, copy.born

    def note_born(self, place: int) -> None:
        """Record when the row in a place was added."""
        if place == len(self.born):
            self.born = np.append(self.born, self.visits)
        self.born[place] = self.visits

    def make_room(self, rows: int) -> None:
        """Make room in the weights for some more rows."""
        room = self.w.shape[-1] - 1
        if self.support.count + rows > room:
            more = max(8, room, rows)
            self.w = np.insert(self.w, [room] * more, 0.0, axis=-1)
            self.u = None if self.u is None else np.insert(self.u, [room] * more, 0.0, axis=-1)

    def grown(self, n_features: int) -> KernelState:
        """Return the same state over rows with more features."""
        return replace(self.copy(), support=self.support.widened(n_features))

    def narrowed(self, n_features: int) -> KernelState:
        """Return the same state: features that no row has take no room."""
        return self.copy()

    def for_rule(self, *, average: bool, shrinks: bool) -> KernelState:
        """Return the state from which a rule that averages, or does not, continues."""
        begins, copy = average and self.u is None, self.copy()
        u = np.zeros_like(self.w) if begins else copy.u if average else None
        return replace(copy, u=u, visits=0 if begins else self.visits)

    def _each(self, change: Callable[[Floats], Floats]) -> KernelState:
        return replace(self, w=change(self.w), u=None if self.u is None else change(self.u))
