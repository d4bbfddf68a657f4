"""The largest margin, enclosed by two rationals: hyperplanes prove lower bounds, points of the hulls upper bounds.

With w the normal vector, b the bias and `least` the smallest y f over all rows, γ ≥ least/‖w‖. And γ is at most
half the distance between any two points of the two hulls, or, without a bias, the distance from the origin of any
point of the hull of the y_i x_i. Floats propose both. If the margin is held by few rows, their equations are
solved exactly, and the bounds are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rosenblatt.certify.decide import Plane
from rosenblatt.certify.nearest_points import Corral, Padding, Point, Scores, point_of
from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.rationals import exact, root_above, root_below
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.exceptions import NotSeparableError, TrainingOverflowError
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, as_rows, read_only
from rosenblatt.typing import Floats, Ints

# These limit the exact method, and decide nothing: beyond them the margin stays an interval.
MAX_ROWS = 60  # rows of its equations
MAX_STEPS = 500  # steps
MAX_COLUMNS = 60_000  # columns of the rows


@dataclass(frozen=True, eq=False)
class Margin:
    """An interval that contains the maximum margin γ, with the proofs of its ends.

    Iteration gives the interval in floats, rounded outward: ``low, high = margin``.

    Attributes
    ----------
    squared : tuple of two Fractions
        lo ≤ γ² ≤ hi, exactly.
    w, b, least : tuple of Fractions, Fraction, Fraction
        A hyperplane with y f ≥ least on every row, which proves lo.
    rows, weights : ndarray of int, tuple of Fractions
        Rows and their positive weights, which prove hi. The weights sum to 1 in each class, or in total if there
        is no bias or a padded one.
    padding : Fraction or None
        β, if γ is the margin of rows padded with √β: the smallest y f / sqrt(‖w‖² + b²/β). 0 means no bias, None a
        free one.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.certify(*rb.datasets.load_and(), margin=True).margin
    >>> str(found.squared[0]), found.exact
    ('1/8', True)
    """

    squared: tuple[Fraction, Fraction]
    w: tuple[Fraction, ...] = field(repr=False)
    b: Fraction = field(repr=False)
    least: Fraction = field(repr=False)
    rows: Ints = field(repr=False)
    weights: tuple[Fraction, ...] = field(repr=False)
    padding: Padding = None

    @cached_property
    def low(self) -> float:
        """The largest float that is a lower bound on γ."""
        return root_below(self.squared[0])

    @cached_property
    def high(self) -> float:
        """The smallest float that is an upper bound on γ."""
        return root_above(self.squared[1])

    @property
    def interval(self) -> tuple[float, float]:
        """`low` and `high`."""
        return self.low, self.high

    @property
    def exact(self) -> bool:
        """Whether γ² is known exactly: it is `squared[0]`."""
        return self.squared[0] == self.squared[1]

    @property
    def support(self) -> Ints:
        """The support vectors: `rows` in increasing order."""
        return np.sort(self.rows)

    @property
    def normal_square(self) -> Fraction:
        """‖w‖², or ‖w‖² + b²/β with a padding."""
        square = sum((value * value for value in self.w), Fraction(0))
        return square + self.b**2 / self.padding if self.padding else square

    def rewritten(self, names: Ints, factor: Fraction) -> Margin:
        """Return the margin with row i renamed to names[i] and its hyperplane multiplied by a positive factor."""
        w, b = tuple(factor * value for value in self.w), factor * self.b
        return replace(self, rows=names[self.rows], w=w, b=b, least=factor * self.least)

    def __iter__(self) -> Iterator[float]:
        return iter(self.interval)


def margin_of(problem: SeparationProblem, plane: Plane, clock: Clock, *, padding: Padding = None) -> Margin | None:
    """Return an interval that contains the maximum margin of rows that `plane` separates.

    With a padding β > 0 the bias counts as the weight of a feature √β; else the bias of the problem, if any, is
    free. When the time is over, the interval found so far is returned. Returns None if there is only one class and
    the bias is free, because margins are then unbounded.

    Examples
    --------
    >>> from rosenblatt.certify.decide import decide
    >>> from rosenblatt.datasets import load_or
    >>> X, y = load_or()
    >>> problem = SeparationProblem(as_rows(X), np.where(y > 0, 1.0, -1.0), bias=True)
    >>> found = margin_of(problem, decide(problem, Clock(None)), Clock(None))
    >>> found.squared[0], found.exact, found.support
    (Fraction(1, 8), True, array([0, 1, 2]))
    """
    if not problem.bias:
        padding = Fraction(0)
    elif padding is None and not (len(problem.positive) and len(problem.negative)):
        return None
    bracket = _Bracket(problem, padding)
    scores = bracket.raise_low(plane.v, plane.b)
    ends = [scores.row_at_end(problem, sign) for sign in (1, -1) if (problem.y == sign).any()]
    hint = ends
    try:
        proposal = _proposal(problem, padding, clock)
        if proposal is not None:
            v, b, rows, weights = proposal
            bracket.raise_low(v, b)
            bracket.lower_high(point_of(problem, rows, weights))
            hint = rows
        if len(hint) <= MAX_ROWS and problem.d <= MAX_COLUMNS:
            _close(bracket, Corral(problem, padding, hint), clock)
    except Unsettled:
        pass  # the bounds found so far hold
    if bracket.point is None:
        count = 1 if padding is None else len(ends)
        bracket.lower_high(point_of(problem, ends, [Fraction(1, count)] * len(ends)))
    return bracket.result()


def _close(bracket: _Bracket, corral: Corral, clock: Clock) -> None:
    """Take the bounds of one corral after the other, until they are equal or the corral is too large."""
    problem = bracket.problem
    for _ in range(MAX_STEPS):
        point = corral.point()
        bracket.lower_high(point)
        clock.check("solving for the maximum margin")
        direction = point.direction(problem)
        if direction is None:  # padded rows of one class around the origin: the point is all bias
            others = problem.negative if point.tilt > 0 else problem.positive
            row = int(others[0]) if len(others) else None
        else:
            v, factor = direction
            b = bracket.padding * point.tilt * factor if bracket.padding else Fraction(0)
            row = corral.entering(bracket.raise_low(v, b), b)
        if row is None or len(corral.rows) >= MAX_ROWS:
            return
        corral.enter(row)


class _Bracket:
    """The best bounds so far."""

    def __init__(self, problem: SeparationProblem, padding: Padding) -> None:
        self.problem, self.padding = problem, padding
        self.low, self.high = Fraction(0), Fraction(0)
        self.plane: tuple[list[Fraction], Fraction, Fraction] | None = None
        self.point: Point | None = None

    def raise_low(self, v: Direction, b: Fraction) -> Scores:
        """Take the lower bound of a plane, with the best bias if that is free; return the scores of the plane."""
        scores = Scores.of(self.problem, v)
        low, high = scores.lowest, scores.highest
        if self.padding is None:
            assert low is not None
            assert high is not None, "a free bias lies between two classes"
            b = -(low + high) / 2
        least = min(sign * (end + b) for sign, end in ((1, low), (-1, high)) if end is not None)
        if least > 0:
            w = self.problem.original(v.integers, v.power)
            square = sum((value * value for value in w), Fraction(0))
            if self.padding:
                square += b * b / self.padding
            if least**2 > self.low * square:
                self.low, self.plane = least**2 / square, (w, b, least)
        return scores

    def lower_high(self, point: Point) -> None:
        """Take the upper bound of a point."""
        high = point.square(self.padding) / (4 if self.padding is None else 1)
        if self.point is None or high < self.high:
            self.high, self.point = high, point

    def result(self) -> Margin:
        """Return the interval."""
        assert self.plane is not None, "the plane given separates the rows"
        assert self.point is not None, "some rows always name a point"
        w, b, least = self.plane
        rows, weights = np.array(self.point.rows), tuple(self.point.weights)
        return Margin((self.low, self.high), tuple(w), b, least, rows, weights, self.padding)


def _proposal(
    problem: SeparationProblem, padding: Padding, clock: Clock
) -> tuple[Direction, Fraction, list[int], list[Fraction]] | None:
    """Return the best plane according to floats, and rows with weights; None if floats find none."""
    from rosenblatt.margins.widest import max_margin

    clock.check("solving for the maximum margin")
    if not (len(problem.positive) and len(problem.negative)):
        return None
    root = root_below(padding) if padding else 0.0
    features = _padded(problem.features, root) if root else problem.features
    batch = Batch(
        features.rows,
        features.n_rows,
        features.n_features,
        codes=read_only((problem.y > 0.0).astype(np.int64)),
        classes=np.array([-1, 1]),
    )
    try:
        with np.errstate(all="ignore"):
            found = max_margin(batch, bias=padding is None, end=clock.end)
    except (NotSeparableError, TrainingOverflowError):
        return None
    direction = problem.direction(found.w[: problem.d])
    weights = _shares(problem, found.support, found.alpha, free=padding is None)
    if direction is None or weights is None:
        return None
    v, factor = direction
    return v, exact(root * found.w[-1]) * factor if root else Fraction(0), found.support.tolist(), weights


def _padded(features: Features, constant: float) -> Features:
    """Return rows with one more feature, a constant."""
    X: Any = features.native()
    column = np.full((features.n_rows, 1), constant)
    if isinstance(X, np.ndarray):
        return as_rows(np.hstack([X.astype(np.float64), column]))
    from scipy.sparse import csr_array, hstack

    return as_rows(hstack([X.astype(np.float64), csr_array(column)], format="csr"))


def _shares(problem: SeparationProblem, rows: Ints, alpha: Floats, *, free: bool) -> list[Fraction] | None:
    """Return dual weights as rationals that sum to 1, with a free bias in each class; None if impossible."""
    if not (len(rows) and np.isfinite(alpha).all() and (alpha > 0.0).all()):
        return None
    values = [exact(each) for each in alpha]
    groups = (problem.y[rows] if free else np.zeros(len(rows))).tolist()
    sums: dict[float, Fraction] = {}
    for group, value in zip(groups, values, strict=True):
        sums[group] = sums.get(group, Fraction(0)) + value
    if free and len(sums) < 2:
        return None
    return [value / sums[group] for group, value in zip(groups, values, strict=True)]
