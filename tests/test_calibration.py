"""Probabilities from scores, compared with scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.svm import LinearSVC

from rosenblatt.calibration import Calibration, SigmoidCurve, fit_calibration, fit_sigmoid, fit_steps
from rosenblatt.exceptions import ParameterError

SCORES = st.lists(st.tuples(st.integers(-20, 20), st.booleans()), min_size=2, max_size=60)


def columns(rows):
    scores, positive = zip(*rows, strict=True)
    return np.array(scores, float) / 4, np.array(positive)


@given(SCORES)
def test_steps_are_the_isotonic_regression(rows):
    scores, positive = columns(rows)
    places = np.linspace(-6, 6, 97)
    expected = IsotonicRegression(out_of_bounds="clip").fit(scores, positive).predict(places)
    np.testing.assert_allclose(fit_steps(scores, positive).shares(places), expected, atol=1e-12)


@given(SCORES)
def test_no_sigmoid_near_it_is_more_likely(rows):
    scores, positive = columns(rows)
    n_plus, n_minus = positive.sum(), (~positive).sum()
    target = np.where(positive, (n_plus + 1) / (n_plus + 2), 1 / (n_minus + 2))

    def loss(slope, shift):
        z = slope * scores + shift
        return np.sum(np.logaddexp(0, z) - target * z)

    found = fit_sigmoid(scores, positive)
    least = loss(found.slope, found.shift)
    for slope, shift in [(0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)]:
        assert least <= loss(found.slope + slope, found.shift + shift) + 1e-9


def test_it_is_scikit_learns_sigmoid():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    svm = LinearSVC().fit(X, y)
    from sklearn.frozen import FrozenEstimator

    theirs = CalibratedClassifierCV(FrozenEstimator(svm), method="sigmoid").fit(X, y)
    scores = svm.decision_function(X)
    ours = fit_calibration(scores, y).probabilities(scores)
    np.testing.assert_allclose(ours, theirs.predict_proba(X), atol=1e-5)


def test_scores_of_any_size_give_finite_probabilities():
    found = fit_sigmoid(np.array([-1e300, -1e299, 1e299, 1e300]), np.array([False, False, True, True]))
    assert np.isfinite([found.slope, found.shift]).all()
    assert SigmoidCurve(1.0, 0.0).shares(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]


def test_probabilities_of_several_classes_sum_to_one():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 300)
    scores = np.eye(3)[codes] * 2 + rng.normal(size=(300, 3))
    for method in ("sigmoid", "isotonic"):
        found = fit_calibration(scores, codes, method=method).probabilities(scores)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        assert (found.argmax(axis=1) == codes).mean() > 0.7


def test_a_row_that_no_curve_believes_in_is_even():
    curves = (SigmoidCurve(0.0, -800.0),) * 3
    assert Calibration(curves).probabilities(np.zeros((1, 3))).tolist() == [[1 / 3] * 3]


def test_curves_are_stretched_to_larger_scores():
    scores, codes = np.array([-2.0, -1.0, 0.5, 1.0, 2.0, -0.5]), np.array([0, 0, 0, 1, 1, 1])
    for method in ("sigmoid", "isotonic"):
        one = fit_calibration(scores, codes, method=method).probabilities(scores)
        ten = fit_calibration(scores, codes, method=method, scale=10.0).probabilities(10.0 * scores)
        np.testing.assert_allclose(one, ten, atol=1e-12)


def test_an_unknown_method_is_refused():
    with pytest.raises(ParameterError, match="choose 'sigmoid' or 'isotonic'"):
        fit_calibration([0.0, 1.0], np.array([0, 1]), method="beta")
