"""Fitting a soft-margin classifier (S-23): run a solver, bound what is left, and know when and why to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from rosenblatt.interrupts import stop_if_interrupted
from rosenblatt.loops.losses import Hinge, Logistic
from rosenblatt.margins.iterate import Iterate
from rosenblatt.margins.objective import Objective
from rosenblatt.typing import Floats

Reason: TypeAlias = Literal["tol", "plateau", "max_iter", "max_time", "stalled", "no_minimum", "interrupted"]
Solver: TypeAlias = Callable[[Objective, Floats], Iterator[Iterate] | Generator[Iterate, None, Any]]

TINY = 1e-12
"""An objective this small beside that of zero weights counts as zero: the gap need not be smaller still."""
ROUNDING = 1e-14
"""Of the objective, what is added to every gap for the rounding of both its ends."""
WIDTHS = (0.0, 0.01, 0.1, 1.0)


@dataclass(frozen=True, eq=False)
class Solution:
    """The best of a run.

    Attributes
    ----------
    theta : ndarray
        Padded weights.
    value, gap : float
        The objective there, and a bound on how far it lies above its least value.
    converged : bool
        Whether the gap is within the tolerance.
    n_iter : int
        Steps, or passes, made.
    reason : str
        Why it ended.
    bounded : bool
        Whether the gap rests on a dual bound above 0, and not only on no objective being below 0.
    visits : int
        Visits to single rows, of a solver that steps at each.
    interruption : KeyboardInterrupt or None
        The Ctrl-C that ended it, for the caller to raise again once all is in order.
    """

    theta: Floats
    value: float
    gap: float
    converged: bool
    n_iter: int
    reason: Reason
    bounded: bool
    visits: int = 0
    interruption: KeyboardInterrupt | None = None


@dataclass(frozen=True)
class Limits:
    """When to end: a gap of `tol` times the objective, so many steps, so many seconds."""

    tol: float = 1e-4
    max_iter: int = 1000
    max_time: float | None = None


def minimise(problem: Objective, start: Floats, solver: Solver, limits: Limits) -> Solution:
    """Follow a solver until the gap is small enough, or a limit is met; Ctrl-C leaves the best so far."""
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

    def follow(self, solver: Solver) -> Solution:
        """Take what the solver gives until there is a reason to end."""
        interruption = None
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what is not finite is not taken
            try:
                reason = self.run(iter(solver(self.problem, self.theta)))
            except KeyboardInterrupt as caught:
                reason, interruption = "interrupted", caught
            if self.unjudged is not None:
                self.judge(self.unjudged)
        converged = self.close_enough() and reason != "no_minimum"
        bounded = self.bound > 0.0
        return Solution(
            theta=self.theta,
            value=self.value,
            gap=self.gap,
            converged=converged,
            n_iter=self.n_iter,
            reason=reason,
            bounded=bounded,
            visits=self.visits,
            interruption=interruption,
        )

    def run(self, iterates: Iterator[Iterate]) -> Reason:
        """Note iterates; return why to end."""
        while True:
            try:
                iterate = next(iterates)
            except StopIteration as end:  # the solver's own reason, if it has one
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
        """Keep what is better than before; return whether the objective turns out to have no minimum."""
        problem, theta = self.problem, iterate.theta
        t = problem.shortfall(theta) if iterate.t is None else iterate.t
        value = problem.value(theta, t)
        if value <= self.value or iterate.replaces:
            self.theta, self.value = theta, value
        for alpha in [iterate.alpha] if iterate.alpha is not None else self.guesses(t):
            self.bound = max(self.bound, problem.lower_bound(alpha, theta))
        self.unjudged = None
        # Longer weights of a direction that separates bring the logistic loss as close to zero as you like.
        unpenalised = problem.l1 == 0.0 and problem.l2 == 0.0
        return unpenalised and isinstance(problem.loss, Logistic) and bool((t < 0.0).all())

    def guesses(self, t: Floats) -> Iterator[Floats]:
        """Give dual weights for a solver without any: the slopes, at a corner anything between them."""
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
        """How far the value may lie above the minimum: down to the bound, and what rounding hides."""
        if self.bound <= 0.0:  # no objective is below 0, whatever its rounding
            return self.value
        return max(0.0, self.value - self.bound) + ROUNDING * self.value
