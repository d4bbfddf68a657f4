"""The lifted perceptron: every row gets a coordinate of its own, so that any set separates."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.exceptions import OrderError
from rosenblatt.learners.order import Order, Visits
from rosenblatt.learners.perceptron import PerceptronFit
from rosenblatt.learners.plan import PerceptronRun, Plan
from rosenblatt.learners.visitor import Visitor
from rosenblatt.loops.passes import largest_square, train_lifted
from rosenblatt.loops.screen import Shadow
from rosenblatt.loops.targets import Log, Sides
from rosenblatt.margins.soft_margin import Limits, squared_hinge_minimum
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.state import State
from rosenblatt.trace.recorder import Stretch
from rosenblatt.typing import Floats

LEMMA_SECONDS = 1.0
"""That the lemma may take, however short training was."""


class LiftedRun(NamedTuple):
    """A run on lifted rows, and what the lemma says of it."""

    run: PerceptronRun  # its state is the first d coordinates and the bias, without the factor a
    lift: Floats  # the weights of the rows' own coordinates, without the factor sqrt(1 − a²)
    margin: float  # the geometric margin of the lifted rows under the lifted weights
    lemma_margin: float  # γ', a margin that the lifted rows are sure to have under some weights
    bound: float  # the most mistakes, (a²R² + 1 − a²) / γ'²


def fit_lifted(batch: Batch, plan: Plan, start: State, a: float) -> LiftedRun:
    """Train on the lifted rows until they are separated, or a limit of `plan` is reached."""
    square = a * a
    visitor = LiftedVisitor(batch, plan, start.copy(), square)
    y = batch.signs.astype(np.float64)
    began = time.perf_counter()
    run = PerceptronFit(visitor, start).run()
    lift = visitor.lift_after(run.state.visits)
    margin = _margin(run, batch, y, lift, square)
    took = time.perf_counter() - began
    seconds = max(LEMMA_SECONDS, took)
    if plan.max_time is not None:
        seconds = min(seconds, plan.max_time - took)
    if run.interruption is not None:
        seconds = 0.0  # the user wants to leave
    lemma, bound, interruption = _lemma(batch, a, plan.rule.beta, seconds)
    if interruption is not None:  # what was trained is whole all the same, and published before this is raised
        run = replace(run, interruption=interruption)
    return LiftedRun(run, lift, margin, lemma, bound)


def require_every_row(order: Order) -> None:
    """Refuse an order that may leave rows out: a pass without a mistake is to mean that all rows are right."""
    if not order.complete:
        raise OrderError(
            "order must visit every row in every pass, so that the lifted rows are known to be separated. "
            "Use 'shuffle', 'cyclic' or an array that holds every row."
        )


def _margin(run: PerceptronRun, batch: Batch, y: Floats, lift: Floats, square: float) -> float:
    """Return min y_i <w̃, x̃_i> / ‖w̃‖."""
    model = LinearModel(run.state.w, run.trace.scheme, batch.classes)
    beta, w, b = run.trace.bias, run.state.w[:-1], float(run.state.w[-1])
    padded = float(w @ w) + (b * b / beta if beta > 0.0 else 0.0)  # the bias is the weight of a feature sqrt(β)
    norm = sqrt(square * padded + (1.0 - square) * float(lift @ lift))
    lowest = float((y * (square * model.scores(batch) + (1.0 - square) * lift)).min())
    return lowest / norm if norm > 0.0 else 0.0


def _lemma(batch: Batch, a: float, beta: float, seconds: float) -> tuple[float, float, KeyboardInterrupt | None]:
    """Return γ' for a good choice of w* and γ, the mistakes it allows, and the Ctrl-C that cut the choice short.

    With v = w*/γ it is a / sqrt(‖v‖² + a²/(1 − a²) Σ max(0, 1 − y_i <v, x_i>)²): any v gives a margin that holds,
    and so the best one found within some seconds does.
    """
    square = a * a
    C = square / (1.0 - square)
    value, interruption = C * batch.n_rows, None  # of v = 0
    try:
        largest = largest_square(batch.rows, batch.n_rows) + beta
        if seconds > 0.0:
            limits = Limits(tol=1e-11, max_time=seconds)
            found = squared_hinge_minimum(batch, C, pad=sqrt(beta), limits=limits)
            value, interruption = found.value, found.interruption
    except KeyboardInterrupt as caught:  # before anything was known
        return 0.0, inf, caught
    return a / sqrt(value), (square * largest + 1.0 - square) * value / square, interruption


class LiftedVisitor(Visitor):
    """Visits lifted rows."""

    may_screen = False

    def __init__(self, batch: Batch, plan: Plan, state: State, square: float) -> None:
        super().__init__(batch, plan, state)
        self._square = square
        self._lift = np.zeros(batch.n_rows)
        self._before = self.state.visits, self._lift  # when the present pass began

    def visit(self, visits: Visits, made: int = 0) -> Iterator[Stretch]:
        """Make the visits of a pass; yield each stretch once it is made."""
        self._before = self.state.visits, self._lift.copy()
        yield from super().visit(visits, made)

    def _train(self, block: Visits, log: Log, shadow: Shadow | None) -> tuple[int, int, int]:
        assert isinstance(self.targets, Sides), "lifted rows have two sides"
        k, made = train_lifted(
            self.batch.rows, self.targets, block, self._square, self.plan.rule.beta, self.state.w, self._lift, log
        )
        return k, made, made

    def lift_after(self, visits: int) -> Floats:
        """Return the weights of the rows' own coordinates after so many visits: now, or when the pass began."""
        return self._before[1] if self._before[0] == visits else self._lift
