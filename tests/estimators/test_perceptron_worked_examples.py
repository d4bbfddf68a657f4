"""The lectures' worked examples, to the digit (E-1 … E-4), through the estimator."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from tests.shared.strategies import bits, trained


def _sparse(kind, index, dtype=np.float64):
    def convert(X):
        matrix = kind(X.astype(dtype))
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        return matrix

    return convert


LAYOUTS = {
    "dense": lambda X: X,
    "dense32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "csr_array": _sparse(csr_array, np.int32),
    "csr_array64": _sparse(csr_array, np.int64),
    "csr_matrix": _sparse(csr_matrix, np.int32),
    "csr_matrix32": _sparse(csr_matrix, np.int32, np.float32),
}


@pytest.fixture(params=LAYOUTS, name="layout")
def _layout(request):
    return LAYOUTS[request.param]


def _tell(clf):
    w, b = clf.coef_[0].tolist(), float(clf.intercept_[0])
    return w, b, clf.trace_.index.tolist(), clf.n_iter_, clf.stop_reason_, clf.converged_


def test_six_points_by_the_plain_rule_from_the_fifth_point(layout):
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(eta0=0.2, order=[4, 5, 0, 1, 2, 3])
    clf.fit(layout(X), y, coef_init=[1, 0.5], intercept_init=0)
    # η = 0.2 is no dyadic fraction: the printed decimals hold to rounding.
    assert clf.trace_.index.tolist() == [4, 2, 0]
    W, b = clf.trace_.path(layout(X), y)
    assert W == pytest.approx(np.array([[1, 0.5], [0.6, 0.9], [0.2, 1.1], [0.5, 1.0]]), abs=1e-15)
    assert b == pytest.approx([0, -0.2, 0, 0.2], abs=1e-15)
    assert (clf.stop_reason_, clf.converged_, clf.n_mistakes_) == ("separated", True, 3)
    assert clf.score(layout(X), y) == 1.0


def test_six_points_by_the_plain_rule_from_the_first_point(layout):
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(eta0=0.2, order="cyclic")
    clf.fit(layout(X), y, coef_init=[[1, 0.5]], intercept_init=[0])
    assert clf.trace_.index.tolist() == [2, 4, 0]
    assert clf.coef_[0] == pytest.approx([0.5, 1.0], abs=1e-15)
    assert clf.intercept_[0] == pytest.approx(0.2, abs=1e-15)
    assert clf.stop_reason_ == "separated"


@pytest.mark.parametrize("sixth", [(-2, -2), (-2, -1)])
def test_six_points_by_rosenblatts_rule(layout, sixth):
    X, y = rb.datasets.load_six_points()
    X = X.copy()
    X[5] = sixth
    clf = rb.Perceptron(bias="radius", order="cyclic").fit(layout(X), y)
    assert _tell(clf)[:2] == ([1.5, 7.5], 8.0)
    assert (clf.n_mistakes_, clf.n_iter_, clf.stop_reason_) == (11, 6, "separated")
    assert clf.mistakes_per_pass_.sum() == 11
    assert clf.mistakes_per_pass_[-1] == 0
    assert clf.trace_.bias == 8.0
    assert clf.trace_.radius == pytest.approx(np.sqrt(8))


def test_spam_table(layout):
    X, y = rb.datasets.load_spam_table()
    clf = rb.Perceptron(order="cyclic").fit(layout(X), y)
    assert _tell(clf) == ([0, 2, 0, -1, 1], 0.0, [0, 1, 2, 3], 2, "separated", True)
    W, b = clf.trace_.path(layout(X), y)
    assert W.tolist() == [
        [0, 0, 0, 0, 0],
        [1, 1, 0, 1, 1],
        [1, 1, -1, 0, 1],
        [1, 2, 0, 0, 1],
        [0, 2, 0, -1, 1],
    ]
    assert b.tolist() == [0, 1, 0, 1, 0]
    new = np.array([[1.0, 1, 0, 0, 0]])
    assert clf.decision_function(layout(new)).tolist() == [2.0]
    assert clf.predict(layout(new)).tolist() == [1]
    assert clf.predict_one([1, 1, 0, 0, 0]) == 1


@pytest.mark.parametrize("passes", [1, 2, 7])
def test_xor_returns_to_zero_after_each_pass(layout, passes):
    X, y = rb.datasets.load_xor()
    clf = trained(layout(X), y, order="cyclic", max_iter=passes)
    assert _tell(clf) == ([0, 0], 0.0, [0, 1, 2, 3] * passes, passes, "max_iter", False)
    assert clf.mistakes_per_pass_.tolist() == [4] * passes
    for model in clf.trace_.after_each_pass(layout(X), y):
        assert model.weights.tolist() == [0, 0, 0]


def test_or(layout):
    X, y = rb.datasets.load_or()
    clf = rb.Perceptron(order="cyclic").fit(layout(X), y)
    assert _tell(clf)[:2] == ([2, 2], -1.0)
    assert (clf.n_mistakes_, clf.n_iter_, clf.stop_reason_) == (9, 6, "separated")


def test_and(layout):
    X, y = rb.datasets.load_and()
    clf = rb.Perceptron(order="cyclic").fit(layout(X), y)
    assert _tell(clf)[:2] == ([2, 3], -4.0)
    assert (clf.n_mistakes_, clf.n_iter_, clf.stop_reason_) == (18, 9, "separated")


def test_every_layout_and_type_leaves_the_same_bits():
    X, y = rb.datasets.load_and()
    results = {bits(rb.Perceptron(order="cyclic", average=True).fit(layout(X), y)) for layout in LAYOUTS.values()}
    assert len(results) == 1


def test_first_row_as_start():
    """S-10: w₁ = y₁x₁, no bias, a mistake is y<w,x> < 0: here two rows stay on the plane for ever."""
    X, y = rb.datasets.load_spam_table()
    clf = rb.Perceptron(bias=None, init="first", tie="correct", order="cyclic")
    with pytest.warns(ConvergenceWarning, match="2 rows lie exactly on the hyperplane"):
        clf.fit(X, y)
    assert clf.trace_.start.w.tolist() == [1, 1, 0, 1, 1, 0]
    assert _tell(clf) == ([0, 1, -1, -1, 1], 0.0, [1, 3], 2, "plateau", False)
    assert clf.trace_.score.tolist() == [1, 1]
    assert clf.score(X, y) == 4 / 6
