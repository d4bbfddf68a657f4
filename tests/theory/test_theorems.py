"""Theorems are tests: on separable sets of known margin, mistakes never exceed the bound of their rule.

The margin of `make_separable` is exact, with and without a bias, and its hyperplane goes through the origin, so
γ, R and b* = 0 are known without solving anything.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import Perceptron
from rosenblatt.datasets import make_separable
from tests.shared.examples import examples


@st.composite
def separable_sets(draw):
    margin = draw(st.sampled_from([0.02, 0.05, 0.1, 0.25, 0.5]))
    return make_separable(
        draw(st.integers(2, 40)), draw(st.integers(1, 8)), margin=margin, seed=draw(st.integers(0, 2**32 - 1))
    )


def squared_radius(X):
    return (X**2).sum(axis=1).max()


# Rounding of the few sums in a bound; the bounds themselves are integers away from the counts almost always.
SLIGHTLY_MORE = 1 + 1e-12


@pytest.mark.parametrize(
    "bias, bound",
    [
        ("radius", lambda R2, gamma: 4 * R2 / gamma**2),  # Koski
        (None, lambda R2, gamma: R2 / gamma**2),  # Novikoff 1962
        ("unit", lambda R2, gamma: (R2 + 1) / gamma**2),  # with b* = 0
    ],
)
@settings(max_examples=examples(1000))
@given(data=separable_sets(), eta=st.sampled_from([0.1, 1.0, 7.0]), seed=st.integers(0, 9))
def test_mistake_bounds(bias, bound, data, eta, seed):
    X, y = data
    limit = bound(squared_radius(X), data.margin) * SLIGHTLY_MORE
    clf = Perceptron(bias=bias, eta0=eta, random_state=seed, max_iter=10**6, n_iter_no_change=10**6).fit(X, y)
    assert clf.converged_
    assert clf.n_mistakes_ <= limit
    assert clf.n_iter_ <= limit + 1  # each pass but the last has a mistake (K)


@settings(max_examples=examples(300))
@given(data=separable_sets(), shift=st.floats(-3, 3))
def test_the_bound_of_a_hyperplane_off_the_origin(data, shift):
    """With b* ≠ 0: moving all rows along w* moves the hyperplane, not the margin."""
    X = data.X + shift * data.w
    clf = Perceptron(max_iter=10**6, n_iter_no_change=10**6).fit(X, data.y)
    assert clf.converged_
    assert clf.n_mistakes_ <= (shift**2 + 1) * (squared_radius(X) + 1) / data.margin**2 * (1 + 1e-9)


@settings(max_examples=examples(300))
@given(data=separable_sets())
def test_the_bound_for_unit_rows_of_the_rule_that_starts_at_the_first(data):
    """Harchaoui: rows of length 1, start y₁x₁, mistake iff y f < 0."""
    X = data.X / np.linalg.norm(data.X, axis=1)[:, None]
    gamma = (data.y * (X @ data.w)).min()
    clf = Perceptron(bias=None, init="first", tie="correct", order="cyclic", max_iter=10**6)
    clf.set_params(n_iter_no_change=10**6).fit(X, data.y)
    # The start is itself an update, so one fewer mistake remains.
    assert clf.n_mistakes_ + 1 <= SLIGHTLY_MORE / gamma**2


@settings(max_examples=examples(300))
@given(data=separable_sets(), margin=st.floats(0.01, 2), start=st.floats(0, 3), eta=st.sampled_from([0.25, 1.0]))
def test_the_bound_from_a_start_and_with_a_margin(data, margin, start, eta):
    """kηγ + <w₀,w*> ≤ sqrt(‖w₀‖² + k(η²R² + 2ηm)), solved for k."""
    X, y = data
    rng = np.random.default_rng(0)
    w0 = start * rng.normal(size=X.shape[1])
    clf = Perceptron(bias=None, margin=margin, eta0=eta, max_iter=10**6, n_iter_no_change=10**6)
    clf.fit(X, y, coef_init=w0)
    assert clf.converged_
    k, gamma = clf.n_mistakes_, data.margin
    left = k * eta * gamma + w0 @ data.w
    right = np.sqrt(w0 @ w0 + k * (eta**2 * squared_radius(X) + 2 * eta * margin))
    assert left <= right * SLIGHTLY_MORE + 1e-12


@settings(max_examples=examples(200))
@given(data=separable_sets())
def test_proof_quantities_along_a_run(data):
    """<w_k, w*> ≥ kηγ and ‖w_k‖² ≤ kη²R² after every single update."""
    X, y = data
    clf = Perceptron(bias=None, max_iter=10**6, n_iter_no_change=10**6).fit(X, y)
    W, _ = clf.trace_.path(X, y)
    k = np.arange(len(W))
    assert (W @ data.w >= k * data.margin * (1 - 1e-12)).all()
    assert ((W**2).sum(axis=1) <= k * squared_radius(X) * SLIGHTLY_MORE).all()


@settings(max_examples=examples(200))
@given(data=separable_sets(), seed=st.integers(0, 9))
def test_the_mistakes_alone_train_the_same_model(data, seed):
    """Z, corollary 2.4.4: at most (R/γ)² examples lead to zero training error."""
    X, y = data
    clf = Perceptron(bias=None, random_state=seed, max_iter=10**6, n_iter_no_change=10**6).fit(X, y)
    few = clf.trace_.compressed(X, y)
    visited = np.unique(few.order)  # a class without a mistake is there with a row that is not
    assert len(visited) <= squared_radius(X) / data.margin**2 * SLIGHTLY_MORE
    assert len(few.rows) <= len(visited) + 1
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")  # one may also advise to scale the columns
        again = Perceptron(bias=few.bias, order=[few.order]).fit(few.X, few.y)
    assert any("the 1 listed passes" in str(each.message) for each in found)
    assert again.coef_.tobytes() == clf.coef_.tobytes()
    assert again.score(X, y) == 1.0


@pytest.mark.parametrize("d", [1, 4, 16])
def test_a_bound_that_is_met_exactly(d):
    """Orthogonal unit vectors: γ = 1/√d, and exactly R²/γ² = d mistakes."""
    clf = Perceptron(bias=None, order="cyclic").fit(np.vstack([np.eye(d), -np.eye(d)]), [1] * d + [-1] * d)
    assert clf.n_mistakes_ == d
