"""Two quantities of any set of rows: its margin, at most 0 if it is not separable, and its total hinge loss.

The margin of a set is γ(D) = max over hyperplanes of min y f/‖w‖. For rows that no hyperplane separates it is
−1/m, where m is the largest ‖w‖ with y f ≥ −1 on every row. That is a convex maximum over a polyhedron, attained
at a vertex. The vertices are enumerated for a few rows; the best is checked on all rows, and the row that it
violates most joins the few, until none is violated. Fewer rows have a larger margin, so each step gives an upper
bound, and each vertex checked on all rows a lower one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, isqrt, nextafter
from operator import mul

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.certify.nearest_points import Scores
from rosenblatt.certify.problem import Direction
from rosenblatt.certify.rationals import above, below, root_above, root_below, shifted
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.exceptions import UndecidedError
from rosenblatt.parameters import check_number
from rosenblatt.theory.training_set import TrainingSet, as_hyperplane, norm_square
from rosenblatt.typing import ColumnLike, MatrixLike

__all__ = ["Cone", "Enclosed", "set_margin", "total_hinge_loss"]


# The extreme rays of a polyhedral cone {x : <a, x> ≥ 0 for every a}, by double description in integers.

Integers = list[int]


class Cone:
    """A cone that starts as the whole space and is cut by one halfspace after another.

    Its points are the sums of multiples of `lines` and of nonnegative multiples of `rays`; no ray is such a sum of
    other rays.

    Examples
    --------
    >>> quadrant = Cone(2)
    >>> quadrant.cut([1, 0])
    >>> quadrant.cut([0, 1])
    >>> sorted(quadrant.rays), quadrant.lines
    ([[0, 1], [1, 0]], [])
    """

    def __init__(self, dimension: int) -> None:
        self.lines: list[Integers] = [[int(i == j) for j in range(dimension)] for i in range(dimension)]
        self.rays: list[Integers] = []
        self._tight: list[int] = []  # for each ray, the halfspaces on whose boundary it lies, as bits
        self._n_cuts = 0

    def cut(self, normal: Sequence[int]) -> None:
        """Keep the points x with <normal, x> ≥ 0."""
        bit = 1 << self._n_cuts
        self._n_cuts += 1
        heights = [_dot(normal, line) for line in self.lines]
        leaving = next((i for i, height in enumerate(heights) if height), None)
        if leaving is None:
            self._split(normal, bit)
            return
        # One line leaves the boundary and becomes a ray; all others move along it until they lie in the boundary.
        line, height = self.lines.pop(leaving), heights.pop(leaving)
        line, height = (line, height) if height > 0 else ([-value for value in line], -height)
        self.lines = [
            _reduced(_less(height, each, own, line)) for each, own in zip(self.lines, heights, strict=True)
        ]
        self.rays = [_reduced(_less(height, ray, _dot(normal, ray), line)) for ray in self.rays]
        self._tight = [tight | bit for tight in self._tight]
        self.rays.append(_reduced(line))
        self._tight.append(bit - 1)

    def _split(self, normal: Sequence[int], bit: int) -> None:
        """Drop the rays outside, and add one on the boundary between each two neighbours that it separates."""
        heights = [_dot(normal, ray) for ray in self.rays]
        inside = [i for i, height in enumerate(heights) if height > 0]
        outside = [i for i, height in enumerate(heights) if height < 0]
        kept = [i for i, height in enumerate(heights) if height >= 0]
        rays = [self.rays[i] for i in kept]
        tight = [self._tight[i] | (bit if heights[i] == 0 else 0) for i in kept]
        for i in inside:
            for j in outside:
                if self._are_neighbours(i, j):
                    rays.append(_reduced(_less(heights[i], self.rays[j], heights[j], self.rays[i])))
                    tight.append((self._tight[i] & self._tight[j]) | bit)
        self.rays, self._tight = rays, tight

    def _are_neighbours(self, i: int, j: int) -> bool:
        """Return whether no other ray lies in every boundary that both lie in."""
        shared = self._tight[i] & self._tight[j]
        dimension = len(self.rays[i]) - len(self.lines)
        if shared.bit_count() < dimension - 2:
            return False
        return all(shared & ~tight for k, tight in enumerate(self._tight) if k not in (i, j))


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(map(mul, a, b))


def _less(p: int, a: Integers, q: int, b: Integers) -> Integers:
    """Return p a − q b."""
    return [p * x - q * y for x, y in zip(a, b, strict=True)]


def _reduced(values: Integers) -> Integers:
    divisor = gcd(*values)
    return [value // divisor for value in values] if divisor > 1 else values


MOST_RAYS = 1500  # of the polyhedron of a few rows; beyond it the margin stays an interval


@dataclass(frozen=True)
class Enclosed:
    """A number between two floats; ``low, high = found`` gives them.

    Attributes
    ----------
    low, high : float
        Two floats that enclose the number. They are equal or neighbours if it is known exactly.
    rational : Fraction or None
        The number itself, if it is known exactly and rational.
    """

    low: float
    high: float
    rational: Fraction | None = None

    @property
    def exact(self) -> bool:
        """Whether no float lies between `low` and `high`."""
        return self.high <= nextafter(self.low, inf)

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))


def set_margin(
    X: MatrixLike,
    y: ColumnLike,
    w: ArrayLike | None = None,
    b: float = 0.0,
    *,
    bias: bool = True,
    time_limit: float | None = None,
) -> Enclosed:
    """Return the margin of a set: the largest value over all hyperplanes of the smallest y f(x)/‖w‖.

    It is positive if a hyperplane separates the rows. Otherwise it is at most 0, and rows must move by up to −γ
    before a hyperplane has no row on its wrong side. All arithmetic that decides is exact.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
        The examples.
    y : sequence, shape (n_rows,)
        Their labels, of two classes.
    w, b : array-like and float, optional
        A hyperplane. If it is given, the result is its smallest y f(x)/‖w‖, not the maximum over all.
    bias : bool
        Whether hyperplanes may leave the origin.
    time_limit : float or None
        Seconds after which an interval found so far is returned; None means no limit.

    Returns
    -------
    Enclosed
        Exact for few features. An inseparable set of more than five or six features may have a wide interval,
        because the number of vertices grows fast with the number of features.

    Raises
    ------
    UndecidedError
        If the time limit is reached before it is known whether the rows are separable.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or, load_xor
    >>> set_margin(*load_or())
    Enclosed(low=0.35355339059327373, high=0.3535533905932738, rational=None)
    >>> set_margin(*load_xor())
    Enclosed(low=-0.3535533905932738, high=-0.35355339059327373, rational=None)
    >>> set_margin(*load_xor(), [1, 0], -0.5).rational
    Fraction(-1, 2)
    """
    sample = TrainingSet(X, y, Clock(time_limit))
    if w is not None:
        normal, offset = as_hyperplane(sample, w, b)
        return _signed_root(sample.least(normal, offset), norm_square(normal, offset, Fraction(0)))
    try:
        margin = sample.margin(None if bias else Fraction(0))
    except Unsettled as end:
        raise UndecidedError(f"The margin is not known: {end}") from end
    if margin is not None:
        low, high = margin.squared
        known = _signed_root(Fraction(1), 1 / low)
        return known if margin.exact else Enclosed(root_below(low), root_above(high))
    return _Depth(sample, bias=bias).found()


def total_hinge_loss(X: MatrixLike, y: ColumnLike, w: ArrayLike, b: float = 0.0, *, gamma: float) -> Enclosed:
    """Return D = Σ max(0, 1 − y f(x)/(γ‖w‖)), the total hinge loss of a hyperplane at margin γ.

    It is 0 exactly if the hyperplane separates the rows with margin γ. The mistake bounds for rows that are not
    separable contain it (Freund and Schapire 1999; Gentile 2003).

    Parameters
    ----------
    X, y
        As for `set_margin`.
    w, b : array-like and float
        The hyperplane.
    gamma : float
        The margin γ > 0, as a distance.

    Returns
    -------
    Enclosed
        Two neighbouring floats, and the rational if γ‖w‖ is one.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> total_hinge_loss(*load_xor(), [1, 0], -0.5, gamma=0.5)
    Enclosed(low=4.0, high=4.0, rational=Fraction(4, 1))
    """
    check_number("gamma", gamma, above=0)
    sample = TrainingSet(X, y)
    normal, offset = as_hyperplane(sample, w, b)
    square = norm_square(normal, offset, Fraction(0)) * Fraction(gamma) ** 2
    scores = sample.exact_scores(normal, offset)
    short = [score for score in scores if score <= 0 or score**2 < square]
    total = sum(short, Fraction(0))
    part = _signed_root(total, square)
    count = len(short)
    if part.rational is not None:
        value = count - part.rational
        return Enclosed(below(value), above(value), value)
    return _refined(count, total, square)


def _rational_root(square: Fraction) -> Fraction | None:
    p, q = isqrt(square.numerator), isqrt(square.denominator)
    return Fraction(p, q) if p * p == square.numerator and q * q == square.denominator else None


def _signed_root(value: Fraction, square: Fraction) -> Enclosed:
    """Return value/√square, enclosed."""
    root = _rational_root(square)
    if root is not None or not value:
        found = value / root if root else Fraction(0)
        return Enclosed(below(found), above(found), found)
    size = value**2 / square
    low, high = root_below(size), root_above(size)
    return Enclosed(low, high) if value > 0 else Enclosed(-high, -low)


def _refined(count: int, total: Fraction, square: Fraction) -> Enclosed:
    """Return count − total/√square between neighbouring floats: digits are added until both ends round alike."""
    size, bits = total**2 / square, 64
    while True:
        scaled = (size.numerator << 2 * bits) // size.denominator
        least = isqrt(scaled)
        ends = [Fraction(least, 1 << bits), Fraction(least + 1, 1 << bits)]
        values = sorted(count - end if total > 0 else count + end for end in ends)
        low, high = below(values[0]), above(values[1])
        if high <= nextafter(low, inf):
            return Enclosed(low, high)
        bits *= 2


class _Depth:
    """The search for the margin of rows that no hyperplane separates."""

    def __init__(self, sample: TrainingSet, *, bias: bool) -> None:
        self.sample, self.bias = sample, bias
        self.problem = sample.problem(bias=bias)
        # Points of the cone are (w, b, t) with y f + t ≥ 0, in columns scaled by powers of two.
        self.cone = Cone(self.problem.width + 1)
        self.cone.cut([0] * self.problem.width + [1])
        self.low, self.high = -inf, Enclosed(0.0, 0.0, Fraction(0))
        self.used: set[int] = set()

    def found(self) -> Enclosed:
        """Return the margin, or an interval where there are too many vertices or the time is over."""
        try:
            while len(self.cone.rays) <= MOST_RAYS:
                self.sample.clock.check("enumerating vertices")
                point, square = self._best()
                row = self._violated(point)
                if row is None:
                    return self.high if square is not None else Enclosed(0.0, 0.0, Fraction(0))
                if row in self.used:  # only rounding in floats could lead here, and it decides nothing
                    break
                self._add(row)
        except Unsettled:
            pass  # the interval found so far holds
        return Enclosed(self.low, self.high.high)

    def _best(self) -> tuple[list[int], Fraction | None]:
        """Return the point of the largest ‖w‖/t, and ‖w‖² if t is scaled to 1; None means that it is unbounded."""
        for line in self.cone.lines:
            return line, None
        best: tuple[list[int], Fraction] | None = None
        for ray in self.cone.rays:
            w = self.problem.original(ray)
            square = sum((value * value for value in w), Fraction(0))
            if not ray[-1]:
                if square:
                    return ray, None
                continue
            square /= ray[-1] ** 2
            if best is None or square > best[1]:
                best = ray, square
        assert best is not None, "a bounded polyhedron has vertices"
        self.high = _signed_root(Fraction(-1), best[1]) if best[1] else self.high
        return best

    def _violated(self, point: list[int]) -> int | None:
        """Return the row that a point violates most, or None; keep the lower bound that the point proves."""
        row, least = self._least(point)
        if point in self.cone.lines:
            if least < 0:
                return row
            row, least = self._least([-value for value in point])
            return row if least < 0 else None
        square = sum((value * value for value in self.problem.original(point)), Fraction(0))
        if square:
            self.low = max(self.low, _signed_root(least, square).low)
        return None if least >= -point[-1] else row

    def _least(self, point: list[int]) -> tuple[int, Fraction]:
        """Return the row of the smallest y f, and its value, exactly."""
        problem, w = self.problem, point[: self.problem.d]
        b = Fraction(point[-2]) if self.bias else Fraction(0)
        if not any(w):
            side = problem.negative if b > 0 else problem.positive
            return int(side[0]), -abs(b)
        v = Direction.of_integers(w)
        scores, unit = Scores.of(problem, v), shifted(1, -v.power)
        assert scores.lowest is not None, "rows of one class are separable"
        assert scores.highest is not None, "rows of one class are separable"
        ends = [(scores.lowest * unit + b, 1), (-(scores.highest * unit + b), -1)]
        least, sign = min(ends)
        return scores.row_at_end(problem, sign), least

    def _add(self, row: int) -> None:
        self.used.add(row)
        (integers,), (power,) = self.problem.integer_rows(np.array([row]))
        # The row is 2**power times its integers; t must be scaled likewise.
        one = Fraction(1, 2**power) if power >= 0 else Fraction(2**-power)
        normal = [value * one.denominator for value in integers] + [one.numerator]
        self.cone.cut(normal)
