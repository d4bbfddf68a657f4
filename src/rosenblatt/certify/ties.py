"""Where nothing separates strictly: whether something separates with ties, and which rows it ties.

Facial reduction, exactly. Rows that are combined to 0 lie on every hyperplane that has no row on its wrong side.
So such hyperplanes are looked for among the vectors orthogonal to those rows: either one has all other rows
strictly on their right side (quasi-complete separation, on which logistic regression diverges), or some of the
others are combined to 0 there, and join the rows that tie. Each round ties a dimension more, until none is left
(overlap).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from rosenblatt.certify.linear_program import Program
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.search import TOUCHING
from rosenblatt.certify.sides import on_both_sides, products
from rosenblatt.certify.simplex import Meeting, Simplex, as_floats
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.rationals.dyadic import as_integers
from rosenblatt.rationals.linear import PRIMES, IntegerRows, independent, null_space, product, solve
from rosenblatt.typing import Ints

SAMPLE = 8  # rows for each dimension that are looked at first; more follow where they do not settle it
ROUNDS = 10  # times that floats are asked before rationals
LARGEST = 2**22  # entries of vectors orthogonal to the rows that tie, beyond which nothing is looked for


@dataclass(frozen=True, eq=False)
class Quasi:
    """A vector with z_i·v ≥ 0 for all rows, its bias last where there is one, and the rows where it is > 0."""

    v: list[int]
    strict: Ints


@dataclass(frozen=True, eq=False)
class Overlap:
    """A combination to 0 of rows that span all rows, and the vectors orthogonal to all."""

    meeting: Meeting
    null: list[list[int]]


def ties(problem: SeparationProblem, meeting: Meeting, clock: Clock) -> Quasi | Overlap | None:
    """Find out whether rows that nothing separates strictly are separated with ties.

    None if the features are too many beside the rows that tie.
    """
    if meeting.spanning:
        return Overlap(meeting, [])
    while (problem.width - len(meeting.rows)) * problem.width <= LARGEST:
        clock.check("looking for a hyperplane with ties")
        null = _alike(null_space(problem.integer_rows(meeting.rows)[0]))
        outside = _not_orthogonal(problem, _mixed(null), clock) if null else np.empty(0, np.int64)
        if not len(outside):  # of the mixture: only each vector by itself can tell
            outside = next((some for v in null if len(some := _not_orthogonal(problem, v, clock))), outside)
            if not len(outside):
                return Overlap(meeting, null)
        found = _by_one_sign(problem, null, outside, clock) or _Reduced(problem, null, outside, clock).separate()
        if isinstance(found, Quasi):
            return found
        meeting = _joined(problem, meeting, found)
    return None


def _not_orthogonal(problem: SeparationProblem, v: list[int], clock: Clock) -> Ints:
    clock.check("looking for a hyperplane with ties")
    return np.flatnonzero(products(problem, v, np.arange(problem.n))[1])


def _alike(vectors: list[list[int]]) -> list[list[int]]:
    """Return vectors times powers of two that make their largest entries alike, as floats like it."""
    bits = [max(map(int.bit_length, v)) for v in vectors]
    return [[value << (max(bits) - own) for value in v] for v, own in zip(vectors, bits, strict=True)]


def _mixed(vectors: list[list[int]]) -> list[int]:
    """Return a combination of vectors that hardly any row is orthogonal to without being so to each."""
    shares = np.random.default_rng(0).integers(1, 2**30, len(vectors)).tolist()
    return product([shares], list(zip(*vectors, strict=True)))[0]


def _by_one_sign(
    problem: SeparationProblem, vectors: list[list[int]], outside: Ints, clock: Clock
) -> Quasi | None:
    """Return the sum of the vectors that have no two rows on different sides, if that ties none of those outside.

    It has few features, and so says best which of them are to blame.
    """
    total, strict = [0] * problem.width, np.zeros(len(outside), np.bool_)
    for v in vectors:
        clock.check("looking for a hyperplane with ties")
        if on_both_sides(problem, v, outside):
            continue
        signs = products(problem, v, outside)[1]
        side = signs[np.argmax(signs != 0)]
        if not (signs == -side).any() and ((signs != 0) & ~strict).any():
            strict |= signs != 0
            total = [a + int(side) * b for a, b in zip(total, v, strict=True)]
    return judge(problem, total, outside)[0] if strict.all() else None


class _Reduced:
    """Rows seen as combinations of vectors, to be separated in these few coordinates.

    Parameters
    ----------
    problem : SeparationProblem
        The rows.
    vectors : list of lists of int
        The vectors.
    outside : ndarray of int
        The rows that are not orthogonal to every vector.
    clock : Clock
        When to end.
    """

    def __init__(self, problem: SeparationProblem, vectors: list[list[int]], outside: Ints, clock: Clock) -> None:
        self.problem, self.vectors, self.outside, self.clock = problem, vectors, outside, clock
        self.batch = SAMPLE * (len(vectors) + 1)
        self.rows, self.powers = np.empty(0, np.int64), list[int]()
        self.coordinates: list[list[int]] = []
        self.new = np.sort(np.random.default_rng(0).permutation(outside)[: self.batch])

    def separate(self) -> Quasi | Meeting:
        """Separate the rows, or return a combination of them that is orthogonal to all vectors."""
        hint = [0]
        program = Program(len(self.vectors), np.zeros(len(self.vectors)), bias=False)
        for _ in range(ROUNDS):
            program.add(as_floats(self.take()))
            found = program.solve(self.clock.left)
            if found is None or found.t <= TOUCHING:
                hint = hint if found is None else found.held.tolist() or hint
                break
            quasi = self.judge(as_integers(found.v[None, :], np.zeros(found.v.size, np.int64))[0][0])
            if quasi is not None:
                return quasi
        simplex = Simplex(self.coordinates, hint)
        while (at := simplex.optimum(self.clock)) is not None:
            quasi = self.judge(at.v)
            if quasi is not None:
                return quasi
            simplex.extend(self.take())
        return simplex.meeting(self.rows, self.powers)

    def take(self) -> list[list[int]]:
        """Take the new rows in, and return them in coordinates."""
        self.clock.check("looking for a hyperplane with ties")
        integers, powers = self.problem.integer_rows(self.new)
        added = product(integers, self.vectors)
        self.coordinates, self.powers = self.coordinates + added, self.powers + powers
        self.rows = np.append(self.rows, self.new)
        return added

    def judge(self, shares: list[int]) -> Quasi | None:
        """Return a combination of the vectors if it is the answer; if not, see which rows say so."""
        (v,) = product([shares], list(zip(*self.vectors, strict=True)))
        answer, wrong = judge(self.problem, v, self.outside)
        self.new = wrong[: self.batch]
        return answer


def judge(problem: SeparationProblem, v: list[int], outside: Ints) -> tuple[Quasi | None, Ints]:
    """Return a vector as the answer, if it has all rows outside strictly on their side and no other row wrong.

    If not, return those that are not so, the worst first.
    """
    about, signs = products(problem, v, np.arange(problem.n))
    wrong = signs < 0
    wrong[outside] |= signs[outside] == 0
    if not wrong.any():
        return Quasi(v, np.flatnonzero(signs)), np.flatnonzero(wrong)
    return None, np.flatnonzero(wrong)[np.argsort(about[wrong], kind="stable")]


def _joined(problem: SeparationProblem, old: Meeting, new: Meeting) -> Meeting:
    """Return a combination to 0 of the rows of both, where the new ones come to something the old ones span."""
    integers, powers = problem.integer_rows(np.append(old.rows, new.rows))
    n = len(old.rows)
    lowest = min(powers)
    weights = [weight << (power - lowest) for weight, power in zip(old.weights + new.weights, powers, strict=True)]
    (excess,) = product([weights[n:]], list(zip(*integers[n:], strict=True)))
    shares, denominator = _in_terms_of(integers[:n], excess)  # taken from a multiple of the old weights
    factor = 1 + max([0, *(-(-share // weights[i]) for i, share in shares.items())])
    weights = [factor * weight - shares.get(i, 0) for i, weight in enumerate(weights[:n])] + [
        denominator * weight for weight in weights[n:]
    ]
    highest = max(powers)
    weights = [weight << (highest - power) for weight, power in zip(weights, powers, strict=True)]
    divisor = gcd(*weights)
    return Meeting(np.append(old.rows, new.rows), [weight // divisor for weight in weights])


def _in_terms_of(rows: IntegerRows, target: list[int]) -> tuple[dict[int, int], int]:
    """Return a vector that rows span as a combination of some of them, over a denominator."""
    if not any(target):
        return {}, 1
    for prime in PRIMES:
        kept, columns = independent(rows, prime)
        found = solve([[rows[i][j] for i in kept] for j in columns], [target[j] for j in columns])
        assert found is not None, "independent modulo a prime is independent"
        (sums,) = product([found[0]], list(zip(*(rows[i] for i in kept), strict=True)))
        if sums == [found[1] * value for value in target]:
            return dict(zip(kept, found[0], strict=True)), found[1]
    raise Unsettled("Both primes that ranks are found by divide what they should not. Move the data by a little.")
