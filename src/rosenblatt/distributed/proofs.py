"""`certify` on partitions: proposals on this node from few rows, exact tests of all rows on the workers.

The rows gathered so far are decided exactly by `rosenblatt.certify`. If no hyperplane separates them, none
separates all rows, and they are the proof. If one does, every worker tests it on its rows and returns the worst
few. When no worker finds a row that is not strictly on its side, the hyperplane is the proof; otherwise these rows
are gathered too. Each round gathers a row that was not there, so that the rounds end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple, cast

import numpy as np

from rosenblatt.certify.certificate import (
    Answer,
    Certificate,
    Data,
    Inseparable,
    Separable,
    Undecided,
    Verification,
    distinct_labels,
)
from rosenblatt.certify.class_tables import ClassTables
from rosenblatt.certify.decide import Plane, decide
from rosenblatt.certify.fingerprint import fingerprint_of_blocks
from rosenblatt.certify.margin import margin_of
from rosenblatt.certify.problem import SeparationProblem, cover_probability
from rosenblatt.certify.sides import bias_of, products
from rosenblatt.certify.ties import tidy_factor
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.certify.verify import OTHER_CHANCE, combination_is_zero, has_chance
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.parts import WorkerPart
from rosenblatt.distributed.sources import partition
from rosenblatt.exceptions import NonFiniteError, ParameterError
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, as_rows, require_finite, stack_rows
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

# What workers do for a proof: test a hyperplane on every row, exactly, and return the worst few rows.


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
        kept = None if part.rows.whole is None else part.kept.get(_key(asked))
        problem, names = kept or _problem(batch, asked)
        if problem is None:
            continue
        if part.rows.whole is not None:
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
    return RowSample(rows, signs, stack_rows([batch for _, batch, _ in found]))


Address = tuple[int, int]
"""A row: its partition, and its number there."""
ROWS_A_WEIGHT = 2  # rows of each class that a round gathers for each weight


def certify(
    X: MatrixLike,
    y: ColumnLike | None = None,
    *,
    client: Any = None,
    bias: bool = True,
    time_limit: float | None = None,
    guess: Any = None,
    **options: Any,
) -> Certificate:
    """Decide whether classes in partitions are linearly separable, and prove it.

    This node holds only the rows that were gathered, a few for each weight. The proof lists the number of rows and
    the SHA-256 of each partition, and is about the rows in this order. ``rosenblatt check`` checks it on files
    that hold them one after the other, and `verify` on the cluster.

    Parameters
    ----------
    X, y, **options
        The data; see `partition`.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the client in use.
    bias : bool
        Whether hyperplanes have a bias; without one they contain the origin.
    time_limit : float or None
        Seconds after which the answer is "undecided".
    guess : estimator or None
        A trained model of two classes whose hyperplane is tried first; the verdict does not depend on it.

    Returns
    -------
    Separable, Inseparable or Undecided
        For more than two classes a `ClassTables` of them. Margins and ties are not determined.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from distributed import Client
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
    ...     proof = rd.certify(rows, labels, client=client)
    >>> proof.verdict, bool(proof.verify(X, y))
    ('separable', True)
    """
    with interruptible():
        blocks = X if isinstance(X, PartitionedBlocks) else partition(X, y, client=client, **options)
        if any(blocks.agreed.how.steps):
            told = "A proof is about rows as they are. Partition the data without scale and filling."
            raise ParameterError(told, parameter="X")
        clock, k = Clock(time_limit), len(blocks.classes)
        labels = distinct_labels(cast(Batch, blocks))

        def pair(positive: int, negative: int | None) -> Answer:
            return PartitionQuestion(blocks, TwoSides(positive, negative, bias), labels, clock).answer(guess)

        if k == 2:
            return pair(1, 0)
        if k == 1:
            return pair(0, None)
        if guess is not None:
            raise ParameterError(
                f"guess is one hyperplane, but there are {k} classes. Leave it out.", parameter="guess"
            )
        names = blocks.classes.tolist()
        return ClassTables(
            {(names[a], names[c]): pair(a, c) for a, c in combinations(range(k), 2)},
            {names[a]: pair(a, None) for a in range(k)},
        )


class PartitionQuestion:
    """One question about two sides, on partitions."""

    def __init__(self, blocks: PartitionedBlocks, asked: TwoSides, labels: Sequence[str], clock: Clock) -> None:
        self.blocks, self.asked, self.clock = blocks, asked, clock
        counts = blocks.counts
        others = counts.sum() - counts[asked.positive] if asked.negative is None else counts[asked.negative]
        self.n_sides = int(counts[asked.positive]), int(others)
        self.labels = labels[asked.positive], None if asked.negative is None else labels[asked.negative]
        self.width = blocks.n_features + asked.bias
        self.addresses: list[Address] = []
        self.rows: Features | None = None
        self.signs: Ints = np.empty(0, np.int64)

    def answer(self, guess: Any = None) -> Answer:
        """Decide, and prove it."""
        known = self.known()
        try:
            return self.decided(known, guess)
        except Unsettled as end:
            return Undecided(**known, why=str(end))

    def known(self) -> dict[str, Any]:
        """Return the fields of any answer; the fingerprints take a reading of the data."""
        blocks, asked = self.blocks, self.asked
        partitions = tuple(blocks.each(part_fingerprint, asked))
        return {
            "bias": asked.bias,
            "data": Data(blocks.n_rows, blocks.n_features, *self.labels, partitions=partitions),
            "chance": cover_probability(sum(self.n_sides), self.width),
            "names": blocks.names,
        }

    def decided(self, known: dict[str, Any], guess: Any) -> Answer:
        """Gather rows until they prove a verdict."""
        if self.asked.bias and not all(self.n_sides):
            side = 1 if self.n_sides[0] else -1
            return Separable(**known, w=(Fraction(0),) * self.blocks.n_features, b=Fraction(side))
        if guess is not None:
            w, b = _hyperplane(guess, self.blocks, self.asked.bias)
            if self.confirmed(w, b):
                return Separable(**known, w=w, b=b)
        self.gather(self.blocks.each(first_rows, self.asked, self.share))
        while True:
            self.clock.check("gathering rows of partitions")
            problem = self.problem()
            found = decide(problem, self.clock)
            if not isinstance(found, Plane):
                return self.inseparable(known, problem, found)
            w, b = self.proposal(problem, found)
            if self.confirmed(w, b):
                return Separable(**known, w=w, b=b)

    @property
    def share(self) -> int:
        """How many rows of each class a partition returns in a round."""
        return max(2, -(-ROWS_A_WEIGHT * (self.width + 1) // len(self.blocks.parts)))

    def confirmed(self, w: Sequence[Fraction], b: Fraction) -> bool:
        """Whether every partition has all rows strictly on their side; if not, gather their worst rows."""
        found: list[PlaneTest] = self.blocks.each(test_plane, self.asked, list(w), b, self.share)
        if not any(test.wrong for test in found):
            return True
        before = len(self.addresses)
        self.gather([test.worst for test in found])
        assert len(self.addresses) > before, "a row on its wrong side was not among those that the plane separates"
        return False

    def gather(self, samples: Sequence[RowSample]) -> None:
        """Add rows that are not there yet."""
        inside = set(self.addresses)
        parts, signs = [] if self.rows is None else [self.rows], [self.signs]
        for number, sample in enumerate(samples):
            new = [k for k, row in enumerate(sample.rows.tolist()) if (number, row) not in inside]
            if new and sample.values is not None:
                self.addresses += [(number, int(sample.rows[k])) for k in new]
                parts.append(as_rows(sample.values.native()[new]))
                signs.append(sample.signs[new])
        self.rows, self.signs = stack_rows(parts) if parts else None, np.concatenate(signs)

    def problem(self) -> SeparationProblem:
        """Return the rows gathered, as a question of their own."""
        assert self.rows is not None, "some row belongs to a side"
        return SeparationProblem(self.rows, self.signs.astype(np.float64), bias=self.asked.bias)

    def proposal(self, problem: SeparationProblem, found: Plane) -> tuple[tuple[Fraction, ...], Fraction]:
        """Return the widest hyperplane of the rows gathered, in floats, or else the one that was found.

        The widest one is wrong on few of the other rows, so that few rounds are needed.
        """
        best = found
        margin = margin_of(problem, found, self.clock)
        if margin is not None:
            direction = problem.direction(np.array([float(value) for value in margin.w]))
            bias = None if direction is None else bias_of(problem, direction[0])
            if direction is not None and bias is not None:
                best = Plane(direction[0], bias)
        w = problem.original(best.v.integers, best.v.power)
        factor = tidy_factor((*w, best.b))
        return tuple(factor * value for value in w), factor * best.b

    def inseparable(self, known: dict[str, Any], problem: SeparationProblem, found: Any) -> Inseparable:
        """Name the rows of a combination by their numbers among all rows, after looking at them where they are."""
        starts = self.blocks.boundaries
        own = [self.addresses[row] for row in found.rows.tolist()]
        order = sorted(range(len(own)), key=own.__getitem__)
        support = tuple(int(starts[own[k][0]]) + own[k][1] for k in order)
        answer = Inseparable(**known, support=support, integers=tuple(found.weights[k] for k in order))
        rows = self.looked_up(support)
        if not combination_is_zero(*rows, answer.integers, bias=self.asked.bias):
            raise RuntimeError("The partitions have changed since they were read: the proof does not hold.")
        return answer

    def looked_up(self, support: Sequence[int]) -> tuple[Features, Ints]:
        """Return rows and their signs, as the partitions hold them now."""
        starts, cluster = self.blocks.boundaries, self.blocks.cluster
        at = np.searchsorted(starts, np.asarray(support), side="right") - 1
        tasks = [
            cluster.run(
                rows_at, self.blocks.parts[part], self.asked, np.asarray(support)[at == part] - starts[part]
            )
            for part in np.unique(at).tolist()
        ]
        samples: list[RowSample] = cluster.answers(tasks)
        values = [sample.values for sample in samples if sample.values is not None]
        return stack_rows(values), np.concatenate([sample.signs for sample in samples])


def verify(
    certificate: Certificate, X: MatrixLike, y: ColumnLike | None = None, *, client: Any = None, **options: Any
) -> Verification:
    """Check a proof about partitions where they are, exactly.

    Parameters
    ----------
    certificate : Separable or Inseparable
        What `certify` returned, or `Certificate.from_json` read.
    X, y, **options
        The data; see `partition`. It must be in the partitions of the proof.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the client in use.

    Returns
    -------
    Verification
        True if these are the data of the proof, and the proof holds.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from distributed import Client
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
    ...     proof = rd.certify(rows, labels, client=client)
    ...     found = rd.verify(proof, rows, labels, client=client)
    >>> found.holds
    True
    """
    from rosenblatt.certify import check

    with interruptible():
        if not isinstance(certificate, Separable | Inseparable):
            told = "verify takes the proof of one question, Separable or Inseparable."
            raise ParameterError(told, parameter="certificate")
        blocks = X if isinstance(X, PartitionedBlocks) else partition(X, y, client=client, **options)
        data = certificate.data
        sign = check.signer(data.positive, data.negative)
        signs = [sign(label) for label in blocks.classes.tolist()]
        if signs.count(1) != 1:
            return Verification(False, f"No label here is {data.positive!r}, which the proof is about.")
        negative = None if data.negative is None else signs.index(-1) if -1 in signs else -1
        asked = TwoSides(signs.index(1), negative, certificate.bias)
        question = PartitionQuestion(blocks, asked, [str(label) for label in blocks.classes], Clock(None))
        if tuple(blocks.each(part_fingerprint, asked)) != data.partitions or blocks.n_features != data.features:
            return Verification(False, "These are not the partitions of the proof: the fingerprints differ.")
        if not has_chance(certificate, sum(question.n_sides)):
            return Verification(False, OTHER_CHANCE)
        more = certificate.margin if isinstance(certificate, Separable) else certificate.ties or certificate.points
        if more is not None:
            return Verification(False, "Margins, ties and points are checked only on rows in memory.")
        if isinstance(certificate, Separable):
            found = blocks.each(test_plane, asked, list(certificate.w), certificate.b, 1)
            wrong = sum(test.wrong for test in found)
            why = f"The hyperplane does not have {wrong} rows strictly on their side."
            return Verification(False, why) if wrong else Verification(True, certificate.reason)
        rows, sides = question.looked_up(certificate.support)
        ordered = certificate.support == tuple(sorted(set(certificate.support)))
        holds = ordered and combination_is_zero(rows, sides, certificate.integers, bias=certificate.bias)
        return Verification(holds, certificate.reason if holds else "The combination of rows is not 0.")


def _hyperplane(guess: Any, blocks: PartitionedBlocks, bias: bool) -> tuple[tuple[Fraction, ...], Fraction]:
    coef, intercept = np.atleast_2d(guess.coef_), np.atleast_1d(guess.intercept_)
    if coef.shape != (1, blocks.n_features):
        raise ParameterError(
            f"guess has weights of shape {coef.shape}, but (1, {blocks.n_features}) is needed. Leave it out.",
            parameter="guess",
        )
    b = Fraction(float(intercept[0])) if bias else Fraction(0)
    return tuple(Fraction(float(value)) for value in coef[0]), b
