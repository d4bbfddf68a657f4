"""Carries out visits: in blocks short enough to be interrupted, by the fastest loop that gives the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rosenblatt.data.features import Features, require_finite
from rosenblatt.learners.order import Visits
from rosenblatt.learners.screening import Screening
from rosenblatt.loops import passes, screen
from rosenblatt.loops.rules import Rule
from rosenblatt.model.state import State, overflowed
from rosenblatt.typing import Floats, Ints

BLOCK_VALUES = 1 << 25  # read between two looks at the clock and at Ctrl-C: a few hundredths of a second
BLOCK_VISITS = 1 << 20


class Stretch(NamedTuple):
    """Visits made: their rows, and of each mistake among them the place, the score and the step.

    `first` is the number of visits made before.
    """

    visits: Visits
    at: Ints
    score: Floats
    step: Floats
    first: int


class Visitor:
    """Visits rows of one set, moving one state.

    Parameters
    ----------
    features : Features
        The training rows.
    pull : ndarray
        For each row, its label ±1 times its weight.
    rule : Rule
        What a mistake is and what it adds.
    state : State
        Changed in place.
    screened : bool or None
        Whether to use the screen on dense data; None where it pays.
    """

    def __init__(
        self, features: Features, pull: Floats, rule: Rule, state: State, screened: bool | None = None
    ) -> None:
        self.features, self.pull, self.rule, self.state = features, pull, rule, state
        self._screening = Screening(features.rows, screened)
        self._shadow: screen.Shadow | None = None
        self._mistake_rate = 1.0
        values_a_row = max(1, features.stored // features.n_rows)
        self._block = min(BLOCK_VISITS, max(1, BLOCK_VALUES // values_a_row))
        self._log = passes.Log(np.empty(0, np.int64), np.empty(0), np.empty(0))

    def visit(self, visits: Visits) -> Iterator[Stretch]:
        """Make the visits of one pass, and tell of them stretch by stretch."""
        shadow = self._shadow_for(visits)
        mistakes = read = 0
        for first in range(0, len(visits), self._block):
            block = visits[first : first + self._block]
            log = self._room(len(block))
            k, made, looked = self._train(block, log, shadow)
            read += looked
            if made < len(block):
                require_finite(self.features)
                raise overflowed(self.state.visits + made)
            mistakes += k
            self.state.visits += made
            yield Stretch(block, log.at[:k], log.score[:k], log.step[:k], self.state.visits - made)
        self._mistake_rate = mistakes / len(visits)
        self._screening.passed(read / len(visits))

    def _train(self, block: Visits, log: passes.Log, shadow: screen.Shadow | None) -> tuple[int, int, int]:
        """Make the visits of a block; return the mistakes, the visits made and the rows read."""
        rows, pull, rule, state = self.features.rows, self.pull, self.rule, self.state
        w, u, t0 = state.w, state.u, state.visits
        if shadow is None and isinstance(rows, np.ndarray):
            k, made = passes.train(rows, pull, block, rule, w, u, t0, log)
            return k, made, made
        if shadow is not None:
            k, made, read = screen.train_screened(shadow, pull, block, rule, w, log)
        else:
            k, made = passes.train(rows, pull, block, rule, w, None, t0, log)
            read = made
        if u is not None:
            passes.defer(rows, pull, block, log, k, rule.beta, u, t0)
        return k, made, read

    def scores(self) -> Floats:
        """Return the score of every row."""
        out = np.empty(self.features.n_rows)
        passes.scores(self.features.rows, self.state.w, out)
        return out

    def _shadow_for(self, visits: Visits) -> screen.Shadow | None:
        neighbours = np.diff(visits[:256]) == 1  # unsigned: a step back is a large one
        if not self._screening.pays(
            self._mistake_rate, scattered=2 * np.count_nonzero(neighbours) < neighbours.size
        ):
            return None
        if self._shadow is None:
            shadow = screen.empty_shadow(self.features.rows)  # type: ignore[arg-type]
            screen.cast(shadow, self.pull, self.state.w)
            self._shadow = shadow
        elif self._screening.should_anchor():
            screen.anchor(self._shadow, self.pull, self.state.w)
        return self._shadow

    def _room(self, size: int) -> passes.Log:
        if len(self._log.at) < size:
            self._log = passes.Log(np.empty(size, np.int64), np.empty(size), np.empty(size))
        return self._log
