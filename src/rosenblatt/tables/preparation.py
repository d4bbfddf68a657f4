"""What is done to data before a learner sees it: an ordered list of steps, without scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import Array, Codec, Count, Flag, Maybe, Parameter, Record, Several, require
from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.rows.batch import are_mappings
from rosenblatt.rows.features import Features, as_rows, read_only, require_finite
from rosenblatt.rows.memory import require_memory
from rosenblatt.tables.online_scaling import ONLINE_SCALING, OnlineScaling, Unscaled
from rosenblatt.tables.recipe import NAME, RECIPE, Recipe, TableRecipe
from rosenblatt.tables.scaling import (
    FILLING,
    SCALING,
    STATISTICS,
    WEIGHTING,
    Filling,
    Scaling,
    Statistics,
    Transformation,
    Weighting,
    writable,
)
from rosenblatt.typing import Floats

__all__ = [
    "STEPS",
    "Encoding",
    "Preparation",
    "PreparationStep",
    "Standardisation",
    "UnitLength",
    "as_dense",
    "encoding_of",
    "require_names",
]


MOST_WORDS = 20_000
"""So many words that were kept without being asked for are stored, those of the largest weights."""

PARAMETERS = {
    *("text", "categorical", "hashed", "ignore", "ngrams", "bits", "vocabulary", "missing", "scale", "na"),
    *("weighting", "sparse_output", "date"),
}
"""The parameters of a `TableEncoder`."""


class PreparationStep(Protocol):
    """Turns features into other features."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the columns of the training data, where they had any."""

    @property
    def n_features(self) -> int | None:
        """How many features it takes; None where it takes the columns of a table."""

    @property
    def n_outputs(self) -> int:
        """How many features it gives."""

    def features(self, features: Features) -> Features:
        """Return the new features; those given stay unchanged."""

    def names(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names of the new features from those of the features given."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """From the columns of a table to features: the fitted state of a `TableEncoder`.

    Attributes
    ----------
    recipe : Recipe
        What becomes of each column.
    filling, scaling, weighting : Filling, Scaling, Weighting or None
        Applied to the features in this order.
    statistics : Statistics or None
        Of the features so far, so that `partial_fit` can go on; None where no mean is needed or none is known.
    columns : tuple of str or None
        The names of all columns of the training data; None where they have none, or are not known.
    parameters : dict or None
        Those of the `TableEncoder`; None where it was the command line that read the data.
    """

    recipe: Recipe
    filling: Filling | None = None
    scaling: Scaling | None = None
    weighting: Weighting | None = None
    statistics: Statistics | None = None
    columns: tuple[str, ...] | None = None
    parameters: Mapping[str, Any] | None = None

    n_features = None

    @property
    def n_outputs(self) -> int:
        """How many features it gives."""
        return self.recipe.n_features

    @property
    def transformation(self) -> Transformation:
        """The filling, the scaling and the weighting."""
        return Transformation(self.filling, self.scaling, self.weighting)

    @property
    def encoder_parameters(self) -> dict[str, Any]:
        """The parameters of an encoder with this state: those it had, or those that its recipe implies."""
        if self.parameters is not None:
            return dict(self.parameters)
        recipe, scale = self.recipe, self.scaling is not None
        if not isinstance(recipe, TableRecipe):
            return {"scale": scale, "missing": "error" if self.filling is None else "mean"}
        which = 0 if recipe.named else 1  # the name, or the position
        known = [names for one in recipe.words or () for names in one.values()]
        return {
            "text": [place[which] for place in recipe.texts],
            "categorical": [place[which] for place in recipe.categorical],
            "hashed": [place[which] for place in recipe.hashed],
            "ngrams": recipe.ngrams,
            "bits": recipe.bits,
            "weighting": recipe.weighting,
            "vocabulary": True if len(known) > MOST_WORDS or any(len(each) > 1 for each in known) else None,
            "missing": recipe.missing,
            "scale": scale,
            "na": list(recipe.na),
        }

    def read(self, X: Any, name: str = "X") -> Features:
        """Return data in memory as the recipe's features, before filling, scaling and weighting.

        Parameters
        ----------
        X : dataframe, list of mappings, list of texts, array or sparse matrix
            Its columns are found by name, in any order, or by position where they have no names.
        name : str
            What messages call it.
        """
        if isinstance(self.recipe, TableRecipe):
            from rosenblatt.tables.in_memory import read_table

            return read_table(X, self.recipe, name)
        features = as_rows(X, name=name)
        if features.n_features != self.recipe.n_features:
            raise ShapeError(
                f"{name} has {features.n_features} features, but TableEncoder is expecting "
                f"{self.recipe.n_features} features as input. Pass the features of training."
            )
        if self.filling is None:
            require_finite(features, name=name)
        return features

    def changes(self, features: Features) -> bool:
        """Return whether features are filled, scaled, weighted or made dense."""
        self.transformation.require_width(features.n_features)
        dense = not (self.parameters or {}).get("sparse_output", True)
        return (dense and isinstance(features.rows, CSR)) or self.transformation.changes(features.rows)

    def features(self, features: Features) -> Features:
        """Return features filled, scaled and weighted; dense ones if the `TableEncoder` gave such."""
        done = self.transformation.features(features)
        return done if (self.parameters or {}).get("sparse_output", True) else as_dense(done)

    def names(self, names: tuple[str, ...] | None = None) -> tuple[str, ...] | None:
        """Return the names of the features; None where they have only numbers."""
        return self.recipe.names(self.recipe.n_features)


def as_dense(features: Features) -> Features:
    """Return rows as an array of the same type, if there is memory for it."""
    if not isinstance(features.rows, CSR):
        return features
    n_rows, width = features.n_rows, features.n_features
    require_memory(
        f"{n_rows:,} rows of {width:,} features as an array",
        features.rows.data.itemsize * n_rows * width,
        "Keep them sparse (sparse_output=True, and no set_output), or choose fewer bits for text and hashes.",
    )
    return replace(features, rows=read_only(features.native().toarray()))


def _own_rows(features: Features, n_features: int) -> Rows:
    """Return rows that a step may change, after comparing their width with that of training."""
    if features.n_features != n_features:
        raise ShapeError(
            f"The data has {features.n_features} features, but the model has {n_features}. Pass data with the "
            "columns of training."
        )
    return writable(features.rows)


@dataclass(frozen=True, eq=False)
class Standardisation:
    """scikit-learn's `StandardScaler`, bit for bit: its attributes without the trailing underscore."""

    with_mean: bool
    with_std: bool
    n_features: int
    mean: Floats | None
    var: Floats | None
    scale: Floats | None
    n_samples_seen: NDArray[Any]
    columns: tuple[str, ...] | None = None

    @property
    def n_outputs(self) -> int:
        """How many features it gives."""
        return self.n_features

    def features(self, features: Features) -> Features:
        """Return standardised features."""
        rows = _own_rows(features, self.n_features)
        if isinstance(rows, CSR):
            if self.with_mean:
                raise ShapeError("Sparse rows cannot be centred: set with_mean=False in StandardScaler.")
            if self.scale is not None:
                data: NDArray[Any] = rows.data
                data *= (1 / self.scale)[rows.indices]
        else:
            if self.with_mean and self.mean is not None:
                rows -= self.mean.astype(rows.dtype)
            if self.scale is not None:
                rows /= self.scale.astype(rows.dtype)
        return Features(rows, features.n_rows, features.n_features)

    def names(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names given, or those of the training data."""
        return names or self.columns


@dataclass(frozen=True, eq=False)
class UnitLength:
    """scikit-learn's `Normalizer`: each row divided by its norm; a row of zeros stays.

    Bit for bit, unless scikit-learn gets an array column by column, as of a frame: it may round norms differently.
    """

    n_features: int
    columns: tuple[str, ...] | None = None

    @property
    def n_outputs(self) -> int:
        """How many features it gives."""
        return self.n_features

    def features(self, features: Features) -> Features:
        """Return rows of length 1."""
        rows = _own_rows(features, self.n_features)
        if isinstance(rows, CSR):
            stored: Any = np.diff(rows.indptr.astype(np.int64))
            row_of = np.repeat(np.arange(features.n_rows), stored)
            squares = np.bincount(row_of, rows.data * rows.data, minlength=features.n_rows)
            norms = np.sqrt(squares)
            data: NDArray[Any] = rows.data
            data[:] = data / np.where(norms == 0.0, 1.0, norms)[row_of]
        else:
            norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            tiny = norms < 10 * np.finfo(norms.dtype).eps  # left as they are by scikit-learn, where rows are dense
            rows /= np.where(tiny, norms.dtype.type(1.0), norms)[:, None]
        return Features(rows, features.n_rows, features.n_features)

    def names(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names given, or those of the training data."""
        return names or self.columns


@dataclass(frozen=True, eq=False)
class Preparation:
    """The steps between data and a learner, in order. Only the first can be an `Encoding`.

    Examples
    --------
    >>> recipe = TableRecipe(True, 2, None, None, numbers=(("age", 0),), categorical=(("sex", 1),),
    ...                      categories=((0, "f"), (0, "m")))
    >>> ready = Preparation((Encoding(recipe),))
    >>> ready.read([{"sex": "m", "age": 30}]).native().toarray()
    array([[30.,  0.,  1.]])
    >>> ready.names
    ('age', 'sex=f', 'sex=m')
    """

    steps: tuple[PreparationStep, ...] = ()

    @property
    def encoding(self) -> Encoding | None:
        """The first step, if it reads tables."""
        first = self.steps[0] if self.steps else None
        return first if isinstance(first, Encoding) else None

    @property
    def n_outputs(self) -> int | None:
        """How many features the learner sees; None without steps."""
        return self.steps[-1].n_outputs if self.steps else None

    @property
    def recipe(self) -> Recipe | None:
        """How columns become features; None where the data are features already."""
        return None if self.encoding is None else self.encoding.recipe

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features that the learner sees, where they have any."""
        names: tuple[str, ...] | None = None
        for step in self.steps:
            names = step.names(names)
        return names

    @property
    def online(self) -> OnlineScaling | None:
        """The last step, if it goes on learning in a stream."""
        last = self.steps[-1] if self.steps else None
        return last if isinstance(last, OnlineScaling) else None

    def with_online(self, scaling: OnlineScaling | None) -> Preparation:
        """Return the same steps with another last one; None leaves the scaling to the learner."""
        if self.steps and isinstance(self.steps[-1], OnlineScaling | Unscaled):
            last: PreparationStep = self.steps[-1]
            if scaling is None:
                return Preparation((*self.steps[:-1], Unscaled(last.n_outputs, last.columns)))
            return Preparation((*self.steps[:-1], scaling))
        return self

    def read(self, X: Any, name: str = "X") -> Features:
        """Return data in memory as the features that the learner sees; messages call it by the name."""
        return self.features(self.read_raw(X, name))

    def read_raw(self, X: Any, name: str = "X") -> Features:
        """Return data in memory as features before the first step; of a table as its recipe makes them."""
        if self.encoding is not None:
            return self.encoding.read(X, name)
        columns = self.steps[0].columns if self.steps else None
        if columns is not None and are_mappings(X):
            from rosenblatt.tables.in_memory import read_table

            return read_table(X, TableRecipe.of_numbers(columns, len(columns)), name)
        features = as_rows(X, name=name)
        if self.steps:
            require_names(features, self.steps[0].columns)
        return features

    @property
    def keeps_columns(self) -> bool:
        """Whether each feature of the learner is made of one raw feature, so that both can be shown."""
        columnwise = Encoding | Standardisation | OnlineScaling | Unscaled | UnitLength
        return all(isinstance(step, columnwise) for step in self.steps)

    def features(self, features: Features) -> Features:
        """Return rows that were read by the recipe as the features that the learner sees."""
        for step in self.steps:
            features = step.features(features)
        return features


def require_names(features: Features, names: tuple[Any, ...] | None) -> None:
    """Require features with names to have these, in this order."""
    if features.names is not None and names is not None and features.names != names:
        other = next((pair for pair in zip(names, features.names, strict=False) if pair[0] != pair[1]), None)
        what = f"{other[0]!r} and {other[1]!r}" if other else "their numbers differ"
        raise InputError(
            f"The features are not those of the model: where it has one, the data has another ({what}). Pass the "
            "columns of training, in that order."
        )


def encoding_of(
    recipe: Recipe | None, done: Transformation, names: tuple[str, ...] | None, n_features: int
) -> Encoding | None:
    """Return the encoding of rows that a source read; None where nothing has to be known of them.

    Without a recipe, as of a built-in set, the columns are the features.
    """
    if recipe is None and any(done.steps):
        recipe = TableRecipe.of_numbers(names, n_features, "error" if done.filling is None else "mean")
    return None if recipe is None else Encoding(recipe, *done)


def _sound_encoding(encoding: Encoding) -> None:
    """Raise `UnsoundError` unless the parts of an encoding fit each other."""
    recipe = encoding.recipe
    given = encoding.parameters
    known = given is None or (isinstance(given, dict) and given.keys() <= PARAMETERS)
    require(known, "its parameters are not those of a TableEncoder")
    filling, scaling, width = encoding.filling, encoding.scaling, recipe.n_features
    of_others = "its figures are of other features"
    require(scaling is None or scaling.n_features == width, of_others)
    require(filling is None or filling.n_features in (recipe.n_numbers, width), of_others)
    require(encoding.weighting is None or encoding.weighting.n_features == width, of_others)
    statistics = encoding.statistics
    require(
        statistics is None or len(statistics.count) == recipe.n_features, "its statistics are of other features"
    )
    if isinstance(recipe, TableRecipe):
        require((filling is not None) == recipe.fills_means, "its recipe and its means contradict")
        centred = recipe.n_numbers
    else:
        centred = 0
    usual, found = Weighting.of(recipe), encoding.weighting
    same = (usual is None) == (found is None)
    same = same and (usual is None or found is None or usual.places == found.places)
    require(same, "its recipe and the weights of its words contradict")
    require(scaling is None or not scaling.mean[centred:].any(), "it centres sparse features")


def _sound_standardisation(scaler: Standardisation) -> None:
    require(scaler.with_std == (scaler.scale is not None), "with_std and scale contradict")
    require(not scaler.with_mean or scaler.mean is not None, "with_mean and mean contradict")
    for part in (scaler.mean, scaler.var, scaler.scale):
        require(part is None or len(part) == scaler.n_features, "its figures are of other features")
    require(scaler.scale is None or (scaler.scale > 0.0).all(), "the scale must be positive")
    require(scaler.n_samples_seen.shape in ((), (scaler.n_features,)), "the samples are of other features")
    require(scaler.columns is None or len(scaler.columns) == scaler.n_features, "it has other columns")


def _sound_unit(step: UnitLength) -> None:
    require(step.columns is None or len(step.columns) == step.n_features, "it has other columns")


COLUMNS: Codec = Maybe(Several(NAME, tuple))
STEPS: dict[str, tuple[type, Codec]] = {
    "table": (
        Encoding,
        Record(
            Encoding,
            {
                "recipe": RECIPE,
                "filling": Maybe(FILLING),
                "scaling": Maybe(SCALING),
                "weighting": Maybe(WEIGHTING),
                "statistics": Maybe(STATISTICS),
                "columns": COLUMNS,
                "parameters": Maybe(Parameter()),
            },
            check=_sound_encoding,
            before={"weighting": None},
        ),
    ),
    "standard": (
        Standardisation,
        Record(
            Standardisation,
            {
                "with_mean": Flag(),
                "with_std": Flag(),
                "n_features": Count(1),
                "mean": Maybe(Array()),
                "var": Maybe(Array()),
                "scale": Maybe(Array()),
                "n_samples_seen": Array((0, 1), (np.int64, np.float64)),
                "columns": COLUMNS,
            },
            check=_sound_standardisation,
        ),
    ),
    "online": (OnlineScaling, ONLINE_SCALING),
    "unit": (UnitLength, Record(UnitLength, {"n_features": Count(1), "columns": COLUMNS}, check=_sound_unit)),
}
"""The steps that a file can hold, by their names there."""
