"""The bounds on the ranks that the ordinal perceptron is off, and on the updates of the ranking perceptron.

A row of rank y is K − 1 examples of two classes: (x, −e_r) with the label +1 for thresholds r below y, and −1 for
the others. A vector with thresholds b separates the ranks if (w, b) separates these examples through the origin,
and an update sums the examples that are wrong (Crammer and Singer 2001).

A pair of rows to be ranked is the example x⁺ − x⁻ of a perceptron without a bias (Novikoff 1962).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certify.rationals import above, exact
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.exceptions import ParameterError, UndecidedError
from rosenblatt.rows.features import as_rows
from rosenblatt.rows.labels import as_measurements, encode_labels
from rosenblatt.rows.pairs import as_groups, pairs_of
from rosenblatt.theory.bound import Bound, Bounds
from rosenblatt.theory.separable import root
from rosenblatt.theory.training_set import TrainingSet

MOST_VALUES = 1 << 24


def rank_bounds(X: Any, y: Any, model: Any, clock: Clock) -> Bounds:
    """Return (K − 1)(R² + 1)/γ² beside the ranks that the model was off in its last fit."""
    features = as_rows(X)
    dense = features.dense()
    codes = encode_labels(y, model.classes_, features.n_rows)
    K = len(model.classes_)
    if K * dense.size > MOST_VALUES:
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


def pair_bounds(X: Any, y: Any, qid: Any, model: Any, clock: Clock) -> Bounds:
    """Return (R² + 2m/η)/γ² for the differences x⁺ − x⁻ of all pairs, beside the updates of the last fit."""
    features = as_rows(X)
    dense = features.dense()
    plus, minus = pairs_of(
        as_measurements(y, features.n_rows).reshape(features.n_rows), as_groups(qid, len(dense))
    )
    if not len(plus):
        raise ParameterError("No group has rows with different y, so there is no pair to rank. Pass other rows.")
    if len(plus) * dense.shape[1] > MOST_VALUES:
        raise ParameterError(f"There are {len(plus):,} pairs, too many for the bound on them. Pass fewer rows.")
    apart = dense[plus] - dense[minus]
    whole = bool(((apart + dense[minus] == dense[plus]) & (dense[plus] - apart == dense[minus])).all())
    bound = Bound("pairs", "Novikoff 1962", "(R² + 2m/η)/γ²", rule="RankingPerceptron", of="x⁺ − x⁻")
    notes = ["no row had a sample weight", *([] if whole else ["differences of rows were rounded to floats"])]
    try:
        sample = TrainingSet(np.vstack([apart, -apart]), np.repeat([1, -1], len(apart)), clock)
        margin = sample.margin(Fraction(0))
    except Unsettled as end:
        raise UndecidedError(f"The bound is not known: {end}") from end
    if margin is None:
        return Bounds([bound.without("no vector ranks all pairs")], separable=False)
    slack = Fraction(0) if model is None else 2 * exact(float(model.margin)) / exact(float(model.eta0))
    value = (sample.square + slack) / margin.squared[0]
    uses = {"R": root(sample.square), "γ": margin.interval}
    found = replace(bound, value=above(value), rational=value, uses=uses, note="; ".join(notes))
    if model is None or "_run" not in vars(model):
        return Bounds([found], separable=True)
    if model._run.start.w.any():
        return Bounds([found.without("the start is not the origin")], separable=True)
    return Bounds([replace(found, observed=sum(model._run.recorder.mistakes_per_pass))], separable=True)
