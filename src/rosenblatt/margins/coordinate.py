"""Dual coordinate ascent for the ℓ₂ penalty: the solver for data with many rows and many features.

With l2 > 0 the weights are ``w = Σ α_i y_i x_i / l2``. Improving the α_i of one row costs one dot product and one
update, like a perceptron's visit (Hsieh et al. 2008; for the logistic loss Yu et al. 2011).

Most dual weights soon stay at an end of their range: their rows are set aside. A round visits the other rows until
they are settled, or for some time. Then the scores of all rows say which ones are far from leaving their ends, and
how large the gap is likely to be.

A free bias requires Σ α_i y_i = 0, which single steps cannot keep. The method of multipliers reaches it: the bias
is ``b = b_k + Σ α_i y_i / ρ``, as if (ρ/2)(b − b_k)² were added to the objective, and b_k moves to b whenever the
rows are settled. It begins at the side of the more costly class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rosenblatt.loops.descent import ACTIVE, HIGH, LOW, SPAN, WORST, Costs, Hinge, Logistic, SquaredHinge, ascend
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.objective import Iterate, Objective, fenchel_gaps
from rosenblatt.typing import Floats, Ints

RHO_SHARE = 0.01  # 1/ρ, as a share of the mean square of the rows: more would make rows wait for each other
WANTED_FALL, RHO_FACTOR = 0.3, 3.0  # where Σ α_i y_i has not fallen to this share, 1/ρ grows by this factor
FIRST_WORST = 0.1  # the violations, as a share of the margin or of 1, at which rows count as settled at first
# Dual weights of the logistic loss at the start, as shares of what the best bias alone would have
FIRST_DUAL_SHARE = 1e-3
SETTLED_FACTOR = 0.3  # the factor of them from then on
# Visits of a round, in numbers of all rows: settled rows go on, others end
MIN_ROUND_PASSES, MAX_ROUND_PASSES = 0.5, 4.0
MAX_SETTLINGS = 5  # or a round ends when its rows have been settled so many times
# Within a round, iterates are judged after this share of all visits: a run may end before the round
JUDGING_VISITS_SHARE = 0.3


def coordinate(problem: Objective, start: Floats, seed: int) -> Iterator[Iterate]:
    """Yield iterates after about as many visits as there are rows; some are judged, and all between rounds."""
    matrix, y, l2, n = problem.matrix, problem.y, problem.l2, problem.matrix.n
    squares = matrix.squares
    slack = RHO_SHARE * float(problem.cost @ squares / problem.cost.sum()) or 1.0
    move = {"free": slack / l2, "penalised": matrix.pad**2 / l2, None: 0.0}[problem.bias]
    free = problem.bias == "free"
    imbalance = np.inf
    alpha, center = np.zeros(n), float(np.sign(problem.cost @ y)) if free else 0.0
    if isinstance(problem.loss, Logistic):  # no dual weight is 0, and the best bias alone is the log of the odds
        share = float(problem.cost[y > 0.0].sum() / problem.cost.sum())
        alpha = FIRST_DUAL_SHARE * problem.cost * np.where(y > 0.0, 1.0 - share, share)
        center = math.log(share / (1.0 - share)) if free else 0.0
    order = np.arange(n)
    worst = FIRST_WORST * (problem.loss.margin or 1.0)
    state, w = np.zeros(6), np.zeros(matrix.d + 1)
    state[ACTIVE], state[LOW], state[HIGH] = n, -np.inf, np.inf
    visits = judged = 0
    while True:
        w[: matrix.d] = matrix.combine(alpha * y)[: matrix.d] / l2  # so that rounding does not accumulate
        w[-1] = center + move * float(alpha @ y)
        if visits:
            t = problem.shortfall(_theta(w, matrix))
            yield _evaluated(problem, w, t, alpha, visits)
            order, judged = _set_aside(problem, alpha, t, worst, state), visits
        before = visits
        for _ in range(MAX_SETTLINGS):
            costs = Costs(problem.cost, squares / l2 + move, l2, move, seed)
            state[WORST], state[SPAN] = worst, np.inf
            while state[SPAN] > worst and visits - before < MAX_ROUND_PASSES * n:
                visits += ascend(matrix.features.rows, y, order, problem.loss, costs, alpha, w, state)
                if visits - judged > JUDGING_VISITS_SHARE * visits:
                    judged = visits
                    t = problem.shortfall(_theta(w, matrix))
                    yield _evaluated(problem, w, t, alpha, visits)
                else:
                    yield Iterate(_theta(w, matrix), alpha=alpha.copy(), made=-(-visits // n), judge=False)
            if state[SPAN] > worst:
                break
            worst *= SETTLED_FACTOR
            if free:
                total = float(alpha @ y)
                center += move * total
                if abs(total) > WANTED_FALL * imbalance:
                    move = min(RHO_FACTOR * move, slack / (RHO_SHARE * l2))
                imbalance = abs(total)
                w[-1] = center + move * total
            if visits - before >= MIN_ROUND_PASSES * n:
                break


def _theta(w: Floats, matrix: Matrix) -> Floats:
    """Return padded weights; the loop adds w[-1] itself to every score."""
    theta = w[: matrix.width].copy()
    if matrix.bias:
        theta[-1] /= matrix.pad
    return theta


def _evaluated(problem: Objective, w: Floats, t: Floats, alpha: Floats, visits: int) -> Iterate:
    """Return an iterate with the shortfalls of all rows, and the gap that they make likely."""
    likely = float(problem.cost @ fenchel_gaps(problem.loss, t, alpha / problem.cost))
    return Iterate(_theta(w, problem.matrix), t, alpha.copy(), -(-visits // problem.matrix.n), likely=likely)


def _set_aside(problem: Objective, alpha: Floats, t: Floats, worst: float, state: Floats) -> Ints:
    """Return an order that begins with the active rows, and set their number and limits for `ascend`.

    Rows at an end of their range are set aside if they are farther from leaving it than the others are from
    their best dual weights.
    """
    slope = t - alpha / (2.0 * problem.cost) if isinstance(problem.loss, SquaredHinge) else t
    low = alpha == 0.0
    high = alpha == problem.cost if isinstance(problem.loss, Hinge) else np.zeros(alpha.size, bool)
    violation = np.abs(np.where(low, np.maximum(slope, 0.0), np.where(high, np.minimum(slope, 0.0), slope)))
    largest = max(float(violation.max()), worst)
    aside = (low & (slope < -largest)) | (high & (slope > largest))
    state[ACTIVE], state[LOW], state[HIGH] = np.count_nonzero(~aside), -largest, largest
    return np.argsort(aside, kind="stable")
