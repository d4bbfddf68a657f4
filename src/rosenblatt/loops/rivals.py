"""The best class other than a row's own, for classes compared directly, and the rows that need not look for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline, verb
from rosenblatt.loops.rules import Margins, Shaped


@inline
def rival_of(scores: Any, y: Any, last_wins: Any) -> int:
    """Return the best class other than y; of equal ones the lowest, or with `last_wins` the highest."""
    rival = 1 if y == 0 else 0
    for c in range(rival + 1, scores.size):
        if c != y and (scores[c] > scores[rival] or (last_wins and scores[c] == scores[rival])):
            rival = c
    return rival


@verb
def widest(rule: Any) -> Any:
    """Return a lead beyond which no row moves weights, and not below 0."""
    if rule.instance_class is Shaped:
        return lambda rule: np.inf
    if rule.instance_class is Margins:
        return lambda rule: max(rule.margin, rule.margin_minus, 0.0)
    return lambda rule: max(rule.margin, 0.0)


@inline
def leads(scores: Any, y: Any, lead: Any) -> bool:
    """Return whether class y leads each other class by a finite number above `lead`, itself ≥ 0.

    Counting takes vector instructions and no branch for a class, so it is far faster than finding the rival.
    """
    near = 0
    for c in range(scores.size):
        near += 0 if lead < scores[y] - scores[c] < np.inf else 1
    return near == 1  # y itself
