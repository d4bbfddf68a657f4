"""Descent on all rows at once: the textbook's steps, and its theorems on the perceptron criterion."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError, TrainingOverflowError
from rosenblatt.geometry import perceptron_criterion
from tests.oracles import family
from tests.shared.examples import examples
from tests.shared.strategies import noisy, problems, quietly

CRITERION = {"loss": "perceptron", "margin": 0, "penalty": None, "learning_rate": "constant", "solver": "batch"}


def descended(X, y, steps, **own):
    given = {"tol": 0.0, "n_iter_no_change": 10**6, "max_iter": steps}
    return quietly(rb.SoftMarginClassifier(**CRITERION | given | own).fit, X, y)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@settings(max_examples=examples(30))
@given(problem=problems(), steps=st.integers(1, 6))
def test_the_steps_are_those_of_the_textbook(average, layout, problem, steps):
    X, y = problem.X, problem.y
    n = len(y)
    X, y = np.round(X[: n - n % 2 or n]), y[: n - n % 2 or n]
    if len(set(y.tolist())) < 2:
        return
    eta = Fraction(len(y))  # so that a step is the sum over the rows
    clf = descended(layout(X), y, steps, eta0=len(y), average=average)
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    true = family.descend_batch(
        rows, y.tolist(), clf.n_iter_, lambda t: 1 if t >= 0 else 0, Fraction(0), lambda t: eta
    )
    w, b = true[2:] if average else true[:2]
    np.testing.assert_array_equal(clf.coef_[0], np.array([float(each) for each in w]))
    assert clf.intercept_[0] == float(b)


@pytest.mark.parametrize("rate", ["constant", "invscaling", "optimal"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "perceptron"])
def test_every_loss_and_rate_is_the_reference(loss, rate):
    X, y = noisy(30, 3, seed=2)
    alpha, eta0 = 0.05, 0.3
    clf = quietly(
        rb.SoftMarginClassifier(
            loss,
            alpha=alpha,
            solver="batch",
            learning_rate=rate,
            eta0=eta0,
            max_iter=7,
            tol=0,
            n_iter_no_change=99,
        ).fit,
        X,
        y,
    )
    typical = np.sqrt(1 / np.sqrt(alpha))
    steepest = 2.0 * (1.0 + typical) if loss == "squared_hinge" else 1.0
    start = steepest / (typical * alpha)
    sizes = {
        "constant": lambda t: eta0,
        "invscaling": lambda t: eta0 / t**0.5,
        "optimal": lambda t: 1 / (alpha * (start + t - 1)),
    }
    slope = (lambda t: 2 * t if t > 0 else 0) if loss == "squared_hinge" else (lambda t: 1 if t > 0 else 0)
    w, b, *_ = family.descend_batch(X.tolist(), y.tolist(), 7, slope, 1.0, sizes[rate], l2=alpha)
    np.testing.assert_allclose(clf.coef_[0], w, rtol=1e-9)
    assert clf.intercept_[0] == pytest.approx(b, rel=1e-9)
    assert clf.t_ == 7 * 30


def falls(t):
    return 0.3 / t**0.5


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("solver", ["sgd", "batch"])
def test_a_function_of_the_step_makes_the_bits_of_the_schedule_by_name(solver, average):
    X, y = noisy(40, 3, seed=4)
    labels = np.where(X[:, 0] > 0.5, "third", y.astype(str))  # three hyperplanes, each of which begins with t = 1
    own = {"solver": solver, "alpha": 0.05, "max_iter": 6, "tol": 0.0, "average": average}
    named = quietly(
        rb.SoftMarginClassifier("logistic", learning_rate="invscaling", eta0=0.3, **own).fit, X, labels
    )
    given = clone(rb.SoftMarginClassifier("logistic", learning_rate=falls, **own))
    again = pickle.loads(pickle.dumps(quietly(given.fit, X, labels)))
    for model in (given, again):
        assert model.coef_.tobytes() == named.coef_.tobytes()
        assert model.intercept_.tobytes() == named.intercept_.tobytes()


@pytest.mark.parametrize(("solver", "steps"), [("sgd", 3 * 40), ("batch", 3)])
def test_a_function_is_asked_for_each_step_from_1_on(solver, steps):
    X, y = noisy(40, 3, seed=4)
    asked = []
    model = rb.SoftMarginClassifier(
        solver=solver, learning_rate=lambda t: asked.append(t) or 0.1, max_iter=3, tol=0.0, warm_start=True
    )
    for _ in range(2):
        quietly(model.fit, X, y)
        assert asked == list(range(1, steps + 1))
        asked.clear()


@pytest.mark.parametrize("value", [-1.0, 0, np.nan, np.inf, None, "1", True])
@pytest.mark.parametrize("solver", ["sgd", "batch"])
def test_a_function_that_returns_no_step_size_is_an_error_that_names_the_step(solver, value):
    X, y = noisy(40, 3, seed=4)
    model = rb.SoftMarginClassifier(solver=solver, learning_rate=lambda t: 0.1, max_iter=1, tol=0.0)
    before = quietly(model.fit, X, y).coef_.tobytes()
    model.set_params(learning_rate=lambda t: value if t == 2 else 0.1, max_iter=3)
    with pytest.raises(ParameterError, match=r"learning_rate\(2\)=.* must be a finite number above 0"):
        model.fit(X, y)
    assert model.coef_.tobytes() == before


def test_a_function_is_for_descents_and_for_no_model_file(tmp_path):
    X, y = noisy(40, 3, seed=4)
    with pytest.raises(ParameterError, match="solver='sgd' or 'batch', but solver='auto' takes its own"):
        rb.SoftMarginClassifier(learning_rate=falls).fit(X, y)
    model = quietly(rb.SoftMarginClassifier(solver="sgd", learning_rate=falls).fit, X, y)
    with pytest.raises(ParameterError, match=r"set_params\(learning_rate='optimal'\), which changes no weight"):
        rb.save(model, tmp_path / "m")
    rb.save(model.set_params(learning_rate="optimal"), tmp_path / "m")
    assert rb.load(tmp_path / "m").coef_.tobytes() == model.coef_.tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_separable_rows_are_separated_within_n_times_the_bound_of_the_perceptron(seed):
    """Σ k_t ≤ n C²/γ² for k_t mistakes at step t: <w, w*> gains k_t γ, and ‖w‖² at most k_t² C² ≤ n k_t C²."""
    X, y = rb.datasets.make_separable(40, 3, margin=0.1, seed=seed)
    clf = descended(X, y, 100_000, eta0=40.0)
    assert (clf.stop_reason_, clf.converged_, clf.objective_) == ("tol", True, 0.0)
    assert clf.score(X, y) == 1.0
    w, b, total = np.zeros(3), 0.0, 0
    for _ in range(clf.n_iter_):
        now = perceptron_criterion(X, y, w, b)
        total += int((y * (X @ w + b) <= 0.0).sum())
        w, b = w - now.w, b - now.b
    np.testing.assert_allclose(clf.coef_[0], w, rtol=1e-9, atol=1e-9)
    assert perceptron_criterion(X, y, w, b).value == 0.0
    assert total <= 40 * rb.bounds(X, y)["padded"].value


def test_the_average_has_the_loss_that_the_theorem_allows():
    """From zero, L(mean of w_t) ≤ η G²/2 for constant steps η and subgradients of length ≤ G, on any rows."""
    X, y = noisy(60, 3, seed=1)
    y = np.where(np.arange(60) % 4 == 0, -y, y)
    eta, longest = 0.5, np.sqrt((X**2).sum(axis=1) + 1.0).max()
    clf = descended(X, y, 64, eta0=eta, average=True)
    states = [
        family.descend_batch(X.tolist(), y.tolist(), t, lambda t: 1 if t >= 0 else 0, 0.0, lambda t: eta)[:2]
        for t in range(1, 64)
    ]
    w = np.sum([each[0] for each in states], axis=0) / 64  # with the start, w_0 = 0, and without the last
    b = sum(each[1] for each in states) / 64
    assert perceptron_criterion(X, y, w, b).value / 60 <= eta * longest**2 / 2
    assert clf.objective_ <= eta * longest**2


def test_a_tie_does_not_end_it():
    X, y = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0]]), [1, 0, 1]
    clf = descended(X, y, 100, eta0=3.0, fit_intercept=False)
    assert (clf.stop_reason_, clf.score(X, y)) == ("tol", 1.0)
    with pytest.warns(ConvergenceWarning, match="With margin=0 the least objective is 0"):
        rb.SoftMarginClassifier(**CRITERION, max_iter=50).fit([[0.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0])


def test_weights_that_return_to_zero_do_not_end_it():
    X, y = rb.datasets.load_xor()
    for solver in ("sgd", "batch"):  # row by row in this order every pass ends at zero, where nothing has a loss
        given = {"solver": solver, "shuffle": False, "eta0": 1.0, "max_iter": 8, "n_iter_no_change": 99}
        with pytest.warns(ConvergenceWarning, match="With margin=0"):
            clf = rb.SoftMarginClassifier(**CRITERION | given).fit(X, y)
        assert (clf.stop_reason_, clf.converged_) == ("max_iter", False)


def test_it_goes_on_where_it_stopped():
    X, y = noisy(40, 3, seed=3)
    whole = descended(X, y, 8, eta0=1.0)
    part = descended(X, y, 3, eta0=1.0, warm_start=True)
    part = quietly(part.set_params(max_iter=5).fit, X, y)
    assert part.coef_.tobytes() == whole.coef_.tobytes()
    assert part.t_ == whole.t_ == 8 * 40


def test_l1_sets_weights_to_zero_and_long_steps_overflow():
    X, y = noisy(40, 6, seed=3)
    options = {"penalty": "l1", "alpha": 0.5, "solver": "batch", "learning_rate": "constant", "eta0": 0.1}
    clf = quietly(rb.SoftMarginClassifier(**options, tol=1e-9).fit, X, y)
    best = rb.SoftMarginClassifier(penalty="l1", alpha=0.5).fit(X, y)
    assert 0 < np.count_nonzero(clf.coef_) < 6
    assert best.objective_ - best.gap_ <= clf.objective_ <= 1.2 * best.objective_
    wild = rb.SoftMarginClassifier(
        "squared_hinge", penalty=None, solver="batch", learning_rate="constant", eta0=1e200
    )
    with pytest.raises(TrainingOverflowError, match="too long"):
        wild.fit(X, y)
