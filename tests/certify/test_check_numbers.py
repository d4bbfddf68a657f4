"""Numbers of proofs, and the float filter: quick where it can be, exact always."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.certify import check as checker
from rosenblatt.certify.check import text_of
from tests.certify.proofs import numbers


def sides(w, b, least, row, y):
    """Return what the checker finds and what is true."""
    texts = [text_of(Fraction(v)) for v in (*w, b, least)]
    found = checker.Side(checker.vector(range(len(texts)), texts, "w"), len(w)).sign([float(x) for x in row], y)
    true = y * (sum(Fraction(c) * Fraction(x) for c, x in zip(w, row, strict=True)) + Fraction(b)) - Fraction(
        least
    )
    return found, (true > 0) - (true < 0)


floats = st.floats(allow_nan=False, allow_infinity=False)
coefficients = (
    floats | st.fractions(max_denominator=50) | st.floats(-2, 2).map(lambda x: Fraction(x) * Fraction(2) ** -3000)
)


@given(st.data(), st.sampled_from([-1, 1]))
def test_sides_are_exact(data, y):
    row = data.draw(st.lists(floats, max_size=4))
    w = [data.draw(coefficients) for _ in row]
    found, true = sides(w, data.draw(coefficients), abs(data.draw(coefficients)), row, y)
    assert found == true


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.fractions(-3, 3, max_denominator=30)), min_size=1, max_size=6),
    st.integers(-8, 8),
    st.sampled_from([-1, 1]),
    st.sampled_from([0, -150, -500, 900]),
)
def test_sides_are_exact_where_a_row_almost_touches(terms, ulps, y, power):
    row, w = [math.ldexp(x, power) for x, _ in terms], [c for _, c in terms]
    value = sum(Fraction(x) * c for x, c in zip(row, w, strict=True))
    b = Fraction(-float(value)) + ulps * Fraction(2) ** -56 * abs(value)
    found, true = sides(w, b, 0, row, y)
    assert found == true


def one_way(square: float, short: Fraction) -> tuple[float, Fraction]:
    """Return x near 1 and c such that c rounds to x by `short` ulps, and x² is `square` ulps above a float."""
    x = 1 + round(math.sqrt(square) * 2**26) * 2.0**-52
    return x, Fraction(x) + short * Fraction(2) ** -52


def test_roundings_that_all_go_one_way():
    # (1 + a)² is 1 + 2a + a²: products are rounded down if a² is a little below half an ulp, up if above.
    half = Fraction(63, 128)  # dyadic: over a common denominator these roundings would be others
    low, c_low = one_way(0.49, half)
    high, c_high = one_way(0.51, -half)
    w, row = [c_low] * 64 + [-c_high] * 64, [low] * 64 + [high] * 64
    value = sum(c * Fraction(x) for c, x in zip(w, row, strict=True))
    wrong = 0
    for ulps in range(-300, 300, 4):
        b = Fraction(float(-value)) + ulps * Fraction(2) ** -53
        found, true = sides(w, b, 0, row, 1)
        assert found == true
        floats = math.fsum([*(float(c) * x for c, x in zip(w, row, strict=True)), float(b)])
        wrong += (floats > 0) != (true > 0)
    assert wrong > 50  # so rounding does decide here, if it is let


def test_products_that_underflow():
    least = 2.0**-1074
    w = [Fraction(1)] * 3 + [Fraction(-2, 5)] * 9  # three times the least float, less nine times what rounds to 0
    assert sides(w, 0, 0, [least] * 12, 1) == (-1, -1)
    assert sides([-c for c in w], 0, 0, [least] * 12, 1) == (1, 1)


def test_coefficients_that_underflow():
    tiny = Fraction(2) ** -1073
    w = [Fraction(1), Fraction(3, 4) * tiny, Fraction(-2, 5) * tiny, Fraction(-2, 5) * tiny]
    assert sides(w, 0, 0, [0.0, 2.0**1000, 2.0**1000, 2.0**1000], 1) == (-1, -1)


@pytest.mark.parametrize("row", [[1.7e308] * 4, [1.7e308, 1.7e308, -1.7e308, -1.7e308], [-1.7e308] * 3 + [1.0]])
def test_sums_that_overflow(row):
    found, true = sides([1, 1, 1, 1], Fraction(1, 2**2000), 0, row, 1)
    assert found == true


def test_wide_rows_are_settled_without_integers(monkeypatch):
    exact = []
    monkeypatch.setattr(checker.Vector, "dot", lambda self, values: exact.append(1) or (1, 0))
    side = checker.Side(checker.vector(range(3), numbers(Fraction(1, 3), 0, 0), "w"), 1)
    assert side.sign([1e-300], 1) == 1
    assert side.sign([1e300], -1) == -1
    assert not exact
