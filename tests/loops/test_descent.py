"""Stochastic descent: the loop is the textbook's, in every layout, and scikit-learn's where both mean the same."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

import rosenblatt as rb
from rosenblatt.loops.descent import (
    Constant,
    Hinge,
    InverseScaling,
    Regularisation,
    SquaredHinge,
    Weights,
    descend,
)
from rosenblatt.rows.batch import as_batch
from tests.oracles import family
from tests.shared.examples import examples
from tests.shared.strategies import exact, noisy, problems, quietly

SAME = [
    (loss, rate)
    for loss in ("hinge", "logistic", "squared_hinge")
    for rate in ("constant", "invscaling", "optimal")
    # Of this one scikit-learn takes the first slope with its sign, and so never divides the first step by it.
    if (loss, rate) != ("squared_hinge", "optimal")
]
SLOPES = {Hinge: lambda t: 1 if t > 0 else 0, SquaredHinge: lambda t: 2 * t if t > 0 else 0}


def run(X, pull, order, loss, schedule, penalty, *, average=False):
    features = as_batch(X, [0, 1] * (X.shape[0] // 2) + [0] * (X.shape[0] % 2))
    weights = Weights.begin(np.zeros(X.shape[1] + 1), average=average)
    _, visits = descend(features.rows, pull, np.array(order), loss, schedule, penalty, weights, 0)
    assert visits == len(order)
    return weights


@settings(max_examples=examples(50))
@given(
    problem=problems(),
    order=st.lists(st.integers(0, 7), min_size=1, max_size=20),
    weight=st.lists(st.sampled_from([0.25, 1.0, 2.0]), min_size=8, max_size=8),
    loss=st.sampled_from([Hinge(1.0), Hinge(0.25), SquaredHinge(1.0)]),
    bias=st.sampled_from([0.0, 1.0]),
    inverse=st.booleans(),
)
def test_the_loop_is_the_textbook_on_exact_numbers(problem, order, weight, loss, bias, inverse):
    n = len(problem.y)
    order = [i % n for i in order][: 20 if isinstance(loss, Hinge) else 6]  # squares use up digits
    pull = problem.y * np.array(weight[:n])
    eta = Fraction(1, 4)
    schedule = InverseScaling(0.25, 0.0) if inverse else Constant(0.25)
    w, b, average_w, average_b = family.descend(
        exact(problem.X),
        exact(pull),
        order,
        SLOPES[type(loss)],
        Fraction(loss.margin),
        lambda t: eta,
        0,
        int(bias),
    )
    for X in (problem.X, sp.csr_array(problem.X), problem.X.astype(np.float32)):
        weights = run(X, pull, order, loss, schedule, Regularisation(0.0, 0.0, bias), average=True)
        assert weights.v.tolist() == [float(each) for each in (*w, b)]
        averaged = weights.total / len(order)
        assert averaged == pytest.approx(np.array([*average_w, average_b], float), rel=1e-12, abs=1e-12)


@settings(max_examples=30)
@given(
    problem=problems(), order=st.lists(st.integers(0, 7), min_size=1, max_size=30), l2=st.sampled_from([2.0, 4.0])
)
def test_shrinking_and_averaging_are_the_textbook_s(problem, order, l2):
    """With η = ¼ each visit halves the weights, or if l2 = 4 leaves nothing of them, which no scale can say."""
    order = [i % len(problem.y) for i in order]
    pull = problem.y.astype(float)
    w, b, average_w, average_b = family.descend(
        exact(problem.X), exact(pull), order, SLOPES[Hinge], Fraction(1), lambda t: Fraction(1, 4), Fraction(l2)
    )
    weights = run(problem.X, pull, order, Hinge(), Constant(0.25), Regularisation(0.0, l2, 1.0), average=True)
    assert weights.v == pytest.approx(np.array([*w, b], float), rel=1e-9, abs=1e-9)
    averaged = weights.total / len(order)
    assert averaged == pytest.approx(np.array([*average_w, average_b], float), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("l1", [0.0, 0.03])
def test_sparse_rows_take_the_same_steps(l1, average):
    X, y = noisy(60, 8, seed=1)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0
    order = np.random.default_rng(1).integers(0, 60, 300).tolist()
    found = [
        run(each, y.astype(float), order, Hinge(), Constant(0.1), Regularisation(l1, 0.1, 1.0), average=average)
        for each in (X, sp.csr_array(X))
    ]
    assert found[0].v == pytest.approx(found[1].v, rel=1e-9, abs=1e-12)
    assert found[0].total == pytest.approx(found[1].total, rel=1e-9, abs=1e-12)
    assert (found[0].v[:-1] == 0).any() == (l1 > 0)


def test_the_average_of_an_l1_run_is_that_of_its_hypotheses():
    X, y = noisy(20, 4, seed=2)
    penalty = Regularisation(0.05, 0.1, 1.0)
    order = list(range(20)) * 2
    one_by_one = Weights.begin(np.zeros(5), average=False)
    rows, total = as_batch(X, y).rows, np.zeros(5)
    for i in order:
        descend(rows, y.astype(float), np.array([i]), Hinge(), Constant(0.1), penalty, one_by_one, 0)
        total += one_by_one.v
    together = run(X, y.astype(float), order, Hinge(), Constant(0.1), penalty, average=True)
    assert together.v == pytest.approx(one_by_one.v)
    assert together.total == pytest.approx(total)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
@pytest.mark.parametrize(("loss", "rate"), SAME)
def test_it_is_scikit_learn_s_where_both_mean_the_same(loss, rate, penalty):
    """On dense rows without zeros, in order. For sparse rows scikit-learn takes other steps of the bias."""
    X, y = noisy(80, 5, seed=3)
    X *= 0.3  # the first steps of "optimal" are long
    given = {"penalty": penalty, "alpha": 0.01, "learning_rate": rate, "eta0": 0.05, "max_iter": 3, "tol": 0.0}
    ours = quietly(rb.SoftMarginClassifier(loss, solver="sgd", shuffle=False, power_t=0.5, **given).fit, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        name = {"logistic": "log_loss"}.get(loss, loss)
        theirs = SGDClassifier(loss=name, shuffle=False, power_t=0.5, **given | {"tol": None}).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, rel=1e-9, abs=1e-12)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-9, abs=1e-12)
