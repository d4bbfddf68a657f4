"""Single examples: before the first one, their weights and scores, lists of mappings, and several threads."""

import pickle
import sys
from functools import partial
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, NonFiniteError, WeightError
from tests.shared.examples import examples
from tests.shared.strategies import bits, noisy, quietly

KINDS = [rb.Perceptron, rb.VotedPerceptron, rb.KernelPerceptron]
RULES = [{}, {"average": True}, {"penalty": "l2"}, {"penalty": "l1", "alpha": 0.01}]


def mapping(x, names="cabed"):
    return {name: float(value) for name, value in zip(names, x, strict=True) if value}


def sparse(n, *, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 5)) < 0.6, rng.standard_normal((n, 5)), 0.0)
    X[0] = 1.0  # numbers all names in the order of the columns
    y = (X @ rng.standard_normal((5, classes))).argmax(axis=1)
    y[rng.random(n) < 0.2] = 0
    return X, y


@pytest.mark.parametrize("kind", [*KINDS, rb.MarkOne])
def test_before_the_first_example_nothing_is_predicted(kind):
    model = kind()
    assert model.predict_one([1.0, 2.0]) is None
    assert model.score_one([1.0, 2.0]) is None
    assert model.predict_one({"a": 1.0}) is None


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_scores_of_single_examples_are_those_of_tables(classes, rule):
    X, y = sparse(60, classes=classes)
    rows = [mapping(x) for x in X]
    clf = rb.Perceptron(**rule).partial_fit(rows, y, classes=range(classes))
    expected = clf.decision_function(rows)
    assert np.array([clf.score_one(row) for row in rows]).tobytes() == expected.tobytes()
    assert [clf.predict_one(row) for row in rows] == clf.predict(rows).tolist()
    # A vector is added up in the order of dense rows.
    dense = rb.Perceptron(**rule).partial_fit(X, y, classes=range(classes))
    assert np.array([dense.score_one(x) for x in X]).tobytes() == dense.decision_function(X).tobytes()
    assert np.shape(clf.score_one({})) == expected.shape[1:]


@pytest.mark.parametrize(
    "kind", [rb.VotedPerceptron, partial(rb.KernelPerceptron, "linear")], ids=["vote", "kernel"]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_relatives_score_single_examples(kind, classes):
    X, y = sparse(40, classes=classes)
    rows = [mapping(x) for x in X]
    clf = kind().partial_fit(rows, y, classes=range(classes))
    assert np.array([clf.score_one(row) for row in rows]).tobytes() == clf.decision_function(rows).tobytes()


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6), st.sampled_from(RULES), st.integers(2, 3), st.integers(1, 30))
def test_lists_of_mappings_equal_single_ones_and_one_pass(seed, rule, classes, step):
    X, y = sparse(30, classes=classes, seed=seed)
    rows, labels = [mapping(x) for x in X], y.tolist()
    weight = np.random.default_rng(seed).integers(0, 3, 30) / 2 + 0.25
    single, chunks = rb.Perceptron(**rule), rb.Perceptron(**rule)
    for row, label, own in zip(rows, labels, weight, strict=True):
        single.learn_one(row, label, range(classes), float(own))
    for first in range(0, 30, step):
        part = slice(first, first + step)
        chunks.partial_fit(rows[part], y[part], range(classes), weight[part])
    passed = quietly(
        rb.Perceptron(**rule, order="cyclic", max_iter=1, shuffle=False).fit, csr_array(X), y, sample_weight=weight
    )
    if len(set(labels)) == classes:
        assert bits(single) == bits(passed)
    assert bits(single) == bits(chunks)
    assert single.feature_names_in_.tolist() == chunks.feature_names_in_.tolist() == list("cabed")
    assert single.n_mistakes_ == chunks.n_mistakes_


def test_the_bits_do_not_depend_on_the_order_of_names():
    rng = np.random.default_rng(0)
    names = [f"f{j}" for j in range(300)]
    models = rb.Perceptron(average=True), rb.Perceptron(average=True)
    for k in range(60):
        chosen = names if k == 0 else rng.permutation(names)[: rng.integers(0, 300)].tolist()
        row = {name: float(value) for name, value in zip(chosen, rng.standard_normal(len(chosen)), strict=True)}
        for model, order in zip(models, (chosen, sorted(chosen)), strict=True):
            model.learn_one(row if k == 0 else {name: row[name] for name in order}, k % 2)
    assert bits(models[0]) == bits(models[1])


def test_new_names_in_a_list_become_features_and_unknown_ones_are_left_out():
    clf = rb.Perceptron().partial_fit([{"a": 1.0}, {"b": 2.0, "a": -1.0}], ["x", "y"])
    clf.partial_fit([{"c": 1, "a": True}], ["x"])
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]
    assert clf.predict([{"d": 5.0}, {}]).tolist() == [clf.predict_one({})] * 2
    with pytest.raises(NonFiniteError, match=r"X\[1\]\['e'\] is nan"):
        clf.partial_fit([{"a": 1.0}, {"e": np.nan}], ["x", "y"])
    assert clf.n_features_in_ == 3
    with pytest.raises(InputError, match="without names"):
        rb.Perceptron().partial_fit([[1.0], [2.0]], [0, 1]).predict([{"a": 1.0}])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "1", None, [1.0], True])
def test_a_weight_is_one_number(value):
    clf = rb.Perceptron().learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    if value is not None:
        with pytest.raises(WeightError, match="sample_weight="):
            clf.learn_one({"a": 5.0}, 1, sample_weight=value)
    assert clf.t_ == 2


def test_a_weight_of_zero_is_a_visit_that_changes_nothing():
    clf = rb.Perceptron(init="first").learn_one([1.0], 1, [0, 1], 0.0)
    assert (clf.t_, clf.coef_.item(), clf.n_mistakes_) == (1, 0.0, 0)


def test_large_integers_and_values_are_read_with_care():
    clf = rb.Perceptron().learn_one({"a": 1.0}, 0).learn_one({"a": 2**60}, 1).learn_one({"a": 1e100}, 0)
    assert clf.n_mistakes_ == 3
    with pytest.raises(InputError, match="9007199254740993"):
        clf.learn_one({"a": 2**53 + 1}, 1)
    with pytest.raises(InputError, match="'3'"):
        clf.learn_one({"a": "3"}, 1)
    assert clf.t_ == 3


@pytest.mark.parametrize("named", [True, False])
def test_threads_lose_nothing(named):
    X, y = noisy(2000, 5)
    X = np.round(4 * X)  # integers, so that sums do not depend on the order
    clf = rb.Perceptron(margin=1e9, average=True)  # every visit is a mistake

    def learn(which):
        for i in which:
            if named:  # with a name that is new
                clf.learn_one(mapping(X[i]) | {f"f{i}": float(i)}, y[i])
            else:
                clf.partial_fit(X[i : i + 1], y[i : i + 1])

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=learn, args=(range(k, 2000, 4),)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert clf.t_ == clf.n_mistakes_ == 2000
    if not named:
        assert clf._state.w[:5].tolist() == (y @ X).tolist()
        return
    found = dict(zip(clf.feature_names_in_, clf._state.w.tolist(), strict=False))
    assert found == dict(zip("cabed", (y @ X).tolist(), strict=True)) | {f"f{i}": i * y[i] for i in range(2000)}


def test_a_stream_with_a_lock_can_be_pickled():
    clf = rb.Perceptron().learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    again = pickle.loads(pickle.dumps(clf))
    for model in (clf, again):
        model.learn_one({"a": -2.0}, 0)
    assert bits(again) == bits(clf)
