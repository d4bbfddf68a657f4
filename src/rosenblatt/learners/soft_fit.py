"""From a batch and a plan to soft-margin solutions: which problem, which solver, one class against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import require_finite
from rosenblatt.exceptions import LabelError, ParameterError
from rosenblatt.learners.columns import columns
from rosenblatt.learners.coordinate import coordinate
from rosenblatt.learners.descent import Descent, padded, stochastic
from rosenblatt.learners.interior import interior
from rosenblatt.learners.matrix import Matrix
from rosenblatt.learners.objective import Objective
from rosenblatt.learners.soft_margin import Limits, Solution, Solver, minimise
from rosenblatt.loops.losses import Loss
from rosenblatt.typing import Floats

SolverName: TypeAlias = Literal["auto", "interior", "coordinate", "sgd"]

DIRECT = 2000
"""The fewer of rows and features up to which "auto" solves by matrices of that size."""
LARGEST = 15_000
"""The size above which such a matrix, of 2 GB, is refused."""


@dataclass(frozen=True)
class SoftPlan:
    """What to minimise, and how.

    Attributes
    ----------
    loss : Hinge, SquaredHinge or Logistic
        φ and its margin.
    l1, l2 : float
        The penalties.
    bias : bool
        Whether there is one; it is not penalised.
    solver : {"auto", "interior", "coordinate", "sgd"}
        The method.
    descent : Descent
        How "sgd" goes about it; its seed is that of "coordinate" too.
    limits : Limits
        When to end.
    """

    loss: Loss
    l1: float
    l2: float
    bias: bool
    solver: SolverName
    descent: Descent
    limits: Limits = field(default_factory=Limits)


def fit(batch: Batch, class_weight: Floats | None, plan: SoftPlan, start: Floats | None) -> list[Solution]:
    """Solve for each side that is asked for, each solution's weights padded with a bias."""
    require_finite(batch)
    weight = np.ones(batch.n_rows) if batch.weight is None else batch.weight
    mean = weight.sum()  # of the rows: a row of weight 2 is two rows, and class weights multiply the loss
    cost = weight / mean if class_weight is None else weight * class_weight[batch.codes] / mean
    counts = cost > 0.0
    if not counts.all():
        batch, cost = batch.take(counts), cost[counts]
    matrix = Matrix(batch, bias=plan.bias)
    found = []
    for at, y in enumerate(sides(batch)):
        if abs(y.sum()) == y.size:
            raise LabelError(
                "Rows of one class only have any weight, but two classes are needed to tell apart. "
                "Give rows of another class weight."
            )
        problem = Objective(matrix, y, cost, plan.loss, plan.l1, plan.l2, "free" if plan.bias else None)
        begin = np.zeros(matrix.width) if start is None else start.reshape(-1, matrix.d + 1)[at, : matrix.width]
        solution = minimise(problem, begin, choose(problem, plan), plan.limits)
        found.append(solution)
        if solution.interruption is not None:
            break
    return found


def sides(batch: Batch) -> Sequence[Floats]:
    """Return the side of every row, −1.0 or +1.0, for each hyperplane to be found."""
    return [batch.signs.astype(np.float64)]


def choose(problem: Objective, plan: SoftPlan) -> Solver:
    """Return the solver that the plan names, or the one that suits the data."""
    matrix = problem.matrix
    smaller = min(matrix.n, matrix.width)
    name = plan.solver
    if name == "auto":
        name = "coordinate" if smaller > DIRECT and problem.l2 > 0.0 and problem.l1 == 0.0 else "interior"
    if name == "sgd":
        return partial(stochastic, how=plan.descent)
    if name == "coordinate":
        if problem.l2 == 0.0 or problem.l1 > 0.0:
            raise ParameterError("solver='coordinate' needs penalty='l2'. Use 'auto', which takes every penalty.")
        return partial(coordinate, rng=np.random.default_rng(plan.descent.seed))
    if problem.l1 > 0.0 and smaller > DIRECT:
        return partial(columns, tol=plan.limits.tol)
    if smaller > LARGEST:
        raise ParameterError(
            f"X has {matrix.n} rows and {matrix.d} features, too many of both for the solver that this penalty "
            "needs. Use penalty='l2' or 'l1', or solver='sgd'."
        )
    return interior


def weights(solutions: Sequence[Solution], d: int) -> Floats:
    """Return the padded weights of all solutions: one vector, or one row for each class."""
    rows = [padded(each.theta, d) for each in solutions]
    return rows[0] if len(rows) == 1 else np.stack(rows)
