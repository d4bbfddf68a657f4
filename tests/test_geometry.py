"""The identities of the hyperplane, for random ones and by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from rosenblatt.datasets import load_six_points, make_separable
from rosenblatt.exceptions import DataTypeError, LabelError, NonFiniteError, ParameterError, ShapeError
from rosenblatt.geometry import (
    decision,
    functional_margin,
    geometric_margin,
    normalise,
    perceptron_criterion,
    project,
    signed_distance,
)

numbers = st.floats(-100, 100).map(lambda v: round(v, 3))


@st.composite
def problems(draw):
    """Rows, labels and a hyperplane."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    X = draw(arrays(float, (n, d), elements=numbers))
    y = draw(arrays(int, n, elements=st.sampled_from([-1, 1])))
    w = draw(arrays(float, d, elements=numbers))
    assume(np.abs(w).max() > 0.01)
    return X, y, w, draw(numbers)


@given(problems())
def test_a_point_is_its_projection_and_its_distance_along_w(problem):
    X, _, w, b = problem
    r, P = signed_distance(X, w, b), project(X, w, b)
    scale = 1 + np.abs(X).max() + np.abs(r).max()
    assert_allclose(P + r[:, None] * w / np.linalg.norm(w), X, atol=1e-12 * scale)
    assert_allclose(signed_distance(P, w, b), 0, atol=1e-12 * scale)  # P lies in D
    assert_allclose(np.linalg.norm(X - P, axis=1), np.abs(r), atol=1e-12 * scale)
    assert_allclose(decision(X, w, b), r * np.linalg.norm(w), rtol=1e-12, atol=1e-10 * scale)


@given(problems(), st.integers(0, 2**32))
def test_no_point_of_the_hyperplane_is_nearer_and_w_is_normal_to_it(problem, seed):
    X, _, w, b = problem
    D = project(np.random.default_rng(seed).normal(0, 50, (40, w.size)), w, b)
    r = np.abs(signed_distance(X, w, b))
    scale = 1 + np.abs(D).max() + np.abs(X).max()
    assert (np.linalg.norm(X[:, None] - D, axis=2) >= r[:, None] - 1e-12 * scale).all()
    unit, _ = normalise(w)
    assert_allclose((D[1:] - D[0]) @ unit, 0, atol=1e-11 * scale)


@given(problems(), st.floats(1e-3, 1e3))
def test_a_multiple_is_the_same_hyperplane_and_a_negative_one_swaps_the_sides(problem, alpha):
    X, y, w, b = problem
    r, scale = signed_distance(X, w, b), 1e-12 * (1 + np.abs(X).max() + abs(b) / np.abs(w).max())
    assert_allclose(signed_distance(X, alpha * w, alpha * b), r, atol=scale)
    assert_allclose(signed_distance(X, -alpha * w, -alpha * b), -r, atol=scale)
    assert_allclose(project(X, -alpha * w, -alpha * b), project(X, w, b), atol=2 * scale)
    assert_allclose(
        functional_margin(X, y, alpha * w, alpha * b), alpha * functional_margin(X, y, w, b), 1e-9, 1e-7
    )
    assert_allclose(geometric_margin(X, y, alpha * w, alpha * b), y * r, atol=scale)


@given(problems())
def test_distance_of_the_origin(problem):
    _, _, w, b = problem
    assert_allclose(signed_distance(np.zeros(w.size), w, b), b / np.linalg.norm(w), rtol=1e-14)
    assert_allclose(normalise(w, b)[1], b / np.linalg.norm(w), rtol=1e-14)


@given(problems())
def test_f_changes_by_at_most_the_length_of_w_times_the_distance(problem):
    X, _, w, b = problem
    f = decision(X, w, b)
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    assert (np.abs(f[:, None] - f) <= np.linalg.norm(w) * apart * (1 + 1e-12) + 1e-9).all()


@given(problems())
def test_margins(problem):
    X, y, w, b = problem
    assert_array_equal(functional_margin(X, y, w, b), y * decision(X, w, b))
    assert_array_equal(geometric_margin(X, y, w, b), y * signed_distance(X, w, b))
    unit, bias = normalise(w, b)
    assert_allclose(np.linalg.norm(unit), 1, rtol=1e-15)
    scale = 1e-12 * (1 + np.abs(X).max() + abs(bias))
    assert_allclose(functional_margin(X, y, unit, bias), geometric_margin(X, y, w, b), atol=scale)


@given(problems())
def test_the_distance_has_the_sign_of_the_decision(problem):
    X, _, w, b = problem
    assert_array_equal(np.sign(signed_distance(X, w, b)), np.sign(decision(X, w, b)))


@given(problems())
def test_one_row_and_sparse_rows_are_the_same(problem):
    X, y, w, b = problem
    S = sparse.csr_array(X)
    assert_allclose(decision(S, w, b), decision(X, w, b), rtol=1e-12, atol=1e-9)
    assert_allclose(signed_distance(S, w, b), signed_distance(X, w, b), rtol=1e-12, atol=1e-9)
    assert_allclose(geometric_margin(S, y, w, b), geometric_margin(X, y, w, b), rtol=1e-12, atol=1e-9)
    assert_allclose(signed_distance(X[0], w, b), signed_distance(X, w, b)[0], rtol=1e-12, atol=1e-9)
    assert_allclose(functional_margin(X[0], y[0], w, b), functional_margin(X, y, w, b)[0], rtol=1e-12, atol=1e-9)
    assert np.ndim(decision(X[0], w, b)) == 0
    assert project(X[0], w, b).shape == w.shape


def test_the_six_points_by_hand():
    X, y = load_six_points()
    w, b = [0.5, 1.0], 0.2
    f = [0.45, 1.7, 0.2, -1.8, -0.8, -2.8]
    assert_allclose(decision(X, w, b), f, rtol=1e-14)
    assert_allclose(functional_margin(X, y, w, b), np.abs(f), rtol=1e-14)
    assert_allclose(geometric_margin(X, y, w, b).min(), 0.2 / np.sqrt(1.25), rtol=1e-14)
    assert_allclose(project([0, 0], w, b), [-0.08, -0.16], rtol=1e-14)


def test_integers_by_hand():
    assert signed_distance([3, 4], [3, 4], 0) == 5
    assert signed_distance([0, 0], [3, 4], -10) == -2
    assert project([3, 4], [0, 2], -2).tolist() == [3, 1]
    assert normalise([0, -8], 4)[1] == 0.5
    assert signed_distance([1, -1], [7, 7]) == 0  # on the line exactly, whatever ‖w‖ rounds to


def test_the_margin_of_a_separable_set():
    data = make_separable(60, 9, margin=0.125, seed=0)
    assert geometric_margin(data.X, data.y, 3 * data.w).min() == 0.125


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e300, 1e-300, 5e-324])
def test_huge_and_tiny_normals(size):
    w = np.array([1.0, 1.0, 1.0, 1.0]) * size
    assert_allclose(normalise(w)[0], 0.5, rtol=1e-15)
    assert_allclose(signed_distance([1, 1, 1, 1], w, 2 * size), 3, rtol=1e-15)
    assert_allclose(geometric_margin([[1, 1, 1, 1]], [-1], w, 2 * size), -3, rtol=1e-15)
    assert_allclose(project([1, 1, 1, 1], w, -4 * size), 1, rtol=1e-15)


X, y, w = np.ones((3, 2)), np.ones(3), np.ones(2)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: signed_distance(X, [0, 0]), ParameterError, "w is zero"),
        (lambda: project(X, [0, 0]), ParameterError, "no hyperplane"),
        (lambda: normalise([], 1), ParameterError, "w is zero"),
        (lambda: normalise([1, np.inf]), NonFiniteError, r"w\[1\] is inf"),
        (lambda: normalise([1, np.nan]), NonFiniteError, r"w\[1\] is nan"),
        (lambda: signed_distance([[1, 1]], [3, 4], np.nan), NonFiniteError, "b is nan"),
        (lambda: decision([[1, 1], [np.nan, 1]], [3, 4]), NonFiniteError, r"X\[1, 0\] is nan.*drop their rows"),
        (lambda: geometric_margin([1, np.inf], 1, [3, 4]), NonFiniteError, r"X\[1\] is inf"),
        (lambda: project([1, np.nan], [3, 4]), NonFiniteError, r"X\[1\] is nan"),
        (lambda: decision(sparse.csr_array([[1, np.nan]]), [3, 4]), NonFiniteError, "X contains NaN"),
        (lambda: decision([1, 1], [3, 4], [1, 2]), ShapeError, r"b has shape \(2,\)"),
        (lambda: decision(X, [1, 2, 3]), ShapeError, "2 features but w has 3"),
        (lambda: decision([1, 2], [1, 2, 3]), ShapeError, "2 features but w has 3"),
        (lambda: decision(np.ones((1, 2, 2)), w), ShapeError, "3 dimensions"),
        (lambda: decision(4, w), ShapeError, "0 dimensions"),
        (lambda: decision(X, [w]), ShapeError, "coef_"),
        (lambda: functional_margin(X, [1, -1], w), ShapeError, r"\(2,\).*3 rows"),
        (lambda: functional_margin(X[0], [1, -1], w), ShapeError, r"\(2,\).*one row"),
        (lambda: functional_margin(X, 1, w), ShapeError, "3 rows"),
        (lambda: functional_margin(X, [0, 1, 1], w), LabelError, "contains 0: encode"),
        (lambda: geometric_margin(X, ["a", "b", "a"], w), LabelError, "'a'.*np.where"),
        (lambda: geometric_margin(X[0], 2, w), LabelError, "contains 2"),
        (lambda: project(sparse.csr_array(X), w), DataTypeError, "sparse.*toarray"),
    ],
)
def test_errors_explain_themselves(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_zero_normal_still_decides():
    assert decision(X, [0, 0], 3).tolist() == [3, 3, 3]


def test_sparse_matrices_of_the_old_kind():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = sparse.csr_matrix(X)
    assert signed_distance(old, [3, 4]).tolist() == [1.4, 1.4, 1.4]


@given(problems())
def test_the_criterion_is_the_sum_of_the_mistakes_and_its_subgradient_is_below_it(problem):
    X, y, w, b = problem
    here = perceptron_criterion(X, y, w, b)
    z = functional_margin(X, y, w, b)
    assert here.value == pytest.approx(-z[z < 0].sum())
    wrong = z <= 0
    assert_allclose(here.w, -(y[wrong] @ X[wrong]), atol=1e-9)
    assert here.b == -y[wrong].sum()
    # A subgradient: no point of a convex function is below the plane that it spans.
    for v, c in ((np.zeros(w.size), 0.0), (-w, b), (w + 1.0, b - 3.0)):
        there = perceptron_criterion(X, y, v, c).value
        assert there >= here.value + here.w @ (v - w) + here.b * (c - b) - 1e-6
    assert_array_equal(perceptron_criterion(sparse.csr_array(X), y, w, b).w, here.w)


def test_a_step_against_the_criterion_of_one_row_is_the_perceptrons_update():
    X, y = load_six_points()
    w, b, eta = np.array([1.0, 0.5]), 0.0, 0.2
    for i in [4, 2, 0]:
        step = perceptron_criterion(X[i], y[i], w, b)
        w, b = w - eta * step.w, b - eta * step.b
    assert_allclose([*w, b], [0.5, 1.0, 0.2])
    assert perceptron_criterion(X, y, w, b).value == 0.0
    assert perceptron_criterion([1.0], 1, [0.0]).w.tolist() == [-1.0]  # a tie is a mistake
