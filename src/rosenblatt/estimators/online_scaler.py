"""Means and deviations of a stream, and rows scaled by what was met before them."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from rosenblatt.codecs import INTEGERS, Array, Codec, Context, StateSchema, require, wrong
from rosenblatt.estimators._features import Trained
from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError, ShapeError
from rosenblatt.parameters import Declared, check_flag, learned, param
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import are_mappings
from rosenblatt.rows.features import Features, as_rows, is_sparse, read_only, require_finite
from rosenblatt.tables.online_scaling import Figures, OnlineScaling, require_figures, too_large
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike, RowLike


class _Listed:
    """A list of numbers, which a file holds as an array."""

    def __init__(self, array: Codec, dtype: DTypeLike) -> None:
        self.array, self.dtype = array, dtype

    def encode(self, value: list[Any], at: str, context: Context) -> Any:
        """Return the name of the array."""
        return self.array.encode(np.array(value, self.dtype), at, context)

    def decode(self, stored: Any, at: str, context: Context) -> list[Any]:
        """Return the list."""
        values: list[Any] = self.array.decode(stored, at, context).tolist()
        return values


class _Places:
    """The position of each name. A file has the names once for the whole model, and here whether there are any."""

    def encode(self, value: dict[Any, int] | None, at: str, context: Context) -> Any:
        """Return whether features have names."""
        return value is not None

    def decode(self, stored: Any, at: str, context: Context) -> dict[Any, int] | None:
        """Return the positions, or None."""
        if type(stored) is not bool or stored != (context.names is not None):
            wrong(at, "and the names of the features contradict each other")
        return None if context.names is None else {name: j for j, name in enumerate(context.names)}


def _link(held: dict[str, Any]) -> None:
    require_figures(Figures(*(np.array(held[name]) for name in STATE[1:])))
    require(held["_places"] is None or len(held["_places"]) == len(held["_count"]), "names are missing")


class OnlineScaler(Declared, Trained, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scales the rows of a stream by the means and deviations of the rows met so far.

    A stream has no training set whose means are known in advance. So each row is scaled by what was met before it,
    and is learned afterwards: `transform_one`, then `learn_one`. Chunks do the same by `learn_transform`, to the
    same bits. Batch and stream therefore differ by nature: `fit` learns all rows first, and `transform` scales by
    the figures of all of them, as scikit-learn's StandardScaler does.

    A value becomes (x − mean) / deviation. It becomes 0 as long as all values of its feature were equal.

    Attributes
    ----------
    n_features_in_ : int
        The number of features met.
    feature_names_in_ : ndarray of str
        Their names, where they have any.
    n_samples_seen_ : ndarray of int
        The number of values of each feature.
    mean_, var_ : ndarray
        The mean and the variance of each feature.

    Notes
    -----
    Sums are made row by row in the order of the stream (Welford 1962), so that single rows, chunks of any size and
    ``fit`` leave the same bits. In a dictionary, a feature that is absent has no value: it is neither learned nor
    scaled.

    Examples
    --------
    >>> scaler, model, right = OnlineScaler(), None, 0
    >>> for size in (10.0, 12.0, 30.0):
    ...     print(scaler.transform_one({"size": size}))
    ...     _ = scaler.learn_one({"size": size})
    {'size': 0.0}
    {'size': 0.0}
    {'size': 19.0}
    >>> scaler.mean_.round(2).tolist(), scaler.n_samples_seen_.tolist()
    ([17.33], [3])
    """

    _learner = built_in(
        "OnlineScaler",
        StateSchema(
            {
                "_places": _Places(),
                "_count": _Listed(INTEGERS, np.int64),
                "_mean": _Listed(Array(), np.float64),
                "_squares": _Listed(Array(), np.float64),
            },
            link=_link,
            check=lambda model: model._check_flags(),
        ),
    )

    with_mean: bool = param(True, "Whether the mean is subtracted.")
    with_std: bool = param(True, "Whether values are divided by the standard deviation.")
    _places: dict[Any, int] | None = learned()  # the position of each name; None where features have no names
    _count: list[int] = learned()
    _mean: list[float] = learned()
    _squares: list[float] = learned()  # sums of squared differences from the mean

    def __sklearn_is_fitted__(self) -> bool:
        return "_mean" in self.__dict__

    def fit(self, X: MatrixLike, y: ColumnLike | None = None) -> Self:
        """Forget what was learned, and learn the rows of X.

        Parameters
        ----------
        X : array-like, dataframe or list of mappings
            The rows.
        y : ignored

        Returns
        -------
        OnlineScaler
            The estimator.
        """
        fresh = type(self)(**self.get_params(deep=False))
        fresh.partial_fit(X)
        self.__dict__.update({name: fresh.__dict__.get(name) for name in STATE})
        return self

    def partial_fit(self, X: MatrixLike, y: ColumnLike | None = None) -> Self:
        """Learn more rows, after those that were met.

        Parameters
        ----------
        X : array-like, dataframe or list of mappings
            More rows.
        y : ignored

        Returns
        -------
        OnlineScaler
            The estimator.
        """
        self._pass(X, scales=False)
        return self

    def transform(self, X: MatrixLike) -> Any:
        """Scale rows by the means and deviations of all rows met so far.

        Parameters
        ----------
        X : array-like, dataframe or list of mappings
            The rows.

        Returns
        -------
        ndarray, or list of dict for mappings
            The scaled rows.
        """
        self._require_fitted()
        if are_mappings(X):
            return [self.transform_one(x) for x in X]
        return self._figures.scale(self._rows(X), self.with_mean, self.with_std)

    def learn_transform(self, X: MatrixLike) -> Any:
        """Scale each row by what was met before it, and learn it: a chunk as a stream.

        Parameters
        ----------
        X : array-like, dataframe or list of mappings
            The rows, in the order of the stream.

        Returns
        -------
        ndarray, or list of dict for mappings
            The scaled rows; the same as those of `transform_one` and `learn_one` for each row, to the bit.
        """
        return self._pass(X, scales=True)

    def learn_one(self, x: RowLike, y: object = None) -> Self:
        """Learn one row.

        Parameters
        ----------
        x : mapping of feature name to value, or 1-D array
            The row.
        y : ignored

        Returns
        -------
        OnlineScaler
            The estimator.
        """
        if not isinstance(x, Mapping):
            self._pass(_one_row(x), scales=False)
            return self
        values = _checked(x)
        self._begin(())
        if self._places is None:
            raise InputError("The rows so far had no names. Pass arrays, as before.")
        learned = []
        for name, value in values.items():
            j = self._places.get(name)
            count, mean, squares = (
                (0, 0.0, 0.0) if j is None else (self._count[j], self._mean[j], self._squares[j])
            )
            count += 1
            before = value - mean
            mean += before / count
            squares += before * (value - mean)
            if not squares < np.inf:
                raise too_large(f"feature {name!r}")
            learned.append((name, count, mean, squares))
        for name, count, mean, squares in learned:  # all of the row, or nothing
            j = self._places.setdefault(name, len(self._count))
            self._count[j : j + 1] = [count]
            self._mean[j : j + 1] = [mean]
            self._squares[j : j + 1] = [squares]
        return self

    def transform_one(self, x: RowLike) -> Any:
        """Scale one row by what was met before it. Nothing is learned.

        Parameters
        ----------
        x : mapping of feature name to value, or 1-D array
            The row.

        Returns
        -------
        dict, or ndarray
            The scaled row. Features that were never met become 0.
        """
        if not isinstance(x, Mapping):
            if not self.__sklearn_is_fitted__():
                return np.zeros(len(_one_row(x)[0]))
            return self.transform(_one_row(x))[0]
        values = _checked(x)
        places = self.__dict__.get("_places") or {}
        return {name: self._scaled_value(value, places.get(name)) for name, value in values.items()}

    def _scaled_value(self, value: float, j: int | None) -> float:
        if j is None or self._squares[j] == 0.0:
            return 0.0
        value = value - self._mean[j] if self.with_mean else value
        return value / sqrt(self._squares[j] / self._count[j]) if self.with_std else value

    def _pass(self, X: MatrixLike, *, scales: bool) -> Any:
        """Learn the rows of a chunk one by one; if asked, return each scaled by what was met before it."""
        self._check_flags()
        if are_mappings(X):
            scaled = []
            for x in X:
                if scales:
                    scaled.append(self.transform_one(x))
                self.learn_one(x)
            return scaled
        features = _read(X)
        begins = not self.__sklearn_is_fitted__()
        rows = features.dense() if begins else self._rows(features)
        self._begin(features.names, features.n_features)
        try:
            met, found = self._figures.learn(rows, scaled=scales, with_mean=self.with_mean, with_std=self.with_std)
        except NonFiniteError:
            if begins:
                self._forget()
            raise
        self._count, self._mean, self._squares = (each.tolist() for each in met)
        return found

    @property
    def _figures(self) -> Figures:
        return Figures(np.array(self._count, np.int64), np.array(self._mean), np.array(self._squares))

    def _step(self) -> OnlineScaling:
        """Return what was learned, as a step of a preparation; names must be texts there."""
        names = self._feature_names()
        if names is not None and not all(isinstance(name, str) for name in names):
            raise InputError("Only features whose names are texts have a place in a file. Rename them.")
        return OnlineScaling(self.with_mean, self.with_std, self._figures, names)

    @classmethod
    def _of(cls, step: OnlineScaling) -> Self:
        """Return the scaler that does what a step does."""
        scaler = cls(with_mean=step.with_mean, with_std=step.with_std)
        scaler._begin(step.columns)
        scaler._count, scaler._mean, scaler._squares = (each.tolist() for each in step.figures)
        return scaler

    def _check_flags(self) -> None:
        check_flag("with_mean", self.with_mean)
        check_flag("with_std", self.with_std)

    def _feature_names(self) -> tuple[Any, ...] | None:
        return None if self._places is None else tuple(self._places)

    def _begin(self, names: tuple[str, ...] | None, width: int = 0) -> None:
        if self.__sklearn_is_fitted__():
            return
        self._places = None if names is None else {name: j for j, name in enumerate(names)}
        self._count, self._mean, self._squares = [0] * width, [0.0] * width, [0.0] * width

    def _forget(self) -> None:
        for name in STATE:
            self.__dict__.pop(name, None)

    def _rows(self, X: MatrixLike | Features) -> Floats:
        """Return rows whose features are those met so far, in their order."""
        features = X if isinstance(X, Features) else _read(X)
        if features.names is not None and self._places is not None and tuple(self._places) != features.names:
            raise InputError("The feature names should match those that were passed during fit, in their order.")
        if features.n_features != len(self._mean):
            raise ShapeError(
                f"X has {features.n_features} features, but OnlineScaler is expecting {len(self._mean)} features "
                "as input. Pass the features of the rows before."
            )
        return features.dense()

    @property
    def n_features_in_(self) -> int:
        """The number of features met."""
        self._require_fitted("n_features_in_")
        return len(self._mean)

    @property
    def n_samples_seen_(self) -> Ints:
        """The number of values of each feature."""
        self._require_fitted("n_samples_seen_")
        return read_only(np.array(self._count, np.int64))

    @property
    def mean_(self) -> Floats:
        """The mean of each feature."""
        self._require_fitted("mean_")
        return read_only(np.array(self._mean))

    @property
    def var_(self) -> Floats:
        """The variance of each feature."""
        self._require_fitted("var_")
        return read_only(np.array(self._squares) / np.maximum(np.array(self._count), 1))

    def _require_fitted(self, attribute: str | None = None) -> None:
        if attribute is None and not self.__sklearn_is_fitted__():
            raise NotFittedError("This OnlineScaler has met no row yet. Call fit, partial_fit or learn_one first.")
        super()._require_fitted(attribute)


STATE = ("_places", "_count", "_mean", "_squares")


def _read(X: MatrixLike) -> Features:
    if is_sparse(X):
        raise DataTypeError(
            "Sparse rows cannot be centred, so OnlineScaler takes none. Pass X.toarray(), or dicts."
        )
    features = as_rows(X)
    require_finite(features)
    return features


def _one_row(x: RowLike) -> Any:
    row = np.asarray(x)
    if row.ndim != 1:
        raise ShapeError(f"x must be a mapping or a vector, but has {row.ndim} dimensions.")
    return row[None]


def _checked(x: Mapping[Any, Any]) -> dict[Any, float]:
    """Return the values of a mapping as floats; raise an error for one that is not a finite number."""
    values = {}
    for name, value in x.items():
        try:
            values[name] = float(value)
        except (TypeError, ValueError):
            raise DataTypeError(
                f"x[{name!r}] is {value!r}, which is no number. Encode it, or leave it out."
            ) from None
        if not -np.inf < values[name] < np.inf:
            raise NonFiniteError(f"x[{name!r}] is {value!r}. Leave the feature out, or replace its value.")
    return values
