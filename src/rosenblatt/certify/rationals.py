"""Linear equations over the integers, floats as exact numbers, and rationals as floats in a known direction."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, inf, isqrt, lcm, nextafter
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat, fmpz_poly, nmod_mat
from numpy.typing import NDArray

from rosenblatt.loops._jit import jit
from rosenblatt.typing import Floats, Ints

# Linear equations over the integers, solved exactly.

IntegerRows = Sequence[Sequence[int]]
PRIMES = 0x2545F4914F6CDD3B, 0x1B6D3F9A5C7E8D97  # powers of two have many different remainders modulo these

LIFTED_EQUATIONS = 128  # from so many on our own lifting is faster than that of flint


def solve(A: IntegerRows, b: Sequence[int]) -> tuple[list[int], int] | None:
    """Solve A x = b; return x as integers over one positive denominator, or None if A is singular.

    Examples
    --------
    >>> solve([[1, 1], [1, -1]], [1, 0])
    ([1, 1], 2)
    >>> solve([[1, 1], [1, 1]], [1, 0]) is None
    True
    """
    if len(A) >= LIFTED_EQUATIONS and (lifted := solve_by_lifting(A, b)) is not None:
        return lifted
    try:
        found: Any = fmpz_mat(A).solve(fmpz_mat([[value] for value in b]))
    except ZeroDivisionError:
        return None
    numerators, denominator = found.numer_denom()
    return [int(value) for value in numerators.entries()], int(denominator)


def independent(rows: IntegerRows, prime: int = PRIMES[0]) -> tuple[list[int], list[int]]:
    """Return the first rows that are linearly independent modulo a prime, and columns in which they are.

    Rows that are independent modulo a prime are independent. Rarely, independent rows are dependent modulo it.

    Examples
    --------
    >>> independent([[0, 0, 0], [0, 1, 2], [0, 2, 4], [1, 0, 0]])
    ([1, 3], [0, 1])
    """
    kept = _pivots(nmod_mat(fmpz_mat(rows).transpose(), prime))
    return kept, _pivots(nmod_mat(fmpz_mat([rows[i] for i in kept]), prime)) if kept else []


def rank(rows: IntegerRows) -> int:
    """Return the rank, exactly.

    Examples
    --------
    >>> rank([[1, 2], [2, 4]]), rank([[1, 1], [2**61, 1]])
    (1, 2)
    """
    matrix = fmpz_mat(rows)
    modulo = max(int(nmod_mat(matrix, prime).rank()) for prime in PRIMES)
    return modulo if modulo == min(matrix.nrows(), matrix.ncols()) else int(matrix.rank())


def null_space(rows: IntegerRows) -> list[list[int]]:
    """Return a basis of the integer vectors orthogonal to every row.

    Each vector has a non-zero entry where all others are 0.

    Examples
    --------
    >>> null_space([[1, 0, 2, 0], [0, 2, 2, 0]])
    [[-2, -1, 1, 0], [0, 0, 0, 1]]
    """
    width = len(rows[0])
    used = [j for j, column in enumerate(zip(*rows, strict=True)) if any(column)]
    if len(used) < width:  # most columns of sparse rows may be 0
        found = null_space([[row[j] for j in used] for row in rows]) if used else []
        places = {j: k for k, j in enumerate(used)}
        spread = [[vector[places[j]] if j in places else 0 for j in range(width)] for vector in found]
        return spread + [[int(i == j) for i in range(width)] for j in range(width) if j not in places]
    kept, pivots = independent(rows)
    free = [j for j in range(width) if j not in set(pivots)]
    if not free:
        return []
    vectors: Any = [[int(i == j) for j in range(width)] for i in range(width)]
    if kept:
        vectors = _completed([rows[i] for i in kept], pivots, free)
    if not (fmpz_mat(rows) * fmpz_mat(vectors).transpose()).is_zero():  # the rank modulo the prime was too small
        basis, nullity = fmpz_mat(rows).nullspace()
        vectors = basis.transpose().tolist()[: int(nullity)]
    return [[int(value) for value in vector] for vector in vectors]


def product(A: IntegerRows, B: IntegerRows) -> list[list[int]]:
    """Return the products of each row of A with each row of B.

    Examples
    --------
    >>> product([[1, 2], [3, 4]], [[1, 1]])
    [[3], [7]]
    """
    return [[int(value) for value in row] for row in (fmpz_mat(A) * fmpz_mat(B).transpose()).tolist()]


def combined(weights: Sequence[int], rows: IntegerRows) -> list[int]:
    """Return the sum of rows times weights.

    Examples
    --------
    >>> combined([1, 2], [[3, 4], [5, 6]])
    [13, 16]
    """
    return [int(value) for value in (fmpz_mat([weights]) * fmpz_mat(rows)).entries()]


def _completed(rows: IntegerRows, pivots: list[int], free: list[int]) -> list[list[int]]:
    """Return for each free column the integer vector, orthogonal to the rows, that is 0 in the other free ones."""
    square = fmpz_mat([[row[j] for j in pivots] for row in rows])
    solutions: Any = square.solve(fmpz_mat([[-row[j] for j in free] for row in rows]))
    vectors = []
    for k, j in enumerate(free):
        entries = [solutions[i, k] for i in range(len(pivots))]
        denominator = lcm(*(int(entry.q) for entry in entries))
        vector = [0] * len(rows[0])
        for place, entry in zip(pivots, entries, strict=True):
            vector[place] = int(entry.p) * (denominator // int(entry.q))
        vector[j] = denominator
        vectors.append(vector)
    return vectors


def _pivots(matrix: Any) -> list[int]:
    echelon, rank = matrix.rref()
    pivots, column = [], 0
    for row in range(int(rank)):
        while not echelon[row, column]:
            column += 1
        pivots.append(column)
    return pivots


# Many equations, solved by p-adic lifting (Dixon 1982).
# The inverse of A modulo a prime p gives the digits of x in base p, one after the other, each from what is left of
# b. A and what is left are written in base p too, so that all sums are of machine words. The digits determine x in
# rationals as soon as they are more than those of its numerators and its denominator together (Hadamard 1893).

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


# Floats as integers times powers of two, and rationals as floats.

MANTISSA = 53
UNIT = 2.0**-MANTISSA  # the largest relative error of one rounding
WORD = 62  # bits of an integer that fits into a machine word
NOWHERE = 1 << 20  # the exponent of zero: above that of any float
ROOT_BITS = 128  # bits of a root before it is rounded to a float: enough to be within one ulp


def exact(value: float) -> Fraction:
    """Return a finite float as a rational."""
    return Fraction(*float(value).as_integer_ratio())


def nearest(numerator: int, denominator: int) -> float:
    """Return the float nearest to a ratio, or ±infinity if the ratio is beyond the range of floats.

    Examples
    --------
    >>> nearest(1, 3), nearest(1, 10**400), nearest(-(10**400), 1)
    (0.3333333333333333, 0.0, -inf)
    """
    try:
        return numerator / denominator
    except OverflowError:
        return inf if (numerator < 0) == (denominator < 0) else -inf


def shifted(value: int, power: int) -> Fraction:
    """Return an integer times a power of two."""
    return Fraction(value << power) if power >= 0 else Fraction(value, 1 << -power)


def exponents(sizes: Floats) -> Ints:
    """Return for each number the power of two that it is divided by to lie between 1 and 2; 0 for zero.

    Examples
    --------
    >>> exponents(np.array([1.0, 0.75, 8.0, 0.0]))
    array([ 0, -1,  3,  0])
    """
    return np.where(sizes == 0.0, 0, np.frexp(sizes)[1].astype(np.int64) - 1)


def as_integers(table: Floats, scale: Ints) -> tuple[list[list[int]], Ints]:
    """Return the smallest integers k_ij and the exponents r_i with ``table[i, j] = k_ij 2**(r_i + scale[j])``.

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
    """Return what `as_integers` returns, as an array of machine words; None if the integers do not fit."""
    odd, shifts, lowest = _parts(table, scale)
    return (odd << shifts, lowest) if _fit(odd, shifts) else None


def _parts(table: Floats, scale: Ints) -> tuple[Ints, Ints, Ints]:
    """Return odd integers, the shift to the left of each, and the exponents of the rows."""
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


def common(fractions: Sequence[Fraction | int] | Sequence[Fraction]) -> tuple[list[int], int]:
    """Return rationals as integers over one common denominator.

    Examples
    --------
    >>> common([Fraction(1, 2), Fraction(2, 3)])
    ([3, 4], 6)
    """
    ratios = [each.as_integer_ratio() for each in fractions]
    denominator = lcm(*{below for _, below in ratios})
    return [above * (denominator // below) for above, below in ratios], denominator


def times_powers(integers: Sequence[int], powers: Sequence[int]) -> list[int]:
    """Return integers times powers of two, up to a positive factor that makes all of them integers.

    Examples
    --------
    >>> times_powers([3, 5, 0], [-1, 2, -9])
    [3, 40, 0]
    """
    lowest = min((power for value, power in zip(integers, powers, strict=True) if value), default=0)
    return [value and value << (power - lowest) for value, power in zip(integers, powers, strict=True)]


def above(value: Fraction) -> float:
    """Return the smallest float that is not below a rational.

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
    """Return the smallest float whose square is not below a rational ≥ 0."""
    root = root_below(square)
    return root if exact(root) ** 2 == square else nextafter(root, inf)


def _root(square: Fraction) -> Fraction:
    """Return a rational at most as large as the root, and closer to it than the next float."""
    size = square.numerator.bit_length() - square.denominator.bit_length()
    shift = max(0, ROOT_BITS - size // 2)
    return Fraction(isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift)
