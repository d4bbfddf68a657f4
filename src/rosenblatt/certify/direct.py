"""Whether some argmax of K linear functions makes no error, with a proof: the question of ``multiclass="direct"``.

The functions f_k(x) = <w_k, x> + b_k make no error if f_c(x) > f_k(x) for every row x, its class c, and every
rival k ≠ c. Kesler's construction (Nilsson 1965) makes this a question about one vector: the w_k and b_k one after
the other, and for each row and rival a constructed row with (x, 1) in the place of c and −(x, 1) in that of k.
Adding the same to all functions changes nothing, so the last one is 0.

There are n (K − 1) constructed rows of K − 1 times as many columns. So only some of them are decided together, and
those that the answer gets wrong join them. Two classes that are inseparable decide the question at once, and so do
two equal rows of different classes.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from reprlib import repr as short
from typing import NamedTuple, TypeAlias

import numpy as np

from rosenblatt.certify.decide import Plane, decide, decide_in_floats, estimate_least_work, prove
from rosenblatt.certify.problem import WORK_A_SPARSE_VALUE, SeparationProblem
from rosenblatt.certify.rationals import common, exact, shifted
from rosenblatt.certify.rigorous import Contradiction
from rosenblatt.certify.shortcuts import (
    LARGE_VALUES,
    MAX_EQUATIONS,
    MAX_PASSES,
    find_equal_rows,
    train_by_mistakes,
)
from rosenblatt.certify.sides import products
from rosenblatt.certify.simplex import Meeting
from rosenblatt.certify.time_limit import Clock
from rosenblatt.loops.layout import Direct, oriented
from rosenblatt.margins.matrix import Matrix
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, as_rows
from rosenblatt.typing import Floats, Ints

MAX_VALUES_AT_ONCE = 200_000  # up to this many values all constructed rows are decided together
ROWS_A_COLUMN = 2  # constructed rows for each of their columns that join at a time
READING = "comparing classes"

Vectors: TypeAlias = list[list[Fraction]]
"""For each class its weights, and its bias as the last entry."""


class Argmax(NamedTuple):
    """Linear functions whose argmax makes no error."""

    vectors: Vectors


class Clash(NamedTuple):
    """Rows with a rival class and a positive weight each, whose constructed rows sum to 0."""

    rows: Ints
    rivals: Ints
    weights: list[int]


class Wrong(NamedTuple):
    """Rows and rivals that are not below the class of the row, the worst first."""

    rows: Ints
    rivals: Ints


class ClassProblem:
    """Finite rows of several classes; all of `classes` take part, also those without rows."""

    def __init__(self, batch: Batch, *, bias: bool, clock: Clock) -> None:
        self.batch, self.bias, self.clock = batch, bias, clock
        self.count, self.width = len(batch.classes), batch.n_features + bias

    def decide(self, *, scores: Floats | None = None) -> Argmax | Clash:
        """Decide the question; raise `Unsettled` if that takes too long.

        `scores` of the rows, one for each class, are those of a perceptron that has been trained: it is not once
        more, and they tell which rows to try first.
        """
        size = self.batch.n_rows * (self.count - 1) * 2 * self.width
        if size > MAX_VALUES_AT_ONCE and (clash := self.by_equal_rows()) is not None:
            return clash
        wrong: Wrong | None = None
        if scores is None:
            start = self.by_mistakes()
            wrong = self.wrong(start)
            if wrong is None:
                return Argmax(start)
        if size > MAX_VALUES_AT_ONCE and (clash := self.by_pairs(scores)) is not None:
            return clash
        inside = self.every() if wrong is None or size <= MAX_VALUES_AT_ONCE else wrong
        inside = self.nearest(inside) if size > MAX_VALUES_AT_ONCE else inside
        while True:
            problem = self.construct(inside)
            found = decide(problem, self.clock)
            if isinstance(found, Meeting):
                return Clash(inside.rows[found.rows], inside.rivals[found.rows], found.weights)
            vectors = self.vectors(problem, found)
            wrong = self.wrong(vectors)
            if wrong is None:
                return Argmax(vectors)
            new = self.nearest(wrong)
            inside = Wrong(*(np.concatenate(pair) for pair in zip(inside, new, strict=True)))

    def every(self) -> Wrong:
        """Return every row with every rival."""
        rows = np.repeat(np.arange(self.batch.n_rows), self.count)
        rivals = np.tile(np.arange(self.count), self.batch.n_rows)
        different = self.batch.codes[rows] != rivals
        return Wrong(rows[different], rivals[different])

    def label(self, code: int) -> str:
        """Return a label as it is shown."""
        return short(str(self.batch.classes[[code]].tolist()[0]))

    def by_mistakes(self) -> Vectors:
        """Return the functions that the perceptron finds, whether or not they make errors."""
        batch = self.batch
        if self.count * batch.stored < LARGE_VALUES:
            return [[Fraction(0)] * (batch.n_features + 1)] * self.count
        w = oriented(np.zeros((self.count, batch.n_features + 1)), batch.rows)
        targets = Direct(batch.codes, np.ones(batch.n_rows), np.arange(self.count), 0)
        size = float(self.count * batch.stored + batch.n_rows)
        train_by_mistakes(batch, targets, w, size, MAX_PASSES, batch.n_rows, self.clock, bias=self.bias)
        if not np.isfinite(w).all():
            w[:] = 0.0
        return [[exact(value) for value in row] for row in w.tolist()]

    def by_equal_rows(self) -> Clash | None:
        """Return two equal rows of different classes, each the other's rival; None if there are none."""
        matrix = Matrix(self.batch, bias=False)
        self.clock.spend(
            3 * ((WORK_A_SPARSE_VALUE if matrix.sparse else 1) * self.batch.stored + matrix.n), READING
        )
        pair = find_equal_rows(matrix, self.batch.codes)
        if pair is None:
            return None
        rows = np.array(pair)
        return Clash(rows, self.batch.codes[rows[::-1]], [1, 1])

    def by_pairs(self, scores: Floats | None) -> Clash | None:
        """Return the combination of the first two classes that are inseparable; None if all are separable."""
        counts, width = self.batch.counts, self.width
        if width <= MAX_EQUATIONS:
            least = (estimate_least_work(a + b, width) for a, b in combinations(counts, 2) if a + b >= width)
            self.clock.require(sum(least), READING)
        for a, b in combinations(range(self.count), 2):
            names, problem = self.pair(a, b)
            if problem is None:
                continue
            margins = None if scores is None else problem.y * (scores[names, a] - scores[names, b])
            found = decide_in_floats(problem, self.clock, margins=margins)
            if isinstance(found, Contradiction):
                found = prove(problem, found, self.clock)
            if isinstance(found, Meeting):
                rows = names[found.rows]
                return Clash(rows, a + b - self.batch.codes[rows], found.weights)
        return None

    def pair(self, a: int, b: int) -> tuple[Ints, SeparationProblem | None]:
        """Return the rows of two classes, and their problem, a being positive; None if one of them has no rows."""
        codes = self.batch.codes
        names = np.flatnonzero((codes == a) | (codes == b))
        y = np.where(codes[names] == a, 1.0, -1.0)
        if not len(names) or (self.bias and abs(y.sum()) == len(names)):
            return names, None
        return names, SeparationProblem(self.batch.take(names), y, bias=self.bias)

    def wrong(self, vectors: Vectors) -> Wrong | None:
        """Return the rows and rivals that functions get wrong, exactly; None if there are none."""
        rows, rivals, worst = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        for a, b in combinations(range(self.count), 2):
            difference = [x - y for x, y in zip(vectors[a], vectors[b], strict=True)]
            names, about, signs = self.sides(a, b, difference)
            at = np.flatnonzero(signs <= 0)
            rows.append(names[at])
            rivals.append(a + b - self.batch.codes[names[at]])
            worst.append(about[at])
        order = np.argsort(np.concatenate(worst), kind="stable")
        return Wrong(np.concatenate(rows)[order], np.concatenate(rivals)[order]) if len(order) else None

    def sides(self, a: int, b: int, difference: list[Fraction]) -> tuple[Ints, Floats, Ints]:
        """Return the rows of two classes, f_c − f_k of each up to rounding and scale, and its exact sign."""
        codes = self.batch.codes
        names = np.flatnonzero((codes == a) | (codes == b))
        if not len(names):
            return names, np.empty(0), np.empty(0, np.int64)
        y = np.where(codes[names] == a, 1.0, -1.0)
        problem = SeparationProblem(self.batch.take(names), y, bias=self.bias)
        *w, bias = difference
        scaled = [value * shifted(1, power) for value, power in zip(w, problem.scale.tolist(), strict=True)]
        v = common([*scaled, bias] if self.bias else scaled)[0]
        if not any(v):
            return names, np.zeros(len(names)), np.zeros(len(names), np.int64)
        return names, *products(problem, v, np.arange(problem.n), self.clock)

    def nearest(self, wrong: Wrong) -> Wrong:
        """Return the worst of the rows and rivals that are wrong, as many as join at a time."""
        most = ROWS_A_COLUMN * (self.count - 1) * self.width
        return Wrong(wrong.rows[:most], wrong.rivals[:most])

    def construct(self, inside: Wrong) -> SeparationProblem:
        """Return the problem of some constructed rows, which are sparse."""
        from scipy.sparse import csr_array, hstack

        part: Features = self.batch.take(inside.rows)
        X = csr_array(part.native().astype(np.float64))
        if self.bias:
            X = hstack([X, csr_array(np.ones((X.shape[0], 1)))], format="csr")
        own, n = self.batch.codes[inside.rows], X.shape[0]
        last = self.count - 1
        pieces = []
        for k in range(last):
            factor = (own == k).astype(np.float64) - (inside.rivals == k)
            pieces.append(csr_array((factor, (np.arange(n), np.arange(n))), shape=(n, n)) @ X)
        table = hstack(pieces, format="csr")
        table.eliminate_zeros()
        table.sort_indices()
        return SeparationProblem(as_rows(table), np.ones(n), bias=False)

    def vectors(self, problem: SeparationProblem, found: Plane) -> Vectors:
        """Return the functions of a vector that separates constructed rows."""
        flat = problem.original(found.v.integers, found.v.power)
        zero = Fraction(0)
        rows = [flat[start : start + self.width] for start in range(0, len(flat), self.width)]
        return [*(row if self.bias else [*row, zero] for row in rows), [zero] * (self.batch.n_features + 1)]
