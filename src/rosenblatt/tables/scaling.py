"""Missing values replaced by means, and features brought to one scale."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import Array, Count, Flag, Record, require, same_length
from rosenblatt.exceptions import NonFiniteError, ShapeError
from rosenblatt.loops.layout import CSR, Rows, value_slices
from rosenblatt.rows.features import Features
from rosenblatt.rows.memory import FEWER, require_memory
from rosenblatt.tables.reading import MOST_BITS, loop_pays
from rosenblatt.tables.recipe import Recipe, TableRecipe
from rosenblatt.typing import Floats, Ints, Reals

__all__ = [
    "FILLING",
    "SCALING",
    "STATISTICS",
    "WEIGHTING",
    "Filling",
    "Scaling",
    "Transformation",
    "Weighting",
    "mark_missing",
    "writable",
]


# Means and variances of features, computed block by block.


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
    unlabelled : int
        The number of rows left out because they had no label.
    """

    recipe: Recipe | None = None
    skipped: int = 0
    description: str = ""
    unlabelled: int = 0


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

    def gaps(self, numbers: int) -> Ints:
        """Return how many values are missing of each of the first so many features."""
        return self.n_rows - self.count[:numbers]

    def marked(self, numbers: int, indicators: Sequence[int]) -> Statistics:
        """Return the figures of the same rows with marks of missing values; see `mark_missing`."""
        count = self.gaps(numbers)[list(indicators)]
        share = count / max(self.n_rows, 1)
        marks = np.full(len(count), self.n_rows), share, count * (1 - share)
        wide = zip((self.count, self.mean, self.squares), marks, strict=True)
        figures: Any = [np.r_[own[:numbers], mark, own[numbers:]] for own, mark in wide]
        count, mean, squares = figures
        return Statistics(count, mean, squares, self.n_rows, self.sparse)

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


# Missing values replaced by means, and features brought to one scale.


@dataclass(frozen=True, eq=False)
class Filling:
    """Replaces missing values by the mean of their feature.

    Attributes
    ----------
    means : ndarray
        One for each of the first features, of which only these can be missing; 0 for one that never has a value.

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
    def of(cls, statistics: Statistics, numbers: int | None = None) -> Self:
        """Return the filling by the means of `statistics`, with `numbers` only of the first so many features."""
        return cls(_finite(statistics.mean[:numbers], "mean"))

    def fills(self, rows: Rows) -> bool:
        """Return whether any value is missing."""
        if isinstance(rows, CSR):
            return any(np.isnan(rows.data[part]).any() for part in value_slices(rows))
        return any(np.isnan(rows[part, : self.n_features]).any() for part in slices(rows))

    def into(self, rows: Rows) -> Rows:
        """Fill rows in place, and return them."""
        if isinstance(rows, CSR):
            missing = np.flatnonzero(np.isnan(rows.data))
            rows.data[missing] = self.means[rows.indices[missing]]
            return rows
        for part in slices(rows):
            values = rows[part, : self.n_features]
            missing = np.isnan(values)
            if missing.any():
                values[:] = np.where(missing, self.means, values)
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
            if self.centred:
                if loop_pays(len(rows.data), MAX_PLAIN_VALUES):
                    return self._center(rows, self.centred)
                rows = stored_up_to(rows, self.centred)
            rows.data[:] = (rows.data - self.mean[rows.indices]) / self.deviation[rows.indices]
            return rows
        if rows.size > MAX_PLAIN_VALUES and loop_pays(rows.size, MAX_PLAIN_SCALED):
            from rosenblatt.loops.encoding import scale_rows

            scale_rows(rows, self.mean, self.deviation)
            return rows
        for part in slices(rows):
            rows[part] = (rows[part] - self.mean) / self.deviation
        return rows

    @property
    def centred(self) -> int:
        """How many features sparse rows store in any case: those up to the last whose mean is not 0."""
        found = np.flatnonzero(self.mean)
        return int(found[-1]) + 1 if len(found) else 0

    def _center(self, rows: CSR, width: int) -> CSR:
        """Return sparse rows that store the first `width` features, scaled by the compiled loop."""
        from rosenblatt.loops.encoding import center_rows, count_stored

        indptr = np.empty(len(rows.indptr), rows.indptr.dtype)
        stored = count_stored(rows.indices, rows.indptr, width, indptr)
        made = CSR(np.empty(stored, rows.data.dtype), np.empty(stored, rows.indices.dtype), indptr)
        center_rows(*rows, width, self.mean, self.deviation, *made)
        return made

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


MAX_TABLE_FEATURES = 1 << 22
"""Weights of up to so many words stand in a table; those of more are found by bisection."""
MAX_TABLE_COUNTS = 1 << 10
"""Logarithms of counts below this stand in a table."""
MAX_PLAIN_VALUES = 1 << 14
"""Values that numpy weights in less time than loading the compiled loop takes."""
MAX_PLAIN_SCALED = 1 << 29
"""Dense values that numpy scales in less time than loading numba takes."""
LOGS: Floats = np.array([0.0, *(1.0 + log(count) for count in range(1, MAX_TABLE_COUNTS))])


@dataclass(frozen=True, eq=False)
class Weighting:
    """Weights the words of texts: (1 + log count) · idf, divided by the length of the text.

    idf is log((1 + rows) / (1 + rows with the word)) + 1, as in scikit-learn's `TfidfTransformer`. It is that of
    the rows counted when the model was trained, and stays so. Without such rows it is 1.

    Attributes
    ----------
    first, n_texts, bits, n_features : int
        Each of the texts has 2^bits features, from the first on; `n_features` are all features.
    n_rows : int
        How many rows were counted.
    words, counts : ndarray of int
        The features that occur in these rows, counted from `first` and ascending, and in how many rows each does.

    Examples
    --------
    >>> weighting = Weighting(0, 1, 2, 4)
    >>> rows = CSR(np.array([1.0, 2.0]), np.array([0, 3], np.uint32), np.array([0, 2], np.uint64))
    >>> weighting.into(rows).data.round(3)
    array([0.509, 0.861])
    """

    first: int
    n_texts: int
    bits: int
    n_features: int
    n_rows: int = 0
    words: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, recipe: Recipe | None) -> Self | None:
        """Return the weighting of a recipe before any row is counted; None where words are only counted."""
        if not isinstance(recipe, TableRecipe) or not recipe.texts or recipe.weighting == "count":
            return None
        return cls(recipe.first_word, len(recipe.texts), recipe.bits, recipe.n_features)

    @property
    def places(self) -> tuple[int, int, int, int]:
        """Which features are words."""
        return self.first, self.n_texts, self.bits, self.n_features

    @property
    def width(self) -> int:
        """How many features are words."""
        return self.n_texts << self.bits

    def add(self, rows: Rows, n_rows: int) -> Self:
        """Return the weighting with more rows counted."""
        assert isinstance(rows, CSR), "rows with words are sparse"
        at = rows.indices.astype(np.int64) - self.first
        at = at[(at >= 0) & (at < self.width)]
        if self.width <= MAX_TABLE_FEATURES:
            table = np.bincount(at, minlength=self.width)
            words = np.flatnonzero(table)
            counts = table[words]
        else:
            words, counts = np.unique(at, return_counts=True)
        return self.merge(replace(self, n_rows=n_rows, words=words, counts=counts))

    def merge(self, other: Weighting) -> Self:
        """Return the weighting with the rows counted by another one."""
        words, at = np.unique(np.concatenate([self.words, other.words]), return_inverse=True)
        counts: Ints = np.zeros(len(words), np.int64)
        np.add.at(counts, at, np.concatenate([self.counts, other.counts]))
        return replace(self, n_rows=self.n_rows + other.n_rows, words=words, counts=counts)

    @property
    def figures(self) -> list[Floats | Ints]:
        """All numbers that change what rows become."""
        return [np.array([*self.places, self.n_rows]), self.words, self.counts]

    def into(self, rows: Rows) -> Rows:
        """Weight words in place, and return the rows."""
        assert isinstance(rows, CSR), "rows with words are sparse"
        indptr: Ints = rows.indptr.astype(np.int64)
        tabled = self.width <= MAX_TABLE_FEATURES and rows.data.max(initial=0.0) < MAX_TABLE_COUNTS
        if tabled and loop_pays(len(rows.data), MAX_PLAIN_VALUES):
            from rosenblatt.loops.encoding import weight_words

            weight_words(rows.data, rows.indices, indptr, self.first, self.n_texts, self.bits, LOGS, self._table)
            return rows
        at = rows.indices.astype(np.int64) - self.first
        here = np.flatnonzero((at >= 0) & (at < self.width))
        at = at[here]
        values = _logs(rows.data[here]) * self._idf_of(at)
        text = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))[here] * self.n_texts + (at >> self.bits)
        lengths = np.sqrt(np.bincount(text, values * values))  # adds one square after the other, as the loop does
        rows.data[here] = values / lengths[text]
        return rows

    @cached_property
    def _idf(self) -> Floats:
        """The weight of each word that was counted, and behind them that of all others."""
        if self.n_rows == 0:
            return np.ones(1)
        levels, at = np.unique(np.append(self.counts, 0), return_inverse=True)
        weights: Floats = np.array([log((1 + self.n_rows) / (1 + count)) + 1.0 for count in levels.tolist()])
        return weights[at]

    @cached_property
    def _table(self) -> Floats:
        table = np.full(self.width, self._idf[-1])
        table[self.words] = self._idf[:-1]
        return table

    def _idf_of(self, words: Ints) -> Floats:
        if self.width <= MAX_TABLE_FEATURES:
            return self._table[words]
        if not len(self.words):
            return np.full(len(words), self._idf[-1])
        at = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        return np.where(self.words[at] == words, self._idf[at], self._idf[-1])


def _logs(counts: Reals) -> Floats:
    """Return 1 + log count of each; vector instructions could round single rows and many differently."""
    found = LOGS[np.minimum(counts, MAX_TABLE_COUNTS - 1).astype(np.int64)]
    large = np.flatnonzero(counts >= MAX_TABLE_COUNTS)
    found[large] = [1.0 + log(count) for count in counts[large].tolist()]
    return found


class Transformation(NamedTuple):
    """A filling, a scaling, and the weighting of words; any may be missing.

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
    weighting: Weighting | None = None

    @classmethod
    def of(cls, statistics: Statistics, *, fill: bool, scale: bool, numbers: int | None = None) -> Transformation:
        """Return the transformation by the figures of `statistics`; see `Scaling.of`."""
        scaling = Scaling.of(statistics, filled=fill, numbers=numbers) if scale else None
        return cls(Filling.of(statistics, numbers) if fill else None, scaling)

    @property
    def centred(self) -> int:
        """How many values each sparse row stores at least, because the mean of their features is not 0."""
        return 0 if self.scaling is None else self.scaling.centred

    @property
    def steps(self) -> Iterator[Filling | Scaling | Weighting]:
        """The filling, the scaling and the weighting, as far as there are any."""
        return (step for step in self if step is not None)

    @property
    def figures(self) -> list[list[float]]:
        """All numbers, as plain values."""
        arrays: list[Floats | Ints] = [] if self.filling is None else [self.filling.means]
        arrays += [] if self.scaling is None else [self.scaling.mean, self.scaling.deviation]
        arrays += [] if self.weighting is None else self.weighting.figures
        return [array.tolist() for array in arrays]

    def features(self, features: Features) -> Features:
        """Return transformed features: a copy, unless there is nothing to do."""
        if not any(self.steps):
            return features
        self.require_width(features.n_features)
        return Features(self.into(writable(features.rows)), features.n_rows, features.n_features, features.names)

    def require_width(self, n_features: int) -> None:
        """Raise `ShapeError` unless the figures are of so many features."""
        filled, *others = (0 if step is None else step.n_features for step in self)
        other = max(filled if filled > n_features else 0, *(each for each in others if each != n_features), 0)
        if other:
            raise ShapeError(
                f"The data has {n_features} features, but the model has {other}. "
                "Pass data with the columns of training."
            )

    def changes(self, rows: Rows) -> bool:
        """Return whether there is anything to do: means change nothing where no value is missing."""
        filled = self.filling is not None and self.filling.fills(rows)
        return filled or any(self._replace(filling=None).steps)

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


def mark_missing(rows: Rows, numbers: int, indicators: Sequence[int]) -> Rows:
    """Return a copy of rows with marks behind the numbers: 1 where a number is missing.

    Parameters
    ----------
    rows : ndarray or CSR
        Their first features are numbers; a missing one is NaN.
    numbers : int
        How many of the features are numbers.
    indicators : sequence of int
        Which numbers have a mark, ascending.

    Examples
    --------
    >>> mark_missing(np.array([[1.0, np.nan, 5.0]]), 2, [1])
    array([[ 1., nan,  1.,  5.]])
    """
    chosen = np.asarray(indicators, np.int64)
    if not isinstance(rows, CSR):
        marks = np.isnan(rows[:, chosen]).astype(rows.dtype)
        return np.concatenate([rows[:, :numbers], marks, rows[:, numbers:]], axis=1)
    indices = rows.indices.astype(np.int64)
    stored: Any = np.diff(rows.indptr.astype(np.int64))
    row_of = np.repeat(np.arange(len(rows.indptr) - 1), stored)
    place = np.full(numbers + 1, -1)  # the last is that of all features that are no numbers
    place[chosen] = numbers + np.arange(len(chosen))
    missing = np.flatnonzero(np.isnan(rows.data) & (place[np.minimum(indices, numbers)] >= 0))
    joined = np.r_[indices + len(chosen) * (indices >= numbers), place[indices[missing]]]
    order = np.lexsort((joined, np.r_[row_of, row_of[missing]]))
    data = np.r_[rows.data, np.ones(len(missing), rows.data.dtype)][order]
    more = np.searchsorted(row_of[missing], np.arange(len(rows.indptr)))  # marks before each row
    indptr: Any = (rows.indptr.astype(np.int64) + more).astype(rows.indptr.dtype)
    return CSR(data, joined[order].astype(rows.indices.dtype), indptr)


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


def _sound_weighting(weighting: Weighting) -> None:
    words, counts = weighting.words, weighting.counts
    require(same_length(words, counts), "words and counts must be of the same length")
    require((np.diff(words) > 0).all(), "words must ascend")
    within = not len(words) or (words[0] >= 0 and words[-1] < weighting.width)
    require(within and weighting.first + weighting.width <= weighting.n_features, "words are of other features")
    require(((counts > 0) & (counts <= weighting.n_rows)).all(), "counts must be from 1 to the number of rows")


FILLING = Record(Filling, {"means": Array()})
SCALING = Record(Scaling, {"mean": Array(), "deviation": Array()}, check=_sound_scaling)
WEIGHTING = Record(
    Weighting,
    {
        "first": Count(),
        "n_texts": Count(1),
        "bits": Count(1, MOST_BITS),
        "n_features": Count(1),
        "n_rows": Count(),
        "words": Array(dtypes=(np.int64,)),
        "counts": Array(dtypes=(np.int64,)),
    },
    check=_sound_weighting,
)
STATISTICS = Record(
    Statistics,
    {"count": Array(dtypes=(np.int64,)), "mean": Array(), "squares": Array(), "n_rows": Count(), "sparse": Flag()},
    check=_sound_statistics,
)
