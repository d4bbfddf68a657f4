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

from rosenblatt.certify.clock import Clock
from rosenblatt.certify.problem import Problem
from rosenblatt.certify.sides import products
from rosenblatt.certify.simplex import Meeting, Simplex
from rosenblatt.rationals.linear import independent, null_space, product, solve
from rosenblatt.typing import Ints

SAMPLE = 8  # rows for each dimension that are looked at first; more follow where they do not settle it
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


def ties(problem: Problem, meeting: Meeting, clock: Clock) -> Quasi | Overlap | None:
    """Find out whether rows that nothing separates strictly are separated with ties.

    None if the features are too many beside the rows that tie.
    """
    if meeting.spanning:
        return Overlap(meeting, [])
    while (problem.width - len(meeting.rows)) * problem.width <= LARGEST:
        clock.check("looking for a hyperplane with ties")
        null = null_space(problem.integer_rows(meeting.rows)[0])
        free, outside = _outside(problem, null)
        if not len(outside):
            return Overlap(meeting, null)
        found = _by_one_sign(problem, free, outside) or _separate(problem, free, outside, clock)
        if isinstance(found, Quasi):
            return found
        meeting = _joined(problem, meeting, found)
    return None


def _outside(problem: Problem, null: list[list[int]]) -> tuple[list[list[int]], Ints]:
    """Return the vectors not orthogonal to every row, and the rows not orthogonal to every vector."""
    free, outside = [], np.zeros(problem.n, np.bool_)
    for v in null:
        signs = products(problem, v, np.arange(problem.n))[1]
        if signs.any():
            free.append(v)
            outside |= signs != 0
    return free, np.flatnonzero(outside)


def _by_one_sign(problem: Problem, vectors: list[list[int]], rows: Ints) -> Quasi | None:
    """Return the sum of the vectors that have no two rows on different sides, if that ties none of the rows.

    It has few features, and so says best which of them are to blame.
    """
    total, strict = [0] * problem.width, np.zeros(len(rows), np.bool_)
    for v in vectors:
        signs = products(problem, v, rows)[1]
        side = signs[np.argmax(signs != 0)]
        if (signs == -side).any() or (strict | (signs == 0)).all():
            continue
        strict |= signs != 0
        total = [a + int(side) * b for a, b in zip(total, v, strict=True)]
    return Quasi(total, rows) if strict.all() else None


def _separate(problem: Problem, vectors: list[list[int]], outside: Ints, clock: Clock) -> Quasi | Meeting:
    """Separate rows by a combination of vectors, or return a combination of rows orthogonal to all of them."""
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(outside)[: SAMPLE * (len(vectors) + 1)])
    integers, powers = problem.integer_rows(rows)
    simplex = Simplex(product(integers, vectors))
    while not simplex.meets:
        clock.check("looking for a hyperplane with ties")
        at = simplex.multipliers()
        row = simplex.entering(at)
        if row is not None:
            simplex.enter(row)
            continue
        v = product([at.v], list(zip(*vectors, strict=True)))[0]
        about, signs = products(problem, v, outside)
        wrong = np.flatnonzero(signs <= 0)
        if not len(wrong):
            return Quasi(v, outside)
        new = outside[wrong[np.argsort(about[wrong], kind="stable")[: SAMPLE * (len(vectors) + 1)]]]
        integers, more = problem.integer_rows(new)
        simplex.extend(product(integers, vectors))
        rows, powers = np.append(rows, new), powers + more
    return simplex.meeting(rows, powers)


def _joined(problem: Problem, old: Meeting, new: Meeting) -> Meeting:
    """Return a combination to 0 of the rows of both, where the new ones come to something the old ones span."""
    integers, powers = problem.integer_rows(np.append(old.rows, new.rows))
    n = len(old.rows)
    lowest = min(powers)
    weights = [weight << (power - lowest) for weight, power in zip(old.weights + new.weights, powers, strict=True)]
    (excess,) = product([weights[n:]], list(zip(*integers[n:], strict=True)))
    kept, columns = independent(integers[:n])
    found = solve([[integers[i][j] for i in kept] for j in columns], [excess[j] for j in columns])
    assert found is not None, "independent modulo a prime is independent"
    shares = dict(zip(kept, found[0], strict=True))  # over found[1], taken from a multiple of the old weights
    factor = 1 + max([0, *(-(-share // weights[i]) for i, share in shares.items())])
    weights = [factor * weight - shares.get(i, 0) for i, weight in enumerate(weights[:n])] + [
        found[1] * weight for weight in weights[n:]
    ]
    highest = max(powers)
    weights = [weight << (highest - power) for weight, power in zip(weights, powers, strict=True)]
    divisor = gcd(*weights)
    return Meeting(np.append(old.rows, new.rows), [weight // divisor for weight in weights])
