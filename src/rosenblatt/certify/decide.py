"""Decide whether a hyperplane separates: floats propose, rationals decide, and only time leaves it open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from rosenblatt.certify.hinge import Combined, HingeNewton, fewest
from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.search import Search, nearest_rows
from rosenblatt.certify.shortcuts import equal_rows, guesses, takes_newton
from rosenblatt.certify.sides import bias_of
from rosenblatt.certify.simplex import Meeting, Simplex
from rosenblatt.certify.time_limit import PYTHON, Clock, exact_work
from rosenblatt.typing import Ints

# These choose what is tried next, and decide nothing.
SMALL = 1000  # problems of up to this many values are solved exactly at once
FEW = 16  # rows for each weight that are tried alone first
SHARE = 1 / 8  # of all rows that these may be
SECONDS = 0.5  # the time of exact equations of 300 rows, roughly; it grows with the cube of their number
READING = "reading the data"
LENGTHS = (53, 106, 212, 424)  # the bits that an exact vector is shortened to, if that suffices


@dataclass(frozen=True, eq=False)
class Plane:
    """A hyperplane that separates all rows: its normal vector, and its bias in the same units."""

    v: Direction
    b: Fraction


Decision: TypeAlias = Plane | Meeting


def decide(
    problem: SeparationProblem, clock: Clock, guess: Direction | None = None, *, few: bool = False
) -> Decision:
    """Decide whether the rows of a problem are separable, with a proof; `guess` is tried first.

    With `few`, some of very many rows are tried alone before all of them: a contradiction among them is a proof.

    Raises `Unsettled` when the time is over.
    """
    if guess is not None and (plane := _plane(problem, guess)) is not None:
        return plane
    if problem.n * problem.width <= SMALL:
        return by_simplex(problem, clock, np.arange(problem.n))
    clock.spend(problem.size, READING)
    clock.spend(2 * problem.size, READING)
    if (pair := equal_rows(problem.matrix, problem.y, problem.digests)) is not None:
        return Meeting(np.array(pair), [1, 1])
    if few and (meeting := _among_few(problem, clock)) is not None:
        return meeting
    last: Direction | None = None
    for v in guesses(problem, clock):
        clock.spend(problem.size, READING)
        if (plane := _plane(problem, v)) is not None:
            return plane
        last = v
    if takes_newton(problem):
        for proposed in HingeNewton(problem, clock).run():
            if isinstance(proposed, Direction):
                last = proposed
                if (plane := _plane(problem, proposed)) is not None:
                    return plane
            elif (meeting := _meeting(problem, fewest(problem, proposed, clock), clock)) is not None:
                return meeting
            else:
                break  # the rows nearly contradict each other, by less than these floats resolve
    search = Search(problem, clock, last)
    held = np.empty(0, np.int64)
    for found in search.run():
        held = found.rows
        answer = _plane(problem, found.v) if found.v is not None else _meeting(problem, held, clock)
        if answer is not None:
            return answer
    rows = np.flatnonzero(search.inside)
    return by_simplex(problem, clock, rows, np.searchsorted(rows, held).tolist())


def _among_few(problem: SeparationProblem, clock: Clock) -> Meeting | None:
    """Return a proof that some of very many rows already contradict each other, or None."""
    count = FEW * problem.width
    if not takes_newton(problem) or count > SHARE * problem.n:
        return None
    rows = np.arange(count) * problem.n // count
    few = problem.some(rows)
    if problem.bias and not (len(few.positive) and len(few.negative)):
        return None
    newton = HingeNewton(few, clock)
    for proposed in newton.run():
        if isinstance(proposed, Combined):
            found = _meeting(few, fewest(few, proposed, clock), clock)
            return None if found is None else replace(found, rows=rows[found.rows])
        if newton.separates():
            return None
    return None


def by_simplex(problem: SeparationProblem, clock: Clock, rows: Ints, hint: Sequence[int] = ()) -> Decision:
    """Decide in rationals, beginning with some rows; rows that are not separated yet are added."""
    clock.spend(PYTHON * len(rows) * problem.width, "converting rows to integers")
    integers, powers = problem.integer_rows(rows)
    simplex = Simplex(integers, hint or (0,))
    inside = np.zeros(problem.n, np.bool_)
    inside[rows] = True
    while (at := simplex.optimum(clock)) is not None:
        r = np.zeros(problem.n)
        clock.spend(problem.size, READING)
        if any(at.v[: problem.d]):
            v = Direction.of_integers(at.v[: problem.d])
            if (plane := _short(problem, v)) is not None:
                return plane
            r = problem.y * problem.scores(v)[0]
        new = nearest_rows(problem, r, inside, problem.width + 1)
        integers, more = problem.integer_rows(new)
        simplex.extend(integers)
        inside[new] = True
        rows, powers = np.append(rows, new), powers + more
    return simplex.meeting(rows, powers)


def _plane(problem: SeparationProblem, v: Direction) -> Plane | None:
    b = bias_of(problem, v)
    return None if b is None else Plane(v, b)


def _meeting(problem: SeparationProblem, rows: Ints, clock: Clock) -> Meeting | None:
    """Return weights of some rows that prove them inseparable, or None."""
    if not len(rows):
        return None
    clock.afford(SECONDS * (len(rows) / 300) ** 3, "solving exact equations")
    integers, powers = problem.integer_rows(rows, only_used=True)
    bits = max(max(map(int.bit_length, row)) for row in integers)
    clock.spend(exact_work(min(len(rows), len(integers[0]) + 1), bits), "solving exact equations")
    simplex = Simplex(integers, range(len(rows)))
    if not simplex.meets:
        return None
    found = simplex.meeting(rows, powers)
    return replace(found, spanning=found.spanning and len(integers[0]) == problem.width)


def _short(problem: SeparationProblem, v: Direction) -> Plane | None:
    """Return the plane of a vector, shortened as far as possible; None if the vector does not separate."""
    whole = _plane(problem, v)
    if whole is None:
        return None
    cuts = (v.shortened(bits) for bits in LENGTHS)
    return next((plane for cut in cuts if (plane := _plane(problem, cut)) is not None), whole)
