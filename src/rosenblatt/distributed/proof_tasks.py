"""What workers do for a proof: test a hyperplane on every row, exactly, and return the worst few rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from rosenblatt.blocks.memory import MemoryBlocks
from rosenblatt.certify.fingerprint import fingerprint_of_blocks
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.sides import products
from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features, as_rows, require_finite
from rosenblatt.distributed.parts import WorkerPart
from rosenblatt.exceptions import NonFiniteError
from rosenblatt.typing import Floats, Ints

__all__ = ["PlaneTest", "RowSample", "TwoSides", "first_rows", "rows_at", "test_plane"]


@dataclass(frozen=True)
class TwoSides:
    """A question: one class against another, by their codes, or with None against all others."""

    positive: int
    negative: int | None
    bias: bool

    def signs(self, codes: Ints) -> Ints:
        """Return 1, −1, or 0 for rows that are left out."""
        others = codes != self.positive if self.negative is None else codes == self.negative
        return np.asarray((codes == self.positive).astype(np.int64) - others, np.int64)


class RowSample(NamedTuple):
    """Some rows of a partition: their numbers there, their signs, and their values."""

    rows: Ints
    signs: Ints
    values: Features | None


class PlaneTest(NamedTuple):
    """How a hyperplane did on a partition: rows that are not strictly on their side, and the worst few rows."""

    wrong: int
    worst: RowSample


def part_fingerprint(part: WorkerPart, asked: TwoSides) -> tuple[int, str]:
    """Return the number of rows and the fingerprint of a partition; refuse values that are not finite."""
    blocks = part.rows

    def pieces() -> Iterator[tuple[Features, Ints]]:
        for _, batch in part.batches():
            try:
                require_finite(batch)
            except NonFiniteError as error:
                raise NonFiniteError(f"{part.name}: {error}") from error
            yield batch, asked.signs(batch.codes)

    return blocks.n_rows, fingerprint_of_blocks(pieces(), blocks.n_rows, blocks.n_features)


def first_rows(part: WorkerPart, asked: TwoSides, count: int) -> RowSample:
    """Return up to `count` rows of each side."""
    found: list[tuple[int, Batch, Ints]] = []
    left = {1: count, -1: count}
    for start, batch in part.batches():
        signs = asked.signs(batch.codes)
        for side in (1, -1):
            rows = np.flatnonzero(signs == side)[: left[side]]
            left[side] -= len(rows)
            if len(rows):
                found.append((start, batch.take(rows), rows))
        if not any(left.values()):
            break
    return _sample(found, asked)


def test_plane(part: WorkerPart, asked: TwoSides, w: Sequence[Fraction], b: Fraction, count: int) -> PlaneTest:
    """Decide for every row whether a hyperplane has it strictly on its side; return the worst of each side.

    Floats decide rows that their proved error bound leaves no doubt of, and integers decide the others.
    """
    wrong, found = 0, []
    for start, batch in part.batches():
        kept = part.kept.get(_key(asked)) if isinstance(part.blocks, MemoryBlocks) else None
        problem, names = kept or _problem(batch, asked)
        if problem is None:
            continue
        if isinstance(part.blocks, MemoryBlocks):
            part.kept[_key(asked)] = problem, names
        v = problem.vector(w, b)
        if any(v):
            about, signs = products(problem, v, np.arange(problem.n))
        else:
            about, signs = np.zeros(problem.n), np.zeros(problem.n, np.int64)
        wrong += int(np.count_nonzero(signs <= 0))
        for side in (problem.positive, problem.negative):
            chosen = side[_worst(signs[side], about[side], count)]
            if len(chosen):
                found.append((start, batch.take(names[chosen]), names[chosen]))
    return PlaneTest(wrong, _sample(found, asked))


def rows_at(part: WorkerPart, asked: TwoSides, rows: Ints) -> RowSample:
    """Return the rows with these numbers, as they are."""
    found = []
    for start, batch in part.batches():
        own = rows[(rows >= start) & (rows < start + batch.n_rows)] - start
        if len(own):
            found.append((start, batch.take(own), own))
    return _sample(found, asked)


def _key(asked: TwoSides) -> str:
    return f"proof/{asked}"


def _problem(batch: Batch, asked: TwoSides) -> tuple[SeparationProblem | None, Ints]:
    signs = asked.signs(batch.codes)
    names = np.flatnonzero(signs)
    if not len(names):
        return None, names
    part = batch if len(names) == batch.n_rows else batch.take(names)
    return SeparationProblem(part, signs[names].astype(np.float64), bias=asked.bias), names


def _worst(signs: Ints, about: Floats, count: int) -> Ints:
    """Return the rows that are farthest on their wrong side, then the nearest on their right side."""
    order = np.lexsort((about, signs > 0))
    return np.asarray(order[:count])


def _sample(found: Sequence[tuple[int, Batch, Ints]], asked: TwoSides) -> RowSample:
    """Put rows of several blocks together; sparse rows stay sparse."""
    if not found:
        return RowSample(np.empty(0, np.int64), np.empty(0, np.int64), None)
    rows = np.concatenate([start + own for start, _, own in found])
    signs = np.concatenate([asked.signs(batch.codes) for _, batch, _ in found])
    return RowSample(rows, signs, stacked_rows([batch for _, batch, _ in found]))


def stacked_rows(parts: Sequence[Features]) -> Features:
    """Return rows one below the other."""
    natives = [part.native() for part in parts]
    if all(isinstance(native, np.ndarray) for native in natives):
        return as_rows(np.concatenate(natives))
    return as_rows(sp.vstack(natives, format="csr"))
