"""Where scikit-learn's Perceptron computes exactly, ours is the same; where it rounds, only a tie can differ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron as Peer

from tests.shared.strategies import noisy, problems, quietly, trained

U = 2.0**-53


def _peer(X, y, passes, fit=None, **parameters):
    peer = Peer(shuffle=False, tol=None, max_iter=passes, **parameters)
    return quietly(peer.fit, X, y, **(fit or {}))


@settings(max_examples=200)
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
    ours = trained(X, y, fit=start, shuffle=False, max_iter=passes, **same)
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
