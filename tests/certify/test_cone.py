"""Double description against the vertices that other software finds."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from rosenblatt.theory.set_margin import Cone
from tests.shared.examples import examples


@settings(max_examples=examples(80))
@given(
    normals=st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=1, max_size=9)
    ),
    c=st.lists(st.integers(-4, 4), min_size=4, max_size=4),
)
def test_rays_and_lines_span_the_cone(normals, c):
    """The least value of any linear function over the cone, cut to a box, shows whether a ray points down."""
    d = len(normals[0])
    cone = Cone(d)
    for normal in normals:
        cone.cut(normal)
    A, c = np.array(normals), np.array(c[:d])
    for line in cone.lines:
        assert not (A @ line).any()
    for ray in cone.rays:
        assert (A @ ray >= 0).all()
        assert any(ray)
    least = linprog(c, A_ub=-A, b_ub=np.zeros(len(A)), bounds=[(-1, 1)] * d).fun
    points_down = any(c @ ray < 0 for ray in cone.rays) or any(c @ line != 0 for line in cone.lines)
    assert points_down == (least < -1e-9)


def test_no_ray_is_a_sum_of_others():
    square = Cone(3)  # over a square, so that each ray has two neighbours
    for normal in ([1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1], [1, 1, 2], [0, 0, 1]):
        square.cut(normal)
    assert sorted(map(tuple, square.rays)) == [(-1, -1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, 1)]
    assert square.lines == []
    assert all(Fraction(value).denominator == 1 for ray in square.rays for value in ray)
