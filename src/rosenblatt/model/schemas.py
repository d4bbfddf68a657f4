"""Codecs of linear models and their states. Importing them loads nothing but numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops.shrinking import Penalty, Shrunk
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.state import State
from rosenblatt.schema.codecs import Array, Codec, Count, Maybe, Number, Record, Text, require
from rosenblatt.schema.plain import Labels, Names

LABELS = Labels()
WEIGHTS = Array(ndim=(1, 2))
SIDE = Count(-1, 1)
"""The side of zero: −1 or 1."""


def _sound_scheme(scheme: Scheme) -> None:
    require((scheme.kind == "binary") == (scheme.n_classes <= 2), "the scheme does not fit its number of classes")


def require_sound_shrunk(shrunk: Shrunk) -> None:
    """Require the two sums of a penalty, which loops read without a check."""
    require(len(shrunk.sums) == 2 and shrunk.sums[0] > 0.0, "the state of the penalty is invalid")


def require_sound_state(state: State) -> None:
    """Require weights, and averages and penalties of the same shape."""
    require(state.w.shape[-1] >= 2 and len(state.w) > 0, "there are no weights")
    require(state.u is None or state.u.shape == state.w.shape, "weights and averages have different shapes")
    shrunk = state.shrunk
    require(shrunk is None or shrunk.paid.shape == state.w.shape, "weights and penalties have different shapes")


SCHEME = Record(
    Scheme,
    {"kind": Text(("binary", "direct", "ovr", "ovo")), "n_classes": Count(most=2**31)},
    check=_sound_scheme,
)
SHRUNK = Record(Shrunk, {"sums": Array(), "paid": WEIGHTS}, check=require_sound_shrunk)
PENALTY = Record(Penalty, {"keep": Number(least=0.0), "rent": Number(least=0.0)})
STATE = Record(
    State,
    {"w": WEIGHTS, "u": Maybe(WEIGHTS), "visits": Count(), "shrunk": Maybe(SHRUNK)},
    check=require_sound_state,
)

HYPERPLANES: dict[str, Codec] = {
    "_state": STATE,
    "_scheme": SCHEME,
    "_classes": LABELS,
    "_zero": SIDE,
    "_width": Count(1),
    "_names": Names(),
}
"""The stored state of every classifier with hyperplanes."""


def require_hyperplanes(held: dict[str, Any]) -> None:
    """Require that state, scheme, classes and number of features of a linear model agree."""
    state, scheme, width = held["_state"], held["_scheme"], held["_width"]
    require_problem(held)
    require(width <= state.n_features, "there are fewer weights than features")
    require_shape(state, scheme, state.n_features)


def require_problem(held: dict[str, Any]) -> None:
    """Require as many classes as the scheme has, and a side of zero."""
    require(held["_scheme"].n_classes == len(held["_classes"]) > 0, "classes and scheme contradict each other")
    require(held["_zero"] != 0, "zero must be -1 or 1")


def require_shape(state: State, scheme: Scheme, n_features: int) -> None:
    """Require one row of weights for each machine of the scheme, before anything is allocated."""
    require(
        scheme.n_classes < 2**20 and state.w.shape == scheme.shape(n_features),
        "weights do not have the shape of their scheme",
    )


def linear_model(held: dict[str, Any]) -> LinearModel:
    """Return the model that predicts what the estimator would."""
    state, width = held["_state"], held["_width"]
    weights = state.hypothesis()
    if width < state.n_features:  # a stream keeps room for features to come
        weights = weights[..., np.r_[0:width, state.n_features]]
    return LinearModel(weights, held["_scheme"], held["_classes"], held["_zero"])


def _sound_linear(model: LinearModel) -> None:
    require(model.scheme.n_classes == len(model.classes), "classes and scheme contradict each other")
    n_features = model.weights.shape[-1] - 1
    require(n_features >= 1 and model.scheme.n_classes < 2**20, "there are no weights")
    require(model.weights.shape == model.scheme.shape(n_features), "weights do not have the shape of their scheme")


LINEAR_MODEL = Record(
    LinearModel, {"weights": WEIGHTS, "scheme": SCHEME, "classes": LABELS, "zero": SIDE}, check=_sound_linear
)
