"""Means and variances of features, computed block by block.

What is known about all rows of data in blocks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.rows.memory import FEWER, require_memory
from rosenblatt.tables.recipe import Recipe
from rosenblatt.typing import Floats, Ints, Reals


class Facts(NamedTuple):
    """What a source says about itself once it was read; a cache keeps it.

    Attributes
    ----------
    recipe : Recipe or None
        How columns became features.
    skipped : int
        The number of rows left out because they could not be read.
    description : str
        What was read and how, in one line.
    """

    recipe: Recipe | None = None
    skipped: int = 0
    description: str = ""


NOTHING = Facts()


class DataSummary(NamedTuple):
    """The sizes, classes and names of data in blocks.

    Attributes
    ----------
    n_rows, n_features, stored : int
        The size; `stored` is the number of stored values.
    classes : ndarray
        The labels, sorted.
    counts : ndarray of int
        The number of rows of each class.
    boundaries : ndarray of int
        The first row of each block, followed by the number of rows.
    names : tuple of str or None
        The names of the features.
    facts : Facts
        What the source said about itself.
    """

    n_rows: int
    n_features: int
    stored: int
    classes: NDArray[Any]
    counts: Ints
    boundaries: Ints
    names: tuple[str, ...] | None = None
    facts: Facts = NOTHING

    def fingerprint(self, checksums: Sequence[str]) -> str:
        """Return a digest of the data, given the checksums of its blocks."""
        known = [self.n_rows, self.n_features, self.classes.tolist(), self.names, self.boundaries.tolist()]
        return hashlib.sha256(json.dumps([known, list(checksums)]).encode()).hexdigest()


def digest(value: Any) -> str:
    """Return a digest of JSON values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


BYTES_A_FEATURE = 96  # the three numbers kept, those of a block, and of what is computed from both
SLICE_VALUES, FEWEST_ROWS = 1 << 18, 8  # dense values worked on at a time, so that they stay in the cache


@dataclass(eq=False)
class Statistics:
    """How many values each feature has, their mean, and the sum of squared differences from it.

    Blocks are merged in order (Chan, Golub and LeVeque 1979), so that the same blocks give the same bits. NaN is
    a missing value and does not count; a value that sparse rows do not store is zero and counts.

    Examples
    --------
    >>> statistics = Statistics()
    >>> statistics.add(np.array([[1.0, 5.0], [3.0, np.nan]]), 2, 2)
    >>> statistics.count, statistics.mean, statistics.variance
    (array([2, 1]), array([2., 5.]), array([1., 0.]))
    """

    count: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    mean: Floats = field(default_factory=lambda: np.zeros(0))
    squares: Floats = field(default_factory=lambda: np.zeros(0))
    n_rows: int = 0
    sparse: bool = False

    @property
    def variance(self) -> Floats:
        """The mean of the squared differences from the mean; 0 where there is no value."""
        return self.squares / np.maximum(self.count, 1)

    def add(self, rows: Rows, n_rows: int, n_features: int) -> None:
        """Add a block of rows."""
        self._widen(n_features)
        with np.errstate(over="ignore", invalid="ignore"):  # infinity shows in the end, and is refused there
            if isinstance(rows, CSR):
                self.sparse = True
                self._merge(*_of_stored(rows, n_rows, n_features))
            else:
                for part in slices(rows):
                    self._merge(*_of_dense(rows[part]))
        self.n_rows += n_rows

    def merge(self, other: Statistics) -> None:
        """Add the figures of other rows; the same parts in the same order give the same bits."""
        width = max(len(self.count), len(other.count))
        own = replace(other)
        for each in (self, own):
            each._widen(width)
        with np.errstate(over="ignore", invalid="ignore"):
            self._merge(own.count, own.mean, own.squares)
        self.sparse = self.sparse or other.sparse
        self.n_rows += other.n_rows

    def _widen(self, n_features: int) -> None:
        """Make room for features that were zero in all rows so far."""
        more = n_features - len(self.count)
        if more > 0:
            require_memory(f"The means of {n_features:,} features", BYTES_A_FEATURE * n_features, FEWER)
            self.count = np.concatenate([self.count, np.full(more, self.n_rows)])
            self.mean, self.squares = (np.concatenate([x, np.zeros(more)]) for x in (self.mean, self.squares))

    def _merge(self, count: Ints, mean: Floats, squares: Floats) -> None:
        total = self.count + count
        share = count / np.maximum(total, 1)
        apart = mean - self.mean
        self.squares = self.squares + squares + apart * apart * share * self.count
        self.mean = self.mean + apart * share
        self.count = total


def slices(rows: Reals) -> Iterator[slice]:
    """Return slices of dense rows, so short that temporary arrays of their size are small."""
    step = max(FEWEST_ROWS, SLICE_VALUES // rows.shape[1])
    return (slice(first, first + step) for first in range(0, len(rows), step))


def _of_dense(rows: Reals) -> tuple[Ints, Floats, Floats]:
    values = rows.astype(np.float64)
    missing = np.isnan(values)
    any_missing = bool(missing.any())
    count = len(values) - np.count_nonzero(missing, axis=0)
    if any_missing:
        values[missing] = 0.0
    mean = values.sum(axis=0) / np.maximum(count, 1)
    values -= mean
    if any_missing:
        values[missing] = 0.0
    return count, mean, np.einsum("ij,ij->j", values, values)


def _of_stored(rows: CSR, n_rows: int, n_features: int) -> tuple[Ints, Floats, Floats]:
    """Return the figures of sparse rows: those of the values stored, merged with those of all the zeros."""
    values, columns = rows.data.astype(np.float64), rows.indices.astype(np.int64)
    present = ~np.isnan(values)
    missing = np.bincount(columns[~present], minlength=n_features)
    values, columns = values[present], columns[present]
    stored = np.bincount(columns, minlength=n_features)
    mean = np.bincount(columns, values, n_features) / np.maximum(stored, 1)
    apart = values - mean[columns]
    squares: Floats = np.bincount(columns, apart * apart, n_features).astype(np.float64)
    count: Ints = (n_rows - missing).astype(np.int64)
    share = stored / np.maximum(count, 1)
    return count, mean * share, squares + mean * mean * share * (count - stored)
