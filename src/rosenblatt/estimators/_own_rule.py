"""Perceptrons by a rule that also corrects rows on their right side."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.blocks.memory import Blocks
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.learners.plan import PerceptronRun
from rosenblatt.typing import Ints


class OwnRule(Perceptron):
    """A perceptron by another rule, which counts mistakes (y f ≤ 0) and updates (y f short of the margin) apart.

    Subclasses have parameters of their own, and override `_own_rule`. The parameters of `Perceptron` that they do
    not have are fixed here.
    """

    penalty = None
    alpha = 0.0001
    l1_ratio = 0.15
    eta0 = 1.0
    tie = "correct"
    margin = 1.0
    stop_on_cycle = False
    decide = False  # a proof of inseparability would not end the updates of such a rule
    _reached = "before every row reached the margin"
    _fit_wrong: list[int]

    @property
    def mistakes_per_pass_(self) -> Ints:
        """The mistakes of each pass, which are updates with y f ≤ 0; a stream is one pass."""
        self._require_fitted("mistakes_per_pass_")
        stream = [] if self._stream is None else [self._stream.wrong]
        return np.array([*self.__dict__.get("_fit_wrong", []), *stream], np.int64)

    @property
    def updates_per_pass_(self) -> Ints:
        """The updates of each pass; a stream is one pass."""
        return super().mistakes_per_pass_

    @property
    def n_updates_(self) -> int:
        """The number of updates so far."""
        return int(self.updates_per_pass_.sum())

    def _publish(self, run: PerceptronRun, blocks: Blocks, **own: Any) -> None:
        super()._publish(run, blocks, _fit_wrong=run.wrong_per_pass, **own)
