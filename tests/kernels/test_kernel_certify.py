"""Separability in the space of a kernel, with proofs."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

import rosenblatt as rb
from rosenblatt.certify import ClassTables, Inseparable, Separable
from rosenblatt.datasets import load_xor
from rosenblatt.exceptions import InputError, ShapeError, TrivialSeparationWarning
from rosenblatt.kernels import RBF, Laplacian, Linear, Polynomial, coordinates
from rosenblatt.kernels import space as space_module
from tests.shared.examples import examples
from tests.shared.strategies import problems

pytestmark = pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning")


def trained(X, y, kernel, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rb.KernelPerceptron(kernel, max_iter=3, **parameters).fit(X, y)


@pytest.mark.parametrize(
    "kernel, verdict",
    [
        (Linear(), "inseparable"),
        (Polynomial(1, 1), "inseparable"),
        (Polynomial(2, 1), "separable"),
        (RBF(1.0), "separable"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("bias", ["unit", None])
def test_xor(kernel, verdict, layout, bias):
    X, y = load_xor()
    clf = trained(layout(X), y, kernel, bias=bias)
    found = clf.certify(layout(X), y)
    assert (found.verdict, found.bias) == (verdict, bias is not None)
    assert found.verify(clf.coordinates(layout(X)), y)
    assert not found.verify(clf.coordinates(layout(X)), -y)


@given(
    problem=problems(most_rows=10),
    degree=st.integers(1, 3),
    c=st.sampled_from([0, 1, 0.5]),
    bias=st.sampled_from(["unit", None]),
)
@settings(max_examples=examples(40))
def test_on_integers_the_verdict_is_that_of_the_gram_matrix(problem, degree, c, bias):
    """In the span of the rows lie all hyperplanes that matter: Σ α_i k(x_i, x), whose values are those of K α.

    Entries of K are exact here, and it is another table than the one asked about.
    """
    X, y = problem
    clf = trained(X, y, Polynomial(degree, c), bias=bias)
    found = clf.certify(X, y)
    K = Polynomial(degree, c)(X)
    assert found.verdict == rb.certify(K, y, bias=bias is not None).verdict
    assert found.verify(clf.coordinates(X), y)
    if isinstance(found, Inseparable):  # the combination is 0 in the space of the kernel: its squared length is
        signed = np.array(found.integers, object) * y[list(found.support)]
        part = K[np.ix_(found.support, found.support)] * 2**degree
        assert signed @ part.astype(int).astype(object) @ signed == 0


def test_names_of_monomials():
    X, y = load_xor()
    frame = pd.DataFrame(X, columns=["left", "right"])
    assert "4·left·right" in str(trained(frame, y, Polynomial(2, 1)).certify(frame, y))
    clf = trained(X, y, Polynomial(3, 0), bias=None)
    assert clf.certify(X, y).names == ("x1^3", "x1^2·x2", "x1·x2^2", "x2^3")
    clf = trained(X, y, Polynomial(2, 1), bias=None)
    assert clf.certify(X, y).names == ("1", "x1", "x2", "x1^2", "x1·x2", "x2^2")
    np.testing.assert_array_equal(clf.coordinates(X)[:, 0], 1.0)
    assert trained(X, y, RBF(1.0)).certify(X, y).names == ("z1", "z2", "z3", "z4")


def test_several_classes():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = ["a", "b", "c", "a"]
    line, conic = (trained(X, y, kernel).certify(X, y) for kernel in (Linear(), Polynomial(2, 1)))
    assert isinstance(line, ClassTables)
    assert line.rest["a"].verdict == "inseparable"
    assert conic.rest["a"].verdict == "separable"
    assert conic.rest["a"].names == ("x1", "x1^2")
    assert conic.verify(trained(X, y, Polynomial(2, 1)).coordinates(X), y)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 1), RBF(0.7), Laplacian(0.7)], ids=repr)
def test_margins_are_those_of_the_kernel(kernel):
    rng = np.random.default_rng(3)
    y = np.repeat([-1, 1], 12)
    X = rng.standard_normal((24, 2)) + 2.5 * y[:, None]
    clf = trained(X, y, kernel)
    found = clf.certify(X, y, margin=True)
    assert isinstance(found, Separable)
    assert found.verify(clf.coordinates(X, isometric=True), y)
    svc = SVC(C=1e10, kernel="precomputed", tol=1e-9).fit(kernel(X), y)
    alpha = svc.dual_coef_[0]
    width = 1 / np.sqrt(alpha @ kernel(X)[np.ix_(svc.support_, svc.support_)] @ alpha)
    low, high = found.margin
    assert high == pytest.approx(low, rel=1e-6)
    assert low == pytest.approx(width, rel=1e-5)


def test_equal_rows_of_two_classes_and_rows_never_seen():
    X, y = load_xor()
    clf = trained(X, y, RBF(1.0))
    twice = np.vstack([X, X[:1]]), np.append(y, -y[0])
    found = clf.certify(*twice)
    assert found.support == (0, 4)
    assert found.verify(clf.coordinates(twice[0]), twice[1])


def test_precomputed_and_functions():
    X, y = load_xor()
    K = Polynomial(2, 1)(X)
    clf = trained(K, y, "precomputed")
    assert clf.certify(K, y).verify(coordinates(K), y)
    with pytest.raises(ShapeError, match="square matrix"):
        clf.certify(K[:3], y[:3])
    clf = trained(X, y, lambda A, B: A @ B.T)
    assert clf.certify(X, y).verdict == "inseparable"
    with pytest.raises(InputError, match="no points belong to it"):
        trained(X, y, lambda A, B: -np.abs(A @ B.T)).certify(X, y)


def test_too_many_rows_are_refused_with_their_number(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1001, 2)), np.arange(1001) % 2
    clf = trained(X[:50], y[:50], RBF(1.0))
    with pytest.raises(ShapeError, match=r"1,001 rows.*at most 1,000"):
        clf.certify(X, y)
    clf = trained(X[:50], y[:50], Polynomial(2, 1))
    assert clf.certify(X, y).verdict == "inseparable"  # five monomials: rows without number
    with pytest.raises(ShapeError, match="1,001 rows"):
        clf.certify(X, y, margin=True)
    monkeypatch.setattr(space_module, "MOST_MONOMIALS", 4)
    assert clf.coordinates(X[:20]).shape == (20, 6)
    with pytest.raises(ShapeError, match="1,001 rows"):
        clf.certify(X, y)


def test_values_that_cancelled_are_refused():
    X = np.random.default_rng(0).standard_normal((50, 3))
    y = np.arange(50) % 2
    assert trained(X, y, RBF(1e-4)).coordinates(X).shape[0] == 50
    with pytest.raises(InputError, match=r"off by .* Centre and scale"):
        trained(X + 1e3, y, RBF(1e-4)).certify(X + 1e3, y)


def test_what_cannot_be_asked():
    X, y = load_xor()
    with pytest.raises(NotFittedError):
        rb.KernelPerceptron().certify(X, y)
    clf = trained(X, y, Polynomial(2, 1))
    with pytest.raises(ShapeError, match="expecting 2 features"):
        clf.certify(X[:, :1], y)
    with pytest.raises(InputError, match="NaN"):
        clf.certify(X * np.nan, y)
    with pytest.raises(InputError, match=r"x1\^2 of row 1 exceeds"):
        clf.certify(X * 1e200, y)
    with pytest.warns(TrivialSeparationWarning, match="4 rows with 5 features"):
        clf.certify(X, y)


@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 40), rank=st.integers(1, 40), spread=st.sampled_from([0, 4, 8])
)
@settings(max_examples=examples(40))
def test_coordinates_are_as_near_as_they_say(seed, n, rank, spread):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) * 10.0 ** rng.uniform(-spread, 0, rank)
    K = Linear()(X)
    Z = coordinates(K, ulps=2.0**16)
    assert np.abs(Z @ Z.T - K).max() <= 4 * n * 2.0**-52 * K.max()
