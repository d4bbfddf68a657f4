"""The simplex method in rationals, which decides what floats cannot.

It minimises ‖Σ λ_i z_i‖₁ over λ ≥ 0, Σ λ_i = 1. If the minimum is 0, these λ prove that nothing separates the
rows. If it is t > 0, the multipliers v of the equations have z_i·v ≥ t for every row.

A basis is a set of rows, and one coordinate fewer in which their weighted sum is 0. The method minimises the sum
in the other coordinates, the rest; a coordinate that has reached 0 stays there. All of this is exact: floats only
choose which row enters next, and any row with z_i·v < t may enter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul
from typing import NamedTuple, TypeAlias

import numpy as np

from rosenblatt.certify.rationals import UNIT, independent, nearest, solve
from rosenblatt.certify.time_limit import Clock, exact_work
from rosenblatt.typing import Floats, Ints

_Leaving: TypeAlias = tuple[int, int, bool, int]
MAX_IDLE_PIVOTS = (
    50  # after this many pivots without progress the lowest row enters, which cannot cycle (Bland 1977)
)


@dataclass(frozen=True, eq=False)
class Meeting:
    """Rows with positive integer weights and Σ λ_i z_i = 0, and whether they are known to span the whole space."""

    rows: Ints
    weights: list[int]
    spanning: bool = False


class Multipliers(NamedTuple):
    """The multipliers of a basis as integers over one denominator: z_i·v = t for the rows of the basis."""

    v: list[int]
    t: int
    denominator: int


class Simplex:
    """A basis of rows z_i; it begins with some rows of `hint`, which may be any rows."""

    def __init__(self, rows: list[list[int]], hint: Sequence[int] = (0,)) -> None:
        self.rows: list[list[int]] = []
        self.bits = 1
        self.width = len(rows[0])
        self.floats, self.units = np.empty((0, self.width)), np.empty(0)
        self.extend(rows)
        self.basis, self.solved, self.weights = _feasible(rows, list(hint))
        held = set(self.solved)
        self.rest = [j for j in range(self.width) if j not in held]
        self.signs = [-1 if self._sum(j) < 0 else 1 for j in self.rest]
        self.idle = 0

    def extend(self, rows: list[list[int]]) -> None:
        """Add rows."""
        self.rows = self.rows + rows
        self.bits = max(self.bits, *(max(map(int.bit_length, row)) for row in rows))
        self.floats = np.vstack([self.floats, as_floats(rows)])
        self.units = np.append(self.units, [nearest(1, size) for size in map(_size, rows)])

    @property
    def meets(self) -> bool:
        """Whether the weighted sum is 0 in every coordinate: nothing separates the rows."""
        return all(self._sum(j) == 0 for j in self.rest)

    def meeting(self, names: Ints, powers: list[int]) -> Meeting:
        """Return the rows with weight, by their `names`; row i was divided by 2**powers[i]."""
        held = [(i, weight) for i, weight in zip(self.basis, self.weights, strict=True) if weight]
        highest = max(powers[i] for i, _ in held)
        weights = [weight << (highest - powers[i]) for i, weight in held]
        return Meeting(names[[i for i, _ in held]], weights, spanning=len(held) == self.width + 1)

    def optimum(self, clock: Clock) -> Multipliers | None:
        """Improve the basis to the optimum; return its multipliers if they separate the rows, else None."""
        while not self.meets:
            clock.spend(
                3 * exact_work(len(self.basis), self.bits) + self.floats.size, "making exact simplex steps"
            )
            at = self.multipliers()
            row = self.entering(at)
            if row is None:
                return at
            self.enter(row)
        return None

    def multipliers(self) -> Multipliers:
        """Return the multipliers of the basis."""
        target = [
            -sum(sign * self.rows[i][j] for sign, j in zip(self.signs, self.rest, strict=True)) for i in self.basis
        ]
        found = solve(self._matrix(), target)
        assert found is not None, "a basis is regular"
        (*some, t), denominator = found
        v = [0] * self.width
        for j, value in zip(self.solved, some, strict=True):
            v[j] = value
        for j, sign in zip(self.rest, self.signs, strict=True):
            v[j] = sign * denominator
        return Multipliers(v, -t, denominator)

    def entering(self, at: Multipliers) -> int | None:
        """Return a row with z_i·v < t, or None: the farthest as floats see it, or the lowest after idle pivots."""
        size = max(map(abs, (*at.v, at.t, 1)))
        v = np.array([nearest(value, size) for value in at.v])
        slack = self.floats @ v - nearest(at.t, size) * self.units
        doubt = 2.0 * (self.width + 4) * UNIT * (np.abs(v).sum() + 1.0)  # a bound on the rounding error
        if self.idle < MAX_IDLE_PIVOTS:
            order: Iterator[int] = iter(np.argsort(slack, kind="stable").tolist())
            candidates = (i for i in order if slack[i] <= doubt)
        else:
            candidates = (i for i in range(len(self.rows)) if slack[i] <= doubt)
        for i in candidates:
            if _dot(self.rows[i], at.v) < at.t:
                return i
        return None

    def enter(self, row: int) -> None:
        """Let a row enter the basis; the row or coordinate that reaches 0 first leaves it.

        Among rows that reach 0 together the one that changes most leaves, or the lowest after idle pivots.
        """
        z = self.rows[row]
        change, denominator = self._change(z)
        leaving: _Leaving | None = None  # a ratio, whether a row leaves or a coordinate, and its place
        for k, (j, sign) in enumerate(zip(self.rest, self.signs, strict=True)):
            rate = sign * (_dot(change, [self.rows[i][j] for i in self.basis]) - z[j] * denominator)
            if rate > 0:
                leaving = _sooner(leaving, (sign * self._sum(j), rate, False, k))
        first = self.basis.__getitem__ if self.idle >= MAX_IDLE_PIVOTS else (lambda k: -change[k])
        for k in sorted(range(len(self.basis)), key=first):
            if change[k] > 0:
                leaving = _sooner(leaving, (self.weights[k], change[k], True, k))
        assert leaving is not None, "weights sum to 1, and so are bounded"
        amount, _, is_row, k = leaving
        self.idle = 0 if amount else self.idle + 1
        if is_row:
            self.basis[k] = row
        else:
            self.solved.append(self.rest.pop(k))
            del self.signs[k]
            self.basis.append(row)
        self.weights = _weights(self.rows, self.basis, self.solved)

    def _matrix(self) -> list[list[int]]:
        return [[*(self.rows[i][j] for j in self.solved), 1] for i in self.basis]

    def _change(self, z: list[int]) -> tuple[list[int], int]:
        """Return weights of the basis, over a denominator, that sum to 1 and to z in the solved coordinates."""
        transposed = [list(column) for column in zip(*self._matrix(), strict=True)]
        found = solve(transposed, [*(z[j] for j in self.solved), 1])
        assert found is not None, "a basis is regular"
        return found

    def _sum(self, j: int) -> int:
        """Return Σ λ_i z_ij, up to a positive factor."""
        return _dot(self.weights, [self.rows[i][j] for i in self.basis])


def as_floats(rows: list[list[int]]) -> Floats:
    """Return rows as floats, each divided by a power of two above its largest entry."""
    sizes = map(_size, rows)
    return np.array([[nearest(value, size) for value in row] for row, size in zip(rows, sizes, strict=True)])


def _size(row: list[int]) -> int:
    return 1 << max(map(int.bit_length, row))


def _dot(a: list[int], b: list[int]) -> int:
    return sum(map(mul, a, b))


def _sooner(old: _Leaving | None, new: _Leaving) -> _Leaving:
    """Return the smaller of two ratios; the old one if they are equal."""
    return new if old is None or new[0] * old[1] < old[0] * new[1] else old


def _feasible(rows: list[list[int]], hint: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Return a basis of some hinted rows, its coordinates, and its weights, all ≥ 0."""
    while True:
        kept, columns = independent([[1, *rows[i]] for i in hint])
        basis, solved = [hint[k] for k in kept], [column - 1 for column in columns[1:]]
        weights = _weights(rows, basis, solved)
        if min(weights) >= 0:
            return basis, solved, weights
        hint = [i for i, weight in zip(basis, weights, strict=True) if weight > 0]


def _weights(rows: list[list[int]], basis: list[int], solved: list[int]) -> list[int]:
    """Return the weights of a basis, up to a positive factor: the weighted sum is 0 in the solved coordinates."""
    equations = [*([rows[i][j] for i in basis] for j in solved), [1] * len(basis)]
    found = solve(equations, [0] * len(solved) + [1])
    assert found is not None, "a basis is regular"
    return found[0]
