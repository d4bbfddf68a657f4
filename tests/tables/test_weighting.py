"""Weights of words: every way of reading gives the bits of the plain reference, and idf stays that of training."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.loops.layout import CSR
from rosenblatt.tables import scaling
from rosenblatt.tables.scaling import Weighting
from rosenblatt.tables.words import bucket, tokens
from tests.oracles.weighting import weigh
from tests.shared.examples import examples

BITS = 4
counted = st.dictionaries(st.integers(0, 2**BITS - 1), st.sampled_from([1, 2, 3, 7, 1023, 1024, 5000]))
LONG = "win win win a prize, see you at home"
MAIL = ["win a prize", "see you at home", "free prize prize prize", "home at six", LONG, ""] * 3
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"] * 3


def rows_of(texts, before=2):
    """Return rows of two texts each as features, between numbers and categories that must stay."""
    data, indices, indptr = [], [], [0]
    for several in texts:
        row = {0: 0.5, **{before + (k << BITS) + w: c for k, text in enumerate(several) for w, c in text.items()}}
        row[before + (len(several) << BITS)] = 9.0
        indices += sorted(row)
        data += [row[feature] for feature in sorted(row)]
        indptr.append(len(data))
    return CSR(np.array(data, float), np.array(indices, np.uint32), np.array(indptr, np.uint64))


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(counted, counted), min_size=1, max_size=6), st.lists(st.tuples(counted, counted)))
def test_all_ways_equal_the_reference(texts, trained_on):
    weighting = Weighting(2, 2, BITS, 2 + (2 << BITS) + 1)
    if trained_on:
        half = len(trained_on) // 2
        for part in (trained_on[:half], trained_on[half:]):
            weighting = weighting.add(rows_of(part), len(part))
    expected = []
    for k in range(2):
        expected.append(weigh([several[k] for several in texts], [several[k] for several in trained_on]))
    whole = rows_of([(expected[0][i], expected[1][i]) for i in range(len(texts))]).data
    for way in ("loop", "numpy", "bisection"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scaling, "loop_pays", lambda *_, way=way: way == "loop")
            if way == "bisection":
                patch.setattr(scaling, "MAX_TABLE_FEATURES", 0)
            fresh = Weighting(*weighting.places, weighting.n_rows, weighting.words, weighting.counts)
            np.testing.assert_array_equal(fresh.into(rows_of(texts)).data, whole, strict=True)
            one = [fresh.into(rows_of([text])).data for text in texts]
            np.testing.assert_array_equal(np.concatenate(one), whole, strict=True)


def test_it_is_the_weighting_of_scikit_learn():
    encoder = rb.TableEncoder(weighting="count").fit(MAIL)
    counts = encoder.transform(MAIL)
    expected = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    found = rb.TableEncoder().fit_transform(MAIL)
    assert abs(found - expected).max() < 1e-15
    assert set(counts.data) == {1.0, 3.0}


def test_the_weights_of_mail_by_hand():
    bags = [Counter(bucket(word, 18) for word in tokens(text.encode())) for text in MAIL]
    expected = weigh(bags, bags)
    found = rb.TableEncoder().fit(MAIL).transform(MAIL)
    assert [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in found] == expected


def write_mail(tmp_path):
    lines = [f'{len(text)},"{text}",{label}' for text, label in zip(MAIL, LABELS, strict=True)]
    (tmp_path / "mail.csv").write_text("\n".join(["length,text,label", *lines]))
    return tmp_path / "mail.csv"


@pytest.mark.parametrize("learner", ["averaged", "perceptron"])
def test_memory_cache_and_pipeline_train_the_same_bits(tmp_path, learner):
    path, how = write_mail(tmp_path), {"text": ("text",), "ignore": ("length",), "bits": 10}
    one = rb.train(path, learner, **how)
    other = rb.train(path, learner, memory=1, **how)
    encoder = rb.TableEncoder(bits=10)
    three = make_pipeline(encoder, rb.Perceptron(average=learner == "averaged", random_state=0)).fit(MAIL, LABELS)
    files = rb.TableEncoder(text=["text"], ignore=["length"], bits=10).fit_files(path)
    assert (one.estimator.coef_ == other.estimator.coef_).all()
    assert (one.estimator.coef_ == three[-1].coef_).all()
    assert one.estimator.n_iter_ == three[-1].n_iter_
    for each in (other.model[0], encoder, files):
        kept, held = each.encoding_.weighting, one.model[0].encoding_.weighting
        assert kept.n_rows == held.n_rows == len(MAIL)
        assert (kept.words == held.words).all()
        assert (kept.counts == held.counts).all()


def test_numbers_are_scaled_beside_words(tmp_path):
    path = write_mail(tmp_path)
    trained = rb.train(path, text=("text",), bits=10)
    again = rb.train(path, text=("text",), bits=10, memory=1)
    assert (trained.estimator.coef_ == again.estimator.coef_).all()
    encoding = trained.model[0].encoding_
    assert encoding.scaling is None
    assert encoding.weighting.places == (1, 1, 10, 1 + 2**10)
    rows = trained.model[0].transform([{"length": 7.0, "text": "a prize"}])
    assert rows.data[0] == 7.0
    assert np.isclose(np.square(rows.data[1:]).sum(), 1.0)


def test_a_model_keeps_the_idf_of_its_training(tmp_path):
    path = write_mail(tmp_path)
    trained = rb.train(path, text=("text",), ignore=("length",), bits=10)
    trained.save(tmp_path / "m")
    model = rb.load(tmp_path / "m")
    scores = model.decision_function(MAIL)
    assert (scores == trained.model.decision_function(MAIL)).all()
    assert [model.decision_function([text])[0] for text in MAIL] == scores.tolist()
    before = model[0].transform(MAIL).data
    model[0].partial_fit(["six six", "seven"] * 20)
    assert (model[0].transform(MAIL).data == before).all()


def test_a_stream_from_nothing_has_no_idf():
    encoder = rb.TableEncoder(bits=10).partial_fit(MAIL).partial_fit(MAIL)
    bags = [Counter(bucket(word, 10) for word in tokens(text.encode())) for text in MAIL]
    found = encoder.transform(MAIL)
    assert [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in found] == weigh(bags, [])


def test_other_weightings_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="weighting"):
        rb.TableEncoder(weighting="bm25").fit(MAIL)
    with pytest.raises(ParameterError, match="weighting"):
        rb.open_data(write_mail(tmp_path), weighting="bm25")


def test_folds_learn_idf_from_the_rows_they_train_on(tmp_path, monkeypatch):
    seen = []
    add = Weighting.add
    monkeypatch.setattr(Weighting, "add", lambda own, rows, n: seen.append(n) or add(own, rows, n))
    rb.evaluate_folds("averaged", write_mail(tmp_path), folds=3, text=("text",), bits=8)
    assert seen == [12, 12, 12]
