"""The bounds on PA, PA-I and PA-II hold, and other models say why they do not apply."""

import math

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.datasets import make_separable
from tests.shared.examples import slowly


@pytest.mark.parametrize("seed", [0, *slowly(*range(1, 6))])
@pytest.mark.parametrize(
    "parameters",
    [
        {"C": math.inf},
        {"C": 0.01},
        {"C": 3.0},
        {"C": 0.1, "loss": "squared_hinge"},
        {"C": math.inf, "eta0": 1.75},
        {"C": 0.01, "eta0": 0.5, "margin": 3.0},
    ],
)
@pytest.mark.parametrize("bias", ["unit", None])
def test_no_run_makes_more_mistakes(seed, parameters, bias):
    X, y = make_separable(50, 3, margin=0.1, seed=seed)
    clf = rb.PassiveAggressiveClassifier(bias=bias, max_iter=200, random_state=seed, average=True, **parameters)
    bound = rb.bounds(X, y, model=clf.fit(X, y))["passive"]
    if not bound.applies:
        assert bias is None
        assert "origin" in bound.reason
        return
    assert bound.observed == clf.n_mistakes_
    assert clf.n_mistakes_ <= bound.value
    assert clf.trace_.step.size > 0


def test_the_values_are_those_of_the_paper():
    X, y = [[3.0], [-1.0]], [1, 0]
    for parameters, value in (
        ({"C": math.inf}, 9.0),
        ({"C": 0.01}, 100.0),
        ({"C": 0.5, "loss": "squared_hinge"}, 10.0),
        ({"C": math.inf, "eta0": 0.5}, 12.0),
        ({"C": 0.01, "margin": 2.0}, 200.0),
    ):
        clf = rb.PassiveAggressiveClassifier(bias=None, **parameters).fit(X, y)
        assert rb.bounds(X, y, model=clf)["passive"].value == value


def test_other_bounds_do_not_apply():
    X, y = make_separable(30, 2, margin=0.1, seed=1)
    found = rb.bounds(X, y, model=rb.PassiveAggressiveClassifier().fit(X, y))
    assert "see 'passive'" in found["padded"].reason
    assert "see 'passive'" in found["start"].reason
    found = rb.bounds(X, y, model=rb.ConfidenceWeightedClassifier().fit(X, y))
    assert "variances" in found["padded"].reason
    assert not found["passive"].applies
    assert not rb.bounds(X, y)["passive"].applies
    weighted = rb.PassiveAggressiveClassifier(class_weight="balanced").fit(X, y)
    assert "weights" in rb.bounds(X, y, model=weighted)["passive"].reason


@pytest.mark.parametrize("seed", [0, *slowly(*range(1, 4))])
@pytest.mark.parametrize("parameters", [{"C": 0.01}, {"C": 1.0}, {"C": 0.1, "loss": "squared_hinge"}])
def test_rows_with_wrong_labels_have_a_bound(seed, parameters):
    X, y = make_separable(60, 3, margin=0.1, seed=seed)
    y = np.where(np.arange(60) % 10 == 0, -y, y)
    clf = rb.PassiveAggressiveClassifier(max_iter=3, random_state=seed, average=True, **parameters).fit(X, y)
    found = rb.bounds(X, y, model=clf)
    assert not found["passive"].applies
    bound = found["passive_losses"]
    assert bound.observed == clf.n_mistakes_ <= bound.value
    # By hand, for the last weights: the sums are over the updates of the run.
    C, w, b = parameters["C"], clf._state.w[:-1], clf._state.w[-1]
    power = 2 if "loss" in parameters else 1
    losses = np.maximum(0.0, 1.0 - y * (X @ w + b)) ** power @ clf.trace_.alpha
    square = (X**2).sum(axis=1).max() + 1.0
    factor = square + 1.0 / (2.0 * C) if power == 2 else max(square, 1.0 / C)
    assert bound.value <= factor * (w @ w + b * b + 2.0 * C * losses) * (1.0 + 1e-9)


def test_relaxation_without_a_bound_says_why():
    X, y = [[3.0], [-1.0]], [1, 0]
    for parameters in ({"eta0": 2.0}, {"margin": 0.0}):
        clf = rb.PassiveAggressiveClassifier(C=math.inf, average=True, **parameters).fit(X, y)
        assert "eta0 below 2 and a margin above 0" in rb.bounds(X, y, model=clf)["passive"].reason
    clf = rb.PassiveAggressiveClassifier(C=1.0, eta0=0.5, average=True).fit(X, y)
    assert "eta0=1" in rb.bounds(X, y, model=clf)["passive_losses"].reason


def test_pa_has_no_bound_for_wrong_labels():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    clf = rb.PassiveAggressiveClassifier(C=math.inf, max_iter=3, average=True).fit(X, y)
    assert "infinite" in rb.bounds(X, y, model=clf)["passive_losses"].reason
