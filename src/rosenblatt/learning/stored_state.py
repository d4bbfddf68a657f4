"""Codecs of linear models and their states. Importing them loads nothing but numpy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.scheme import Scheme
from rosenblatt.learning.state import Dual, MetFeatures, State, Variance, is_wide
from rosenblatt.loops.rules import Penalty, Shrunk
from rosenblatt.schema.codecs import INTEGERS, Array, Codec, Context, Count, Maybe, Number, Record, Text, require
from rosenblatt.schema.plain import Labels, Names

LABELS = Labels()
WEIGHTS = Array(ndim=(1, 2))
LARGE_WEIGHTS_BYTES = 1 << 16
"""Bytes of weights from which on a file leaves out features whose weights are all zero."""
SIDE = Count(-1, 1)
"""The side of zero: −1 or 1."""


def _sound_scheme(scheme: Scheme) -> None:
    require((scheme.kind == "binary") == (scheme.n_classes <= 2), "the scheme does not fit its number of classes")


def require_sound_shrunk(shrunk: Shrunk) -> None:
    """Require the two sums of a penalty, which loops read without a check."""
    require(len(shrunk.sums) == 2 and shrunk.sums[0] > 0.0, "the state of the penalty is invalid")


def require_sound_state(state: State) -> None:
    """Require weights, averages and penalties of the same shape, and features that have them."""
    met = state.met
    require(len(state.w) > 0 and state.w.shape[-1] >= (2 if met is None else 1), "there are no weights")
    if met is not None:
        require(len(met.columns) == state.w.shape[-1] - 1, "weights and features met contradict each other")
    require(state.u is None or state.u.shape == state.w.shape, "weights and averages have different shapes")
    shrunk = state.shrunk
    require(shrunk is None or shrunk.paid.shape == state.w.shape, "weights and penalties have different shapes")
    s = None if state.variance is None else state.variance.s
    require(s is None or s.shape == state.w.shape, "weights and variances have different shapes")
    if state.dual is not None:
        theta, unit, p = state.dual
        require(theta.shape == state.w.shape and len(unit) == 2, "weights and their powers have different shapes")
        require(p == int(p) and unit[0] > 0.0 and unit[1] >= 0.0, "the powers of the weights are invalid")


SCHEME = Record(
    Scheme,
    {"kind": Text(("binary", "direct", "ovr", "ovo")), "n_classes": Count(most=2**31)},
    check=_sound_scheme,
)
PENALTY = Record(Penalty, {"keep": Number(least=0.0), "rent": Number(least=0.0)})


def _sound_met(met: MetFeatures) -> None:
    """Require features that exist, in ascending order, which loops and searches rely on."""
    columns = met.columns
    require(len(columns) <= met.n_features, "there are more features with weights than features")
    require(not len(columns) or 0 <= columns[0] <= columns[-1] < met.n_features, "a feature is not there")
    require((columns[1:] > columns[:-1]).all(), "features with weights are not in order")


MET = Record(MetFeatures, {"columns": INTEGERS, "n_features": Count(1)}, check=_sound_met)


@dataclass(frozen=True)
class States:
    """A state. One with weights of zero for most of many features is written without these weights.

    Attributes
    ----------
    weights : Codec
        How each array of weights is written.
    """

    weights: Codec = WEIGHTS

    def encode(self, value: State, at: str, context: Context) -> Any:
        """Return a table of the parts; `met` is null unless features are left out."""
        state = value
        if value.met is not None or value.w.nbytes >= LARGE_WEIGHTS_BYTES:
            gathered = value.gathered()
            sparse = value.met is not None or 2 * gathered.w.shape[-1] <= value.w.shape[-1]
            state = gathered if sparse else value
        return self._record.encode(state, at, context)

    def decode(self, stored: Any, at: str, context: Context) -> State:
        """Return the state, with weights for all features unless that would take much memory."""
        state: State = self._record.decode(stored, at, context)
        return state if is_wide(state.shape) else state.spread()

    @cached_property
    def _record(self) -> Record:
        shrunk = Record(Shrunk, {"sums": Array(), "paid": self.weights}, check=require_sound_shrunk)
        variance = Record(Variance, {"s": self.weights, "phi": Number(least=0.0)})
        dual = Record(Dual, {"theta": self.weights, "unit": Array(), "p": Number(least=2.0)})
        parts: dict[str, Codec] = {
            "w": self.weights,
            "u": Maybe(self.weights),
            "visits": Count(),
            "shrunk": Maybe(shrunk),
            "met": Maybe(MET),
            "variance": Maybe(variance),
            "dual": Maybe(dual),
        }
        return Record(State, parts, check=require_sound_state)


STATE: Codec = States()

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
        scheme.n_classes < 2**20 and state.shape == scheme.shape(n_features),
        "weights do not have the shape of their scheme",
    )


def linear_model(held: dict[str, Any]) -> LinearModel:
    """Return the model that predicts what the estimator would."""
    return LinearModel.of(*(held[name] for name in ("_state", "_width", "_scheme", "_classes", "_zero")))


def _sound_linear(model: LinearModel) -> None:
    require(model.scheme.n_classes == len(model.classes), "classes and scheme contradict each other")
    n_features = model.weights.shape[-1] - 1
    require(n_features >= 1 and model.scheme.n_classes < 2**20, "there are no weights")
    require(model.weights.shape == model.scheme.shape(n_features), "weights do not have the shape of their scheme")


LINEAR_MODEL = Record(
    LinearModel, {"weights": WEIGHTS, "scheme": SCHEME, "classes": LABELS, "zero": SIDE}, check=_sound_linear
)
