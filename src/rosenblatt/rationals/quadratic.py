"""Quadratic forms cᵀKc of float matrices, in exact rationals; K need not be symmetric."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from rosenblatt.typing import Floats


def quadratic_form(K: Floats, c: Sequence[int]) -> Fraction:
    """Return cᵀKc.

    Examples
    --------
    >>> quadratic_form(np.array([[1.0, 2.0], [2.0, 1.0]]), [1, -1])
    Fraction(-2, 1)
    """
    used = [i for i, each in enumerate(c) if each]
    total = fmpq(0)
    for i in used:
        total += sum((_entry(K, i, j) * c[j] for j in used), fmpq(0)) * c[i]
    return Fraction(int(total.p), int(total.q))


def rounding_of_form(K: Floats, c: Sequence[int], ulps: Fraction) -> Fraction:
    """Return the error of cᵀKc if each entry is off by up to `ulps` ulps: ulps · Σ |c_i| |c_j| ulp(K_ij)."""
    return ulps * quadratic_form(np.spacing(np.abs(K)), [abs(each) for each in c])


def negative_direction(K: Floats) -> list[int] | None:
    """Return integers c with cᵀKc < 0 for a symmetric K, or None if K is positive semidefinite.

    Rows are eliminated one after the other (K = L D Lᵀ). The first negative pivot, or a zero pivot with a non-zero
    entry in its row, gives such a c. The work grows with the cube of the size and with the length of the numbers.

    Examples
    --------
    >>> negative_direction(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
    True
    >>> negative_direction(np.array([[1.0, 2.0], [2.0, 1.0]]))
    [-2, 1]
    """
    n = len(K)
    A = [[_entry(K, i, j) for j in range(n)] for i in range(n)]
    eliminated: list[int] = []
    for p in range(n):
        pivot = A[p][p]
        if pivot < 0:
            return _lifted(K, eliminated, {p: fmpq(1)})
        if pivot == 0:
            other = next((j for j in range(p + 1, n) if A[p][j] != 0), None)
            if other is not None:
                # On (t, 1) the form is 2 t A_pj + A_jj: negative for this t.
                t = -(A[other][other] + 1) / (2 * A[p][other])
                return _lifted(K, eliminated, {p: t, other: fmpq(1)})
            continue
        for i in range(p + 1, n):
            if A[i][p] != 0:
                factor = A[i][p] / pivot
                for j in range(i, n):
                    A[i][j] -= factor * A[p][j]
                    A[j][i] = A[i][j]
        eliminated.append(p)
    return None


def _entry(K: Floats, i: int, j: int) -> Any:
    return fmpq(*K[i, j].as_integer_ratio())


def _lifted(K: Floats, eliminated: list[int], c: dict[int, Any]) -> list[int]:
    """Extend `c` to the eliminated rows so that the form keeps its value: their part x solves K_ee x = −K_ec c."""
    x = dict(c)
    if eliminated:
        size = len(eliminated)
        matrix = fmpq_mat(size, size, [_entry(K, i, j) for i in eliminated for j in eliminated])
        right = [-sum((_entry(K, i, j) * value for j, value in c.items()), fmpq(0)) for i in eliminated]
        found = matrix.solve(fmpq_mat(size, 1, right))
        x |= {i: found[k, 0] for k, i in enumerate(eliminated)}
    denominator = lcm(*(int(value.q) for value in x.values()))
    return [int(x[i].p) * (denominator // int(x[i].q)) if i in x else 0 for i in range(len(K))]
