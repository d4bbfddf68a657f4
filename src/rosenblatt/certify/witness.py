"""Prove rows inseparable from a combination of them that should be 0, such as the mistakes of a cycle."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rosenblatt.certify.certificate import Inseparable
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.separability import Question
from rosenblatt.certify.simplex import Meeting, Simplex
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.data.batch import Batch
from rosenblatt.rationals.dyadic import common, shifted
from rosenblatt.rationals.linear import combined
from rosenblatt.typing import Ints

CHECKED = 1 << 24  # combinations of more values are not checked: each takes about a microsecond
REDUCED = 1 << 18  # combinations of more values are not reduced to fewer rows
SECONDS = 5.0  # the time limit of the reduction


def witness(batch: Batch, rows: Ints, weights: list[Fraction], *, bias: bool) -> Inseparable | None:
    """Return the proof that Σ weight_i y_i (x_i, 1) = 0 for positive weights of some rows; None if it is not 0.

    Without a bias Σ weight_i y_i x_i = 0 suffices. The proof has as few of the rows as possible. The result is
    also None for more than `CHECKED` values.

    Examples
    --------
    >>> from rosenblatt.data.batch import as_batch
    >>> batch = as_batch([[1.0], [2.0], [3.0]], [0, 1, 0])
    >>> proof = witness(batch, np.arange(3), [Fraction(1), Fraction(2), Fraction(1)], bias=True)
    >>> proof.support, [str(weight) for weight in proof.weights]
    ((0, 1, 2), ['1/2', '1', '1/2'])
    >>> witness(batch, np.arange(2), [Fraction(1), Fraction(1)], bias=True) is None
    True
    """
    part = batch.take(rows)
    problem = SeparationProblem(part, part.signs.astype(np.float64), bias=bias)
    used = max(1, len(np.unique(problem.matrix.X.indices))) if problem.sparse else problem.d
    if problem.n * (used + bias) > CHECKED:
        return None
    integers, powers = problem.integer_rows(np.arange(problem.n), only_used=True)
    scaled = [weight * shifted(1, power) for weight, power in zip(weights, powers, strict=True)]
    if any(combined(common(scaled)[0], integers)):
        return None
    found = _fewest(rows, integers, powers) or Meeting(rows, common(weights)[0])
    question = Question(batch, bias, margin=False, clock=Clock(None))
    return question.inseparable(question.posed(1, 0), found)


def _fewest(rows: Ints, integers: list[list[int]], powers: list[int]) -> Meeting | None:
    """Return a combination to 0 of no more rows than needed; None if it takes too long to find."""
    if len(integers) * len(integers[0]) > REDUCED:
        return None
    simplex = Simplex(integers, range(len(integers)))
    try:
        found = simplex.optimum(Clock(SECONDS))
    except Unsettled:
        return None
    assert found is None, "nothing separates rows that have a combination to 0"
    return simplex.meeting(rows, powers)
