"""Dual coordinate ascent for the ℓ₂ penalty: the solver for data with many rows and many features.

With l2 > 0 the weights are ``w = Σ α_i y_i x_i / l2``, so that visiting a row and improving its α_i alone costs
one dot product and one update, as a perceptron's visit does (Hsieh et al., 2008; for the logistic loss Yu et
al., 2011).

A free bias asks for Σ α_i y_i = 0, which no single step can keep. It is reached by the method of multipliers:
the bias is ``b = b_k + Σ α_i y_i / ρ``, as if (ρ/2)(b − b_k)² were added to the objective, and b_k moves to b
after each pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rosenblatt.loops.descent import Costs, ascend
from rosenblatt.loops.losses import Logistic
from rosenblatt.margins.iterate import Iterate
from rosenblatt.margins.objective import Objective
from rosenblatt.typing import Floats

JUDGED = 0.1  # a pass is judged if this share of passes has been made since the last one that was


def coordinate(problem: Objective, start: Floats, rng: np.random.Generator) -> Iterator[Iterate]:
    """Give one iterate a pass."""
    matrix, y, l2 = problem.matrix, problem.y, problem.l2
    squares = matrix.squares()
    move = {"free": float(problem.cost @ squares / problem.cost.sum()) / l2, "penalised": matrix.pad**2 / l2}
    bias = move[problem.bias] if problem.bias is not None else 0.0
    costs = Costs(problem.cost, squares / l2 + bias, l2, bias)
    alpha = 0.5 * problem.cost if isinstance(problem.loss, Logistic) else np.zeros(matrix.n)
    w = np.zeros(matrix.d + 1)
    center, made, judged = 0.0, 0, 0
    while True:
        sums = matrix.combine(alpha * y)  # made anew each pass, so that rounding does not gather
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
            theta[-1] /= matrix.pad  # the loop adds w[-1] to every score as it stands
        yield Iterate(theta, alpha=alpha.copy() if due else None, made=made, judge=due)
