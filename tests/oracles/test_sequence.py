"""The plain algorithms against all labellings."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.sequence import (
    NEVER,
    ReferenceWeights,
    best_labelling,
    difference,
    rival_labelling,
    train,
)
from tests.sequences.drawn import corpora, every_labelling, weights_for

problems = corpora().flatmap(lambda corpus: st.tuples(st.just(corpus), weights_for(corpus)))


def hamming(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


@given(problems, st.sampled_from([0, 1, Fraction(1, 3)]))
def test_viterbi_is_the_first_of_the_best_of_all_labellings(problem, margin):
    corpus, weights = problem
    for i, (rows, truth) in enumerate(zip(corpus.sentences, corpus.truths, strict=True)):
        scores = [(weights.score(rows, z) + margin * hamming(z, truth), z) for z in every_labelling(corpus, i)]
        expected = max(scores, key=lambda each: each[0])
        found = best_labelling(
            rows, weights, corpus.n_labels, forbidden=corpus.forbidden, truth=truth, margin=margin
        )
        assert found == expected


@given(problems, st.sampled_from([0, 2]))
def test_the_rival_is_the_best_of_all_others(problem, margin):
    corpus, weights = problem
    for i, (rows, truth) in enumerate(zip(corpus.sentences, corpus.truths, strict=True)):
        others = [z for z in every_labelling(corpus, i) if z != truth]
        expected = max((weights.score(rows, z) + margin * hamming(z, truth) for z in others), default=NEVER)
        score, z = rival_labelling(
            rows, weights, corpus.n_labels, truth, forbidden=corpus.forbidden, margin=margin
        )
        assert score == expected
        if others:
            assert z in others
            assert weights.score(rows, z) + margin * hamming(z, truth) == score


@given(problems)
def test_a_difference_is_that_of_the_scores(problem):
    corpus, weights = problem
    for i, (rows, truth) in enumerate(zip(corpus.sentences, corpus.truths, strict=True)):
        for z in every_labelling(corpus, i)[:5]:
            w, t = difference(rows, truth, z)
            gap = sum(weights.w[key] * value for key, value in w.items())
            gap += sum(weights.t[key] * value for key, value in t.items())
            assert gap == weights.score(rows, truth) - weights.score(rows, z)


@pytest.mark.parametrize("tie", ["sign", "mistake"])
def test_a_run_by_hand(tie):
    """Two labels, one feature: the first visit errs, and its update separates."""
    run = train([[[("f", 1)]]], [[1]], 2, [0, 0], tie=tie)
    assert run.last == ReferenceWeights({("f", 1): 1, ("f", 0): -1}, {(-1, 1): 1, (-1, 0): -1})
    assert run.average == run.last
    assert [update.labels for update in run.updates] == [[0]]
    assert train([[[("f", 1)]]], [[0]], 2, [0], tie=tie).updates == ([] if tie == "sign" else [(0, 0, 0, [1])])
