"""Dual coordinate ascent for the ℓ₂ penalty: the solver for data with many rows and many features.

With l2 > 0 the weights are ``w = Σ α_i y_i x_i / l2``. Improving the α_i of one row costs one dot product and one
update, like a perceptron's visit (Hsieh et al. 2008; for the logistic loss Yu et al. 2011).

Most dual weights soon stay at an end of their range: `ascend` sets their rows aside, until the others are settled.

A free bias requires Σ α_i y_i = 0, which single steps cannot keep. The method of multipliers reaches it: the bias
is ``b = b_k + Σ α_i y_i / ρ``, as if (ρ/2)(b − b_k)² were added to the objective, and b_k moves to b whenever the
rows are settled. It begins at the side of the more costly class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rosenblatt.loops.descent import ACTIVE, HIGH, LOW, SPAN, WORST, Costs, ascend
from rosenblatt.loops.losses import Logistic
from rosenblatt.margins.objective import Iterate, Objective
from rosenblatt.typing import Floats

JUDGED = 0.3  # an iterate is judged when this share of all visits was made since the last judged one
SLACK = 0.01  # 1/ρ, as a share of the mean square of the rows: more would make rows wait for each other
FALLEN, LONGER = 0.3, 3.0  # where Σ α_i y_i has not fallen to this share, 1/ρ grows by this factor
FIRST_WORST = 0.1  # the violations, as a share of the margin or of 1, at which rows count as settled at first
SMALL = 1e-3  # dual weights of the logistic loss at the start, as shares of what the best bias alone would have
BETTER = 0.3  # the factor of them from then on


def coordinate(problem: Objective, start: Floats, seed: int) -> Iterator[Iterate]:
    """Yield iterates after about as many visits as there are rows, or where all rows are settled."""
    matrix, y, l2 = problem.matrix, problem.y, problem.l2
    squares = matrix.squares
    slack = SLACK * float(problem.cost @ squares / problem.cost.sum()) or 1.0
    move = {"free": slack / l2, "penalised": matrix.pad**2 / l2, None: 0.0}[problem.bias]
    imbalance = np.inf
    alpha, center = np.zeros(matrix.n), float(np.sign(problem.cost @ y))
    if isinstance(problem.loss, Logistic):  # no dual weight is 0, and the best bias alone is the log of the odds
        share = float(problem.cost[y > 0.0].sum() / problem.cost.sum())
        alpha = SMALL * problem.cost * np.where(y > 0.0, 1.0 - share, share)
        center = math.log(share / (1.0 - share))
    order = np.arange(matrix.n)
    worst = FIRST_WORST * (problem.loss.margin or 1.0)
    state, w = np.zeros(6), np.zeros(matrix.d + 1)
    visits = judged = 0
    while True:
        sums = matrix.combine(alpha * y)  # computed again each time, so that rounding does not accumulate
        w[: matrix.d] = sums[: matrix.d] / l2
        center = center + move * sums[-1] / matrix.pad if problem.bias == "free" else 0.0
        if problem.bias == "free" and abs(sums[-1]) > FALLEN * imbalance:
            move = min(LONGER * move, slack / (SLACK * l2))
        imbalance = abs(sums[-1])
        w[-1] = center + move * sums[-1] / matrix.pad if problem.bias is not None else 0.0
        costs = Costs(problem.cost, squares / l2 + move, l2, move, seed)
        state[LOW], state[HIGH], state[ACTIVE], state[WORST] = -np.inf, np.inf, matrix.n, worst
        state[SPAN] = np.inf
        while state[SPAN] > worst:
            visits += ascend(matrix.features.rows, y, order, problem.loss, costs, alpha, w, state)
            due = visits - judged > JUDGED * visits
            if due:
                judged = visits
            theta = w[: matrix.width].copy()
            if matrix.bias:
                theta[-1] /= matrix.pad  # the loop adds w[-1] itself to every score
            yield Iterate(theta, alpha=alpha.copy(), made=-(-visits // matrix.n), judge=due)
        worst *= BETTER
