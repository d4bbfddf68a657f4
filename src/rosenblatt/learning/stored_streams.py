"""Codecs of streams, of the rules they learn by, of the hypotheses that vote, and of the record of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import (
    FEATURES,
    INTEGERS,
    SCALAR,
    TABLE,
    Array,
    Codec,
    Context,
    Count,
    Either,
    Flag,
    Maybe,
    Number,
    PerLabel,
    Record,
    Several,
    Text,
    VocabularyCodec,
    require,
    require_width,
    same_length,
)
from rosenblatt.learning.linear import (
    HYPERPLANES,
    LABELS,
    LINEAR_MODEL,
    SCHEME,
    SIDE,
    require_hyperplanes,
    require_shape,
)
from rosenblatt.learning.state import PENALTY, STATE, State, require_memory_of
from rosenblatt.learning.stream import Balance, Stream
from rosenblatt.learning.trace import MOST_VISITS, Curve, Mistakes, Recorder, Trace, sound_mistakes, sound_run
from rosenblatt.learning.vote import Hypotheses, VotedStream
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.rules import PLAIN, Margins, Rule
from rosenblatt.loops.votes import Moves
from rosenblatt.rows.features import stack_rows

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


CLASS_WEIGHT = Either(
    {
        "given": (dict, PerLabel(Number(least=0.0))),
        "balanced": (Balance, Record(Balance, {"counts": PerLabel(Count())})),
    }
)


class PerceptronRules:
    """The rules of a perceptron: five numbers, and one more where margins are uneven."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the numbers by name."""
        return self._of(type(value)).encode(value, at, context)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the rule."""
        uneven = isinstance(stored, dict) and "margin_minus" in stored
        return self._of(Margins if uneven else Rule).decode(stored, at, context)

    def _of(self, kind: Any) -> Record:
        return Record(kind, dict.fromkeys(kind._fields, Number()))


PERCEPTRON_RULE = PerceptronRules()
_STREAM: dict[str, Codec] = {
    "multiclass": Text(("direct", "ovr", "ovo")),
    "zero": SIDE,
    "penalty": Maybe(PENALTY),
    "classes": LABELS,
    "grows": Flag(),
    "class_weight": CLASS_WEIGHT,
    "may_mirror": Flag(),
    "radius": Maybe(Number()),
    "mistakes": Count(),
    "seen": Count(),
    "recorder": RECORDER,
}
Kinds: TypeAlias = dict[str, tuple[type[Stream], dict[str, Codec]]]
KINDS: Kinds = {
    "stream": (Stream, {}),
    "voted": (VotedStream, {"rows": Maybe(FEATURES), "numbers": Several(SCALAR), "labels": INTEGERS}),
}
"""Streams of hyperplanes by name, each with the parts that it has besides those of all."""


def _parts_of_stream(stream: Stream) -> dict[str, Any]:
    names = ["start", "rule", *(name for name in _STREAM if name != "may_mirror")]
    parts = {name: getattr(stream, name) for name in [*names, "wrong"]} | {"may_mirror": stream._may_mirror}
    parts |= {name: getattr(stream, name) for name in stream.own_parts}
    if isinstance(stream, VotedStream):
        parts["rows"] = stack_rows(stream._rows) if stream._rows else None
        parts["numbers"] = list(stream._numbers)
        parts["labels"] = np.concatenate([np.empty(0, np.int64), *stream._labels])
    return parts


class StreamParts(NamedTuple):
    """A stream that was read, but for the state it continues from: its estimator holds that state too."""

    kind: type[Stream]
    parts: dict[str, Any]


def stream_of(rule: Any = Rule, kinds: Kinds = KINDS) -> Either:
    """Return the codec of streams that learn by `Rule`, or by a rule of your own whose fields are all numbers.

    It reads `StreamParts`, which `revive_stream` completes.
    """
    numbers: Codec = PERCEPTRON_RULE
    if rule is not Rule:
        numbers = Record(rule, dict.fromkeys(rule._fields, Number(finite=False)))
    counted: dict[str, Codec] = {} if rule in PLAIN else {"wrong": Count()}
    return Either(
        {
            name: (
                kind,
                Record(
                    _parts_read(kind),
                    {"start": STATE, "rule": numbers} | _STREAM | counted | own,
                    take=_parts_of_stream,
                ),
            )
            for name, (kind, own) in kinds.items()
        }
    )


def _parts_read(kind: type[Stream]) -> Callable[..., StreamParts]:
    return lambda **parts: StreamParts(kind, parts)


def revive_stream(read: StreamParts, state: Any) -> Stream:
    """Return the stream that continues from a state."""
    kind, parts = read.kind, dict(read.parts)
    start, mistakes, seen, recorder = (parts.pop(name) for name in ("start", "mistakes", "seen", "recorder"))
    wrong = parts.pop("wrong", 0)
    voted = {name: parts.pop(name) for name in ("rows", "numbers", "labels") if name in parts}
    stream: Stream = kind(state, detail=recorder.detail, **parts)
    stream.start, stream.mistakes, stream.seen, stream.recorder = start, mistakes, seen, recorder
    stream.wrong = wrong
    _sound_stream(stream)
    if isinstance(stream, VotedStream):
        rows, numbers, labels = voted["rows"], voted["numbers"], voted["labels"]
        stream._rows, stream._labels = ([], []) if rows is None else ([rows], [labels])
        stream._numbers = {label: k for k, label in enumerate(numbers)}
        _sound_vote(stream, labels)
    return stream


def require_names(held: dict[str, Any]) -> None:
    """Require as many feature names as there are features."""
    vocabulary, names, width = held.get("_vocabulary"), held["_names"], held["_width"]
    require(names is None or len(names) <= width, "there are more names than features")
    require(vocabulary is None or len(vocabulary) == width, "the numbers of names and of features differ")
    require(names is None or vocabulary is not None or len(names) == width, "names of features are missing")


def online_parts(rule: Any = Rule, kinds: Kinds = KINDS) -> dict[str, Codec]:
    """Return the required attributes of a classifier that learns from streams by a kind of rule."""
    return HYPERPLANES | {
        "_vocabulary": Maybe(VocabularyCodec()),
        "_stream": Maybe(stream_of(rule, kinds)),
        "_fit_counts": Several(Count()),
    }


def link_stream(held: dict[str, Any]) -> None:
    """Let a stream share the state of its estimator, and require that they agree."""
    require_names(held)
    if held["_stream"] is not None:
        stream = held["_stream"] = revive_stream(held["_stream"], held["_state"])
        fits = stream.scheme == held["_scheme"] and stream.zero == held["_zero"]
        require(fits and type(held["_state"]) is type(stream.start), "stream and model contradict each other")
        require(stream.classes.tolist() == held["_classes"].tolist(), "the stream has other classes")
    require("_trace" in held or held["_stream"] is not None, "there is neither a run nor a stream")
    require(("_trace" in held) == ("_traced" in held), "trace and run contradict each other")


def link_online(held: dict[str, Any], rule: Any = Rule) -> None:
    """Require hyperplanes that agree with the stream and with the kind of rule they learn by."""
    require_hyperplanes(held)
    require_memory_of(rule, held["_state"])
    link_stream(held)


def _sound_stream(stream: Stream) -> None:
    counted, visited = stream.recorder.mistakes_per_pass, stream.recorder.visits_per_pass
    # Without a record, single examples do not reach the recorder.
    require(
        counted[0] <= stream.mistakes and visited[0] <= stream.seen, "counts of the stream contradict each other"
    )
    require(stream.wrong <= stream.mistakes, "a stream is wrong more often than it learns")
    require(
        stream.mistakes <= stream.seen * max(1, stream.scheme.n_machines),
        "a stream makes fewer mistakes than it sees rows",
    )
    if type(stream.start) is State:
        require_shape(stream.start, stream.scheme, stream.state.n_features)
        require_memory_of(stream.rule, stream.start)
        require(stream.start.average == stream.state.average, "start and state contradict each other")
        shrinks = {stream.start.shrunk is not None, stream.state.shrunk is not None, stream.penalty is not None}
        require(len(shrinks) == 1, "start, state and penalty contradict each other")
    kept = stream.recorder.mistakes()
    if kept is not None:
        machines = 2 if stream.scheme.kind == "binary" else stream.scheme.n_machines
        require(
            not len(kept.machine) or (kept.machine.min() >= 0 and kept.machine.max() < machines),
            "a mistake names a machine that is not there",
        )
        require(
            not len(kept.index) or (kept.index.min() >= 0 and kept.index.max() < stream.seen),
            "a mistake names an example that is not there",
        )


def _sound_vote(stream: VotedStream, labels: NDArray[Any]) -> None:
    kept = stream.recorder.mistakes()
    require(kept is not None, "a vote keeps its mistakes")
    assert kept is not None
    n_rows = 1 + int((np.diff(kept.index) != 0).sum()) if len(kept.index) else 0
    require(
        n_rows == len(labels) == sum(rows.n_rows for rows in stream._rows),
        "the numbers of mistakes and of rows differ",
    )
    require(
        len(stream._numbers) > int(labels.max(initial=-1)) and labels.min(initial=0) >= 0,
        "a row has a label that is not there",
    )
    require(all(label in stream._codes for label in stream._numbers), "a label is no class")
    require(all(rows.n_features <= stream.state.n_features for rows in stream._rows), "rows are too wide")


MOVES = Record(Moves, {"row": INTEGERS, "target": INTEGERS, "step": Array(), "survived": INTEGERS})


def _sound_hypotheses(run: Hypotheses) -> None:
    moves, n = run.moves, run.n_mistaken
    require(same_length(*moves), "the columns of moves have different lengths")
    require(
        (run.rows is None) == (n == 0) and (n or not len(moves.row)), "mistakes and rows contradict each other"
    )
    if run.rows is None:
        return
    outputs = 1 if run.start.scheme.kind == "binary" else len(run.start.classes)
    require(
        len(moves.row) and moves.row.min() >= 0 and moves.row.max() < n, "a move names a row that is not there"
    )
    require(moves.target.min() >= 0 and moves.target.max() < outputs, "a move names a class that is not there")
    require(moves.survived.min() >= 0, "a hypothesis survived fewer than zero visits")
    if isinstance(run.rows, CSR):  # feature by feature
        require_width(run.rows, len(run.rows.indptr) - 1, n)
    else:
        require(len(run.rows) == n, "the number of rows is wrong")


HYPOTHESES = Record(
    Hypotheses,
    {
        "start": LINEAR_MODEL,
        "rows": Maybe(TABLE),
        "moves": MOVES,
        "first": Count(),
        "visits": Count(),
        "n_mistaken": Count(),
        "bias": Number(),
    },
    check=_sound_hypotheses,
)


def require_votes(past: list[Hypotheses], classes: Any, width: int) -> None:
    """Require that every run has classes and features of the model."""
    known = set(classes.tolist())
    for run in past:
        require(set(run.start.classes.tolist()) <= known, "a run has a class that the model does not have")
        require(run.start.weights.shape[-1] - 1 <= width, "a run has more features than the model")
        require(isinstance(run.rows, CSR) or run.rows is None or run.rows.shape[1] <= width, "rows are too wide")
