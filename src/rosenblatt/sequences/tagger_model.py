"""What training on sequences carries, and what predicts labels of tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import PredictionOverflowError
from rosenblatt.loops._jit import inline, jit
from rosenblatt.rows.memory import PEAK_COPIES, require_memory
from rosenblatt.sequences.beam import beam_work_for, tag_by_beam
from rosenblatt.sequences.loop import SequenceWork, emit_all, viterbi, work_for
from rosenblatt.sequences.sentences import Sentences, SequenceRows
from rosenblatt.typing import Floats, Ints

# The best labellings of sentences, and the score of the best one through each token and label.


@jit
def tag_sentences(
    indices: NDArray[Any],
    data: Floats | None,
    indptr: NDArray[Any],
    starts: NDArray[Any],
    w: Floats,
    t: Floats,
    last: Floats,
    work: SequenceWork,
    out: NDArray[Any],
) -> int:
    """Write the best label of each token; return the first sentence that has none, or how many there are."""
    for sentence in range(starts.size - 1):
        begin, end = starts[sentence], starts[sentence + 1]
        if begin == end:
            continue
        emit_all(indices, data, indptr, begin, end, w, work.scores)
        highest = viterbi(t, last, end - begin, work)
        if highest - highest != 0.0:
            return sentence
        for i in range(begin, end):
            out[i] = work.found[i - begin]
    return starts.size - 1


@jit
def max_marginals(
    indices: NDArray[Any],
    data: Floats | None,
    indptr: NDArray[Any],
    starts: NDArray[Any],
    w: Floats,
    t: Floats,
    last: Floats,
    work: SequenceWork,
    out: NDArray[Any],
) -> None:
    """Write for each token and label the score of the best labelling through it, minus the best of its token."""
    n = t.shape[1]
    scores, best, behind = work.scores, work.best, out
    for sentence in range(starts.size - 1):
        begin, end = starts[sentence], starts[sentence + 1]
        if begin == end:
            continue
        emit_all(indices, data, indptr, begin, end, w, scores)
        viterbi(t, last, end - begin, work)
        for label in range(n):
            behind[end - 1, label] = last[label]
        for i in range(end - begin - 2, -1, -1):
            for k in range(n):
                highest = -np.inf
                for label in range(n):
                    highest = max(highest, (t[k, label] + scores[i + 1, label]) + behind[begin + i + 1, label])
                behind[begin + i, k] = highest
        for i in range(end - begin):
            highest = -np.inf
            for label in range(n):
                behind[begin + i, label] += best[i, label]
                highest = max(highest, behind[begin + i, label])
            for label in range(n):
                behind[begin + i, label] -= highest


@jit
def k_best(
    indices: NDArray[Any],
    data: Floats | None,
    indptr: NDArray[Any],
    begin: int,
    end: int,
    w: Floats,
    t: Floats,
    last: Floats,
    scores: Floats,
    best: NDArray[Any],
    back: NDArray[Any],
    out: NDArray[Any],
    totals: Floats,
) -> int:
    """Write the best labellings of one sentence, best first, and their scores; return how many there are.

    `best` and `back` have one place for each token, label and rank; unused ones are −∞. Equal labellings are
    ordered by their last labels that differ, the lower one first.
    """
    n, k, n_tokens = t.shape[1], totals.size, end - begin
    emit_all(indices, data, indptr, begin, end, w, scores)
    best[:] = -np.inf
    for label in range(n):
        best[0, label, 0] = t[n, label] + scores[0, label]
    for i in range(1, n_tokens):
        for label in range(n):
            for before in range(n):
                for rank in range(k):
                    score = best[i - 1, before, rank] + t[before, label]
                    if score == -np.inf:
                        break
                    _insert(best[i, label], back[i, label], score, before * k + rank)
            for rank in range(k):
                best[i, label, rank] += scores[i, label]
    totals[:] = -np.inf
    ends = back[0, 0]  # the first token has no predecessors
    for label in range(n):
        for rank in range(k):
            score = best[n_tokens - 1, label, rank] + last[label]
            if score == -np.inf:
                break
            _insert(totals, ends, score, label * k + rank)
    count = 0
    while count < k and totals[count] != -np.inf:
        at = ends[count]
        for i in range(n_tokens - 1, -1, -1):
            out[count, i] = at // k
            at = back[i, at // k, at % k] if i else 0
        count += 1
    return count


@inline
def _insert(scores: Floats, places: NDArray[Any], score: float, place: int) -> None:
    """Put a score behind those that are not lower, and drop the last."""
    k = scores.size
    if not score > scores[k - 1]:
        return
    at = k - 1
    while at > 0 and score > scores[at - 1]:
        scores[at], places[at] = scores[at - 1], places[at - 1]
        at -= 1
    scores[at], places[at] = score, place


LEAST_ROOM = 64


def with_triples(pairs: Floats, order: int) -> Floats:
    """Return the weights of pairs of labels, with order 2 followed by zeros for triples; see `sequences.beam`."""
    n = pairs.shape[1]
    return pairs if order == 1 else np.concatenate([pairs, np.zeros(((n + 1) ** 2, n))])


@dataclass(eq=False)
class SequenceState:
    """Weights of features and of pairs of labels, the sums for their average, and the number of visits."""

    w: Floats  # the weights of features; there may be room for more than there are
    # The weights of pairs of neighbours, the last row of the start; −∞ where a pair is forbidden. Behind them come
    # those of triples, if there are any; see `sequences.beam`.
    t: Floats
    # u, tu: the sums over updates of c·visits·Δ, if weights are averaged: the average is w − u / visits
    u: Floats | None
    tu: Floats | None
    visits: int = 0  # the number of visits made
    _kept: SequenceModel | None = field(default=None, repr=False)

    @classmethod
    def zero(cls, n_features: int, pairs: Floats, *, average: bool) -> Self:
        """Return the state before the first visit; `pairs` is 0 or −∞ for each pair of labels."""
        n_labels = pairs.shape[1]
        _require_room(n_features, n_labels, average=average)
        w = np.zeros((n_features, n_labels))
        return cls(
            w, pairs.copy(), np.zeros_like(w) if average else None, np.zeros_like(pairs) if average else None
        )

    def meet(self, sentences: Sentences, vocabulary: Any) -> SequenceRows:
        """Return sentences as rows, with room for their features; an error leaves the vocabulary unchanged."""
        known = vocabulary.n_features
        rows: SequenceRows = vocabulary.rows(sentences, grows=True)
        try:
            self.make_room(vocabulary.n_features)
        except BaseException:
            if vocabulary.n_features > known:  # hashed features are as many as ever
                vocabulary.keep(np.arange(vocabulary.n_features) < known)
            raise
        return rows

    def make_room(self, n_features: int) -> None:
        """Make room for so many features; their weights are 0."""
        room, n_labels = self.w.shape
        if n_features <= room:
            return
        wanted = max(n_features, 2 * room, LEAST_ROOM)
        _require_room(wanted, n_labels, average=self.u is not None)
        more = np.zeros((wanted - room, n_labels))
        self.w = np.concatenate([self.w, more])
        self.u = None if self.u is None else np.concatenate([self.u, more])

    def copy(self) -> SequenceState:
        """Return an independent state."""
        u, tu = (None if each is None else each.copy() for each in (self.u, self.tu))
        return SequenceState(self.w.copy(), self.t.copy(), u, tu, self.visits)

    def become(self, other: SequenceState) -> None:
        """Take over the values of another state."""
        self.__dict__.update(other.copy().__dict__)

    def touched(self, n_features: int) -> Any:
        """Return which features have weights other than 0, or sums for the average."""
        touched = self.w[:n_features].any(axis=1)
        return touched if self.u is None else touched | self.u[:n_features].any(axis=1)

    def keep(self, kept: Any) -> None:
        """Keep the weights of some features."""
        self.w = self.w[: len(kept)][kept]
        self.u = None if self.u is None else self.u[: len(kept)][kept]

    def scaled(self, features: Any = slice(None)) -> tuple[Floats, Floats, float]:
        """Return the weights that predict, for some features, times a number, and that number.

        Averages are multiplied by the number of visits. So they are whole numbers if the weights are.
        """
        w = self.w[features]
        if self.u is None or self.tu is None:
            return w, self.t, 1.0
        n = float(self.visits)
        return n * w - self.u[features], n * self.t - self.tu, n

    def predictor(self, last: Floats, rows: SequenceRows) -> tuple[SequenceModel, SequenceRows]:
        """Return what predicts rows, and the rows, whose features may be numbered in another way.

        The weights of all features are computed once and kept until the next visit. For few rows only the weights
        of their own features are.
        """
        kept = self._kept
        if kept is not None and kept.visits == self.visits:
            return kept, rows
        if len(rows.indices) < len(self.w) // 4:
            features, indices = np.unique(rows.indices, return_inverse=True)
            own = rows._replace(indices=indices.astype(np.uint32))
            return SequenceModel(*self._own(features), last, self.visits), own
        model = SequenceModel(*self._own(slice(None)), last, self.visits)
        self._kept = model
        return model, rows

    def _own(self, features: Any) -> tuple[Floats, Floats, float]:
        w, t, scale = self.scaled(features)
        return np.ascontiguousarray(w), t, scale


def _require_room(n_features: int, n_labels: int, *, average: bool) -> None:
    """Raise `InputError` if the weights would take more than the free memory."""
    require_memory(
        f"Training weights of {n_features:,} features and {n_labels:,} labels",
        8 * PEAK_COPIES * (n_features + n_labels) * n_labels * (1 + average),
        "Leave out rare features (min_freq), or use fewer labels or templates.",
    )


@dataclass(frozen=True, eq=False)
class SequenceModel:
    """Predicts the labels of tokens."""

    # w, t: the weights of features and of pairs of labels, times `scale`
    w: Floats
    t: Floats
    scale: float  # what scores are divided by
    last: Floats  # what is added to the score of each last label: 0 or −∞
    visits: int = 0  # the number of visits that led to these weights

    def codes(self, rows: SequenceRows, beam: int | None = None) -> Ints:
        """Return the label of each token in the best labelling of its sentence, or the best that a beam finds."""
        out = np.empty(rows.starts[-1], np.int64)
        n_labels = self.t.shape[1]
        arrays = *rows, self.w, self.t, self.last
        if beam is None and self.order == 1:
            done = tag_sentences(*arrays, work_for(rows.longest, n_labels), out)
        else:
            done = tag_by_beam(*arrays, beam_work_for(rows.longest, n_labels, beam, self.order), out)
        if done < rows.n_sentences:
            raise self._no_labelling(done)
        return out

    @property
    def order(self) -> int:
        """How many labels before a token are features of its label."""
        return 1 if len(self.t) == self.t.shape[1] + 1 else 2

    def margins(self, rows: SequenceRows) -> Floats:
        """Return for each token and label the best score through it minus the best score."""
        out = np.empty((rows.starts[-1], self.t.shape[1]))
        work = work_for(rows.longest, self.t.shape[1])
        max_marginals(*rows, self.w, self.t, self.last, work, out)
        out /= self.scale
        return out

    def best(self, rows: SequenceRows, sentence: int, k: int) -> tuple[Ints, Floats]:
        """Return up to k labellings of a sentence, best first, and their scores."""
        begin, end = int(rows.starts[sentence]), int(rows.starts[sentence + 1])
        if begin == end:
            return np.empty((1, 0), np.int64), np.zeros(1)
        n, n_labels = end - begin, self.t.shape[1]
        out, totals = np.empty((k, n), np.int64), np.empty(k)
        memory = np.empty((n, n_labels)), np.empty((n, n_labels, k)), np.zeros((n, max(n_labels, 1), k), np.int64)
        count = k_best(
            rows.indices, rows.data, rows.indptr, begin, end, self.w, self.t, self.last, *memory, out, totals
        )
        if not count or not np.isfinite(totals[:count]).all():
            raise self._no_labelling(sentence)
        return out[:count], totals[:count] / self.scale

    def _no_labelling(self, sentence: int) -> PredictionOverflowError:
        return PredictionOverflowError(
            f"X[{sentence}] has no labelling with a finite score: either the constraints forbid every one of this "
            "length, or the beam is too small for them, or values are too large. Change the constraints, use a "
            "larger beam, or scale the values."
        )
