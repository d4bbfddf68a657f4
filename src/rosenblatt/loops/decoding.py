"""The best labellings of sentences, and the score of the best one through each token and label."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.sequence import SequenceWork, emit_all, viterbi


@jit
def tag_sentences(
    indices: Any, data: Any, indptr: Any, starts: Any, w: Any, t: Any, last: Any, work: SequenceWork, out: Any
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
    indices: Any, data: Any, indptr: Any, starts: Any, w: Any, t: Any, last: Any, work: SequenceWork, out: Any
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
    indices: Any,
    data: Any,
    indptr: Any,
    begin: int,
    end: int,
    w: Any,
    t: Any,
    last: Any,
    scores: Any,
    best: Any,
    back: Any,
    out: Any,
    totals: Any,
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
def _insert(scores: Any, places: Any, score: float, place: int) -> None:
    """Put a score behind those that are not lower, and drop the last."""
    k = scores.size
    if not score > scores[k - 1]:
        return
    at = k - 1
    while at > 0 and score > scores[at - 1]:
        scores[at], places[at] = scores[at - 1], places[at - 1]
        at -= 1
    scores[at], places[at] = score, place
