"""The kernel perceptron is the textbook's, to the last bit where sums are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.kernels import Linear, Polynomial
from rosenblatt.loops.rules import Rule, tie_shares
from tests.oracles.kernel import train_kernel, train_kernel_direct
from tests.shared.examples import examples
from tests.shared.strategies import DYADIC, problems, quietly

ORDERS = ("cyclic", "shuffle", "random")


def trained(X, y, kernel, fit=None, **parameters):
    return quietly(rb.KernelPerceptron(kernel, **parameters).fit, X, y, **(fit or {}))


def by_row(clf, n_rows):
    """Return the coefficients row by row, as the textbook lists them."""
    alpha = np.zeros((len(clf.dual_coef_), n_rows))
    alpha[:, clf.support_] = clf.dual_coef_
    return alpha


def visits_of(clf, n_rows, passes):
    """Return the rows that a run visited, from the order it names."""
    from rosenblatt.estimators._fitting import resolve_order

    order = resolve_order(clf, n_rows, clf._drawn.seed, 0)
    return [int(i) for epoch in range(1, passes + 1) for i in order.visits(epoch)]


@given(
    problem=problems(),
    degree=st.integers(1, 2),
    c=st.sampled_from([0, 1]),
    order=st.sampled_from(ORDERS),
    eta0=st.sampled_from(DYADIC),
    tie=st.sampled_from(["mistake", "sign", "half", "correct"]),
    zero=st.sampled_from([-1, 1]),
    margin=st.sampled_from([0.0, 1.0, 4.0]),
    bias=st.sampled_from(["unit", None, 2.0]),
    sparse=st.booleans(),
    weighted=st.booleans(),
)
@settings(max_examples=examples(60))
def test_two_classes(problem, degree, c, order, eta0, tie, zero, margin, bias, sparse, weighted):
    X, y = problem
    n = len(y)
    weight = np.array([DYADIC[i % len(DYADIC)] for i in range(n)]) if weighted else None
    rule = {"eta0": eta0, "tie": tie, "zero": zero, "margin": margin, "bias": bias, "order": order, "max_iter": 4}
    kernel = Polynomial(degree, c)
    table = csr_array(X) if sparse else X
    clf = trained(table, y, kernel, {"sample_weight": weight}, **rule)
    K = kernel(X).tolist()
    beta = {"unit": 1.0, None: 0.0}.get(bias, bias)
    visits = visits_of(clf, n, clf.n_iter_)
    told = Rule(eta0, beta, margin, *tie_shares(tie, zero))
    expected = train_kernel(K, y.tolist(), visits, told, None if weight is None else weight.tolist())
    np.testing.assert_array_equal(by_row(clf, n), expected.alpha)
    np.testing.assert_array_equal(clf.intercept_, expected.b)
    trace = clf.trace_
    mistakes = list(zip(trace.visit, trace.index, trace.score, trace.step, strict=True))
    assert mistakes == [mistake[:4] for mistake in expected.mistakes]
    f = np.array(expected.alpha[0]) @ np.array(K) + expected.b[0]
    np.testing.assert_array_equal(clf.decision_function(X), f)
    # How it ended, from the reference's own weights.
    lead = y * f
    share = np.where(y > 0, told.tie_plus, told.tie_minus)
    counts = np.ones(n) if weight is None else weight
    right = (lead > margin) | ((lead == margin) & (share == 0.0))
    predicted = np.where((f >= 0.0) if zero > 0 else (f > 0.0), 1, -1)
    if clf.converged_:
        assert (right & (predicted == y))[counts > 0].all()


@given(problem=problems(), order=st.sampled_from(ORDERS), n_iter=st.integers(1, 4))
@settings(max_examples=30)
def test_averages(problem, order, n_iter):
    X, y = problem
    clf = trained(X, y, Polynomial(2, 1), average=True, order=order, max_iter=n_iter)
    visits = visits_of(clf, len(y), clf.n_iter_)
    expected = train_kernel(Polynomial(2, 1)(X).tolist(), y.tolist(), visits)
    np.testing.assert_allclose(by_row(clf, len(y)), expected.average_alpha, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(clf.intercept_, expected.average_b, rtol=1e-13, atol=1e-13)
    assert clf.t_ == len(visits)


@given(problem=problems(), data=st.data(), zero=st.sampled_from([-1, 1]), margin=st.sampled_from([0.0, 2.0]))
@settings(max_examples=examples(40))
def test_classes_compared_directly(problem, data, zero, margin):
    X, _ = problem
    n = len(X)
    if n < 3:
        return
    y = np.array([0, 1, 2, *data.draw(st.lists(st.integers(0, 2), min_size=n - 3, max_size=n - 3))])
    clf = trained(X, y, Polynomial(2, 1), zero=zero, margin=margin, max_iter=4, average=data.draw(st.booleans()))
    visits = visits_of(clf, n, clf.n_iter_)
    K = Polynomial(2, 1)(X).tolist()
    expected = train_kernel_direct(K, y.tolist(), visits, Rule(margin=margin), n_classes=3, zero=zero)
    alpha, b = (expected.average_alpha, expected.average_b) if clf.average else (expected.alpha, expected.b)
    np.testing.assert_allclose(by_row(clf, n), alpha, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(clf.intercept_, b, rtol=1e-13, atol=1e-13)
    trace = clf.trace_
    mistakes = list(zip(trace.visit, trace.index, trace.score, trace.step, trace.machine, strict=True))
    assert mistakes == [tuple(mistake) for mistake in expected.mistakes]


@given(
    problem=problems(),
    order=st.sampled_from(ORDERS),
    bias=st.sampled_from(["unit", "radius", None, 0.5]),
    init=st.sampled_from(["zero", "first"]),
    multiclass=st.sampled_from(["direct", "ovr", "ovo"]),
    several=st.booleans(),
    sparse=st.booleans(),
)
@settings(max_examples=examples(60))
def test_the_linear_kernel_is_the_perceptron(problem, order, bias, init, multiclass, several, sparse):
    X, y = problem
    if not X.any():
        return  # R = 0
    if several:
        y = np.arange(len(y)) % 3 if len(y) > 2 else y
    rule = {"order": order, "bias": bias, "init": init, "multiclass": multiclass, "max_iter": 5, "random_state": 3}
    table = csr_array(X) if sparse else X
    ours = trained(table, y, "linear", **rule)
    plain = quietly(rb.Perceptron(**rule).fit, table, y)
    np.testing.assert_array_equal(ours.coef_, plain.coef_)
    np.testing.assert_array_equal(ours.intercept_, plain.intercept_)
    np.testing.assert_array_equal(ours.decision_function(X), plain.decision_function(X))
    for name in ("visit", "index", "score", "step", "machine"):
        np.testing.assert_array_equal(getattr(ours.trace_, name), getattr(plain.trace_, name))
    for name in ("stop_reason_", "n_iter_", "converged_"):
        assert getattr(ours, name) == getattr(plain, name)
    assert ours.trace_.radius == plain.trace_.radius


@pytest.mark.parametrize("kernel", ["rbf", Polynomial(2, 1)], ids=repr)
@pytest.mark.parametrize("order", ORDERS)
def test_xor_is_solved(kernel, order):
    X, y = rb.datasets.load_xor()
    clf = rb.KernelPerceptron(kernel, order=order).fit(X, y)
    assert clf.score(X, y) == 1.0
    assert (clf.converged_, clf.stop_reason_) == (True, "separated")


def test_rows_without_weight_in_the_end_are_no_support():
    # One row pulls both ways: corrected and corrected back, its coefficient is zero.
    X, y = np.array([[1.0], [1.0], [2.0]]), np.array([1, 0, 1])
    clf = trained(X, y, Linear(), order=[[0, 1, 2, 0]])
    held = by_row(clf, 3)
    assert (clf.dual_coef_ != 0).any(axis=0).all()
    assert len(clf.support_) == np.count_nonzero(held.any(axis=0))
