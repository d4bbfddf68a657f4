"""Whether a normal vector separates every row: floats decide where they provably can, integers elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.rationals import UNIT, exact
from rosenblatt.certify.time_limit import Clock
from rosenblatt.typing import Floats, Ints

DOING = "computing the sides of rows"
MAX_INTEGER_ROWS = (
    200  # up to this many doubtful rows are decided by integers; more are first computed in double-double
)


def bias_of(problem: SeparationProblem, v: Direction) -> Fraction | None:
    """Return a bias with which v separates every row strictly, midway between the classes up to rounding, or None.

    The bias is 0 if the problem has none.
    """
    f, error = problem.scores(v)
    if not problem.bias:
        signed = problem.y * f
        if signed.min() > error:
            return Fraction(0)
        if signed.min() < -error:
            return None
        return Fraction(0) if least(problem, v, f, error) > 0 else None
    low, high = float(f[problem.positive].min()), float(f[problem.negative].max())
    if low + error < high - error:
        return None
    middle = low / 2.0 + high / 2.0
    if high + error < middle < low - error:
        return -exact(middle)
    lowest, highest = ends(problem, v, f, error)
    if lowest <= highest:
        return None
    near = exact(float((lowest + highest) / 2))
    return -near if highest < near < lowest else -(lowest + highest) / 2


def products(
    problem: SeparationProblem, v: list[int], rows: Ints, clock: Clock | None = None
) -> tuple[Floats, Ints]:
    """Return z_i·v of some rows up to a positive factor, in floats, and its exact signs −1, 0 or 1.

    The integers v are in the problem's columns, with the bias last if there is one. A clock counts the work.
    """
    if clock is not None:
        clock.spend(problem.size * len(rows) / problem.n + problem.width, DOING)
    about, error = _about(problem, v, rows)
    signs = np.sign(about).astype(np.int64)
    doubtful = np.flatnonzero(np.abs(about) <= error)
    if not len(doubtful):
        return about, signs
    if clock is not None:
        clock.spend(problem.exact_work(v, len(doubtful)), DOING)
    signs[doubtful] = problem.exact_signs(rows[doubtful], v)
    return about, signs


def on_both_sides(problem: SeparationProblem, v: list[int], rows: Ints, clock: Clock) -> bool:
    """Return whether floats prove that z_i·v is positive for some of the rows and negative for others."""
    clock.spend(problem.size * len(rows) / problem.n + problem.width, DOING)
    about, error = _about(problem, v, rows)
    return bool((about > error).any() and (about < -error).any())


def _about(problem: SeparationProblem, v: list[int], rows: Ints) -> tuple[Floats, float]:
    """Return z_i·v of some rows in floats, up to a positive factor, and a bound on the error of each."""
    direction = Direction.of_integers(v)
    f, _ = problem.scores(direction, rows if 2 * len(rows) < problem.n else None)
    b = direction.high[-1] if problem.bias else 0.0
    f = f[rows] if len(f) == problem.n else f
    return problem.y[rows] * (f + b), problem.error(direction, biased=True)


def ends(problem: SeparationProblem, v: Direction, f: Floats, error: float) -> tuple[Fraction, Fraction]:
    """Return the lowest score of the positive class and the highest of the negative class, exactly."""
    lowest = _extreme(problem, v, problem.positive, f, error, min)
    return lowest, _extreme(problem, v, problem.negative, f, error, max)


def least(problem: SeparationProblem, v: Direction, f: Floats, error: float) -> Fraction:
    """Return the smallest y f over all rows, exactly, for a problem without a bias."""
    sides = [(problem.positive, 1, min), (problem.negative, -1, max)]
    return min(sign * _extreme(problem, v, rows, f, error, pick) for rows, sign, pick in sides if len(rows))


def _extreme(
    problem: SeparationProblem, v: Direction, rows: Ints, f: Floats, error: float, pick: Callable[..., Fraction]
) -> Fraction:
    """Return the exact extreme of the scores of some rows; only rows that may attain it are computed exactly."""
    sign = 1.0 if pick is min else -1.0
    rows = _within(rows, sign * f[rows], 2.0 * error)
    if len(rows) > MAX_INTEGER_ROWS and not problem.sparse:
        nearest = sign * float((sign * f[rows]).min())
        finer, error = twofold(problem, rows, v, nearest)
        rows = _within(rows, sign * finer, 2.0 * error + 4.0 * UNIT * float(np.abs(finer).max()))
    return pick(problem.exact_scores(rows, v))


def _within(rows: Ints, f: Floats, reach: float) -> Ints:
    """Return the rows whose score is at most `reach` above the lowest."""
    kept: Ints = rows[f <= f.min() + reach]
    return kept


def differences(problem: SeparationProblem, rows: Ints, v: Direction, offset: float) -> Floats:
    """Return the scores of some rows minus an offset, to nearly all their digits."""
    if not problem.sparse:
        return twofold(problem, rows, v, offset)[0]
    away = exact(offset)
    return np.array([float(score - away) for score in problem.exact_scores(rows, v)])


def twofold(problem: SeparationProblem, rows: Ints, v: Direction, offset: float) -> tuple[Floats, float]:
    """Return the scores of some rows minus an offset, summed in double-double, and a bound on the error of each.

    The rounding error of each product and sum is kept, and these errors are summed in floats. The error of that
    sum is d u times their size, which is at most d u times the size of the products. The final rounding, a
    relative u, is left to the callers.
    """
    X = problem.table(rows)
    total, rest = np.full(len(rows), -offset), np.zeros(len(rows))
    for j in range(problem.d):
        x, high = np.ascontiguousarray(X[:, j]), float(v.high[j])
        product, lost = _product(x, high)
        total, carried = _sum(total, product)
        rest += carried + (lost + x * float(v.low[j]))
    size = 2.0 * float(np.abs(v.high).sum()) + abs(offset)
    d = problem.d + 4
    return total + rest, 4.0 * d * d * UNIT * UNIT * size + d * 2.0**-960


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a rounded sum and its rounding error (Knuth 1969)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Floats, b: float) -> tuple[Floats, Floats]:
    """Return a rounded product and its rounding error (Dekker 1971), for factors below 2 and above 2⁻⁴⁸⁰."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(np.float64(b))
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Any) -> tuple[Any, Any]:
    spread = a * 134217729.0
    high = spread - (spread - a)
    return high, a - high
