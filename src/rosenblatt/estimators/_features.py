"""The features an estimator was trained on, and whether it is trained.

Columns that should be scaled, named where training has not separated the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from math import floor, log10, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.escaping import html_card
from rosenblatt.exceptions import (
    SOFT_MARGIN,
    InputError,
    PredictionOverflowError,
    Remedy,
    ShapeError,
    TrainingOverflowError,
)
from rosenblatt.loops.layout import CSR, Rows, csr_take
from rosenblatt.registry import name_of
from rosenblatt.rows.batch import Vocabulary, are_mappings
from rosenblatt.rows.features import Features, as_rows, read_only
from rosenblatt.tables.blocks import Blocks
from rosenblatt.typing import Floats, MatrixLike


@contextmanager
def predicting() -> Iterator[None]:
    """Report an overflow in a map of features as one of predicting, not of training."""
    try:
        yield
    except TrainingOverflowError as error:
        raise PredictionOverflowError(str(error)) from error


SHOWN_RESULTS = {
    "stop_reason_": "ended by",
    "n_iter_": "passes",
    "n_mistakes_": "mistakes",
    "n_updates_": "updates",
    "converged_": "separates its training rows",
}
"""The results of training that notebooks show, and their names there."""


class Trained:
    """What every estimator says of the names of its features, and before it is trained."""

    if TYPE_CHECKING:

        def __sklearn_is_fitted__(self) -> bool: ...

        def _feature_names(self) -> tuple[str, ...] | None: ...

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, where the data had any."""
        self._require_fitted("feature_names_in_")
        names = self._feature_names()
        if names is None:
            raise AttributeError("The training data had no feature names.")
        return read_only(np.array(names, dtype=object))

    def _require_fitted(self, attribute: str | None = None) -> None:
        if not self.__sklearn_is_fitted__():
            name = name_of(self)
            if attribute is not None:
                raise AttributeError(f"{name} has no attribute {attribute!r} before it is trained.")
            ways = "fit or partial_fit" if hasattr(self, "partial_fit") else "fit"
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {name} is not trained yet. Call {ways} first.")


class ReadsTables(Trained):
    """The features an estimator was trained on, required of every table it reads later."""

    _width: int
    _names: tuple[str, ...] | None
    _keeps_bytes = False  # True in classes whose loops predict rows of bytes

    def __sklearn_is_fitted__(self) -> bool:
        return "_width" in self.__dict__

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's HTML of the estimator and, once it is trained, how training went."""
        return str(super()._repr_html_inner()) + self._training_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **asked: Any) -> dict[str, Any]:
        """Return what notebooks show; see `_repr_html_inner`."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**asked)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._training_html()
        return bundle

    def _training_html(self) -> str:
        """Return the results of training as HTML; nothing before training."""
        found = {name: getattr(self, name, None) for name in SHOWN_RESULTS}
        if found["n_updates_"] == found["n_mistakes_"]:
            found["n_updates_"] = None
        if found["converged_"] is not None:
            found["converged_"] = "yes" if found["converged_"] else "no"
        shown = [(SHOWN_RESULTS[name], value) for name, value in found.items() if value is not None]
        return html_card("Training", facts=shown) if shown else ""

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        self._require_fitted("n_features_in_")
        return self._width

    def _feature_names(self) -> tuple[str, ...] | None:
        return self._names

    def _without_names(self) -> Self:
        """Return a copy that knows its features by number: in a pipeline the first step knows the names."""
        nameless = copy(self)
        nameless.__dict__.update({name: None for name in ("_names", "_vocabulary") if name in self.__dict__})
        return nameless

    def _features(self, X: MatrixLike) -> Features:
        features = as_rows(X, keep_bytes=self._keeps_bytes)
        self._check_features(features)
        return features

    def _check_features(self, features: Features) -> None:
        """Require the features the model was trained on."""
        name = name_of(self)
        if features.n_features != self._width:
            raise ShapeError(
                f"X has {features.n_features} features, but {name} is expecting {self._width} features as input. "
                "Pass the same features in the same order as in training."
            )
        known = self._feature_names()
        if features.names is None and known is None:
            return
        if features.names is None:
            warnings.warn(
                f"X does not have valid feature names, but {name} was fitted with feature names", stacklevel=4
            )
        elif known is None:
            warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=4)
        elif features.names != known:
            raise InputError(_difference(known, features.names))


class ReadsMappings(ReadsTables):
    """Features that may also be mappings of names to values, whose names are learned as they are met."""

    _vocabulary: Vocabulary | None

    def _features(self, X: MatrixLike) -> Features:
        if are_mappings(X):
            return self._known_vocabulary().rows(X, learn=False)[0]
        return super()._features(X)

    def _chunk(self, X: MatrixLike) -> tuple[Features, Vocabulary | None, list[Any]]:
        """Return examples to learn, and where they are mappings, the vocabulary and their new names."""
        if not are_mappings(X):
            return as_rows(X), None, []
        vocabulary = self._known_vocabulary()
        features, new_names = vocabulary.rows(X, learn=True)
        return features, vocabulary, new_names

    def _feature_names(self) -> tuple[str, ...] | None:
        vocabulary = self.__dict__.get("_vocabulary")
        return self._names if vocabulary is None else tuple(vocabulary.names)

    def _known_vocabulary(self) -> Vocabulary:
        vocabulary: Vocabulary | None = self.__dict__.get("_vocabulary")
        if vocabulary is not None:
            return vocabulary
        return Vocabulary.of(self._names) if self.__sklearn_is_fitted__() else Vocabulary(grows=True)


def tags_of_task(tags: Any, task: str) -> Any:
    """Return the tags of an estimator that predicts labels, or the numbers of a regression."""
    from sklearn.utils import ClassifierTags, RegressorTags

    tags.target_tags.required = True
    if task == "regression":
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.multi_output = True
    else:
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
    return tags


def _difference(known: tuple[str, ...], given: tuple[str, ...]) -> str:
    """Say how feature names differ, in scikit-learn's words."""
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    for title, names in (
        ("Feature names unseen at fit time", unseen),
        ("Feature names seen at fit time, yet now missing", missing),
    ):
        if names:
            message += f"{title}:\n" + "".join(f"- {name}\n" for name in names[:5]) + "- ...\n" * (len(names) > 5)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
        message += "Pass X[model.feature_names_in_].\n"
    return message


MIN_SCALE_RATIO = 10.0  # scales that differ by more than this are worth scaling
# Columns with fewer values than this share of the rows are counts and flags, as in sparse rows
MIN_FILLED_SHARE = 0.1
MAX_SPARSE_COLUMNS = 1 << 16  # sparse rows with more are not looked at
FAR_MEAN_DEVIATIONS = 2.0  # a column is far from zero if its mean is more than so many deviations
SAMPLE_ROWS = 1000  # rows that are looked at first; all are measured only if these should be scaled
VALUES_AT_ONCE = 1 << 14  # values that are widened together
LEAST_POWER = -1000  # of two that a column is divided by: 2¹⁰⁰⁰ is still a float
WRITTEN_OUT = 1e6  # ratios from here on are shown as powers of ten

SCALE = Remedy("scale", True, "StandardScaler, or scale=True of TableEncoder or rosenblatt.train")
STANDARDISE = "Standardise them (" + SCALE + ")."
POCKET = Remedy("learner", "pocket", "PocketPerceptron")
OTHERS = Remedy("learner", "averaged", "average=True") + ", " + POCKET + " or " + SOFT_MARGIN
"""The learners for rows that no hyperplane separates."""


_Sums: TypeAlias = tuple[int, NDArray[Any], Floats, Floats]  # rows; values other than zero, their sums and squares


class _Sizes(NamedTuple):
    """Figures of the columns that have values: their numbers, root mean squares and means."""

    columns: list[int]
    size: Floats  # the root of the mean square of the values other than zero
    mean: Floats
    deviation: Floats


def to_be_scaled(blocks: Blocks, bias: float = 0.0) -> str | None:
    """Return which columns of some rows should be scaled, or None if there is no need to.

    The scale of a column is the root mean square of its values other than zero, so that the columns of
    standardised rows have nearly the same. Scales may differ by a factor of 10. Columns with few values are left
    alone: they are counts and flags. So are sparse rows with very many columns, which are words. Of rows that are
    not in memory, the first block is looked at. Some rows are looked at first, so that data of one scale costs
    next to nothing. `bias` is the square of the constant feature that the bias is the weight of, where rows are
    known to be separable: columns far from zero that are more than 10 times larger than it should be scaled too.
    """
    if blocks.scaling is not None:
        return None
    return columns_to_scale(blocks.read(0) if blocks.whole is None else blocks.whole, bias)


def columns_to_scale(features: Features, bias: float = 0.0) -> str | None:
    """Return which columns should be scaled, or None; see `to_be_scaled`."""
    rows, width = features.rows, features.n_features
    if isinstance(rows, CSR) and width > MAX_SPARSE_COLUMNS:
        return None
    step = features.n_rows // SAMPLE_ROWS
    if step > 1:
        taken = csr_take(rows, np.arange(0, features.n_rows, step)) if isinstance(rows, CSR) else rows[::step]
        if _columns_of(taken, width, features.names, bias) is None:
            return None
    return _columns_of(rows, width, features.names, bias)


def _columns_of(rows: Rows, width: int, given: Sequence[str] | None, bias: float) -> str | None:
    found = _sizes(rows, width)
    if found is None:
        return None
    columns, size, mean, deviation = found

    def name(k: int) -> str:
        return repr(columns[k] if given is None else given[columns[k]])

    largest, smallest = int(size.argmax()), int(size.argmin())
    if size[largest] / MIN_SCALE_RATIO > size[smallest]:
        ratio = times(size[largest], size[smallest])
        return f"column {name(largest)} is more than {ratio} times larger than column {name(smallest)}"
    far = np.where(np.abs(mean) > FAR_MEAN_DEVIATIONS * deviation, size, 0.0)
    k = int(far.argmax())
    if bias > 0.0 and far[k] > MIN_SCALE_RATIO * sqrt(bias):
        return (
            f"column {name(k)} lies around {float(f'{mean[k]:.2g}'):,g}, far from zero for a bias that moves by "
            f"{bias:g}"
        )
    return None


def also_scale(features: Features) -> str:
    """Return a sentence that follows other advice where columns should be scaled, or nothing."""
    columns = columns_to_scale(features)
    return "" if columns is None else f" Also, {columns}. " + STANDARDISE


def _sizes(rows: Rows, width: int) -> _Sizes | None:
    """Measure the columns; None for values that training will refuse.

    Columns are divided by powers of two first: squares of tiny values would be 0.
    """
    powers = np.frexp(_largest(rows, width))[1]
    factors = np.ldexp(1.0, -np.maximum(powers, LEAST_POWER))
    with np.errstate(over="ignore", invalid="ignore"):
        sums = _sparse_sums(rows, factors) if isinstance(rows, CSR) else _dense_sums(rows, factors)
    n_rows, count, total, squares = sums
    kept = np.flatnonzero(count >= MIN_FILLED_SHARE * n_rows)
    if not len(kept) or not np.isfinite(squares).all():
        return None
    mean, square = total[kept] / n_rows, squares[kept] / n_rows
    deviation = np.sqrt(np.maximum(square - mean * mean, 0.0))
    size = np.sqrt(squares[kept] / count[kept])
    return _Sizes(kept.tolist(), *(each / factors[kept] for each in (size, mean, deviation)))


def _largest(rows: Rows, width: int) -> Floats:
    """Return the largest absolute value of each column."""
    if not isinstance(rows, CSR):
        return np.asarray(np.maximum(rows.max(axis=0), -rows.min(axis=0).astype(np.float64)), np.float64)
    found = np.zeros(width)
    stored = slice(rows.indptr[0], rows.indptr[-1])
    np.maximum.at(found, rows.indices[stored], np.abs(rows.data[stored].astype(np.float64)))
    return found


def _dense_sums(rows: NDArray[Any], factors: Floats) -> _Sums:
    width = len(factors)
    step = max(1, VALUES_AT_ONCE // width)
    count, total, squares = np.zeros(width, np.int64), np.zeros(width), np.zeros(width)
    for first in range(0, len(rows), step):
        values = rows[first : first + step] * factors
        count += np.count_nonzero(values, axis=0)
        total += values.sum(axis=0)
        squares += (values * values).sum(axis=0)
    return len(rows), count, total, squares


def _sparse_sums(rows: CSR, factors: Floats) -> _Sums:
    width = len(factors)
    count, total, squares = np.zeros(width, np.int64), np.zeros(width), np.zeros(width)
    begin, end = int(rows.indptr[0]), int(rows.indptr[-1])
    step = max(VALUES_AT_ONCE, width)
    for first in range(begin, end, step):
        part = slice(first, min(first + step, end))
        columns = rows.indices[part].astype(np.int64)
        values = rows.data[part] * factors[columns]
        count += np.bincount(columns[values != 0.0], minlength=width)
        total += np.bincount(columns, values, width)
        squares += np.bincount(columns, values * values, width)
    return len(rows.indptr) - 1, count, total, squares


def times(larger: float, smaller: float) -> str:
    """Return how many times larger one number is than another, rounded down.

    Examples
    --------
    >>> times(4321.0, 20.0), times(3e12, 1.0)
    ('200', '10¹²')
    """
    power = log10(larger) - log10(smaller)
    if power >= log10(WRITTEN_OUT):
        return "10" + str(floor(power)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    unit: int = 10 ** floor(power)
    return f"{floor(larger / smaller / unit) * unit:,}"
