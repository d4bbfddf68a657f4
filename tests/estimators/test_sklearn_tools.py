"""Perceptrons in scikit-learn's pipelines, searches, meta-estimators and routing, for two classes and for more."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.validation import check_is_fitted

import rosenblatt as rb
from tests.shared.multiclass import SCHEMES, blobs
from tests.shared.strategies import bits, noisy, trained

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]

X, Y = blobs(120, 3, 4)
NAMES = np.array(["ash", "elm", "oak"])[Y]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_iris_in_a_pipeline(scheme):
    A, b = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), rb.Perceptron(multiclass=scheme, average=True, max_iter=50))
    # One against one adds up scores of machines that stopped at different lengths: the longest is heard most.
    assert cross_val_score(model, A, b, cv=5).mean() > (0.6 if scheme == "ovo" else 0.9)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_for_many_classes(scheme, method):
    base = rb.Perceptron(multiclass=scheme, average=True, max_iter=10)
    model = CalibratedClassifierCV(base, method=method, cv=3).fit(X, NAMES)
    chances = model.predict_proba(X)
    assert chances.shape == (120, 3)
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert model.classes_.tolist() == ["ash", "elm", "oak"]
    assert model.score(X, NAMES) > 0.5


def test_schemes_in_a_grid():
    grid = {"multiclass": ["direct", "ovr", "ovo"], "average": [False, True], "class_weight": [None, "balanced"]}
    search = GridSearchCV(rb.Perceptron(max_iter=5), grid, cv=3, scoring="balanced_accuracy").fit(X, NAMES)
    assert search.best_estimator_.classes_.tolist() == ["ash", "elm", "oak"]
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_predictions_of_folds(method):
    told = cross_val_predict(rb.Perceptron(max_iter=5), X, NAMES, cv=3, method=method)
    assert told.shape == ((120,) if method == "predict" else (120, 3))


def test_learning_curves_by_chunks():
    sizes, training, _ = learning_curve(
        rb.Perceptron(max_iter=3), X, NAMES, cv=3, train_sizes=[20, 40, 80], exploit_incremental_learning=True
    )
    assert (sizes.tolist(), training.shape) == ([20, 40, 80], (3, 3))


@pytest.mark.parametrize(
    "meta",
    [
        OneVsRestClassifier(rb.Perceptron(max_iter=5)),
        OneVsOneClassifier(rb.Perceptron(max_iter=5)),
        OutputCodeClassifier(rb.Perceptron(max_iter=5), random_state=0),
        BaggingClassifier(rb.Perceptron(max_iter=5), n_estimators=3, random_state=0),
        VotingClassifier([("last", rb.Perceptron(max_iter=5)), ("mean", rb.Perceptron(average=True, max_iter=5))]),
        StackingClassifier([("one", rb.Perceptron(max_iter=5))], final_estimator=rb.Perceptron(max_iter=5), cv=2),
        CalibratedClassifierCV(rb.Perceptron(max_iter=5), cv=2),
    ],
    ids=lambda meta: type(meta).__name__,
)
def test_inside_other_estimators(meta):
    model = clone(meta).fit(X, NAMES)
    assert set(model.predict(X)) <= {"ash", "elm", "oak"}
    assert model.score(X, NAMES) > 0.5


def test_one_against_the_rest_is_ours():
    """The machines that scikit-learn trains around two classes are those of multiclass="ovr", bit for bit."""
    rule = {"order": "cyclic", "max_iter": 4}
    theirs, ours = OneVsRestClassifier(rb.Perceptron(**rule)).fit(X, Y), trained(X, Y, multiclass="ovr", **rule)
    for one, coef, intercept in zip(theirs.estimators_, ours.coef_, ours.intercept_, strict=True):
        assert one.coef_[0].tobytes() == coef.tobytes()
        assert one.intercept_[0] == intercept


def test_several_outputs_one_by_one():
    several = np.column_stack([Y, (X[:, 0] > 0).astype(int)])
    assert MultiOutputClassifier(rb.Perceptron(max_iter=5)).fit(X, several).predict(X).shape == (120, 2)
    chain = ClassifierChain(rb.Perceptron(max_iter=5)).fit(X, (several > 0).astype(int))
    assert chain.predict(X).shape == (120, 2)


@pytest.fixture(name="_routing")
def _with_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("_routing")
def test_weights_are_routed_where_they_are_asked_for():
    weight = np.where(Y == 0, 0.0, 1.0)
    asked = rb.Perceptron(max_iter=5).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    model = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
    told = cross_validate(
        model, X, Y, cv=3, params={"sample_weight": weight}, return_estimator=True, return_indices=True
    )
    for fold, rows in zip(told["estimator"], told["indices"]["train"], strict=True):
        assert len(fold[-1].trace_)
        assert 0 not in Y[rows][fold[-1].trace_.index]  # rows of no weight make no mistakes
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_validate(rb.Perceptron(max_iter=5), X, Y, cv=3, params={"sample_weight": weight})
    bagged = BaggingClassifier(asked, n_estimators=2, random_state=0).fit(X, Y, sample_weight=weight + 1)
    assert bagged.score(X, Y) > 0.3


@pytest.mark.usefixtures("_routing")
def test_requests_are_scikit_learns():
    ours, peer = rb.Perceptron(), Peer()
    for method in ("fit", "partial_fit", "score"):
        assert set(getattr(ours.get_metadata_routing(), method).requests) == set(
            getattr(peer.get_metadata_routing(), method).requests
        )
    asked = ours.set_partial_fit_request(classes=True, sample_weight=False)
    assert clone(asked).get_metadata_routing().partial_fit.requests == {"classes": True, "sample_weight": False}


def test_weights_of_a_score():
    clf = trained(X, Y, max_iter=3)
    right = clf.predict(X) == Y
    assert clf.score(X, Y, sample_weight=right.astype(float)) == 1.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_names_of_features(scheme):
    frame = pd.DataFrame(X, columns=list("pqrs"))
    clf = trained(frame, NAMES, multiclass=scheme, max_iter=3)
    assert clf.feature_names_in_.tolist() == list("pqrs")
    assert bits(clf) == bits(trained(X, NAMES, multiclass=scheme, max_iter=3))
    with pytest.raises(ValueError, match="same order"):
        clf.predict(frame[list("qprs")])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(X)


def test_tags_are_scikit_learns():
    ours, peer = get_tags(rb.Perceptron()), get_tags(Peer())
    assert (ours.estimator_type, ours.classifier_tags) == (peer.estimator_type, peer.classifier_tags)
    assert (ours.target_tags, ours.input_tags) == (peer.target_tags, peer.input_tags)
    assert ours.requires_fit


@pytest.mark.parametrize("clf", [rb.Perceptron(), trained(X, Y, max_iter=2)], ids=["new", "trained"])
def test_html(clf):
    told = estimator_html_repr(make_pipeline(StandardScaler(), clf))
    assert "Perceptron" in told
    assert "<style>" in told
    assert "Fitted" in told if clf.__sklearn_is_fitted__() else "Not fitted" in told


@pytest.mark.parametrize("scheme", SCHEMES)
def test_training_makes_an_estimator_fitted(scheme):
    clf = rb.Perceptron(multiclass=scheme)
    with pytest.raises(NotFittedError):
        check_is_fitted(clf)
    check_is_fitted(clf.partial_fit(X, Y, classes=[0, 1, 2]))
    check_is_fitted(clf, ["coef_", "intercept_", "classes_", "t_"])
    with pytest.raises(NotFittedError):
        check_is_fitted(clf, "n_iter_")  # a stream has made no passes
    assert not clone(clf).__sklearn_is_fitted__()


def test_output_as_frames_is_not_for_classifiers():
    assert not hasattr(rb.Perceptron(), "set_output")


X2, Y2 = noisy(120, 4)


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
    search = GridSearchCV(rb.Perceptron(max_iter=5), grid, cv=3).fit(X2, Y2)
    assert search.best_estimator_.n_iter_ <= 5
    assert 0.5 < search.best_score_ <= 1.0
    frozen = GridSearchCV(rb.Perceptron(max_iter=3), {"tie": np.array(["mistake", "half"])}, cv=3)
    assert frozen.fit(X2, Y2).best_params_["tie"] in ("mistake", "half")


def test_calibrated():
    model = CalibratedClassifierCV(rb.Perceptron(max_iter=10), cv=3).fit(X2, Y2)
    chances = model.predict_proba(X2)
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert model.score(X2, Y2) > 0.7
    assert not hasattr(rb.Perceptron(), "predict_proba")


def test_one_against_the_rest():
    y = np.digitize(X2[:, 0], [-0.5, 0.5])
    model = OneVsRestClassifier(rb.Perceptron(max_iter=20)).fit(X2, y)
    assert model.score(X2, y) > 0.5
    assert len(model.estimators_) == 3


def test_weights_choose_features():
    chosen = SelectFromModel(rb.Perceptron(max_iter=5), max_features=2, threshold=-np.inf).fit_transform(X2, Y2)
    assert chosen.shape == (120, 2)
    assert permutation_importance(trained(X2, Y2, max_iter=5), X2, Y2, n_repeats=2).importances.shape == (4, 2)


@pytest.mark.parametrize("make", [clone, lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])
def test_copies(make):
    order = np.arange(120)[::-1].copy()
    clf = trained(X2, Y2, order=order, max_iter=4, average=True, class_weight={1: 2.0})
    other = make(clf)
    assert repr(other) == repr(clf)
    assert np.array_equal(other.order, order)
    if make is clone:
        assert not other.__sklearn_is_fitted__()
        other.fit(X2, Y2)
    assert bits(other) == bits(clf)
    assert other.trace_.index.tolist() == clf.trace_.index.tolist()
    other.partial_fit(X2, Y2)
    assert bits(other) != bits(clf)


def test_repr_tells_what_is_not_default():
    assert repr(rb.Perceptron()) == "Perceptron()"
    assert repr(rb.Perceptron(bias="radius", eta0=0.5)) == "Perceptron(bias='radius', eta0=0.5)"
    trace = trained(X2, Y2, max_iter=2).trace_
    assert repr(trace) == f"Trace({len(trace)} mistakes in 2 passes over 120 rows)"


def test_before_training():
    clf = rb.Perceptron()
    assert is_classifier(clf)
    for call in (
        lambda: clf.predict(X2),
        lambda: clf.decision_function(X2),
    ):
        with pytest.raises(NotFittedError, match="not trained yet"):
            call()
    assert clf.predict_one(X2[0]) is None
    with pytest.raises(NotFittedError):
        check_is_fitted(clf)
    for name in ("coef_", "intercept_", "classes_", "t_", "n_features_in_", "n_iter_", "trace_", "n_mistakes_"):
        assert not hasattr(clf, name), name


def test_attributes_are_shaped_as_scikit_learns():
    ours, peer = trained(X2, Y2, max_iter=3), Peer(max_iter=3).fit(X2, Y2)
    for name in ("coef_", "intercept_", "classes_"):
        one, other = getattr(ours, name), getattr(peer, name)
        assert (one.shape, one.dtype) == (other.shape, other.dtype), name
    assert ours.n_features_in_ == peer.n_features_in_
    assert ours.predict(X2).dtype == peer.predict(X2).dtype
    assert ours.decision_function(X2).shape == peer.decision_function(X2).shape
    assert isinstance(ours.n_iter_, int)


def test_no_trace_is_kept_if_none_is_wanted():
    clf = trained(X2, Y2, trace=None, max_iter=3)
    assert not hasattr(clf, "trace_")
    assert bits(clf) == bits(trained(X2, Y2, max_iter=3))
    counts = trained(X2, Y2, trace="counts", max_iter=3)
    assert counts.trace_.mistakes_per_pass.tolist() == clf.mistakes_per_pass_.tolist()
    with pytest.raises(ValueError, match="counts only"):
        counts.trace_.index  # noqa: B018


def test_a_column_of_labels_warns():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        trained(X2, Y2.reshape(-1, 1), max_iter=2)


def test_warnings_point_at_the_caller():
    with pytest.warns(ConvergenceWarning) as caught:
        rb.Perceptron(max_iter=1).fit(X2, Y2)
    assert caught[0].filename == __file__
