"""Carries out visits: in blocks short enough to be interrupted, by the fastest loop that gives the same bits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rosenblatt.data.features import Features, require_finite
from rosenblatt.learners.order import Visits
from rosenblatt.learners.screening import Screening
from rosenblatt.loops import passes, screen
from rosenblatt.loops.decay import train_shrinking
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.shrinking import Penalty
from rosenblatt.loops.targets import Log, Machines, Sides, Targets
from rosenblatt.model.state import State, overflowed
from rosenblatt.trace.recorder import Stretch
from rosenblatt.typing import Floats

BLOCK_VALUES = 1 << 25  # read between two looks at the clock and at Ctrl-C: a few hundredths of a second
BLOCK_MISTAKES = 1 << 16  # that there is room for


class Visitor:
    """Visits rows of one set, moving one state.

    Parameters
    ----------
    features : Features
        The training rows.
    targets : Sides, Direct or Machines
        For each row, its class and its weight.
    rule : Rule
        What a mistake is and what it adds.
    state : State
        Changed in place.
    screened : bool or None
        Whether to use the screen on dense data; None where it pays.
    penalty : Penalty or None
        How weights shrink with every visit.

    Attributes
    ----------
    settled : bool
        Whether nothing is left to learn, though the pass may have visits left; the plain perceptron never knows.
    extra_values : int
        What has been read so far besides the rows visited, at the cost of so many values; the plain perceptron
        reads nothing else.
    """

    settled = False
    extra_values = 0

    may_screen = True  # a visitor that trains by another loop may not

    def __init__(
        self,
        features: Features,
        targets: Targets,
        rule: Rule,
        state: State,
        screened: bool | None = None,
        penalty: Penalty | None = None,
    ) -> None:
        self.features, self.targets, self.rule, self.state = features, targets, rule, state
        self.penalty = penalty
        state.orient(features.rows)
        plain = self.may_screen and isinstance(targets, Sides) and penalty is None
        self._screening = Screening(features.rows, screened if plain else False)
        self._shadow: screen.Shadow | None = None
        self._mistake_rate = 1.0
        values_a_row = max(1, features.stored // features.n_rows)
        self._mistakes_a_visit = targets.members.shape[1] if isinstance(targets, Machines) else 1
        self._block = max(1, min(BLOCK_MISTAKES // self._mistakes_a_visit, BLOCK_VALUES // values_a_row))
        self._log = Log.room(0, len(state.machines))

    def visit(self, visits: Visits) -> Iterator[Stretch]:
        """Make the visits of one pass, and tell of them stretch by stretch."""
        shadow = self._shadow_for(visits)
        mistakes = read = 0
        for first in range(0, len(visits), self._block):
            block = visits[first : first + self._block]
            log = self._log_for(len(block) * self._mistakes_a_visit)
            k, made, looked = self._train(block, log, shadow)
            read += looked
            if made < len(block):
                require_finite(self.features)
                raise overflowed(self.state.visits + made)
            mistakes += k
            self.state.visits += made
            yield Stretch(block, log.part(slice(k)), self.state.visits - made)
        self._mistake_rate = mistakes / len(visits)
        self._screening.passed(read / len(visits))

    def _train(self, block: Visits, log: Log, shadow: screen.Shadow | None) -> tuple[int, int, int]:
        """Make the visits of a block; return the mistakes, the visits made and the rows read."""
        rows, targets, rule, state = self.features.rows, self.targets, self.rule, self.state
        w, u, t0 = state.w, state.u, state.visits
        if self.penalty is not None:
            k, made = train_shrinking(
                rows, targets, block, rule, self.penalty, state.machines, state.shrunk_machines, log
            )
            return k, made, made
        if shadow is None and isinstance(rows, np.ndarray):
            k, made = passes.train(rows, targets, block, rule, w, u, t0, log)
            return k, made, made
        if shadow is not None:
            k, made, read = screen.train_screened(shadow, self._pull, block, rule, w, log)
        else:
            k, made = passes.train(rows, targets, block, rule, w, None, t0, log)
            read = made
        if u is not None:
            passes.defer(rows, targets, block, log, k, rule.beta, u, t0)
        return k, made, read

    @property
    def _pull(self) -> Floats:
        assert isinstance(self.targets, Sides), "only one machine is screened"
        return self.targets.pull

    def _shadow_for(self, visits: Visits) -> screen.Shadow | None:
        neighbours = np.diff(visits[:256]) == 1  # unsigned: a step back is a large one
        if not self._screening.pays(
            self._mistake_rate, scattered=2 * np.count_nonzero(neighbours) < neighbours.size
        ):
            return None
        if self._shadow is None:
            shadow = screen.empty_shadow(self.features.rows)  # type: ignore[arg-type]
            screen.cast(shadow, self._pull, self.state.w)
            self._shadow = shadow
        elif self._screening.should_anchor():
            screen.anchor(self._shadow, self._pull, self.state.w)
        return self._shadow

    def _log_for(self, mistakes: int) -> Log:
        if len(self._log.at) < mistakes:
            self._log = Log.room(mistakes, len(self.state.machines))
        return self._log
