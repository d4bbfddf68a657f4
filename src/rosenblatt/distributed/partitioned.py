"""Data in partitions that workers hold, as the client knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray

from rosenblatt.distributed.cluster import Cluster
from rosenblatt.distributed.parts import (
    PartFacts,
    Settlement,
    WorkerPart,
    describe,
    fingerprint_of_part,
    identity_of_part,
    largest_square_of,
    settle,
    statistics_of,
)
from rosenblatt.exceptions import LabelError, ShapeError
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.labels import as_labels
from rosenblatt.tables.blocks import Blocks, Change
from rosenblatt.tables.recipe import Recipe
from rosenblatt.tables.scaling import DataSummary, Statistics, Transformation, digest


class PartitionedBlocks(Blocks):
    """Labelled rows in partitions on the workers of a cluster; this node knows only their sizes and labels.

    Empty partitions take no part: the others are numbered as if they were not there.

    Parameters
    ----------
    cluster : Cluster
        Where they are.
    parts : sequence of futures
        The partitions, each a `WorkerPart` with the labels and features of all.
    facts : sequence of PartFacts
        What is known of each; none is empty.
    agreed : Settlement
        What they agree on.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from distributed import Client
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
    ...     parts = rd.partition(rows, labels, client=client)
    ...     kind = type(parts).__name__
    >>> kind
    'PartitionedBlocks'
    """

    def __init__(
        self,
        cluster: Cluster,
        parts: Sequence[Future[WorkerPart]],
        facts: Sequence[PartFacts],
        agreed: Settlement,
    ) -> None:
        self.cluster, self.parts, self.known, self.agreed = cluster, list(parts), list(facts), agreed
        rows = [each.n_rows for each in facts]
        counts = np.zeros(len(agreed.classes), np.int64)
        order = {label: k for k, label in enumerate(agreed.classes.tolist())}
        for each in facts:
            for label, count in zip(each.classes.tolist(), each.counts.tolist(), strict=True):
                counts[order[label]] += count
        shape = sum(rows), agreed.n_features, sum(each.stored for each in facts)
        boundaries = np.append(0, np.cumsum(rows))
        summary = DataSummary(*shape, agreed.classes, counts, boundaries, agreed.names, facts[0].facts)
        super().__init__(
            summary
        )  # a method of it, given as `identity`, would close a cycle that keeps rows on the cluster
        self.scaling = agreed.how.scaling
        self.recipe: Recipe | None = None  # how the columns of files became features

    @classmethod
    def of(
        cls, cluster: Cluster, raw: Sequence[Future[WorkerPart]], how: Transformation | None = None
    ) -> PartitionedBlocks:
        """Ask every partition what it holds, and settle what all agree on."""
        facts = cluster.answers([cluster.run(describe, part) for part in raw])
        held = [(part, each) for part, each in zip(raw, facts, strict=True) if each.n_rows]
        if not held:
            raise ShapeError(f"All {len(facts)} partitions are empty, but at least one row is needed.")
        raw, facts = [part for part, _ in held], [each for _, each in held]
        agreed = agreement(facts, how or Transformation())
        shared = cluster.share(agreed)
        return cls(cluster, [cluster.run(settle, part, shared) for part in raw], facts, agreed)

    def transformed(self, how: Transformation) -> PartitionedBlocks:
        """Return the partitions filled and scaled on their workers."""
        if not any(how.steps):
            return self
        agreed = Settlement(self.classes, self.n_features, self.names, how)
        shared = self.cluster.share(agreed)
        parts = [self.cluster.run(settle, part, shared) for part in self.parts]
        return PartitionedBlocks(self.cluster, parts, self.known, agreed)

    def each(self, function: Any, *arguments: Any) -> list[Any]:
        """Call a function with every partition on its worker; return the results in order."""
        return self.cluster.answers([self.cluster.run(function, part, *arguments) for part in self.parts])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the fingerprints of all partitions, in order."""
        return digest([self.each(fingerprint_of_part), self.classes.tolist()])

    @property
    def identity(self) -> str:
        """A digest that tells this data, in these partitions, from other data."""
        return self._found_identity

    @cached_property
    def _found_identity(self) -> str:
        return digest([self.each(identity_of_part), self.boundaries.tolist(), self.agreed.how.figures])

    def measured(self) -> Statistics:
        """Return the means and variances of all rows, merged in the order of the partitions."""
        total = Statistics()
        for each in self.each(statistics_of):
            total.merge(each)
        return total

    def largest_square(self) -> float:
        """Return the largest squared norm of a row."""
        return float(max(self.each(largest_square_of)))

    def read(self, block: int) -> Batch:
        """Return one partition; it comes to this node."""
        part: WorkerPart = self.cluster.answer(self.cluster.share(self.parts[block]))
        batches = [batch for _, batch in part.batches()]
        if len(batches) != 1:
            raise ShapeError(f"Partition {block} is in a cache on its worker, because it is too large to move.")
        return batches[0]

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield partitions, one at a time on this node."""
        assert change is None, "partitions are changed where they are"
        return (self.read(int(block)) for block in order)


def agreement(facts: Sequence[PartFacts], how: Transformation) -> Settlement:
    """Return the labels and features of all partitions; raise an error where they contradict each other."""
    first = facts[0]
    n_features = max(each.n_features for each in facts)
    for each in facts:
        if each.sparse != first.sparse:
            raise ShapeError(
                f"{each.name} holds sparse rows, or {first.name} does, but not both. Read them alike."
            )
        if not each.sparse and each.n_features != n_features:
            raise ShapeError(
                f"{each.name} has {each.n_features} features, but another partition has {n_features}. Give every "
                "partition the same columns."
            )
        if not each.sparse and each.names != first.names:
            raise ShapeError(
                f"The features of {each.name} have other names than those of {first.name}. Give every partition "
                "the same columns in the same order."
            )
    return Settlement(_all_classes(facts), n_features, None if first.sparse else first.names, how)


def _all_classes(facts: Sequence[PartFacts]) -> NDArray[Any]:
    kinds = {"U" if each.classes.dtype.kind in "OU" else "number" for each in facts}
    if len(kinds) > 1:
        texts = next(each for each in facts if each.classes.dtype.kind in "OU")
        numbers = next(each for each in facts if each.classes.dtype.kind not in "OU")
        raise LabelError(
            f"The labels of {texts.name} are text, and those of {numbers.name} are numbers. Write them alike in "
            "every partition."
        )
    labels = np.concatenate([each.classes for each in facts])
    _, classes = as_labels(labels, len(labels))
    return classes
