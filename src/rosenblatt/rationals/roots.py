"""Square roots and floats on a known side of a rational."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isqrt, nextafter

from rosenblatt.rationals.dyadic import exact, nearest

__all__ = ["above", "below", "root_above", "root_below"]

BITS = 128  # of a root before it is rounded to a float: more than enough to be within an ulp


def above(value: Fraction) -> float:
    """Return the least float that is not below a rational.

    Examples
    --------
    >>> above(Fraction(1, 3)) >= Fraction(1, 3), above(Fraction(1, 2)), above(Fraction(10**400))
    (True, 0.5, inf)
    """
    near = nearest(value.numerator, value.denominator)
    if near == inf:
        return inf
    if near == -inf or exact(near) < value:
        return nextafter(near, inf)
    return near


def below(value: Fraction) -> float:
    """Return the largest float that is not above a rational."""
    return 0.0 - above(-value)  # not −0.0


def root_below(square: Fraction) -> float:
    """Return the largest float whose square is not above a rational ≥ 0.

    Examples
    --------
    >>> root_below(Fraction(2)), root_below(Fraction(1, 4)), root_above(Fraction(2))
    (1.414213562373095, 0.5, 1.4142135623730951)
    """
    root = below(_root(square))
    after = nextafter(root, inf)
    return after if after < inf and exact(after) ** 2 <= square else root


def root_above(square: Fraction) -> float:
    """Return the least float whose square is not below a rational ≥ 0."""
    root = root_below(square)
    return root if exact(root) ** 2 == square else nextafter(root, inf)


def _root(square: Fraction) -> Fraction:
    """Return a rational at most the root, and nearer to it than floats are to each other."""
    size = square.numerator.bit_length() - square.denominator.bit_length()
    shift = max(0, BITS - size // 2)
    return Fraction(isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)
