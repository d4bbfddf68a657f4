"""Inconsistencies of annotation: places with the same features and neighbouring labels, but other labels inside.

Take two such places and exchange the labels inside. The features that one labelling gains, the other loses, and so
do the pairs of labels: Δ₁ + Δ₂ = 0. So no weights label both sentences correctly, and the two lines are the proof.

All labels inside may be taken to differ: at one that is equal the span can be cut. So each token inside has
features that occur with several labels, and few tokens do. Places are compared within groups that have the same
features and the same labels on both sides, which hashing finds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from rosenblatt.certify.time_limit import PYTHON, Clock
from rosenblatt.sequences.sentence_problem import Labelled, SequenceProblem
from rosenblatt.sequences.sentences import place_of
from rosenblatt.typing import Ints

LONGEST_SPAN_TOKENS = 100  # tokens of a span; longer exchanges are left to the other methods

_Group: TypeAlias = dict[tuple[int, ...], list["Place"]]
_Kind: TypeAlias = tuple[tuple[int, int], ...]


class Place(NamedTuple):
    """The first token of a span: its sentence, and its position there, both from 0."""

    sentence: int
    token: int


@dataclass(frozen=True)
class Inconsistency:
    """Places with the same features and the same labels on both sides, which are labelled in several ways.

    Attributes
    ----------
    length : int
        The number of tokens.
    variants : dict
        From the codes of labels inside to the places with these labels; most places first. All variants but
        the first are the minority.
    """

    length: int
    variants: dict[tuple[int, ...], tuple[Place, ...]]

    @property
    def minority(self) -> frozenset[int]:
        """The sentences of all variants but the first."""
        _, *others = self.variants.values()
        return frozenset(place.sentence for places in others for place in places)

    def exchange(self) -> tuple[Place, tuple[int, ...], Place, tuple[int, ...]]:
        """Return two places, each with the labels of the other: labels differ at each token."""
        kinds = list(self.variants)
        a, b = next((a, b) for a in kinds for b in kinds if _differ(a, b))
        return self.variants[a][0], b, self.variants[b][0], a


def inconsistencies(problem: SequenceProblem, clock: Clock) -> list[Inconsistency]:
    """Return all inconsistencies, those of the earliest place first.

    Of two variants with as many places, the one is the minority whose sentences are in the minority elsewhere or,
    if that is equal, the later one.
    """
    clock.spend(PYTHON * len(problem.codes), "comparing the features of tokens")
    found = [differing for group in _groups(problem).values() if (differing := _differing(group))]
    found.sort(key=lambda group: min(places[0] for places in group.values()))
    return _ordered(found)


def exchange_labels(problem: SequenceProblem, found: Inconsistency) -> list[Labelled]:
    """Return the two labellings of an exchange, whose Δ sum to 0."""
    one, inside_one, two, inside_two = found.exchange()
    return [_relabelled(problem, one, inside_one), _relabelled(problem, two, inside_two)]


def _relabelled(problem: SequenceProblem, place: Place, inside: tuple[int, ...]) -> Labelled:
    labels = list(problem.truth(place.sentence))
    labels[place.token : place.token + len(inside)] = inside
    return Labelled(place.sentence, tuple(labels))


def _groups(problem: SequenceProblem) -> dict[object, _Group]:
    """Return spans by their features and the labels on both sides, and in each group by the labels inside."""
    n, codes, starts = problem.n_labels, problem.codes, problem.rows.starts
    kinds = _kinds(problem)
    groups: dict[object, _Group] = defaultdict(lambda: defaultdict(list))
    for first in sorted(kinds):
        sentence, token = place_of(first, starts)
        end = int(starts[sentence + 1])
        before = n if token == 0 else int(codes[first - 1])
        stop = first
        while stop in kinds and stop < min(end, first + LONGEST_SPAN_TOKENS):
            stop += 1
            after = n if stop == end else int(codes[stop])
            key = tuple(kinds[i] for i in range(first, stop)), before, after
            groups[key][tuple(codes[first:stop].tolist())].append(Place(sentence, token))
    return groups


def _kinds(problem: SequenceProblem) -> dict[int, _Kind]:
    """Return the features of tokens whose features may occur with several labels; a hash proposes them."""
    codes, starts = problem.codes, problem.rows.starts
    part = np.zeros(len(codes), np.bool_)
    for sentence in problem.sentences.tolist():
        part[starts[sentence] : starts[sentence + 1]] = True
    _, numbers = np.unique(_digests(problem), return_inverse=True)
    pairs = np.unique(numbers[part] * problem.n_labels + codes[part])
    labels = np.bincount(pairs // problem.n_labels, minlength=len(numbers))
    return {i: _kind(problem, i) for i in np.flatnonzero(part & (labels[numbers] > 1)).tolist()}


def _digests(problem: SequenceProblem) -> Ints:
    """Return a hash of each token, the same for the same features and values in any order."""
    rows = problem.rows
    factors = np.random.default_rng(0).integers(-(2**62), 2**62, problem.n_features) * 2 + 1
    terms = factors[rows.indices]
    if problem.integers is not None:
        terms *= np.array([value % 2**62 for value in problem.integers], np.int64)
    sums = np.append(0, np.cumsum(terms))
    return np.asarray(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])


def _kind(problem: SequenceProblem, token: int) -> _Kind:
    """Return the features of a token with the sums of their values, which decide whether two tokens are equal."""
    sums: dict[int, int] = defaultdict(int)
    for feature, value in problem.features(token):
        sums[feature] += value
    return tuple(sorted((feature, value) for feature, value in sums.items() if value))


def _differing(group: _Group) -> _Group:
    """Return the variants that differ from another one at each token."""
    return {a: places for a, places in group.items() if any(_differ(a, b) for b in group)}


def _differ(a: Iterable[int], b: Iterable[int]) -> bool:
    return all(x != y for x, y in zip(a, b, strict=True))


def _ordered(groups: list[_Group]) -> list[Inconsistency]:
    """Return groups with the majority first, so that few sentences are in a minority."""
    minority: set[int] = set()
    made: dict[int, Inconsistency] = {}
    tied = [len(set(_counts(group)[:2])) == 1 for group in groups]
    for k in sorted(range(len(groups)), key=lambda k: tied[k]):  # clear majorities first
        order = sorted(groups[k].items(), key=_rank(minority))
        found = Inconsistency(len(order[0][0]), {labels: tuple(dict.fromkeys(places)) for labels, places in order})
        minority |= found.minority
        made[k] = found
    return [made[k] for k in range(len(groups))]


def _counts(group: _Group) -> list[int]:
    return sorted(map(len, group.values()), reverse=True)


def _rank(minority: set[int]) -> Callable[[tuple[tuple[int, ...], list[Place]]], tuple[int, int, Place]]:
    def rank(variant: tuple[tuple[int, ...], list[Place]]) -> tuple[int, int, Place]:
        places = variant[1]
        new = {place.sentence for place in places} - minority
        return -len(places), -len(new), places[0]

    return rank
