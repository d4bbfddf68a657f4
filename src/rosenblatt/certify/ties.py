"""Whether inseparable rows are separable with ties, and which rows tie.

The method is facial reduction, in exact arithmetic. Rows that have a combination to 0 lie on every hyperplane with
no row on its wrong side. So such hyperplanes are sought among the vectors orthogonal to those rows. Either one has
all other rows strictly on their right side (quasi-complete separation, for which logistic regression diverges), or
some of the others have a combination to 0 there, and join the rows that tie. Each round ties one more dimension,
until none is left (overlap).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np

from rosenblatt.certify.certificate import Overlap, Quasi
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.rationals import (
    PRIMES,
    IntegerRows,
    as_integers,
    combined,
    common,
    independent,
    null_space,
    product,
    solve,
)
from rosenblatt.certify.search import TOUCHING_MARGIN, Program
from rosenblatt.certify.sides import on_both_sides, products
from rosenblatt.certify.simplex import Meeting, Simplex, as_floats
from rosenblatt.certify.time_limit import PYTHON, Clock, Unsettled, exact_work
from rosenblatt.typing import Ints

SAMPLE_ROWS_A_DIMENSION = 8  # rows per dimension that are examined first
MAX_FLOAT_ROUNDS = 10  # rounds in floats before rationals
MAX_ENTRIES = 2**22  # the most entries of the vectors orthogonal to the rows that tie
MAX_TIDY_INTEGER = 10**6  # the largest whole number that hyperplanes are written in
WORK_A_PRODUCT = 5  # units of work of a product of integers within a matrix product
DOING = "looking for a hyperplane with ties"


def ties(problem: SeparationProblem, meeting: Meeting, names: Ints, clock: Clock) -> Quasi | Overlap | None:
    """Decide whether rows that nothing separates strictly are separable with ties; `names` are their numbers.

    Returns None if there are too many features compared with the rows that tie.
    """
    null: list[list[int]] = []
    while not meeting.spanning:
        if (problem.width - len(meeting.rows)) * problem.width > MAX_ENTRIES:
            return None
        clock.spend(PYTHON * len(meeting.rows) * problem.width, DOING)
        integers = problem.integer_rows(meeting.rows)[0]
        clock.spend(_null_space_work(integers), DOING)
        null = null_space(integers)
        bits = [max(map(int.bit_length, v)) for v in null]
        shifts = [max(bits) - own for own in bits]  # powers of two that make the vectors similar in size
        null = [[value << shift for value in v] for v, shift in zip(null, shifts, strict=True)]
        outside = _not_orthogonal(problem, _mixed(null), clock) if null else np.empty(0, np.int64)
        if not len(outside):  # rows may be orthogonal to the mixture only, so check each vector
            outside = next((some for v in null if len(some := _not_orthogonal(problem, v, clock))), outside)
            if not len(outside):
                break
        found = _by_one_sign(problem, null, outside, clock) or _Reduced(problem, null, outside, clock).separate()
        if not isinstance(found, Meeting):
            return _quasi(problem, found, names, clock)
        clock.spend(_null_space_work(problem.integer_rows(meeting.rows)[0]), DOING)
        meeting = _joined(problem, meeting, found)
    vectors = (_original(problem, vector) for vector in null)
    return Overlap(
        tuple(names[meeting.rows].tolist()),
        tuple(meeting.weights),
        tuple(tuple(vector if problem.bias else vector[:-1]) for vector in vectors),
    )


def by_single_features(problem: SeparationProblem, names: Ints, clock: Clock) -> Quasi | None:
    """Return the hyperplane of all features that have no row on the wrong side of 0; None if there are none.

    A quick answer: other hyperplanes may have more rows strictly on their right side.
    """
    clock.spend(2 * problem.size, DOING)
    if problem.sparse:
        X = problem.matrix.X
        values = X.data * np.repeat(problem.y, np.diff(X.indptr))
        up, down = (np.bincount(X.indices[side], minlength=problem.d) > 0 for side in (values > 0.0, values < 0.0))
    else:
        up, down = np.zeros(problem.d, np.bool_), np.zeros(problem.d, np.bool_)
        for side, rows in ((1.0, problem.positive), (-1.0, problem.negative)):
            if len(rows):
                X = problem.matrix.X[rows]
                highest, lowest = X.max(axis=0), X.min(axis=0)
                up |= (highest > 0.0) if side > 0.0 else (lowest < 0.0)
                down |= (lowest < 0.0) if side > 0.0 else (highest > 0.0)
    found = up.astype(np.int64) - down
    found[up & down] = 0
    if not found.any():
        return None
    return _quasi(problem, [*found.tolist(), 0] if problem.bias else found.tolist(), names, clock)


def _quasi(problem: SeparationProblem, found: list[int], names: Ints, clock: Clock) -> Quasi:
    """Return a hyperplane with ties in terms of the data."""
    strict = np.flatnonzero(products(problem, found, np.arange(problem.n), clock)[1])
    *w, b = tidied(_original(problem, found))
    return Quasi(tuple(w), b, len(strict), tuple(names[strict].tolist()))


def _null_space_work(rows: list[list[int]]) -> float:
    """Return the work of finding the vectors orthogonal to some rows, roughly."""
    used = sum(any(column) for column in zip(*rows, strict=True))
    bits = max(max(map(int.bit_length, row)) for row in rows)
    return exact_work(min(len(rows), used), bits) * (1 + max(0, used - len(rows)))


def _original(problem: SeparationProblem, v: list[int]) -> list[Fraction]:
    """Return a vector in the columns of the data, with a last entry for the bias: 0 if there is none."""
    return [*problem.original(v), Fraction(v[-1]) if problem.bias else Fraction(0)]


def tidy_factor(values: Sequence[Fraction]) -> Fraction:
    """Return the factor that turns numbers into small integers, or 1 if they would not be small."""
    whole, denominator = common(values)
    divisor = gcd(*whole)
    if not divisor or max(map(abs, whole)) > MAX_TIDY_INTEGER * divisor:
        return Fraction(1)
    return Fraction(denominator, divisor)


def tidied(values: Sequence[Fraction]) -> Sequence[Fraction]:
    """Return numbers times `tidy_factor`."""
    factor = tidy_factor(values)
    return values if factor == 1 else [factor * value for value in values]


def _not_orthogonal(problem: SeparationProblem, v: list[int], clock: Clock) -> Ints:
    return np.flatnonzero(products(problem, v, np.arange(problem.n), clock)[1])


def _mixed(vectors: list[list[int]]) -> list[int]:
    """Return a random combination of vectors: a row orthogonal to it is hardly ever not orthogonal to each."""
    shares = np.random.default_rng(0).integers(1, 2**30, len(vectors)).tolist()
    return combined(shares, vectors)


def _by_one_sign(
    problem: SeparationProblem, vectors: list[list[int]], outside: Ints, clock: Clock
) -> list[int] | None:
    """Return the sum of the vectors that have all rows on one side, if it ties none of the rows outside.

    It involves few features, and so shows best which of them cause the separation.
    """
    total, strict = [0] * problem.width, np.zeros(len(outside), np.bool_)
    clock.spend(2 * problem.size * len(outside) / problem.n, DOING)
    rows = problem.matrix.X[outside]
    rows = rows.tocsc() if problem.sparse else np.asfortranarray(rows)
    for v in vectors:
        signs = _signs_by_one_column(problem, v, rows, outside, clock)
        if signs is None:
            if on_both_sides(problem, v, outside, clock):
                continue
            signs = products(problem, v, outside, clock)[1]
        side = signs[np.argmax(signs != 0)]
        if not (signs == -side).any() and ((signs != 0) & ~strict).any():
            strict |= signs != 0
            total = [a + int(side) * b for a, b in zip(total, v, strict=True)]
    return total if strict.all() and not len(_wrong_rows(problem, total, outside, clock)) else None


def _signs_by_one_column(
    problem: SeparationProblem, v: list[int], rows: Any, outside: Ints, clock: Clock
) -> Ints | None:
    """Return the signs of z_i·v for some rows if v has one entry, that of a feature, else None."""
    places = [j for j, value in enumerate(v) if value]
    if len(places) != 1 or places[0] >= problem.d:
        return None
    clock.spend(len(outside), DOING)
    column = rows[:, places]
    values = (column.toarray() if problem.sparse else column)[:, 0]
    side = 1 if v[places[0]] > 0 else -1
    return np.asarray(np.sign(values).astype(np.int64) * problem.y[outside].astype(np.int64) * side)


class _Reduced:
    """The rows `outside`, which are not orthogonal to every vector, by their products with the vectors.

    They are to be separated in these few coordinates.
    """

    def __init__(self, problem: SeparationProblem, vectors: list[list[int]], outside: Ints, clock: Clock) -> None:
        self.problem, self.vectors, self.outside, self.clock = problem, vectors, outside, clock
        self.batch = SAMPLE_ROWS_A_DIMENSION * (len(vectors) + 1)
        self.rows, self.powers = np.empty(0, np.int64), list[int]()
        self.coordinates: list[list[int]] = []
        self.new = np.sort(np.random.default_rng(0).permutation(outside)[: self.batch])

    def separate(self) -> list[int] | Meeting:
        """Return a vector that separates the rows, or a combination of them that is orthogonal to all vectors."""
        hint = [0]
        program = Program(len(self.vectors), np.zeros(len(self.vectors)), bias=False)
        for _ in range(MAX_FLOAT_ROUNDS):
            program.add(as_floats(self.take()))
            found = program.solve(self.clock)
            if found is None or found.t <= TOUCHING_MARGIN:
                hint = hint if found is None else found.held.tolist() or hint
                break
            v = self.combined(as_integers(found.v[None, :], np.zeros(found.v.size, np.int64))[0][0])
            if not len(self.new):
                return v
        simplex = Simplex(self.coordinates, hint)
        while (at := simplex.optimum(self.clock)) is not None:
            v = self.combined(at.v)
            if not len(self.new):
                return v
            simplex.extend(self.take())
        return simplex.meeting(self.rows, self.powers)

    def take(self) -> list[list[int]]:
        """Add the new rows, and return their coordinates."""
        bits = max(max(map(int.bit_length, v)) for v in self.vectors)
        words = 1 + bits / 64
        work = len(self.new) * (self.problem.width + len(self.vectors) * words)  # in Python
        products = len(self.new) * self.problem.width * len(self.vectors) * words
        self.clock.spend(PYTHON * work + WORK_A_PRODUCT * products, DOING)
        integers, powers = self.problem.integer_rows(self.new)
        added = product(integers, self.vectors)
        self.coordinates, self.powers = self.coordinates + added, self.powers + powers
        self.rows = np.append(self.rows, self.new)
        return added

    def combined(self, shares: list[int]) -> list[int]:
        """Return a combination of the vectors; the new rows are those that it does not separate."""
        v = combined(shares, self.vectors)
        self.new = _wrong_rows(self.problem, v, self.outside, self.clock)[: self.batch]
        return v


def _wrong_rows(problem: SeparationProblem, v: list[int], outside: Ints, clock: Clock) -> Ints:
    """Return the rows on the wrong side of a vector, and those outside that lie on it, the worst first."""
    about, signs = products(problem, v, np.arange(problem.n), clock)
    wrong = signs < 0
    wrong[outside] |= signs[outside] == 0
    return np.flatnonzero(wrong)[np.argsort(about[wrong], kind="stable")]


def _joined(problem: SeparationProblem, old: Meeting, new: Meeting) -> Meeting:
    """Return a combination to 0 of the rows of both; the old rows span the combination of the new ones."""
    integers, powers = problem.integer_rows(np.append(old.rows, new.rows))
    n = len(old.rows)
    lowest = min(powers)
    weights = [weight << (power - lowest) for weight, power in zip(old.weights + new.weights, powers, strict=True)]
    shares, denominator = _in_terms_of(integers[:n], combined(weights[n:], integers[n:]))
    factor = 1 + max([0, *(-(-share // weights[i]) for i, share in shares.items())])
    weights = [factor * weight - shares.get(i, 0) for i, weight in enumerate(weights[:n])] + [
        denominator * weight for weight in weights[n:]
    ]
    highest = max(powers)
    weights = [weight << (highest - power) for weight, power in zip(weights, powers, strict=True)]
    divisor = gcd(*weights)
    return Meeting(np.append(old.rows, new.rows), [weight // divisor for weight in weights])


def _in_terms_of(rows: IntegerRows, target: list[int]) -> tuple[dict[int, int], int]:
    """Return a vector in the span of rows as a combination of some of them, over a denominator."""
    if not any(target):
        return {}, 1
    for prime in PRIMES:
        kept, columns = independent(rows, prime)
        found = solve([[rows[i][j] for i in kept] for j in columns], [target[j] for j in columns])
        assert found is not None, "independent modulo a prime is independent"
        if combined(found[0], [rows[i] for i in kept]) == [found[1] * value for value in target]:
            return dict(zip(kept, found[0], strict=True)), found[1]
    raise Unsettled("Ranks modulo both primes are too small. Change the data slightly.")
