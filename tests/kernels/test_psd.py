"""Is it a kernel? A no has an exact witness, a yes a bound that holds."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import exceptions
from rosenblatt.kernels import RBF, Polynomial, coordinates, is_psd
from rosenblatt.kernels.psd import negative_direction, quadratic_form, rounding_of_form
from tests.shared.examples import examples

RNG = np.random.default_rng(2)


def form(K, c):
    """Return cᵀKc by the definition."""
    return sum(Fraction(K[i, j]) * c[i] * c[j] for i in range(len(c)) for j in range(len(c)))


def determinant(rows):
    if not rows:
        return 1
    first, rest = rows[0], rows[1:]
    return sum((-1) ** j * a * determinant([r[:j] + r[j + 1 :] for r in rest]) for j, a in enumerate(first))


def semidefinite(K):
    """Say it by the textbook: no principal minor is below zero."""
    n = len(K)
    rows = [[Fraction(value) for value in row] for row in K.tolist()]
    subsets = (which for size in range(1, n + 1) for which in combinations(range(n), size))
    return all(determinant([[rows[i][j] for j in which] for i in which]) >= 0 for which in subsets)


@st.composite
def symmetric(draw, largest=3):
    n = draw(st.integers(1, 4))
    values = draw(st.lists(st.integers(-largest, largest), min_size=n * n, max_size=n * n))
    half = np.array(values, float).reshape(n, n)
    return np.triu(half) + np.triu(half, 1).T


def checked_no(K, found, ulps=Fraction(1, 2)):
    """Require a witness, by the definitions alone."""
    assert found.verdict == "no"
    assert found.form == form(K, found.witness) < 0
    off = sum(
        abs(a) * abs(b) * Fraction(np.spacing(abs(K[i, j])))
        for i, a in enumerate(found.witness)
        for j, b in enumerate(found.witness)
    )
    assert found.rounding == ulps * off
    assert found.form < -found.rounding


@given(K=symmetric())
@settings(max_examples=examples(300))
def test_small_matrices_are_decided_as_the_textbook_does(K):
    found = is_psd(K, ulps=0)
    assert found.verdict == ("yes" if semidefinite(K) else "no")
    if found.verdict == "no":
        checked_no(K, found, Fraction(0))
    else:
        assert found.bound == 0.0


@given(K=symmetric())
@settings(max_examples=examples(100))
def test_a_negative_direction_is_one(K):
    c = negative_direction(K)
    assert (c is None) == semidefinite(K)
    if c is not None:
        assert quadratic_form(K, c) == form(K, c) < 0


def test_rounding_is_that_of_the_entries():
    K = np.array([[1.0, 3.0], [3.0, 0.5]])
    expected = Fraction(np.spacing(1.0)) * 4 + 2 * 6 * Fraction(np.spacing(3.0)) + 9 * Fraction(np.spacing(0.5))
    assert rounding_of_form(K, [2, -3], Fraction(1, 2)) == expected / 2


@pytest.mark.parametrize("n", [5, 60])
def test_functions_that_are_no_kernels(n):
    X = RNG.standard_normal((n, 3))
    apart = np.linalg.norm(X[:, None] - X[None], axis=2)
    for K in (np.tanh(2.0 * X @ X.T - 1.0), -apart):
        K = (K + K.T) / 2
        checked_no(K, is_psd(K))


def test_a_large_matrix_is_refuted_on_some_of_its_rows():
    X = RNG.standard_normal((450, 3))
    K = -np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(K, 0.5)
    found = is_psd(K)
    assert found.verdict == "no"
    assert 2 <= np.count_nonzero(found.witness) <= 400
    assert found.form == quadratic_form(K, found.witness) < -found.rounding


@pytest.mark.parametrize("n", [5, 20, 60, 350])
@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(2, 1.0)], ids=repr)
def test_kernels_are_kernels_also_where_their_matrix_is_singular(n, kernel):
    X = np.repeat(RNG.standard_normal((n // 5, 3)), 5, axis=0)
    found = is_psd(kernel(X))
    assert found.verdict == "yes"
    assert np.linalg.eigvalsh(kernel(X)).min() >= -found.bound - 1e-13 * n * kernel(X).max()
    assert found.bound <= 1e-9 * np.trace(kernel(X))


def test_what_is_below_zero_by_less_than_rounding_is_no_proof():
    K = np.array([[1.0, 1.0 + 2.0**-52], [1.0 + 2.0**-52, 1.0]])  # one unit in the last place
    assert is_psd(K, ulps=0).verdict == "no"
    assert is_psd(K, ulps=2).verdict == "yes"
    assert is_psd(K, ulps=2).bound > 0.0
    K = np.array([[1.0, 1.0 + 2.0**-48], [1.0 + 2.0**-48, 1.0]])
    checked_no(K, is_psd(K))


def test_what_can_be_neither_shown_nor_refuted_is_undecided():
    K = np.diag([1.0] * 30)
    K[0, 0] = -1e-3
    found = is_psd(K, ulps=2.0**60)
    assert found.verdict == "undecided"
    assert found.reason


def test_an_asymmetric_matrix_names_its_pair():
    K = np.eye(4)
    K[1, 3] = 1e-9
    found = is_psd(K)
    assert (found.verdict, found.pair) == ("no", (1, 3))
    assert "K[1, 3]" in found.reason
    K = np.full((2, 2), 1.0)
    K[0, 1] += 2.0**-52  # as far as two entries that are off by half a unit may be
    assert is_psd(K).pair is None


@pytest.mark.parametrize(
    "K, error",
    [
        ([[1.0, 2.0]], exceptions.ShapeError),
        ([[np.nan]], exceptions.NonFiniteError),
        ([["a"]], exceptions.DataTypeError),
        (np.empty((0, 0)), exceptions.ShapeError),
    ],
)
def test_what_is_no_matrix_is_refused(K, error):
    with pytest.raises(error):
        is_psd(K)
    with pytest.raises(exceptions.ParameterError):
        is_psd([[1.0]], ulps=-1)


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(2, 1.0)], ids=repr)
def test_coordinates_have_the_products_of_the_kernel(kernel):
    X = np.repeat(RNG.standard_normal((12, 2)), 2, axis=0)
    K = kernel(X)
    found = coordinates(K)
    np.testing.assert_allclose(found @ found.T, K, atol=1e-13 * K.max())
    rank = 12 if kernel == RBF(0.5) else 6  # monomials of degree two at most in two variables
    assert found.shape == (24, rank)


def test_there_are_no_coordinates_without_a_kernel():
    with pytest.raises(exceptions.InputError, match="not a matrix of kernel values"):
        coordinates([[1.0, 2.0], [2.0, 1.0]])
    assert coordinates(np.zeros((3, 3))).shape == (3, 1)
