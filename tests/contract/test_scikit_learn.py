"""Scikit-learn's contract: its own checks, its meta-estimators, its routing, for two classes and for more."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
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
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import rosenblatt as rb
from tests.shared.multiclass import SCHEMES, blobs
from tests.shared.strategies import bits, trained

WEIGHTS = "an update of weight 2 is one mistake, a row repeated twice may be two"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
SLOW = "an average forgets its first hypotheses slowly: it needs 100 passes here, the check ends it after 25"

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]

X, Y = blobs(120, 3, 4)
NAMES = np.array(["ash", "elm", "oak"])[Y]


@parametrize_with_checks(
    [
        rb.Perceptron(),
        rb.Perceptron(average=True),
        rb.Perceptron(order="cyclic", bias="radius", radius=10.0),
        rb.Perceptron(multiclass="ovr"),
        rb.Perceptron(multiclass="ovo"),
    ],
    expected_failed_checks=lambda clf: (
        EXPECTED | ({"check_class_weight_classifiers": SLOW} if clf.average else {})
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


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
