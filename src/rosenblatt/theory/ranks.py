"""The bound on the ranks that the ordinal perceptron is off (Crammer and Singer 2001).

A row of rank y is K − 1 examples of two classes: (x, −e_r) with the label +1 for thresholds r below y, and −1 for
the others. A vector with thresholds b separates the ranks if (w, b) separates these examples through the origin,
and an update sums the examples that are wrong.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.data.features import as_rows
from rosenblatt.data.labels import encode_labels
from rosenblatt.exceptions import ParameterError, UndecidedError
from rosenblatt.rationals.dyadic import above
from rosenblatt.theory.bound import Bound, Bounds
from rosenblatt.theory.separable import root
from rosenblatt.theory.training_set import TrainingSet


def rank_bounds(X: Any, y: Any, model: Any, clock: Clock) -> Bounds:
    """Return (K − 1)(R² + 1)/γ² beside the ranks that the model was off in its last fit."""
    features = as_rows(X)
    dense = features.dense()
    codes = encode_labels(y, model.classes_, features.n_rows)
    K = len(model.classes_)
    if K * dense.size > 2**24:
        raise ParameterError(f"X has {dense.size:,} values, too many for the bound on ranks. Pass fewer rows.")
    thresholds = np.repeat(-np.eye(K - 1)[None], features.n_rows, axis=0).reshape(-1, K - 1)
    rows = np.hstack([np.repeat(dense, K - 1, axis=0), thresholds])
    sides = np.where(codes[:, None] > np.arange(K - 1), 1, -1).reshape(-1)
    bound = Bound("ranks", "Crammer and Singer 2001", "(K − 1)(R² + 1)/γ²", rule="PRank", of="(x, −e_r)")
    try:
        sample = TrainingSet(rows, sides, clock)
        margin = sample.margin(Fraction(0))
    except Unsettled as end:
        raise UndecidedError(f"The bound is not known: {end}") from end
    if margin is None:
        return Bounds([bound.without("no vector and thresholds separate the ranks")], separable=False)
    value = (K - 1) * sample.square / margin.squared[0]  # the norm of (x, −e_r) is R² + 1
    uses = {"R": root(sample.square - 1), "γ": margin.interval, "K": (float(K), float(K))}
    unweighted = replace(bound, value=above(value), rational=value, uses=uses, note="no row had a sample weight")
    if "_run" not in vars(model):
        return Bounds([unweighted], separable=True)
    if model._run.start.w.any():
        return Bounds([unweighted.without("the start is not the origin")], separable=True)
    return Bounds([replace(unweighted, observed=model.rank_errors_)], separable=True)
