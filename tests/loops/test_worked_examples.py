"""Six points, the spam table, XOR, OR and AND to the digit, through the reference and through every loop."""

from fractions import Fraction

import numpy as np
import pytest

from rosenblatt import datasets
from rosenblatt.loops import reference
from rosenblatt.loops.rules import Rule
from tests.loops.oracles import LAYOUTS, assert_equals_reference, run


def passes_of(n: int, passes: int, first: int = 0) -> list[int]:
    return [(first + i) % n for i in range(n)] * passes


@pytest.mark.parametrize(
    "load, passes, w, b, mistakes",
    [
        (datasets.load_or, 6, [2, 2], -1, 9),
        (datasets.load_and, 9, [2, 3], -4, 18),
        (datasets.load_spam_table, 2, [0, 2, 0, -1, 1], 0, 4),
        (datasets.load_xor, 3, [0, 0], 0, 12),
    ],
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_integer_examples(load, passes, w, b, mistakes, layout):
    X, y = load()
    order = passes_of(len(y), passes)
    expected = reference.train(X.tolist(), y.tolist(), order)
    assert (expected.w, expected.b, len(expected.mistakes)) == (w, b, mistakes)
    assert_equals_reference(run(X, y, order, layout=layout), expected, len(order))
    if load is not datasets.load_xor:
        last_pass = len(order) - len(y)
        assert all(mistake.visit < last_pass for mistake in expected.mistakes)
        assert any(mistake.visit >= last_pass - len(y) for mistake in expected.mistakes)


def test_spam_table_step_by_step():
    X, y = datasets.load_spam_table()
    steps = [reference.train(X.tolist(), y.tolist(), range(visits)) for visits in (1, 2, 3, 4)]
    assert [(step.w, step.b) for step in steps] == [
        ([1, 1, 0, 1, 1], 1),
        ([1, 1, -1, 0, 1], 0),
        ([1, 2, 0, 0, 1], 1),
        ([0, 2, 0, -1, 1], 0),
    ]
    assert sum(w * x for w, x in zip(steps[-1].w, [1, 1, 0, 0, 0], strict=True)) + steps[-1].b == 2


@pytest.mark.parametrize("first, mistakes", [(4, [5, 3, 1]), (0, [3, 5, 1])])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_six_points_with_a_start(first, mistakes, layout):
    X, y = datasets.load_six_points()
    order = passes_of(6, 2, first)
    exact = reference.train(
        [[Fraction(value) for value in row] for row in X],
        y.tolist(),
        order,
        Rule(Fraction(1, 5), beta=1, margin=0, tie_plus=1, tie_minus=1),
        w=[Fraction(1), Fraction(1, 2)],
    )
    assert [mistake.index + 1 for mistake in exact.mistakes] == mistakes
    assert (exact.w, exact.b) == ([Fraction(1, 2), 1], Fraction(1, 5))
    fast = run(X, y, order, Rule(eta=0.2), layout, start=[1, 0.5, 0])
    assert [order[at] + 1 for at in fast.at] == mistakes
    np.testing.assert_allclose(fast.w, [0.5, 1.0, 0.2], rtol=1e-15)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_six_points_by_the_radius(layout):
    X, y = datasets.load_six_points()
    order = passes_of(6, 6)
    fast = run(X, y, order, Rule(beta=8.0), layout)
    assert (fast.w.tolist(), len(fast.at)) == ([1.5, 7.5, 8.0], 11)
    assert 24 <= fast.at.max() < 30  # the last mistake is in the fifth pass, the sixth is clean
