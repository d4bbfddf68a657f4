"""What a fit asks: the verdict alone, within a limit of work, or the proof that a cycle of mistakes shows.

The data is taken as a fit holds it, and is not checked again. The same data gives the same outcome on every
machine, because work is counted, not seconds.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np

from rosenblatt.certify.certificate import Certificate, Inseparable, InseparableVerdict
from rosenblatt.certify.direct import Argmax, ClassProblem
from rosenblatt.certify.direct_certificate import make_answer
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.rationals import combined, common, shifted
from rosenblatt.certify.rigorous import Bound, Contradiction
from rosenblatt.certify.separability import Question
from rosenblatt.certify.simplex import Meeting, Simplex
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.rows.batch import Batch
from rosenblatt.typing import Floats, Ints

MAX_CHECKED_VALUES = 1 << 24  # combinations of more values are not checked: each takes about a microsecond
MAX_REDUCED_VALUES = 1 << 18  # combinations of more values are not reduced to fewer rows
REDUCTION_SECONDS = 5.0  # the time limit of the reduction


def verdict(
    batch: Batch,
    *,
    bias: bool = True,
    multiclass: Literal["direct", "ovr", "ovo"] = "direct",
    work: float | None = None,
    scores: Floats | None = None,
) -> Certificate | None:
    """Return the proof that training can, or cannot, end without a mistake; None if the work was not enough.

    Parameters
    ----------
    batch : Batch
        Finite rows and their classes. Rows of weight 0 take no part, because they are never a mistake.
    bias : bool
        Whether hyperplanes have a bias.
    multiclass : {"direct", "ovr", "ovo"}
        What more than two classes are trained as: one argmax, each against the rest, or pairs.
    work : float or None
        The work allowed, in units of about one multiplication; None means no limit.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes), or None
        The scores of what has been trained: one hyperplane, or with "direct" one function for each class. They
        tell which rows to try first.

    Returns
    -------
    Separable, Inseparable, InseparableVerdict or None
        The exact proof of an `InseparableVerdict` is made when it is asked for. With "direct", more than two
        classes give `DirectSeparable` or `DirectInseparable`. With the others, about more than two classes,
        `Inseparable` is about the first two sides that no hyperplane separates, and `Separable` about the last
        two: then all are separable. A proof that rows are inseparable is about all rows of the batch, one that
        they are separable about the rows that have weight.

    Examples
    --------
    >>> from rosenblatt.rows.batch import as_batch
    >>> batch = as_batch([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0])
    >>> verdict(batch).verdict, verdict(batch, work=10)
    ('inseparable', None)
    """
    clock = Clock(None, work)
    names = None if batch.weight is None else np.flatnonzero(batch.weight > 0.0)
    whole = names is None or len(names) == batch.n_rows
    scores = scores if whole or scores is None else scores[names]
    part = batch if whole or names is None else batch.take(names)
    question = Question(part, bias, margin=False, clock=clock)
    found: Certificate | None = None
    try:
        if multiclass == "direct" and len(batch.classes) > 2:
            direct = ClassProblem(part, bias=bias, clock=clock).decide(scores=scores)
            if isinstance(direct, Argmax) or names is None:
                return make_answer(part, direct, bias=bias)
            return make_answer(batch, direct._replace(rows=names[direct.rows]), bias=bias)
        counts = part.counts
        for positive, negative in _list_sides(len(batch.classes), multiclass):
            if negative is not None and not counts[positive] + counts[negative]:
                continue  # no row of either class has weight
            found = question.decide_alone(positive, negative, scores)
            if isinstance(found, Inseparable | InseparableVerdict):
                if whole or names is None:
                    return found
                everything = Question(batch, bias, margin=False, clock=clock)
                posed = everything.pose(positive, negative)
                places = np.searchsorted(posed.names, names[list(found.support)])
                if isinstance(found, Inseparable):
                    return everything.inseparable(posed, Meeting(places, list(found.integers)))
                bound = Bound(found.residual, found.stretch)
                return everything.express_contradiction(
                    posed, Contradiction(places, np.array(found.weights), bound, found.spanning)
                )
    except Unsettled:
        return None
    return found


def _list_sides(classes: int, multiclass: str) -> list[tuple[int, int | None]]:
    if classes <= 2:
        return [(1, 0)] if classes == 2 else [(0, None)]
    if multiclass == "ovo":
        return list(combinations(range(classes), 2))
    return [(each, None) for each in range(classes)]


# A combination of rows that should be 0, such as the mistakes of a cycle.


def witness(batch: Batch, rows: Ints, weights: list[Fraction], *, bias: bool) -> Inseparable | None:
    """Return the proof that Σ weight_i y_i (x_i, 1) = 0 for positive weights of some rows; None if it is not 0.

    Without a bias Σ weight_i y_i x_i = 0 suffices. The proof has as few of the rows as possible. The result is
    also None for more than `MAX_CHECKED_VALUES` values.

    Examples
    --------
    >>> from rosenblatt.rows.batch import as_batch
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
    if problem.n * (used + bias) > MAX_CHECKED_VALUES:
        return None
    integers, powers = problem.integer_rows(np.arange(problem.n), only_used=True)
    scaled = [weight * shifted(1, power) for weight, power in zip(weights, powers, strict=True)]
    if any(combined(common(scaled)[0], integers)):
        return None
    found = _reduce(rows, integers, powers) or Meeting(rows, common(weights)[0])
    question = Question(batch, bias, margin=False, clock=Clock(None))
    return question.inseparable(question.pose(1, 0), found)


def _reduce(rows: Ints, integers: list[list[int]], powers: list[int]) -> Meeting | None:
    """Return a combination to 0 of no more rows than needed; None if it takes too long to find."""
    if len(integers) * len(integers[0]) > MAX_REDUCED_VALUES:
        return None
    simplex = Simplex(integers, range(len(integers)))
    try:
        found = simplex.optimum(Clock(REDUCTION_SECONDS))
    except Unsettled:
        return None
    assert found is None, "nothing separates rows that have a combination to 0"
    return simplex.meeting(rows, powers)
