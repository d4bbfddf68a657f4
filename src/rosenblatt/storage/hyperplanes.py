"""States of linear models as files hold them, and the models they are: nothing here loads more than numpy."""

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


def _sound_scheme(scheme: Scheme) -> None:
    require((scheme.kind == "binary") == (scheme.n_classes <= 2), "a scheme of so many classes has another kind")


def _sound_shrunk(shrunk: Shrunk) -> None:
    require(len(shrunk.sums) == 2 and shrunk.sums[0] > 0.0, "nothing shrinks so")


def _sound_state(state: State) -> None:
    require(state.w.shape[-1] >= 2 and len(state.w) > 0, "there are no weights")
    require(state.u is None or state.u.shape == state.w.shape, "weights and averages are of different shapes")
    shrunk = state.shrunk
    require(shrunk is None or shrunk.paid.shape == state.w.shape, "weights and penalties are of different shapes")


SCHEME = Record(
    Scheme,
    {"kind": Text(("binary", "direct", "ovr", "ovo")), "n_classes": Count(most=2**31)},
    check=_sound_scheme,
)
SHRUNK = Record(Shrunk, {"sums": Array(), "paid": WEIGHTS}, check=_sound_shrunk)
PENALTY = Record(Penalty, {"keep": Number(least=0.0), "rent": Number(least=0.0)})
STATE = Record(
    State, {"w": WEIGHTS, "u": Maybe(WEIGHTS), "visits": Count(), "shrunk": Maybe(SHRUNK)}, check=_sound_state
)

HYPERPLANES: dict[str, Codec] = {
    "_state": STATE,
    "_scheme": SCHEME,
    "_classes": LABELS,
    "_zero": Count(-1, 1),
    "_width": Count(1),
    "_names": Names(),
}
"""What every classifier with hyperplanes has."""


def require_hyperplanes(held: dict[str, Any]) -> None:
    """Require that state, scheme, classes and features of a linear model are of one problem."""
    state, scheme, width = held["_state"], held["_scheme"], held["_width"]
    require_problem(held)
    require(width <= state.n_features, "there are fewer weights than features")
    require_shape(state, scheme, state.n_features)


def require_problem(held: dict[str, Any]) -> None:
    """Require classes that the scheme can tell apart."""
    require(held["_scheme"].n_classes == len(held["_classes"]) > 0, "classes and scheme contradict each other")
    require(held["_zero"] != 0, "the side of zero is none")


def require_shape(state: State, scheme: Scheme, n_features: int) -> None:
    """Require one row of weights a machine; the number of machines is not computed from what a file says alone."""
    require(
        scheme.n_classes < 2**20 and state.w.shape == scheme.shape(n_features), "weights are not of their scheme"
    )


def linear_model(held: dict[str, Any]) -> LinearModel:
    """Return the model that predicts, as the estimator would."""
    state, width = held["_state"], held["_width"]
    weights = state.hypothesis()
    if width < state.n_features:  # a stream keeps room for features to come
        weights = weights[..., np.r_[0:width, state.n_features]]
    return LinearModel(weights, held["_scheme"], held["_classes"], held["_zero"])
