"""Search by a beam of prefixes, and updates of prefixes: the loops, equal to `tests/oracles/beam.py`.

Weights of labels are the rows of one table, ``t``: rows 0 to L of pairs as in `loops.sequence`, and with order 2
also the row L + 1 + j (L + 1) + k of each triple (j, k, label); the label L is the start.

The prefixes of a beam are ordered by their last label, and then by the one before. So the first of equal ones is
the one that exact search prefers, and those that end in the same labels stand side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.layout import Order, Unsigned
from rosenblatt.sequences.loop import ENDS_BEFORE, MistakeLog, emit_all, take
from rosenblatt.typing import Floats, Ints

EARLY, MAX, FULL = 0, 1, 2
"""Where an update ends: see `tests/oracles/beam.py`."""


class BeamWork(NamedTuple):
    """Memory of the search: scores of all labels at each token, and the prefixes of each beam.

    A prefix has its total score, its last label, the one before, the prefix that it extends, and whether all its
    labels are true. `size` is the number of prefixes at each token.
    """

    scores: Floats
    total: Floats
    last: Ints
    before: Ints
    back: Ints
    right: Ints
    size: Ints
    found: Ints


def beam_work_for(longest: int, n_labels: int, beam: int | None, order: int) -> BeamWork:
    """Return memory for sentences of up to `longest` tokens; without a beam there is room for all states."""
    states = n_labels if order == 1 else n_labels * (n_labels + 1)
    width = states if beam is None else min(beam, states)
    shape = longest, width
    return BeamWork(
        scores=np.empty((longest, n_labels)),
        total=np.empty(shape),
        last=np.empty(shape, np.int64),
        before=np.empty(shape, np.int64),
        back=np.empty(shape, np.int64),
        right=np.empty(shape, np.int64),
        size=np.zeros(longest, np.int64),
        found=np.empty(longest, np.int64),
    )


@inline
def _put(work: BeamWork, i: int, score: float, label: int, before: int, back: int, right: int, lowest: int) -> int:
    """Add a prefix behind the others; if there is no room, drop the worst. Return the place of the new worst."""
    size, width = work.size[i], work.total.shape[1]
    if size == width:
        if not score > work.total[i, lowest]:
            return lowest
        for b in range(lowest, size - 1):
            work.total[i, b], work.last[i, b] = work.total[i, b + 1], work.last[i, b + 1]
            work.before[i, b], work.back[i, b] = work.before[i, b + 1], work.back[i, b + 1]
            work.right[i, b] = work.right[i, b + 1]
        size -= 1
    work.total[i, size], work.last[i, size], work.before[i, size] = score, label, before
    work.back[i, size], work.right[i, size] = back, right
    work.size[i] = size + 1
    if size + 1 < width:
        return 0
    lowest = 0
    for b in range(1, width):
        if work.total[i, b] <= work.total[i, lowest]:
            lowest = b
    return lowest


@inline
def _extend(t: Floats, ends: Floats, i: int, n_tokens: int, truth: int, work: BeamWork) -> None:
    """Make the beam of token i from the one before; of prefixes with the same state the best stays."""
    n = work.scores.shape[1]
    is_second = t.shape[0] > n + 1
    n_before = work.size[i - 1] if i else 1
    work.size[i] = 0
    lowest = 0
    for label in range(n):
        b = 0
        while b < n_before:
            k = work.last[i - 1, b] if i else n
            best, back = -np.inf, b
            while b < n_before:
                own = work.last[i - 1, b] if i else n
                if is_second and own != k:
                    break
                reached = (work.total[i - 1, b] if i else 0.0) + t[own, label]
                if is_second:
                    j = work.before[i - 1, b] if i else n
                    reached += t[n + 1 + j * (n + 1) + own, label]
                if reached > best:
                    best, back = reached, b
                b += 1
            score = best + work.scores[i, label]
            if i == n_tokens - 1:
                score += ends[label]
            if score > -np.inf:
                right = 1 if label == truth and (i == 0 or work.right[i - 1, back] == 1) else 0
                before = work.last[i - 1, back] if i else n
                lowest = _put(work, i, score, label, before, back, right, lowest)


@inline
def _best(work: BeamWork, i: int) -> int:
    """Return the place of the best prefix, the first of equal ones."""
    best = 0
    for b in range(1, work.size[i]):
        if work.total[i, b] > work.total[i, best]:
            best = b
    return best


@inline
def _follow(work: BeamWork, i: int, b: int) -> None:
    """Write the labels of a prefix."""
    while i >= 0:
        work.found[i] = work.last[i, b]
        b = work.back[i, b]
        i -= 1


@inline
def _has_truth(work: BeamWork, i: int) -> bool:
    found = False
    for b in range(work.size[i]):
        found = found or work.right[i, b] == 1
    return found


@inline
def _true_step(t: Floats, scores: Floats, codes: Ints, begin: int, i: int, total: float) -> float:
    """Return the score of the true labels up to token i, from the score up to the one before."""
    n = scores.shape[1]
    label = codes[begin + i]
    k = codes[begin + i - 1] if i > 0 else n
    j = codes[begin + i - 2] if i > 1 else n
    total += t[k, label]
    if t.shape[0] > n + 1:
        total += t[n + 1 + j * (n + 1) + k, label]
    return total + scores[i, label]


@jit
def tag_by_beam(
    indices: Unsigned,
    data: Floats | None,
    indptr: Unsigned | Ints,
    starts: Ints,
    w: Floats,
    t: Floats,
    ends: Floats,
    work: BeamWork,
    out: Ints,
) -> int:
    """Write the label of each token; return the first sentence without a labelling, or how many there are."""
    for sentence in range(starts.size - 1):
        begin, end = starts[sentence], starts[sentence + 1]
        n = end - begin
        if n == 0:
            continue
        emit_all(indices, data, indptr, begin, end, w, work.scores)
        for i in range(n):
            _extend(t, ends, i, n, -1, work)
        best = _best(work, n - 1)
        highest = work.total[n - 1, best]
        if work.size[n - 1] == 0 or highest - highest != 0.0:
            return sentence
        _follow(work, n - 1, best)
        for i in range(n):
            out[begin + i] = work.found[i]
    return starts.size - 1


@jit
def visit_by_beam(
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
    ends: Floats,
    made: int,
    margin: float,
    update: int,
    work: BeamWork,
    log: MistakeLog,
) -> tuple[int, int]:
    """Visit sentences in order, and correct a prefix at each mistake; see `loops.sequence.visit_sentences`.

    An update that ends before the sentence does is followed in the log by the token it ends before, with the label
    `ENDS_BEFORE`.
    """
    n_mistakes = n_wrong = 0
    for v in range(visits.size):
        sentence = visits[v]
        begin, end = starts[sentence], starts[sentence + 1]
        n = end - begin
        emit_all(indices, data, indptr, begin, end, w, work.scores)
        true_score, gap, furthest = 0.0, 0.0, -np.inf
        stop = done = 0  # tokens of the prefix to correct, and of the longest one
        for i in range(n):
            truth = codes[begin + i]
            for label in range(work.scores.shape[1]):
                if label != truth:
                    work.scores[i, label] += margin
            _extend(t, ends, i, n, truth, work)
            if work.size[i] == 0:
                break
            done = i + 1
            best = _best(work, i)
            highest = work.total[i, best]
            if highest - highest != 0.0:
                return n_mistakes, v
            true_score = _true_step(t, work.scores, codes, begin, i, true_score)
            if update != MAX or (work.right[i, best] == 0 and highest - true_score > furthest):
                furthest = highest - true_score
                stop, gap = done, true_score - highest
            if update == EARLY and not _has_truth(work, i):
                break
        if done == n and work.right[n - 1, _best(work, n - 1)] == 1:
            continue
        if stop == 0:
            return n_mistakes, v
        _follow(work, stop - 1, _best(work, stop - 1))
        for i in range(stop):
            if work.found[i] != codes[begin + i]:
                log.wrong_at[n_wrong], log.wrong_label[n_wrong] = i, work.found[i]
                n_wrong += 1
        if stop < n:
            log.wrong_at[n_wrong], log.wrong_label[n_wrong] = stop, ENDS_BEFORE
            n_wrong += 1
        log.visit[n_mistakes], log.sentence[n_mistakes] = made + v, sentence
        log.gap[n_mistakes], log.stop[n_mistakes] = gap, n_wrong
        n_mistakes += 1
        c = steps[sentence]
        take(indices, data, indptr, codes, begin, stop, work.found, w, t, c)
        if u is not None:
            take(indices, data, indptr, codes, begin, stop, work.found, u, tu, c * (made + v))
    return n_mistakes, visits.size
