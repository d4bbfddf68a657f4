"""The interval around the maximum margin: against all supports tried in turn, floats, and at the extremes."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.certify import margin as module
from rosenblatt.certify.decide import Plane, decide
from rosenblatt.certify.margin import margin_of
from rosenblatt.certify.nearest_points import Corral
from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.time_limit import Clock
from rosenblatt.exceptions import NotSeparableError
from rosenblatt.rows.features import as_rows
from tests.shared.examples import examples
from tests.shared.margin_oracles import largest_margin
from tests.shared.strategies import exact, problems, separable

FOREVER = Clock(None)


def posed(X, y, *, bias=True):
    return SeparationProblem(as_rows(X), np.where(np.asarray(y) > 0, 1.0, -1.0), bias=bias)


def found(X, y, *, bias=True, padding=None):
    """The margin, None if the rows do not separate; whatever it is proved by is checked first."""
    problem = posed(X, y, bias=bias)
    answer = decide(problem, FOREVER)
    if not isinstance(answer, Plane):
        return None
    margin = margin_of(problem, answer, FOREVER, padding=padding)
    if margin is not None:
        check_proof(margin, X, problem.y, free=bias and padding is None)
    return margin


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def check_proof(margin, X, y, *, free):
    """Check both ends in fractions, from what the margin says proves them."""
    X, y = exact(X.toarray() if hasattr(X, "toarray") else X), [int(label) for label in y]
    low, high = margin.squared
    assert 0 < low <= high
    assert Fraction(margin.low) ** 2 <= low
    assert high <= Fraction(margin.high) ** 2
    assert list(margin) == [margin.low, margin.high]
    assert margin.least > 0
    assert all(label * (dot(margin.w, x) + margin.b) >= margin.least for x, label in zip(X, y, strict=True))
    beta = margin.padding
    assert free == (beta is None)
    square = dot(margin.w, margin.w) + (margin.b**2 / beta if beta else 0)
    assert margin.b == 0 or beta != 0
    assert margin.normal_square == square
    assert low * square <= margin.least**2
    rows, weights = margin.rows.tolist(), margin.weights
    assert len(set(rows)) == len(rows)
    assert min(weights) > 0
    sides = [sum(p for i, p in zip(rows, weights, strict=True) if y[i] == sign) for sign in (1, -1)]
    assert sides == [1, 1] if free else sum(sides) == 1
    point = [
        dot([p * y[i] for i, p in zip(rows, weights, strict=True)], [X[i][j] for i in rows])
        for j in range(len(X[0]))
    ]
    distance = dot(point, point) + (beta or 0) * (sides[0] - sides[1]) ** 2
    assert distance <= high * (4 if free else 1)
    assert margin.support.tolist() == sorted(rows)


def eliminated(A, b):
    """Solve by Gauss in fractions; None if singular."""
    rows = [[*line, right] for line, right in zip(A, b, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        rows = [
            line if i == k else [p - line[k] * q for p, q in zip(line, rows[k], strict=True)]
            for i, line in enumerate(rows)
        ]
    return [line[-1] for line in rows]


def by_all_supports(X, y, *, bias=True, padding=None):
    """γ², by the nearest point of every face: the least over all rows that hold their own nearest point."""
    free = bias and padding is None
    Z = [[int(label) * value for value in x] for x, label in zip(exact(X), y, strict=True)]
    sides = [[Fraction(int(label > 0)), Fraction(int(label < 0))] if free else [Fraction(1)] for label in y]
    if padding:
        Z = [[*z, int(label)] for z, label in zip(Z, y, strict=True)]
        stretch = [Fraction(1)] * (len(Z[0]) - 1) + [padding]
    else:
        stretch = [Fraction(1)] * len(Z[0])
    best = None
    for S in chain.from_iterable(combinations(range(len(Z)), size) for size in range(1, len(Z[0]) + 3)):
        width = len(sides[0])
        A = [[*(dot([s * p for s, p in zip(stretch, Z[i], strict=True)], Z[k]) for k in S), *sides[i]] for i in S]
        A += [[*(sides[i][c] for i in S), *[Fraction(0)] * width] for c in range(width)]
        solution = eliminated(A, [Fraction(0)] * len(S) + [Fraction(1)] * width)
        if solution is None or min(solution[: len(S)]) < 0:
            continue
        point = [dot(solution[: len(S)], [Z[i][j] for i in S]) for j in range(len(Z[0]))]
        square = dot([s * p for s, p in zip(stretch, point, strict=True)], point)
        best = square if best is None else min(best, square)
    return best / 4 if free else best


KINDS = [
    {"bias": True},
    {"bias": False},
    {"bias": True, "padding": Fraction(1)},
    {"bias": True, "padding": Fraction(7, 3)},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=examples(80))
@given(problem=problems(most_rows=6, most_features=2))
def test_it_is_the_best_of_all_supports(kind, problem):
    margin = found(*problem, **kind)
    square = by_all_supports(*problem, **kind)
    if margin is None:
        assert square == 0
    else:
        assert margin.exact
        assert margin.squared[0] == square


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=examples(60))
@given(problem=problems(most_rows=8, most_features=3))
def test_without_a_proposal_it_is_the_same(kind, problem):
    """Floats that cannot say leave all to the exact method, which begins at the two rows next to the plane."""
    whole = found(*problem, **kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_proposal", lambda *_: None)
        alone = found(*problem, **kind)
    assert (whole is None) == (alone is None)
    if whole is not None:
        assert alone.exact
        assert alone.squared == whole.squared


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=examples(40))
@given(problem=problems(most_rows=8, most_features=3))
def test_what_floats_prove_alone_holds_too(kind, problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_ROWS", -1)
        rough = found(*problem, **kind)
    fine = found(*problem, **kind)
    if fine is not None:
        assert rough.squared[0] <= fine.squared[0] <= rough.squared[1]
        assert rough.high - rough.low <= 1e-9 * rough.high


def test_out_of_time_it_is_coarse_but_true():
    X, y = rb.datasets.load_six_points()
    problem = posed(X, y)
    margin = margin_of(problem, decide(problem, FOREVER), Clock(0.0))
    check_proof(margin, X, problem.y, free=True)
    assert margin.squared[0] <= Fraction(289, 592) <= margin.squared[1]


@pytest.mark.parametrize(
    "load, squared, support",
    [
        # OR: the line x1 + x2 = 1/2, 1/(2√2) from (0,0), (1,0) and (0,1). AND: the same line about (1,1).
        (rb.datasets.load_or, Fraction(1, 8), [0, 1, 2]),
        (rb.datasets.load_and, Fraction(1, 8), [1, 2, 3]),
        # Six points: (−1,−1.5)− and (2,−2)− make an edge with normal (1, 6), at −10; (1.5,−0.5)+ is at −1.5. Half
        # of 8.5/√37 is the margin: no positive point lies nearer ((−2,1): 4), nor a negative one ((−2,−2): −14).
        (rb.datasets.load_six_points, Fraction(17, 4) ** 2 / 37, [0, 3, 4]),
    ],
)
def test_margins_known_by_hand(load, squared, support):
    X, y = load()
    margin = found(X, y)
    assert margin.squared == (squared, squared)
    assert margin.support.tolist() == support
    assert margin.exact


def test_the_padded_margin_is_not_the_margin_with_a_bias():
    """OR padded with 1: the plane (4, 4, −2)/3 … (2, 2, −1) has y f ≥ 1 and ‖·‖² = 9."""
    X, y = rb.datasets.load_or()
    assert found(X, y, padding=Fraction(1)).squared[0] == Fraction(1, 9)
    assert found(X, y, bias=False) is None


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 60), d=st.integers(1, 6), sparse=st.booleans())
def test_it_agrees_with_floats(seed, n, d, sparse):
    X, y = separable(n, d, seed=seed)
    if len(set(y)) < 2:
        return
    margin = found(csr_array(X) if sparse else X, y)
    clf = rb.MaxMarginClassifier().fit(X, y)
    assert margin.exact
    assert clf.margin_ == pytest.approx(margin.low, rel=1e-9)
    assert margin.low == pytest.approx(largest_margin(X, y), rel=1e-6)
    padded = found(X, y, padding=Fraction(4))
    wide = np.hstack([X, np.full((len(X), 1), 2.0)])
    assert padded.low == pytest.approx(largest_margin(wide, y, bias=False), rel=1e-6)
    assert padded.squared == found(wide, y, bias=False).squared


def test_more_rows_than_the_exact_method_takes_leave_an_interval():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 100))
    y = np.where(rng.standard_normal(150) > 0, 1, -1)
    margin = found(X, y)
    assert len(margin.rows) > module.MAX_ROWS
    assert not margin.exact
    assert margin.high - margin.low <= 1e-10 * margin.high


@pytest.mark.parametrize("exponent", [-1000, -600, 0, 600, 1000])
@pytest.mark.parametrize("kind", KINDS[:2], ids=str)
def test_the_scale_of_the_data_is_the_scale_of_the_margin(exponent, kind):
    X = np.array([[3.0, 1.0], [2.0, 5.0], [-1.0, 0.5], [-2.0, 7.0]])
    y = [1, 1, -1, -1]
    unit, other = found(X, y, **kind), found(np.ldexp(X, exponent), y, **kind)
    assert other.exact
    assert other.squared[0] == unit.squared[0] * Fraction(2) ** (2 * exponent)


@pytest.mark.parametrize(
    "X, y, squared",
    [
        ([[0.3], [0.1 + 0.2]], [-1, 1], (Fraction(0.1 + 0.2) - Fraction(0.3)) ** 2 / 4),
        ([[1e300], [np.nextafter(1e300, np.inf)]], [-1, 1], None),
        ([[1.0, 5e-324], [1.0, 0.0]], [1, -1], Fraction(5e-324) ** 2 / 4),
        ([[1e300, 0.0], [0.0, 1e-300], [-1e300, 0.0]], [1, 1, -1], None),
        ([[2.0**60, 1.0], [1.0, -(2.0**-70)]], [1, -1], None),
    ],
)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_extremes(X, y, squared, kind):
    X = np.array(X)
    margin = found(X, y, **kind)
    if margin is None:
        assert by_all_supports(X, y, **kind) == 0
        return
    assert margin.exact
    assert margin.squared[0] == by_all_supports(X, y, **kind)
    if squared is not None and kind == {"bias": True}:
        assert margin.squared[0] == squared


def test_floats_that_find_no_margin_are_not_needed():
    """Two parallel lines of points, 2⁻⁵¹ apart: MaxMarginClassifier gives up."""
    t = np.arange(-4.0, 5.0)
    X = np.column_stack([np.tile(t, 2), np.repeat([1.0, 1.0 + 2.0**-51], 9)])
    y = np.repeat([-1, 1], 9)
    with pytest.raises(NotSeparableError):
        rb.MaxMarginClassifier().fit(X, y)
    assert found(X, y).squared == (Fraction(1, 4**52),) * 2


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_class(label):
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    y = np.full(3, label)
    free = SeparationProblem(as_rows(X), y, bias=True)
    plane = Plane(Direction.of_floats(label * np.ones(2)), Fraction(0))
    assert margin_of(free, plane, FOREVER) is None
    through = SeparationProblem(as_rows(X), y, bias=False)
    assert margin_of(through, plane, FOREVER).squared == (Fraction(9, 2),) * 2
    assert margin_of(free, plane, FOREVER, padding=Fraction(1)).squared == (Fraction(11, 2),) * 2


def test_a_corral_whose_point_is_all_bias():
    """Padded rows of one class around the origin are nearest to it where w = 0, which is no hyperplane."""
    X, y, beta = np.array([[10.0], [-10.0], [14.0]]), [1, 1, -1], Fraction(1)
    problem = posed(X, y)
    bracket = module._Bracket(problem, beta)
    module._close(bracket, Corral(problem, beta, [0, 1]), FOREVER)
    assert (
        bracket.low == bracket.high == by_all_supports(X, y, padding=beta) == found(X, y, padding=beta).squared[0]
    )
