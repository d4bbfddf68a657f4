"""The monomial map against the kernel it stands for, in numbers, in exact arithmetic, and in memory."""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.exceptions import InputError, NonFiniteError, ParameterError, ShapeError
from rosenblatt.rows import memory

OFFSETS = st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.7])


@st.composite
def tables(draw, largest=10.0):
    """Draw a few rows, many of whose values are zero."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    values = st.just(0.0) | st.floats(-largest, largest, allow_subnormal=False)
    rows = draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n))
    return np.array(rows)


def slack(X, degree, c):
    """Bound the rounding: every one of the terms is positive in (<|x|, |x'|> + c)^p."""
    A = np.abs(X)
    return 1e-14 * degree * (A @ A.T + c) ** degree + 1e-290


@given(X=tables(), degree=st.integers(1, 5), c=OFFSETS)
def test_dot_products_are_powers(X, degree, c):
    phi = rb.MonomialMap(degree, c).fit(X)
    kernel = (X @ X.T + c) ** degree
    dense = phi.transform(X)
    assert (np.abs(dense @ dense.T - kernel) <= slack(X, degree, c)).all()
    sparse = phi.transform(csr_array(X))
    assert (np.abs((sparse @ sparse.T).toarray() - kernel) <= slack(X, degree, c)).all()


@given(X=tables(largest=3), degree=st.integers(1, 4), c=OFFSETS)
def test_sparse_rows_have_the_features_of_dense_ones(X, degree, c):
    phi = rb.MonomialMap(degree, c).fit(X)
    sparse = phi.transform(csr_array(X))
    assert sparse.toarray() == pytest.approx(phi.transform(X), rel=1e-14, abs=1e-300)
    stored = np.count_nonzero(X, axis=1)
    least = 0 if c else degree
    assert np.diff(sparse.indptr).tolist() == [
        sum(math.comb(s + k - 1, k) if s else k == 0 for k in range(least, degree + 1)) for s in stored.tolist()
    ]
    again = csr_array((sparse.data, sparse.indices, sparse.indptr), shape=sparse.shape)
    assert again.has_canonical_format


@given(X=tables(), degree=st.integers(1, 4), c=st.sampled_from([0, 1, Fraction(1, 4), Fraction(9, 2)]))
def test_columns_are_the_textbooks(X, degree, c):
    """Each monomial, its exponents and its weight, from the multinomial theorem in exact arithmetic."""
    d = X.shape[1]
    phi = rb.MonomialMap(degree, float(c)).fit(X)
    expected = [
        exponents
        for k in range(0 if c else degree, degree + 1)
        for exponents in sorted(
            (e for e in itertools.product(range(degree + 1), repeat=d) if sum(e) == k), reverse=True
        )
    ]
    assert phi.powers_.tolist() == [list(e) for e in expected]
    assert phi.n_output_features_ == len(expected) == len(phi.get_feature_names_out())
    for column, exponents in zip(phi.transform(X).T, expected, strict=True):
        over = math.factorial(degree)
        under = math.prod(map(math.factorial, [*exponents, degree - sum(exponents)]))
        square = Fraction(over, under) * Fraction(c) ** (degree - sum(exponents))
        value = [math.prod(Fraction(x) ** e for x, e in zip(row, exponents, strict=True)) for row in X.tolist()]
        assert column == pytest.approx([math.sqrt(square) * float(v) for v in value], rel=1e-14, abs=1e-290)


@pytest.mark.parametrize(
    ("degree", "c", "names"),
    [
        (1, 1, ["1", "x1", "x2"]),
        (2, 0, ["x1^2", "√2 x1 x2", "x2^2"]),
        (2, 1, ["1", "√2 x1", "√2 x2", "x1^2", "√2 x1 x2", "x2^2"]),
        (2, 2, ["2", "2 x1", "2 x2", "x1^2", "√2 x1 x2", "x2^2"]),
        (2, 0.25, ["0.25", "√0.5 x1", "√0.5 x2", "x1^2", "√2 x1 x2", "x2^2"]),
        (3, 0, ["x1^3", "√3 x1^2 x2", "√3 x1 x2^2", "x2^3"]),
        (4, 0, ["x1^4", "2 x1^3 x2", "√6 x1^2 x2^2", "2 x1 x2^3", "x2^4"]),
    ],
)
def test_names(degree, c, names):
    assert rb.MonomialMap(degree, c).fit([[1, 2]]).get_feature_names_out().tolist() == names


def test_names_of_the_features_are_used():
    frame = pd.DataFrame({"height": [1.0, 2.0], "width": [3.0, 4.0]})
    phi = rb.MonomialMap(2, 0).fit(frame)
    names = ["height^2", "√2 height width", "width^2"]
    assert phi.get_feature_names_out().tolist() == names
    assert phi.set_output(transform="pandas").transform(frame).columns.tolist() == names
    given = rb.MonomialMap(2, 0).fit([[1, 2]]).get_feature_names_out(["a", "b"])
    assert given.tolist() == ["a^2", "√2 a b", "b^2"]
    with pytest.raises(ShapeError, match=r"number of features \(2\), got 3"):
        rb.MonomialMap().fit([[1, 2]]).get_feature_names_out(["a", "b", "c"])
    with pytest.raises(ValueError, match="feature_names_in_"):
        phi.get_feature_names_out(["width", "height"])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_types_are_kept(kind):
    X = np.random.default_rng(0).standard_normal((5, 3)).astype(kind)
    phi = rb.MonomialMap(3).fit(X)
    assert phi.transform(X).dtype == kind
    assert phi.transform(csc_array(X)).dtype == kind
    wide = phi.transform(X.astype(float))
    assert phi.transform(X).tobytes() == wide.astype(kind).tobytes()  # rounded once, at the end
    assert isinstance(phi.transform(csr_matrix(X)), csr_matrix)
    assert isinstance(phi.transform(csr_array(X)), csr_array)


def test_a_million_features_are_numbered_and_never_listed():
    """The product of the last two features of a million has the number that combinatorics gives it."""
    d = 10**6
    X = csr_array((np.array([2.0, 3.0, 5.0]), (np.array([0, 0, 1]), np.array([d - 2, d - 1, 7]))), shape=(2, d))
    phi = rb.MonomialMap(2).fit(X)
    assert phi.n_output_features_ == math.comb(d + 2, 2)
    first, second = phi.transform(X)[[0]], phi.transform(X)[[1]]
    end = phi.n_output_features_
    assert first.indices.tolist() == [0, d - 1, d, end - 3, end - 2, end - 1]
    assert first.data == pytest.approx([1, 2 * 2**0.5, 3 * 2**0.5, 4, 6 * 2**0.5, 9], rel=1e-15)
    of_seven = sum(d - j for j in range(7))
    assert second.indices.tolist() == [0, 8, 1 + d + of_seven]
    assert second.data == pytest.approx([1, 5 * 2**0.5, 25], rel=1e-15)


def test_many_rows_in_blocks_are_the_rows_one_by_one(monkeypatch):
    X = np.random.default_rng(1).standard_normal((50, 4)) * (np.random.default_rng(2).random((50, 4)) < 0.6)
    phi = rb.MonomialMap(3).fit(X)
    dense, sparse = phi.transform(X), phi.transform(csr_array(X))
    monkeypatch.setattr("rosenblatt.tables.monomials.BLOCK_PRODUCTS", 40)
    assert phi.transform(X).tobytes() == dense.tobytes()
    again = phi.transform(csr_array(X))
    assert (again.data.tobytes(), again.indices.tolist()) == (sparse.data.tobytes(), sparse.indices.tolist())


def test_what_does_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10**9)
    X = np.ones((3, 300))
    with pytest.raises(
        InputError, match=r"21,281,794,436 monomials of degree 5.* 170 GB, but 1 GB of memory are free"
    ):
        rb.MonomialMap(5).fit(X)
    phi = rb.MonomialMap(2, max_bytes=10**6).fit(X)
    with pytest.raises(InputError, match=r"45,451 monomials of 3 rows would take 1.09 MB, but 1 MB .* allowed"):
        phi.transform(X)
    with pytest.raises(InputError, match=r"136,353 of them stored, would take 1.64 MB"):
        phi.transform(csr_array(X))
    with pytest.raises(InputError, match="names of 45,451 monomials"):
        phi.get_feature_names_out()
    with pytest.raises(InputError, match="powers of 45,451 monomials"):
        _ = phi.powers_
    with pytest.raises(ParameterError, match=r"degree=20 of 300 features makes .* more than can be numbered"):
        rb.MonomialMap(20).fit(X)


def test_free_memory_is_a_number_of_bytes():
    assert 10**6 < memory.free_memory() < 2**63


@pytest.mark.parametrize(
    "parameters",
    [
        {"degree": 0},
        {"degree": 2.5},
        {"degree": 171},
        {"c": -1},
        {"c": np.nan},
        {"c": 1e200},
        {"c": 1e-200},
        {"max_bytes": 0},
    ],
    ids=repr,
)
def test_parameters_that_make_no_sense(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        rb.MonomialMap(**parameters).fit([[1, 2]])


def test_products_beyond_the_largest_float():
    phi = rb.MonomialMap(3).fit([[1.0, 2.0]])
    for X in (np.array([[1, 2], [1e150, 1]]), csr_array([[1, 2], [1e150, 1]])):
        with pytest.raises(NonFiniteError, match="row 1 exceeds the largest float64"):
            phi.transform(X)
    with pytest.raises(NonFiniteError, match="row 1 exceeds the largest float32"):
        phi.transform(np.array([[1, 2], [1e15, 1]], np.float32))


def test_xor_by_monomials():
    """The product separates, and a pipeline learns it with no error."""
    X, y = rb.datasets.load_xor()
    for rows in (X, 2 * X - 1):
        clf = make_pipeline(rb.MonomialMap(), rb.Perceptron()).fit(rows, y)
        assert clf.score(rows, y) == 1.0
        assert clf[-1].stop_reason_ == "separated"


def test_copies_say_the_same():
    X = np.arange(6.0).reshape(2, 3)
    phi = rb.MonomialMap(3, 2.0).fit(X)
    again = pickle.loads(pickle.dumps(phi))
    assert again.transform(X).tobytes() == phi.transform(X).tobytes()
    assert clone(phi).get_params() == phi.get_params()
