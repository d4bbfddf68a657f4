"""Rows scaled by the means and deviations of the rows met so far, without scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rosenblatt.codecs import INTEGERS, Array, Codec, Flag, Maybe, Record, Several, require, same_length
from rosenblatt.exceptions import InputError, NonFiniteError, PredictionOverflowError, ShapeError
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.rows.features import Features, read_only
from rosenblatt.tables.recipe import NAME
from rosenblatt.tables.scaling import Scaling
from rosenblatt.typing import Floats, Ints

__all__ = ["ONLINE_SCALING", "Figures", "OnlineScaling", "require_figures", "too_large"]


class Figures(NamedTuple):
    """How many values each feature has, their mean, and the sum of squared differences from it.

    Sums are made row by row in the order of the rows (Welford 1962), so that the same rows give the same bits,
    however they are cut into chunks. Figures are never changed in place.

    Examples
    --------
    >>> met, scaled = Figures.of(1).learn(np.array([[10.0], [12.0], [30.0]]), scaled=True)
    >>> scaled.ravel().tolist(), met.count.tolist()
    ([0.0, 0.0, 19.0], [3])
    """

    count: Ints  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, n_features: int) -> Figures:
        """Return the figures before the first row."""
        return cls(np.zeros(n_features, np.int64), np.zeros(n_features), np.zeros(n_features))

    def scale(self, rows: Floats, with_mean: bool = True, with_std: bool = True) -> Floats:
        """Return a row, or rows, scaled by these figures; 0 where all values of a feature were equal so far."""
        known = self.squares > 0.0
        deviation = np.sqrt(np.where(known, self.squares, 1.0) / np.maximum(self.count, 1)) if with_std else 1.0
        with np.errstate(over="ignore", invalid="ignore"):  # the learner refuses what is not finite
            moved = rows - self.mean if with_mean else rows
            return np.where(known, moved / deviation, 0.0)

    def learn(self, rows: Floats, *, scaled: bool = False, **how: bool) -> tuple[Figures, Floats]:
        """Return the figures after more rows and, if asked, each row scaled by what was met before it.

        Raises
        ------
        NonFiniteError
            If a variance overflows.
        """
        out = np.empty(rows.shape if scaled else (0, 0))
        count, mean, squares = self.count.copy(), self.mean.copy(), self.squares.copy()
        met = Figures(count, mean, squares)
        with np.errstate(over="ignore", invalid="ignore"):  # the sums show it
            for i, row in enumerate(rows):
                if scaled:
                    out[i] = met.scale(row, **how)
                count += 1
                before = row - mean
                mean += before / count
                squares += before * (row - mean)
        if not np.isfinite(squares).all():
            raise too_large(f"column {int(np.argmin(np.isfinite(squares)))}")
        return met, out


def too_large(what: str) -> NonFiniteError:
    """Return the error for a variance that is no float."""
    return NonFiniteError(f"The variance of {what} exceeds the largest float. Look for a wrong value or unit.")


@dataclass(eq=False)
class OnlineScaling:
    """What an `OnlineScaler` has learned: a step of a preparation that goes on learning in streams and servers.

    Attributes
    ----------
    with_mean, with_std : bool
        Whether means are subtracted, and whether deviations divide.
    figures : Figures
        Those of the rows met so far; they are replaced, never changed.
    columns : tuple of str or None
        The names of the features, where they had any.

    Examples
    --------
    >>> scaling = OnlineScaling(True, True, Figures.of(1))
    >>> [scaling.follow(np.array([[x]])).item() for x in (10.0, 12.0, 30.0)]
    [0.0, 0.0, 19.0]
    """

    with_mean: bool
    with_std: bool
    figures: Figures
    columns: tuple[str, ...] | None = None

    @property
    def n_features(self) -> int:
        """How many features it takes."""
        return len(self.figures.count)

    @property
    def n_outputs(self) -> int:
        """How many features it gives."""
        return self.n_features

    def names(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names given, or those of the training data."""
        return names or self.columns

    def features(self, features: Features) -> Features:
        """Return features scaled by what was met so far."""
        return Features(self.scale(features.rows), features.n_rows, features.n_features)

    def scale(self, rows: Rows) -> Floats:
        """Return rows scaled by what was met so far."""
        scaled = self.figures.scale(self._dense(rows), self.with_mean, self.with_std)
        if not np.isfinite(scaled).all():
            raise PredictionOverflowError(
                "A scaled value exceeds the largest float: it is too far from the values met. Look for a wrong "
                "value."
            )
        return read_only(scaled)

    def learn(self, rows: Rows) -> None:
        """Learn rows."""
        self.figures, _ = self.figures.learn(self._dense(rows))

    def follow(self, rows: Rows) -> Floats:
        """Learn rows, and return each scaled by what was met before it."""
        how = {"with_mean": self.with_mean, "with_std": self.with_std}
        self.figures, scaled = self.figures.learn(self._dense(rows), scaled=True, **how)
        return read_only(scaled)

    def as_scaling(self) -> Scaling:
        """Return a scaling that no longer learns, with the same bits."""
        mean, deviation = self.divisors()
        return Scaling(np.zeros_like(deviation) if mean is None else mean, deviation)

    def divisors(self) -> tuple[Floats | None, Floats]:
        """Return what is subtracted and what divides; infinity where a value becomes 0."""
        count, mean, squares = self.figures
        deviation = np.sqrt(squares / np.maximum(count, 1)) if self.with_std else np.ones_like(squares)
        return (mean if self.with_mean else None), np.where(squares > 0.0, deviation, np.inf)

    def copy(self) -> OnlineScaling:
        """Return a scaling that shares nothing that learning changes."""
        return replace(self)

    def parts(self) -> Iterator[bytes]:
        """Yield all that scaling depends on as bytes."""
        yield repr((self.with_mean, self.with_std, self.columns)).encode()
        yield from (each.tobytes() for each in self.figures)

    def _dense(self, rows: Rows) -> Floats:
        if isinstance(rows, CSR):
            raise InputError(
                "Sparse rows cannot be centred, so OnlineScaler takes none. Pass a value for every feature."
            )
        if rows.shape[1] != self.n_features:
            raise ShapeError(
                f"The data has {rows.shape[1]} features, but the model has {self.n_features}. Pass data with the "
                "columns of training."
            )
        return np.asarray(rows, np.float64)


@dataclass(frozen=True, eq=False)
class Unscaled:
    """The place of an `OnlineScaling` in a preparation whose rows the learner scales: rows pass as they are."""

    n_features: int
    columns: tuple[str, ...] | None = None

    @property
    def n_outputs(self) -> int:
        """How many features it gives."""
        return self.n_features

    def names(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names given, or those of the training data."""
        return names or self.columns

    def features(self, features: Features) -> Features:
        """Return the features themselves, if there are as many as in training."""
        if features.n_features != self.n_features:
            raise ShapeError(
                f"The data has {features.n_features} features, but the model has {self.n_features}. Pass data "
                "with the columns of training."
            )
        return features


def require_figures(figures: Figures) -> None:
    """Require counts, means and sums of squares that rows can have."""
    require(same_length(*figures), "its figures are of different numbers of features")
    require((figures.count >= 0).all() and (figures.squares >= 0.0).all(), "a count or a square is negative")
    new = figures.count < 2
    require(not figures.squares[new].any(), "a feature with one value has a variance")


def _sound(scaling: OnlineScaling) -> None:
    require(scaling.n_features >= 1, "it has no features")
    require(scaling.columns is None or len(scaling.columns) == scaling.n_features, "it has other columns")


FIGURES: Codec = Record(
    Figures,
    {"count": INTEGERS, "mean": Array(), "squares": Array()},
    check=require_figures,
)
ONLINE_SCALING: Codec = Record(
    OnlineScaling,
    {"with_mean": Flag(), "with_std": Flag(), "figures": FIGURES, "columns": Maybe(Several(NAME, tuple))},
    check=_sound,
)
