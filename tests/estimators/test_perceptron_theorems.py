"""What the lectures prove of every run, checked on every run."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.shared.strategies import problems, trained

PASSES = {"order": "cyclic", "max_iter": 4}


@given(problems(), st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from(["unit", None, "radius", 3]), st.booleans())
def test_each_update_raises_the_confidence_of_its_row(problem, eta, bias, sparse):
    """S-15: y f grows by η (‖x‖² + β)."""
    X, y = problem
    table = csr_array(X) if sparse else X
    clf = trained(table, y, eta0=eta, bias=bias, **PASSES)
    W, b = clf.trace_.path(table, y)
    for k, i in enumerate(clf.trace_.index):
        before, after = (y[i] * (W[j] @ X[i] + b[j]) for j in (k, k + 1))
        assert after - before == eta * (X[i] @ X[i] + clf.trace_.bias)
        assert before == y[i] * clf.trace_.score[k]


@given(problems(), st.booleans())
def test_a_constant_feature_is_the_unit_bias(problem, average):
    """S-5."""
    X, y = problem
    padded = trained(np.hstack([X, np.ones((len(X), 1))]), y, bias=None, average=average, **PASSES)
    plain = trained(X, y, average=average, **PASSES)
    assert padded.coef_[0].tolist() == [*plain.coef_[0], *plain.intercept_]
    assert padded.trace_.index.tolist() == plain.trace_.index.tolist()
    assert padded.intercept_.tolist() == [0]


@given(problems())
def test_padding_with_r_is_the_radius_bias(problem):
    """S-7: K's proof pads with R; b of the one is R times the weight of the other."""
    X, y = problem
    R = 4.0  # as large as it likes to be, if it is given
    padded = trained(np.hstack([X, np.full((len(X), 1), R)]), y, bias=None, **PASSES)
    plain = trained(X, y, bias="radius", radius=R, **PASSES)
    assert padded.coef_[0, :-1].tolist() == plain.coef_[0].tolist()
    assert R * padded.coef_[0, -1] == plain.intercept_[0]
    assert padded.trace_.index.tolist() == plain.trace_.index.tolist()


@given(problems(), st.sampled_from([2.0**-20, 0.25, 3.0, 1024.0]), st.sampled_from(["unit", "radius", None]))
def test_the_learning_rate_does_not_matter_from_zero(problem, eta, bias):
    X, y = problem
    one, other = (trained(X, y, eta0=rate, bias=bias, **PASSES) for rate in (1.0, eta))
    assert one.trace_.index.tolist() == other.trace_.index.tolist()
    assert (eta * one.coef_).tolist() == other.coef_.tolist()
    assert (eta * one.intercept_).tolist() == other.intercept_.tolist()


@given(problems())
def test_opposite_labels_give_the_opposite_plane(problem):
    X, y = problem
    one, other = (trained(X, sign * y, **PASSES) for sign in (1, -1))
    assert one.trace_.index.tolist() == other.trace_.index.tolist()
    assert one.coef_.tolist() == (-other.coef_ + 0.0).tolist()


@given(problems(), st.sampled_from([-1, 1]))
def test_zero_belongs_to_the_side_it_is_given_to(problem, zero):
    """S-2."""
    X, y = problem
    clf = trained(X, y, zero=zero, **PASSES)
    f = clf.decision_function(X)
    expected = np.where(f > 0, 1, np.where(f < 0, -1, zero))
    assert clf.predict(X).tolist() == expected.tolist()
    assert [clf.predict_one(x) for x in X] == expected.tolist()
    assert f.tolist() == (X @ clf.coef_[0] + clf.intercept_[0]).tolist()


@given(problems(), st.sampled_from([0.5, 2.0]))
def test_the_error_correction_form(problem, eta):
    """S-9: w += (η/2)(y − g(x)) x with sgn(0) = 0 is the tie rule "half"."""
    X, y = problem
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(4):
        before = w.copy(), b
        for x, label in zip(X, y, strict=True):
            pull = eta / 2 * (label - np.sign(w @ x + b))
            w, b = w + pull * x, b + pull
        if np.array_equal(before[0], w) and before[1] == b:
            break
    clf = trained(X, y, tie="half", eta0=eta, **PASSES)
    assert clf.coef_[0].tolist() == w.tolist()
    assert clf.intercept_[0] == b
