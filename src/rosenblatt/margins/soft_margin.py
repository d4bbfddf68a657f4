"""Run a solver of soft-margin problems, bound the distance from the minimum, and decide when and why to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from rosenblatt.interrupts import stop_if_interrupted
from rosenblatt.loops.losses import Hinge, Logistic
from rosenblatt.margins.objective import Iterate, Objective
from rosenblatt.typing import Floats

Reason: TypeAlias = Literal["tol", "plateau", "max_iter", "max_time", "stalled", "no_minimum", "interrupted"]
Solver: TypeAlias = Callable[[Objective, Floats], Iterator[Iterate] | Generator[Iterate, None, Any]]

TINY = 1e-12  # an objective of this share of that of zero weights counts as zero: the gap need not be smaller
ROUNDING = 1e-14  # the share of the objective added to every gap for the rounding of both its ends
WIDTHS = (0.0, 0.01, 0.1, 1.0)


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

    tol: float = 1e-4
    max_iter: int = 1000
    max_time: float | None = None


def minimise(problem: Objective, start: Floats, solver: Solver, limits: Limits) -> SoftSolution:
    """Run a solver until the gap is small enough or a limit is met; Ctrl-C returns the best weights so far."""
    return _Pursuit(problem, start, limits).follow(solver)


class _Pursuit:
    """The best weights and the best bound so far."""

    def __init__(self, problem: Objective, start: Floats, limits: Limits) -> None:
        self.problem, self.limits = problem, limits
        self.began = time.perf_counter()
        self.theta = start
        self.at_zero = problem.value(np.zeros_like(start), np.full(problem.matrix.n, problem.loss.margin))
        self.value = problem.value(start, problem.shortfall(start))
        self.bound = 0.0
        self.n_iter = self.visits = 0
        self.unjudged: Iterate | None = None

    def follow(self, solver: Solver) -> SoftSolution:
        """Run the solver until there is a reason to end."""
        interruption = None
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # only finite values are kept
            try:
                reason = self.run(iter(solver(self.problem, self.theta)))
            except KeyboardInterrupt as caught:
                reason, interruption = "interrupted", caught
            if self.unjudged is not None:
                self.judge(self.unjudged)
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

    def run(self, iterates: Iterator[Iterate]) -> Reason:
        """Judge iterates; return the reason to end."""
        while True:
            try:
                iterate = next(iterates)
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
            limit = self.limits.max_time
            if limit is not None and time.perf_counter() - self.began >= limit:
                return "max_time"

    def judge(self, iterate: Iterate) -> bool:
        """Keep better weights and bounds; return whether the objective has no minimum."""
        problem, theta = self.problem, iterate.theta
        t = problem.shortfall(theta) if iterate.t is None else iterate.t
        value = problem.value(theta, t)
        if value <= self.value or iterate.replaces:
            self.theta, self.value = theta, value
        for alpha in [iterate.alpha] if iterate.alpha is not None else self.guesses(t):
            self.bound = max(self.bound, problem.lower_bound(alpha, theta))
        self.unjudged = None
        # Longer weights in a separating direction bring the logistic loss arbitrarily close to zero.
        unpenalised = problem.l1 == 0.0 and problem.l2 == 0.0
        return unpenalised and isinstance(problem.loss, Logistic) and bool((t < 0.0).all())

    def guesses(self, t: Floats) -> Iterator[Floats]:
        """Yield dual weights for a solver without any: the slopes, and at a corner values between them."""
        problem = self.problem
        if not isinstance(problem.loss, Hinge):
            yield problem.slopes(t)
            return
        for width in WIDTHS:
            near = width * problem.loss.margin
            yield problem.cost * (np.clip(t / near + 0.5, 0.0, 1.0) if near else t > 0.0)

    def close_enough(self) -> bool:
        """Whether the gap is within the tolerance."""
        return self.gap <= self.limits.tol * max(self.value, TINY * self.at_zero)

    @property
    def gap(self) -> float:
        """The distance from the value down to the bound, plus rounding errors."""
        if self.bound <= 0.0:  # no objective is below 0
            return self.value
        return max(0.0, self.value - self.bound) + ROUNDING * self.value
