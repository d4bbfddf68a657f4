"""What a model file keeps of a tagger: weights other than 0, names of features, and the mistakes of the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.codecs import (
    INTEGERS,
    Array,
    Context,
    Count,
    Either,
    Flag,
    Maybe,
    Parameter,
    Record,
    Several,
    StateSchema,
    Text,
    require,
    same_length,
    wrong,
)
from rosenblatt.learning.linear import LABELS
from rosenblatt.sequences.loop import ENDS_BEFORE, MistakeLog
from rosenblatt.sequences.sentences import ItemVocabulary
from rosenblatt.sequences.tagger_model import SequenceState
from rosenblatt.sequences.tagger_trace import SequenceTrace
from rosenblatt.sequences.templates import HashedTemplates, TemplateVocabulary
from rosenblatt.tables.reading import MOST_BITS

LONGEST_LOG = 2**16
"""The most wrong tokens of a fit that a model file or a pickle keeps. Of a longer run they keep counts."""
MOST_WEIGHTS = 2**31
NUMBERS = Array(finite=False)
PAIRS = Array(2, finite=False)
KEYS = Array(dtypes=(np.uint64,))


class Texts:
    """A list of texts, written as one array of bytes and the length of each in bytes."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Put bytes and lengths in the context."""
        coded = [text.encode("utf-8", "surrogatepass") for text in value]
        content = np.frombuffer(b"".join(coded), np.uint8)
        lengths = np.array([len(each) for each in coded], np.int64)
        return [context.tensors.put(f"{at}.bytes", content), context.tensors.put(f"{at}.lengths", lengths)]

    def decode(self, stored: Any, at: str, context: Context) -> list[str]:
        """Return the texts."""
        if not isinstance(stored, list) or len(stored) != 2:
            wrong(at, "are not texts")
        content, lengths = context.take(stored[0]), context.take(stored[1])
        if content is None or lengths is None or content.dtype != np.uint8 or lengths.dtype != np.int64:
            wrong(at, "are not texts")
        if content.ndim != 1 or lengths.ndim != 1 or (lengths < 0).any() or (lengths > len(content)).any():
            wrong(at, "are not texts")
        ends = np.cumsum(lengths)
        if (int(ends[-1]) if len(ends) else 0) != len(content):
            wrong(at, "are not as long as their bytes")
        raw = content.tobytes()
        try:
            return [
                raw[end - length : end].decode("utf-8", "surrogatepass")
                for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
            ]
        except UnicodeDecodeError:
            wrong(at, "are not UTF-8")


@dataclass(frozen=True)
class SparseWeights:
    """The weights other than 0 by their position in the table of features and labels."""

    at: Any
    w: Any
    u: Any
    t: Any
    tu: Any
    visits: int


def _sparse(state: SequenceState) -> dict[str, Any]:
    flat = state.w.ravel()
    other = flat if state.u is None else state.u.ravel()
    at = np.flatnonzero((flat != 0.0) | (other != 0.0))
    u = None if state.u is None else other[at]
    return {"at": at, "w": flat[at], "u": u, "t": state.t, "tu": state.tu, "visits": state.visits}


def _sound_weights(held: Any) -> None:
    if isinstance(held, SequenceState):
        return
    require(same_length(held.at, held.w), "weights and their places differ in number")
    require((held.u is None) == (held.tu is None), "an average lacks a part")
    require(held.u is None or same_length(held.at, held.u), "weights and sums differ in number")
    require(held.u is None or held.tu.shape == held.t.shape, "pairs of labels and their sums differ in shape")
    require(held.visits > 0 or held.u is None, "an average has no visits")
    require(not np.isnan(held.t).any() and (held.t < np.inf).all(), "a pair of labels has no weight")
    require(held.tu is None or np.isfinite(held.tu).all(), "a pair of labels has no sum")
    require((np.diff(held.at) > 0).all() and (not len(held.at) or held.at[0] >= 0), "weights are not in order")


WEIGHTS = Record(
    SparseWeights,
    {"at": INTEGERS, "w": Array(), "u": Maybe(Array()), "t": PAIRS, "tu": Maybe(PAIRS), "visits": Count()},
    take=_sparse,
    check=_sound_weights,
)


def _items(names: list[str]) -> ItemVocabulary:
    if len(set(names)) < len(names):
        raise ValueError("a feature is there twice")
    return ItemVocabulary(names)


VOCABULARY = Either(
    {
        "items": (ItemVocabulary, Record(_items, {"names": Texts()}, take=lambda held: {"names": held.names()})),
        "templates": (
            TemplateVocabulary,
            Record(
                TemplateVocabulary.of,
                {"templates": Parameter(), "columns": INTEGERS, "texts": Texts(), "inner": KEYS, "features": KEYS},
                take=lambda held: held.parts,
            ),
        ),
        "hashed": (
            HashedTemplates,
            Record(HashedTemplates, {"templates": Parameter(), "bits": Count(1, MOST_BITS)}),
        ),
    }
)


def _sound_log(log: MistakeLog) -> None:
    require(same_length(log.visit, log.sentence, log.gap, log.stop), "its columns differ in length")
    require(same_length(log.wrong_at, log.wrong_label), "its columns differ in length")
    ends = np.concatenate([[0], log.stop, [len(log.wrong_at)]])
    require((np.diff(ends[:-1]) > 0).all() and ends[-2] == ends[-1], "a mistake has no wrong token")


LOG = Record(
    MistakeLog,
    dict.fromkeys(("visit", "sentence", "stop", "wrong_at", "wrong_label"), INTEGERS) | {"gap": NUMBERS},
    check=_sound_log,
)
TRACE = Record(
    lambda **held: SequenceTrace(
        **held, average=False, pairs=np.zeros((0, 0)), classes=np.zeros(0), vocabulary=None
    ),
    {"log": Maybe(LOG), "mistakes_per_pass": INTEGERS, "visits_per_pass": INTEGERS, "n_sentences": Count(1)},
)


def without_long_log(held: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a tagger, with only the counts of a trace that is too long for a file."""
    trace = held.get("_trace")
    if trace is None or trace.log is None or len(trace.log.wrong_at) <= LONGEST_LOG:
        return held
    return held | {"_trace": replace(trace, log=None)}


def _link(held: dict[str, Any]) -> None:
    """Make the state from its weights, and join the trace with what it shares; require that all agree."""
    stored, vocabulary, n = held["_state"], held["_vocabulary"], len(held["_classes"])
    require(n >= 2 and stored.t.shape in ((n + 1, n), ((n + 1) * (n + 2), n)), "there are weights of other labels")
    require(held["_last"].shape == (n,), "the end of sentences has other labels")
    require(
        (held["_last"] <= 0.0).all() and not np.isfinite(held["_last"][held["_last"] != 0.0]).any(), "it is wrong"
    )
    room = vocabulary.n_features
    require(room * n <= MOST_WEIGHTS, "it has too many weights")
    require(not len(stored.at) or stored.at[-1] < room * n, "there are weights of features that do not exist")
    pairs = np.where(np.isneginf(stored.t), stored.t, 0.0)
    state = SequenceState.zero(room, pairs, average=stored.u is not None)
    state.w.ravel()[stored.at] = stored.w
    state.t, state.visits = stored.t, stored.visits
    if state.u is not None:
        state.u.ravel()[stored.at] = stored.u
        state.tu = stored.tu
    held["_state"] = state
    require(
        ("columns_" in held) == ("label_" in held), "it knows columns without labels, or labels without columns"
    )
    require(len(held.get("columns_", "1")) > 0, "its tokens have no column")
    run = {"_trace", "n_iter_", "stop_reason_", "converged_", "n_skipped_"}
    require(run <= held.keys() or not run & held.keys(), "parts of its run are missing")
    trace = held.get("_trace")
    if trace is None:
        return
    require(
        same_length(trace.mistakes_per_pass, trace.visits_per_pass), "the passes of its run contradict each other"
    )
    log = trace.log
    if log is not None:
        require(len(log.visit) == trace.mistakes_per_pass.sum(), "mistakes and their counts differ")
        require(((log.sentence >= 0) & (log.sentence < trace.n_sentences)).all(), "a sentence does not exist")
        require(((log.wrong_label >= ENDS_BEFORE) & (log.wrong_label < n)).all(), "a label does not exist")
        require((log.wrong_at >= 0).all(), "a token does not exist")
    held["_trace"] = replace(
        trace, average=state.u is not None, pairs=pairs, classes=held["_classes"], vocabulary=vocabulary
    )


SEQUENCE_STATE = StateSchema(
    {"_state": WEIGHTS, "_vocabulary": VOCABULARY, "_classes": LABELS, "_last": NUMBERS},
    {
        "_trace": TRACE,
        "n_iter_": Count(),
        "stop_reason_": Text(("separated", "max_iter", "max_time", "interrupted")),
        "converged_": Flag(),
        "n_skipped_": Count(),
        "columns_": Several(Text(), tuple),
        "label_": Text(),
    },
    _link,
    without_long_log,
)
"""The stored state of a `SequencePerceptron`."""
