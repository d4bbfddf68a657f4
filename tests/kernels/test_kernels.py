"""Kernels are what their formulas say, to the same bits in any company and layout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from rosenblatt import exceptions, kernels
from rosenblatt.kernels import RBF, Function, Laplacian, Linear, Pairwise, Polynomial, as_kernel
from rosenblatt.kernels.points import as_points
from rosenblatt.kernels.values import CachedRows

RNG = np.random.default_rng(5)
X, Y = RNG.standard_normal((23, 37)), RNG.standard_normal((9, 37))
X[np.abs(X) < 0.6] = 0.0
ALL = [Linear(), Polynomial(3, 0.5), RBF(0.03), Laplacian(0.02)]


@pytest.mark.parametrize(
    "kernel, peer",
    [
        (Linear(), pairwise.linear_kernel),
        (Polynomial(3, 0.5), lambda a, b: pairwise.polynomial_kernel(a, b, degree=3, gamma=1, coef0=0.5)),
        (RBF(0.03), lambda a, b: pairwise.rbf_kernel(a, b, gamma=0.03)),
        (Laplacian(0.02), lambda a, b: pairwise.laplacian_kernel(a, b, gamma=0.02)),
    ],
    ids=["linear", "polynomial", "rbf", "laplacian"],
)
def test_values_are_those_of_the_formula(kernel, peer):
    np.testing.assert_allclose(kernel(X, Y), peer(X, Y), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(X), peer(X, X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(csr_array(X), Y), peer(X, Y), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(as_points(X)), np.diag(peer(X, X)), rtol=1e-12)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@pytest.mark.parametrize("kind", [np.asarray, csr_array, np.float32], ids=["dense", "sparse", "float32"])
def test_a_pair_has_the_same_bits_in_any_company(kernel, kind):
    A, B = as_points(kind(X)), as_points(kind(Y))
    whole = kernel.gram(A, B)
    assert (kernel.gram(B, A).T == whole).all()  # whichever comes first
    for i in range(A.n_rows):
        assert (kernel.gram(A.row(i), B)[0] == whole[i]).all()
        assert (kernel.gram(B, A.row(i))[:, 0] == whole[i]).all()
        assert kernel.gram(A.row(i), B.row(3))[0, 0] == whole[i, 3]
    np.testing.assert_array_equal(kernel.gram(A.part(2, 9), B.part(1, 4)), whole[2:9, 1:4])
    np.testing.assert_array_equal(np.diag(kernel.gram(A, A)), kernel.diagonal(A))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 1.0), RBF(0.25), Laplacian(0.25)], ids=repr)
@given(data=st.data())
@settings(max_examples=20)
def test_dense_and_sparse_rows_have_the_same_bits_where_sums_are_exact(kernel, data):
    rows = data.draw(st.lists(st.lists(st.integers(-4, 4), min_size=5, max_size=5), min_size=1, max_size=6))
    table = np.array(rows, float) / 4
    np.testing.assert_array_equal(kernel(table), kernel(csr_array(table)))


def test_a_point_is_at_no_distance_from_itself_however_far_out():
    far = 1e6 + RNG.standard_normal((5, 40))
    assert (np.diag(RBF(1.0)(far)) == 1.0).all()
    assert (RBF(1.0)(far) <= 1.0).all()


@pytest.mark.parametrize("gamma", ["scale", "auto"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_gamma_is_what_scikit_learn_means(gamma, kind):
    table = 3.0 + X
    peer = SVC(gamma=gamma).fit(kind(table), np.arange(len(X)) % 2)
    assert RBF(gamma).resolve(as_points(kind(table))).gamma == pytest.approx(peer._gamma, rel=1e-12)


def test_gamma_of_constant_data_is_one():
    assert RBF("scale").resolve(as_points(np.full((4, 3), 0.1))).gamma == 1.0


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_powers_of_integers_are_exact(degree):
    table = RNG.integers(-5, 6, (6, 4)).astype(float)
    expected = [[(int(a @ b) + 3) ** degree for b in table] for a in table]
    np.testing.assert_array_equal(Polynomial(degree, 3)(table), np.array(expected, float))


def test_functions_of_tables_and_of_points():
    dot = Function(lambda a, b: a @ b.T)
    np.testing.assert_array_equal(dot(X, Y), X @ Y.T)
    np.testing.assert_allclose(Pairwise(np.dot)(csr_array(X), Y), X @ Y.T, rtol=1e-12)
    assert dot(csr_array(X)).shape == (23, 23)


def test_names():
    assert as_kernel("rbf") == RBF("scale")
    assert as_kernel("poly") == Polynomial(2, 1.0)
    assert as_kernel(RBF(2.0)) == RBF(2.0)
    assert set(kernels.__all__) <= set(dir(kernels))


@pytest.mark.parametrize(
    "make",
    [
        lambda: RBF(0.0),
        lambda: RBF(-1),
        lambda: RBF("scales"),
        lambda: Laplacian(np.nan),
        lambda: Polynomial(0),
        lambda: Polynomial(2.5),
        lambda: Polynomial(2, -1),
        lambda: as_kernel("sigmoid"),
        lambda: as_kernel(3),
        lambda: as_kernel(RBF),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(exceptions.ParameterError, match="="):
        make()


def test_bad_tables_and_functions_are_refused():
    with pytest.raises(exceptions.InputError, match="37 and of 36"):
        Linear()(X, Y[:, 1:])
    with pytest.raises(exceptions.NonFiniteError):
        Linear()([[np.nan]])
    with pytest.raises(exceptions.ShapeError):
        Linear()([1.0, 2.0])
    with pytest.raises(exceptions.DataTypeError):
        Linear()([["a"]])
    with pytest.raises(exceptions.ShapeError, match="Pairwise"):
        Function(lambda a, b: 1.0)(X)
    with pytest.raises(exceptions.NonFiniteError, match="NaN"):
        Function(lambda a, b: np.full((len(a), len(b)), np.nan))(X)
    with pytest.raises(exceptions.DataTypeError, match="matrix of numbers"):
        Function(lambda a, b: "no")(X)


@pytest.mark.parametrize("megabytes, most", [(0, 0), (23 * 8 * 3 / 2**20, 3), (1, 5698)])
def test_rows_are_kept_in_bounded_memory(megabytes, most):
    points = as_points(X)
    cache = CachedRows(RBF(0.1), points, megabytes)
    assert cache.most == most
    expected = RBF(0.1)(X)
    for i in [0, 1, 0, 2, 3, 0, 1, 1, 4, 0]:
        np.testing.assert_array_equal(cache.row(i), expected[i])
        assert len(cache) <= most
    # With three rows kept, 1 is let go for 3, 2 for the second 1, and 3 for 4.
    assert cache.computed == {0: 10, 3: 6, 5698: 5}[most]


@pytest.mark.parametrize("kernel", [RBF(), Laplacian()])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_the_scale_of_tiny_and_huge_points(kernel, layout):
    """The variance is right wherever γ is a float, and elsewhere there is an error with a way out."""
    X = np.random.default_rng(0).integers(-8, 8, (20, 2)).astype(float)
    for power in (-505, -300, 0, 300, 505):
        found = kernel.resolve(as_points(layout(np.ldexp(X, power)))).gamma
        assert found == np.ldexp(kernel.resolve(as_points(X)).gamma, -2 * power)
    for power, beyond in ((-700, "above the largest"), (-520, "above the largest"), (600, "below the smallest")):
        with pytest.raises(exceptions.ParameterError, match=f"{beyond} float: .* StandardScaler"):
            kernel.resolve(as_points(layout(np.ldexp(X, power))))
    assert kernel.resolve(as_points(np.full((3, 2), 1e-300))).gamma == 1.0
