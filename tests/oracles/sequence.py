"""The structured perceptron for sequences in plain Python (Collins 2002): the oracle of the fast loops.

A sentence is a list of rows, one for each token; a row is a list of pairs (feature, value). Labels are the numbers
0 to L − 1. Weights are two dictionaries: ``w[f, l]`` of a feature and a label, and ``t[k, l]`` of a label before
another. ``START`` comes before the first token, ``END`` behind the last; both appear in forbidden pairs.

The arithmetic is that of the values passed in: with integers or Fractions everything is exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

START, END = -1, -2
NEVER = float("-inf")

Row: TypeAlias = Sequence[tuple[Any, Any]]
Labelling: TypeAlias = list[int]
Weights: TypeAlias = dict[tuple[Any, int], Any]


class ReferenceWeights(NamedTuple):
    """The weights of features and of pairs of neighbouring labels; a missing one is 0."""

    w: Weights
    t: Weights

    def emission(self, row: Row, label: int) -> Any:
        """Return the score of one label for one row."""
        return sum((value * self.w.get((feature, label), 0) for feature, value in row), 0)

    def score(self, rows: Sequence[Row], labels: Sequence[int]) -> Any:
        """Return the score of a labelling."""
        before, total = START, 0
        for row, label in zip(rows, labels, strict=True):
            total = total + self.emission(row, label) + self.t.get((before, label), 0)
            before = label
        return total


def is_allowed(labels: Sequence[int], forbidden: Collection[tuple[int, int]]) -> bool:
    """Return whether a labelling has no forbidden pair of neighbours."""
    path = [START, *labels, END]
    return not any(pair in forbidden for pair in pairwise(path))


def best_labelling(
    rows: Sequence[Row],
    weights: ReferenceWeights,
    n_labels: int,
    *,
    forbidden: Collection[tuple[int, int]] = (),
    truth: Sequence[int] | None = None,
    margin: Any = 0,
) -> tuple[Any, Labelling]:
    """Return the best score and its labelling, by the algorithm of Viterbi (1967).

    Of equal predecessors the lowest label wins, and of equal last labels the lowest. With a `truth`, every wrong
    label scores `margin` more.
    """
    best: list[tuple[Any, Labelling]] = []
    for i, row in enumerate(rows):
        ends = []
        for label in range(n_labels):
            cost = margin if truth is not None and label != truth[i] else 0
            emission = weights.emission(row, label) + cost
            before: list[tuple[Any, Labelling]] = best if i else [(0, [])]
            found: tuple[Any, Labelling] = (NEVER, [])
            for k, (score, path) in enumerate(before):
                pair = (k if i else START, label)
                reached = NEVER if pair in forbidden else score + weights.t.get(pair, 0)
                if k == 0 or reached > found[0]:
                    found = (reached, path)
            ends.append((found[0] + emission, [*found[1], label]))
        best = ends
    return max(
        ((NEVER if (label, END) in forbidden else score, path) for label, (score, path) in enumerate(best)),
        key=lambda end: end[0],
    )  # max keeps the first of equal ones


def rival_labelling(
    rows: Sequence[Row],
    weights: ReferenceWeights,
    n_labels: int,
    truth: Sequence[int],
    *,
    forbidden: Collection[tuple[int, int]] = (),
    margin: Any = 0,
) -> tuple[Any, Labelling]:
    """Return the best labelling other than the true one, with its score.

    For each label the best path that has left the truth is kept, beside the truth itself. Of equal predecessors
    the lowest label wins, and the truth before a path that has left it and ends in the same label.
    """
    left: list[tuple[Any, Labelling]] = [(NEVER, []) for _ in range(n_labels)]
    true_score, before = 0, START
    for i, row in enumerate(rows):
        ends = []
        for label in range(n_labels):
            candidates: list[tuple[Any, Labelling]] = []
            for k in [START] if i == 0 else range(n_labels):
                pair = (k, label)
                step = NEVER if pair in forbidden else weights.t.get(pair, 0)
                if k == before and label != truth[i]:
                    candidates.append((true_score + step, list(truth[:i])))
                if i:
                    candidates.append((left[k][0] + step, left[k][1]))
            score, path = max(candidates, key=lambda each: each[0]) if candidates else (NEVER, [])
            cost = margin if label != truth[i] else 0
            ends.append((score + weights.emission(row, label) + cost, [*path, label]))
        true_score = true_score + weights.t.get((before, truth[i]), 0) + weights.emission(row, truth[i])
        before, left = truth[i], ends
    return max(
        ((NEVER if (label, END) in forbidden else score, path) for label, (score, path) in enumerate(left)),
        key=lambda end: end[0],
    )


def difference(rows: Sequence[Row], truth: Sequence[int], other: Sequence[int]) -> tuple[Weights, Weights]:
    """Return Δ, the features of the true labelling minus those of another: what an update adds to the weights."""
    w: Weights = {}
    t: Weights = {}
    for labels, sign in ((truth, 1), (other, -1)):
        before = START
        for row, label in zip(rows, labels, strict=True):
            for feature, value in row:
                w[feature, label] = w.get((feature, label), 0) + sign * value
            t[before, label] = t.get((before, label), 0) + sign
            before = label
    return {key: value for key, value in w.items() if value}, {key: value for key, value in t.items() if value}


class ReferenceUpdate(NamedTuple):
    """One mistake: the visits before it, the sentence, the score of the truth minus that of z, and z."""

    visit: int
    sentence: int
    gap: Any
    labels: Labelling


class ReferenceRun(NamedTuple):
    """The last weights, their average over all visits, and every mistake."""

    last: ReferenceWeights
    average: ReferenceWeights
    updates: list[ReferenceUpdate]


def train(
    sentences: Sequence[Sequence[Row]],
    truths: Sequence[Sequence[int]],
    n_labels: int,
    visits: Iterable[int],
    *,
    margin: Any = 0,
    tie: str = "sign",
    forbidden: Collection[tuple[int, int]] = (),
    sentence_weights: Sequence[Any] | None = None,
) -> ReferenceRun:
    """Visit sentences in order, and add c·Δ(z) at each mistake.

    ``tie="sign"``: a mistake is a best labelling z other than the truth. ``tie="mistake"``: z is the best
    labelling other than the truth, and it is a mistake if its score is not below that of the truth.
    """
    now = ReferenceWeights({}, {})
    total = ReferenceWeights({}, {})
    updates: list[ReferenceUpdate] = []
    made = 0
    for made, i in enumerate(visits, start=1):
        rows, truth = sentences[i], list(truths[i])
        if tie == "sign":
            score, z = best_labelling(rows, now, n_labels, forbidden=forbidden, truth=truth, margin=margin)
            wrong = z != truth
        else:
            score, z = rival_labelling(rows, now, n_labels, truth, forbidden=forbidden, margin=margin)
            wrong = now.score(rows, truth) <= score
        if wrong:
            updates.append(ReferenceUpdate(made - 1, i, now.score(rows, truth) - score, z))
            c = 1 if sentence_weights is None else sentence_weights[i]
            for weights, delta in zip(now, difference(rows, truth, z), strict=True):
                for key, value in delta.items():
                    weights[key] = weights.get(key, 0) + c * value
        for weights, sums in zip(now, total, strict=True):
            for key, value in weights.items():
                sums[key] = sums.get(key, 0) + value
    average = ReferenceWeights(*({key: Fraction(value) / made for key, value in each.items()} for each in total))
    return ReferenceRun(now, average, updates)
