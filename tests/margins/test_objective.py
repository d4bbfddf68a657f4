"""The lower bound: a true one whatever weights it is made from, and a tight one at the minimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.loops.descent import Hinge, Logistic, SquaredHinge
from rosenblatt.margins.matrix import Matrix
from rosenblatt.margins.objective import Objective
from rosenblatt.rows.batch import as_batch
from tests.shared.margin_oracles import least_objective, objective
from tests.shared.strategies import problems

LOSS = {
    "perceptron": Hinge(0.5),
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
}


def make(problem, loss, l1, l2, *, bias=True):
    batch = as_batch(problem.X, problem.y)
    n = batch.n_rows
    side = "free" if bias else None
    return Objective(
        Matrix(batch, bias=bias), problem.y.astype(float), np.full(n, 1 / n), LOSS[loss], l1, l2, side
    )


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.1), (0.1, 0.0), (0.02, 0.1), (0.0, 0.0)])
@pytest.mark.parametrize("loss", LOSS)
@settings(max_examples=12)
@given(problem=problems(), shares=st.lists(st.floats(0, 1), min_size=8, max_size=8), bias=st.booleans())
def test_no_objective_lies_below_the_bound_of_any_weights(loss, l1, l2, problem, shares, bias):
    p = make(problem, loss, l1, l2, bias=bias)
    alpha = np.array(shares[: len(problem.y)]) * p.cost
    bound = p.lower_bound(alpha, np.ones(p.matrix.width))
    least = least_objective(problem.X, problem.y, loss=loss, l1=l1, l2=l2, margin=0.5, bias=bias)
    assert bound <= least + 1e-8


@pytest.mark.parametrize("loss", LOSS)
@given(problem=problems(), w=st.lists(st.floats(-3, 3), min_size=4, max_size=4))
def test_the_objective_is_the_formula(loss, problem, w):
    p = make(problem, loss, 0.3, 0.7)
    theta = np.array(w[: p.matrix.width])
    expected = objective(problem.X, problem.y, theta[:-1], theta[-1], loss=loss, l1=0.3, l2=0.7, margin=0.5)
    assert p.value(theta, p.shortfall(theta)) == pytest.approx(expected)


def test_a_penalised_bias_is_one_more_weight():
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5]]), np.array([1.0, -1.0])
    batch = as_batch(X, y)
    p = Objective(Matrix(batch, bias=True), y, np.ones(2), SquaredHinge(), l2=2.0, bias="penalised")
    theta = np.array([0.1, 0.2, 0.3])
    padded = np.column_stack([X, np.ones(2)])
    expected = objective(padded, y, theta, 0, loss="squared_hinge", cost=np.ones(2), l2=2.0)
    assert p.value(theta, p.shortfall(theta)) == pytest.approx(expected)
