"""The margin of any set and its total hinge loss, against facets found by Qhull and sums in rationals."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial import ConvexHull, QhullError

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError, ShapeError, UndecidedError
from rosenblatt.theory.set_margin import set_margin, total_hinge_loss
from tests.shared.examples import examples


@st.composite
def sets(draw, most=3):
    """Small integers, scaled, with any labels of two classes."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, most))
    X = np.array(
        draw(st.lists(st.lists(st.integers(-5, 5), min_size=d, max_size=d), min_size=n, max_size=n)), float
    )
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    assume(len(set(y)) == 2)
    return X * draw(st.sampled_from([1.0, 0.25, 2.0**40])), y


def by_facets(X, y, *, bias):
    """Minus the distance from the origin to the nearest facet of the differences; 0 if it is not inside."""
    K = (X[y > 0][:, None] - X[y < 0][None]).reshape(-1, X.shape[1]) / 2 if bias else y[:, None] * X
    if X.shape[1] == 1:
        return -max(0.0, min(K.max(), -K.min()))
    try:
        return min(0.0, ConvexHull(K).equations[:, -1].max())
    except QhullError:  # flat: a hyperplane holds all differences, and all rows lie on it
        return 0.0


@pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning")
@settings(max_examples=examples(120))
@given(data=sets(), bias=st.booleans())
def test_the_margin_of_an_inseparable_set_is_the_distance_to_its_nearest_facet(data, bias):
    X, y = data
    found = set_margin(X, y, bias=bias)
    assert found.exact
    if rb.certify(X, y, bias=bias).verdict == "separable":
        assert found.low > 0
    else:
        assert found.high <= 0
        assert found.low == pytest.approx(by_facets(X, y, bias=bias), abs=1e-9 * np.abs(X).max())


@settings(max_examples=examples(60))
@given(data=sets(), w=st.lists(st.integers(-4, 4), min_size=3, max_size=3), b=st.integers(-4, 4))
def test_no_hyperplane_has_a_larger_margin_than_the_set(data, w, b):
    X, y = data
    w = w[: X.shape[1]]
    assume(any(w))
    given = set_margin(X, y, w, b)
    assert given.low <= set_margin(X, y).high
    assert given.low == pytest.approx((y * (X @ w + b)).min() / np.linalg.norm(w))


@settings(max_examples=examples(80))
@given(
    data=sets(),
    w=st.lists(st.integers(-4, 4), min_size=3, max_size=3),
    b=st.integers(-4, 4),
    gamma=st.sampled_from([0.25, 1, 3, 0.1, Fraction(1, 3)]),
)
def test_the_total_hinge_loss_is_its_sum_and_zero_exactly_at_a_margin(data, w, b, gamma):
    X, y = data
    w = w[: X.shape[1]]
    assume(any(w))
    found = total_hinge_loss(X, y, w, b, gamma=gamma)
    assert found.exact
    z = y * (X @ w + b) / np.linalg.norm(w)
    assert found.low == pytest.approx(np.maximum(0, 1 - z / float(gamma)).sum(), rel=1e-9, abs=1e-9)
    squared = sum(value * value for value in w)
    least = min(Fraction(float(side * (row @ w + b))) for row, side in zip(X, y, strict=True))
    assert (found.high == 0) == (least > 0 and least**2 >= Fraction(gamma) ** 2 * squared)


def test_known_margins():
    X, y = rb.datasets.load_xor()
    assert set_margin(X, y).low == pytest.approx(-sqrt(2) / 4)
    assert set_margin(csr_array(X), y).low == set_margin(X, y).low
    assert set_margin([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]).rational == Fraction(-1, 2)
    assert set_margin([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]).rational == 0  # a tie
    assert set_margin([[0.0, 5.0], [2.0, 5.0], [1.0, 5.0]], [0, 0, 1]).rational == 0  # all on one line
    assert set_margin([[0.0], [3.0]], [0, 1]).rational == Fraction(3, 2)
    assert total_hinge_loss([[0.0], [3.0]], [0, 1], [1], -1.5, gamma=1.5).rational == 0


def test_many_features_leave_an_interval_that_holds(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 9, (40, 4)).astype(float), np.where(rng.random(40) < 0.5, 1, -1)
    exact = set_margin(X, y)
    monkeypatch.setattr("rosenblatt.theory.set_margin.MOST_RAYS", 30)
    found = set_margin(X, y)
    assert not found.exact
    assert found.low <= exact.low <= exact.high <= found.high <= 0


def test_what_cannot_be_used():
    X, y = rb.datasets.load_xor()
    with pytest.raises(ShapeError, match="w has 3 entries, but X has 2 features"):
        set_margin(X, y, [1, 2, 3])
    with pytest.raises(ParameterError, match="w is zero"):
        set_margin(X, y, [0, 0])
    with pytest.raises(ParameterError, match="finite"):
        total_hinge_loss(X, y, [1, np.nan], gamma=1)
    for gamma in (0, -1, np.nan, np.inf, "1", True):
        with pytest.raises(ParameterError, match="gamma="):
            total_hinge_loss(X, y, [1, 0], gamma=gamma)
    with pytest.raises(UndecidedError):
        set_margin(X, y, time_limit=0)
