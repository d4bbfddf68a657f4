"""Soft-margin classifiers: pose the problem of each class, choose a solver, and run it until the gap is small."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from rosenblatt.exceptions import Given, LabelError, ParameterError, WeightError
from rosenblatt.loops.descent import Hinge, Logistic, Loss, SquaredHinge
from rosenblatt.loops.layout import CSR
from rosenblatt.margins.coordinate import coordinate
from rosenblatt.margins.interior import interior
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.newton import Newton, NewtonFirst
from rosenblatt.margins.objective import ROUNDING_SHARE, Bias, Deadline, Iterate, Objective
from rosenblatt.margins.stochastic import DescentSettings, batch, pad_bias, stochastic
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import as_rows, require_finite, show_value
from rosenblatt.stopping import stop_if_interrupted
from rosenblatt.typing import Floats, Ints

# An active-set method for the ℓ₁ penalty, which leaves most weights at zero: solve with few features, add more.
#
# A feature j can be left out while |v_j| ≤ l1, v = Σ α_i y_i x_i: zero is then its best weight. Each round solves
# the problem over some features and adds those that break this condition. Its weights and dual weights are weights
# of the whole problem, and their gap says when to end.

FIRST_FEATURES = 100  # features of the first round
MAX_INNER_STEPS = 100  # the most steps of the inner method
INNER_GAP_SHARE = 0.1  # the share of the wanted gap that inner problems are solved to


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
        most = max(FIRST_FEATURES, used.size)
        used = np.union1d(used, wanted[np.argsort(-slack[wanted], kind="stable")[:most]]).astype(np.int64)
        if not used.size:
            used = np.array([int(np.argmax(slack))])
        inner, alpha, steps = _solve(problem, used, INNER_GAP_SHARE * tol)
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
        if value - bound <= tol * value or steps >= MAX_INNER_STEPS:
            break
    return theta, alpha, steps


Reason: TypeAlias = Literal[
    "tol", "plateau", "max_iter", "max_time", "stalled", "no_minimum", "interrupted", "postponed"
]
Solver: TypeAlias = Callable[[Objective, Floats], Iterator[Iterate] | Generator[Iterate, None, Any]]
SolverName: TypeAlias = Literal["auto", "interior", "newton", "coordinate", "sgd", "batch"]

MAX_DIRECT_SIZE = 2000  # "auto" uses matrices of the smaller of rows and features up to this size
INTERIOR_TOL = 1e-7  # "auto" uses the interior-point method for a smaller tol
MAX_QUICK_PRODUCTS = 2e9  # multiplications of one such solve that take less than a second
MAX_MATRIX_SIZE = 15_000  # a larger matrix, of over 2 GB, is refused
# An objective of this share of that of zero weights counts as zero: the gap need not be smaller
ZERO_OBJECTIVE_SHARE = 1e-12
MAX_SPARSE_SHARE = 0.3  # the share of values that are not zero up to which dense rows are solved as sparse ones
WIDTHS = (0.0, 0.01, 0.1, 1.0)
GAP_FACTOR = 2.0  # the bound is computed where the gap is likely to be at most this times what is small enough
# Rows of all problems that may be postponed together: each takes a few numbers for every row
MAX_POSTPONED_ROWS = 2**23


@dataclass(frozen=True, eq=False)
class SoftSolution:
    """The best weights of a run."""

    theta: Floats  # padded weights
    value: float  # the objective there
    gap: float  # an upper bound on its distance from the minimum
    converged: bool  # whether the gap is within the tolerance
    n_iter: int  # steps, or passes
    reason: Reason  # why the run ended
    bounded: bool  # whether the gap comes from a dual bound above 0, not only from the objective being ≥ 0
    visits: int = 0  # visits to single rows, of a solver that steps at each visit
    interruption: KeyboardInterrupt | None = None  # the Ctrl-C that ended it, for the caller to raise again


@dataclass(frozen=True)
class Limits:
    """When to end: at a gap of `tol` times the objective, after `max_iter` steps, or after `max_time` seconds."""

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    spare: float = 0.0  # added to the gap that is small enough
    trifle: float = 0.0  # postpone an objective below this share of that of zero weights


@dataclass(frozen=True)
class SoftPlan:
    """What to minimise, and how."""

    loss: Loss  # φ and its margin
    l1: float
    l2: float
    bias: bool  # whether there is one; it is not penalised
    solver: SolverName
    descent: DescentSettings  # of "sgd" and "batch"; its seed is also that of "coordinate"
    limits: Limits = field(default_factory=Limits)


def fit(batch: Batch, class_weight: Floats | None, plan: SoftPlan, start: Floats | None) -> list[SoftSolution]:
    """Solve for each hyperplane of `sides`, the most costly positive class first; return them in order.

    The gaps of all hyperplanes together are at most `tol` times all objectives: what one leaves of its share, the
    next ones may use. An objective that has become tiny is postponed, because the others may leave more than all
    of it. The seconds left are divided equally between the hyperplanes left.
    """
    began = time.perf_counter()
    require_finite(batch)
    batch, cost = costs(mostly_zeros(batch), class_weight)
    matrix = Matrix(batch, bias=plan.bias)
    every, limits = sides(batch), plan.limits
    bias: Bias = "free" if plan.bias else None
    deadline = Deadline()
    found: dict[int, SoftSolution] = {}
    postponed: dict[int, _Pursuit] = {}
    solver: Solver | None = None
    spare = 0.0
    waiting = deque(sorted(range(len(every)), key=lambda at: -float(cost[every[at] > 0.0].sum())))
    while waiting:
        left, at = len(waiting), waiting.popleft()
        seconds = limits.max_time and (limits.max_time - (time.perf_counter() - began)) / left
        deadline.at = math.inf if seconds is None else time.perf_counter() + seconds
        own = replace(limits, max_time=seconds, spare=spare / left)
        if at in postponed:
            pursuit = postponed[at]
        else:
            begin = np.zeros(matrix.width)
            if start is not None:
                begin = start.reshape(-1, matrix.d + 1)[at, : matrix.width].copy()
            problem = Objective(matrix, every[at], cost, plan.loss, plan.l1, plan.l2, bias, deadline)
            solver = choose(problem, plan) if solver is None else solver
            pursuit = _Pursuit(problem, begin, solver)
            if (len(postponed) + 1) * matrix.n <= MAX_POSTPONED_ROWS:
                own = replace(own, trifle=limits.tol)
        found[at] = pursuit.follow(own)
        if found[at].interruption is not None:
            found |= {each: replace(found[each], reason="interrupted") for each in postponed}
            break
        if found[at].reason == "postponed":
            postponed[at] = pursuit
            waiting.append(at)
            continue
        postponed.pop(at, None)
        spare = max(0.0, spare + limits.tol * found[at].value - found[at].gap)
    return [found[at] for at in sorted(found)]


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


def mostly_zeros(batch: Batch) -> Batch:
    """Return the same rows, stored as sparse ones if few values of a dense array are not zero."""
    if isinstance(batch.rows, CSR) or np.count_nonzero(batch.rows) > MAX_SPARSE_SHARE * batch.rows.size:
        return batch
    at = np.flatnonzero(batch.rows)
    indices = (at % batch.n_features).astype(np.uint32)
    indptr = np.searchsorted(at, np.arange(batch.n_rows + 1) * batch.n_features).astype(np.uint32)
    rows = CSR(np.asarray(batch.rows.reshape(-1)[at], np.result_type(batch.rows, np.float32)), indices, indptr)
    return replace(batch, rows=rows)


def sides(batch: Batch) -> Sequence[Floats]:
    """Return the side of every row, −1.0 or +1.0, for each hyperplane: one for two classes, else one per class."""
    batch.require_classes()
    present = np.bincount(batch.codes, minlength=len(batch.classes)) > 0
    if not present.all():
        raise LabelError(
            f"No row of class {show_value(batch.classes[np.argmin(present)])} has a weight above 0. "
            "Give some of its "
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
        name = "interior"
        if (
            problem.l2 > 0.0
            and problem.l1 == 0.0
            and (smaller > MAX_DIRECT_SIZE or plan.limits.tol >= INTERIOR_TOL)
        ):
            name = "coordinate" if smaller > MAX_DIRECT_SIZE else "newton"
    if name in ("sgd", "batch"):
        return partial(stochastic if name == "sgd" else batch, how=plan.descent)
    if name in ("newton", "coordinate") and (problem.l2 == 0.0 or problem.l1 > 0.0):
        raise ParameterError(Given("solver", name) + " needs penalty='l2'. Use 'auto', which takes every penalty.")
    if name == "coordinate":
        return partial(coordinate, seed=plan.descent.seed)
    if name == "newton":
        return (
            NewtonFirst(plan.limits.tol, plan.descent.seed) if plan.solver == "auto" else Newton(plan.limits.tol)
        )
    if problem.l1 > 0.0 and smaller > MAX_DIRECT_SIZE:
        return partial(active_set, tol=plan.limits.tol)
    if smaller > MAX_MATRIX_SIZE:
        raise ParameterError(
            f"X has {matrix.n} rows and {matrix.d} features, too many of both for the solver that this penalty "
            "needs. Use penalty='l2' or 'l1', or solver='sgd'.",
            parameter="X",
        )
    return interior


def squared_hinge_minimum(
    batch: Batch, C: float, *, pad: float = 1.0, limits: Limits | None = None
) -> SoftSolution:
    """Minimise ‖v‖² + C Σ max(0, 1 − y_i <v, x̃_i>)² over padded vectors v; the bias is penalised like the rest.

    The weights of rows, if any, multiply C, and `pad` is the last coordinate of the padded rows x̃_i: 0 means no
    padding. By default the solver ends at a gap of 10⁻⁸ of the value.

    Examples
    --------
    >>> from rosenblatt.rows.batch import as_batch
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
    if (
        smaller > MAX_DIRECT_SIZE or float(matrix.n) * matrix.width * smaller > MAX_QUICK_PRODUCTS
    ):  # limits apply between steps
        solver = partial(coordinate, seed=0)
    return minimise(problem, np.zeros(matrix.width), solver, limits or Limits(1e-8))


def weights(solutions: Sequence[SoftSolution], d: int) -> Floats:
    """Return the padded weights of all solutions: one vector, or one row for each class."""
    rows = [pad_bias(each.theta, d) for each in solutions]
    return rows[0] if len(rows) == 1 else np.stack(rows)


def minimise(problem: Objective, start: Floats, solver: Solver, limits: Limits) -> SoftSolution:
    """Run a solver until the gap is small enough or a limit is met; Ctrl-C returns the best weights so far."""
    return _Pursuit(problem, start, solver).follow(limits)


class _Pursuit:
    """The best weights and the best bound so far."""

    def __init__(self, problem: Objective, start: Floats, solver: Solver) -> None:
        self.problem, self.limits = problem, Limits()
        self.iterates = iter(solver(problem, start))
        self.theta = start
        self.at_zero = problem.value(np.zeros_like(start), np.full(problem.matrix.n, problem.loss.margin))
        t = problem.shortfall(start)
        self.value, self.tied = problem.value(start, t), self.ties(t)
        self.bound = 0.0
        self.n_iter = self.visits = 0
        self.unjudged: Iterate | None = None

    def follow(self, limits: Limits) -> SoftSolution:
        """Run the solver until there is a reason to end, or on from where it was postponed."""
        self.limits, interruption = limits, None
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # only finite values are kept
            try:
                reason = self.run()
            except KeyboardInterrupt as caught:
                reason, interruption = "interrupted", caught
            if self.unjudged is not None:
                self.judge(replace(self.unjudged, likely=None))
            if self.problem.l1 > 0.0:
                self.round_to_zero()
        return SoftSolution(
            theta=self.theta,
            value=self.value,
            gap=self.gap,
            converged=self.close_enough() and reason != "no_minimum",
            n_iter=self.n_iter,
            reason=reason,
            bounded=self.bound > 0.0,
            visits=self.visits,
            interruption=interruption,
        )

    def run(self) -> Reason:
        """Judge iterates, at least one; return the reason to end."""
        began, limit = time.perf_counter(), self.limits.max_time
        if self.n_iter and self.close_enough():  # with what others have left since it was postponed
            return "tol"
        while limit is None or not self.n_iter or time.perf_counter() - began < limit:
            try:
                iterate = next(self.iterates)
            except StopIteration as end:  # the solver's reason, if it has one
                reason: Reason = end.value or "stalled"
                return reason
            stop_if_interrupted()
            self.n_iter, self.visits = iterate.made, iterate.visits
            self.unjudged = iterate
            if iterate.judge and self.judge(iterate):
                return "no_minimum"
            if self.close_enough():
                return "tol"
            if self.n_iter >= self.limits.max_iter:
                return "max_iter"
            if self.value < self.limits.trifle * self.at_zero:
                return "postponed"
        return "max_time"

    def judge(self, iterate: Iterate) -> bool:
        """Keep better weights and bounds; return whether the objective has no minimum."""
        problem, theta = self.problem, iterate.theta
        t = problem.shortfall(theta) if iterate.t is None else iterate.t
        value = problem.value(theta, t)
        if value <= self.value or iterate.replaces:
            self.theta, self.value, self.tied = theta, value, self.ties(t)
        if iterate.likely is None or iterate.likely <= GAP_FACTOR * self.enough():
            for alpha in [iterate.alpha] if iterate.alpha is not None else self.guesses(t):
                self.bound = max(self.bound, problem.lower_bound(alpha, theta))
            self.unjudged = None
        # Longer weights in a separating direction bring the logistic loss arbitrarily close to zero.
        unpenalised = problem.l1 == 0.0 and problem.l2 == 0.0
        return unpenalised and isinstance(problem.loss, Logistic) and bool((t < 0.0).all())

    def round_to_zero(self) -> None:
        """Set as many of the smallest weights to zero as do not raise the objective."""
        problem, d = self.problem, self.problem.matrix.d
        smallest = np.argsort(np.abs(self.theta[:d]) * problem.matrix.column_sizes[:d], kind="stable")
        fewest, most = 0, d  # so many can be zero; one more than `most` cannot
        while fewest < most:
            zeros = (fewest + most + 1) // 2
            theta = self.theta.copy()
            theta[smallest[:zeros]] = 0.0
            t = problem.shortfall(theta)
            value = problem.value(theta, t)
            if value <= self.value:
                self.theta, self.value, self.tied, fewest = theta, value, self.ties(t), zeros
            else:
                most = zeros - 1

    def guesses(self, t: Floats) -> Iterator[Floats]:
        """Yield dual weights for a solver without any: the slopes, and at a corner values between them."""
        problem = self.problem
        if not isinstance(problem.loss, Hinge):
            yield problem.slopes(t)
            return
        for width in WIDTHS:
            near = width * problem.loss.margin
            yield problem.cost * (np.clip(t / near + 0.5, 0.0, 1.0) if near else t > 0.0)

    def ties(self, t: Floats) -> bool:
        """Whether rows of no loss lie on the hyperplane, which is possible with margin 0 alone."""
        return self.problem.loss.margin == 0.0 and isinstance(self.problem.loss, Hinge) and bool((t == 0.0).any())

    def close_enough(self) -> bool:
        """Whether the gap is within the tolerance, and no row is a tie."""
        return not self.tied and self.gap <= self.enough()

    def enough(self) -> float:
        """Return the largest gap that is small enough."""
        return self.limits.tol * max(self.value, ZERO_OBJECTIVE_SHARE * self.at_zero) + self.limits.spare

    @property
    def gap(self) -> float:
        """The distance from the value down to the bound, plus rounding errors."""
        if self.bound <= 0.0:  # no objective is below 0
            return self.value
        return max(0.0, self.value - self.bound) + ROUNDING_SHARE * self.value
