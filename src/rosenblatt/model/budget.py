"""A limit on the rows of a kernel expansion: which row a new one replaces, or how the others represent it."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.model.kernel_state import KernelState
from rosenblatt.typing import Floats

Policy: TypeAlias = Literal["oldest", "random", "projection"]
POLICIES = ("oldest", "random", "projection")

RIDGE = 2.0**-20
"""Added to the diagonal of the Gram matrix, as a share of it, because rows may nearly repeat each other."""
NOVEL = 8.0 * RIDGE
"""A row with a smaller share outside the span of the others is represented by them, even if there is room."""


class Budget(NamedTuple):
    """How many rows to keep, and what to do with one more.

    A new row replaces the oldest one (the forgetron), replaces one drawn at random (the randomized budget
    perceptron), or is projected on the span of the others (the projectron), whose coefficients then change f as
    nearly as possible in the same way.
    """

    size: int  # the largest number of rows
    policy: Policy
    seed: int = 0  # the seed of the draws

    def gives_way(self, state: KernelState, before: int) -> int:
        """Return the place of the row to replace after a mistake that `before` visits preceded."""
        if self.policy == "oldest":
            return int(np.argmin(state.born))
        from rosenblatt.loops.shuffle import seed_of_pass

        return int(seed_of_pass(np.uint64(self.seed), np.uint64(before))) % self.size


def shares(state: KernelState, k: Floats, own: float) -> tuple[Floats, float]:
    """Return the coefficients d that best represent a new row, and the square of the rest.

    d solves (K + ridge) d = k, where k are the kernel values of the row with the rows kept, and `own` that with
    itself. The products are summed in a fixed order, like all that training decides by.
    """
    from rosenblatt.loops.passes import scores

    n = len(k)
    assert state.inverse is not None, "a projection needs the inverse"
    padded = np.zeros(state.inverse.shape[1] + 1)
    padded[:n] = k
    d = np.empty(len(state.inverse))
    scores(state.inverse, padded, d)
    missed = np.empty(1)
    scores(np.ascontiguousarray(d[None]), padded, missed)
    return d[:n], own * (1.0 + RIDGE) - float(missed[0])


def extend_inverse(state: KernelState, d: Floats, missed: float) -> None:
    """Extend the inverse by one more row, which the others represent by d up to `missed`."""
    n = len(d)
    inverse = state.inverse
    assert inverse is not None, "a projection needs the inverse"
    inverse[:n, :n] += np.multiply.outer(d, d) / missed
    inverse[n, :n] = inverse[:n, n] = -d / missed
    inverse[n, n] = 1.0 / missed
