"""Vectors as integers and as floats."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.rows.features import as_rows

whole = st.integers(-(2**80), 2**80) | st.integers(-(2**700), 2**700)


@given(st.lists(whole, min_size=1).filter(any))
def test_a_direction_is_rounded_to_the_nearest_floats(integers):
    found = Direction.of_integers(integers)
    for value, high, low in zip(integers, found.high.tolist(), found.low.tolist(), strict=True):
        exact = value * Fraction(2) ** found.power
        assert high == float(exact)
        assert low == float(exact - Fraction(high))


@given(
    st.lists(st.tuples(st.fractions(max_denominator=2**70), st.integers(-500, 500)), min_size=1), st.fractions()
)
def test_a_hyperplane_keeps_its_proportions(drawn, b):
    w, powers = zip(*drawn, strict=True)
    problem = SeparationProblem(as_rows(np.ldexp(1.0, np.array(powers))[None]), np.ones(1), bias=True)
    exact = [value * Fraction(2) ** power for value, power in drawn] + [b]
    found = problem.vector(w, b)
    factor = next((p / q for p, q in zip(found, exact, strict=True) if q), Fraction(1))
    assert factor > 0
    assert found == [factor * value for value in exact]
