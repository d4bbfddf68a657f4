"""Codecs of the record of a run: mistakes, traces, curves and recorders."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.codecs import (
    INTEGERS,
    Array,
    Codec,
    Count,
    Either,
    Maybe,
    Number,
    Record,
    Several,
    Text,
    require,
    same_length,
)
from rosenblatt.learning.recorder import Curve, Mistakes, Recorder
from rosenblatt.learning.stored_state import LABELS, PENALTY, SCHEME, SIDE, STATE, require_shape
from rosenblatt.learning.trace import MOST_VISITS, Trace, sound_mistakes, sound_run

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
