"""`certify` of a trained classifier: `rosenblatt.certify`, asked with its bias and its own hyperplane."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import rosenblatt as rb
from rosenblatt.certify import ClassTables, Inseparable, Separable, Undecided, decide
from rosenblatt.datasets import load_xor
from rosenblatt.exceptions import DataTypeError, InputError, LabelError, ParameterError, ShapeError
from tests.shared.examples import slowly
from tests.shared.strategies import quietly, separable, trained

CLASSIFIERS = [
    rb.Perceptron(),
    rb.Perceptron(average=True),
    rb.VotedPerceptron(),
    rb.PocketPerceptron(),
    rb.LiftedPerceptron(max_iter=50),
    rb.SoftMarginClassifier(),
    rb.MaxMarginClassifier(),
]


@pytest.fixture
def data():
    return separable(60, 3, gap=0.2)


@pytest.mark.parametrize("clf", CLASSIFIERS, ids=lambda clf: str(clf)[:20])
@pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array, lambda X: X.astype(np.float32))])
def test_every_classifier(clf, layout, data):
    X, y = layout(data[0]), data[1]
    quietly(clf.fit, X, y)
    found = clf.certify(X, y)
    assert isinstance(found, Separable)
    assert found.bias
    assert found.verify(X, y)
    flipped = np.where(np.arange(len(y)) < 30, y, -y)
    found = clf.certify(X, flipped)
    assert isinstance(found, Inseparable)
    assert found.verify(X, flipped)


@pytest.mark.parametrize("bias", ["unit", "radius", 0.5, None, 0.0, False])
def test_the_bias_is_that_of_the_classifier(bias):
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    settings = {"fit_intercept": False} if bias is False else {"bias": bias}
    found = trained(X, y, max_iter=10, **settings).certify(X, y)
    assert (found.verdict, found.bias) == (("separable", True) if bias else ("inseparable", False))
    clf = rb.SoftMarginClassifier(fit_intercept=bool(bias)).fit(X, y)
    assert clf.certify(X, y).bias == bool(bias)


@pytest.mark.parametrize("rows", [20, 2000])
@pytest.mark.parametrize("bias", ["unit", None])
@pytest.mark.parametrize("scale", [1.0, 2.0**-500])
def test_its_own_hyperplane_is_the_first_one_tried(rows, bias, scale, monkeypatch):
    X, y = separable(rows, 3, gap=0.1)
    X = X * [scale, 1.0, 1.0]
    w = np.array([1.0 / scale, 1.0, 0.5])
    y = np.where(X @ w > 0, 1, -1)
    clf = trained(X, y, bias=bias, fit={"coef_init": w}, order="cyclic", max_iter=1)
    monkeypatch.setattr(decide, "guess", None)
    monkeypatch.setattr(decide, "by_simplex", None)
    monkeypatch.setattr(decide, "Search", None)
    found = clf.certify(X, y)
    assert found.verify(X, y)
    factor = found.w[0] / Fraction(clf.coef_[0, 0])
    assert list(found.w) == [factor * Fraction(value) for value in clf.coef_[0]]


def test_a_hyperplane_that_is_wrong_changes_nothing(data):
    X, y = data
    clf = trained(X, -y)
    assert clf.certify(X, y).verify(X, y)
    never = rb.certify(X, y, guess=np.zeros(3)), rb.certify(X, y, guess=[np.nan, np.inf, 1.0])
    assert all(found.verdict == "separable" for found in never)


def test_margins_and_time(data):
    X, y = data
    clf = trained(X, y)
    low, high = clf.certify(X, y, margin=True).margin.squared
    widest = rb.MaxMarginClassifier().fit(X, y).margin_
    assert float(low) ** 0.5 <= widest * (1 + 1e-9)
    assert float(high) ** 0.5 >= widest * (1 - 1e-9)
    assert isinstance(trained(X, -y, max_iter=3).certify(*load_xor_padded(), time_limit=0.0), Undecided)


def load_xor_padded():
    X, y = load_xor()
    return np.column_stack([X, X[:, 0]]), y


def test_several_classes_are_asked_about_by_tables():
    X, y = load_iris(return_X_y=True)
    for multiclass in ("direct", "ovr", "ovo"):
        found = trained(X, y, multiclass=multiclass, max_iter=5).certify(X, y)
        assert isinstance(found, ClassTables)
        assert found.rest[0].verdict == "separable"
        assert found.pairs[1, 2].verdict == "inseparable"
        assert found.verify(X, y)
    kept = y < 2
    assert trained(X, y, max_iter=5).certify(X[kept], y[kept]).verdict == "separable"
    assert isinstance(trained(X[kept], y[kept]).certify(X, y), ClassTables)


def test_after_a_stream(data):
    X, y = data
    clf = rb.Perceptron().partial_fit(X, y)
    assert clf.certify(X, y).verdict == "separable"


def test_features_are_those_it_was_trained_on(data):
    X, y = data
    with pytest.raises(NotFittedError):
        rb.Perceptron().certify(X, y)
    clf = trained(X, y)
    with pytest.raises(ShapeError, match="expecting 3 features"):
        clf.certify(X[:, :2], y)
    with pytest.raises(InputError, match="y has"):
        clf.certify(X, y[:-1])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = trained(frame, y)
    assert "a" in str(named.certify(frame, y))
    with pytest.raises(InputError, match="feature names should match"):
        named.certify(frame[["c", "b", "a"]], y)
    assert clf.certify(X[y > 0], y[y > 0]).verdict == "separable"  # one class is separable from none
    with pytest.raises(LabelError):
        clf.certify(X, [None] * len(y))


def test_a_guess_that_is_none(data):
    X, y = data
    with pytest.raises(ShapeError, match=r"guess has shape \(2,\), but \(3,\)"):
        rb.certify(X, y, guess=[1.0, 2.0])
    with pytest.raises(DataTypeError, match="guess must hold 3 numbers"):
        rb.certify(X, y, guess=["a", "b", "c"])
    with pytest.raises(ParameterError, match="y has 3 classes"):
        rb.certify(X, np.arange(len(y)) % 3, guess=[1.0, 2.0, 3.0])
