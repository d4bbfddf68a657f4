"""Records of runs, and streams under way, as files hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.certify.certificate import Certificate, Inseparable
from rosenblatt.estimators._fitting import Drawn
from rosenblatt.learners.balance import Balance
from rosenblatt.loops.rules import Rule
from rosenblatt.schema.codecs import (
    Array,
    Codec,
    Context,
    Count,
    Either,
    Flag,
    Maybe,
    Number,
    Record,
    Several,
    Text,
    require,
    wrong,
)
from rosenblatt.schema.kernels import KERNEL
from rosenblatt.schema.plain import PerLabel
from rosenblatt.storage.hyperplanes import LABELS, PENALTY, SCHEME, STATE, require_shape
from rosenblatt.storage.kernels import BUDGET, KERNEL_STATE
from rosenblatt.trace.curve import Curve
from rosenblatt.trace.export import MOST_VISITS, sound_mistakes, sound_run
from rosenblatt.trace.kernel import KernelTrace
from rosenblatt.trace.record import Trace
from rosenblatt.trace.recorder import Mistakes, Recorder

LONGEST_TRACE = 2**16
"""Mistakes of a fit that its model file keeps: a megabyte and a half. Of longer ones it keeps the counts."""

COUNTS = Array(dtypes=(np.int64,))
COLUMN = Array(finite=False)
SIDE = Count(-1, 1)


def _small(column: Any) -> Any:
    """Return one number for a column that is the same number seen many times."""
    return column[:1] if len(column) and column.strides == (0,) else column


def _parts_of_mistakes(mistakes: Mistakes) -> dict[str, Any]:
    return mistakes._asdict() | {"step": _small(mistakes.step), "machine": _small(mistakes.machine)}


def _mistakes(visit: Any, index: Any, score: Any, step: Any, machine: Any) -> Mistakes:
    n = len(visit)
    step, machine = (np.broadcast_to(each[0], n) if len(each) == 1 != n else each for each in (step, machine))
    return Mistakes(visit, index, score, step, machine)


def _sound_columns(mistakes: Mistakes) -> None:
    require(len({len(column) for column in mistakes}) == 1, "mistakes are told of in columns of different lengths")


MISTAKES = Record(
    _mistakes,
    {
        "visit": COUNTS,
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
    require(trace.mistakes is None or len(trace.mistakes.visit) == len(trace), "there are not as many mistakes")
    require(sound_run(trace), "passes, visits and mistakes contradict each other")
    require(trace.mistakes is None or sound_mistakes(trace), "its mistakes contradict each other")
    if isinstance(trace, KernelTrace):
        return
    require_shape(trace.start, trace.scheme, trace.n_features)
    require((trace.start.shrunk is None) == (trace.penalty is None), "start and penalty contradict each other")


_TRACE: dict[str, Codec] = {
    "mistakes": Maybe(MISTAKES),
    "mistakes_per_pass": COUNTS,
    "visits_per_pass": COUNTS,
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
_KERNEL_TRACE = _TRACE | {
    "start": KERNEL_STATE,
    "kernel": KERNEL,
    "budget": Maybe(BUDGET),
    "numbered": Flag(),
}
TRACE = Either(
    {
        "trace": (Trace, Record(Trace, _TRACE, check=_sound_trace)),
        "kernel": (KernelTrace, Record(KernelTrace, _KERNEL_TRACE, check=_sound_trace)),
    }
)
CURVE = Record(Curve, {"training": COLUMN, "validation": Maybe(COLUMN)})
DRAWN = Record(Drawn, {"seed": Count(most=2**64 - 1), "held_out": Maybe(COUNTS), "passes": Count()})
RULE = Record(Rule, dict.fromkeys(Rule._fields, Number()))
CLASS_WEIGHT = Either(
    {
        "given": (dict, PerLabel(Number(least=0.0))),
        "balanced": (Balance, Record(Balance, {"counts": PerLabel(Count())})),
    }
)


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
    if mistakes is not None:
        recorder._parts = [mistakes]
    return recorder


def _sound_recorder(recorder: Recorder) -> None:
    counts = recorder.mistakes_per_pass
    require(len(counts) == len(recorder.visits_per_pass) >= 1, "counts of passes contradict each other")
    kept = recorder.mistakes()
    require((kept is None) == (recorder.detail != "mistakes"), "mistakes are kept, or missing, against its word")
    require(kept is None or len(kept.visit) == sum(counts), "there are not as many mistakes as counted")


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


class Proof:
    """A certificate, as the text that anyone can check."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the text."""
        return value.to_json()

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the certificate; it is not believed before somebody verifies it."""
        try:
            proof = Certificate.from_json(told if isinstance(told, str) else "")
        except (ValueError, TypeError, KeyError, ArithmeticError) as error:
            wrong(at, f"is no proof: {error}")
        if not isinstance(proof, Inseparable):
            wrong(at, "proves something else than that classes cannot be told apart")
        return proof


FACTS: dict[str, Codec] = {
    "n_iter_": Count(),
    "converged_": Flag(),
    "stop_reason_": Text(),
    "curve_": CURVE,
}
"""How a run went, in words and numbers."""

RUN: dict[str, Codec] = {
    **FACTS,
    "_class_counts": PerLabel(Count()),
    "_trace": TRACE,
    "_traced": Flag(),
    "_untraced": Maybe(Text()),
    "_sparse_coef": Flag(),
}
"""What a fit leaves besides, where there was one."""


def without_long_trace(held: dict[str, Any]) -> dict[str, Any]:
    """Return what an estimator holds with the counts alone of a record that is too long for a model file."""
    trace = held.get("_trace")
    if trace is None or trace.mistakes is None or len(trace) <= LONGEST_TRACE:
        return held
    from dataclasses import replace

    told = (
        f"The model file this was loaded from kept no trace: a run of {len(trace):,} mistakes is longer than the "
        f"{LONGEST_TRACE:,} that one keeps. Save it beside the model, by trace_.save, before it is gone."
    )
    return held | {"_trace": replace(trace, mistakes=None), "_traced": False, "_untraced": told}
