"""Missing values replaced by means, and features brought to one scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from rosenblatt.exceptions import NonFiniteError, ShapeError
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.rows.features import Features
from rosenblatt.schema.codecs import Array, Count, Flag, Record, require, same_length
from rosenblatt.tables.statistics import Statistics, slices
from rosenblatt.typing import Floats

__all__ = ["FILLING", "SCALING", "STATISTICS", "Filling", "Scaling", "Transformation", "writable"]


@dataclass(frozen=True, eq=False)
class Filling:
    """Replaces missing values by the mean of their feature.

    Attributes
    ----------
    means : ndarray
        One for each feature; 0 for a feature that never has a value.

    Examples
    --------
    >>> Filling(np.array([1.0, 2.0])).into(np.array([[np.nan, 5.0]]))
    array([[1., 5.]])
    """

    means: Floats

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.means)

    @classmethod
    def of(cls, statistics: Statistics) -> Self:
        """Return the filling by the means of `statistics`."""
        return cls(_finite(statistics.mean, "mean"))

    def into(self, rows: Rows) -> Rows:
        """Fill rows in place, and return them."""
        if isinstance(rows, CSR):
            missing = np.flatnonzero(np.isnan(rows.data))
            rows.data[missing] = self.means[rows.indices[missing]]
            return rows
        for part in slices(rows):
            missing = np.isnan(rows[part])
            if missing.any():
                rows[part] = np.where(missing, self.means, rows[part])
        return rows


@dataclass(frozen=True, eq=False)
class Scaling:
    """Subtracts the mean of each feature and divides by its standard deviation.

    Features of sparse files are only divided, so that zero stays zero. Of a table, the numbers are standardised;
    categories and words stay as they are. Computed in float64 and rounded once to the type of the rows. A feature
    that never changes has deviation 1.

    Attributes
    ----------
    mean : ndarray
        Subtracted. Sparse rows store a value for every feature up to the last one whose mean is not 0.
    deviation : ndarray
        The divisor.

    Examples
    --------
    >>> statistics = Statistics()
    >>> statistics.add(np.array([[1.0, 5.0], [3.0, 5.0]]), 2, 2)
    >>> scaling = Scaling.of(statistics)
    >>> scaling.into(np.array([[4.0, 6.0]]))
    array([[2., 1.]])
    >>> scaling.fold(np.array([1.0, 1.0, 0.0]))
    array([ 1.,  1., -7.])
    """

    mean: Floats
    deviation: Floats

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.mean)

    @classmethod
    def of(cls, statistics: Statistics, filled: bool = False, numbers: int | None = None) -> Self:
        """Return the scaling by the figures of `statistics`.

        Missing values do not count. Where they are `filled` with means they count as values, which leaves the mean
        and makes the deviation smaller. With `numbers`, only the first so many features are scaled.
        """
        counted = np.maximum(statistics.n_rows, 1) if filled else np.maximum(statistics.count, 1)
        variance = _finite(statistics.squares / counted, "variance")
        centred = numbers is not None or not statistics.sparse
        mean = _finite(statistics.mean, "mean").copy() if centred else np.zeros_like(variance)
        deviation = np.sqrt(variance)
        # A feature that never changes may have a deviation from rounding alone.
        constant = deviation <= np.abs(statistics.mean) * np.sqrt(max(statistics.n_rows, 1)) * np.finfo(float).eps
        deviation[constant] = 1.0
        if numbers is not None:
            mean[numbers:], deviation[numbers:] = 0.0, 1.0
        return cls(mean, deviation)

    def into(self, rows: Rows) -> Rows:
        """Scale rows and return them: in place, except for sparse rows that are centred."""
        if isinstance(rows, CSR):
            if self.mean.any():
                rows = stored_up_to(rows, int(np.flatnonzero(self.mean)[-1]) + 1)
            rows.data[:] = (rows.data - self.mean[rows.indices]) / self.deviation[rows.indices]
            return rows
        for part in slices(rows):
            rows[part] = (rows[part] - self.mean) / self.deviation
        return rows

    def fold(self, weights: Floats) -> Floats:
        """Return the weights, bias last, for unscaled features that score as `weights` do for scaled ones.

        <w, (x − mean) / deviation> + b = <w / deviation, x> + b − <w / deviation, mean>.
        """
        folded = weights.copy()
        folded[..., :-1] = weights[..., :-1] / self.deviation
        folded[..., -1] = weights[..., -1] - (folded[..., :-1] * self.mean).sum(axis=-1)
        return folded

    def unfold(self, weights: Floats) -> Floats:
        """Return the weights for scaled features that `fold` would turn into `weights`, up to rounding."""
        unfolded = weights.copy()
        unfolded[..., :-1] = weights[..., :-1] * self.deviation
        unfolded[..., -1] = weights[..., -1] + (weights[..., :-1] * self.mean).sum(axis=-1)
        return unfolded


class Transformation(NamedTuple):
    """A filling, and then a scaling; either may be missing.

    Examples
    --------
    >>> statistics = Statistics()
    >>> statistics.add(np.array([[1.0], [np.nan], [3.0]]), 3, 1)
    >>> rows = Features(np.array([[np.nan], [5.0]]), 2, 1)
    >>> Transformation.of(statistics, fill=True, scale=False).features(rows).rows
    array([[2.],
           [5.]])
    """

    filling: Filling | None = None
    scaling: Scaling | None = None

    @classmethod
    def of(cls, statistics: Statistics, *, fill: bool, scale: bool, numbers: int | None = None) -> Transformation:
        """Return the transformation by the figures of `statistics`; see `Scaling.of`."""
        scaling = Scaling.of(statistics, filled=fill, numbers=numbers) if scale else None
        return cls(Filling.of(statistics) if fill else None, scaling)

    @property
    def steps(self) -> Iterator[Filling | Scaling]:
        """The filling and the scaling, as far as there are any."""
        return (step for step in self if step is not None)

    @property
    def figures(self) -> list[list[float]]:
        """All numbers, as plain values."""
        arrays = [] if self.filling is None else [self.filling.means]
        arrays += [] if self.scaling is None else [self.scaling.mean, self.scaling.deviation]
        return [array.tolist() for array in arrays]

    def features(self, features: Features) -> Features:
        """Return transformed features: a copy, unless there is nothing to do."""
        if not any(self.steps):
            return features
        for step in self.steps:
            if step.n_features != features.n_features:
                raise ShapeError(
                    f"The data has {features.n_features} features, but the model has {step.n_features}. "
                    "Pass data with the columns of training."
                )
        return Features(self.into(writable(features.rows)), features.n_rows, features.n_features, features.names)

    def into(self, rows: Rows) -> Rows:
        """Transform rows in place, and return them."""
        for step in self.steps:
            rows = step.into(rows)
        return rows


def stored_up_to(rows: CSR, width: int) -> CSR:
    """Return a copy of sparse rows that stores every value of the first `width` features, zeros too.

    Examples
    --------
    >>> rows = CSR(np.array([5.0, 1.0]), np.array([1, 3], np.uint32), np.array([0, 2], np.uint64))
    >>> full = stored_up_to(rows, 3)
    >>> full.indices.tolist(), full.data.tolist()
    ([0, 1, 2, 3], [0.0, 5.0, 0.0, 1.0])
    """
    n_rows = len(rows.indptr) - 1
    stored: Any = np.diff(rows.indptr.astype(np.int64))
    row_of = np.repeat(np.arange(n_rows), stored)
    behind = rows.indices >= width
    before = np.zeros((n_rows, width), rows.data.dtype)
    before[row_of[~behind], rows.indices[~behind]] = rows.data[~behind]
    counts = np.bincount(row_of[behind], minlength=n_rows)
    starts = np.zeros(n_rows + 1, np.int64)
    np.cumsum(counts + width, out=starts[1:])
    data, indices = np.empty(starts[-1], rows.data.dtype), np.empty(starts[-1], rows.indices.dtype)
    first = starts[:-1, None] + np.arange(width)
    data[first], indices[first] = before, np.arange(width, dtype=indices.dtype)
    others = np.ones(len(data), bool)
    others[first] = False
    data[others], indices[others] = rows.data[behind], rows.indices[behind]
    indptr: Any = starts.astype(rows.indptr.dtype)
    return CSR(data, indices, indptr)


def writable(rows: Rows) -> Rows:
    """Return a copy of rows whose values can be written to."""
    return CSR(rows.data.copy(), rows.indices, rows.indptr) if isinstance(rows, CSR) else rows.copy()


def _finite(figures: Floats, what: str) -> Floats:
    strange = np.flatnonzero(~np.isfinite(figures))
    if strange.size:
        raise NonFiniteError(
            f"The {what} of column {strange[0]} is not finite: the data holds infinity, or numbers too large to "
            "square. Scale it down, or leave the column out."
        )
    return figures


def _sound_scaling(scaling: Scaling) -> None:
    require(same_length(scaling.mean, scaling.deviation), "mean and deviation must be of the same length")
    require((scaling.deviation > 0.0).all(), "the deviation must be positive")


def _sound_statistics(statistics: Statistics) -> None:
    require(
        same_length(statistics.count, statistics.mean, statistics.squares), "figures must be of the same length"
    )
    require((statistics.count >= 0).all() and (statistics.squares >= 0.0).all(), "figures must not be negative")


FILLING = Record(Filling, {"means": Array()})
SCALING = Record(Scaling, {"mean": Array(), "deviation": Array()}, check=_sound_scaling)
STATISTICS = Record(
    Statistics,
    {"count": Array(dtypes=(np.int64,)), "mean": Array(), "squares": Array(), "n_rows": Count(), "sparse": Flag()},
    check=_sound_statistics,
)
