"""Stochastic subgradient descent (S-17): each visit steps against the slope of one row's loss.

Weights are kept as ``scale · v``, so that shrinking all of them (ℓ₂) costs one product; the bias, ``v[-1]``, is
neither scaled nor shrunk. The ℓ₁ penalty is due to all weights all the time but is collected from a weight only
when a row touches it, and at the end of a pass from all (the cumulative penalty of Tsuruoka, Tsujii and
Ananiadou, 2009): no weight is ever taken across zero.

Averaging needs one more vector: with A the sum of the scales so far, the sum of all hypotheses is ``A v − u``,
where u holds every change of v times the A before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from rosenblatt.loops._jit import VERB, inline, jit
from rosenblatt.loops.layout import Rows
from rosenblatt.loops.losses import Loss, slope, value
from rosenblatt.loops.rows import add, dot, look_ahead
from rosenblatt.loops.schedules import Schedule, rate
from rosenblatt.loops.sparse import ONE
from rosenblatt.typing import Floats

LEAST_SCALE = 1e-9
SCALE, OWED, WEIGHT, VISITS = 0, 1, 2, 3  # places in `Weights.numbers`


class Regularisation(NamedTuple):
    """What ‖w‖₁ and ½‖w‖² cost, and 1 or 0 for a bias or none."""

    l1: float
    l2: float
    bias: float


class Weights(NamedTuple):
    """Where descent stands; all arrays change in place.

    Attributes
    ----------
    v : ndarray
        The weights divided by the scale, and the bias.
    paid : ndarray
        The ℓ₁ penalty collected from each weight so far.
    u : ndarray
        The changes of v, each times A before it; of the bias, times the visits before it. Empty if not averaging.
    total : ndarray
        The sum of all hypotheses up to the last pass.
    numbers : ndarray
        The scale, the ℓ₁ penalty due so far, A, and the visits of this pass.
    """

    v: Floats
    paid: Floats
    u: Floats
    total: Floats
    numbers: Floats

    @classmethod
    def begin(cls, w: Floats, *, average: bool) -> Weights:
        """Start at padded weights."""
        empty = np.zeros(w.size if average else 0)
        return cls(w.copy(), np.zeros(w.size), empty, empty.copy(), np.array([1.0, 0.0, 0.0, 0.0]))


def collect(X: Rows, i: int, s: Weights) -> None:
    """Collect the ℓ₁ penalty due from the weights that row i touches."""
    raise TypeError("called from compiled loops only")


@inline
def collect_one(j: Any, s: Weights) -> None:
    """Collect from one weight: towards zero, never across."""
    scale, owed = s.numbers[SCALE], s.numbers[OWED]
    w = scale * s.v[j]
    if w > 0.0:
        left = max(0.0, w - (owed + s.paid[j]))
    elif w < 0.0:
        left = min(0.0, w + (owed - s.paid[j]))
    else:
        return
    s.paid[j] += left - w
    if s.u.size:
        s.u[j] += s.numbers[WEIGHT] * ((left - w) / scale)
    s.v[j] = left / scale


@overload(collect, **VERB)  # type: ignore[untyped-decorator]
def _collect(X: Any, i: Any, s: Any) -> Any:
    if isinstance(X, types.Array):

        def dense(X: Any, i: Any, s: Any) -> Any:
            for j in range(X.shape[1]):
                if X[i, j] != 0.0:  # as a sparse row would, which is what makes both the same
                    collect_one(j, s)

        return dense

    def sparse(X: Any, i: Any, s: Any) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            if X.data[p] != 0.0:
                collect_one(X.indices[p], s)

    return sparse


@inline
def fold(s: Weights) -> None:
    """Bring the scale back to 1 and the sum of hypotheses up to date."""
    scale, weight = s.numbers[SCALE], s.numbers[WEIGHT]
    if s.u.size:
        for j in range(s.v.size - 1):
            s.total[j] += weight * s.v[j] - s.u[j]
        s.total[-1] += s.numbers[VISITS] * s.v[-1] - s.u[-1]
        s.u[:] = 0.0
    for j in range(s.v.size - 1):
        s.v[j] *= scale
    s.numbers[SCALE], s.numbers[WEIGHT], s.numbers[VISITS] = 1.0, 0.0, 0.0


@jit
def descend(
    X: Rows, pull: Floats, order: Any, loss: Loss, schedule: Schedule, penalty: Regularisation, s: Weights, t0: int
) -> tuple[float, int]:
    """Visit the rows of `order`; return the sum of their weighted losses, and the visits made.

    `pull` is y times the row's weight; `t0` visits came before. Fewer visits than rows mean that the next score
    was not finite.
    """
    total = 0.0
    for k in range(order.size):
        after = look_ahead(X, order, k)
        i = order[k]
        f = s.numbers[SCALE] * dot(X, i, s.v, after) + s.v[-1]
        if f - f != 0.0:
            return total, k
        t = loss.margin - (f if pull[i] > 0.0 else -f)
        total += abs(pull[i]) * value(loss, t)
        eta = rate(schedule, t0 + k + 1)
        step = eta * slope(loss, t) * pull[i]
        s.numbers[SCALE] *= max(0.0, 1.0 - eta * penalty.l2)
        if s.numbers[SCALE] < LEAST_SCALE:
            fold(s)
        if step != 0.0:
            c = step / s.numbers[SCALE]
            add(X, i, c, s.v)
            s.v[-1] += step * penalty.bias
            if s.u.size:
                add(X, i, c * s.numbers[WEIGHT], s.u)
                s.u[-1] += step * penalty.bias * s.numbers[VISITS]
        if penalty.l1 > 0.0:
            s.numbers[OWED] += eta * penalty.l1
            collect(X, i, s)
        s.numbers[WEIGHT] += s.numbers[SCALE]
        s.numbers[VISITS] += 1.0
    if penalty.l1 > 0.0:
        for j in range(s.v.size - 1):
            collect_one(j, s)
    fold(s)
    return total, order.size
