"""The steps of passive-aggressive rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline
from rosenblatt.loops.rows import square
from rosenblatt.loops.rules import Passive
from rosenblatt.loops.steps import size_of


@size_of(Passive)
@inline
def passive_size(rule: Any, c: Any, lead: Any, X: Any, i: Any, machines: Any) -> float:
    """Return the shortest step that gives row i its margin, within the bounds of the rule."""
    weight = abs(c) / rule.eta
    x2 = machines * (square(X, i) + rule.beta) + rule.soft / weight
    if x2 == 0.0:
        return c  # of a row of zeros without a bias, which no step moves
    if x2 == np.inf:
        return x2  # the step is not known, and 0 would pass for a row that has its margin; the weights overflow
    step = rule.eta * min(rule.most * weight, (rule.margin - lead) / x2)
    return step if c > 0.0 else -step
