"""Threads may share an estimator, and what it returns or reads is never changed behind a caller's back."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from tests.shared.strategies import bits, noisy, trained


def test_many_threads_predict_the_same():
    X, y = noisy(500, 20)
    clf = trained(X, y, max_iter=3, average=True)
    sparse = csr_array(X)
    expected, sparsely = clf.decision_function(X), clf.decision_function(sparse)

    def ask(k):
        table, right = (X, expected) if k % 2 else (sparse, sparsely)
        assert clf.decision_function(table).tobytes() == right.tobytes()
        assert clf.predict_one(X[k]) == clf.classes_[int(expected[k] > 0)]
        return clf.predict(table).tobytes()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(200)))
    assert set(answers[1::2]) == {clf.predict(X).tobytes()}
    assert set(answers[::2]) == {clf.predict(sparse).tobytes()}


def test_many_threads_train_the_same():
    X, y = noisy(300, 7)
    expected = bits(trained(X, y, max_iter=5))
    rule = {"max_iter": 5, "n_iter_no_change": 100}

    def fit(_):
        clf = rb.Perceptron(**rule, callbacks=[lambda report: report.epoch == 5])
        return bits(clf.fit(X, y))

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(fit, range(8))) == {expected}


def test_what_is_handed_out_is_not_changed_by_learning_on():
    X, y = noisy(30, 3)
    clf = rb.Perceptron().partial_fit(X[:10], y[:10])
    w, b = clf.coef_, clf.intercept_
    held = w.copy(), b.copy()
    clf.partial_fit(X[10:], y[10:])
    for x, label in zip(X, y, strict=True):
        clf.learn_one(x, label)
    assert not np.array_equal(clf.coef_, held[0])
    assert np.array_equal(w, held[0])
    assert np.array_equal(b, held[1])
    with pytest.raises(ValueError, match="read-only"):
        w[:] = np.nan


def test_training_data_is_left_alone():
    X, y = noisy(30, 3)
    kept = X.copy(), y.copy()
    clf = trained(X, y, max_iter=3)
    clf.partial_fit(X, y).learn_one(X[0], y[0])
    clf.predict(X)
    assert np.array_equal(X, kept[0])
    assert np.array_equal(y, kept[1])
    assert X.flags.writeable
