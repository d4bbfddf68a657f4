"""Prove rows inseparable from a combination of them that should be 0, such as the mistakes of a cycle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certify.certificate import Inseparable
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.separability import Question
from rosenblatt.certify.simplex import Meeting, Simplex
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.data.batch import Batch
from rosenblatt.data.reals import read_only
from rosenblatt.loops.layout import CSR
from rosenblatt.rationals.dyadic import common, shifted
from rosenblatt.rationals.linear import product
from rosenblatt.typing import Ints

CHECKED = 1 << 24  # combinations of more values are not checked: each takes about a microsecond
REDUCED = 1 << 18  # combinations of more values are not reduced to fewer rows
SECONDS = 5.0  # the time limit of the reduction


def witness(batch: Batch, rows: Ints, weights: list[Fraction], *, bias: bool) -> Inseparable | None:
    """Return the proof that Σ weight_i y_i (x_i, 1) = 0, with as few of the rows as possible; None if it is not 0.

    Without a bias Σ weight_i y_i x_i = 0 suffices. The result is also None for more than `CHECKED` values.

    Parameters
    ----------
    batch : Batch
        Finite rows of two classes.
    rows : ndarray of int
        Row numbers, without repetition.
    weights : list of Fraction
        Their positive weights.
    bias : bool
        Whether hyperplanes have a bias.

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
    part = _in_used_columns(batch.take(rows))
    if part.n_rows * (part.n_features + bias) > CHECKED:
        return None
    if isinstance(part.rows, CSR):
        part = replace(part, rows=read_only(part.native().toarray()))
    problem = SeparationProblem(part, part.signs.astype(np.float64), bias=bias)
    integers, powers = problem.integer_rows(np.arange(problem.n))
    if not _is_zero(integers, powers, weights):
        return None
    found = _fewest(rows, integers, powers) or Meeting(rows, common(weights)[0])
    question = Question(batch, bias, margin=False, clock=Clock(None))
    return question.inseparable(question.posed(1, 0), found)


def _in_used_columns(batch: Batch) -> Batch:
    """Return sparse rows without the columns in which all are 0."""
    X = batch.rows
    if not isinstance(X, CSR):
        return batch
    used, places = np.unique(X.indices, return_inverse=True)
    indices: Any = read_only(places.astype(X.indices.dtype))
    return replace(batch, rows=X._replace(indices=indices), n_features=max(1, len(used)), names=None)


def _is_zero(integers: list[list[int]], powers: list[int], weights: list[Fraction]) -> bool:
    """Return whether Σ weight_i z_i = 0, where z_i are integers times powers of two."""
    scaled = [weight * shifted(1, power) for weight, power in zip(weights, powers, strict=True)]
    (sums,) = product([common(scaled)[0]], list(zip(*integers, strict=True)))
    return not any(sums)


def _fewest(rows: Ints, integers: list[list[int]], powers: list[int]) -> Meeting | None:
    """Return a combination to 0 of no more rows than needed; None if it takes too long to find."""
    if len(integers) * len(integers[0]) > REDUCED:
        return None
    clock = Clock(SECONDS)
    simplex = Simplex(integers, range(len(integers)))
    try:
        found = simplex.optimum(clock)
    except Unsettled:
        return None
    assert found is None, "nothing separates rows that have a combination to 0"
    return simplex.meeting(rows, powers)
