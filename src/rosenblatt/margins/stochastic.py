"""Subgradient descent as a solver, row by row or on all rows at once: step sizes, and when to end."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.loops.descent import (
    Constant,
    Given,
    InverseScaling,
    Optimal,
    Regularisation,
    Schedule,
    Weights,
    descend,
)
from rosenblatt.margins.objective import Iterate, Objective, losses, slopes
from rosenblatt.parameters import check_number
from rosenblatt.stopping import Tolerance
from rosenblatt.typing import Floats

Rate: TypeAlias = Literal["constant", "invscaling", "optimal", "adaptive"] | Callable[[int], float]

STEP_DIVISOR = 5.0  # "adaptive" divides its step by this
SMALLEST_STEP = 1e-6  # the smallest step of "adaptive"


@dataclass(frozen=True)
class DescentSettings:
    """The parameters of a descent."""

    learning_rate: Rate  # the name of the schedule of step sizes, or a function of the step's number from 1
    eta0: float
    power_t: float
    alpha: float
    average: bool  # whether the hypothesis is the average over all visits
    shuffle: bool  # whether each pass has a random order
    tol: float  # the mean loss of a pass must fall by more than this to count as progress
    patience: int  # passes without progress that end the descent, or make "adaptive" take smaller steps
    seed: int  # of the order


def stochastic(
    problem: Objective, start: Floats, how: DescentSettings
) -> Generator[Iterate, None, Literal["plateau"]]:
    """Yield one iterate per pass, until the loss of a pass no longer falls."""
    matrix = problem.matrix
    rng = np.random.default_rng(how.seed)
    # A step on one row stands for a step on the mean over all n of them.
    pull = problem.y * problem.cost * matrix.n
    penalty = Regularisation(problem.l1, problem.l2, float(matrix.bias))
    weights = Weights.begin(pad_bias(start, matrix.d), average=how.average)
    schedule = _schedule(problem, how)
    tolerance = Tolerance(how.tol, how.patience)
    order = np.arange(matrix.n)
    made = 0
    while True:
        if how.shuffle:
            order = rng.permutation(matrix.n)
        total, visits = descend(
            matrix.features.rows,
            pull,
            order,
            problem.loss,
            _given(how, made * matrix.n + 1, matrix.n) or schedule,
            penalty,
            weights,
            made * matrix.n,
        )
        made += 1
        w = weights.total / (made * matrix.n) if how.average else weights.v
        if visits < matrix.n or not np.isfinite(w).all():
            raise _overflowed(made)
        ends = tolerance.ends(total / matrix.n)
        if ends and how.learning_rate == "adaptive" and schedule[0] / STEP_DIVISOR > SMALLEST_STEP:
            schedule = Constant(schedule[0] / STEP_DIVISOR)
            tolerance, ends = Tolerance(how.tol, how.patience, tolerance.best), False
        judge = ends or made & (made - 1) == 0
        yield Iterate(w[: matrix.width].copy(), made=made, visits=made * matrix.n, judge=judge, replaces=True)
        if ends:
            return "plateau"


def batch(problem: Objective, start: Floats, how: DescentSettings) -> Generator[Iterate, None, Literal["plateau"]]:
    """Yield one iterate per step against the subgradient of the mean loss of all rows, until it falls no more."""
    matrix, d = problem.matrix, problem.matrix.d
    weight = problem.y * problem.cost * matrix.n
    theta, total = start.copy(), np.zeros_like(start)
    schedule = _schedule(problem, how)
    tolerance = Tolerance(how.tol, how.patience)
    t = problem.shortfall(theta)
    made = 0
    while True:
        ends = tolerance.ends(float(problem.cost @ losses(problem.loss, t)))
        if ends and how.learning_rate == "adaptive" and schedule[0] / STEP_DIVISOR > SMALLEST_STEP:
            schedule = Constant(schedule[0] / STEP_DIVISOR)
            tolerance, ends = Tolerance(how.tol, how.patience, tolerance.best), False
        made += 1
        eta = _step_size(_given(how, made, 1) or schedule, made)
        theta[:d] *= max(0.0, 1.0 - eta * problem.l2)
        theta += eta / matrix.n * matrix.combine(weight * slopes(problem.loss, t))
        if problem.l1:
            theta[:d] = np.sign(theta[:d]) * np.maximum(0.0, np.abs(theta[:d]) - eta * problem.l1)
        total += theta
        w = total / made if how.average else theta.copy()
        if not np.isfinite(w).all():
            raise _overflowed(made)
        t = problem.shortfall(theta)
        judge = ends or made & (made - 1) == 0 or not (t > 0.0).any()
        seen = None if how.average else t
        yield Iterate(w, seen, made=made, visits=made * matrix.n, judge=judge, replaces=True)
        if ends:
            return "plateau"


def _overflowed(made: int) -> TrainingOverflowError:
    return TrainingOverflowError(
        f"Descent overflowed in pass {made}: its steps are too long for these features. Scale them to about 1, "
        "lower eta0, or use the default solver, which needs neither."
    )


def pad_bias(theta: Floats, d: int) -> Floats:
    """Return weights with a bias as their last entry: 0 if they have none."""
    return theta if theta.size > d else np.append(theta, 0.0)


def _schedule(problem: Objective, how: DescentSettings) -> Constant | InverseScaling | Optimal:
    if how.learning_rate == "invscaling":
        return InverseScaling(how.eta0, how.power_t)
    if how.learning_rate != "optimal":  # of a function each step is asked for when it is made
        return Constant(how.eta0)
    # Bottou's rule for the first step: it moves a weight of typical size by no more than that size.
    typical = math.sqrt(1.0 / math.sqrt(how.alpha))
    steepest = float(slopes(problem.loss, np.array([problem.loss.margin + typical]))[0])
    return Optimal(how.alpha, max(1.0, steepest) / (typical * how.alpha))


def _given(how: DescentSettings, first: int, n: int) -> Given | None:
    """Return the next n step sizes of a function; None if the schedule has a name."""
    rate = how.learning_rate
    if isinstance(rate, str):
        return None
    steps = [rate(t) for t in range(first, first + n)]
    for t, step in enumerate(steps, first):
        check_number(f"learning_rate({t})", step, above=0)
    return Given(np.array(steps, np.float64), first)


def _step_size(schedule: Schedule, t: int) -> float:
    """Return the step size η_t of step t = 1, 2, …."""
    if isinstance(schedule, Given):
        return float(schedule.steps[t - schedule.first])
    if isinstance(schedule, InverseScaling):
        return float(schedule.eta0 / t**schedule.power)
    return schedule.eta0 if isinstance(schedule, Constant) else 1.0 / (schedule.alpha * (schedule.start + t - 1.0))
