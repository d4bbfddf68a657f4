"""Is there a separating hyperplane: floats propose, rationals decide, and only time can leave it open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certify.clock import Clock
from rosenblatt.certify.problem import Direction, Problem
from rosenblatt.certify.proposals import guesses
from rosenblatt.certify.search import Search
from rosenblatt.certify.sides import bias_of
from rosenblatt.certify.simplex import Meeting, Simplex
from rosenblatt.certify.twins import twins
from rosenblatt.typing import Ints

# These choose what is tried next, and decide nothing.
SMALL = 1000  # values of z up to which the exact method is at its end before floats have begun
LENGTHS = (53, 106, 212, 424)  # bits that a vector found exactly is cut to, if that is enough


@dataclass(frozen=True, eq=False)
class Plane:
    """A hyperplane that separates every row: its normal vector, and its bias in the same units."""

    v: Direction
    b: Fraction


Answer: TypeAlias = Plane | Meeting


def decide(problem: Problem, clock: Clock, guess: Direction | None = None) -> Answer:
    """Decide whether the rows of a problem are separable, and prove it; `guess` is tried before all else.

    Raises
    ------
    Unsettled
        If the clock says so.
    """
    if guess is not None and (plane := _plane(problem, guess)) is not None:
        return plane
    if problem.n * problem.width <= SMALL:
        return by_simplex(problem, clock, np.arange(problem.n))
    last = None
    for v in guesses(problem):
        if (plane := _plane(problem, v)) is not None:
            return plane
        clock.check("fitting least squares")
        last = v
    pair = twins(problem)
    if pair is not None:
        return Meeting(np.array(pair), [1, 1])
    search = Search(problem, clock, last)
    held = np.empty(0, np.int64)
    for found in search.run():
        held = found.rows
        answer = _plane(problem, found.v) if found.v is not None else _meeting(problem, held)
        if answer is not None:
            return answer
    rows = np.flatnonzero(search.inside)
    return by_simplex(problem, clock, rows, np.searchsorted(rows, held).tolist())


def by_simplex(problem: Problem, clock: Clock, rows: Ints, hint: Sequence[int] = ()) -> Answer:
    """Decide in rationals, beginning with some of the rows, to which those not separated yet are added."""
    integers, powers = problem.integer_rows(rows)
    simplex = Simplex(integers, hint or (0,))
    inside = np.zeros(problem.n, np.bool_)
    inside[rows] = True
    while (at := simplex.optimum(clock)) is not None:
        v = Direction.of_integers(at.v[: problem.d])
        if (plane := _short(problem, v)) is not None:
            return plane
        new = _nearest(problem, v, inside, 2 * (problem.width + 1))
        integers, more = problem.integer_rows(new)
        simplex.extend(integers)
        inside[new] = True
        rows, powers = np.append(rows, new), powers + more
    return simplex.meeting(rows, powers)


def _plane(problem: Problem, v: Direction) -> Plane | None:
    b = bias_of(problem, v)
    return None if b is None else Plane(v, b)


def _meeting(problem: Problem, rows: Ints) -> Meeting | None:
    """Return weights with which some rows prove that nothing separates them, if there are any."""
    if not len(rows):
        return None
    integers, powers = problem.integer_rows(rows)
    simplex = Simplex(integers, range(len(rows)))
    return simplex.meeting(rows, powers) if simplex.meets else None


def _short(problem: Problem, v: Direction) -> Plane | None:
    """Return the plane of a vector cut as short as will do; None if the vector itself will not."""
    if bias_of(problem, v) is None:
        return None
    cuts = (v.shortened(bits) for bits in LENGTHS)
    return next((plane for cut in cuts if (plane := _plane(problem, cut)) is not None), None) or _plane(problem, v)


def _nearest(problem: Problem, v: Direction | None, inside: NDArray[np.bool_], count: int) -> Ints:
    """Return rows of each class that lie nearest to the other, of those that are not inside yet."""
    f = problem.y * problem.scores(v)[0] if v is not None else np.zeros(problem.n)
    f[inside] = np.inf
    chosen = []
    for side in (problem.positive, problem.negative):
        k = min(count, int(np.count_nonzero(~inside[side])))
        if k:
            chosen.append(side[np.argpartition(f[side], k - 1)[:k]])
    return np.sort(np.concatenate(chosen))
