"""Codecs of linear models and their states. Importing them loads nothing but numpy."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from rosenblatt.codecs import (
    INTEGERS,
    Array,
    Codec,
    Context,
    Count,
    Labels,
    Maybe,
    Names,
    Number,
    Record,
    Text,
    require,
)
from rosenblatt.learning.linear import LinearModel, Scheme
from rosenblatt.learning.state import MetFeatures, State, is_wide
from rosenblatt.loops.rules import MEMORIES, Memory, Penalty, memory_of

LABELS = Labels()
WEIGHTS = Array(ndim=(1, 2))
LARGE_WEIGHTS_BYTES = 1 << 16
"""Bytes of weights from which on a file leaves out features whose weights are all zero."""
SIDE = Count(-1, 1)
"""The side of zero: −1 or 1."""


def _sound_scheme(scheme: Scheme) -> None:
    require((scheme.kind == "binary") == (scheme.n_classes <= 2), "the scheme does not fit its number of classes")


def require_sound_state(state: State) -> None:
    """Require weights, averages and what rules keep of the same shape, and features that have them."""
    met = state.met
    require(len(state.w) > 0 and state.w.shape[-1] >= (2 if met is None else 1), "there are no weights")
    if met is not None:
        require(len(met.columns) == state.w.shape[-1] - 1, "weights and features met contradict each other")
    require(state.u is None or state.u.shape == state.w.shape, "weights and averages have different shapes")
    sums = state.u is None or state.shrunk is None or state.averaging is not None
    require(sums, "an average of shrinking weights has no sums")
    for name, memory in state.memory.items():
        same = all(array.shape == state.w.shape for array in memory.shaped)
        require(same, f"weights and the values of {name} have different shapes")
        fault = memory.fault()
        require(fault is None, fault or "")


def require_memory_of(rule: Any, state: State) -> None:
    """Require that a state keeps what a rule, or a kind of rule, moves besides weights, and nothing else."""
    wanted = memory_of(rule)
    own = {name for name, memory in state.memory.items() if memory.rule is not None}
    odd = own ^ (set() if wanted is None else {wanted.name})
    require(not odd, f"the values of {min(odd, default='')} contradict the rule of the model")


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
        return self._record(state.memory.keys() - FIRST_MEMORIES).encode(state, at, context)

    def decode(self, stored: Any, at: str, context: Context) -> State:
        """Return the state, with weights for all features unless that would take much memory."""
        others = stored.keys() & (MEMORIES.keys() - FIRST_MEMORIES) if isinstance(stored, dict) else set()
        state: State = self._record(others).decode(stored, at, context)
        return state if is_wide(state.shape) else state.spread()

    def _record(self, others: set[str]) -> Record:
        """Return the codec of a state with places for the memories of these names too."""
        first: dict[str, Codec] = {"w": self.weights, "u": Maybe(self.weights), "visits": Count()}
        kept = {name: Maybe(self._memory(MEMORIES[name])) for name in (*FIRST_MEMORIES, *sorted(others))}
        shrunk = {"shrunk": kept.pop("shrunk")}
        return Record(_state, first | shrunk | {"met": Maybe(MET)} | kept, _parts, require_sound_state)

    def _memory(self, kind: type[Memory]) -> Record:
        def codec(name: str) -> Codec:
            if name in kind.slots:
                return self.weights
            return Number(least=kind.least[name]) if name in kind.least else Array()

        return Record(kind, {each.name: codec(each.name) for each in fields(kind)})


def _state(w: Any, u: Any, visits: int, met: Any, **memory: Memory | None) -> State:
    return State(w, u, visits, met, {name: kept for name, kept in memory.items() if kept is not None})


def _parts(state: State) -> dict[str, Any]:
    held = {"w": state.w, "u": state.u, "visits": state.visits, "met": state.met}
    return held | {name: state.memory.get(name) for name in MEMORIES}


FIRST_MEMORIES = ("shrunk", "variance", "dual")
"""The memories that have a place in every file; those of other rules are written where they are used."""
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
