"""The perceptron in scikit-learn's pipelines, searches and calibration."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import rosenblatt as rb
from tests.shared.strategies import bits, noisy, trained

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, Y = noisy(120, 4)


def test_every_parameter_of_scikit_learns_perceptron_is_taken():
    ours, peer = rb.Perceptron().get_params(), Peer().get_params()
    assert set(peer) <= set(ours)
    different = {name for name in peer if peer[name] != ours[name]}
    assert different == {"tol", "n_iter_no_change"}


def test_in_a_pipeline():
    A, b = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), rb.Perceptron(average=True, max_iter=30))
    assert cross_val_score(model, A, b, cv=4).mean() > 0.95


def test_on_texts():
    texts = ["buy now", "cheap buy", "see you at lunch", "lunch now?", "you cheap"]
    labels = ["spam", "spam", "ham", "ham", "ham"]
    model = make_pipeline(CountVectorizer(), rb.Perceptron()).fit(texts, labels)
    assert model.predict(texts).tolist() == labels
    assert model[-1].converged_


def test_in_a_grid():
    grid = {"eta0": [0.5, 1.0], "average": [False, True], "order": ["cyclic", "shuffle"], "zero": [-1, 1]}
    search = GridSearchCV(rb.Perceptron(max_iter=5), grid, cv=3).fit(X, Y)
    assert search.best_estimator_.n_iter_ <= 5
    assert 0.5 < search.best_score_ <= 1.0
    frozen = GridSearchCV(rb.Perceptron(max_iter=3), {"tie": np.array(["mistake", "half"])}, cv=3)
    assert frozen.fit(X, Y).best_params_["tie"] in ("mistake", "half")


def test_calibrated():
    model = CalibratedClassifierCV(rb.Perceptron(max_iter=10), cv=3).fit(X, Y)
    chances = model.predict_proba(X)
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert model.score(X, Y) > 0.7
    assert not hasattr(rb.Perceptron(), "predict_proba")


def test_one_against_the_rest():
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = OneVsRestClassifier(rb.Perceptron(max_iter=20)).fit(X, y)
    assert model.score(X, y) > 0.5
    assert len(model.estimators_) == 3


def test_weights_choose_features():
    chosen = SelectFromModel(rb.Perceptron(max_iter=5), max_features=2, threshold=-np.inf).fit_transform(X, Y)
    assert chosen.shape == (120, 2)
    assert permutation_importance(trained(X, Y, max_iter=5), X, Y, n_repeats=2).importances.shape == (4, 2)


@pytest.mark.parametrize("make", [clone, lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])
def test_copies(make):
    order = np.arange(120)[::-1].copy()
    clf = trained(X, Y, order=order, max_iter=4, average=True, class_weight={1: 2.0})
    other = make(clf)
    assert repr(other) == repr(clf)
    assert np.array_equal(other.order, order)
    if make is clone:
        assert not other.__sklearn_is_fitted__()
        other.fit(X, Y)
    assert bits(other) == bits(clf)
    assert other.trace_.index.tolist() == clf.trace_.index.tolist()
    other.partial_fit(X, Y)
    assert bits(other) != bits(clf)


def test_repr_tells_what_is_not_default():
    assert repr(rb.Perceptron()) == "Perceptron()"
    assert repr(rb.Perceptron(bias="radius", eta0=0.5)) == "Perceptron(bias='radius', eta0=0.5)"
    trace = trained(X, Y, max_iter=2).trace_
    assert repr(trace) == f"Trace({len(trace)} mistakes in 2 passes over 120 rows)"


def test_before_training():
    clf = rb.Perceptron()
    assert is_classifier(clf)
    for call in (lambda: clf.predict(X), lambda: clf.decision_function(X), lambda: clf.predict_one(X[0])):
        with pytest.raises(NotFittedError, match="not trained yet"):
            call()
    with pytest.raises(NotFittedError):
        check_is_fitted(clf)
    for name in ("coef_", "intercept_", "classes_", "t_", "n_features_in_", "n_iter_", "trace_", "n_mistakes_"):
        assert not hasattr(clf, name), name


def test_attributes_are_shaped_as_scikit_learns():
    ours, peer = trained(X, Y, max_iter=3), Peer(max_iter=3).fit(X, Y)
    for name in ("coef_", "intercept_", "classes_"):
        one, other = getattr(ours, name), getattr(peer, name)
        assert (one.shape, one.dtype) == (other.shape, other.dtype), name
    assert ours.n_features_in_ == peer.n_features_in_
    assert ours.predict(X).dtype == peer.predict(X).dtype
    assert ours.decision_function(X).shape == peer.decision_function(X).shape
    assert isinstance(ours.n_iter_, int)


def test_no_trace_is_kept_if_none_is_wanted():
    clf = trained(X, Y, trace=None, max_iter=3)
    assert not hasattr(clf, "trace_")
    assert bits(clf) == bits(trained(X, Y, max_iter=3))
    counts = trained(X, Y, trace="counts", max_iter=3)
    assert counts.trace_.mistakes_per_pass.tolist() == clf.mistakes_per_pass_.tolist()
    with pytest.raises(ValueError, match="counts only"):
        counts.trace_.index  # noqa: B018


def test_a_column_of_labels_warns():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        trained(X, Y.reshape(-1, 1), max_iter=2)


def test_warnings_point_at_the_caller():
    with pytest.warns(ConvergenceWarning) as caught:
        rb.Perceptron(max_iter=1).fit(X, Y)
    assert caught[0].filename == __file__
