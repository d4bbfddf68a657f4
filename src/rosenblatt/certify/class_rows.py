"""Labelled rows, and what many questions or proofs about two sides of them need to know: it is read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certify.fingerprint import Fingerprint
from rosenblatt.certify.problem import Direction, SeparationProblem, largest_values
from rosenblatt.certify.shortcuts import digest_rows
from rosenblatt.margins.matrix import Matrix
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.rows.features import require_finite
from rosenblatt.threads import ordered
from rosenblatt.typing import Floats, Ints

BLOCK_VALUES = 2**17  # values of rows that are scored together: a megabyte
MAX_NUMBERS = 2**22  # numbers in the hyperplanes that are tested together, or largest values that are kept

ClassSigns = NDArray[np.int8]
"""The side of each class: 1, −1, or 0 if it takes no part."""


class TwoSidedRows(NamedTuple):
    """The rows of two sides as a problem, their numbers in the data, and the signs of all rows."""

    problem: SeparationProblem
    names: Ints
    signs: NDArray[np.int8]


class SidedPlane(NamedTuple):
    """A hyperplane, and the side of each class that it is said to have strictly on its side."""

    sides: ClassSigns
    w: Sequence[Fraction]
    b: Fraction


class ClassRows:
    """Rows with their classes."""

    def __init__(self, batch: Batch) -> None:
        self.batch, self.fingerprint = batch, Fingerprint(batch)
        self._finite = False  # known to be
        self._largest: Floats | None = None  # of each class in each column
        self._digests: Ints | None = None  # of each row

    @classmethod
    def of(cls, X: Any, y: Any) -> ClassRows:
        """Return the rows of data, after checking that they are finite."""
        rows = cls(as_batch(X, y))
        rows.require_finite()
        return rows

    def require_finite(self) -> None:
        """Raise `NonFiniteError` at the first NaN or infinity; the rows are read once."""
        if not self._finite:
            require_finite(self.batch)
            self._finite = True

    def read(self, *, digests: bool = False) -> None:
        """Read the rows once for all of many questions, before threads ask them.

        With `digests`, find those of all rows too: questions that are not small look for equal rows.
        """
        batch, k = self.batch, len(self.batch.classes)
        if self._largest is None and k * batch.n_features <= MAX_NUMBERS:
            present = np.flatnonzero(batch.counts)
            largest = np.zeros((k, batch.n_features))
            largest[present] = list(ordered(lambda k: largest_values(batch.take(batch.codes == k)), present))
            self._largest = largest
        if digests and self._digests is None:
            self._digests = digest_rows(Matrix(batch, bias=False))

    def sides(self, classes: ClassSigns, *, bias: bool) -> TwoSidedRows:
        """Return the rows of two sides."""
        signs = classes[self.batch.codes]
        names = np.flatnonzero(signs)
        whole = len(names) == self.batch.n_rows
        problem = SeparationProblem(
            self.batch if whole else self.batch.take(names),
            signs[names].astype(np.float64),
            bias=bias,
            largest=self._most(classes != 0),
            digests=None if self._digests is None else self._digests[names],
        )
        return TwoSidedRows(problem, names, signs)

    def tested(self, planes: Sequence[SidedPlane]) -> NDArray[np.bool_]:
        """Return which hyperplanes provably have every row of their two sides strictly on its side.

        Floats decide within their proved error bounds, and leave open what they cannot decide. The rows are read
        once for many hyperplanes.
        """
        found = np.zeros(len(planes), np.bool_)
        if not planes:
            return found
        problem = SeparationProblem(self.batch, np.ones(self.batch.n_rows), bias=True, largest=self._most(...))
        step = max(1, MAX_NUMBERS // max(problem.width, len(self.batch.classes)))
        for start in range(0, len(planes), step):
            found[start : start + step] = self._tested(problem, planes[start : start + step])
        return found

    def _tested(self, problem: SeparationProblem, planes: Sequence[SidedPlane]) -> NDArray[np.bool_]:
        matrix, left = problem.floats
        sides = np.array([plane.sides for plane in planes], np.int8)
        vectors, errors = np.zeros((len(planes), problem.width)), np.full(len(planes), np.inf)
        for k, plane in enumerate(planes):
            if any(v := problem.vector(plane.w, plane.b)):
                direction = Direction.of_integers(v)
                vectors[k], errors[k] = direction.high, problem.error(direction, biased=True)
        with np.errstate(under="ignore"):
            W = np.ldexp(vectors[:, :-1], -left).T

        def blocks() -> Iterator[tuple[Ints, Floats, Ints, int]]:
            """Yield some rows of a class at a time, after the hyperplanes that the class takes part in."""
            for k in range(sides.shape[1]):
                asked, rows = np.flatnonzero(sides[:, k]), np.flatnonzero(self.batch.codes == k)
                own, step = W[:, asked], max(1, BLOCK_VALUES // max(problem.size // problem.n, len(asked)))
                for start in range(0, len(rows) if len(asked) else 0, step):
                    yield asked, own, rows[start : start + step], k

        def right(block: tuple[Ints, Floats, Ints, int]) -> tuple[Ints, NDArray[np.bool_]]:
            """Return which of some hyperplanes have rows of a class on their side."""
            asked, own, rows, k = block
            f = matrix.some(rows) @ own + vectors[asked, -1]
            f *= sides[asked, k]
            return asked, (f > errors[asked]).all(axis=0)

        found: NDArray[np.bool_] = np.isfinite(errors)
        for asked, fine in ordered(right, blocks()):
            found[asked] &= fine
        return found

    def _most(self, classes: Any) -> Floats | None:
        """Return the largest absolute value of each column among some classes, if it is known."""
        return None if self._largest is None else np.asarray(self._largest[classes].max(axis=0))
