"""Whether weights exist that label every sentence correctly: the question, and its exact arithmetic.

The score of a labelling adds the weights of features with labels and those of neighbouring labels. φ counts both,
and Δ(z) = φ(truth) − φ(z). Weights w separate the sentences if w·Δ(z) > 0 for every sentence and every labelling z
other than the truth that the constraints allow. None do if some Δ, with weights λ > 0, sum to 0 (Gordan 1873).

Values of features are floats, so they are integers times powers of two. Each feature is multiplied by the smallest
power that makes all its values integers. Unless stated otherwise, weights here are of these features.

Which labels may follow which: the schemes of spans, and pairs that are forbidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certify import check
from rosenblatt.certify.rationals import common, exact
from rosenblatt.certify.time_limit import PYTHON, Clock
from rosenblatt.exceptions import Given, LabelError, ParameterError, Remedy
from rosenblatt.parameters import RANGE, TYPE, refusal
from rosenblatt.rows.features import show_value
from rosenblatt.rows.memory import require_memory
from rosenblatt.sequences.loop import MistakeLog, rival_gaps, visit_sentences, work_for
from rosenblatt.sequences.sentences import SequenceRows, place_of
from rosenblatt.typing import Floats, Ints

SCHEMES: dict[str, dict[str, str]] = {
    "bio": {"start": "OB", "O": "OB.", "B": "OBI.", "I": "OBI."},
    "bioes": {"start": "OBS", "O": "OBS.", "B": "IE", "I": "IE", "E": "OBS.", "S": "OBS."},
}
"""For each scheme, what may follow which; "." is the end. I and E continue a span of their type."""
INSIDE = "IE"
SCHEMES_OR_PAIRS = "must be None, 'bio', 'bioes' or a list of pairs of labels"


class Constraints(NamedTuple):
    """What is added to the score of each pair of neighbours, and of each last label: 0, or −∞ where forbidden."""

    pairs: Floats  # rows are labels before, the last one the start
    last: Floats  # the end


def as_constraints(constraints: Any, classes: NDArray[Any]) -> Constraints:
    """Return what `constraints` forbids: by name, or as pairs (before, label); None is the start or the end.

    Examples
    --------
    >>> as_constraints("bio", np.array(["B-X", "I-X", "O"])).pairs
    array([[  0.,   0.,   0.],
           [  0.,   0.,   0.],
           [  0., -inf,   0.],
           [  0., -inf,   0.]])
    """
    labels = classes.tolist()
    n = len(labels)
    require_memory(f"Weights of all pairs of {n:,} labels", 16 * n * (n + 1), "Use fewer labels.")
    held = Constraints(np.zeros((n + 1, n)), np.zeros(n))
    if constraints is None:
        return held
    if isinstance(constraints, str):
        if constraints not in SCHEMES:
            raise refusal("constraints", constraints, SCHEMES_OR_PAIRS, RANGE)
        _forbid_by_scheme(constraints, labels, held)
        return held
    number = {label: code for code, label in enumerate(labels)}
    for before, after in _pairs(constraints):
        for label in (before, after):
            if label is not None and label not in labels:  # a list, which no dict takes, may stand here
                told = f": {show_value(label)} is not a label of y. Drop the pair."
                raise ParameterError(Given("constraints") + told)
        if after is None:
            held.last[number[before]] = -np.inf
        else:
            held.pairs[n if before is None else number[before], number[after]] = -np.inf
    return held


def _pairs(constraints: Any) -> list[tuple[Any, Any]]:
    if not isinstance(constraints, Iterable) or isinstance(constraints, Mapping):
        raise refusal("constraints", constraints, SCHEMES_OR_PAIRS)
    pairs = list(constraints)
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or pair[0] is pair[1] is None:
            told = f": {pair!r} is not a pair (before, label), of which one may be None."
            raise ParameterError(Given("constraints") + told, code=TYPE)
    return [(before, after) for before, after in pairs]


def _forbid_by_scheme(name: str, labels: list[Any], held: Constraints) -> None:
    scheme = SCHEMES[name]
    parts = []
    for label in labels:
        kind, dash, span = str(label).partition("-")
        if kind not in scheme or kind == "start" or (kind == "O") == bool(dash):
            kinds = ", ".join("O" if each == "O" else f"{each}-…" for each in scheme if each != "start")
            raise LabelError(f"{show_value(label)} is not a label of constraints={name!r}, which has {kinds}.")
        parts.append((kind, span))
    for k, (before, span) in enumerate([*parts, ("start", "")]):
        for code, (kind, own) in enumerate(parts):
            if kind not in scheme[before] or (kind in INSIDE and (own != span or before == "O")):
                held.pairs[k, code] = -np.inf
        if k < len(parts) and "." not in scheme[before]:
            held.last[k] = -np.inf


def require_allowed(held: Constraints, codes: Ints, starts: Ints, classes: NDArray[Any]) -> None:
    """Raise `LabelError` at the first label that the constraints forbid, with its sentence and position."""
    lengths = np.diff(starts)
    first = np.zeros(len(codes), np.bool_)
    first[starts[:-1][lengths > 0]] = True
    before = np.where(first, len(classes), np.roll(codes, 1))
    wrong = np.flatnonzero(np.isneginf(held.pairs[before, codes]))
    if len(wrong):
        sentence, token = place_of(int(wrong[0]), starts)
        label = classes[codes[wrong[0]]]
        after = "at the start" if token == 0 else f"after {show_value(classes[codes[wrong[0] - 1]].item())}"
        raise LabelError(
            f"y[{sentence}][{token}] is {show_value(label.item())} {after}, which the constraints "
            "forbid. Correct the "
            "label, or change constraints."
        )
    ends = starts[1:][lengths > 0] - 1
    wrong = ends[np.isneginf(held.last[codes[ends]])]
    if len(wrong):
        sentence, token = place_of(int(wrong[0]), starts)
        raise LabelError(
            f"y[{sentence}][{token}] is {show_value(classes[codes[wrong[0]]].item())} at the end, which "
            "the constraints forbid. Correct the label, or change constraints."
        )


LARGEST_EXACT_SUM = 2.0**53  # whole numbers up to this size are exact in floats, in any order of summation

Delta: TypeAlias = dict[tuple[int, int], int]
"""Counts by place: (feature, label), and (−1 − label before, label); −1 − n_labels is the start."""


def require_all_features(model: Any, what: str) -> None:
    """Refuse a tagger whose parameters a proof or a bound is not about."""
    if model.min_freq != 1 or model.hash_bits is not None:
        told = f"{what} is about all features, but " + Given("min_freq") + " leaves some out and "
        raise ParameterError(told + Given("hash_bits") + " mixes them. Set min_freq=1 and hash_bits=None.")
    if model.order != 1:
        raise ParameterError(
            f"{what} is about order=1, not {model.order}. Set " + Remedy("order", 1) + ".",
            parameter="order",
            value=model.order,
        )


class Labelled(NamedTuple):
    """A labelling of a sentence, by codes."""

    sentence: int
    labels: tuple[int, ...]


class SequenceScores(NamedTuple):
    """Weights as integers: a list by label for each feature that has any, and for each label before."""

    features: dict[int, list[int]]  # from features to the weights of their labels; a missing feature has zeros
    pairs: list[list[int]]  # a row for each label before, and as the last row the start

    @property
    def square(self) -> int:
        """The squared norm."""
        rows = [*self.features.values(), *self.pairs]
        return sum(value * value for row in rows for value in row)


class SequenceProblem:
    """Sentences, their labels, and what is forbidden; `left_out` are sentences that take no part."""

    def __init__(
        self,
        rows: SequenceRows,
        codes: Ints,
        n_features: int,
        held: Constraints,
        left_out: Iterable[int] = (),
    ) -> None:
        self.rows, self.codes, self.n_features, self.held = rows, codes, n_features, held
        self.n_labels = held.pairs.shape[1]
        lengths = np.diff(rows.starts)
        taking_part = lengths > 0
        taking_part[list(left_out)] = False
        self.sentences = np.flatnonzero(taking_part)
        tokens = int(lengths[self.sentences].sum())
        # the work of a search of all sentences; of a token all features and all pairs of labels are added
        per_token = len(rows.indices) / max(1, int(rows.starts[-1])) + 2 * self.n_labels
        self.size = tokens * self.n_labels * per_token + len(self.sentences)

    @cached_property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.rows.data is None or not (self.rows.data % 1.0).any()

    @cached_property
    def scale(self) -> list[int] | None:
        """The power of two that each feature is multiplied by; None if all values are integers."""
        data = self.rows.data
        if data is None or self.whole:
            return None
        scale = [1] * self.n_features
        for feature, value in zip(self.rows.indices.tolist(), data.tolist(), strict=True):
            scale[feature] = max(scale[feature], value.as_integer_ratio()[1])
        return scale

    @cached_property
    def integers(self) -> list[int] | None:
        """All values, multiplied to integers; None if all are 1."""
        data = self.rows.data
        if data is None:
            return None
        if self.scale is None:
            return [int(value) for value in data.tolist()]
        pairs = zip(self.rows.indices.tolist(), map(exact, data.tolist()), strict=True)
        return [int(value * self.scale[feature]) for feature, value in pairs]

    def truth(self, sentence: int) -> tuple[int, ...]:
        """Return the true labels of a sentence."""
        return tuple(self.codes[self.rows.starts[sentence] : self.rows.starts[sentence + 1]].tolist())

    def tokens(self, sentence: int) -> list[list[tuple[int, int]]]:
        """Return the features of each token of a sentence, with their values as integers."""
        starts = self.rows.starts
        return [self.features(i) for i in range(int(starts[sentence]), int(starts[sentence + 1]))]

    def features(self, token: int) -> list[tuple[int, int]]:
        """Return the features of a token, counted over all sentences, with their values as integers."""
        begin, end = int(self.rows.indptr[token]), int(self.rows.indptr[token + 1])
        features = self.rows.indices[begin:end].tolist()
        values = [1] * len(features) if self.integers is None else self.integers[begin:end]
        return list(zip(features, values, strict=True))

    def delta(self, other: Labelled) -> Delta:
        """Return Δ of a labelling, without zeros."""
        sums: Delta = {}
        start = -1 - self.n_labels
        tokens, truth = self.tokens(other.sentence), self.truth(other.sentence)
        for labels, sign in ((truth, 1), (other.labels, -1)):
            before = start
            for i, label in enumerate(labels):
                if truth[i] != other.labels[i]:
                    for feature, value in tokens[i]:
                        sums[feature, label] = sums.get((feature, label), 0) + sign * value
                sums[before, label] = sums.get((before, label), 0) + sign
                before = -1 - label
        return {place: value for place, value in sums.items() if value}

    def square(self, delta: Delta) -> Fraction:
        """Return the squared norm of a Δ, or of sums of them, for the features as given."""
        scale = self.scale
        total = Fraction(0)
        for (place, _), value in delta.items():
            total += value * value if place < 0 or scale is None else Fraction(value, scale[place]) ** 2
        return total

    def combined(self, others: Sequence[Labelled], weights: Sequence[int]) -> Delta:
        """Return Σ λ Δ, without zeros."""
        sums: Delta = {}
        for other, weight in zip(others, weights, strict=True):
            for place, value in self.delta(other).items():
                sums[place] = sums.get(place, 0) + weight * value
        return {place: value for place, value in sums.items() if value}

    def tables(self, weights: Mapping[tuple[int, int], float]) -> tuple[Floats, Floats]:
        """Return weights by place as tables: of features with labels, and of pairs of labels."""
        n = self.n_labels
        w, t = np.zeros((self.n_features, n)), np.zeros((n + 1, n))
        for (place, label), value in weights.items():
            if place < 0:
                t[-1 - place, label] = value
            else:
                w[place, label] = value
        return w, t

    def is_rival(self, other: Labelled) -> bool:
        """Return whether a labelling is of the right length, is allowed, and is not the truth."""
        truth, labels, n = self.truth(other.sentence), other.labels, self.n_labels
        if len(labels) != len(truth) or labels == truth or not labels:
            return False
        if any(self.held.pairs[pair] for pair in zip([n, *labels[:-1]], labels, strict=True)):
            return False
        return not self.held.last[labels[-1]]

    # ---- gaps

    def exact_in_floats(self, w: Floats, t: Floats) -> bool:
        """Return whether whole weights are so small that floats make no error in any score."""
        data, ends = self.rows.data, self.rows.indptr
        if not self.whole:
            return False
        sizes = np.ones(len(self.rows.indices)) if data is None else np.abs(data)
        sums = np.append(0.0, np.cumsum(sizes))  # below 2⁵³ if the check below passes
        largest = float((sums[ends[1:]] - sums[ends[:-1]]).max(initial=0.0))
        finite = t[np.isfinite(t)]
        each = largest * float(np.abs(w).max(initial=0.0)) + float(np.abs(finite).max(initial=0.0))
        whole = not (w % 1.0).any() and not (finite % 1.0).any()
        return whole and float(sums[-1]) < LARGEST_EXACT_SUM and 2.0 * self.rows.longest * each < LARGEST_EXACT_SUM

    def float_gaps(self, w: Floats, t: Floats, clock: Clock) -> tuple[Floats, list[Labelled]]:
        """Return the gap of each sentence that takes part, and its best rival; ∞ if it has none.

        The gap is the score of the truth minus that of the best other labelling. It is exact if the weights are
        `exact_in_floats`. Weights are of the features as given.
        """
        clock.spend(2.0 * self.size, "labelling all sentences")
        rows, visits = self.rows, self.sentences.astype(np.uint64)
        gaps, found = np.empty(len(visits)), np.empty(int(np.diff(rows.starts)[self.sentences].sum()), np.int64)
        rival_gaps(
            *rows, self.codes, visits, w, t + self.held.pairs, self.held.last,
            work_for(rows.longest, self.n_labels), gaps, found,
        )  # fmt: skip
        labels, rivals, first = found.tolist(), [], 0
        for sentence, n in zip(
            self.sentences.tolist(), np.diff(rows.starts)[self.sentences].tolist(), strict=True
        ):
            rivals.append(Labelled(sentence, tuple(labels[first : first + n])))
            first += n
        return gaps, rivals

    def least_gap(self, scores: SequenceScores, clock: Clock) -> int | None:
        """Return the smallest gap of all sentences in integers, not above 0 if some are not separated.

        The result is None if no sentence has a labelling other than the truth.
        """
        held = self.held
        forbidden = [[bool(value) for value in row] for row in held.pairs.tolist()]
        ends = [not value for value in held.last.tolist()]
        least: int | None = None
        for sentence in self.sentences.tolist():
            tokens = self.tokens(sentence)
            clock.spend(
                PYTHON * self.n_labels * (sum(map(len, tokens)) + 2 * self.n_labels * len(tokens)),
                "adding up exact scores",
            )
            emissions = [check.emission(token, scores.features, self.n_labels) for token in tokens]
            gap = check.smallest_gap(emissions, self.truth(sentence), scores.pairs, forbidden, ends)
            if gap is not None and (least is None or gap < least):
                least = gap
                if least <= 0:
                    break
        return least

    def scores_of(self, w: Floats, t: Floats) -> SequenceScores:
        """Return floats, of features as given, as integers up to a common factor above 0."""
        used = np.flatnonzero(w.any(axis=1)).tolist()
        t = np.where(np.isfinite(t), t, 0.0)
        if self.exact_in_floats(w, t):  # whole numbers
            rows = w[used].astype(np.int64).tolist()
            return SequenceScores(dict(zip(used, rows, strict=True)), t.astype(np.int64).tolist())
        scale = self.scale
        fractions = [[exact(value) / (scale[f] if scale else 1) for value in w[f].tolist()] for f in used]
        pairs = [[exact(value) for value in row] for row in t.tolist()]
        flat = common([value for row in (*fractions, *pairs) for value in row])[0]
        n = self.n_labels
        cut = [flat[i : i + n] for i in range(0, len(flat), n)]
        return SequenceScores(dict(zip(used, cut, strict=False)), cut[len(used) :])

    def whole_tables(self, scores: SequenceScores) -> tuple[Floats, Floats] | None:
        """Return integers as floats, if all scores are exact in floats; else None."""
        rows = [*scores.features.values(), *scores.pairs]
        if not self.whole or any(abs(value) >= LARGEST_EXACT_SUM for row in rows for value in row):
            return None
        w = np.zeros((self.n_features, self.n_labels))
        if scores.features:
            w[list(scores.features)] = list(scores.features.values())
        t = np.array(scores.pairs, np.float64)
        return (w, t) if self.exact_in_floats(w, t) else None

    def original(self, scores: SequenceScores) -> SequenceScores:
        """Return weights for the features as given, which are not multiplied by powers of two."""
        if self.scale is None:
            return scores
        scale = self.scale
        return scores._replace(
            features={f: [scale[f] * value for value in row] for f, row in scores.features.items()}
        )

    def multiplied(self, scores: SequenceScores) -> SequenceScores:
        """Return weights of features as given, as integers for the multiplied ones, up to a factor above 0."""
        if self.scale is None:
            return scores
        highest = max((self.scale[f] for f in scores.features), default=1)  # powers of two divide each other
        features = {f: [value * (highest // self.scale[f]) for value in row] for f, row in scores.features.items()}
        return SequenceScores(features, [[highest * value for value in row] for row in scores.pairs])

    # ---- the perceptron

    def visit(
        self, order: Any, w: Floats, u: Floats | None, t: Floats, tu: Floats | None, made: int, clock: Clock
    ) -> MistakeLog | None:
        """Make the perceptron's updates on some sentences, ties being mistakes; None if scores are not finite."""
        lengths = np.diff(self.rows.starts)[order.astype(np.int64)]
        n, n_tokens = len(order), int(lengths.sum())
        all_tokens = max(1, int(np.diff(self.rows.starts)[self.sentences].sum()))
        clock.spend(2.0 * self.size * n_tokens / all_tokens, "running the perceptron")
        rows, log = self.rows, MistakeLog.room(n, n_tokens)
        mistakes, done = visit_sentences(
            *rows, self.codes, np.ones(rows.n_sentences), order, w, u, t, tu, self.held.last, made, 0.0, True,
            work_for(rows.longest, self.n_labels), log,
        )  # fmt: skip
        return None if done < n else log.first(mistakes).copy()

    def logged(self, log: MistakeLog) -> list[Labelled]:
        """Return the wrong labellings of a log."""
        found, first = [], 0
        at, wrong = log.wrong_at.tolist(), log.wrong_label.tolist()
        for sentence, stop in zip(log.sentence.tolist(), log.stop.tolist(), strict=True):
            labels = list(self.truth(sentence))
            for i in range(first, stop):
                labels[at[i]] = wrong[i]
            found.append(Labelled(sentence, tuple(labels)))
            first = stop
        return found
