"""Linear equations over the integers, solved exactly."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any

from flint import fmpz_mat, nmod_mat

IntegerRows = Sequence[Sequence[int]]
PRIMES = 0x2545F4914F6CDD3B, 0x1B6D3F9A5C7E8D97  # powers of two have many different remainders modulo these


def solve(A: IntegerRows, b: Sequence[int]) -> tuple[list[int], int] | None:
    """Solve A x = b; return x as integers over one positive denominator, or None if A is singular.

    Examples
    --------
    >>> solve([[1, 1], [1, -1]], [1, 0])
    ([1, 1], 2)
    >>> solve([[1, 1], [1, 1]], [1, 0]) is None
    True
    """
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
