"""At most so many rows: which one gives way to a new one, or what of it the others can take over."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.model.kernel_state import KernelState
from rosenblatt.typing import Floats

Policy: TypeAlias = Literal["oldest", "random", "projection"]
POLICIES = ("oldest", "random", "projection")

RIDGE = 2.0**-20
"""Added to the diagonal of the Gram matrix, as a share of it, because rows may almost repeat others."""
NOVEL = 8.0 * RIDGE
"""The share of a row that must lie outside of the others' span, or they take it over even where there is room."""


class Budget(NamedTuple):
    """How many rows to keep, and what to do with one more.

    Attributes
    ----------
    size : int
        The most rows.
    policy : {"oldest", "random", "projection"}
        The oldest gives way (as in the forgetron), one drawn at random does (the randomized budget perceptron), or
        the new row is projected on the span of those kept (the projectron): their coefficients change such that f
        changes as it would have, as nearly as they can.
    seed : int
        Of the draws.
    """

    size: int
    policy: Policy
    seed: int = 0

    def gives_way(self, state: KernelState, before: int) -> int:
        """Return the place of the row that gives way to one of a mistake made after `before` visits."""
        if self.policy == "oldest":
            return int(np.argmin(state.born))
        from rosenblatt.loops.shuffle import seed_of_pass

        return int(seed_of_pass(np.uint64(self.seed), np.uint64(before))) % self.size


def shares(state: KernelState, k: Floats, own: float) -> tuple[Floats, float]:
    """Return the coefficients d that come nearest to a new row, and the square of what they miss.

    d solves (K + ridge) d = k, where k are the kernel values of the row with those kept; `own` is that with
    itself. The products are summed in a fixed order, as all that training decides by.
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
    """Let the inverse be that of one more row, of which d is as near as the others come."""
    n = len(d)
    inverse = state.inverse
    assert inverse is not None, "a projection needs the inverse"
    inverse[:n, :n] += np.multiply.outer(d, d) / missed
    inverse[n, :n] = inverse[:n, n] = -d / missed
    inverse[n, n] = 1.0 / missed
