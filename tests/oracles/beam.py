"""The structured perceptron with inexact search in plain Python: the oracle of `sequences.beam`.

A beam keeps the best prefixes of labellings from token to token. Features see the last label (order 1) or the last
two (order 2, with weights ``t[j, k, l]`` besides ``t[k, l]``). Of prefixes that end in the same labels, as far as
features see them, only the best is kept, as in the algorithm of Viterbi: so a beam of all states is exact.

An update is sound only if it corrects a violation: a prefix that scores at least as much as the true one (Huang,
Fayong and Guo 2012). ``"early"`` stops at the first token where the truth has left the beam (Collins and Roark
2004). ``"max"`` stops at the token where the best prefix is furthest above the true one. ``"full"`` takes the
whole sentence, which need not be a violation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tests.oracles.sequence import (
    END,
    NEVER,
    START,
    Labelling,
    ReferenceRun,
    ReferenceUpdate,
    ReferenceWeights,
    Row,
    Weights,
)


class Prefix(NamedTuple):
    """The labels of the first tokens, and their score."""

    score: Any
    labels: Labelling

    def state(self, order: int) -> Labelling:
        """Return the labels that the features of the next token see, the last one first."""
        return [*reversed(self.labels), START, START][:order]


def step_score(weights: ReferenceWeights, labels: Sequence[int], order: int) -> Any:
    """Return the weights of the last label of a prefix after the labels before it."""
    *_, j, k, label = START, START, *labels
    t: dict[Any, Any] = weights.t
    return t.get((k, label), 0) + (t.get((j, k, label), 0) if order == 2 else 0)


def beams(
    rows: Sequence[Row],
    weights: ReferenceWeights,
    n_labels: int,
    *,
    beam: int | None,
    order: int = 1,
    forbidden: Collection[tuple[int, int]] = (),
    truth: Sequence[int] | None = None,
    margin: Any = 0,
) -> list[list[Prefix]]:
    """Return for each token the prefixes in the beam, ordered by their states: the last label first, lowest first.

    Of equal prefixes with the same state the one from the lower state before wins, and of equal prefixes with
    different states the lower state is kept. Search ends before a token that forbidden pairs leave no prefix for.
    """
    found: list[list[Prefix]] = []
    for i, row in enumerate(rows):
        best: dict[tuple[int, ...], Prefix] = {}
        for before in found[-1] if found else [Prefix(0, [])]:
            for label in range(n_labels):
                labels = [*before.labels, label]
                pairs = {(labels[-2] if i else START, label), *([(label, END)] if i == len(rows) - 1 else [])}
                cost = margin if truth is not None and label != truth[i] else 0
                score = before.score + step_score(weights, labels, order) + weights.emission(row, label) + cost
                prefix = Prefix(NEVER if pairs & set(forbidden) else score, labels)
                state = tuple(_ordered(each, n_labels) for each in prefix.state(order))
                if prefix.score > best.get(state, Prefix(NEVER, [])).score:
                    best[state] = prefix
        if not best:
            break
        kept = sorted(sorted(best), key=lambda state: -best[state].score)[:beam]
        found.append([best[state] for state in sorted(kept)])
    return found


def _ordered(label: int, n_labels: int) -> int:
    """Return a label as a number by which states are ordered: the start comes last."""
    return n_labels if label == START else label


def best_of(prefixes: Sequence[Prefix]) -> Prefix:
    """Return the best prefix, of equal ones that with the lowest state."""
    return max(prefixes, key=lambda prefix: prefix.score)  # max keeps the first of equal ones


def prefix_difference(
    rows: Sequence[Row], truth: Sequence[int], other: Sequence[int], order: int
) -> tuple[Weights, Weights]:
    """Return the features of the first labels of the truth minus those of another prefix of the same length."""
    w: Weights = {}
    t: dict[Any, Any] = {}
    for labels, sign in ((truth[: len(other)], 1), (other, -1)):
        for i, label in enumerate(labels):
            for feature, value in rows[i]:
                w[feature, label] = w.get((feature, label), 0) + sign * value
            *_, j, k, _label = START, START, *labels[: i + 1]
            for key in [(k, label), (j, k, label)][:order]:
                t[key] = t.get(key, 0) + sign
    return {key: value for key, value in w.items() if value}, {key: value for key, value in t.items() if value}


def correction(
    searched: Sequence[Sequence[Prefix]], truth: Sequence[int], true_scores: Sequence[Any], update: str
) -> Prefix | None:
    """Return the prefix that an update takes away from the truth; None if the truth was found."""
    if best_of(searched[-1]).labels == list(truth):  # a beam that ran empty has no whole labelling
        return None
    ends = [best_of(prefixes) for prefixes in searched]
    if update == "full":
        return ends[-1]
    if update == "early":
        for end, prefixes in zip(ends, searched, strict=True):
            if list(truth[: len(end.labels)]) not in [prefix.labels for prefix in prefixes]:
                return end
        return ends[-1]
    wrong = [end for end in ends if end.labels != list(truth[: len(end.labels)])]
    return max(wrong, key=lambda end: end.score - true_scores[len(end.labels) - 1])


def train_by_beam(
    sentences: Sequence[Sequence[Row]],
    truths: Sequence[Sequence[int]],
    n_labels: int,
    visits: Iterable[int],
    *,
    beam: int | None,
    order: int = 1,
    update: str = "max",
    margin: Any = 0,
    forbidden: Collection[tuple[int, int]] = (),
) -> ReferenceRun:
    """Visit sentences in order, and correct a prefix at each mistake."""
    now = ReferenceWeights({}, {})
    total = ReferenceWeights({}, {})
    updates: list[ReferenceUpdate] = []
    made = 0
    for made, i in enumerate(visits, start=1):
        rows, truth = sentences[i], list(truths[i])
        searched = beams(
            rows, now, n_labels, beam=beam, order=order, forbidden=forbidden, truth=truth, margin=margin
        )
        true_scores, score = [], 0
        for n, row in enumerate(rows, start=1):
            score = score + step_score(now, truth[:n], order) + now.emission(row, truth[n - 1])
            true_scores.append(score)
        z = correction(searched, truth, true_scores, update)
        if z is not None:
            gap = true_scores[len(z.labels) - 1] - z.score
            updates.append(ReferenceUpdate(made - 1, i, gap, z.labels))
            for weights, delta in zip(now, prefix_difference(rows, truth, z.labels, order), strict=True):
                for key, value in delta.items():
                    weights[key] = weights.get(key, 0) + value
        for weights, sums in zip(now, total, strict=True):
            for key, value in weights.items():
                sums[key] = sums.get(key, 0) + value
    average = ReferenceWeights(*({key: Fraction(value) / made for key, value in each.items()} for each in total))
    return ReferenceRun(now, average, updates)
