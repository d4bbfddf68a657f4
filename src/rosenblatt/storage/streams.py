"""Streams under way, and the votes of their hypotheses, as files hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.features import stacked
from rosenblatt.learners.kernel_stream import KernelStream
from rosenblatt.learners.stream import Stream
from rosenblatt.learners.voted import VotedStream
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.votes import Moves
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.voted import Hypotheses
from rosenblatt.schema.codecs import (
    Array,
    Codec,
    Count,
    Either,
    Flag,
    Maybe,
    Number,
    Record,
    Several,
    Text,
    require,
    same_length,
)
from rosenblatt.schema.plain import SCALAR
from rosenblatt.schema.rows import FEATURES, TABLE, require_width
from rosenblatt.storage.hyperplanes import LABELS, PENALTY, SCHEME, STATE, WEIGHTS, require_shape
from rosenblatt.storage.kernels import KERNEL_PLAN, KERNEL_STATE
from rosenblatt.storage.traces import CLASS_WEIGHT, RECORDER, RULE, SIDE

INTS = Array(dtypes=(np.int64,))

_STREAM: dict[str, Codec] = {
    "start": STATE,
    "rule": RULE,
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
_OWN: dict[type, dict[str, Codec]] = {
    Stream: {},
    KernelStream: {"start": KERNEL_STATE, "own": KERNEL_PLAN},
    VotedStream: {"rows": Maybe(FEATURES), "numbers": Several(SCALAR), "labels": INTS},
}


def _parts_of_stream(stream: Stream) -> dict[str, Any]:
    names = [name for name in _STREAM if name != "may_mirror"]
    parts = {name: getattr(stream, name) for name in names} | {"may_mirror": stream._may_mirror}
    if isinstance(stream, KernelStream):
        parts["own"] = stream.own
    if isinstance(stream, VotedStream):
        parts["rows"] = stacked(stream._rows) if stream._rows else None
        parts["numbers"] = list(stream._numbers)
        parts["labels"] = np.concatenate([np.empty(0, np.int64), *stream._labels])
    return parts


class Waiting(dict[str, Any]):
    """The parts of a stream that waits for the state it goes on from, which it shares with its estimator."""


class WaitingStream(Waiting):
    """Of a perceptron."""


class WaitingKernelStream(Waiting):
    """Of a kernel perceptron."""


class WaitingVotedStream(Waiting):
    """Of a vote."""


WAITING = {Stream: WaitingStream, KernelStream: WaitingKernelStream, VotedStream: WaitingVotedStream}

STREAM = Either(
    {
        name: (kind, Record(WAITING[kind], _STREAM | _OWN[kind], take=_parts_of_stream))
        for name, kind in (("stream", Stream), ("kernel", KernelStream), ("voted", VotedStream))
    }
)


def revived(waiting: Waiting, state: Any) -> Stream:
    """Return a stream that goes on from a state."""
    parts = dict(waiting)
    start, mistakes, seen, recorder = (parts.pop(name) for name in ("start", "mistakes", "seen", "recorder"))
    kind = next(kind for kind, waits in WAITING.items() if type(waiting) is waits)
    voted = {name: parts.pop(name) for name in ("rows", "numbers", "labels") if name in parts}
    kept = getattr(state, "kept", None), state.support.ids.copy() if kind is KernelStream else None
    stream: Stream = kind(state, detail=recorder.detail, **parts)
    require(
        kind is not KernelStream or (kept[0] is None and (kept[1] == state.support.ids).all()), "no stream is so"
    )
    stream.start, stream.mistakes, stream.seen, stream.recorder = start, mistakes, seen, recorder
    _sound_stream(stream)
    if isinstance(stream, VotedStream):
        rows, numbers, labels = voted["rows"], voted["numbers"], voted["labels"]
        stream._rows, stream._labels = ([], []) if rows is None else ([rows], [labels])
        stream._numbers = {label: k for k, label in enumerate(numbers)}
        _sound_vote(stream, labels)
    return stream


def _sound_stream(stream: Stream) -> None:
    counted, visited = stream.recorder.mistakes_per_pass, stream.recorder.visits_per_pass
    # Without a record single examples are not told to the recorder.
    require(
        counted[0] <= stream.mistakes and visited[0] <= stream.seen, "counts of the stream contradict each other"
    )
    require(stream.mistakes <= stream.seen * max(1, stream.scheme.n_machines), "there are too many mistakes")
    if not isinstance(stream, KernelStream):
        require_shape(stream.start, stream.scheme, stream.state.n_features)
        require((stream.start.u is None) == (stream.state.u is None), "start and state contradict each other")
        shrinks = {stream.start.shrunk is not None, stream.state.shrunk is not None, stream.penalty is not None}
        require(len(shrinks) == 1, "start, state and penalty contradict each other")
    kept = stream.recorder.mistakes()
    if kept is not None:
        machines = 2 if stream.scheme.kind == "binary" else stream.scheme.n_machines
        require(
            not len(kept.machine) or (kept.machine.min() >= 0 and kept.machine.max() < machines), "no such machine"
        )
        require(
            not len(kept.index) or (kept.index.min() >= 0 and kept.index.max() < stream.seen), "no such example"
        )


def _sound_vote(stream: VotedStream, labels: Any) -> None:
    kept = stream.recorder.mistakes()
    require(kept is not None, "a vote without mistakes")
    assert kept is not None
    n_rows = 1 + int((np.diff(kept.index) != 0).sum()) if len(kept.index) else 0
    require(
        n_rows == len(labels) == sum(rows.n_rows for rows in stream._rows), "mistakes and rows are not as many"
    )
    require(len(stream._numbers) > int(labels.max(initial=-1)) and labels.min(initial=0) >= 0, "no such label")
    require(all(label in stream._codes for label in stream._numbers), "a label is no class")
    require(all(rows.n_features <= stream.state.n_features for rows in stream._rows), "rows are too wide")


def _sound_linear(model: LinearModel) -> None:
    require(model.scheme.n_classes == len(model.classes), "classes and scheme contradict each other")
    n_features = model.weights.shape[-1] - 1
    require(n_features >= 1 and model.scheme.n_classes < 2**20, "there are no weights")
    require(model.weights.shape == model.scheme.shape(n_features), "weights are not of their scheme")


LINEAR = Record(
    LinearModel, {"weights": WEIGHTS, "scheme": SCHEME, "classes": LABELS, "zero": SIDE}, check=_sound_linear
)
MOVES = Record(Moves, {"row": INTS, "target": INTS, "step": Array(), "survived": INTS})


def _sound_hypotheses(run: Hypotheses) -> None:
    moves, n = run.moves, run.n_mistaken
    require(same_length(*moves), "moves are told of in columns of different lengths")
    require((run.rows is None) == (n == 0) and (n or not len(moves.row)), "mistakes without rows")
    if run.rows is None:
        return
    outputs = 1 if run.start.scheme.kind == "binary" else len(run.start.classes)
    require(len(moves.row) and moves.row.min() >= 0 and moves.row.max() < n, "no such row")
    require(moves.target.min() >= 0 and moves.target.max() < outputs, "no such class")
    require(moves.survived.min() >= 0, "something survived less than nothing")
    if isinstance(run.rows, CSR):  # feature by feature
        require_width(run.rows, len(run.rows.indptr) - 1, n)
    else:
        require(len(run.rows) == n, "there are not as many rows as there should be")


HYPOTHESES = Record(
    Hypotheses,
    {
        "start": LINEAR,
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
    """Require runs over the features and classes of the model."""
    known = set(classes.tolist())
    for run in past:
        require(set(run.start.classes.tolist()) <= known, "a run knew other classes")
        require(run.start.weights.shape[-1] - 1 <= width, "a run had more features")
        require(isinstance(run.rows, CSR) or run.rows is None or run.rows.shape[1] <= width, "rows are too wide")
