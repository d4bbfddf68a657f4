"""The verdict alone, within a limit of work: what a fit asks before it goes on.

The data is taken as a fit holds it, and is not checked again. The same data gives the same outcome on every
machine, because work is counted, not seconds.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import numpy as np

from rosenblatt.certify.certificate import Certificate, Inseparable
from rosenblatt.certify.direct import Argmax, ClassProblem
from rosenblatt.certify.direct_certificate import answered
from rosenblatt.certify.separability import Question
from rosenblatt.certify.simplex import Meeting
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.data.batch import Batch


def verdict(
    batch: Batch,
    *,
    bias: bool = True,
    multiclass: Literal["direct", "ovr", "ovo"] = "direct",
    work: float | None = None,
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

    Returns
    -------
    Separable, Inseparable or None
        With "direct", more than two classes give `DirectSeparable` or `DirectInseparable`. With the others,
        about more than two classes, `Inseparable` is about the first two sides that no hyperplane separates, and
        `Separable` about the last two: then all are separable. A proof of `Inseparable` is about all rows of the
        batch, one of `Separable` about the rows that have weight.

    Examples
    --------
    >>> from rosenblatt.data.batch import as_batch
    >>> batch = as_batch([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0])
    >>> verdict(batch).verdict, verdict(batch, work=10)
    ('inseparable', None)
    """
    clock = Clock(None, work)
    names = None if batch.weight is None else np.flatnonzero(batch.weight > 0.0)
    whole = names is None or len(names) == batch.n_rows
    part = batch if whole or names is None else batch.take(names)
    question = Question(part, bias, margin=False, clock=clock)
    found: Certificate | None = None
    try:
        if multiclass == "direct" and len(batch.classes) > 2:
            direct = ClassProblem(part, bias=bias, clock=clock).decide()
            if isinstance(direct, Argmax) or names is None:
                return answered(part, direct, bias=bias)
            return answered(batch, direct._replace(rows=names[direct.rows]), bias=bias)
        counts = part.counts
        for positive, negative in _sides(len(batch.classes), multiclass):
            if negative is not None and not counts[positive] + counts[negative]:
                continue  # no row of either class has weight
            found = question.alone(positive, negative)
            if isinstance(found, Inseparable):
                if whole or names is None:
                    return found
                everything = Question(batch, bias, margin=False, clock=clock)
                rows = names[list(found.support)]
                posed = everything.posed(positive, negative)
                places = np.searchsorted(posed.names, rows)
                return everything.inseparable(posed, Meeting(places, list(found.integers)))
    except Unsettled:
        return None
    return found


def _sides(classes: int, multiclass: str) -> list[tuple[int, int | None]]:
    if classes <= 2:
        return [(1, 0)] if classes == 2 else [(0, None)]
    if multiclass == "ovo":
        return list(combinations(range(classes), 2))
    return [(each, None) for each in range(classes)]
