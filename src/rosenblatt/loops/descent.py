"""Loops that minimise soft-margin losses: stochastic subgradient descent and dual coordinate ascent.

Descent steps against the slope of one row's loss on each visit. Weights are stored as ``scale · v``, so that
shrinking all of them (ℓ₂) costs one product; the bias, ``v[-1]``, is neither scaled nor shrunk. All weights owe
the ℓ₁ penalty all the time, but it is collected from a weight only when a row touches it, and from all weights at
the end of a pass (the cumulative penalty of Tsuruoka, Tsujii and Ananiadou 2009). It moves no weight across zero.

Averaging needs one more vector: with A the sum of the scales so far, the sum of all hypotheses is ``A v − u``,
where u holds every change of v times the A before it.

Ascent gives one row on each visit the dual weight that is best while all others stay.

Losses as values: each is a function φ of the shortfall t = margin − y f.

================  ==========================  ==========  =========================
loss              φ(t)                        margin      φ*(u), the conjugate
================  ==========================  ==========  =========================
`Hinge`           max(0, t)                   1 (hinge),  0 for 0 ≤ u ≤ 1
                                              any ≥ 0
`SquaredHinge`    max(0, t)²                  1           u²/4 for u ≥ 0
`Logistic`        log(1 + exp(t))             0           u log u + (1−u) log(1−u)
================  ==========================  ==========  =========================

All are convex, not negative, and do not fall as t grows. The perceptron's loss max(0, −y f) is a hinge with margin
0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import types

from rosenblatt.loops._jit import Kind, inline, jit, verb
from rosenblatt.loops.layout import CSR, Order, Rows
from rosenblatt.loops.order import mixed_seed, shuffle
from rosenblatt.loops.rows import add, dot, look_ahead
from rosenblatt.loops.sparse import ONE
from rosenblatt.typing import Floats, Reals

MOST_STEPS = 100
SETTLED_SHARE = 1e-14


class Hinge(NamedTuple):
    """max(0, margin − y f)."""

    margin: float = 1.0


class SquaredHinge(NamedTuple):
    """max(0, margin − y f)²."""

    margin: float = 1.0


class Logistic(NamedTuple):
    """log(1 + exp(margin − y f))."""

    margin: float = 0.0


Loss: TypeAlias = Hinge | SquaredHinge | Logistic


def _is(loss: Kind, kind: type) -> bool:
    return isinstance(loss, types.BaseNamedTuple) and loss.instance_class is kind


@verb
def value(loss: Kind, t: Kind) -> Any:
    """Return φ(t)."""
    if _is(loss, Hinge):
        return lambda loss, t: max(0.0, t)
    if _is(loss, SquaredHinge):
        return lambda loss, t: max(0.0, t) ** 2
    return lambda loss, t: max(0.0, t) + math.log1p(math.exp(-abs(t)))


@verb
def slope(loss: Kind, t: Kind) -> Any:
    """Return φ'(t); at the corner of the hinge it is 0, the least of the slopes there.

    With margin 0 it is 1 there, the largest: a score of zero is a mistake of the perceptron.
    """
    if _is(loss, Hinge):
        return lambda loss, t: 1.0 if t > 0.0 or (t == 0.0 and loss.margin == 0.0) else 0.0
    if _is(loss, SquaredHinge):
        return lambda loss, t: 2.0 * max(0.0, t)

    def logistic(loss: Loss, t: float) -> Any:
        e = math.exp(-abs(t))
        return (1.0 if t > 0.0 else e) / (1.0 + e)

    return logistic


@verb
def has_ends(loss: Kind) -> Any:
    """Return whether dual weights stay at an end of their range; those of the logistic loss never reach one."""
    ends = not _is(loss, Logistic)
    return lambda loss: ends


@verb
def best_dual(loss: Kind, a: Kind, c: Kind, t: Kind, q: Kind) -> Any:
    """Return the dual weight α that maximises α t' − c φ*(α/c) for one row while the others stay.

    `a` is its present value and `t` its present shortfall, which falls by q for each unit of α:
    t' = t − q (α − a)/2.
    """
    if _is(loss, Hinge):
        return lambda loss, a, c, t, q: min(c, max(0.0, a + t / q)) if q > 0.0 else (c if t > 0.0 else 0.0)
    if _is(loss, SquaredHinge):
        return lambda loss, a, c, t, q: max(0.0, (t + q * a) / (q + 0.5 / c))

    def logistic(loss: Loss, a: float, c: float, t: float, q: float) -> Any:
        # Solve log(α/(c−α)) + q (α − a) = t, whose left side grows, by Newton's steps in s = log(α/(c−α)), so that
        # α = c/(1 + exp(−s)) stays between 0 and c. The bracket of s is halved instead if a step would leave it or
        # is more than half as long as the last one, because Newton's steps may jump to and fro for long.
        low, high = min(t, t + q * a - q * c), t + q * a
        s = min(high, max(low, math.log(a / (c - a)) if 0.0 < a < c else t))
        alpha, last = a, high - low
        for _ in range(MOST_STEPS):
            e = math.exp(-abs(s))
            share = (1.0 if s > 0.0 else e) / (1.0 + e)
            alpha = c * share
            residual = s + q * (alpha - a) - t
            if residual > 0.0:
                high = s
            else:
                low = s
            moved = s - residual / (1.0 + q * c * share * (1.0 - share))
            if abs(moved - s) <= SETTLED_SHARE * (1.0 + abs(s)):
                break
            if not (low < moved < high and 2.0 * abs(moved - s) <= last):
                moved = 0.5 * (low + high)
            last = abs(moved - s)
            s = moved
        return alpha

    return logistic


LEAST_SCALE = 1e-9
SCALE, OWED, WEIGHT, VISITS = 0, 1, 2, 3  # places in `Weights.numbers`


class Constant(NamedTuple):
    """η_t = eta0."""

    eta0: float


class InverseScaling(NamedTuple):
    """η_t = eta0 / t^power."""

    eta0: float
    power: float


class Optimal(NamedTuple):
    """η_t = 1 / (alpha (start + t − 1)), the best rate for a loss with curvature `alpha`."""

    alpha: float
    start: float


class Given(NamedTuple):
    """The step sizes of the visits `first`, `first` + 1, …."""

    steps: Floats
    first: int


Schedule: TypeAlias = Constant | InverseScaling | Optimal | Given


@verb
def rate(schedule: Kind, t: Kind) -> Any:
    """Return the step size η_t of visit t = 1, 2, …."""
    if not isinstance(schedule, types.BaseNamedTuple):
        return None
    if schedule.instance_class is Constant:
        return lambda schedule, t: schedule.eta0
    if schedule.instance_class is InverseScaling:
        return lambda schedule, t: schedule.eta0 / t**schedule.power
    if schedule.instance_class is Given:
        return lambda schedule, t: schedule.steps[t - schedule.first]
    return lambda schedule, t: 1.0 / (schedule.alpha * (schedule.start + t - 1.0))


class Regularisation(NamedTuple):
    """The factors of ‖w‖₁ and ½‖w‖² in the objective, and 1 or 0 for a bias or none."""

    l1: float
    l2: float
    bias: float


class Weights(NamedTuple):
    """The state of descent; all arrays change in place."""

    v: Floats  # the weights divided by the scale, and the bias
    paid: Floats  # the ℓ₁ penalty collected from each weight so far
    # the changes of v, each times the A before it; for the bias, times the visits before it. Empty if not
    # averaging
    u: Floats
    total: Floats  # the sum of all hypotheses up to the last pass
    numbers: Floats  # the scale, the ℓ₁ penalty owed so far, A, and the visits of this pass

    @classmethod
    def begin(cls, w: Floats, *, average: bool) -> Weights:
        """Start at padded weights."""
        empty = np.zeros(w.size if average else 0)
        return cls(w.copy(), np.zeros(w.size), empty, empty.copy(), np.array([1.0, 0.0, 0.0, 0.0]))


@inline
def collect_one(j: int, s: Weights) -> None:
    """Move one weight towards zero by what it owes, never across."""
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


@verb
def collect(X: Kind, i: Kind, s: Kind) -> Any:
    """Collect the ℓ₁ penalty that the weights of row i owe."""
    if isinstance(X, types.Array):

        def dense(X: Reals, i: int, s: Weights) -> Any:
            for j in range(X.shape[1]):
                if X[i, j] != 0.0:  # as a sparse row does, so that both give the same result
                    collect_one(j, s)

        return dense

    def sparse(X: CSR, i: int, s: Any) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            if X.data[p] != 0.0:
                collect_one(X.indices[p], s)

    return sparse


@inline
def fold(s: Weights) -> None:
    """Set the scale back to 1 and update the sum of hypotheses."""
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
    X: Rows,
    pull: Floats,
    order: Order,
    loss: Loss,
    schedule: Schedule,
    penalty: Regularisation,
    s: Weights,
    t0: int,
) -> tuple[float, int]:
    """Visit the rows of `order`; return the sum of their weighted losses and the number of visits.

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


class Costs(NamedTuple):
    """What `ascend` needs besides the rows."""

    cost: Floats  # of each row's loss
    q: Floats  # how much a row's score moves with its dual weight: ‖x‖²/l2 plus the bias
    l2: float
    bias: float  # how much the bias moves with a dual weight
    seed: int  # of the orders


LOW, HIGH, ACTIVE, WORST, SPAN, PASSES = range(6)  # places in the state of `ascend`


@jit
def ascend(
    X: Rows, y: Floats, order: Order, loss: Loss, costs: Costs, alpha: Floats, w: Floats, state: Floats
) -> int:
    """Visit rows in random orders, improving `alpha` and with it ``w = Σ α_i y_i x_i / l2`` in place.

    Rows at an end of their range that are far from leaving it are set aside; ``order[:active]`` are the others. A
    row is far if its shortfall is beyond the least and the largest violation of the last pass (Hsieh et al. 2008).
    Passes are made until the `SPAN` of the violations of one is at most `WORST`, or n visits have been made.
    Returns the visits; `PASSES` is the number of passes so far, which seeds the orders.
    """
    visits, n = 0, order.size
    active = int(state[ACTIVE])
    while visits < n:
        state[PASSES] += 1.0
        shuffle(order[:active], mixed_seed(costs.seed, int(state[PASSES])))
        least, largest = np.inf, -np.inf
        k = 0
        while k < active:
            i = order[k]
            after = order[min(k + 1, active - 1)]
            t = loss.margin - y[i] * (dot(X, i, w, after) + w[-1])
            visits += 1
            a = best_dual(loss, alpha[i], costs.cost[i], t, costs.q[i])
            step = a - alpha[i]
            if step == 0.0 and (t < state[LOW] or t > state[HIGH]) and has_ends(loss):
                active -= 1
                order[k], order[active] = order[active], i
                continue
            violation = step * costs.q[i] if step != 0.0 else 0.0
            least, largest = min(least, violation), max(largest, violation)
            if step != 0.0:
                alpha[i] = a
                add(X, i, y[i] * step / costs.l2, w)
                w[-1] += y[i] * step * costs.bias
            k += 1
        state[LOW] = least if least < 0.0 else -np.inf
        state[HIGH] = largest if largest > 0.0 else np.inf
        state[ACTIVE] = active
        state[SPAN] = largest - least
        if state[SPAN] <= state[WORST]:
            break
    return visits


@jit
def bend(X: Rows, curvature: Floats, pad: float, v: Floats, out: Floats) -> None:
    """Add Σ curvature_i <v, x̃_i> x̃_i to `out`, in one reading of the rows; x̃ is x with `pad` as its last value.

    Rows without curvature are not read.
    """
    last = curvature.size - 1
    for i in range(curvature.size):
        if curvature[i] == 0.0:
            continue
        c = curvature[i] * (dot(X, i, v, min(i + 1, last)) + pad * v[-1])
        add(X, i, c, out)
        out[-1] += pad * c
