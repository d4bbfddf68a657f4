"""Proofs about sequences, against all labellings of small sentences in exact arithmetic."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.certify import check
from rosenblatt.certify.certificate import Certificate
from rosenblatt.certify.time_limit import Clock
from rosenblatt.exceptions import LabelError, ParameterError, UndecidedError
from rosenblatt.sequences.sentence_problem import Constraints, Labelled, SequenceProblem, SequenceScores
from rosenblatt.sequences.sentence_verdict import (
    Combination,
    CuttingPlanes,
    Gap,
    certify_sequences,
    pose_question,
    search,
    verify_weights,
)
from tests.certify import oracle
from tests.oracles.sequence import START, ReferenceWeights, difference
from tests.sequences.drawn import as_rows, barred, codes_of, corpora, every_labelling, weights_for

X = [["we", "saw", "her", "duck"], ["they", "saw", "her", "duck"]]
Y = [["PRON", "VERB", "PRON", "VERB"], ["PRON", "VERB", "DET", "NOUN"]]


def problem_of(corpus):
    return SequenceProblem(as_rows(corpus), codes_of(corpus), corpus.n_features, Constraints(*barred(corpus)))


def all_deltas(corpus):
    """Return Δ of every allowed labelling but the truth, by (sentence, labels)."""
    return {
        (i, tuple(z)): difference(sentence, truth, z)
        for i, (sentence, truth) in enumerate(zip(corpus.sentences, corpus.truths, strict=True))
        for z in every_labelling(corpus, i)
        if z != truth
    }


def is_separable(corpus):
    """Decide by the oracle of rows: every Δ is a row of the positive side, without a bias."""
    deltas = [{**w, **{("t", *k): v for k, v in t.items()}} for w, t in all_deltas(corpus).values()]
    places = sorted({place for delta in deltas for place in delta}, key=str)
    rows = [[float(delta.get(place, 0)) for place in places] for delta in deltas]
    if not rows:
        return True
    if not all(map(any, rows)):
        return False
    return oracle.decide(oracle.Problem(rows, [1] * len(rows), False)) == "separable"


def reference_weights(scores):
    n = len(scores.pairs) - 1
    w = {(f, k): value for f, row in scores.features.items() for k, value in enumerate(row)}
    t = {(START if j == n else j, k): value for j, row in enumerate(scores.pairs) for k, value in enumerate(row)}
    return ReferenceWeights(w, t)


def least_of_all(corpus, scores):
    """Return the smallest gap over all labellings, added up in the plainest way."""
    weights = reference_weights(scores)
    gaps = [
        weights.score(corpus.sentences[i], corpus.truths[i]) - weights.score(corpus.sentences[i], z)
        for i, z in all_deltas(corpus)
    ]
    return min(gaps, default=None)


def require_right(corpus, answer):
    """Require that an answer is what it claims to be, and that the oracle agrees."""
    deltas = all_deltas(corpus)
    if isinstance(answer, Gap):
        assert answer.least == least_of_all(corpus, answer.scores)
        assert answer.least is None or answer.least > 0
        assert is_separable(corpus)
        return
    assert isinstance(answer, Combination), answer
    assert min(answer.weights) > 0
    assert len(set(answer.others)) == len(answer.others) == len(answer.weights)
    sums = {}
    for other, weight in zip(answer.others, answer.weights, strict=True):
        for part, counts in enumerate(deltas[other.sentence, other.labels]):
            for place, value in counts.items():
                sums[part, place] = sums.get((part, place), 0) + weight * value
    assert not any(sums.values())
    assert not is_separable(corpus)


@given(corpora())
def test_the_answer_is_that_of_all_labellings(corpus):
    require_right(corpus, search(problem_of(corpus), Clock(None)).answer)


@given(corpora(values=False))
def test_cutting_planes_alone_decide(corpus):
    problem = problem_of(corpus)
    if not all_deltas(corpus):
        return
    require_right(corpus, CuttingPlanes(problem, Clock(None), []).answer())


@given(corpora().flatmap(lambda corpus: st.tuples(st.just(corpus), weights_for(corpus))))
def test_gaps_are_those_of_all_labellings(drawn):
    corpus, weights = drawn
    problem, n = problem_of(corpus), corpus.n_labels
    scores = SequenceScores(
        {f: [weights.w.get((f, k), 0) for k in range(n)] for f in range(corpus.n_features)},
        [[weights.t.get((START if j == n else j, k), 0) for k in range(n)] for j in range(n + 1)],
    )
    wanted = least_of_all(corpus, scores)
    found = problem.least_gap(scores, Clock(None))
    assert found == wanted if wanted is None or wanted > 0 else found <= 0
    w, t = problem.whole_tables(scores)
    gaps, rivals = problem.float_gaps(w, t, Clock(None))
    assert (None if np.isinf(gaps.min()) else int(gaps.min())) == wanted
    for gap, rival in zip(gaps.tolist(), rivals, strict=True):
        if gap < np.inf:
            assert problem.is_rival(rival)
            truth = list(problem.truth(rival.sentence))
            rows = corpus.sentences[rival.sentence]
            assert weights.score(rows, truth) - weights.score(rows, list(rival.labels)) == gap


@given(corpora())
def test_delta_is_that_of_the_reference(corpus):
    problem, n = problem_of(corpus), corpus.n_labels
    for (i, z), (w, t) in all_deltas(corpus).items():
        pairs = {(-1 - (n if k == START else k), label): value for (k, label), value in t.items()}
        assert problem.delta(Labelled(i, z)) == {**w, **pairs}


TEXTS = st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), min_size=1, max_size=4)


@st.composite
def annotated(draw):
    """Draw sentences of two words, labelled with two or three labels."""
    X = draw(TEXTS)
    y = [draw(st.lists(st.sampled_from("NVX"), min_size=len(s), max_size=len(s))) for s in X]
    return X, y


@given(annotated(), st.sampled_from([["form"], ["form", ("form", -1)], [(("form", -1), ("form", 1))]]))
def test_three_checkers_agree(drawn, templates):
    X, y = drawn
    answer = certify_sequences(X, y, templates=templates)
    assert answer.verdict != "undecided"
    proof = check.read_proof(answer.to_json())
    assert check.check(proof, X, y).startswith(answer.verdict.capitalize())
    assert answer.verify(X, y)
    again = Certificate.from_json(answer.to_json())
    assert type(again) is type(answer)
    assert again.verify(X, y)
    assert again.to_json() == answer.to_json()


@given(annotated(), st.floats(-4, 4, allow_subnormal=False).filter(bool), st.sampled_from([0.1, 0.75, 3.0]))
def test_items_with_values_are_decided_and_checked(drawn, bias, value):
    words, y = drawn
    X = [[{word: value, "bias": bias, "near": {"w": "x"}} for word in sentence] for sentence in words]
    answer = certify_sequences(X, y)
    bags = [[{word: value, "bias": bias, "near:w:x": 1.0} for word in sentence] for sentence in words]
    if answer.verdict == "undecided":
        assert "digits" in answer.reason
        return
    assert answer.verify(X, y)
    assert check.check(check.read_proof(answer.to_json()), bags, y).startswith(answer.verdict.capitalize())
    if answer.verdict == "separable" and answer.margin is not None:
        low, high = answer.margin.squared
        assert high is None or low <= high


def test_an_exchange_has_two_lines():
    answer = certify_sequences(X, Y, templates=["lower"])
    assert (answer.verdict, answer.kind, answer.minority) == ("inseparable", "exchange", (1,))
    assert answer.others == ((0, (2, 3, 0, 1)), (1, (2, 3, 2, 3)))
    assert answer.weights == (1, 1)
    (found,) = answer.inconsistencies
    assert (found.length, found.variants) == (2, {(2, 3): ((0, 2),), (0, 1): ((1, 2),)})
    assert str(answer).startswith("Inseparable: 1 inconsistency of annotation. ")


def test_without_the_minority_it_is_separable():
    answer = certify_sequences(X, Y, templates=["lower"], without=[1])
    assert answer.verdict == "separable"
    assert answer.data.without == (1,)
    assert answer.verify(X, Y)
    assert answer.margin.squared[0] == answer.least**2 / answer.scores.square
    assert 0.0 < answer.margin.low <= answer.margin.high
    assert answer.w[0, "PRON"] > answer.w[0, "DET"]
    assert set(answer.t) <= {(a, b) for a in (*answer.data.labels, None) for b in answer.data.labels}


def exchanges_of(X, y):
    """Return every exchange of two places by trying all spans: the oracle of the search."""
    spans = {}
    for s, words in enumerate(X):
        for i, j in itertools.combinations(range(len(words) + 1), 2):
            before, after = y[s][i - 1] if i else "^", y[s][j] if j < len(words) else "$"
            spans.setdefault((tuple(words[i:j]), before, after), {}).setdefault(tuple(y[s][i:j]), []).append(
                (s, i)
            )
    found = {}
    for key, variants in spans.items():
        kept = {
            inside: places
            for inside, places in variants.items()
            if any(all(a != b for a, b in zip(inside, other, strict=True)) for other in variants)
        }
        if kept:
            found[key] = kept
    return found


@given(annotated())
def test_all_exchanges_are_found(drawn):
    X, y = drawn
    answer = certify_sequences(X, y, templates=["form"])
    wanted = exchanges_of(X, y)
    labels = answer.data.labels
    listed = getattr(answer, "inconsistencies", ())
    made = [
        {tuple(labels[k] for k in inside): sorted(places) for inside, places in each.variants.items()}
        for each in listed
    ]
    assert sorted(map(sorted, made)) == sorted(map(sorted, wanted.values()))
    key = lambda group: sorted((k, sorted(v)) for k, v in group.items())  # noqa: E731
    assert sorted(map(key, made)) == sorted(map(key, wanted.values()))
    for each in listed:
        first, *others = each.variants.values()
        assert all(len(first) >= len(other) for other in others)


def test_a_labelling_that_counts_the_same_is_a_proof_of_one_line():
    """A A B A and A B A A have the same pairs with the start, and all words are equal."""
    y = [["A", "A", "B", "A"]]
    answer = certify_sequences([["x"] * 4], y, templates=["form"])
    assert answer.verdict == "inseparable"
    assert answer.verify([["x"] * 4], y)


def test_a_cycle_is_found():
    """Three sentences of one word, whose features are the pairs of three, each labelled against the others."""
    X = [[{"a": 1, "b": 1}], [{"c": 1, "d": 1}], [{"a": 1, "c": 1}], [{"b": 1, "d": 1}]]
    y = [["P"], ["P"], ["N"], ["N"]]
    answer = certify_sequences(X, y)
    assert (answer.verdict, answer.kind) == ("inseparable", "cycle")
    assert {other.sentence for other in answer.others} == {0, 1, 2, 3}
    assert answer.verify(X, y)


def test_cutting_planes_prove_what_the_perceptron_does_not(monkeypatch):
    monkeypatch.setattr("rosenblatt.sequences.sentence_verdict.MAX_PERCEPTRON_PASSES", -1)
    X = [[["a", "b"]], [["c", "d"]], [["a", "c"]], [["b", "d"]]]
    y = [["P"], ["P"], ["N"], ["N"]]
    answer = certify_sequences(X, y)
    assert (answer.verdict, answer.kind) == ("inseparable", "cutting planes")
    assert answer.verify(X, y)
    answer = certify_sequences(X, y, without=[3])
    assert answer.verdict == "separable"
    assert answer.verify(X, y)


def test_ties_are_not_verified():
    problem, *_ = pose_question(X[:1], Y[:1], ["lower"], None)
    w, t = np.zeros((problem.n_features, problem.n_labels)), np.zeros((problem.n_labels + 1, problem.n_labels))
    assert verify_weights(problem, w, t, Clock(None)) is None


def test_the_work_allowed_ends_at_the_same_place():
    answer = certify_sequences(X, Y, templates="words", work=5000)
    assert answer.verdict == "undecided"
    assert answer.reason == certify_sequences(X, Y, templates="words", work=5000).reason
    assert answer.reason.startswith("The work allowed was over while")
    assert not answer.verify(X, Y)
    with pytest.raises(UndecidedError, match="no proof to write"):
        answer.to_json()


def test_time_ends_a_search():
    answer = certify_sequences(X, Y, templates="words", time_limit=0)
    assert (answer.verdict, "time_limit" in answer.reason) == ("undecided", True)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"without": [2]}, ParameterError, "no sentence 2"),
        ({"without": ["a"]}, ParameterError, "no sentence 'a'"),
        ({"time_limit": -1}, ParameterError, "time_limit=-1 must be"),
        ({"work": "much"}, ParameterError, "work='much' must be"),
        ({"constraints": [("PRON", "VERB")]}, LabelError, "which the constraints forbid"),
    ],
)
def test_bad_input_is_named(options, error, words):
    with pytest.raises(error, match=words):
        certify_sequences(X, Y, templates="words", **options)


def test_labels_that_are_the_same_as_text_are_refused():
    labels = np.empty(2, object)
    labels[:] = [1, "1"]
    with pytest.raises((LabelError, TypeError)):
        certify_sequences([["a", "b"]], [labels], templates=["form"])


def test_constraints_take_rivals_away():
    X, y = [["a"], ["b", "a"]], [["O"], ["B-X", "I-X"]]
    free = certify_sequences(X, y, templates=["form"])
    held = certify_sequences(X, y, templates=["form"], constraints="bio")
    assert (free.verdict, held.verdict) == ("separable", "separable")
    assert held.data.forbidden
    assert held.verify(X, y)
    assert held.least >= 1


def test_one_label_is_separable():
    answer = certify_sequences([["a", "b"]], [["N", "N"]], templates=["form"])
    assert (answer.verdict, answer.margin) == ("separable", None)
    assert answer.verify([["a", "b"]], [["N", "N"]])


@pytest.mark.parametrize(
    ("X2", "Y2", "words"),
    [
        (X[:1], Y[:1], "labels of these sentences"),
        ([X[1], X[0]], Y, "fingerprints differ"),
        (X, [Y[0], ["PRON", "VERB", "DET", "VERB"]], "labels of these sentences"),
        (X, [Y[0], Y[1][:3]], "same lengths"),
        ([[("we",)] * 4, X[1]], Y, "fingerprints differ"),
        ([[1, 2, 3, 4], X[1]], Y, "not the sentences"),
    ],
)
def test_other_sentences_are_refused(X2, Y2, words):
    verification = certify_sequences(X, Y, templates=["lower"]).verify(X2, Y2)
    assert not verification
    assert words in verification.reason


def test_proofs_are_about_fields_in_use():
    """A word and a tuple with that word have the same fingerprint where templates use only the word."""
    answer = certify_sequences(X, Y, templates=["lower"])
    pairs = [[(word, "x") for word in sentence] for sentence in X]
    assert answer.verify(pairs, Y)
    assert json.loads(answer.to_json())["data"]["templates"] == ["lower"]
    tagged = certify_sequences(pairs, Y, templates=["lower", 1])
    assert tagged.data.templates == ("lower", "1")
    assert tagged.verify(pairs, Y)
    assert not tagged.verify(X, Y)


def test_an_upper_bound_comes_from_the_run():
    answer = certify_sequences(X[:1], Y[:1], templates=["lower"])
    low, high = answer.margin.squared
    assert 0 < low <= high
    assert isinstance(high, Fraction)


@settings(max_examples=20)
@given(corpora(values=False, constrained=False))
def test_every_limit_of_work_is_kept(corpus):
    """Whatever the limit, the answer is right or missing."""
    for work in (0, 1e3, 1e5, 1e7):
        answer = search(problem_of(corpus), Clock(None, work)).answer
        if not isinstance(answer, str):
            require_right(corpus, answer)


def test_sums_with_too_many_digits_are_said():
    X = [[{"a": 0.1, "b": 1e300}, {"a": 1e-300}], [{"a": 1.0, "c": 1e-17}]]
    y = [["N", "V"], ["V"]]
    answer = certify_sequences(X, y)
    if answer.verdict == "undecided":
        assert "digits" in answer.reason
    else:
        assert answer.verify(X, y)


def test_the_function_for_tables_takes_sentences():
    assert rb.certify(X, Y).to_json() == certify_sequences(X, Y, templates="words").to_json()
