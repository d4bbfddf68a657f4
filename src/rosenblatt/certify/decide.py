"""Decide whether a hyperplane separates: floats propose, and only time leaves it open.

Rationals decide. Floats do only within proved bounds of their errors: about a row in `sides`, and about rows that
contradict each other in `rigorous`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from rosenblatt.certify.hinge import Combined, HingeNewton, choose_fewest
from rosenblatt.certify.problem import Direction, SeparationProblem
from rosenblatt.certify.rationals import nearest
from rosenblatt.certify.rigorous import Contradiction, prove_contradiction
from rosenblatt.certify.search import Search, nearest_rows
from rosenblatt.certify.shortcuts import Peeling, find_equal_rows, guess, peel, takes_newton
from rosenblatt.certify.sides import bias_of
from rosenblatt.certify.simplex import Meeting, Simplex
from rosenblatt.certify.time_limit import PYTHON, Clock, exact_work
from rosenblatt.loops.passes import scores
from rosenblatt.typing import Floats, Ints

# These choose what is tried next, and decide nothing.
SMALL_VALUES = 1000  # problems of up to this many values are solved exactly at once
MANY_ROWS_A_WEIGHT = 8  # rows for each weight above which few are tried first in floats
MANY_ROWS_A_WEIGHT_EXACTLY = 32  # the same where floats only propose, and all rows are multiplied by BLAS
FEW_ROWS_A_WEIGHT = 4  # rows for each weight that are tried alone
MAX_ATTEMPTS = 5  # with few rows, before all are
MAX_NEWTON_STEPS = 30  # of Newton's method with few rows
MANY_WRONG_SHARE = 1 / 8  # of rows on their wrong side above which any few rows may do
LEAST_WORK_A_CUBE = 2.0  # units of work for each cube of the number of weights: less never decided 13 noisy tables
STEPS_AFTER_SEPARATION = 4  # of it once it separates the few rows: then the vector hardly changes
NEAR_MARGIN = 1.5  # rows of smaller margin in an attempt take part in the next
MAX_COPIED_VALUES = 2**23  # the most values of rows that are copied to be multiplied in a fixed order
BOUND_WORK_A_PRODUCT = 0.5  # units of work to bound rounding errors, for each value and column
LEAST_PEELED_SHARE = (
    1 / 4
)  # of dense rows that a round of peeling must remove to be worth reading the rest once more
EARLY_ROWS = 4096  # rows among which equal ones are sought before anything else
SECONDS_FOR_300_ROWS = (
    0.5  # the time of exact equations of 300 rows, roughly; it grows with the cube of their number
)
READING = "reading the data"
LENGTHS_BITS = (53, 106, 212, 424)  # the bits that an exact vector is shortened to, if that suffices


@dataclass(frozen=True, eq=False)
class Plane:
    """A hyperplane that separates all rows: its normal vector, and its bias in the same units."""

    v: Direction
    b: Fraction


Decision: TypeAlias = Plane | Meeting


def decide(problem: SeparationProblem, clock: Clock, guess: Direction | None = None) -> Decision:
    """Decide whether the rows of a problem are separable, with an exact proof; `guess` is tried first.

    Raises `Unsettled` when the time is over.
    """
    found = _decide(problem, clock, guess, exact=True)
    assert not isinstance(found, Contradiction), "an exact proof was asked for"
    return found


def decide_in_floats(
    problem: SeparationProblem, clock: Clock, guess: Direction | None = None, margins: Floats | None = None
) -> Decision | Contradiction:
    """Decide whether the rows of a problem are separable; floats may prove a contradiction, within their bounds.

    What decides is computed in a fixed order as long as that is so: the same rows give the same answer everywhere.
    `margins`, those of a hyperplane that has been trained, tell which rows to try first.
    """
    return _decide(problem, clock, guess, exact=False, margins=margins)


def prove(problem: SeparationProblem, found: Contradiction, clock: Clock) -> Meeting:
    """Return the exact proof that rows contradict each other, which floats have proved to exist."""
    part = problem.some(found.rows)
    few = choose_fewest(part, Combined(np.arange(part.n), found.weights), clock)
    meeting = _solve_meeting(part, few, clock)
    if meeting is None:
        decided = by_simplex(part, clock, np.arange(part.n), few.tolist())
        assert isinstance(decided, Meeting), "floats have proved that nothing separates these rows"
        meeting = decided
    return replace(meeting, rows=found.rows[meeting.rows])


def _decide(
    problem: SeparationProblem,
    clock: Clock,
    guess: Direction | None,
    *,
    exact: bool,
    margins: Floats | None = None,
) -> Decision | Contradiction:
    if guess is not None and (plane := _check_plane(problem, guess)) is not None:
        return plane
    if problem.n * problem.width <= SMALL_VALUES:
        return by_simplex(problem, clock, np.arange(problem.n))
    clock.spend(problem.size, READING)
    clock.spend(2 * problem.size, READING)
    if (pair := find_equal_rows(problem.matrix, problem.y, problem.digests, among=EARLY_ROWS)) is not None:
        return Meeting(np.array(pair), [1, 1])
    peeling = peel(
        problem.matrix.X, problem.y, bias=problem.bias, least=0.0 if problem.sparse else LEAST_PEELED_SHARE
    )
    rows = np.flatnonzero(peeling.left)
    if (
        2 * len(rows) <= problem.n
        and (found := _decide_peeled(problem, clock, peeling, rows, exact, margins)) is not None
    ):
        return found
    if takes_newton(problem):
        clock.require(estimate_least_work(problem.n, problem.width), "minimising the squared hinge loss")
    for proposed in _try_few(problem, clock, margins, fixed=not exact):
        if (answer := _judge(problem, proposed, clock, exact)) is not None:
            return answer
    if (
        problem.n > EARLY_ROWS
        and (pair := find_equal_rows(problem.matrix, problem.y, problem.digests)) is not None
    ):
        return Meeting(np.array(pair), [1, 1])
    return _decide_all(problem, clock, exact)


def _decide_peeled(
    problem: SeparationProblem,
    clock: Clock,
    peeling: Peeling,
    rows: Ints,
    exact: bool,
    margins: Floats | None,
) -> Decision | Contradiction | None:
    """Decide by the rows left when forced ones are removed; None if the plane made of their proofs fails."""
    last = None
    if len(rows):
        used = np.arange(problem.d)
        if problem.sparse:
            left = problem.matrix.X[rows]
            used = np.unique(left.indices[left.data != 0.0])
        if not len(used):  # rows of zeros, of both sides if there is a bias
            sides = (1.0, -1.0) if problem.bias else problem.y[rows[:1]]
            zeros = [rows[np.argmax(problem.y[rows] == side)] for side in sides]
            return Meeting(np.array(zeros), [1] * len(zeros))
        part = problem.some(rows, used)
        found = _decide(part, clock, None, exact=exact, margins=None if margins is None else margins[rows])
        if not isinstance(found, Plane):
            spanning = found.spanning and len(used) == problem.d
            return replace(found, rows=rows[found.rows], spanning=spanning)
        last = np.zeros(problem.d + 1)
        last[-1] = nearest(*found.b.as_integer_ratio())
        with np.errstate(under="ignore", over="ignore"):
            last[used] = np.ldexp(found.v.high[: part.d], -part.scale)
    w = peeling.normal(problem.matrix.X, last)
    direction = problem.direction(w[:-1]) if np.isfinite(w).all() else None
    return None if direction is None else _check_plane(problem, direction[0])


def choose_first_rows(n: int, width: int, margins: Floats | None) -> Ints:
    """Return the rows that are tried first: any, always the same; half of them by least margin if few are wrong.

    Where many are wrong, any few rows contradict each other.
    """
    random, count = np.random.default_rng(1), FEW_ROWS_A_WEIGHT * width
    if margins is None or np.count_nonzero(margins <= 0.0) > MANY_WRONG_SHARE * n:
        return np.unique(random.integers(n, size=count))
    return np.unique(np.append(choose_least(margins, count // 2), random.integers(n, size=count - count // 2)))


def estimate_least_work(n: int, width: int) -> float:
    """Return the work that a decision by Newton's method takes at least."""
    return LEAST_WORK_A_CUBE * min(width, n / FEW_ROWS_A_WEIGHT) * width**2


def choose_least(values: Floats, count: int) -> Ints:
    """Return the places of the `count` least values, the first of equal ones.

    `np.argpartition` would choose among equal ones by the instructions of the processor.
    """
    limit = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < limit)
    return np.append(below, np.flatnonzero(values == limit)[: count - len(below)])


def _try_few(
    problem: SeparationProblem, clock: Clock, margins: Floats | None, *, fixed: bool
) -> Iterator[Direction | Combined]:
    """Yield combinations of few of many rows that may be 0, and vectors that may separate all rows.

    The first few rows are any, and some of the least `margins`. The next are those that mattered, those of least
    margin under the vector found, and some more: on noisy rows, those of least margin alone are separable.
    """
    D, n = problem.width, problem.n
    if not takes_newton(problem) or n <= (MANY_ROWS_A_WEIGHT if fixed else MANY_ROWS_A_WEIGHT_EXACTLY) * D:
        return
    random, rows = np.random.default_rng(0), choose_first_rows(n, D, margins)
    for _ in range(MAX_ATTEMPTS):
        few = problem.some(rows)
        if problem.bias and not (len(few.positive) and len(few.negative)):
            rows = np.union1d(rows, random.integers(n, size=FEW_ROWS_A_WEIGHT * D))
            continue
        newton, separated = HingeNewton(few, clock, fixed=fixed), 0
        for proposed in newton.steps(MAX_NEWTON_STEPS):
            if proposed is not None:
                yield Combined(rows[proposed.rows], proposed.weights)
            separated += newton.separates()
            if separated > STEPS_AFTER_SEPARATION:
                break
        w, margins = newton.weights(), np.empty(n)
        clock.spend(problem.size, READING)
        scores(problem.features.rows, w, margins)
        margins *= problem.y
        if margins.min() > 0.0 and (found := problem.direction(w[:-1])) is not None:
            yield found[0]
        least = choose_least(margins, FEW_ROWS_A_WEIGHT * D // 2)
        mattered = rows[newton.margins < NEAR_MARGIN]
        rows = np.unique(np.concatenate([mattered, least, random.integers(n, size=D)]))


def _decide_all(problem: SeparationProblem, clock: Clock, exact: bool) -> Decision | Contradiction:
    """Decide with all rows: by guesses, Newton's method, a linear program, and the exact simplex method."""
    last: Direction | None = None
    for v in guess(problem, clock):
        clock.spend(problem.size, READING)
        if (plane := _check_plane(problem, v)) is not None:
            return plane
        last = v
    if takes_newton(problem):
        fixed = not exact and problem.n * problem.width <= MAX_COPIED_VALUES
        for proposed in HingeNewton(problem, clock, fixed=fixed).run():
            if (answer := _judge(problem, proposed, clock, exact)) is not None:
                return answer
            if isinstance(proposed, Combined):
                if not exact and (answer := _judge(problem, proposed, clock, exact=True)) is not None:
                    return answer
                break  # the rows nearly contradict each other, by less than these floats resolve
            last = proposed
    search = Search(problem, clock, last)
    held = np.empty(0, np.int64)
    for found in search.run():
        held = found.rows
        answer = _check_plane(problem, found.v) if found.v is not None else _solve_meeting(problem, held, clock)
        if answer is not None:
            return answer
    rows = np.flatnonzero(search.inside)
    return by_simplex(problem, clock, rows, np.searchsorted(rows, held).tolist())


def _judge(
    problem: SeparationProblem, proposed: Direction | Combined, clock: Clock, exact: bool
) -> Decision | Contradiction | None:
    """Return what is proved by a vector that may separate, or by rows that may contradict each other, or None."""
    if isinstance(proposed, Direction):
        return _check_plane(problem, proposed)
    if exact:
        return _solve_meeting(problem, choose_fewest(problem, proposed, clock), clock)
    Z = problem.signed_exactly(proposed.rows)
    clock.spend(BOUND_WORK_A_PRODUCT * Z.size * problem.width, "bounding rounding errors")
    found = prove_contradiction(Z, proposed.weights, bias=problem.bias)
    return None if found is None else replace(found, rows=proposed.rows[found.rows])


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
            if (plane := _shorten_plane(problem, v)) is not None:
                return plane
            r = problem.y * problem.scores(v)[0]
        new = nearest_rows(problem, r, inside, problem.width + 1)
        integers, more = problem.integer_rows(new)
        simplex.extend(integers)
        inside[new] = True
        rows, powers = np.append(rows, new), powers + more
    return simplex.meeting(rows, powers)


def _check_plane(problem: SeparationProblem, v: Direction) -> Plane | None:
    b = bias_of(problem, v)
    return None if b is None else Plane(v, b)


def _solve_meeting(problem: SeparationProblem, rows: Ints, clock: Clock) -> Meeting | None:
    """Return weights of some rows that prove them inseparable, or None."""
    if not len(rows):
        return None
    clock.afford(SECONDS_FOR_300_ROWS * (len(rows) / 300) ** 3, "solving exact equations")
    integers, powers = problem.integer_rows(rows, only_used=True)
    bits = max(max(map(int.bit_length, row)) for row in integers)
    clock.spend(exact_work(min(len(rows), len(integers[0]) + 1), bits), "solving exact equations")
    simplex = Simplex(integers, range(len(rows)))
    if not simplex.meets:
        return None
    found = simplex.meeting(rows, powers)
    return replace(found, spanning=found.spanning and len(integers[0]) == problem.width)


def _shorten_plane(problem: SeparationProblem, v: Direction) -> Plane | None:
    """Return the plane of a vector, shortened as far as possible; None if the vector does not separate."""
    whole = _check_plane(problem, v)
    if whole is None:
        return None
    cuts = (v.shortened(bits) for bits in LENGTHS_BITS)
    return next((plane for cut in cuts if (plane := _check_plane(problem, cut)) is not None), whole)
