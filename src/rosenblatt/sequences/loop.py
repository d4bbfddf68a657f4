"""The structured perceptron for sequences (Collins 2002): the loops, equal to `tests/oracles/sequence.py`.

Weights of features lie row by row, ``w[feature, label]``, so that one row serves all labels. Those of neighbouring
labels are ``t[before, label]``; its last row is the start. A forbidden pair has the weight −∞, which no update
touches, because neither the truth nor a best labelling has such a pair. `last` is added behind the last token:
0, or −∞ for labels that no sentence may end with.

Scores are added feature by feature in the order of the row, then along the path: a fixed order. Integers are exact
below 2⁵³.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops._vector import prefetch
from rosenblatt.loops.layout import Order, Unsigned
from rosenblatt.typing import Floats, Ints

ON_TRUTH = -1
"""The predecessor of a path that leaves the true labelling here."""
ENDS_BEFORE = -1
"""The label of an entry of a log behind an update of a prefix: it ends before this token."""


class SequenceWork(NamedTuple):
    """Memory of the loops: scores of all labels at each token, best paths, predecessors, and the labels found."""

    scores: Floats
    best: Floats
    back: Ints
    found: Ints


class MistakeLog(NamedTuple):
    """The mistakes of some visits: `wrong_at` and `wrong_label` hold the differing tokens of all of them.

    An update of a prefix has a last entry with the label `ENDS_BEFORE`, at the token where it ends.
    """

    visit: Ints
    sentence: Ints
    gap: Floats
    stop: Ints
    wrong_at: Ints
    wrong_label: Ints

    @classmethod
    def room(cls, mistakes: int, wrong: int) -> MistakeLog:
        """Return room for so many mistakes, and for the tokens that they label wrongly."""
        visit, sentence, stop = (np.empty(mistakes, np.int64) for _ in range(3))
        return cls(visit, sentence, np.empty(mistakes), stop, np.empty(wrong, np.int64), np.empty(wrong, np.int64))

    def first(self, n: int) -> MistakeLog:
        """Return the first mistakes."""
        ends = (n,) * 4 + (int(self.stop[n - 1]) if n else 0,) * 2
        return MistakeLog._make(each[:end] for each, end in zip(self, ends, strict=True))

    def copy(self) -> MistakeLog:
        """Return a log that shares no array with this one."""
        return MistakeLog._make(each.copy() for each in self)


def work_for(longest: int, n_labels: int) -> SequenceWork:
    """Return memory for sentences of up to `longest` tokens."""
    shape = longest, n_labels
    return SequenceWork(np.empty(shape), np.empty(shape), np.empty(shape, np.int64), np.empty(longest, np.int64))


@inline
def _emit(
    indices: Unsigned, data: Floats | None, first: int, stop: int, w: Floats, scores: Floats, at: int
) -> None:
    """Write the score of every label at one token, the sum over its features in their order."""
    n = w.shape[1]
    for label in range(n):
        scores[at, label] = 0.0
    four = stop - (stop - first) % 4
    for p in range(first, four, 4):
        a, b, c, d = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
        if data is None:
            for label in range(n):
                scores[at, label] = (((scores[at, label] + w[a, label]) + w[b, label]) + w[c, label]) + w[d, label]
        else:
            q, r, s, x = data[p], data[p + 1], data[p + 2], data[p + 3]
            for label in range(n):
                scores[at, label] = (
                    ((scores[at, label] + q * w[a, label]) + r * w[b, label]) + s * w[c, label]
                ) + x * w[d, label]
    for p in range(four, stop):
        a = indices[p]
        x = 1.0 if data is None else data[p]
        for label in range(n):
            scores[at, label] += x * w[a, label]


@inline
def emit_all(
    indices: Unsigned,
    data: Floats | None,
    indptr: Unsigned | Ints,
    begin: int,
    end: int,
    w: Floats,
    scores: Floats,
) -> None:
    """Write the scores of all tokens of a sentence; meanwhile the weights of the next token are fetched."""
    n = w.shape[1]
    for i in range(begin, end):
        if i + 1 < end:
            for p in range(indptr[i + 1], indptr[i + 2]):
                row = np.int64(indices[p]) * n
                prefetch(w, row)
                prefetch(w, row + 8)
                prefetch(w, row + n - 1)
        _emit(indices, data, indptr[i], indptr[i + 1], w, scores, i - begin)


@inline
def _step(t: Floats, scores: Floats, best: Any, back: Any, i: int) -> None:
    """Extend the best paths by token i: of equal predecessors the lowest."""
    n = scores.shape[1]
    for label in range(n):
        best[i, label] = best[i - 1, 0] + t[0, label]
        back[i, label] = 0
    for k in range(1, n):
        score = best[i - 1, k]
        for label in range(n):
            reached = score + t[k, label]
            better = reached > best[i, label]
            best[i, label] = reached if better else best[i, label]
            back[i, label] = k if better else back[i, label]
    for label in range(n):
        best[i, label] += scores[i, label]


@inline
def _end(best: Any, last: Floats, n_tokens: int) -> int:
    """Return the lowest of the best last labels."""
    end, highest = 0, best[n_tokens - 1, 0] + last[0]
    for label in range(1, best.shape[1]):
        score = best[n_tokens - 1, label] + last[label]
        if score > highest:
            end, highest = label, score
    return end


@inline
def viterbi(t: Floats, last: Floats, n_tokens: int, work: SequenceWork) -> float:
    """Find the best labelling of the scores in `work`; return its score, which is −∞ if every one is forbidden."""
    scores, best, back, found = work.scores, work.best, work.back, work.found
    n = scores.shape[1]
    for label in range(n):
        best[0, label] = t[n, label] + scores[0, label]
    for i in range(1, n_tokens):
        _step(t, scores, best, back, i)
    end = _end(best, last, n_tokens)
    highest = best[n_tokens - 1, end] + last[end]
    found[n_tokens - 1] = end
    for i in range(n_tokens - 1, 0, -1):
        end = back[i, end]
        found[i - 1] = end
    return highest


@inline
def _rival(t: Floats, last: Floats, codes: Ints, begin: int, n_tokens: int, work: SequenceWork) -> float:
    """Find the best labelling other than the truth, and return its score."""
    scores, best, back, found = work.scores, work.best, work.back, work.found
    n = scores.shape[1]
    truth = codes[begin]
    for label in range(n):
        best[0, label] = -np.inf if label == truth else t[n, label] + scores[0, label]
    on_truth = t[n, truth] + scores[0, truth]
    for i in range(1, n_tokens):
        before, truth = truth, codes[begin + i]
        _step(t, scores, best, back, i)
        for label in range(n):
            if label != truth:
                reached = (on_truth + t[before, label]) + scores[i, label]
                if reached > best[i, label] or (reached == best[i, label] and before <= back[i, label]):
                    best[i, label], back[i, label] = reached, ON_TRUTH
        on_truth = (on_truth + t[before, truth]) + scores[i, truth]
    end = _end(best, last, n_tokens)
    highest = best[n_tokens - 1, end] + last[end]
    found[n_tokens - 1] = end
    i = n_tokens - 1
    while i > 0 and back[i, end] != ON_TRUTH:
        end = back[i, end]
        i -= 1
        found[i] = end
    for j in range(i):
        found[j] = codes[begin + j]
    return highest


@inline
def _path_score(t: Floats, scores: Floats, labels: Ints, first: int, n_tokens: int) -> float:
    """Return the score of a labelling, added in the order in which `viterbi` adds."""
    before = labels[first]
    total = t[t.shape[0] - 1, before] + scores[0, before]
    for i in range(1, n_tokens):
        label = labels[first + i]
        total = (total + t[before, label]) + scores[i, label]
        before = label
    return total


@inline
def _add(indices: Unsigned, data: Floats | None, first: int, stop: int, w: Floats, label: int, c: float) -> None:
    for p in range(first, stop):
        w[indices[p], label] += c if data is None else c * data[p]


@inline
def take(
    indices: Unsigned,
    data: Floats | None,
    indptr: Unsigned | Ints,
    codes: Ints,
    begin: int,
    n: int,
    found: Ints,
    w: Floats,
    t: Any,
    c: float,
) -> None:
    """Add c Δ of the first n tokens: the features of the truth minus those found, where they differ.

    If `t` has rows of triples (see `sequences.beam`), these are corrected as well.
    """
    start = t.shape[1]
    is_second = t.shape[0] > start + 1
    y1 = z1 = start
    before_y = before_z = start
    for i in range(n):
        y, z = codes[begin + i], found[i]
        if y != z:
            _add(indices, data, indptr[begin + i], indptr[begin + i + 1], w, y, c)
            _add(indices, data, indptr[begin + i], indptr[begin + i + 1], w, z, -c)
        if y != z or before_y != before_z:
            t[before_y, y] += c
            t[before_z, z] -= c
        if is_second and (y != z or before_y != before_z or y1 != z1):
            t[start + 1 + y1 * (start + 1) + before_y, y] += c
            t[start + 1 + z1 * (start + 1) + before_z, z] -= c
        y1, z1, before_y, before_z = before_y, before_z, y, z


@jit
def visit_sentences(
    indices: Unsigned,
    data: Floats | None,
    indptr: Unsigned | Ints,
    starts: Ints,
    codes: Ints,
    steps: Floats,
    visits: Order,
    w: Floats,
    u: Floats | None,
    t: Floats,
    tu: Floats | None,
    last: Floats,
    made: int,
    margin: float,
    ties_are_mistakes: bool,
    work: SequenceWork,
    log: MistakeLog,
) -> tuple[int, int]:
    """Visit sentences in order, and correct the weights at each mistake.

    `made` visits came before. `steps` holds c for each sentence. `u` and `tu` gain c·visits·Δ, or are None. Return
    the number of mistakes and of visits made. These are fewer where the score of a best labelling was not finite:
    that visit changed nothing.
    """
    n_mistakes = n_wrong = 0
    for v in range(visits.size):
        sentence = visits[v]
        begin, end = starts[sentence], starts[sentence + 1]
        n = end - begin
        emit_all(indices, data, indptr, begin, end, w, work.scores)
        if margin != 0.0:
            for i in range(n):
                for label in range(work.scores.shape[1]):
                    if label != codes[begin + i]:
                        work.scores[i, label] += margin
        highest = _rival(t, last, codes, begin, n, work) if ties_are_mistakes else viterbi(t, last, n, work)
        if highest - highest != 0.0 and not (ties_are_mistakes and highest == -np.inf):
            return n_mistakes, v
        gap = 0.0
        if ties_are_mistakes:
            gap = _path_score(t, work.scores, codes, begin, n) - highest
            if not gap <= 0.0:
                continue
        n_before = n_wrong
        for i in range(n):
            if work.found[i] != codes[begin + i]:
                log.wrong_at[n_wrong], log.wrong_label[n_wrong] = i, work.found[i]
                n_wrong += 1
        if n_wrong == n_before:
            continue
        if not ties_are_mistakes:
            gap = _path_score(t, work.scores, codes, begin, n) - highest
        log.visit[n_mistakes], log.sentence[n_mistakes] = made + v, sentence
        log.gap[n_mistakes], log.stop[n_mistakes] = gap, n_wrong
        n_mistakes += 1
        c = steps[sentence]
        take(indices, data, indptr, codes, begin, n, work.found, w, t, c)
        if u is not None:
            take(indices, data, indptr, codes, begin, n, work.found, u, tu, c * (made + v))
    return n_mistakes, visits.size


@jit
def replay_sentences(
    indices: Unsigned,
    data: Floats | None,
    indptr: Unsigned | Ints,
    starts: Ints,
    codes: Ints,
    steps: Floats,
    log: MistakeLog,
    first: int,
    stop: int,
    w: Floats,
    u: Floats | None,
    t: Floats,
    tu: Floats | None,
    found: Ints,
) -> None:
    """Make the updates of a log again, from number `first` to before `stop`, without searching."""
    for m in range(first, stop):
        sentence = log.sentence[m]
        begin = starts[sentence]
        n = starts[sentence + 1] - begin
        for i in range(n):
            found[i] = codes[begin + i]
        for p in range(0 if m == 0 else log.stop[m - 1], log.stop[m]):
            if log.wrong_label[p] == ENDS_BEFORE:
                n = log.wrong_at[p]
            else:
                found[log.wrong_at[p]] = log.wrong_label[p]
        c = steps[sentence]
        take(indices, data, indptr, codes, begin, n, found, w, t, c)
        if u is not None:
            take(indices, data, indptr, codes, begin, n, found, u, tu, c * log.visit[m])


@jit
def rival_gaps(
    indices: Unsigned,
    data: Floats | None,
    indptr: Unsigned | Ints,
    starts: Ints,
    codes: Ints,
    visits: Order,
    w: Floats,
    t: Floats,
    last: Floats,
    work: SequenceWork,
    gaps: Floats,
    rivals: Any,
) -> None:
    """Write for some sentences the score of the truth minus that of its best rival, and the rivals' labels.

    A sentence without another labelling has the gap ∞.
    """
    at = 0
    for v in range(visits.size):
        begin, end = starts[visits[v]], starts[visits[v] + 1]
        n = end - begin
        emit_all(indices, data, indptr, begin, end, w, work.scores)
        highest = _rival(t, last, codes, begin, n, work)
        gaps[v] = _path_score(t, work.scores, codes, begin, n) - highest
        for i in range(n):
            rivals[at + i] = work.found[i]
        at += n
