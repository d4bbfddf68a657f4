"""Models with calibrated probabilities: in memory, in files, and on the command line."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.codecs import read_container, write_container
from rosenblatt.estimators.calibrated import CalibratedModel
from rosenblatt.exceptions import ModelFileError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.ScaleWarning")


@pytest.fixture(scope="module")
def cancer():
    X, y, _ = rb.read_table("@breast-cancer")
    return np.asarray(X), np.asarray(y)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_are_of_use_and_labels_stay(cancer, method):
    X, y = cancer
    model = make_pipeline(StandardScaler(), rb.Perceptron(average=True, max_iter=10, random_state=0))
    model.fit(X[::2], y[::2])
    found = rb.calibrate(model, X[::2], y[::2], method=method)
    P = found.predict_proba(X[1::2])
    assert P.shape == (len(X[1::2]), 2)
    assert log_loss(y[1::2], np.clip(P, 1e-3, 1 - 1e-3)) < 0.25
    assert (found.predict(X) == model.predict(X)).all()
    np.testing.assert_array_equal(found.decision_function(X), model.decision_function(X))
    assert (found.predict_log_proba(X)[:, 1] <= 0.0).all()


def test_any_number_of_threads_gives_the_same_probabilities(cancer):
    X, y = cancer
    model = make_pipeline(StandardScaler(), rb.MultilayerPerceptron(hidden_layer_sizes=(4,), max_iter=2))
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)  # nothing is said again about the folds
        found = [rb.calibrate(model, X, y, n_jobs=n_jobs).predict_proba(X).tobytes() for n_jobs in (1, 2, 5)]
    assert found[0] == found[1] == found[2]


def test_it_is_an_estimator_of_its_own(cancer):
    X, y = cancer
    made = CalibratedModel(rb.Perceptron(average=True, max_iter=5, random_state=0), folds=3)
    again = clone(made).fit(X, y)
    np.testing.assert_array_equal(made.fit(X, y).predict_proba(X), again.predict_proba(X))
    assert made.n_features_in_ == X.shape[1]
    assert made.classes_.tolist() == ["benign", "malignant"]


@pytest.mark.slow
def test_texts_and_several_classes(tmp_path):
    texts = [f"{word} {i % 3}" for i in range(20) for word in ("red", "green", "blue")]
    labels = ["warm", "calm", "cold"] * 20
    model = make_pipeline(rb.TableEncoder(), rb.Perceptron(average=True)).fit(texts, labels)
    found = rb.calibrate(model, texts, labels)
    assert found.classes_[found.predict_proba(texts).argmax(axis=1)].tolist() == labels
    rb.save(found, tmp_path / "m")
    loaded = rb.load(tmp_path / "m")
    assert loaded.method == "sigmoid"
    np.testing.assert_array_equal(loaded.predict_proba(texts), found.predict_proba(texts))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "beta"}, "choose 'sigmoid' or 'isotonic'"),
        ({"folds": 1}, "at least 2"),
        ({"folds": 500}, "rows of the rarest class"),
    ],
)
def test_wrong_parameters_are_refused(cancer, change, message):
    X, y = cancer
    model = rb.Perceptron(average=True, max_iter=3).fit(X, y)
    with pytest.raises(ParameterError, match=message):
        rb.calibrate(model, X, y, **change)


def test_what_has_probabilities_or_no_scores_is_not_calibrated(cancer):
    X, y = cancer
    with pytest.raises(ParameterError, match="predict_proba already"):
        rb.calibrate(LogisticRegression(solver="newton-cholesky").fit(X / 1e3, y), X, y)
    with pytest.raises(ParameterError, match="no decision_function"):
        rb.calibrate(rb.MonomialMap().fit(X), X, y)


@pytest.mark.parametrize(
    "curves",
    [
        [["isotonic", {"scores": "calibration.curves.0.scores", "heights": "calibration.curves.0.scores"}]],
        [["sigmoid", {"slope": "nan", "shift": 0.0}]],
        [["sigmoid", {"slope": 1.0, "shift": 0.0}]] * 3,
        [["other", {}]],
        [],
    ],
)
def test_crafted_curves_are_refused(cancer, tmp_path, curves):
    X, y = cancer
    rb.save(CalibratedModel(rb.Perceptron(max_iter=2, average=True)).fit(X, y), tmp_path / "m")
    document, tensors = read_container(tmp_path / "m")
    document["calibration"]["curves"] = curves
    write_container(tmp_path / "m", document, tensors)
    with pytest.raises(ModelFileError):
        rb.load(tmp_path / "m")
