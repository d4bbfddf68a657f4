"""The bound on the p-norm perceptron holds, and is that of the theorem."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.datasets import make_separable
from rosenblatt.theory.bounds import norm_above
from tests.shared.examples import slowly


@pytest.mark.parametrize("seed", [0, *slowly(*range(1, 4))])
@pytest.mark.parametrize("p", [2, 3, 6, "auto"])
@pytest.mark.parametrize("bias", ["unit", "radius", None])
def test_no_run_makes_more_mistakes(seed, p, bias):
    X, y = make_separable(50, 5, margin=0.1, seed=seed)
    clf = rb.PNormPerceptron(p, bias=bias, random_state=seed, decide=False, max_iter=3000).fit(X, y)
    bound = rb.bounds(X, y, model=clf)["p_norm"]
    if not bound.applies:
        assert bias is None
        assert "origin" in bound.reason
        return
    assert clf.stop_reason_ == "separated"
    assert bound.observed == clf.n_mistakes_ <= bound.value


@pytest.mark.slow
def test_few_relevant_features_have_a_small_bound():
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (200, 64))
    y = X[:, 7] > 0
    bounds = {}
    for p in (2, 8):
        clf = rb.PNormPerceptron(p, bias=None).fit(csr_array(X), y)
        bounds[p] = rb.bounds(X, y, model=clf)["p_norm"].value
    # ‖u‖₁ = 1 for the one feature, and X_p = 64^(1/p)
    assert bounds[8] == pytest.approx(7 * 64 ** (2 / 8), rel=1e-9)
    assert bounds[8] < bounds[2] < 64.0 + 1e-9


def test_with_p_2_it_is_the_bound_of_the_perceptron():
    X, y = make_separable(30, 2, margin=0.1, seed=1)
    found = rb.bounds(X, y, model=rb.PNormPerceptron(2).fit(X, y))
    assert found["p_norm"].value == pytest.approx(found["padded"].value, rel=1e-12)
    assert found["padded"].observed == found["p_norm"].observed


def test_it_says_why_it_does_not_apply():
    X, y = make_separable(30, 2, margin=0.1, seed=1)
    found = rb.bounds(X, y, model=rb.PNormPerceptron(4).fit(X, y))
    assert "see 'p_norm'" in found["padded"].reason
    assert "see 'p_norm'" in found["start"].reason
    assert not rb.bounds(X, y)["p_norm"].applies
    assert not rb.bounds(X, y, model=rb.Perceptron().fit(X, y))["p_norm"].applies
    weighted = rb.PNormPerceptron(4, class_weight={0: 2.0}).fit(X, y > 0)
    assert "weights" in rb.bounds(X, y > 0, model=weighted)["p_norm"].reason
    given = rb.bounds(X, y, model=rb.PNormPerceptron(4).fit(X, y), w_star=[1.0, -1.0], b_star=5.0)
    assert "does not separate" in given["p_norm"].reason


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=5), st.integers(2, 12))
@settings(deadline=None, max_examples=60)
def test_norms_are_rounded_up_by_little(values, p):
    """For each value, a^(p−1) ≥ v^p; and r^p ≥ (Σ a)^(p−1), both checked in rationals inside."""
    found = norm_above(values, p)
    true = sum(v ** (p / (p - 1)) for v in values) ** ((p - 1) / p)
    assert found == pytest.approx(true, rel=1e-12)
    if len(values) == 1:
        assert Fraction(found) >= Fraction(values[0])
