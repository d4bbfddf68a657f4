"""`certify_sequences`: from sentences to a certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certify import check
from rosenblatt.certify.decide import decide
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.rationals import common, nearest
from rosenblatt.certify.simplex import Meeting
from rosenblatt.certify.time_limit import PYTHON, Clock, Unsettled
from rosenblatt.exceptions import Given, InputError, LabelError, ParameterError
from rosenblatt.loops.order import seed_of_pass, shuffle
from rosenblatt.parameters import SECONDS
from rosenblatt.rows.features import as_rows
from rosenblatt.sequences.exchanges import Inconsistency, exchange_labels, inconsistencies
from rosenblatt.sequences.sentence_problem import (
    Constraints,
    Labelled,
    SequenceProblem,
    SequenceScores,
    as_constraints,
    require_allowed,
)
from rosenblatt.sequences.sentence_proof import (
    SequenceAnswer,
    SequenceData,
    SequenceInseparable,
    SequenceSeparable,
    SequenceUndecided,
)
from rosenblatt.sequences.sentences import ItemVocabulary, Sentences, as_label_codes, as_sentences, read_item
from rosenblatt.sequences.templates import Template, TemplateVocabulary, as_templates
from rosenblatt.typing import Floats

# Search for weights that label every sentence correctly, or for a combination of labellings that excludes them.
#
# Exchanges are looked for first, because they are short and say what to correct. Then the perceptron runs, with
# ties as mistakes: it finds weights if there are any. If its weights return to earlier ones, the updates in
# between sum to 0. Else cutting planes decide: a linear program finds weights for the labellings met so far, the
# best rivals of all sentences join them, and rationals decide each of these problems.

MAX_PERCEPTRON_PASSES = 300  # over all sentences, that the perceptron may amount to
INNER_PASSES = 5  # passes over the sentences that a pass over all was wrong on
# The work of a pass, and the weights, up to which it is worth while to wait for weights to return
MAX_SMALL_WORK = 2**20
ROUNDING_SCALES = (2.0**8, 2.0**16, 2.0**24)  # weights of a program are tried as whole numbers of this size
LABELLINGS_AT_ONCE = 4000  # labellings that join a program at a time
LARGEST = check.LARGEST_SCORE


class Gap(NamedTuple):
    """Weights that label every sentence correctly, by at least `least`.

    `least` is None if no sentence has other labellings.
    """

    scores: SequenceScores  # the weights
    least: int | None  # the smallest gap

    @property
    def squared(self) -> Fraction:
        """The squared margin of these weights; 0 if they have none."""
        return Fraction((self.least or 0) ** 2, max(1, self.scores.square))


class Combination(NamedTuple):
    """Labellings with positive weights, whose Δ sum to 0, and how they were found."""

    others: list[Labelled]
    weights: list[int]
    kind: str


@dataclass
class SequenceFinding:
    """What a search found."""

    answer: Gap | Combination | str  # weights, a combination, or the reason why there is neither
    inconsistent: list[Inconsistency] = field(default_factory=list)  # all inconsistencies of annotation
    highest: Fraction | None = None  # an upper bound on the squared margin, from the perceptron's run


def search(problem: SequenceProblem, clock: Clock) -> SequenceFinding:
    """Decide whether some weights label every sentence correctly."""
    found = SequenceFinding("")
    try:
        found.inconsistent = inconsistencies(problem, clock)
        if found.inconsistent:
            found.answer = _checked(problem, exchange_labels(problem, found.inconsistent[0]), [1, 1], "exchange")
            return found
        run = _Perceptron(problem, clock)
        found.answer = run.answer() or CuttingPlanes(problem, clock, run.last).answer()
        if run.made:
            found.highest = run.highest()
    except Unsettled as end:
        found.answer = str(end)
    return found


def _checked(problem: SequenceProblem, others: list[Labelled], weights: list[int], kind: str) -> Combination:
    """Return a combination after checking, in integers, that it is one."""
    assert all(map(problem.is_rival, others)), "a combination has rivals of the truth"
    assert min(weights) > 0, "its weights are above 0"
    assert not problem.combined(others, weights), "the sum of a combination is 0"
    return Combination(others, weights, kind)


def verify_weights(problem: SequenceProblem, w: Floats, t: Floats, clock: Clock) -> Gap | None:
    """Return weights in floats as integers if they label every sentence correctly, else None."""
    gaps, _ = problem.float_gaps(w, t, clock)
    if not (gaps > 0.0).all():
        return None
    scores = problem.scores_of(w, t)
    if problem.exact_in_floats(w, t):  # then the factor of `scores_of` is 1
        least = float(gaps.min(initial=np.inf))
        return Gap(scores, None if np.isinf(least) else int(least))
    return _exactly(problem, scores, clock)


def _exactly(problem: SequenceProblem, scores: SequenceScores, clock: Clock) -> Gap | None:
    least = problem.least_gap(scores, clock)
    return None if least is not None and least <= 0 else Gap(scores, least)


class _Perceptron:
    """A run from zero in which ties are mistakes: passes over all sentences, and over those it was wrong on."""

    def __init__(self, problem: SequenceProblem, clock: Clock) -> None:
        self.problem, self.clock = problem, clock
        n = problem.n_labels
        self.w, self.t = np.zeros((problem.n_features, n)), problem.held.pairs.copy()
        self.u, self.tu = np.zeros_like(self.w), np.zeros((n + 1, n))
        self.visits = self.made = 0
        self.last: list[Labelled] = []  # of the last passes, without repetition
        self.pieces: list[list[Labelled]] = []  # the updates between the moments at which weights were noted
        self.moments: dict[int, int] = {}
        self.factors = np.empty(0, np.int64)
        self.small = problem.whole and problem.size + self.w.size < MAX_SMALL_WORK

    def answer(self) -> Gap | Combination | None:
        """Return weights, a combination, or None if neither was found within `MAX_PERCEPTRON_PASSES` passes."""
        every = self.problem.sentences.astype(np.uint64)
        left, clean = MAX_PERCEPTRON_PASSES * len(every), False
        while left >= 0:
            order = self.shuffled(every)
            for _ in range(1 if self.small else 1 + INNER_PASSES):
                left -= len(order)
                log = self.problem.visit(order, self.w, self.u, self.t, self.tu, self.visits, self.clock)
                if log is None:
                    return None
                self.visits += len(order)
                clean = not len(log.visit)
                if clean:
                    break
                met = self.problem.logged(log)
                self.made += len(met)
                self.last = list(dict.fromkeys([*met, *self.last]))[:LABELLINGS_AT_ONCE]
                if (found := self.repeated(met)) is not None:
                    return found
                order = log.sentence.astype(np.uint64) if len(order) == len(every) else order
            if clean and len(order) == len(every):
                return self.weights()
        return None

    def shuffled(self, sentences: Any) -> Any:
        """Return sentences in the order of the next pass; the same one for small problems, which may repeat."""
        order = sentences.copy()
        if not self.small:
            shuffle(order, np.uint64(seed_of_pass(np.uint64(0), np.uint64(1 + self.visits))))
        return order

    def weights(self) -> Gap | None:
        """Return the last weights or their average, whichever has the larger margin."""
        t = np.where(np.isfinite(self.t), self.t, 0.0)
        last = verify_weights(self.problem, self.w, t, self.clock)
        average = verify_weights(
            self.problem, self.visits * self.w - self.u, self.visits * t - self.tu, self.clock
        )
        return max(filter(None, (last, average)), key=lambda gap: gap.squared, default=None)

    def repeated(self, met: list[Labelled]) -> Combination | None:
        """Note the weights of a small problem; if they return to earlier ones, return the updates in between."""
        if not self.small:
            return None
        self.pieces.append(met)
        if not len(self.factors):
            n = self.w.size + self.tu.size
            self.factors = np.random.default_rng(0).integers(-(2**62), 2**62, n) * 2 + 1
            self.moments[0] = 0
        self.clock.spend(self.w.size, "looking for weights that return")
        whole = np.concatenate([self.w.ravel(), np.where(np.isfinite(self.t), self.t, 0.0).ravel()])
        mark = int((whole.astype(np.int64) * self.factors).sum())
        before = self.moments.setdefault(mark, len(self.pieces))
        if before == len(self.pieces):
            return None
        times = Counter(each for piece in self.pieces[before:] for each in piece)
        if self.problem.combined(list(times), list(times.values())):
            return None  # two different weights have the same hash
        return _checked(self.problem, list(times), list(times.values()), "cycle")

    def highest(self) -> Fraction | None:
        """Return ‖w_k‖²/k², an upper bound on γ²: each of k updates adds at least γ to the product with U."""
        t = np.where(np.isfinite(self.t), self.t, 0.0)
        if not self.problem.exact_in_floats(self.w, t):
            return None
        norm = sum(int(value) ** 2 for part in (self.w, t) for value in part[part != 0.0].tolist())
        return Fraction(norm, self.made**2)


class CuttingPlanes:
    """Decides about some labellings, and adds the best rivals of the weights found until none is left."""

    def __init__(self, problem: SequenceProblem, clock: Clock, start: list[Labelled]) -> None:
        self.problem, self.clock = problem, clock
        self.inside: dict[Labelled, dict[int, int]] = {}
        self.columns: dict[tuple[int, int], int] = {}
        self.join(start[:LABELLINGS_AT_ONCE])

    def join(self, others: list[Labelled]) -> None:
        """Add labellings, as rows Δ."""
        for other in others:
            delta = self.problem.delta(other)
            self.clock.spend(PYTHON * (1 + len(delta)), "adding labellings")
            self.inside[other] = {
                self.columns.setdefault(place, len(self.columns)): value for place, value in delta.items()
            }

    def answer(self) -> Gap | Combination:
        """Return the answer; raise `Unsettled` if it takes too long."""
        if not self.inside:
            gaps, rivals = self.problem.float_gaps(*self.tables(np.zeros(0)), self.clock)
            self.join([rival for gap, rival in zip(gaps, rivals, strict=True) if gap < np.inf])
        while True:
            others = list(self.inside)
            nothing = [other for other, row in self.inside.items() if not row]
            if nothing:
                return _checked(self.problem, nothing[:1], [1], "one sentence")
            part = self.separation()
            found = decide(part, self.clock)
            if isinstance(found, Meeting):
                chosen = [others[i] for i in found.rows.tolist()]
                return _checked(self.problem, chosen, found.weights, "cutting planes")
            exact = part.original(found.v.integers, found.v.power)
            size = max(map(abs, exact))
            v = np.array([float(value / size) for value in exact])
            gap = self.rounded(v)
            if gap is not None:
                return gap
            known = len(self.inside)
            gaps, rivals = self.problem.float_gaps(*self.tables(v), self.clock)
            order = np.argsort(gaps, kind="stable")
            worst = [rivals[i] for i in order.tolist() if gaps[i] <= 0.0 and rivals[i] not in self.inside]
            if not worst:
                scores = self.exact_scores(exact)
                gap = _exactly(self.problem, scores, self.clock)
                if gap is not None:
                    return self.written(gap)
                near = [rivals[i] for i in order.tolist() if rivals[i] not in self.inside and gaps[i] < np.inf]
                worst = near[: max(1, len(near) // 10)]
            self.join(worst[:LABELLINGS_AT_ONCE])
            if len(self.inside) == known:
                raise Unsettled("Weights found by the linear program differ from those that floats can hold.")

    def separation(self) -> SeparationProblem:
        """Return the problem of the labellings inside."""
        from scipy.sparse import csr_array

        rows = list(self.inside.values())
        ends = np.cumsum([0, *map(len, rows)])
        indices = np.array([column for row in rows for column in row], np.int64)
        integers = [value for row in rows for value in row.values()]
        values = np.array([nearest(value, 1) for value in integers])
        if any(not isfinite(a) or int(a) != b for a, b in zip(values.tolist(), integers, strict=True)):
            raise Unsettled("Sums of the values of features have more digits than floats. Round the values.")
        table = csr_array((values, indices, ends), shape=(len(rows), len(self.columns)))
        table.sort_indices()
        return SeparationProblem(as_rows(table), np.ones(len(rows)), bias=False)

    def tables(self, v: Floats) -> tuple[Floats, Floats]:
        """Return a vector of the columns as weights of features as given, and of pairs."""
        scale = self.problem.scale
        weights = {
            (place, label): value if place < 0 or scale is None else value * scale[place]
            for (place, label), value in zip(self.columns, v.tolist(), strict=False)
        }
        return self.problem.tables(weights)

    def rounded(self, v: Floats) -> Gap | None:
        """Return the vector rounded to short whole numbers if it labels every sentence correctly, else None."""
        for size in ROUNDING_SCALES:
            w, t = self.tables(np.round(v * size))
            if (gap := verify_weights(self.problem, w, t, self.clock)) is not None:
                return self.written(gap)
        return None

    def exact_scores(self, exact: list[Fraction]) -> SequenceScores:
        """Return an exact vector of the columns as weights."""
        n = self.problem.n_labels
        features: dict[int, list[int]] = {}
        pairs = [[0] * n for _ in range(n + 1)]
        for (place, label), value in zip(self.columns, common(exact)[0], strict=True):
            row = pairs[-1 - place] if place < 0 else features.setdefault(place, [0] * n)
            row[label] = value
        return SequenceScores(features, pairs)

    def written(self, gap: Gap) -> Gap:
        """Return weights if a proof can hold them."""
        rows = [*self.problem.original(gap.scores).features.values(), *gap.scores.pairs]
        if max((value.bit_length() for row in rows for value in row), default=0) > LARGEST:
            raise Unsettled(f"The weights found have more than {LARGEST} bits, which no proof holds.")
        return gap


MAX_WORK_UNITS = 3e11  # units of work: ten minutes or so


def certify_sequences(
    X: Iterable[Any],
    y: Any,
    *,
    templates: Any = None,
    constraints: Any = None,
    without: Iterable[int] = (),
    time_limit: float | None = None,
    work: float | None = MAX_WORK_UNITS,
) -> SequenceAnswer:
    """Decide whether a `SequencePerceptron` can label every sentence correctly, and prove it.

    Parameters
    ----------
    X : iterable of sentences
        As in `SequencePerceptron.fit`.
    y : iterable of sequences of labels
        One label for each token.
    templates, constraints
        As in `SequencePerceptron`. All features take part, also those that occur once.
    without : iterable of int
        Sentences that take no part, from 0: for example ``answer.minority`` of an earlier answer.
    time_limit : float or None
        Seconds after which the answer is "undecided"; None means no limit.
    work : float or None
        The work allowed, in units of about one multiplication; None means no limit. The same data ends at the same
        place on every machine.

    Returns
    -------
    SequenceSeparable, SequenceInseparable or SequenceUndecided
        The answer, with its proof.

    Examples
    --------
    >>> X = [["we", "saw", "her", "duck"], ["they", "saw", "her", "duck"]]
    >>> y = [["PRON", "VERB", "PRON", "VERB"], ["PRON", "VERB", "DET", "NOUN"]]
    >>> answer = certify_sequences(X, y, templates=["lower"])
    >>> answer.verdict, answer.kind, answer.minority
    ('inseparable', 'exchange', (1,))
    >>> certify_sequences(X, y, templates=["lower"], without=answer.minority).verdict
    'separable'
    """
    SECONDS("time_limit", time_limit)
    SECONDS("work", work)
    sentences = as_sentences(X)
    left_out = tuple(sorted({_sentence(each, len(sentences)) for each in without}))
    problem, classes, vocabulary = pose_question(sentences, y, templates, constraints, left_out)
    labels = tuple(str(label) for label in classes.tolist())
    if len(set(labels)) < len(labels):
        raise LabelError("Two labels are the same as text, so a proof cannot tell them apart. Rename one of them.")
    given = vocabulary.templates if isinstance(vocabulary, TemplateVocabulary) else None
    data = SequenceData(
        len(sentences),
        len(problem.codes),
        labels,
        None if given is None else tuple(map(_written, given)),
        _forbidden(problem.held),
        left_out,
        _fingerprint(sentences, problem.codes.tolist(), given),
    )
    found = search(problem, Clock(time_limit, work))
    if isinstance(found.answer, str):
        return SequenceUndecided(data=data, why=found.answer)
    if isinstance(found.answer, Gap):
        names = tuple(vocabulary.names()) if isinstance(vocabulary, ItemVocabulary) else None
        least = None if found.answer.least is None else Fraction(found.answer.least)
        return SequenceSeparable(
            data=data,
            scores=problem.original(found.answer.scores),
            features=vocabulary.n_features,
            names=names,
            least=least,
            highest=found.highest,
        )
    order = sorted(range(len(found.answer.others)), key=lambda k: found.answer.others[k])  # type: ignore[union-attr]
    return SequenceInseparable(
        data=data,
        others=tuple(found.answer.others[k] for k in order),
        weights=tuple(found.answer.weights[k] for k in order),
        kind=found.answer.kind,
        inconsistencies=tuple(found.inconsistent),
    )


def pose_question(
    sentences: Sentences, y: Any, templates: Any, constraints: Any, left_out: Iterable[int] = ()
) -> tuple[SequenceProblem, NDArray[Any], ItemVocabulary | TemplateVocabulary]:
    """Return the question that `certify_sequences` decides, its labels, and its features by name."""
    classes, codes = as_label_codes(y, sentences, None)
    held = as_constraints(constraints, classes)
    vocabulary = ItemVocabulary() if templates is None else TemplateVocabulary(as_templates(templates))
    rows = vocabulary.rows(sentences, grows=True)
    require_allowed(held, codes, rows.starts, classes)
    return SequenceProblem(rows, codes, vocabulary.n_features, held, left_out), classes, vocabulary


def problem_of(data: SequenceData, X: Iterable[Any], y: Any, names: Iterable[str] | None) -> SequenceProblem | str:
    """Return the problem that a proof is about, or why these are not its sentences; `names` are its features."""
    sentences, labels = as_sentences(X), as_sentences(y, "y")
    number = {label: code for code, label in enumerate(data.labels)}
    if len(sentences) != len(labels) or any(len(a) != len(b) for a, b in zip(sentences, labels, strict=False)):
        return "Sentences and labels do not have the same lengths."
    found = [number.get(str(label), -1) for own in labels for label in own]
    if -1 in found or len(set(found)) < len(number) or len(number) < len(data.labels):
        return "The labels of these sentences are not those of the proof."
    given = None if data.templates is None else tuple(map(_read_template, data.templates))
    try:
        sha256 = _fingerprint(sentences, found, given)
        vocabulary = ItemVocabulary(names or ()) if given is None else TemplateVocabulary(as_templates(given))
    except (InputError, check.DataError) as error:
        return f"These are not the sentences of the proof: {error}"
    except check.ProofError as error:
        return f"These are not the sentences of the proof: {error.args[0]}."
    if (len(sentences), len(found), sha256) != (data.sentences, data.tokens, data.sha256):
        return "These are not the sentences of the proof: the fingerprints differ."
    rows = vocabulary.rows(sentences, grows=True)
    n = len(data.labels)
    held, codes = Constraints(np.zeros((n + 1, n)), np.zeros(n)), np.array(found, np.int64)
    for before, label in data.forbidden:
        if label == n:
            held.last[before] = -np.inf
        else:
            held.pairs[before, label] = -np.inf
    try:
        require_allowed(held, codes, rows.starts, np.array(data.labels))
    except LabelError:
        return "The proof forbids the true labels of a sentence."
    return SequenceProblem(rows, codes, vocabulary.n_features, held, data.without)


def _sentence(number: Any, count: int) -> int:
    if not isinstance(number, int | np.integer) or not 0 <= number < count:
        told = f": there is no sentence {number!r}. Count them from 0 to {count - 1}."
        raise ParameterError(Given("without") + told)
    return int(number)


def _written(template: Template) -> str:
    """Write a template as proofs have it.

    >>> _written((("lower", -1), ("suffix2", 0)))
    'lower[-1] & suffix2'
    """
    return " & ".join(f"{column}[{offset:+d}]" if offset else str(column) for column, offset in template)


def _read_template(text: str) -> Template:
    return tuple(
        (int(column) if column.isdigit() else column, offset) for column, offset in check.TokenReader.split(text)
    )


def _forbidden(held: Constraints) -> tuple[tuple[int, int], ...]:
    n = len(held.last)
    pairs = [(int(k), int(label)) for k, label in np.argwhere(held.pairs)]
    return tuple(pairs + [(int(label), n) for label in np.flatnonzero(held.last)])


def _fingerprint(sentences: Sentences, codes: list[int], templates: tuple[Template, ...] | None) -> str:
    """Return the SHA-256 of sentences as `check.py` computes it."""
    reader = check.TokenReader(None if templates is None else [_written(each) for each in templates])
    made, first = check.SentenceFingerprint(reader), 0
    for sentence in sentences:
        tokens = [
            read_item(token) if templates is None else tuple(token) if isinstance(token, list) else token
            for token in sentence
        ]
        made.add(tokens, codes[first : first + len(sentence)])
        first += len(sentence)
    return made.hexdigest()
