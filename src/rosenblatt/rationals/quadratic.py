"""Quadratic forms of float matrices in exact rationals.

A float is a rational number: nothing here is rounded. A matrix need not be symmetric; cᵀKc does not see the
difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.typing import Floats


def quadratic_form(K: Floats, c: Sequence[int]) -> Fraction:
    """Return cᵀKc.

    Examples
    --------
    >>> quadratic_form(np.array([[1.0, 2.0], [2.0, 1.0]]), [1, -1])
    Fraction(-2, 1)
    """
    return _form(K, c)


def rounding_of_form(K: Floats, c: Sequence[int], ulps: Fraction) -> Fraction:
    """Return how far cᵀKc can be off if every entry is off by up to `ulps` units in its last place.

    This is ulps · Σ |c_i| |c_j| ulp(K_ij).
    """
    return ulps * _form(np.spacing(np.abs(K)), [abs(each) for each in c])


def _form(K: Floats, c: Sequence[int]) -> Fraction:
    import flint

    taking_part = [i for i, each in enumerate(c) if each]
    total = flint.fmpq(0)
    for i in taking_part:
        row = flint.fmpq(0)
        for j in taking_part:
            row += flint.fmpq(*K[i, j].as_integer_ratio()) * c[j]
        total += row * c[i]
    return Fraction(int(total.p), int(total.q))


def negative_direction(K: Floats) -> list[int] | None:
    """Return integers c with cᵀKc < 0 for a symmetric K, or None if there are none: K is positive semidefinite.

    Rows are eliminated one after the other (K = L D Lᵀ). The first pivot below zero, or a pivot of zero beside an
    entry that is not, gives such a c. The work grows with the cube of the size and the length of the numbers.

    Examples
    --------
    >>> negative_direction(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
    True
    >>> negative_direction(np.array([[1.0, 2.0], [2.0, 1.0]]))
    [-2, 1]
    """
    import flint

    n = len(K)
    A = [[flint.fmpq(*K[i, j].as_integer_ratio()) for j in range(n)] for i in range(n)]
    eliminated: list[int] = []
    for p in range(n):
        pivot = A[p][p]
        if pivot < 0:
            return _lifted(K, eliminated, {p: flint.fmpq(1)})
        if pivot == 0:
            other = next((j for j in range(p + 1, n) if A[p][j] != 0), None)
            if other is not None:
                # On (t, 1) the form is 2 t A_pj + A_jj: below zero for this t.
                t = -(A[other][other] + 1) / (2 * A[p][other])
                return _lifted(K, eliminated, {p: t, other: flint.fmpq(1)})
            continue
        for i in range(p + 1, n):
            if A[i][p] != 0:
                factor = A[i][p] / pivot
                for j in range(i, n):
                    A[i][j] -= factor * A[p][j]
                    A[j][i] = A[i][j]
        eliminated.append(p)
    return None


def _lifted(K: Floats, eliminated: list[int], c: dict[int, Any]) -> list[int]:
    """Return a vector on all rows on which the form is what it is on `c` with the first rows eliminated.

    Their part x is the one that the form is least for: K_ee x = −K_ec c.
    """
    import flint

    def entry(i: int, j: int) -> Any:
        return flint.fmpq(*K[i, j].as_integer_ratio())

    x = dict(c)
    if eliminated:
        matrix = flint.fmpq_mat(
            len(eliminated), len(eliminated), [entry(i, j) for i in eliminated for j in eliminated]
        )
        right = [-sum((entry(i, j) * value for j, value in c.items()), flint.fmpq(0)) for i in eliminated]
        found = matrix.solve(flint.fmpq_mat(len(eliminated), 1, right))
        x |= {i: found[k, 0] for k, i in enumerate(eliminated)}
    common = 1
    for value in x.values():
        common = common * int(value.q) // int(flint.fmpz(common).gcd(value.q))
    return [int(x[i].p) * (common // int(x[i].q)) if i in x else 0 for i in range(len(K))]
