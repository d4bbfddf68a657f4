"""Fit a soft-margin classifier: pose the problem of each class against the rest, choose a solver, and solve."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import require_finite
from rosenblatt.data.reals import shown
from rosenblatt.exceptions import LabelError, ParameterError, WeightError
from rosenblatt.loops.losses import Loss, SquaredHinge
from rosenblatt.margins.active_set import active_set
from rosenblatt.margins.coordinate import coordinate
from rosenblatt.margins.descent import DescentSettings, padded, stochastic
from rosenblatt.margins.interior import interior
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.objective import Bias, Objective
from rosenblatt.margins.soft_margin import Limits, SoftSolution, Solver, minimise
from rosenblatt.typing import Floats

SolverName: TypeAlias = Literal["auto", "interior", "coordinate", "sgd"]

DIRECT = 2000  # "auto" uses matrices of the smaller of rows and features up to this size
QUICK = 2e9  # multiplications of one such solve that take less than a second
LARGEST = 15_000  # a larger matrix, of over 2 GB, is refused


@dataclass(frozen=True)
class SoftPlan:
    """What to minimise, and how."""

    loss: Loss  # φ and its margin
    l1: float
    l2: float
    bias: bool  # whether there is one; it is not penalised
    solver: SolverName
    descent: DescentSettings  # of "sgd"; its seed is also that of "coordinate"
    limits: Limits = field(default_factory=Limits)


def fit(batch: Batch, class_weight: Floats | None, plan: SoftPlan, start: Floats | None) -> list[SoftSolution]:
    """Solve for each hyperplane of `sides`."""
    require_finite(batch)
    batch, cost = costs(batch, class_weight)
    matrix = Matrix(batch, bias=plan.bias)
    began = time.perf_counter()
    found: list[SoftSolution] = []
    for y in sides(batch):
        problem = Objective(matrix, y, cost, plan.loss, plan.l1, plan.l2, "free" if plan.bias else None)
        begin = np.zeros(matrix.width)
        if start is not None:
            begin = start.reshape(-1, matrix.d + 1)[len(found), : matrix.width].copy()
        limits = plan.limits
        if limits.max_time is not None:
            limits = replace(limits, max_time=limits.max_time - (time.perf_counter() - began))
        found.append(minimise(problem, begin, choose(problem, plan), limits))
        if found[-1].interruption is not None:
            break
    return found


def costs(batch: Batch, class_weight: Floats | None) -> tuple[Batch, Floats]:
    """Return the rows of positive weight, and the cost of a unit of loss of each."""
    weight = np.ones(batch.n_rows) if batch.weight is None else batch.weight
    classes = np.ones(len(batch.classes)) if class_weight is None else class_weight
    counts = (weight > 0.0) & (classes > 0.0)[batch.codes]
    if not counts.any():
        raise WeightError("sample_weight times class_weight is zero for every row. Give some of them weight.")
    weight = weight / weight.max()  # so that the sum of the largest floats is finite
    # Row weights enter the mean: a row of weight 2 counts as two rows. Class weights multiply the loss.
    cost = weight / weight.sum() * classes[batch.codes]
    cost = np.maximum(cost, np.finfo(float).tiny)  # costs that underflow stay positive
    return (batch, cost) if counts.all() else (batch.take(counts), cost[counts])


def sides(batch: Batch) -> Sequence[Floats]:
    """Return the side of every row, −1.0 or +1.0, for each hyperplane: one for two classes, else one per class."""
    batch.require_classes()
    present = np.bincount(batch.codes, minlength=len(batch.classes)) > 0
    if not present.all():
        raise LabelError(
            f"No row of class {shown(batch.classes[np.argmin(present)])} has a weight above 0. Give some of its "
            "rows weight, or leave the class out of y."
        )
    if len(batch.classes) == 2:
        return [batch.signs.astype(np.float64)]
    return [np.where(batch.codes == code, 1.0, -1.0) for code in range(len(batch.classes))]


def choose(problem: Objective, plan: SoftPlan) -> Solver:
    """Return the solver named by the plan; for "auto", the one that suits the data."""
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
        return partial(active_set, tol=plan.limits.tol)
    if smaller > LARGEST:
        raise ParameterError(
            f"X has {matrix.n} rows and {matrix.d} features, too many of both for the solver that this penalty "
            "needs. Use penalty='l2' or 'l1', or solver='sgd'."
        )
    return interior


def squared_hinge_minimum(
    batch: Batch, C: float, *, pad: float = 1.0, limits: Limits | None = None
) -> SoftSolution:
    """Minimise ‖v‖² + C Σ max(0, 1 − y_i <v, x̃_i>)² over padded vectors v; the bias is penalised like the rest.

    Parameters
    ----------
    batch : Batch
        Rows of two classes; their weights, if any, multiply C.
    C : float
        The cost of a unit of squared loss.
    pad : float
        The last coordinate of the padded rows x̃_i; 0 means no padding.
    limits : Limits or None
        When to end; by default at a gap of 10⁻⁸ of the value.

    Returns
    -------
    SoftSolution
        The best v found, with the bias last if there is a pad.

    Examples
    --------
    >>> from rosenblatt.data.batch import as_batch
    >>> found = squared_hinge_minimum(as_batch([[-1.0], [1.0]], [0, 1]), C=1.0, limits=Limits(1e-12))
    >>> found.theta.round(6), round(found.value, 6), found.gap < 1e-6
    (array([0.666667, 0.      ]), 0.666667, True)
    """
    weight = np.ones(batch.n_rows) if batch.weight is None else batch.weight
    if not weight.all():
        counts = weight > 0.0
        batch, weight = batch.take(counts), weight[counts]
    matrix = Matrix(batch, bias=pad != 0.0, pad=pad)
    bias: Bias = "penalised" if matrix.bias else None
    problem = Objective(matrix, batch.signs.astype(np.float64), C * weight, SquaredHinge(), 0.0, 2.0, bias)
    smaller = min(matrix.n, matrix.width)
    solver: Solver = interior
    if smaller > DIRECT or float(matrix.n) * matrix.width * smaller > QUICK:  # limits apply between steps
        solver = partial(coordinate, rng=np.random.default_rng(0))
    return minimise(problem, np.zeros(matrix.width), solver, limits or Limits(1e-8))


def weights(solutions: Sequence[SoftSolution], d: int) -> Floats:
    """Return the padded weights of all solutions: one vector, or one row for each class."""
    rows = [padded(each.theta, d) for each in solutions]
    return rows[0] if len(rows) == 1 else np.stack(rows)
