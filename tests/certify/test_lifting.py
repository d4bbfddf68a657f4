"""Equations solved digit by digit, against flint."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpz, fmpz_mat

from rosenblatt.certify import rationals
from rosenblatt.certify.rationals import lift, make_fraction, solve_by_lifting, write_digits
from tests.shared.examples import examples


def entry(r) -> int:
    return int(r.choice([0, 1, -1, int(r.integers(-(2**9), 2**9)), int(r.integers(-(2**62), 2**62)) * 2**11 + 1]))


def by_flint(A, b):
    try:
        x, denominator = fmpz_mat(A).solve(fmpz_mat([[value] for value in b])).numer_denom()
    except ZeroDivisionError:
        return None
    return [int(value) for value in x.entries()], int(denominator)


def test_solutions_equal_those_of_flint():
    solved = 0
    for seed in range(examples(200)):
        r = np.random.default_rng(seed)
        n = int(r.integers(1, 12))
        A, b = [[entry(r) for _ in range(n)] for _ in range(n)], [entry(r) for _ in range(n)]
        found = solve_by_lifting(A, b)
        assert found == by_flint(A, b)
        solved += found is not None
    assert solved > examples(200) / 2


@pytest.mark.parametrize("size", [1, 2**20, 2**52, 2**75])
def test_many_equations_go_by_lifting(size, monkeypatch):
    r, n = np.random.default_rng(0), rationals.LIFTED_EQUATIONS
    A = [[int(value) for value in row] for row in r.integers(-99, 100, (n, n))]
    A = [[value * size + int(value > 50) for value in row] for row in A]
    b = [0] * (n - 1) + [1]
    asked = []
    monkeypatch.setattr(rationals, "solve_by_lifting", lambda *given: asked.append(1) or solve_by_lifting(*given))
    assert rationals.solve(A, b) == by_flint(A, b)
    assert asked
    assert rationals.solve([*A[:-1], A[0]], b) is None  # singular


def test_a_prime_that_divides_the_determinant_is_left_for_the_next():
    p = next(q for q in range((1 << 30) - 1, 1, -1) if fmpz(q).is_prime())
    assert solve_by_lifting([[p]], [2]) == ([2], p)
    assert solve_by_lifting([[1, 2], [1, 2 + p]], [0, 1]) == ([-2, 1], p)


def test_digits_are_of_the_numbers():
    p = 101
    A = [[0, 50, -51], [10**30, -(10**30), 1]]
    digits = write_digits(A, p)
    assert np.abs(digits).max() <= p // 2
    assert [[sum(int(digits[k, i, j]) * p**k for k in range(len(digits))) for j in range(3)] for i in (0, 1)] == A


def test_lifting_leaves_what_the_digits_do_not_explain():
    p, A, b = 101, [[3, 5], [7, -2]], [1000, -77]
    inverse = np.linalg.inv(np.array(A)) * -41
    inverse = np.rint(inverse).astype(np.int64) * pow(-41, -1, p) % p
    left = np.zeros((4, 2), np.int64)
    left[:2] = write_digits([b], p)[:2, 0]
    digits = np.empty((6, 2), np.int32)
    lift(inverse.astype(np.int32), write_digits(A, p), left, digits, p)
    x = [sum(int(digits[k, i]) * p**k for k in range(6)) for i in (0, 1)]
    rest = [sum(int(left[k, i]) * p**k for k in range(4)) for i in (0, 1)]
    assert [b[i] - sum(a * v for a, v in zip(A[i], x, strict=True)) for i in (0, 1)] == [r * p**6 for r in rest]


def test_fractions_are_found_again():
    modulus = fmpz(10**9 + 7) ** 4
    value = -355 * pow(113, -1, int(modulus)) % int(modulus)
    assert make_fraction(fmpz(value), modulus, fmpz(10**6)) == (-355, 113)
