"""The extreme rays of a polyhedral cone {x : <a, x> ≥ 0 for every a}, by double description in integers."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from operator import mul

__all__ = ["Cone"]

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
