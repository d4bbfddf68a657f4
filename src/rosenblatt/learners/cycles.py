"""Finds repeated weights, which may prove that nothing separates the data.

If w is the same at two moments, what was added in between is zero: Σ λ_i y_i (x_i, β) = 0, where λ_i is the sum
of the steps taken on row i. Then no hyperplane has every y_i f(x_i) > 0, for any order, margin and start. This
holds in rationals; floats can absorb an update and stand still without it. So a repeat is only a candidate, which
`prove` confirms or refutes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rosenblatt.trace.recorder import Stretch
from rosenblatt.typing import Floats, Ints

STATES = 1 << 16  # remembered, by 16 bytes each
MISTAKES = 1 << 24  # remembered, by a row number and a step: 256 MiB

Prove: TypeAlias = Callable[[Ints, list[Fraction]], Any | None]
"""Takes different rows and their positive weights; returns a proof that their sum is 0, None if it is not."""


class _Pass(NamedTuple):
    """A pass with mistakes: the state it began from, and the rows and steps of its mistakes."""

    state: bytes
    rows: Ints
    steps: Floats


class Cycles:
    """Compares the weights after each pass with those after earlier ones.

    The last `STATES` states and `MISTAKES` mistakes are remembered; a repeat after more than that is not noticed.
    States are remembered by a digest; the proof refutes two that only seem equal.

    Parameters
    ----------
    prove : callable
        See `Prove`.
    w : ndarray
        The weights at the start.
    """

    def __init__(self, prove: Prove, w: Floats) -> None:
        self._prove = prove
        self._state = _digest(w)
        self._passes: deque[_Pass] = deque()
        self._forgotten = 0  # passes
        self._mistakes = 0
        self._began: dict[bytes, int] = {}  # the number of the last pass from each state
        self._parts: list[tuple[Ints, Floats]] = []
        self._refuted = 0
        self._wait = 0

    def add(self, stretch: Stretch) -> None:
        """Take note of the mistakes of a stretch of visits."""
        if len(stretch.log.at):
            self._parts.append((stretch.rows.astype(np.int64), stretch.log.step.copy()))

    def end_pass(self, w: Floats) -> Any | None:
        """Take note of the weights after a pass; return the proof that they give, if there is one."""
        if not self._parts:
            return None  # a state that nothing moved is no repeat
        self._note(w)
        first = self._began.get(self._state)
        if first is None:
            return None
        if self._wait:
            self._wait -= 1
            return None
        between = [self._passes[k - self._forgotten] for k in range(first, self._forgotten + len(self._passes))]
        rows, weights = _combination(between)
        proof = self._prove(rows, weights) if weights else None
        if proof is None:  # floats may stand still for long: test repeats ever more seldom
            self._wait = 2**self._refuted
            self._refuted += 1
        return proof

    def _note(self, w: Floats) -> None:
        rows, steps = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        self._parts = []
        self._began[self._state] = self._forgotten + len(self._passes)
        self._passes.append(_Pass(self._state, rows, steps))
        self._mistakes += len(rows)
        self._state = _digest(w)
        while len(self._passes) > STATES or self._mistakes > MISTAKES:
            oldest = self._passes.popleft()
            if self._began[oldest.state] == self._forgotten:
                del self._began[oldest.state]
            self._mistakes -= len(oldest.rows)
            self._forgotten += 1


def _digest(w: Floats) -> bytes:
    return blake2b((w + 0.0).tobytes(), digest_size=16).digest()  # + 0.0 makes −0.0 a zero


def _combination(passes: list[_Pass]) -> tuple[Ints, list[Fraction]]:
    """Return the rows that mistakes were made on, and the exact sum of the steps of each."""
    rows = np.concatenate([each.rows for each in passes])
    steps = np.concatenate([each.steps for each in passes])
    pairs, counts = np.unique(np.column_stack([rows, steps.view(np.int64)]), axis=0, return_counts=True)
    sums: dict[int, Fraction] = {}
    for row, step, count in zip(pairs[:, 0].tolist(), pairs[:, 1].view(np.float64), counts.tolist(), strict=True):
        if step > 0.0:  # one too small for a float is none
            sums[row] = sums.get(row, Fraction(0)) + count * Fraction(float(step))
    return np.array([*sums], np.int64), [*sums.values()]
