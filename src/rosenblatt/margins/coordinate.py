"""Dual coordinate ascent for the ℓ₂ penalty: the solver for data with many rows and many features.

With l2 > 0 the weights are ``w = Σ α_i y_i x_i / l2``. Improving the α_i of one row costs one dot product and one
update, like a perceptron's visit (Hsieh et al. 2008; for the logistic loss Yu et al. 2011).

A free bias requires Σ α_i y_i = 0, which single steps cannot keep. The method of multipliers reaches it: the bias
is ``b = b_k + Σ α_i y_i / ρ``, as if (ρ/2)(b − b_k)² were added to the objective, and b_k moves to b after each
pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rosenblatt.loops.descent import Costs, ascend
from rosenblatt.loops.losses import Logistic
from rosenblatt.margins.objective import Iterate, Objective
from rosenblatt.typing import Floats

JUDGED = 0.1  # a pass is judged when this share of all passes was made since the last judged one


def coordinate(problem: Objective, start: Floats, rng: np.random.Generator) -> Iterator[Iterate]:
    """Yield one iterate per pass."""
    matrix, y, l2 = problem.matrix, problem.y, problem.l2
    squares = matrix.squares()
    move = {"free": float(problem.cost @ squares / problem.cost.sum()) / l2, "penalised": matrix.pad**2 / l2}
    bias = move[problem.bias] if problem.bias is not None else 0.0
    costs = Costs(problem.cost, squares / l2 + bias, l2, bias)
    alpha = 0.5 * problem.cost if isinstance(problem.loss, Logistic) else np.zeros(matrix.n)
    w = np.zeros(matrix.d + 1)
    center, made, judged = 0.0, 0, 0
    while True:
        sums = matrix.combine(alpha * y)  # computed again in each pass, so that rounding does not accumulate
        w[: matrix.d] = sums[: matrix.d] / l2
        if problem.bias == "free":
            center += bias * sums[-1] / matrix.pad
        w[-1] = center + bias * sums[-1] / matrix.pad if problem.bias is not None else 0.0
        ascend(matrix.features.rows, y, rng.permutation(matrix.n), problem.loss, costs, alpha, w)
        made += 1
        due = made - judged > JUDGED * made
        if due:
            judged = made
        theta = w[: matrix.width].copy()
        if matrix.bias:
            theta[-1] /= matrix.pad  # the loop adds w[-1] itself to every score
        yield Iterate(theta, alpha=alpha.copy() if due else None, made=made, judge=due)
