"""Rows as mappings of feature names to values, new names among them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError
from tests.shared.strategies import bits, noisy, problems, trained

NAMES = ["c", "a", "b", "e", "d"]


def _mapping(x, names=NAMES):
    return {name: float(value) for name, value in zip(names, x, strict=False) if value}


def _stream(X, y, **parameters):
    clf = rb.Perceptron(**parameters)
    for x, label in zip(X, y, strict=True):
        clf.learn_one(_mapping(x), label)
    return clf


def _in_order(clf, X, y):
    """Return the columns of X as the stream numbered them, those it never met left out."""
    known = [NAMES.index(name) for name in clf.feature_names_in_]
    return X[:, known]


@given(problems(most_features=5), st.booleans())
def test_mappings_equal_arrays(problem, average):
    X, y = problem
    if not X.any(axis=1)[0]:
        X[0, 0] = 1
    clf = _stream(X, y, average=average)
    columns = _in_order(clf, X, y)
    assert not X[:, [NAMES.index(n) for n in NAMES[: X.shape[1]] if n not in clf.feature_names_in_]].any()
    assert clf.n_features_in_ == columns.shape[1]
    assert bits(clf) == bits(trained(columns, y, order="cyclic", max_iter=1, average=average))
    by_name = [clf.predict_one(_mapping(x)) for x in X]
    assert by_name == clf.predict(pd.DataFrame(columns, columns=clf.feature_names_in_)).tolist()


@pytest.mark.parametrize("average", [False, True])
def test_full_mappings_equal_sparse_rows_on_floats(average):
    X, y = noisy(40, 5)
    assert bits(_stream(X, y, average=average)) == bits(
        trained(csr_array(X), y, order="cyclic", max_iter=1, average=average)
    )


def test_a_stream_of_mappings_keeps_its_record():
    X, y = noisy(40, 5)
    clf = _stream(X, y, trace="mistakes", average=True)
    replayed = clf.trace_.replay(csr_array(X), y)
    assert replayed.weights.tobytes() == np.append(clf.coef_[0], clf.intercept_).tobytes()


def test_features_grow_one_by_one():
    clf = rb.Perceptron(average=True, trace="mistakes")
    X = np.zeros((40, 40))
    for k in range(40):
        X[k, : k + 1] = 1 + k % 3
        clf.learn_one({f"f{j}": X[k, j] for j in range(k + 1)}, 1 if k % 2 else -1)
        assert clf.n_features_in_ == k + 1
        assert clf.coef_.shape == (1, k + 1)
        assert clf.predict_one({"unheard of": 1e9}) == clf.predict_one({})
    y = [-1, 1] * 20
    assert bits(clf) == bits(trained(X, y, order="cyclic", max_iter=1, average=True))
    assert clf.trace_.replay(X, y).coef.tobytes() == clf.coef_.tobytes()


def test_a_record_of_a_grown_stream_rebuilds_each_step():
    clf = rb.Perceptron(trace="mistakes")
    X = np.array([[1, 0, 0], [0, 2, 0], [0, 1, 3.0]])
    for x, label in zip(X, [1, -1, 1], strict=True):
        clf.learn_one(_mapping(x), label)
    W, _ = clf.trace_.path(X, [1, -1, 1])
    assert W[-1].tolist() == clf.coef_[0].tolist()


def test_a_fit_goes_on_from_a_grown_stream():
    X, y = np.array([[1, 0, 0], [0, 2, 0], [0, 1, 3.0]]), [1, -1, 1]
    clf = _stream(X, y, warm_start=True, order="cyclic", max_iter=2)
    frame = pd.DataFrame(X, columns=NAMES[:3])
    clf.fit(frame, y)
    whole = trained(X, y, order="cyclic", max_iter=3)
    assert bits(clf) == bits(whole)
    assert clf.trace_.replay(frame, y).weights.tolist() == [*whole.coef_[0], *whole.intercept_]
    W, _ = clf.trace_.path(frame, y)
    assert W.shape[1] == 3


def test_predicting_frames_after_mappings():
    clf = _stream([[1, 2], [-1, -2]], [1, -1])
    assert clf.predict(pd.DataFrame({"c": [3.0, -3.0], "a": [0.0, 0.0]})).tolist() == [1, -1]
    clf.partial_fit(pd.DataFrame({"c": [3.0], "a": [0.0]}), [1])
    with pytest.raises(ValueError, match="names should match"):
        clf.predict(pd.DataFrame({"c": [3.0], "b": [0.0]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert clf.predict([[3.0, 0.0]]).tolist() == [1]


def test_mappings_after_a_frame_may_leave_out_but_not_add():
    frame = pd.DataFrame({"c": [3.0, -3.0], "a": [1.0, 0.0]})
    clf = rb.Perceptron().fit(frame, [1, -1])
    clf.learn_one({"c": -2.0}, 1)
    assert clf.n_features_in_ == 2
    assert clf.feature_names_in_.tolist() == ["c", "a"]
    with pytest.raises(InputError, match="unheard"):
        clf.learn_one({"unheard": 1.0}, 1)
    with pytest.raises(InputError, match="unheard"):
        clf.predict_one({"unheard": 1.0})


@pytest.mark.parametrize("estimator", [rb.Perceptron(), rb.PassiveAggressiveRegressor(), rb.OrdinalPerceptron()])
def test_mappings_go_on_from_a_chunk_of_a_frame(estimator):
    estimator.partial_fit(pd.DataFrame({"c": [3.0, -3.0], "a": [1.0, 0.0]}), [1, 0])
    assert estimator.predict_one({"a": 1.0}) == estimator.predict([{"c": 0.0, "a": 1.0}])[0]
    assert estimator.learn_one({"a": 2.0}, 1).feature_names_in_.tolist() == ["c", "a"]
    with pytest.raises(InputError, match="unheard"):
        estimator.learn_one({"unheard": 1.0}, 1)


def test_rows_without_names_do_not_end_the_growing():
    clf = rb.Perceptron().learn_one({"a": 1.0}, 1).learn_one([-1.0], -1).learn_one({"b": 1.0}, -1)
    assert clf.n_features_in_ == 2
    assert clf.feature_names_in_.tolist() == ["a", "b"]


def test_names_survive_a_chunk_without_names():
    clf = rb.Perceptron().partial_fit(pd.DataFrame({"a": [1.0], "b": [0.0]}), [1])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.partial_fit([[2.0, 1.0]], [0])
    assert clf.feature_names_in_.tolist() == ["a", "b"]


def test_mappings_need_names_that_are_known():
    clf = rb.Perceptron().fit([[1.0], [-1.0]], [1, -1])
    for call in (lambda: clf.learn_one({"a": 1.0}, 1), lambda: clf.predict_one({"a": 1.0})):
        with pytest.raises(InputError, match="without names"):
            call()


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (np.nan, NonFiniteError),
        (np.inf, NonFiniteError),
        ("3", DataTypeError),
        (None, InputError),
        ([1, 2], DataTypeError),
    ],
)
def test_values_that_are_no_numbers(value, error):
    clf = rb.Perceptron().learn_one({"a": 1.0}, 1)
    with pytest.raises(error, match=r"x\['b'\]"):
        clf.learn_one({"a": 1.0, "b": value}, 1)
    assert clf.feature_names_in_.tolist() == ["a"]


@pytest.mark.parametrize("values", [{"b": 2**53 + 1}, {"a": 0.5, "b": 2**53 + 1}], ids=["alone", "among floats"])
def test_integers_that_would_be_rounded_are_refused(values):
    clf = rb.Perceptron().learn_one({"a": 1.0}, 1)
    with pytest.raises(DataTypeError, match=r"x\['b'\] is 9007199254740993"):
        clf.learn_one(values, 1)
    assert clf.feature_names_in_.tolist() == ["a"]
