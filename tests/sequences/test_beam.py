"""Search by a beam is the plain algorithm, and with all states it is exact; updates correct violations."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.sequences.beam import beam_work_for, tag_by_beam
from rosenblatt.sequences.loop import ENDS_BEFORE
from rosenblatt.sequences.tagger_fit import SequencePlan, learn
from rosenblatt.sequences.tagger_model import SequenceModel, SequenceState
from rosenblatt.sequences.tagger_trace import replay_updates
from tests.oracles.beam import beams, best_of, step_score, train_by_beam
from tests.oracles.sequence import START, ReferenceWeights, train
from tests.sequences.drawn import as_rows, barred, codes_of, corpora, every_labelling, tables, weights_for
from tests.shared.examples import examples

UPDATES = ("early", "max", "full")
widths = st.one_of(st.none(), st.integers(1, 5))
problems = corpora().flatmap(lambda corpus: st.tuples(st.just(corpus), weights_for(corpus)))


def with_triples(pairs, order):
    n = pairs.shape[1]
    return pairs if order == 1 else np.concatenate([pairs, np.zeros(((n + 1) ** 2, n))])


def row_of(labels, n):
    """Return the row of the table that holds the weights after one or two labels."""
    numbers = [n if label == START else label for label in labels]
    return numbers[0] if len(numbers) == 1 else n + 1 + numbers[0] * (n + 1) + numbers[1]


def with_drawn_triples(data, corpus, weights):
    n = corpus.n_labels
    triples = {}
    for j in [START, *range(n)]:
        for k in [START, *range(n)]:
            for label in range(n):
                if j == START or k != START:
                    triples[j, k, label] = data.draw(st.integers(-1, 1))
    return ReferenceWeights(weights.w, weights.t | triples), triples


def score_of(weights, rows, labels, order):
    total = 0
    for i, row in enumerate(rows, 1):
        total += step_score(weights, labels[:i], order) + weights.emission(row, labels[i - 1])
    return total


@settings(max_examples=examples(100))
@given(problems, st.data(), st.sampled_from([1, 2]), widths)
def test_tags_are_those_of_the_reference(problem, data, order, beam):
    corpus, weights = problem
    w, t, last = tables(corpus, weights)
    t = with_triples(t, order)
    if order == 2:
        weights, triples = with_drawn_triples(data, corpus, weights)
        for (*before, label), value in triples.items():
            t[row_of(before, corpus.n_labels), label] = value
    rows = as_rows(corpus)
    out = np.full(rows.starts[-1], -7, np.int64)
    work = beam_work_for(rows.longest, corpus.n_labels, beam, order)
    for i, sentence in enumerate(corpus.sentences):
        found = beams(sentence, weights, corpus.n_labels, beam=beam, order=order, forbidden=corpus.forbidden)
        starts = rows.starts[i : i + 2]
        done = tag_by_beam(rows.indices, rows.data, rows.indptr, starts, w, t, last, work, out)
        for j, prefixes in enumerate(found):
            kept = slice(work.size[j])
            assert work.total[j, kept].tolist() == [prefix.score for prefix in prefixes]
            assert work.last[j, kept].tolist() == [prefix.labels[-1] for prefix in prefixes]
        assert done == (len(found) == len(sentence))
        if not done:  # the beam ran into a dead end
            assert beam is not None
            return
        labels = out[rows.starts[i] : rows.starts[i + 1]].tolist()
        assert labels == best_of(found[-1]).labels
        if beam is None:
            labellings = every_labelling(corpus, i)
            scores = [score_of(weights, sentence, z, order) for z in labellings]
            assert labels == labellings[scores.index(max(scores))]
    if order == 1 and beam is None:
        assert out.tolist() == SequenceModel(w, t, 1.0, last).codes(rows).tolist()


def visited(corpus, visits, order, **plan):
    pairs, last = barred(corpus)
    state = SequenceState.zero(corpus.n_features, with_triples(pairs, order), average=True)
    plan = SequencePlan(1, order=order, **plan)
    steps = np.ones(len(corpus.sentences))
    log = learn(as_rows(corpus), codes_of(corpus), steps, state, last, np.array(visits, np.uint64), plan)
    return state, log


@given(
    corpora(),
    st.data(),
    st.sampled_from([0, 2]),
    st.sampled_from(UPDATES),
    st.sampled_from([1, 2]),
    st.integers(1, 4),
)
def test_visits_are_those_of_the_reference(corpus, data, margin, update, order, beam):
    visits = data.draw(st.lists(st.integers(0, len(corpus.sentences) - 1), min_size=1, max_size=10))
    expected = train_by_beam(
        corpus.sentences, corpus.truths, corpus.n_labels, visits,
        beam=beam, order=order, update=update, margin=margin, forbidden=corpus.forbidden,
    )  # fmt: skip
    state, log = visited(corpus, visits, order, beam=beam, update=update, margin=float(margin))
    assert log.visit.tolist() == [each.visit for each in expected.updates]
    assert log.gap.tolist() == [each.gap for each in expected.updates]
    if update != "full":
        assert (log.gap <= 0).all()  # every update corrects a violation
    first = 0
    for stop, each in zip(log.stop.tolist(), expected.updates, strict=True):
        wrong = dict(zip(log.wrong_at[first:stop].tolist(), log.wrong_label[first:stop].tolist(), strict=True))
        truth = corpus.truths[each.sentence]
        marked = {len(each.labels): ENDS_BEFORE} if len(each.labels) < len(truth) else {}
        assert wrong == {i: z for i, z in enumerate(each.labels) if z != truth[i]} | marked
        first = stop
    n = corpus.n_labels
    for table, t, weights, own in (
        (state.w, state.t, expected.last, 1),
        (*state.scaled()[:2], expected.average, len(visits)),
    ):
        for f in range(corpus.n_features):
            for label in range(n):
                assert Fraction(table[f, label]) == own * weights.w.get((f, label), 0)
        for key, value in weights.t.items():
            assert Fraction(t[row_of(key[:-1], n), key[-1]]) == own * value
    zero = SequenceState.zero(corpus.n_features, with_triples(barred(corpus)[0], order), average=True)
    steps = np.ones(len(corpus.sentences))
    again = replay_updates(as_rows(corpus), codes_of(corpus), steps, log, len(log.visit), zero, len(visits))
    for name in ("w", "t", "u", "tu"):
        assert getattr(again, name).tobytes() == getattr(state, name).tobytes()


@given(corpora(), st.data(), st.sampled_from([0, 2]))
def test_a_beam_of_all_states_is_exact_search(corpus, data, margin):
    visits = data.draw(st.lists(st.integers(0, len(corpus.sentences) - 1), min_size=1, max_size=10))
    exact = train(
        corpus.sentences, corpus.truths, corpus.n_labels, visits, margin=margin, forbidden=corpus.forbidden
    )
    by_beam = train_by_beam(
        corpus.sentences, corpus.truths, corpus.n_labels, visits,
        beam=None, update="full", margin=margin, forbidden=corpus.forbidden,
    )  # fmt: skip
    assert by_beam == exact
    state, _ = visited(corpus, visits, 1, beam=corpus.n_labels, update="full", margin=float(margin))
    direct, _ = visited(corpus, visits, 1, beam=None, margin=float(margin))
    assert state.w.tobytes() == direct.w.tobytes()
    assert state.t.tobytes() == direct.t.tobytes()


def test_of_equal_prefixes_the_lowest_label_is_kept():
    work, out = beam_work_for(1, 3, 2, 1), np.zeros(1, np.int64)
    one = np.array([0, 1])
    w = np.array([[0.0, 0.0, 1.0]])
    tag_by_beam(np.zeros(1, np.uint32), None, one, one, w, np.zeros((4, 3)), np.zeros(3), work, out)
    assert work.last.tolist() == [[0, 2]]
    assert out.tolist() == [2]


@pytest.mark.parametrize("order", [1, 2])
def test_there_is_room_for_all_states_only(order):
    assert beam_work_for(3, 4, None, order).total.shape == (3, 4 if order == 1 else 20)
    assert beam_work_for(3, 4, 1000, order).total.shape == (3, 4 if order == 1 else 20)
    assert beam_work_for(3, 4, 2, order).total.shape == (3, 2)
