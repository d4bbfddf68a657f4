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


def test_products_that_round_all_one_way():
    ulp = Fraction(2) ** -52
    w = [1 + ulp] * 64
    x = float(1 + ulp)  # (1 + u)² loses u² each time
    value = 64 * (1 + ulp) ** 2
    for y in (1, -1):
        for b in (-value, -value + ulp**2, -value - ulp**2, -64 * (1 + 2 * ulp)):
            found, true = sides(w, b, 0, [x] * 64, y)
            assert found == true


def test_coefficients_that_round_all_one_way():
    third = Fraction(1, 3)
    for b in (-21, Fraction(-63, 3) + Fraction(1, 2**54), Fraction(-63, 3) - Fraction(1, 2**54)):
        found, true = sides([third] * 63, b, 0, [1.0] * 63, 1)
        assert found == true


def test_products_that_underflow():
    least = 2.0**-1074
    w = [Fraction(3, 4), Fraction(-2, 5), Fraction(-2, 5)]
    assert sides(w, 0, 0, [least] * 3, 1) == (-1, -1)
    assert sides([-c for c in w], 0, 0, [least] * 3, 1) == (1, 1)


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
