"""Why there is no widest hyperplane, decided exactly where floats gave up."""

from __future__ import annotations

import numpy as np

from rosenblatt.data.batch import Batch
from rosenblatt.estimators._ending import named
from rosenblatt.exceptions import NotSeparableError
from rosenblatt.margins.not_separable import Unfinished

SECONDS = 5.0  # after which it stays with what floats could say


def explained(error: NotSeparableError, batch: Batch, *, bias: bool) -> NotSeparableError:
    """Return the error for data without a widest hyperplane, with the exact reason if it is found in time.

    Rows of weight 0 do not count. Rows that others prove inseparable are so in all of the data, which is what that
    proof is of; a proof that they are separable is of the rows that have weight.
    """
    from rosenblatt.certify.certificate import Inseparable, Separable
    from rosenblatt.certify.separability import Question
    from rosenblatt.certify.time_limit import Clock
    from rosenblatt.certify.witness import witness

    names = np.arange(batch.n_rows) if batch.weight is None else np.flatnonzero(batch.weight > 0.0)
    whole = len(names) == batch.n_rows
    part = batch if whole else batch.take(names)
    found = Question(part, bias, margin=False, clock=Clock(SECONDS)).pair(1, 0)
    if isinstance(found, Inseparable) and not whole:
        proof = witness(batch, names[list(found.support)], list(found.weights), bias=bias)
        if proof is None:
            return error
        found = proof
    through = "" if bias else " through the origin"
    if isinstance(found, Inseparable):
        what = "the convex hulls of the two classes meet" if bias else "the hull of the rows y·x holds the origin"
        proved = NotSeparableError(
            f"No hyperplane{through} separates the classes: {what}, in a combination of "
            f"{named('row', found.support)} that is exact (the certificate of this error proves it). "
            "Use SoftMarginClassifier, which allows for rows on the wrong side."
        )
    elif isinstance(found, Separable):
        apart = "The classes are separable" + ("" if bias else " through the origin")
        shown = "the certificate of this error proves it" + ("" if whole else ", for the rows that have weight")
        if isinstance(error, Unfinished):
            proved = Unfinished(f"{error} {apart}, though ({shown}).")
        else:
            proved = NotSeparableError(
                f"{apart} ({shown}), but by less than floats can resolve beside the size of the data: the "
                "widest hyperplane was not found. Scale the features, or use SoftMarginClassifier."
            )
    else:
        return error
    proved.certificate = found
    return proved
