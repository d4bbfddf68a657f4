"""Floats as what they are: integers times powers of two."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from rosenblatt.typing import Floats, Ints

__all__ = ["as_integers", "as_words", "common", "exact", "exponents", "nearest", "shifted"]

MANTISSA = 53
UNIT = 2.0**-MANTISSA  # what rounding moves a float by, of itself, at most
WORD = 62  # bits that an integer may have to be one machine word
NOWHERE = 1 << 20  # the exponent of zero: above that of any float


def exact(value: float) -> Fraction:
    """Return a finite float as a rational."""
    return Fraction(*float(value).as_integer_ratio())


def nearest(numerator: int, denominator: int) -> float:
    """Return the float nearest to a ratio, ±infinity where it is beyond all floats.

    Examples
    --------
    >>> nearest(1, 3), nearest(1, 10**400), nearest(-(10**400), 1)
    (0.3333333333333333, 0.0, -inf)
    """
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if (numerator < 0) == (denominator < 0) else float("-inf")


def shifted(value: int, power: int) -> Fraction:
    """Return an integer times a power of two."""
    return Fraction(value << power) if power >= 0 else Fraction(value, 1 << -power)


def exponents(sizes: Floats) -> Ints:
    """Return for each number a power of two that brings it between 1 and 2; 0 for zero.

    Examples
    --------
    >>> exponents(np.array([1.0, 0.75, 8.0, 0.0]))
    array([ 0, -1,  3,  0])
    """
    return np.where(sizes == 0.0, 0, np.frexp(sizes)[1].astype(np.int64) - 1)


def as_integers(table: Floats, scale: Ints) -> tuple[list[list[int]], Ints]:
    """Return rows as integers, each row and each column up to a power of two.

    Parameters
    ----------
    table : ndarray, shape (n, m)
        Finite numbers.
    scale : ndarray of int, shape (m,)
        Exponents to divide columns by.

    Returns
    -------
    list of lists of int, ndarray of int
        Integers k_ij, as small as can be, and exponents r_i with ``table[i, j] = k_ij 2**(r_i + scale[j])``.

    Examples
    --------
    >>> as_integers(np.array([[0.5, 3.0], [0.0, 4.0]]), np.array([0, 2]))
    ([[2, 3], [0, 1]], array([-2,  0]))
    """
    odd, shifts, lowest = _parts(table, scale)
    if _fit(odd, shifts):
        return (odd << shifts).tolist(), lowest
    return [
        [value << shift for value, shift in zip(*pair, strict=True)]
        for pair in zip(odd.tolist(), shifts.tolist(), strict=True)
    ], lowest


def as_words(table: Floats, scale: Ints) -> tuple[Ints, Ints] | None:
    """Return the same as an array of machine words, None if they do not fit."""
    odd, shifts, lowest = _parts(table, scale)
    return (odd << shifts, lowest) if _fit(odd, shifts) else None


def _parts(table: Floats, scale: Ints) -> tuple[Ints, Ints, Ints]:
    """Return odd integers, by how much each is to be shifted to the left, and the exponents of the rows."""
    fractions, powers = np.frexp(table)
    odd = np.ldexp(fractions, MANTISSA).astype(np.int64)
    powers = powers.astype(np.int64) - MANTISSA
    lowest_bit = np.where(odd == 0, 1, odd & -odd)
    odd //= lowest_bit
    powers += np.frexp(lowest_bit.astype(np.float64))[1] - 1 - scale
    powers[odd == 0] = NOWHERE
    lowest = powers.min(axis=1, initial=NOWHERE)
    lowest[lowest == NOWHERE] = 0
    return odd, np.where(odd == 0, 0, powers - lowest[:, None]), lowest


def _fit(odd: Ints, shifts: Ints) -> bool:
    bits = np.frexp(np.abs(odd).astype(np.float64))[1] + shifts
    return bool(bits.max(initial=0) <= WORD)


def common(fractions: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return rationals as integers over one denominator.

    Examples
    --------
    >>> common([Fraction(1, 2), Fraction(2, 3)])
    ([3, 4], 6)
    """
    denominator = lcm(*(each.denominator for each in fractions))
    return [each.numerator * (denominator // each.denominator) for each in fractions], denominator
