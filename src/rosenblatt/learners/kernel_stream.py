"""A kernel perceptron that learns on-line, with a budget for streams that do not end."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features, require_finite
from rosenblatt.kernels.points import Points
from rosenblatt.learners.kernel import ExpansionVisitor, KernelPlan, kernel_trace
from rosenblatt.learners.stream import Stream, Target
from rosenblatt.learners.visitor import Visitor
from rosenblatt.loops.kernel import judge_alone, logged_moves
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.model.expansion import Expansion
from rosenblatt.model.kernel_state import KernelState
from rosenblatt.model.support import NOT_OF_A_SET
from rosenblatt.trace.kernel import KernelTrace


class KernelStream(Stream):
    """A stream whose state is an expansion in a kernel.

    Parameters
    ----------
    arguments, named
        As of `Stream`.
    own : KernelPlan
        The kernel and the budget.
    """

    state: KernelState
    start: KernelState

    def __init__(self, state: KernelState, *arguments: Any, own: KernelPlan, **named: Any) -> None:
        self.own = own
        state.kept = None
        state.support.renumber(np.full(state.support.count, NOT_OF_A_SET))  # rows to come are of no set
        super().__init__(state, *arguments, **named)

    def learn_row(self, X: Rows, target: Target) -> None:
        """Visit one example: a matrix of one row, and what it is to be."""
        assert not isinstance(target, float), "an expansion takes targets"
        state, log = self.state, self._log
        x = self._point(X)
        if not np.isfinite(x.rows.data if isinstance(x.rows, CSR) else x.rows).all():
            raise self._not_finite(X)
        machine = Expansion(self.own.kernel, state, self.own.budget)
        s, values = machine.scores(x)
        count = judge_alone(target, 0, self.rule, s, state.machines, log, 0)
        if count < 0:
            raise self._not_finite(X)
        if count:
            c = np.zeros(len(s))
            logged_moves(target, 0, log, (0, count), c)
            machine.take(x, values, c, self.rule.beta)
            self.mistakes += count
            if self.scheme.kind == "binary":  # a mistake names its rival, should there come to be more than one
                log.machine[0] = target.pull[0] <= 0.0  # type: ignore[union-attr]
            if self.recorder.detail == "mistakes":
                self._keep(count)
        state.visits += 1
        self.seen += 1

    def learn_rows(self, features: Features, *labelled: Any) -> None:
        """Visit rows in order."""
        require_finite(features)  # a kernel may take infinity for a point far away
        super().learn_rows(features, *labelled)

    def trace(self, n_features: int) -> KernelTrace:
        """Return the record of the stream so far."""
        return kernel_trace(super().trace(n_features), self.own, numbered=False)

    def _visitor(self, batch: Batch) -> Visitor:
        return ExpansionVisitor(batch, self._plan(batch.n_rows), self.state, own=self.own, numbered=False)

    def _target(self, label: Any, weight: float) -> Target:
        code = self._codes[label]
        return self.scheme.targets(np.array([code]), np.array([weight]), self.zero)

    def _point(self, X: Rows) -> Points:
        return self.state.support.like(Points(X, 1, self.state.n_features))
