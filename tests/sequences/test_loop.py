"""The loops of sequences are the plain algorithm: the same mistakes, weights and averages."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.sequences.tagger_fit import SequencePlan, learn
from rosenblatt.sequences.tagger_model import SequenceModel, SequenceState
from rosenblatt.sequences.tagger_trace import replay_updates
from tests.oracles.sequence import START, train
from tests.sequences.drawn import as_rows, barred, codes_of, corpora, every_labelling, tables, weights_for

problems = corpora().flatmap(lambda corpus: st.tuples(st.just(corpus), weights_for(corpus)))


def visited(corpus, visits, *, average=True, steps=None, **plan):
    pairs, last = barred(corpus)
    state = SequenceState.zero(corpus.n_features, pairs, average=average)
    order = np.array(visits, np.uint64)
    steps = np.ones(len(corpus.sentences)) if steps is None else np.array(steps, float)
    log = learn(as_rows(corpus), codes_of(corpus), steps, state, last, order, SequencePlan(1, **plan))
    return state, log


def require_same(corpus, state, expected, scale):
    n = corpus.n_labels
    for table, t, weights in (
        (state.w, state.t, expected.last),
        (*state.scaled()[:2], expected.average),
    ):
        own = 1 if weights is expected.last else scale
        for f in range(corpus.n_features):
            for label in range(n):
                assert Fraction(table[f, label]) == own * weights.w.get((f, label), 0)
        for k in [START, *range(n)]:
            for label in range(n):
                if (k, label) in corpus.forbidden:
                    assert t[k, label] == -np.inf
                else:
                    assert Fraction(t[k, label]) == own * weights.t.get((k, label), 0)


@given(
    corpora(),
    st.data(),
    st.sampled_from([0, 1, 3]),
    st.sampled_from(["sign", "mistake"]),
    st.booleans(),
)
def test_visits_are_those_of_the_reference(corpus, data, margin, tie, weighted):
    n = len(corpus.sentences)
    visits = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12))
    steps = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) if weighted else None
    expected = train(
        corpus.sentences, corpus.truths, corpus.n_labels, visits, margin=margin, tie=tie,
        forbidden=corpus.forbidden, sentence_weights=steps,
    )  # fmt: skip
    state, log = visited(corpus, visits, margin=float(margin), ties_are_mistakes=tie == "mistake", steps=steps)
    assert log.visit.tolist() == [update.visit for update in expected.updates]
    assert log.sentence.tolist() == [update.sentence for update in expected.updates]
    assert log.gap.tolist() == [update.gap for update in expected.updates]
    first = 0
    for stop, update in zip(log.stop.tolist(), expected.updates, strict=True):
        wrong = dict(zip(log.wrong_at[first:stop].tolist(), log.wrong_label[first:stop].tolist(), strict=True))
        truth = corpus.truths[update.sentence]
        assert wrong == {i: z for i, z in enumerate(update.labels) if z != truth[i]}
        first = stop
    require_same(corpus, state, expected, len(visits))


@given(corpora(), st.data())
def test_a_replay_has_the_same_bits(corpus, data):
    visits = data.draw(st.lists(st.integers(0, len(corpus.sentences) - 1), min_size=1, max_size=12))
    state, log = visited(corpus, visits, ties_are_mistakes=True)
    zero = SequenceState.zero(corpus.n_features, barred(corpus)[0], average=True)
    again = replay_updates(
        as_rows(corpus), codes_of(corpus), np.ones(len(corpus.sentences)), log, len(log.visit), zero, len(visits)
    )
    for name in ("w", "t", "u", "tu"):
        assert getattr(again, name).tobytes() == getattr(state, name).tobytes()
    assert again.visits == state.visits


def test_values_of_any_size_are_added_in_their_order():
    """Sums of floats depend on their order: it is the order of the features in the row."""
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.standard_normal(9), [1e16, 1.0, -1e16, 0.1]])
    w = rng.standard_normal((len(values), 3))
    expected = [0.0, 0.0, 0.0]
    for value, row in zip(values.tolist(), w.tolist(), strict=True):
        expected = [total + value * weight for total, weight in zip(expected, row, strict=True)]
    corpus = type("C", (), {"sentences": [[list(enumerate(values.tolist()))]]})
    rows = as_rows(corpus)
    model = SequenceModel(w, np.zeros((4, 3)), 1.0, np.zeros(3))
    order = np.argsort([-each for each in expected], kind="stable")
    codes, totals = model.best(rows, 0, 3)
    assert codes[:, 0].tolist() == order.tolist()
    assert totals.tolist() == sorted(expected, reverse=True)


@given(problems)
def test_predictions_and_margins_are_those_of_all_labellings(problem):
    corpus, weights = problem
    w, t, last = tables(corpus, weights)
    model, rows = SequenceModel(w, t, 1.0, last), as_rows(corpus)
    codes, margins = model.codes(rows), model.margins(rows)
    for i, sentence in enumerate(corpus.sentences):
        labellings = every_labelling(corpus, i)
        scores = [weights.score(sentence, z) for z in labellings]
        best = max(scores)
        begin = rows.starts[i]
        assert codes[begin : rows.starts[i + 1]].tolist() == labellings[scores.index(best)]
        for j in range(len(sentence)):
            for label in range(corpus.n_labels):
                through = [score for score, z in zip(scores, labellings, strict=True) if z[j] == label]
                assert margins[begin + j, label] == max(through, default=-np.inf) - best


@given(problems, st.integers(1, 9))
def test_the_k_best_are_those_of_all_labellings(problem, k):
    corpus, weights = problem
    w, t, last = tables(corpus, weights)
    model, rows = SequenceModel(w, t, 1.0, last), as_rows(corpus)
    for i, sentence in enumerate(corpus.sentences):
        labellings = every_labelling(corpus, i)
        ranked = sorted((-weights.score(sentence, z), z[::-1]) for z in labellings)[:k]
        codes, totals = model.best(rows, i, k)
        assert codes.tolist() == [z[::-1] for _, z in ranked]
        assert totals.tolist() == [-score for score, _ in ranked]


@pytest.mark.parametrize("average", [False, True])
def test_without_an_average_the_last_weights_predict(average):
    corpus = type("C", (), {})
    corpus.sentences, corpus.truths = [[[(0, 1)], [(1, 1)]]], [[0, 1]]
    corpus.n_labels, corpus.n_features, corpus.forbidden = 2, 2, frozenset()
    state, _ = visited(corpus, [0, 0, 0], average=average, ties_are_mistakes=True)
    w, _, scale = state.scaled()
    assert (scale, w.tolist() == state.w.tolist()) == ((3.0, False) if average else (1.0, True))
