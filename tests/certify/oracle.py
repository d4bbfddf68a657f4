"""Is there a hyperplane? Decided exactly for small problems, by means so plain that they can be believed.

`decide` does not ask to be trusted: it verifies, in integers, the v or the λ behind each answer, and by the
theorems of Gordan and Stiemke only one of the two can exist. How they are found (the simplex method with Bland's
rule) does not matter then. `eliminate` comes to its answers another way, by Fourier and Motzkin.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from operator import mul
from typing import Literal, NamedTuple

Row = list[int]
Verdict = Literal["separable", "quasi", "overlap"]


class Problem(NamedTuple):
    X: list[list[float]]
    y: list[int]  # 1 and −1
    bias: bool


def signed(problem: Problem) -> list[Row]:
    """Return the rows z_i = y_i (x_i, 1), times what makes integers of them without a divisor."""
    rows = []
    for x, y in zip(problem.X, problem.y, strict=True):
        ratios = [v.as_integer_ratio() for v in map(float, [*x, 1] if problem.bias else x)]
        scale = max(q for _, q in ratios)  # powers of two
        rows.append(primitive([y * p * (scale // q) for p, q in ratios]))
    return rows


def primitive(row: Sequence[int]) -> Row:
    divisor = math.gcd(*row) or 1
    return [x // divisor for x in row]


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(map(mul, a, b))


def decide(problem: Problem) -> Verdict:
    """Tell if some hyperplane separates; if not, whether one does with ties, some rows strictly, or none."""
    z = signed(problem)
    columns = list(zip(*z, strict=True))
    # Gordan: λ ≥ 0 with Σ λ_i z_i = 0 and Σ λ_i = 1, or v with all z_i·v > 0.
    found, shown = solve([*columns, [1] * len(z)], [0] * len(columns) + [1])
    if not found:
        assert all(dot(row, shown) > 0 for row in z)  # zip ends before the multiplier of Σ λ_i = 1
        return "separable"
    *weights, _ = shown
    assert min(weights) >= 0 < sum(weights)
    assert not any(dot(column, weights) for column in columns)
    # Stiemke: λ_i = 1 + μ_i > 0 with Σ λ_i z_i = 0, or v with all z_i·v ≥ 0 and one of them > 0.
    found, shown = solve(columns, [-sum(column) for column in columns])
    if not found:
        outputs = [dot(row, shown) for row in z]
        assert min(outputs) >= 0 < max(outputs)
        return "quasi"
    *more, one = shown
    weights = [one + m for m in more]
    assert min(weights) > 0
    assert not any(dot(column, weights) for column in columns)
    return "overlap"


def solve(A: Sequence[Sequence[int]], b: Sequence[int]) -> tuple[bool, Row]:
    """Return x ≥ 0 with A x = b, as numerators and one denominator; or u with u·A ≥ 0 and u·b < 0 (Farkas).

    The first phase of the simplex method: artificial variables, whose sum is brought down. Entries are integers
    over the last pivot (Edmonds), Bland's rule chooses.
    """
    m, n = len(A), len(A[0])
    flip = [-1 if v < 0 else 1 for v in b]
    T = [[s * a for a in row] + [0] * m + [s * v] for s, row, v in zip(flip, A, b, strict=True)]
    for i in range(m):
        T[i][n + i] = 1
    costs = [-sum(column) for column in zip(*T, strict=True)]
    costs[n : n + m] = [0] * m
    basis, last = list(range(n, n + m)), 1
    while (s := next((j for j in range(n) if costs[j] < 0), None)) is not None:
        r = -1
        for i in range(m):
            if T[i][s] > 0:
                lead = 0 if r < 0 else T[i][-1] * T[r][s] - T[r][-1] * T[i][s]
                if r < 0 or lead < 0 or (lead == 0 and basis[i] < basis[r]):
                    r = i
        pivot, row = T[r][s], T[r]
        for i in range(m):
            if i != r:
                c = T[i][s]
                T[i] = [(pivot * a - c * e) // last for a, e in zip(T[i], row, strict=True)]
        c = costs[s]
        costs = [(pivot * a - c * e) // last for a, e in zip(costs, row, strict=True)]
        basis[r], last = s, pivot
    if costs[-1]:
        return False, [f * (cost - last) for f, cost in zip(flip, costs[n : n + m], strict=True)]
    x = [0] * n
    for i, j in enumerate(basis):
        if j < n:
            x[j] = T[i][-1]
    return True, [*x, last]


def eliminate(problem: Problem) -> Verdict:
    """Tell what `decide` tells, by Fourier–Motzkin elimination: slower as there are more rows and features."""
    z = signed(problem)
    if consistent({tuple(row): True for row in z}):
        return "separable"
    # Some v has all z_i·v ≥ 0 and one above 0 iff it has them all ≥ 0 and their sum above 0.
    together = tuple(primitive([sum(column) for column in zip(*z, strict=True)]))
    return "quasi" if consistent({**{tuple(row): False for row in z}, together: True}) else "overlap"


def consistent(system: dict[tuple[int, ...], bool]) -> bool:
    """Tell if some v has row·v > 0 for the rows marked True, and row·v ≥ 0 for the others."""
    if any(strict and not any(row) for row, strict in system.items()):
        return False  # 0 > 0
    system = {row: strict for row, strict in system.items() if any(row)}
    if not system:
        return True
    signs = [
        (sum(row[j] > 0 for row in system), sum(row[j] < 0 for row in system))
        for j in range(len(next(iter(system))))
    ]
    _, j = min((up * down - up - down, j) for j, (up, down) in enumerate(signs) if up or down)
    left: dict[tuple[int, ...], bool] = {}
    for row, strict in system.items():
        if not row[j]:
            left[row] = left.get(row, False) or strict
        if row[j] <= 0:
            continue
        for other, other_strict in system.items():
            if other[j] < 0:
                made = tuple(primitive([row[j] * b - other[j] * a for a, b in zip(row, other, strict=True)]))
                left[made] = left.get(made, False) or strict or other_strict
    return consistent(left)


def degenerate(seed: int, count: int, *, most_rows: int = 12, most_features: int = 5) -> Iterator[Problem]:
    """Yield small problems full of ties: repeated, collinear and zero rows, constant and equal columns."""
    draw = random.Random(seed)
    for _ in range(count):
        d, n = draw.randint(1, most_features), draw.randint(2, most_rows)
        most = draw.choice([1, 1, 2, 3, 5])
        X = [[float(draw.randint(-most, most)) for _ in range(d)] for _ in range(n)]
        if draw.random() < 0.3:  # on a line, or two
            start, along = (X[0], X[1]) if draw.random() < 0.5 else ([0.0] * d, X[1])
            for i in range(2, n):
                if draw.random() < 0.8:
                    t = draw.randint(-2, 3)
                    X[i] = [a + t * (b - a) for a, b in zip(start, along, strict=True)]
        for i in range(n):
            if draw.random() < 0.15:
                X[i] = list(X[draw.randrange(n)])
            if draw.random() < 0.03:
                X[i] = [0.0] * d
        if draw.random() < 0.2:
            j, constant = draw.randrange(d), float(draw.randint(-2, 2))
            for row in X:
                row[j] = constant
        if draw.random() < 0.1:
            j, k = draw.randrange(d), draw.randrange(d)
            for row in X:
                row[j] = 2 * row[k]
        if draw.random() < 0.15:
            X = [[x / 2 for x in row] for row in X]
        if draw.random() < 0.15:  # almost what it was
            for row in X:
                j = draw.randrange(d)
                row[j] += draw.choice([-1, 0, 1]) * (2.0**-50 if row[j] else 2.0**-60)
        y = [draw.choice([-1, 1]) for _ in range(n)]
        bias = draw.random() < 0.7
        if draw.random() < 0.6:  # most rows on their side of some hyperplane, so that all three answers are common
            w, b = [draw.randint(-2, 2) for _ in range(d)], draw.randint(-2, 2) * bias
            y = [
                s if f == 0 else 1 if f > 0 else -1 for s, f in zip(y, (dot(w, row) + b for row in X), strict=True)
            ]
        if len(set(y)) == 1:
            y[draw.randrange(n)] *= -1
        yield Problem(X, y, bias)
