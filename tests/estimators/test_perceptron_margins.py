"""Uneven margins: the reference, streams and files, and the bound on updates and on the margin reached."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.datasets import make_separable
from rosenblatt.exceptions import ParameterError
from rosenblatt.loops import reference
from rosenblatt.loops.rules import Margins
from tests.shared.examples import slowly

RNG = np.random.default_rng(9)
X = RNG.integers(-8, 9, (40, 5)) / 8
TWO = np.where(X[:, 0] + RNG.integers(-1, 2, 40) / 4 > 0, 1, -1)
THREE = np.digitize(X[:, 0] - X[:, 2], (-0.5, 0.5))
QUIET = {"order": "cyclic", "average": True, "n_iter_no_change": 100}


@given(st.sampled_from([0.0, 0.5, 1.0, 4.0]), st.sampled_from([0.0, 0.25, 2.0]), st.booleans())
@settings(deadline=None, max_examples=12)
def test_two_classes_are_the_reference(plus, minus, sparse):
    clf = rb.Perceptron(margin=(plus, minus), max_iter=3, **QUIET).fit(csr_array(X) if sparse else X, TWO)
    true = reference.train(X.tolist(), TWO.tolist(), list(range(40)) * 3, Margins(margin=plus, margin_minus=minus))
    passes = clf.n_iter_  # sums of these rows are exact, so the two are the same
    kept = [mistake for mistake in true.mistakes if mistake.visit < 40 * passes]
    assert clf.trace_.index.tolist() == [mistake.index for mistake in kept]
    assert clf.trace_.score.tolist() == [mistake.score for mistake in kept]


@pytest.mark.parametrize("multiclass", ["direct", *slowly("ovr", "ovo")])
def test_several_classes_are_the_reference(multiclass):
    clf = rb.Perceptron(margin=(2.0, 0.5), multiclass=multiclass, max_iter=2, **QUIET).fit(X, THREE)
    rule, start = Margins(margin=2.0, margin_minus=0.5), [[0.0] * 6 for _ in range(3)]
    if multiclass == "direct":
        true = reference.train_direct(X.tolist(), THREE.tolist(), list(range(40)) * 2, rule, w=start)
    else:
        sides = reference.sides(multiclass, 3)
        true = reference.train_machines(
            X.tolist(), THREE.tolist(), list(range(40)) * 2, rule, sides=sides, w=start
        )
    assert clf._state.last().tolist() == true.w


def test_even_margins_are_one_margin():
    pair, one = (rb.Perceptron(margin=margin, max_iter=3, **QUIET).fit(X, TWO) for margin in ((1.5, 1.5), 1.5))
    assert pair.coef_.tobytes() == one.coef_.tobytes()
    assert pair.n_mistakes_ == pair.n_updates_ == one.n_mistakes_


def test_streams_and_files_keep_both_margins(tmp_path):
    clf = rb.Perceptron(margin=(2.0, 0.5), trace="mistakes").partial_fit(X, TWO)
    fitted = rb.Perceptron(margin=(2.0, 0.5), max_iter=1, **QUIET).fit(X, TWO)
    assert clf.coef_.tobytes() == fitted._state.w[None, :-1].tobytes()
    assert np.array_equal(clf.trace_.replay(X, TWO).coef, clf.coef_[0])
    rb.save(clf, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    for each in (clf, again):
        each.partial_fit(X, TWO)
    assert again.coef_.tobytes() == clf.coef_.tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_on_updates_and_on_the_margin_reached_holds(seed):
    rows, y = make_separable(60, 3, margin=0.1, seed=seed)
    y = np.where(y == np.unique(y)[1], 1, -1)
    plus, minus, eta = 3.0, 1.0, 0.5
    clf = rb.Perceptron(margin=(plus, minus), eta0=eta, max_iter=10**5).fit(rows, y)
    assert clf.stop_reason_ == "separated"
    found = rb.bounds(rows, y, model=clf)
    bound = found["start"]
    assert bound.applies
    assert clf.n_mistakes_ <= bound.value
    # Li et al. 2002: (C² + 2τ/η)/γ² updates, and a margin of at least γ min(τ₊, τ₋)/(ηC² + 2τ).
    square = Fraction(float((rows**2).sum(axis=1).max())) + 1
    gamma2 = Fraction(found["padded"].uses["γ"][0]) ** 2
    assert bound.value == pytest.approx(float((square + 2 * Fraction(plus) / Fraction(eta)) / gamma2), rel=1e-6)
    reached = (y * clf.decision_function(rows)).min() / np.hypot(np.linalg.norm(clf.coef_), clf.intercept_[0])
    assert reached >= float(gamma2) ** 0.5 * minus / (eta * float(square) + 2 * plus) * (1 - 1e-12)


def test_it_helps_a_rare_class():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4000, 10))
    y = rows[:, 0] + 0.6 * rng.standard_normal(4000) > 1.8
    learners = [rb.Perceptron(margin=margin, max_iter=5, **QUIET) for margin in ((0.0, 0.0), (10.0, 0.0))]
    found = [(clf.fit(rows, y).predict(rows) & y).sum() / y.sum() for clf in learners]
    assert found[1] > found[0] + 0.1


@pytest.mark.parametrize("margin", [(1.0,), (1.0, -1.0), ("a", 0.0), (1.0, 2.0, 3.0), -1.0])
def test_margins_are_checked(margin):
    with pytest.raises(ParameterError, match="margin="):
        rb.Perceptron(margin=margin).fit(X, TWO)
