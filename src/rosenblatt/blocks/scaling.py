"""Missing values filled with means, and features brought to one scale, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from rosenblatt.blocks.memory import Blocks, Change, MemoryBlocks, protected, writable
from rosenblatt.blocks.summary import digest
from rosenblatt.columns.statistics import Statistics, slices
from rosenblatt.data.batch import Batch
from rosenblatt.data.features import Features
from rosenblatt.exceptions import ModelFileError, NonFiniteError, ShapeError
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.model.state import State
from rosenblatt.typing import Floats, Ints

__all__ = ["Filling", "ScaledBlocks", "Scaling", "Transformation", "transformed"]


@dataclass(frozen=True, eq=False)
class Filling:
    """Puts means in the place of missing values.

    Attributes
    ----------
    means : ndarray
        Of each feature; 0 of one that never has a value.

    Examples
    --------
    >>> Filling(np.array([1.0, 2.0])).rows(np.array([[np.nan, 5.0]]))
    array([[1., 5.]])
    """

    means: Floats

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.means)

    @classmethod
    def of(cls, statistics: Statistics) -> Self:
        """Return the filling by means that were gathered."""
        return cls(_finite(statistics.mean, "mean"))

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for the file of a model."""
        return {"means": self.means.tolist()}

    @classmethod
    def from_json(cls, description: Any) -> Self:
        """Return what `to_json` described; anything else is a `ModelFileError`."""
        return cls(*_figures(description, "filling", ("means",)))

    def rows(self, rows: Rows) -> Rows:
        """Return rows without missing values."""
        return self.into(writable(rows))

    def into(self, rows: Rows) -> Rows:
        """Fill rows in place."""
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
    """Features less their mean, over their deviation; sparse ones are only divided, so that zero stays zero.

    Computed in float64 and rounded once to the type of the rows. A feature that never changes has deviation 1.

    Attributes
    ----------
    mean : ndarray
        What is taken away: zeros for sparse data.
    deviation : ndarray
        What is divided by.

    Examples
    --------
    >>> statistics = Statistics()
    >>> statistics.add(np.array([[1.0, 5.0], [3.0, 5.0]]), 2, 2)
    >>> scaling = Scaling.of(statistics)
    >>> scaling.rows(np.array([[4.0, 6.0]]))
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
    def of(cls, statistics: Statistics, filled: bool = False) -> Self:
        """Return the scaling by figures that were gathered.

        Missing values do not count for them. Where they are `filled` with means they are values like others, which
        leaves the mean as it is and makes the deviation smaller.
        """
        counted = np.maximum(statistics.n_rows, 1) if filled else np.maximum(statistics.count, 1)
        variance = _finite(statistics.squares / counted, "variance")
        mean = np.zeros_like(variance) if statistics.sparse else _finite(statistics.mean, "mean")
        deviation = np.sqrt(variance)
        # What rounding leaves of a feature that never changes is no deviation.
        constant = deviation <= np.abs(statistics.mean) * np.sqrt(max(statistics.n_rows, 1)) * np.finfo(float).eps
        return cls(mean, np.where(constant, 1.0, deviation))

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for the file of a model."""
        return {"mean": self.mean.tolist(), "deviation": self.deviation.tolist()}

    @classmethod
    def from_json(cls, description: Any) -> Self:
        """Return what `to_json` described; anything else is a `ModelFileError`."""
        scaling = cls(*_figures(description, "scaling", ("mean", "deviation")))
        if not (scaling.deviation > 0.0).all():
            raise ModelFileError("scaling.deviation must be positive.")
        return scaling

    def rows(self, rows: Rows) -> Rows:
        """Return rows brought to scale."""
        return self.into(writable(rows))

    def into(self, rows: Rows) -> Rows:
        """Bring rows to scale in place."""
        if isinstance(rows, CSR):
            if self.mean.any():
                raise ShapeError("Sparse rows cannot be centred: all their zeros would become something else.")
            rows.data[:] = rows.data / self.deviation[rows.indices]
            return rows
        for part in slices(rows):
            rows[part] = (rows[part] - self.mean) / self.deviation
        return rows

    def fold(self, weights: Floats) -> Floats:
        """Return weights, bias last, for the features as they were, from those for features brought to scale.

        <w, (x − mean) / deviation> + b = <w / deviation, x> + b − <w / deviation, mean>.
        """
        folded = weights.copy()
        folded[..., :-1] = weights[..., :-1] / self.deviation
        folded[..., -1] = weights[..., -1] - (folded[..., :-1] * self.mean).sum(axis=-1)
        return folded

    def unfold(self, weights: Floats) -> Floats:
        """Return the weights for features brought to scale that `fold` was given, up to rounding."""
        unfolded = weights.copy()
        unfolded[..., :-1] = weights[..., :-1] * self.deviation
        unfolded[..., -1] = weights[..., -1] + (weights[..., :-1] * self.mean).sum(axis=-1)
        return unfolded

    def folded(self, state: State) -> State:
        """Return a state for the features as they were; the sum behind an average is folded as the weights are."""
        return State(self.fold(state.last()), None if state.u is None else self.fold(state.u), state.visits)


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
    def of(cls, statistics: Statistics, *, fill: bool, scale: bool) -> Transformation:
        """Return the transformation by figures that were gathered."""
        scaling = Scaling.of(statistics, filled=fill) if scale else None
        return cls(Filling.of(statistics) if fill else None, scaling)

    def features(self, features: Features) -> Features:
        """Return features after all that is to be done to them; nothing to be done leaves them as they are."""
        rows = features.rows
        for step in (self.filling, self.scaling):
            if step is None:
                continue
            if step.n_features != features.n_features:
                raise ShapeError(
                    f"The data has {features.n_features} features, but the model has {step.n_features}. "
                    "Pass data with the columns of training."
                )
            rows = step.rows(rows)
        return Features(rows, features.n_rows, features.n_features, features.names)

    def into(self, rows: Rows) -> Rows:
        """Change rows in place."""
        for step in (self.filling, self.scaling):
            rows = rows if step is None else step.into(rows)
        return rows

    def identity(self, blocks: Blocks) -> str:
        """Return what tells blocks changed in this way from others."""
        filling, scaling = self
        means = None if filling is None else filling.means.tolist()
        scales = None if scaling is None else [scaling.mean.tolist(), scaling.deviation.tolist()]
        return digest([blocks.identity, means, scales])


def transformed(blocks: Blocks, filling: Filling | None = None, scaling: Scaling | None = None) -> Blocks:
    """Return blocks without missing values, brought to scale, or both; what is in memory is copied once.

    Their `scaling` is what the weights of a model trained on them have to be folded by, to be those of the
    features as they were: `Perceptron.fit_blocks` does that.
    """
    figures = [] if filling is None else [filling.means]
    figures += [] if scaling is None else [scaling.mean, scaling.deviation]
    for each in figures:
        if len(each) != blocks.n_features:
            raise ShapeError(f"The figures are of {len(each)} features, but the data has {blocks.n_features}.")
    if not figures:
        return blocks
    how = Transformation(filling, scaling)
    if not isinstance(blocks, MemoryBlocks):
        return ScaledBlocks(blocks, how)
    batch = replace(blocks.batch, rows=protected(how.into(writable(blocks.batch.rows))))
    known: dict[str, Any] = {"facts": blocks.facts, "identity": how.identity(blocks)}
    return MemoryBlocks(batch, blocks.boundaries, scaling=scaling, **known)


class ScaledBlocks(Blocks):
    """Blocks whose rows are filled and brought to scale as they are read, by the reading thread.

    All else is as of the blocks that they are made of.
    """

    def __init__(self, blocks: Blocks, how: Transformation) -> None:
        super().__init__(blocks.summary, how.identity(blocks))
        self._blocks, self._how = blocks, how
        self.scaling = how.scaling

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the source says about itself."""
        return self._blocks.facts

    @property
    def counts(self) -> Ints:
        """The number of rows of each class."""
        return self._blocks.counts

    @property
    def seen_counts(self) -> Ints:
        """The number of rows of each class among the rows read so far."""
        return self._blocks.seen_counts

    @property
    def fingerprint(self) -> str:
        """A digest of the values as they were, and of what is done to them."""
        return digest([self._blocks.fingerprint, self.identity])

    def read(self, block: int) -> Batch:
        """Return one block."""
        batch = self._blocks.read(block)
        return replace(batch, rows=protected(self._how.into(writable(batch.rows))))

    def walk(self, order: Iterable[int], change: Change | None = None) -> Iterator[Batch]:
        """Yield blocks in the order given, reading ahead."""
        how = self._how.into
        return self._blocks.walk(order, how if change is None else lambda rows: change(how(rows)))


def _figures(description: Any, what: str, names: tuple[str, ...]) -> list[Floats]:
    """Return lists of finite numbers, all as long as the first."""
    if not isinstance(description, dict) or {*description} != {*names}:
        raise ModelFileError(f"{what} must have {' and '.join(names)}, and nothing else.")
    figures = []
    for name in names:
        values = description[name]
        if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
            raise ModelFileError(f"{what}.{name} must be a list of numbers.")
        figures.append(np.array(values, np.float64))
    if len({len(each) for each in figures}) > 1 or not all(np.isfinite(each).all() for each in figures):
        raise ModelFileError(f"{what} must hold finite numbers, as many of each kind.")
    return figures


def _finite(figures: Floats, what: str) -> Floats:
    strange = np.flatnonzero(~np.isfinite(figures))
    if strange.size:
        raise NonFiniteError(
            f"The {what} of column {strange[0]} is not finite: the data holds infinity, or numbers too large to "
            "square. Scale it down, or leave the column out."
        )
    return figures
