"""Linear equations over the integers, solved exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpz_mat, nmod_mat

__all__ = ["Table", "independent", "solve"]

Table = Sequence[Sequence[int]]
PRIME = 2**61 - 1


def solve(A: Table, b: Sequence[int]) -> tuple[list[int], int] | None:
    """Solve A x = b.

    Returns
    -------
    list of int and int, or None
        x as integers over one positive denominator; None if A is singular.

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


def independent(rows: Table) -> tuple[list[int], list[int]]:
    """Return the first rows that are linearly independent modulo a prime, and columns in which they are so.

    What is independent modulo a prime is independent; rarely, what is independent is not so modulo a prime.

    Examples
    --------
    >>> independent([[0, 0, 0], [0, 1, 2], [0, 2, 4], [1, 0, 0]])
    ([1, 3], [0, 1])
    """
    kept = _pivots(nmod_mat(fmpz_mat(rows).transpose(), PRIME))
    return kept, _pivots(nmod_mat(fmpz_mat([rows[i] for i in kept]), PRIME)) if kept else []


def rank(rows: Table) -> int:
    """Return the rank, exactly."""
    return int(fmpz_mat(rows).rank())


def _pivots(matrix: Any) -> list[int]:
    echelon, rank = matrix.rref()
    pivots, column = [], 0
    for row in range(int(rank)):
        while not echelon[row, column]:
            column += 1
        pivots.append(column)
    return pivots
