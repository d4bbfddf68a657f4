"""The nearest points of two hulls, exactly, by Wolfe's method (1976) in rationals.

With z_i = y_i x_i, the method minimises ‖Σ λ_i z_i‖² + β (Σ λ_i y_i)² over λ ≥ 0. Without a bias β is 0 and the
weights sum to 1. If the bias b costs b²/β, like the weight of a feature √β, they also sum to 1. If the bias is
free, they sum to 1 in each class, and the last term is 0.

A corral is a set of affinely independent rows whose affine hull is nearest to the origin at a point inside their
convex hull. A row that is nearer along that point than the corral enters, which keeps the rows independent; rows
that lose all weight leave. The distance falls with every row that enters, so no corral occurs twice, and the
method ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.rationals import common, independent, shifted, solve
from rosenblatt.certify.sides import ends, least
from rosenblatt.typing import Floats, Ints

Padding = (
    Fraction | None
)  # β, the square of the feature that the bias is the weight of; 0 without a bias, None if free


@dataclass(frozen=True, eq=False)
class Point:
    """A point of the hull, or the difference of points of two hulls: integers · 2**power / denominator."""

    rows: list[int]  # the rows that it is a combination of
    weights: list[Fraction]  # their weights, which sum to 1, with a free bias in each class
    columns: Ints  # the columns in which it may be non-zero
    integers: list[int]
    power: int
    denominator: int
    tilt: Fraction  # Σ λ_i y_i

    def square(self, padding: Padding) -> Fraction:
        """Return the squared distance from the origin, or between the two points."""
        total = sum(value * value for value in self.integers)
        length = shifted(total, 2 * self.power) / self.denominator**2
        return length + padding * self.tilt**2 if padding else length

    def direction(self, problem: SeparationProblem) -> tuple[Direction, Fraction] | None:
        """Return its direction, and the factor from the point to the direction; None if it is the origin."""
        if not any(self.integers):
            return None
        scale = problem.scale[self.columns]
        lowest = int(scale.min())
        full = [0] * problem.d
        for j, value, power in zip(self.columns.tolist(), self.integers, (scale - lowest).tolist(), strict=True):
            full[j] = value << power
        v = Direction.of_integers(full)
        return v, self.denominator * shifted(1, v.power - lowest - self.power)


def point_of(problem: SeparationProblem, rows: Sequence[int], weights: Sequence[Fraction]) -> Point:
    """Return the point with the given weights of rows, exactly."""
    shares, denominator = common(weights)
    y = problem.y[list(rows)].astype(int).tolist()
    parts = problem.stored_integers(rows, np.zeros_like(problem.scale))
    power = min(each[2] for each in parts)
    sums: dict[int, int] = {}
    for (columns, integers, own), share, sign in zip(parts, shares, y, strict=True):
        factor = sign * share << (own - power)
        for j, value in zip(columns, integers, strict=True):
            sums[j] = sums.get(j, 0) + factor * value
    tilt = Fraction(sum(sign * share for sign, share in zip(y, shares, strict=True)), denominator)
    used = sorted(sums)
    totals = [sums[j] for j in used]
    return Point(list(rows), list(weights), np.array(used, np.int64), totals, power, denominator, tilt)


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores <v, x_i> of a direction in floats, a bound on their error, and the exact extremes by class."""

    v: Direction
    f: Floats
    error: float
    lowest: Fraction | None
    highest: Fraction | None

    @classmethod
    def of(cls, problem: SeparationProblem, v: Direction) -> Scores:
        """Return the scores of a direction; a class without rows has no extreme."""
        f, error = problem.scores(v)
        if len(problem.positive) and len(problem.negative):
            return cls(v, f, error, *ends(problem, v, f, error))
        alone = least(problem, v, f, error)
        return cls(v, f, error, *((alone, None) if len(problem.positive) else (None, -alone)))

    def row_at_end(self, problem: SeparationProblem, sign: int) -> int:
        """Return the first row that attains the extreme of its class."""
        side, end = (problem.positive, self.lowest) if sign > 0 else (problem.negative, self.highest)
        scores = sign * self.f[side]
        near = side[scores <= scores.min() + 2.0 * self.error]
        exact = problem.exact_scores(near, self.v)
        return int(near[exact.index(end)])  # type: ignore[arg-type]


class Corral:
    """Rows, and the point of their affine hull nearest to the origin, which is inside their convex hull.

    It begins with some rows of `hint`, which may be any rows, of both classes if the bias is free.
    """

    def __init__(self, problem: SeparationProblem, padding: Padding, hint: Sequence[int]) -> None:
        self.problem, self.padding = problem, padding
        self.rows = self._independent(list(hint))
        self.weights = self._affine(self.rows)
        while min(self.weights) <= 0:  # the last row of a class has weight 1, and stays
            self.rows.pop(self.weights.index(min(self.weights)))
            self.weights = self._affine(self.rows)

    def point(self) -> Point:
        """Return the point."""
        return point_of(self.problem, self.rows, self.weights)

    def entering(self, scores: Scores, b: Fraction) -> int | None:
        """Return a row that is nearer along the point than the corral, or None if the corral is optimal.

        The scores are those of the direction of the point, and b is its bias, which is unused if the bias is free.
        """
        own = dict(zip(self.rows, self.problem.exact_scores(np.array(self.rows), scores.v), strict=True))
        lacks = {}
        for sign, end in ((1, scores.lowest), (-1, scores.highest)):
            if end is None:
                continue
            if self.padding is None:
                of_class = next(f for i, f in own.items() if self.problem.y[i] == sign)
                lacks[sign] = sign * (of_class - end)
            else:
                first = self.rows[0]
                lacks[sign] = int(self.problem.y[first]) * (own[first] + b) - sign * (end + b)
        sign = max(lacks, key=lambda each: lacks[each])
        return scores.row_at_end(self.problem, sign) if lacks[sign] > 0 else None

    def enter(self, row: int) -> None:
        """Let a row enter, and move to the nearest point; rows that lose their weight on the way leave."""
        rows, weights = [*self.rows, row], [*self.weights, Fraction(0)]
        while True:
            target = self._affine(rows)
            falling = [
                (have / (have - want), k)
                for k, (have, want) in enumerate(zip(weights, target, strict=True))
                if want <= 0 and have > want
            ]
            if not falling:
                break
            step, _ = min(falling)
            weights = [have + step * (want - have) for have, want in zip(weights, target, strict=True)]
            kept = [k for k, weight in enumerate(weights) if weight > 0]
            rows, weights = [rows[k] for k in kept], [weights[k] for k in kept]
        self.rows, self.weights = rows, target

    def _groups(self, rows: Sequence[int]) -> list[list[int]]:
        """Return for each row the sums of weights that it belongs to."""
        if self.padding is not None:
            return [[1] for _ in rows]
        return [[int(self.problem.y[i] > 0), int(self.problem.y[i] < 0)] for i in rows]

    def _table(self, rows: Sequence[int]) -> tuple[list[list[int]], int]:
        """Return z_i as integers in the columns used by any of the rows, and their power of two."""
        parts = self.problem.stored_integers(rows, np.zeros_like(self.problem.scale))
        power = min(each[2] for each in parts)
        used: dict[int, int] = {}
        for columns, _, _ in parts:
            for j in columns:
                used.setdefault(j, len(used))
        table = []
        signs = self.problem.y[list(rows)].astype(int).tolist()
        for (columns, integers, own), sign in zip(parts, signs, strict=True):
            full = [0] * max(len(used), 1)
            for j, value in zip(columns, integers, strict=True):
                full[used[j]] = sign * value << (own - power)
            table.append(full)
        return table, power

    def _independent(self, rows: list[int]) -> list[int]:
        table, _ = self._table(rows)
        y = self.problem.y[rows].astype(int).tolist()
        tilts: list[list[int]] = [[sign] for sign in y] if self.padding else [[] for _ in y]
        wide = [[*group, *tilt, *row] for group, tilt, row in zip(self._groups(rows), tilts, table, strict=True)]
        kept, _ = independent(wide)
        return [rows[k] for k in kept]

    def _affine(self, rows: Sequence[int]) -> list[Fraction]:
        """Return the weights of the nearest point of the affine hull, which has equal products with each group."""
        table, power = self._table(rows)
        T = fmpz_mat(table)
        products = (T * T.transpose()).table()
        own = self.padding * shifted(1, -2 * power) if self.padding else Fraction(0)
        y = self.problem.y[list(rows)].astype(int).tolist()
        groups = self._groups(rows)
        width = len(groups[0])
        equations = [
            [
                *(int(value) * own.denominator + own.numerator * y[i] * y[k] for k, value in enumerate(line)),
                *groups[i],
            ]
            for i, line in enumerate(products)
        ]
        equations += [[*column, *[0] * width] for column in zip(*groups, strict=True)]
        found = solve(equations, [0] * len(rows) + [1] * width)
        assert found is not None, "the rows of a corral are affinely independent"
        return [Fraction(value, found[1]) for value in found[0][: len(rows)]]
