"""Codecs of linear models, their states, and the record of a run. Importing them loads nothing but numpy."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rosenblatt.codecs import (
    INTEGERS,
    Array,
    Codec,
    Context,
    Count,
    Either,
    Labels,
    Maybe,
    Names,
    Number,
    Record,
    Several,
    Text,
    require,
    same_length,
)
from rosenblatt.learning.linear import LinearModel, Scheme
from rosenblatt.learning.state import MetFeatures, State, is_wide
from rosenblatt.learning.trace import MOST_VISITS, Curve, Mistakes, Recorder, Trace, sound_mistakes, sound_run
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


COLUMN = Array(finite=False)


def _small(column: Any) -> Any:
    """Return one number for a column that repeats one number in memory."""
    return column[:1] if len(column) and column.strides == (0,) else column


def _parts_of_mistakes(mistakes: Mistakes) -> dict[str, Any]:
    return mistakes._asdict() | {"step": _small(mistakes.step), "machine": _small(mistakes.machine)}


def _mistakes(visit: Any, index: Any, score: Any, step: Any, machine: Any) -> Mistakes:
    n = len(visit)
    step, machine = (np.broadcast_to(each[0], n) if len(each) == 1 != n else each for each in (step, machine))
    return Mistakes(visit, index, score, step, machine)


def _sound_columns(mistakes: Mistakes) -> None:
    require(same_length(*mistakes), "the columns of mistakes have different lengths")


MISTAKES = Record(
    _mistakes,
    {
        "visit": INTEGERS,
        "index": Array(dtypes=(np.int32, np.int64)),
        "score": Array(),
        "step": Array(),
        "machine": Array(dtypes=(np.int32,)),
    },
    take=_parts_of_mistakes,
    check=_sound_columns,
)


def _sound_trace(trace: Trace) -> None:
    require(trace.scheme.n_classes == len(trace.classes), "classes and scheme contradict each other")
    counts, visits = trace.mistakes_per_pass, trace.visits_per_pass
    few = all(not len(each) or (each.min() >= 0 and each.max() <= MOST_VISITS) for each in (counts, visits))
    require(few and len(counts) <= MOST_VISITS, "passes have too many visits")
    require(trace.mistakes is None or len(trace.mistakes.visit) == len(trace), "mistakes are missing")
    require(sound_run(trace), "passes, visits and mistakes contradict each other")
    require(trace.mistakes is None or sound_mistakes(trace), "its mistakes contradict each other")
    if type(trace) is not Trace:
        return  # a trace of another family
    require_shape(trace.start, trace.scheme, trace.n_features)
    require((trace.start.shrunk is None) == (trace.penalty is None), "start and penalty contradict each other")


_TRACE: dict[str, Codec] = {
    "mistakes": Maybe(MISTAKES),
    "mistakes_per_pass": INTEGERS,
    "visits_per_pass": INTEGERS,
    "start": STATE,
    "n_rows": Count(),
    "n_features": Count(1),
    "scheme": SCHEME,
    "classes": LABELS,
    "bias": Number(),
    "radius": Maybe(Number()),
    "zero": SIDE,
    "penalty": Maybe(PENALTY),
}


def trace_of(name: str, kind: type[Trace], own: dict[str, Codec]) -> Either:
    """Return the codec of the traces of a family, with the parts that are its own."""
    return Either({name: (kind, Record(kind, _TRACE | own, check=_sound_trace))})


TRACE = trace_of("trace", Trace, {})
CURVE = Record(Curve, {"training": COLUMN, "validation": Maybe(COLUMN)})


def _parts_of_recorder(recorder: Recorder) -> dict[str, Any]:
    return {
        "detail": recorder.detail,
        "mistakes_per_pass": recorder.mistakes_per_pass,
        "visits_per_pass": recorder.visits_per_pass,
        "mistakes": recorder.mistakes(),
    }


def _recorder(detail: Any, mistakes_per_pass: Any, visits_per_pass: Any, mistakes: Any) -> Recorder:
    recorder = Recorder(detail)
    recorder.mistakes_per_pass, recorder.visits_per_pass = mistakes_per_pass, visits_per_pass
    recorder.wrong_per_pass = [0] * len(mistakes_per_pass)  # a stream counts them itself
    if mistakes is not None:
        recorder._parts = [mistakes]
    return recorder


def _sound_recorder(recorder: Recorder) -> None:
    counts = recorder.mistakes_per_pass
    require(len(counts) == len(recorder.visits_per_pass) >= 1, "counts of passes contradict each other")
    kept = recorder.mistakes()
    require((kept is None) == (recorder.detail != "mistakes"), "its detail and its mistakes contradict each other")
    require(kept is None or len(kept.visit) == sum(counts), "the numbers of mistakes and of counts differ")


RECORDER = Record(
    _recorder,
    {
        "detail": Maybe(Text(("mistakes", "counts"))),
        "mistakes_per_pass": Several(Count()),
        "visits_per_pass": Several(Count()),
        "mistakes": Maybe(MISTAKES),
    },
    take=_parts_of_recorder,
    check=_sound_recorder,
)
