"""Code written for scikit-learn's Perceptron runs with the import changed, to the same end where it must agree."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, issparse
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import Perceptron as Peer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight

import rosenblatt as rb
from tests.shared.examples import examples
from tests.shared.strategies import noisy, problems, quietly, trained

U = 2.0**-53


def _peer(X, y, passes, fit=None, **parameters):
    peer = Peer(shuffle=False, tol=None, max_iter=passes, **parameters)
    return quietly(peer.fit, X, y, **(fit or {}))


@settings(max_examples=examples(200))
@given(
    problems(most_rows=12, most_features=4),
    st.integers(1, 8),
    st.sampled_from([1.0, 0.5, 4.0]),
    st.booleans(),
    st.data(),
)
def test_the_same_on_integers(problem, passes, eta, intercept, data):
    X, y = problem
    d = X.shape[1]
    start = {
        "coef_init": data.draw(st.lists(st.integers(-2, 2), min_size=d, max_size=d)),
        "intercept_init": data.draw(st.integers(-2, 2)) if intercept else 0.0,
        "sample_weight": data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(y), max_size=len(y))),
    }
    same = {"eta0": eta, "fit_intercept": intercept, "class_weight": data.draw(st.sampled_from([None, {1: 2.0}]))}
    peer_start = {k: np.atleast_1d(np.array(v, float)) for k, v in start.items()}
    peer_start["coef_init"] = peer_start["coef_init"].reshape(1, -1)
    peer = _peer(X, y, passes, fit=peer_start, **same)
    ours = trained(X, y, fit=start, shuffle=False, max_iter=passes, decide=False, **same)
    assert ours.coef_.tolist() == peer.coef_.tolist()
    assert ours.intercept_.tolist() == peer.intercept_.tolist()


@pytest.mark.parametrize("seed", range(12))
def test_the_same_on_floats_but_for_ties(seed):
    X, y = noisy(200, 30 if seed % 2 else 3, seed=seed)
    passes = 5
    ours = trained(X, y, shuffle=False, max_iter=passes)
    peer = _peer(X, y, passes)
    if np.allclose(ours.coef_, peer.coef_, rtol=1e-9) and np.allclose(ours.intercept_, peer.intercept_):
        return
    _first_difference_is_a_tie(X, y, passes)


def test_ties_that_rounding_decides_are_the_only_difference():
    """Tenths, where exact ties abound and no two ways to add agree on which of them is 0."""
    rng = np.random.default_rng(0)
    differences = 0
    for _ in range(40):
        X = rng.integers(-9, 10, (60, 9)) / 10.0
        y = np.where(rng.random(60) < 0.5, 1, -1)
        ours, peer = trained(X, y, shuffle=False, max_iter=6), _peer(X, y, 6)
        if not np.allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-9):
            differences += 1
            _first_difference_is_a_tie(X, y, 6)
    assert differences, "this test has lost its teeth"


def _first_difference_is_a_tie(X, y, passes):
    """Follow both, visit by visit: where they first part, f is 0 to rounding."""
    n, d = X.shape
    signs = np.where(y > 0, 1.0, -1.0)
    w, b = np.zeros(d), 0.0
    for _ in range(passes):
        for i in range(n):
            # One visit by each: a set of this row and one of no weight, for the other class.
            rows, weight = [i, int(np.flatnonzero(signs != signs[i])[0])], np.array([1.0, 0.0])
            start = {"coef_init": w.reshape(1, -1), "intercept_init": np.array([b]), "sample_weight": weight}
            ours = trained(X[rows], y[rows], fit=start, order=[[0]])
            start["coef_init"] = w.reshape(1, -1).copy()  # which scikit-learn trains in place
            peer = _peer(X[rows], y[rows], 1, fit=start)
            moved = not np.array_equal(peer.coef_[0], w), not np.array_equal(ours.coef_[0], w)
            if moved[0] != moved[1]:
                size = np.abs(w) @ np.abs(X[i]) + abs(b)
                assert abs(w @ X[i] + b) <= 2 * (d + 2) * U * size
                return
            if moved[0]:
                assert np.allclose(ours.coef_, peer.coef_, rtol=0, atol=1e-12)
            w, b = ours.coef_[0].copy(), float(ours.intercept_[0])
    pytest.fail("the same decisions, but different weights")


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BOTH = pytest.mark.parametrize("Perceptron", [linear_model.Perceptron, rb.Perceptron], ids=["theirs", "ours"])


@BOTH
def test_digits(Perceptron):
    X, y = load_digits(return_X_y=True)
    clf = Perceptron(tol=1e-3, random_state=0)
    clf.fit(X, y)
    assert clf.score(X, y) > 0.93
    assert clf.coef_.shape == (10, 64)
    assert clf.intercept_.shape == (10,)
    assert clf.decision_function(X).shape == (1797, 10)


@BOTH
def test_a_split_and_a_confusion_matrix(Perceptron):
    X, y = make_classification(300, 10, n_informative=6, n_classes=3, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    y_pred = Perceptron(max_iter=40, eta0=0.1, random_state=1).fit(X_train, y_train).predict(X_test)
    assert confusion_matrix(y_test, y_pred).shape == (3, 3)
    assert np.mean(y_pred == y_test) > 0.4


@BOTH
def test_weights_drawn_as_a_line(Perceptron):
    X = np.array([[2.0, 1.0], [3.0, 4.0], [-1.0, -2.0], [-3.0, -1.0]])
    clf = Perceptron().fit(X, [1, 1, 0, 0])
    w, b = clf.coef_[0], clf.intercept_[0]
    assert np.sign(X @ w + b).tolist() == [1, 1, -1, -1]
    np.testing.assert_allclose(clf.decision_function(X), X @ clf.coef_.T.ravel() + clf.intercept_)
    assert clf.classes_[(clf.decision_function(X) > 0).astype(int)].tolist() == clf.predict(X).tolist()


@BOTH
def test_out_of_core(Perceptron):
    X, y = make_classification(400, 8, n_informative=6, n_classes=4, random_state=3)
    clf = Perceptron()
    for start in range(0, 400, 50):
        clf.partial_fit(X[start : start + 50], y[start : start + 50], classes=np.unique(y))
    assert clf.score(X, y) > 0.4
    assert clf.classes_.tolist() == [0, 1, 2, 3]


@BOTH
def test_out_of_core_on_texts(Perceptron):
    batches = [(["good film", "bad film"], [1, 0]), (["bad plot", "good plot"], [0, 1])] * 3
    hashed = HashingVectorizer(n_features=2**10, alternate_sign=False)
    clf = Perceptron()
    for k, (texts, labels) in enumerate(batches):
        clf.partial_fit(hashed.transform(texts), labels, classes=[0, 1] if k == 0 else None)
    assert clf.predict(hashed.transform(["good", "bad"])).tolist() == [1, 0]


@BOTH
def test_starts_given(Perceptron):
    X, y = np.array([[1.0, 2.0], [-1.0, -1.0]]), np.array([1, 0])
    clf = Perceptron(shuffle=False).fit(X, y, coef_init=np.array([[1.0, 1.0]]), intercept_init=np.array([0.0]))
    assert clf.coef_.tolist() == [[1.0, 1.0]]  # already right, so nothing moved
    assert clf.intercept_.tolist() == [0.0]


@BOTH
def test_weights_of_samples_and_classes(Perceptron):
    X, y = make_classification(200, 5, weights=[0.9], random_state=0)
    given = compute_class_weight("balanced", classes=np.unique(y), y=y)
    balanced = Perceptron(class_weight="balanced", shuffle=False, tol=None, max_iter=5).fit(X, y)
    by_dict = Perceptron(class_weight=dict(enumerate(given)), shuffle=False, tol=None, max_iter=5).fit(X, y)
    by_rows = Perceptron(shuffle=False, tol=None, max_iter=5).fit(X, y, sample_weight=given[y])
    for other in (by_dict, by_rows):
        np.testing.assert_allclose(balanced.coef_, other.coef_)


@BOTH
def test_warm_start(Perceptron):
    X, y = make_classification(100, 5, random_state=0)
    rule = {"shuffle": False, "tol": None}
    once = Perceptron(max_iter=4, **rule).fit(X, y)
    twice = Perceptron(max_iter=2, warm_start=True, **rule).fit(X, y).fit(X, y)
    np.testing.assert_allclose(once.coef_, twice.coef_)


@BOTH
def test_early_stopping(Perceptron):
    X, y = make_classification(300, 5, flip_y=0.2, random_state=0)
    clf = Perceptron(early_stopping=True, validation_fraction=0.2, n_iter_no_change=3, random_state=0).fit(X, y)
    assert clf.n_iter_ < 1000
    assert isinstance(clf.n_iter_, int)


@BOTH
def test_grid_search_in_a_pipeline(Perceptron):
    X, y = make_classification(150, 6, random_state=0)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Perceptron(max_iter=10)),
        {
            "perceptron__eta0": [0.1, 1.0],
            "perceptron__fit_intercept": [True, False],
            "perceptron__tol": [None, 1e-3],
        },
        cv=3,
    )
    assert search.fit(X, y).best_score_ > 0.6
    assert cross_val_score(search.best_estimator_, X, y, cv=3).shape == (3,)


@BOTH
def test_copies_parameters_and_pickles(Perceptron):
    X, y = make_classification(60, 4, random_state=0)
    clf = Perceptron(eta0=0.5).set_params(max_iter=7)
    assert clone(clf).get_params() == clf.get_params()
    again = pickle.loads(pickle.dumps(clf.fit(X, y)))
    assert again.predict(X).tolist() == clf.predict(X).tolist()


@BOTH
def test_frames(Perceptron):
    frame = pd.DataFrame({"height": [1.0, 2.0, -1.0], "width": [0.5, 0.0, -1.0]})
    clf = Perceptron().fit(frame, ["big", "big", "small"])
    assert clf.feature_names_in_.tolist() == ["height", "width"]
    assert clf.n_features_in_ == 2
    assert clf.predict(frame).tolist() == ["big", "big", "small"]


@BOTH
def test_sparse_rows_and_sparse_weights(Perceptron):
    X, y = make_classification(80, 6, n_informative=4, n_classes=3, random_state=0)
    X[np.abs(X) < 0.7] = 0.0
    clf = Perceptron(max_iter=5).fit(csr_matrix(X), y)
    decision, coef = clf.decision_function(csr_matrix(X)), clf.coef_
    assert clf.sparsify() is clf
    assert issparse(clf.coef_)
    assert clf.coef_.shape == (3, 6)
    np.testing.assert_array_equal(clf.coef_.toarray(), coef)
    np.testing.assert_allclose(clf.decision_function(csr_matrix(X)), decision)
    assert clf.densify() is clf
    np.testing.assert_array_equal(clf.coef_, coef)


@BOTH
def test_before_training(Perceptron):
    clf = Perceptron()
    for call in (lambda: clf.predict([[1.0]]), clf.sparsify, clf.densify):
        with pytest.raises(NotFittedError):
            call()
    assert not hasattr(clf, "coef_")


@BOTH
def test_errors_are_value_errors(Perceptron):
    clf = Perceptron()
    for X, y in (([[1.0, np.nan], [0.0, 1.0]], [0, 1]), ([[1.0], [2.0]], [0]), ([[1.0], [2.0]], [0, 0])):
        with pytest.raises(ValueError):
            clf.fit(X, y)
    with pytest.raises(ValueError):
        Perceptron(max_iter=0).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_same_weights_where_both_must_agree(classes):
    """In the same order, with no tolerance, on integers: one against the rest, machine by machine."""
    rng = np.random.default_rng(classes)
    X, y = rng.integers(-4, 5, (60, 3)).astype(float), np.arange(60) % classes
    peer = linear_model.Perceptron(shuffle=False, tol=None, max_iter=6).fit(X, y)
    ours = rb.Perceptron(shuffle=False, max_iter=6, multiclass="ovr").fit(X, y)
    assert ours.coef_.tolist() == peer.coef_.tolist()
    assert ours.intercept_.tolist() == peer.intercept_.tolist()
    assert ours.predict(X).tolist() == peer.predict(X).tolist()
    assert ours.n_iter_ == peer.n_iter_
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X))
    stream, peer_stream = rb.Perceptron(multiclass="ovr"), linear_model.Perceptron(shuffle=False)
    for start in range(0, 60, 20):
        rows = slice(start, start + 20)
        stream.partial_fit(X[rows], y[rows], classes=range(classes))
        peer_stream.partial_fit(X[rows], y[rows], classes=range(classes))
    assert stream.coef_.tolist() == peer_stream.coef_.tolist()


def test_every_public_name_of_theirs_is_here():
    X, y = make_classification(60, 4, random_state=0)
    of_its_parent = {
        "epsilon",
        "learning_rate",
        "loss",
        "loss_functions",
        "power_t",
    }  # of stochastic gradient descent
    theirs = {name for name in dir(linear_model.Perceptron().fit(X, y)) if not name.startswith("_")}
    assert theirs - of_its_parent <= set(dir(rb.Perceptron().fit(X, y)))


def test_a_new_fit_hands_out_arrays_again():
    X, y = make_classification(60, 4, random_state=0)
    clf = trained(X, y, max_iter=3).sparsify()
    clf.partial_fit(X, y).learn_one(X[0], y[0])
    assert issparse(clf.coef_)
    assert pickle.loads(pickle.dumps(clf)).coef_.nnz == clf.coef_.nnz
    assert isinstance(clf.fit(X, y).coef_, np.ndarray)


@settings(max_examples=examples(50))
@given(st.integers(0, 10_000), st.sampled_from([0.0, 1e-3, 1e-2, 0.1]), st.integers(1, 8))
def test_a_tolerance_is_the_only_rule_as_there(seed, tol, patience):
    """Mistakes that stand still do not end a fit by the loss: both make the same passes, to the same bits."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((int(rng.integers(10, 200)), int(rng.integers(1, 12))))
    y = X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(len(X)) > 0.0
    y[:2] = [False, True]
    rule = {"shuffle": False, "tol": tol, "n_iter_no_change": patience}
    ours, theirs = quietly(rb.Perceptron(**rule).fit, X, y), quietly(Peer(**rule).fit, X, y)
    assert ours.coef_.tobytes() == theirs.coef_.tobytes()
    assert ours.intercept_.tobytes() == theirs.intercept_.tobytes()
