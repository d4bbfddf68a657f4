"""Lifting: the reference's run exactly, and the theorem that it ends, within its bound."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.estimators import lifted
from rosenblatt.loops import reference
from rosenblatt.margins import softest as soft_margin
from tests.oracles import family
from tests.shared.examples import examples, slowly
from tests.shared.relatives import LAYOUTS, interrupt_at, laid_out
from tests.shared.strategies import exact, exact_rule, noisy, problems, quietly

BIASES = {"unit": 1.0, None: 0.0, 4.0: 4.0}
ROUNDING = 1 + 1e-9


def margin_of_lemma(X, y, a, w, gamma):
    """Return γ' for a unit vector w* and γ, as the lemma states it."""
    w = w / np.linalg.norm(w)
    short = np.maximum(0.0, gamma - y * (X @ w))
    return a * gamma / sqrt(1 + a * a / (1 - a * a) * np.sum(short**2))


def padded(X, bias):
    return np.column_stack([X, np.full(len(X), sqrt(BIASES[bias]))])


@settings(max_examples=examples(300))
@given(
    problems(most_rows=9),
    st.sampled_from([0.25, 0.5, 0.75]),
    st.sampled_from(list(BIASES)),
    LAYOUTS,
    st.sampled_from(["cyclic", "array"]),
)
def test_every_mistake_is_the_references(problem, a, bias, layout, kind):
    """a² is dyadic, so that both are exact."""
    X, y = problem
    one = list(range(len(y)))
    if kind == "array":
        one = one[::-1] + one[:2]
    clf = rb.LiftedPerceptron(a=a, bias=bias, order="cyclic" if kind == "cyclic" else one).fit(
        laid_out(X, layout), y
    )
    square, beta = Fraction(a) ** 2, Fraction(BIASES[bias])
    expected = family.train_lifted(exact(X), y.tolist(), one * clf.n_iter_, square, beta)
    assert clf.trace_.visit.tolist() == [m.visit for m in expected.mistakes]
    assert clf.trace_.index.tolist() == [m.index for m in expected.mistakes]
    assert clf.trace_.score.tolist() == [m.score for m in expected.mistakes]
    assert [*clf.coef_[0], clf.intercept_[0]] == [*expected.w, expected.b]
    assert clf.lift_.tolist() == expected.v
    again = clf.trace_.replay(laid_out(X, layout), y)
    assert (again.coef.tolist(), again.intercept) == (expected.w, expected.b)


@given(problems())
def test_the_lifted_score_is_that_of_lifted_rows(problem):
    """With a = 3/5 the root is rational: rows can be lifted in full, and the plain perceptron trained on them."""
    X, y = exact(problem.X), problem.y.tolist()
    n, a, rest = len(X), Fraction(3, 5), Fraction(4, 5)
    rows = [[a * value for value in [*x, 1]] + [rest * (i == j) for j in range(n)] for i, x in enumerate(X)]
    order = list(range(n)) * 20
    plain = reference.train(rows, y, order, exact_rule(beta=0))
    lifted = family.train_lifted(X, y, order, a * a)
    assert [(m.visit, m.index) for m in plain.mistakes] == [(m.visit, m.index) for m in lifted.mistakes]
    assert [w / a for w in plain.w[: -n - 1]] == lifted.w
    assert [w / rest for w in plain.w[-n:]] == lifted.v


@settings(max_examples=examples(400))
@given(
    st.data(), problems(most_rows=12), st.sampled_from([0.1, 0.5, 0.6, 0.9, 0.99]), st.sampled_from(list(BIASES))
)
def test_it_always_ends_within_the_bound(data, problem, a, bias):
    X, y = problem
    clf = rb.LiftedPerceptron(a=a, bias=bias, random_state=data.draw(st.integers(0, 9))).fit(X, y)
    assert (clf.stop_reason_, clf.converged_) == ("separated", True)
    assert clf.n_mistakes_ <= clf.mistake_bound_ * ROUNDING
    assert 0.0 < clf.lifted_margin_ <= clf.lemma_margin_ * ROUNDING
    # No choice of w* and γ promises more than the best one that was found.
    w = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=4, max_size=4)), float)[: X.shape[1]]
    w = np.append(w, data.draw(st.integers(-3, 3)))
    gamma = data.draw(st.sampled_from([0.1, 1.0, 3.0]))
    if w.any():
        assert margin_of_lemma(padded(X, bias), y, a, w, gamma) <= clf.lemma_margin_ * (1 + 1e-6)
    R = np.linalg.norm(padded(X, bias), axis=1).max()
    bound = (a**2 * R**2 + 1 - a**2) / clf.lemma_margin_**2
    assert clf.mistake_bound_ == pytest.approx(bound)


@pytest.mark.parametrize("seed", [*range(20), *slowly(*range(20, 200))])
def test_sets_that_do_not_separate_end_within_the_bound(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 80)), int(rng.integers(1, 6))
    X, y = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1), rng.choice([-1, 1], size=n)
    y[:2] = -1, 1
    clf = rb.LiftedPerceptron(a=float(rng.uniform(0.05, 0.95))).fit(X, y)
    assert clf.converged_
    assert clf.n_mistakes_ <= clf.mistake_bound_ * ROUNDING
    v = np.append(clf.coef_[0], clf.intercept_[0])
    lifted = clf.a**2 * (X @ v[:-1] + v[-1]) + (1 - clf.a**2) * clf.lift_
    norm = sqrt(clf.a**2 * (v @ v) + (1 - clf.a**2) * (clf.lift_ @ clf.lift_))
    assert clf.lifted_margin_ == pytest.approx((y * lifted).min() / norm)
    assert 0.0 < clf.lifted_margin_ <= clf.lemma_margin_ * ROUNDING


def test_rows_that_contradict_each_other_are_told_apart_by_their_own_coordinates():
    X, y = np.zeros((6, 2)), np.array([1, -1, 1, -1, 1, -1])
    clf = rb.LiftedPerceptron(bias=None).fit(X, y)
    assert clf.converged_
    assert clf.n_mistakes_ == 6
    assert clf.lift_.tolist() == y.tolist()
    assert clf.lemma_margin_ == pytest.approx(sqrt(0.75 / 6))


def test_the_first_coordinates_predict():
    X, y = noisy(200, 4, flip=0.2)
    clf = rb.LiftedPerceptron().fit(X, y)
    assert (clf.n_mistakes_, clf.t_) == (clf.mistakes_per_pass_.sum(), 200 * clf.n_iter_)
    assert 0.7 < clf.score(X, y) < 1.0
    assert clf.predict(X).tolist() == np.where(X @ clf.coef_[0] + clf.intercept_ > 0, 1, -1).tolist()


def test_limits_are_limits():
    X, y = noisy(200, 4, flip=0.2)
    clf = quietly(rb.LiftedPerceptron(max_iter=2).fit, X, y)
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_) == ("max_iter", False, 2)
    assert clf.lifted_margin_ <= 0
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        rb.LiftedPerceptron(max_iter=2).fit(X, y)


def test_features_too_large_to_end_on_meet_a_limit():
    X = np.random.default_rng(0).normal(size=(200, 10)) * 1e6
    y = np.arange(200) % 2
    assert rb.LiftedPerceptron().max_iter is not None
    with pytest.warns(
        ConvergenceWarning, match=r"the lifted rows.* Scale the features down, or raise max_iter; the bound"
    ):
        clf = rb.LiftedPerceptron(max_iter=300).fit(X, y)
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_) == ("max_iter", False, 300)
    with pytest.warns(ConvergenceWarning, match="or raise max_time; the bound"):
        rb.LiftedPerceptron(max_iter=None, max_time=0.01).fit(X, y)


@pytest.mark.parametrize("moment", range(11, 40, 3))
def test_an_interrupt_leaves_the_last_completed_pass(monkeypatch, moment):
    X, y = noisy(100, 4, flip=0.2)
    interrupt_at(monkeypatch, moment)
    clf = rb.LiftedPerceptron()
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    monkeypatch.undo()
    assert (clf.stop_reason_, clf.t_) == ("interrupted", 100 * clf.n_iter_)
    whole = quietly(rb.LiftedPerceptron(max_iter=clf.n_iter_).fit, X, y)
    assert clf.coef_.tolist() == whole.coef_.tolist()
    assert clf.lift_.tolist() == whole.lift_.tolist()
    assert clf.lifted_margin_ == whole.lifted_margin_


@pytest.mark.parametrize("where", ["interior", "largest_square"])
def test_an_interrupt_of_the_lemma_leaves_what_was_trained(monkeypatch, where):
    def interrupted(*_):
        raise KeyboardInterrupt

    X, y = noisy(100, 4, flip=0.2)
    whole = rb.LiftedPerceptron().fit(X, y)
    monkeypatch.setattr(lifted if where == "largest_square" else soft_margin, where, interrupted)
    clf = rb.LiftedPerceptron()
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert (clf.stop_reason_, clf.coef_.tolist()) == ("separated", whole.coef_.tolist())
    assert 0.0 <= clf.lemma_margin_ < whole.lemma_margin_
    assert clf.mistake_bound_ > whole.mistake_bound_


def test_the_lemma_takes_no_more_time_than_is_left():
    X, y = noisy(100, 4, flip=0.2)
    clf = quietly(rb.LiftedPerceptron(max_time=1e-9).fit, X, y)
    assert clf.stop_reason_ == "max_time"
    assert clf.lemma_margin_ == pytest.approx(sqrt(0.75 / 100))  # that of v = 0


def test_more_than_two_classes_are_refused():
    with pytest.raises(rb.exceptions.LabelError, match="3 classes"):
        rb.LiftedPerceptron().fit(np.eye(3), [0, 1, 2])
    assert not hasattr(rb.LiftedPerceptron(), "partial_fit")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a", 0),
        ("a", 1),
        ("a", 1.5),
        ("a", -0.5),
        ("a", 1e-200),
        ("a", np.nan),
        ("a", "half"),
        ("max_iter", 0),
        ("max_iter", 2.5),
        ("bias", "wide"),
        ("zero", 0),
        ("order", "random"),
        ("order", [0, 1, 2]),
        ("order", [[0, 1], [1, 0]]),
        ("order", lambda epoch: [0]),
        ("max_time", 0),
    ],
)
def test_values_a_parameter_cannot_take(name, value):
    X, y = noisy(20, 2)
    clf = rb.LiftedPerceptron(**{name: value})
    with pytest.raises(rb.exceptions.InputError, match=name):
        clf.fit(X, y)
    assert not clf.__sklearn_is_fitted__()


def test_rows_that_are_not_finite():
    X, y = noisy(20, 2)
    X[7, 1] = np.inf
    with pytest.raises(rb.exceptions.NonFiniteError, match="row 7, column 1"):
        rb.LiftedPerceptron().fit(X, y)
