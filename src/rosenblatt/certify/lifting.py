"""Many linear equations over the integers, solved exactly by p-adic lifting (Dixon 1982).

The inverse of A modulo a prime p gives the digits of x in base p, one after the other, each from what is left of
b. A and what is left are written in base p too, so that all sums are of machine words. The digits determine x in
rationals as soon as they are more than those of its numerators and its denominator together (Hadamard 1893).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat, fmpz_poly, nmod_mat
from numpy.typing import NDArray

from rosenblatt.loops._jit import jit
from rosenblatt.typing import Ints

SUM_BITS = 62  # of sums of products of digits, which fit into machine words
PRIMES_TRIED = 4  # before A is taken for singular

Digits = NDArray[np.int32]


def solve_by_lifting(A: Sequence[Sequence[int]], b: Sequence[int]) -> tuple[list[int], int] | None:
    """Solve A x = b; return x as integers over one positive denominator, or None if A is singular modulo primes.

    Examples
    --------
    >>> solve_by_lifting([[1, 1], [1, -1]], [1, 0])
    ([1, 1], 2)
    >>> solve_by_lifting([[1, 1], [1, 1]], [1, 0]) is None
    True
    """
    n = len(A)
    found = invert_modulo(fmpz_mat(A), 1 << (SUM_BITS - n.bit_length()) // 2)
    if found is None:
        return None
    inverse, p = found
    table, right = write_digits(A, p), write_digits([b], p)
    left = np.zeros((max(len(table), len(right)) + 1, n), np.int64)
    left[: len(right)] = right[:, 0]
    above, below = bound_bits(A, b)
    digits = np.empty(((above + below + 1) // (p.bit_length() - 1) + 1, n), np.int32)
    lift(inverse, table, left, digits, p)
    return reconstruct([fmpz_poly(column)(p) for column in digits.T.tolist()], fmpz(p) ** len(digits), above)


def invert_modulo(A: Any, limit: int) -> tuple[Digits, int] | None:
    """Return the inverse of A modulo a prime below a limit, in digits from −p/2 to p/2, and the prime, or None."""
    p = limit
    for _ in range(PRIMES_TRIED):
        p = next(q for q in range(p - 1, 1, -1) if fmpz(q).is_prime())
        try:
            entries = nmod_mat(A, p).inv().entries()
        except ZeroDivisionError:
            continue
        inverse = np.array([int(entry) for entry in entries]).reshape(A.nrows(), -1)
        return np.where(2 * inverse > p, inverse - p, inverse).astype(np.int32), p
    return None


def write_digits(A: Sequence[Sequence[int]], p: int) -> Digits:
    """Return matrices A_k of entries from −p/2 to p/2 with A = Σ A_k pᵏ."""
    rest: Any = np.array(A, object)
    digits = list[Digits]()
    while not digits or rest.any():
        if rest.dtype == object and max(map(abs, rest.flat)) < 1 << SUM_BITS:
            rest = rest.astype(np.int64)
        digit = (rest + p // 2) % p - p // 2
        rest = (rest - digit) // p
        digits.append(digit.astype(np.int32))
    return np.array(digits)


def bound_bits(A: Sequence[Sequence[int]], b: Sequence[int]) -> tuple[int, int]:
    """Return bounds of the bits of the numerators and of the denominator of x.

    They are determinants (Cramer 1750), which are at most the product of the lengths of their rows, or columns.
    """
    by_rows = sum(count_bits([*row, value]) for row, value in zip(A, b, strict=True)) // 2 + 1
    by_columns = sum(map(count_bits, zip(*A, strict=True))) // 2 + 1
    more = count_bits(b) // 2 + 1
    return (by_rows, by_rows) if 2 * by_rows < 2 * by_columns + more else (by_columns + more, by_columns)


def count_bits(values: Sequence[int]) -> int:
    """Return a bound of the bits of the squared length of a vector."""
    return sum(value * value for value in values).bit_length()


@jit
def lift(inverse: Digits, table: Digits, left: Ints, digits: Digits, p: int) -> None:
    """Set digits with A Σ digits_k pᵏ ≡ b, where `left` holds b in base p, and what is left of it at the end."""
    n, high = inverse.shape[0], left.shape[0]
    for k in range(digits.shape[0]):
        for i in range(n):
            total = 0
            for j in range(n):
                total += np.int64(inverse[i, j]) * left[0, j]
            digits[k, i] = total % p
        for i in range(n):
            carry = 0
            for m in range(high):
                total = left[m, i] + carry
                if m < table.shape[0]:
                    for j in range(n):
                        total -= np.int64(table[m, i, j]) * np.int64(digits[k, j])
                carry = total // p
                low = total - carry * p
                if m:
                    left[m - 1, i] = low
            left[high - 1, i] = carry


def reconstruct(x: list[Any], modulus: Any, bits: int) -> tuple[list[int], int]:
    """Return integers of at most so many bits over one positive denominator, which are congruent to values."""
    limit, half = fmpz(1) << bits, modulus // 2
    denominator, numerators = fmpz(1), list[Any]()
    for value in x:
        above, below = (value * denominator + half) % modulus - half, fmpz(1)
        if abs(above) > limit:
            above, below = make_fraction(above % modulus, modulus, limit)
            numerators = [each * below for each in numerators]
            denominator *= below
        numerators.append(above)
    integers, divisor = [int(each) for each in numerators], int(denominator)
    shared = gcd(divisor, *integers)
    return [each // shared for each in integers], divisor // shared


def make_fraction(value: Any, modulus: Any, limit: Any) -> tuple[Any, Any]:
    """Return the fraction congruent to a value whose numerator is at most a limit in size (Wang 1981)."""
    a, b, u, v = modulus, value, fmpz(0), fmpz(1)
    while b > limit:
        q = a // b
        a, b, u, v = b, a - q * b, v, u - q * v
    return (b, v) if v > 0 else (-b, -v)
