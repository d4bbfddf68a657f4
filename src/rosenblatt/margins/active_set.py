"""An active-set method for the ℓ₁ penalty, which leaves most weights at zero: solve with few features, add more.

A feature j can be left out while |v_j| ≤ l1, v = Σ α_i y_i x_i: zero is then its best weight. Each round solves
the problem over some features and adds those that break this condition. Its weights and dual weights are weights
of the whole problem, and their gap says when to end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rosenblatt.data.features import as_rows
from rosenblatt.margins.interior import interior
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.objective import Iterate, Objective
from rosenblatt.typing import Floats, Ints

FIRST = 100  # features of the first round
STEPS = 100  # the most steps of the inner method
CLOSE = 0.1  # the share of the wanted gap that inner problems are solved to


def active_set(problem: Objective, start: Floats, tol: float) -> Iterator[Iterate]:
    """Yield one iterate per round, each over more features."""
    d, made = problem.matrix.d, 0
    alpha = problem.slopes(problem.shortfall(np.zeros_like(start)))
    used: Ints = np.empty(0, np.int64)
    while True:
        slack = np.abs(problem.matrix.combine(alpha * problem.y)[:d])
        slack[used] = 0.0
        wanted = np.flatnonzero(slack > problem.l1)
        if made and not wanted.size:
            return
        most = max(FIRST, used.size)
        used = np.union1d(used, wanted[np.argsort(-slack[wanted], kind="stable")[:most]]).astype(np.int64)
        if not used.size:
            used = np.array([int(np.argmax(slack))])
        inner, alpha, steps = _solve(problem, used, CLOSE * tol)
        made += steps
        theta = np.zeros(problem.matrix.width)
        theta[used] = inner[: used.size]
        theta[d:] = inner[used.size :]
        yield Iterate(theta, alpha=alpha, made=made)


def _solve(problem: Objective, used: Ints, tol: float) -> tuple[Floats, Floats, int]:
    """Return weights and dual weights of the problem over some features, and the number of steps."""
    matrix = Matrix(as_rows(problem.matrix.X[:, used]), bias=problem.matrix.bias)
    inner = replace(problem, matrix=matrix)
    theta, alpha, bound = np.zeros(matrix.width), problem.cost * 0.0, 0.0
    steps = 0
    for iterate in interior(inner, theta):
        assert iterate.t is not None
        assert iterate.alpha is not None
        theta, alpha, steps = iterate.theta, iterate.alpha, iterate.made
        value = inner.value(theta, iterate.t)
        bound = max(bound, inner.lower_bound(alpha, theta))
        if value - bound <= tol * value or steps >= STEPS:
            break
    return theta, alpha, steps
