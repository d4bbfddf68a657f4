"""The pocket perceptron: train, and keep the hypothesis with the fewest errors on all rows (Gallant 1990).

After each pass the average of its hypotheses so far may compete, too. On noisy data it is better than any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import require_finite
from rosenblatt.learners.order import Visits
from rosenblatt.learners.perceptron import PerceptronFit
from rosenblatt.learners.plan import PerceptronRun, Plan
from rosenblatt.learners.visitor import BLOCK_VALUES, Visitor
from rosenblatt.loops import passes
from rosenblatt.loops import pocket as loop
from rosenblatt.loops.layout import oriented
from rosenblatt.model.state import State, overflowed
from rosenblatt.trace.recorder import Stretch
from rosenblatt.typing import Floats

SCATTERED = 3  # the cost of counting a row relative to visiting it: counting reads rows in scattered order
EIGHTS = 4  # eights of hypotheses counted together, at most
COPIED = 16  # an eight is copied where the rows store this many times as many values as a hypothesis has

Measure: TypeAlias = Literal["geometric", "functional"]


@dataclass(frozen=True)
class Counting:
    """Which rows count as right for the pocket."""

    margin: float = 0.0  # γ: with 0 the rows predicted right, with more those whose margin is at least γ
    measure: Measure = "geometric"  # the margin as a distance, y f / ‖w‖, or functional, y f
    averages: bool = False  # whether the average after each pass is counted as well


class Pocketed(NamedTuple):
    """A run, and the best of its hypotheses."""

    run: PerceptronRun  # its state is the last hypothesis
    weights: Floats  # the padded weights of the best
    errors: float  # the weight of the rows that are wrong by it
    row_weight: Floats  # the weight of each row
    visit: int  # the visits made when it was found
    rows_read: int  # by counting


def fit_pocket(batch: Batch, plan: Plan, start: State, counting: Counting) -> Pocketed:
    """Train until a stop of `plan`, or until no row is wrong; return the run and the best hypothesis met.

    A hypothesis replaces the pocket only if it is strictly better (the ratchet); the start is the first in it.
    """
    visitor = PocketVisitor(batch, plan, start.copy(), counting)
    run = PerceptronFit(visitor, start).run()
    found = visitor.found_by(run.state.visits)
    visit, read, _ = map(int, found.progress)
    return Pocketed(run, found.w, float(found.errors[0]), visitor.weight, visit, read)


class PocketVisitor(Visitor):
    """Visits rows and counts errors after each that moved weights."""

    may_screen = False

    def __init__(self, batch: Batch, plan: Plan, state: State, counting: Counting) -> None:
        super().__init__(batch, plan, state)
        weight = self.weight
        exact = bool((weight == np.floor(weight)).all()) and float(weight.sum()) < 2.0**53
        count = loop.ErrorCount(
            counting.margin,
            int(counting.measure == "geometric"),
            int(plan.zero > 0),
            0.0 if exact else len(weight) * float(np.finfo(np.float64).eps),
        )
        rows = np.flatnonzero(weight).astype(np.uint64)
        self._pocket = loop.Pocket(
            w=state.w.copy(order="K"),
            errors=np.array([np.inf]),
            progress=np.zeros(3, np.int64),
            rows=rows,
            front=rows.copy(),
            right=count,
            machines=np.arange(len(state.machines)),
            scores=np.empty(len(state.machines)),
            waiting=_waiting(batch, state.w),
        )
        self._before = self._pocket  # when the present pass began
        self._u = np.zeros_like(state.w) if counting.averages else None
        self._cost_of_row = SCATTERED * batch.stored / batch.n_rows
        self._most = max(1, BLOCK_VALUES * batch.n_rows // max(1, batch.stored))

    def visit(self, visits: Visits, made: int = 0) -> Iterator[Stretch]:
        """Make the visits of one pass, or of as much of it as it takes until no row is wrong."""
        pocket, state = self._pocket, self.state
        self._begin()
        self._before = _copy(pocket)
        first = 0
        self.settled = self._nothing_wrong()
        while first < len(visits) and not self.settled:
            block = visits[first : first + self._block]
            log = self._log_for(len(block) * self._mistakes_a_visit)
            pocket.progress[loop.ENOUGH] = pocket.progress[loop.READ] + self._most
            k, made, finite = loop.train(
                self.X, self.targets, block, self.plan.rule, state.w, state.visits, log, pocket
            )
            if not finite:
                require_finite(self.batch)
                raise overflowed(state.visits + made)
            if self._u is not None:
                passes.defer(self.X, self.targets, block, log, k, self.plan.rule.beta, self._u, state.visits)
            state.visits += made
            first += made
            self.settled = self._nothing_wrong()
            self.extra_values = int(pocket.progress[loop.READ] * self._cost_of_row)
            yield Stretch(block[:made], log.part(slice(k)), state.visits - made)
        if self._u is not None and not self.settled:
            loop.consider(self.X, self.targets, state.w - self._u / state.visits, pocket, state.visits)
            self.settled = self._nothing_wrong()

    def _begin(self) -> None:
        """Put the start in the pocket, unless something is in it already."""
        if np.isinf(self._pocket.errors[0]):
            loop.consider(self.X, self.targets, self.state.w, self._pocket, 0)

    def _nothing_wrong(self) -> bool:
        if self._pocket.errors[0] > 0.0:
            return False
        require_finite(self.batch)  # some rows may not have been visited
        return True

    def found_by(self, visits: int) -> loop.Pocket:
        """Return the pocket after so many visits: this moment's, or that of the last completed pass."""
        self._begin()  # Ctrl-C may have come before the first visit
        return self._pocket if self._pocket.progress[loop.VISIT] <= visits else self._before


def _waiting(batch: Batch, w: Floats) -> loop.Waiting:
    """Return room for hypotheses to be counted together, or for one if copies would cost more than they spare."""
    eights = 0
    while w.ndim == 1 and eights < EIGHTS and COPIED * (eights + 1) * w.size <= batch.stored:
        eights += 1
    together = max(1, loop.EIGHT * eights)
    return loop.Waiting(
        w=oriented(np.zeros((together, w.shape[-1])), batch.rows),
        lanes=np.arange(together),
        scores=np.empty(together),
        biases=np.zeros(together),
        norms=np.ones(together),
        errors=np.zeros(together),
        at=np.zeros((together, 2), np.int64),
        one=np.zeros(w.shape[-1]),
    )


def _copy(pocket: loop.Pocket) -> loop.Pocket:
    return pocket._replace(
        w=pocket.w.copy(order="K"), errors=pocket.errors.copy(), progress=pocket.progress.copy()
    )
