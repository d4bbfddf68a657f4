"""Labelled rows as one immutable value; weights of rows and classes; a record of rows that were left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.exceptions import (
    DataTypeError,
    FormatError,
    InputError,
    LabelError,
    NonFiniteError,
    ParameterError,
    ShapeError,
    Term,
    WeightError,
)
from rosenblatt.loops.layout import CSR, Rows, Unsigned, csr_take
from rosenblatt.rows.features import (
    EXACT_BITS,
    Features,
    Place,
    as_reals,
    as_rows,
    first_masked,
    read_only,
    show_value,
)
from rosenblatt.rows.labels import (
    as_labels,
    encode_labels,
    factorize,
    list_classes,
    object_array,
    one_a_row,
)
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike, Reals

__all__ = ["Batch", "Skipped"]


# Weights of rows and of classes.


def single_weight(sample_weight: object) -> float:
    """Return the weight of one example, which may be 0.

    Examples
    --------
    >>> single_weight(2), single_weight(0.0)
    (2.0, 0.0)
    """
    if isinstance(sample_weight, bool | np.bool_) or not isinstance(sample_weight, Real):
        raise WeightError(
            f"sample_weight={show_value(sample_weight)} must be one number: the weight of the example."
        )
    weight = float(sample_weight)
    if not 0.0 <= weight < np.inf:
        raise WeightError(f"sample_weight={weight} must be finite and not negative. Use 0 to change no weights.")
    return weight


def as_weight(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return the weight of each row, read-only; None stays None, and a number is the weight of every row.

    Raises
    ------
    WeightError
        A weight that is not a finite number or is negative, only zeros, or a number of weights other than
        `n_rows`.

    Examples
    --------
    >>> as_weight([1, 0, 2], 3)
    array([1., 0., 2.])
    """
    if sample_weight is None:
        return None
    masked = first_masked(sample_weight)
    if masked is not None:
        raise WeightError(f"sample_weight is masked at row {masked[0]}. Use 0 to leave a row out.", row=masked[0])
    try:
        given = np.asarray(sample_weight)
    except ValueError as error:
        raise WeightError(f"sample_weight must be a flat sequence of numbers. ({error})") from error
    if given.ndim == 0:
        given = np.full(n_rows, given)
    if given.ndim != 1 or len(given) != n_rows:
        raise WeightError(
            f"sample_weight has shape {given.shape}, but must be one number or one number for each of the "
            f"{n_rows} rows. Flatten it, or drop the weights that belong to no row."
        )
    try:
        reals = as_reals(given, name="sample_weight", where=Place)
    except DataTypeError as error:
        raise WeightError(str(error)) from None
    weight: Floats = read_only(reals.astype(np.float64, copy=False))
    usable = np.isfinite(weight) & (weight >= 0)
    if not usable.all():
        row = int(np.argmin(usable))
        raise WeightError(
            f"sample_weight is {weight[row]} at row {row}, but must be finite and not negative. "
            "Use 0 to leave a row out.",
            row=row,
            value=float(weight[row]),
        )
    if not weight.any():
        raise WeightError("sample_weight is zero at every row, so nothing is left to learn from. Raise some.")
    return weight


def class_weights(class_weight: Any, codes: Ints, classes: NDArray[Any]) -> Floats | None:
    """Return the weight of each class, in the order of `classes`; None stays None.

    In a mapping of labels to weights, labels that are missing count 1. "balanced" gives every class that occurs in
    `codes` the same total, ``n_rows / (n_classes * count)`` for each row; a class that does not occur counts 1.

    Raises
    ------
    WeightError
        No label that is a class, a weight that is negative or not finite, or no weight above zero. Some labels may
        name classes that these rows lack.
    ParameterError
        Anything but None, "balanced" or a mapping.

    Examples
    --------
    >>> class_weights("balanced", np.array([0, 0, 0, 1]), np.array(["ham", "spam"]))
    array([0.66666667, 2.        ])
    """
    return weights_by_count(class_weight, np.bincount(codes, minlength=len(classes)), classes)


def weights_by_count(class_weight: Any, counts: Ints, classes: NDArray[Any]) -> Floats | None:
    """Return the weight of each class as `class_weights` does, from the number of rows of each."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        occurs = counts > 0
        weights = np.ones(len(counts))
        weights[occurs] = counts.sum() / (np.count_nonzero(occurs) * counts[occurs])
        return read_only(weights)
    weight_of = label_weights(class_weight)
    labels = classes.tolist()
    if weight_of and not any(label in weight_of for label in labels):  # some classes may be missing from y
        raise WeightError(
            f"class_weight names {show_value(next(iter(weight_of)))}, but the classes are "
            f"{list_classes(classes)}. "
            "Correct its labels."
        )
    weights = np.array([weight_of.get(label, 1.0) for label in labels])
    require_some_weight(weights)
    return read_only(weights)


def label_weights(class_weight: Any) -> dict[Any, float]:
    """Check a mapping of labels to weights, and return it."""
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            f"class_weight is {show_value(class_weight)}, but must be None, 'balanced' or a dict of "
            "label to weight.",
            parameter="class_weight",
        )
    for label, weight in class_weight.items():
        if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
            raise WeightError(
                f"class_weight of {show_value(label)} is {show_value(weight)}, but must be a finite number "
                "and not negative. Use 0 to leave a class out."
            )
    return {label: float(weight) for label, weight in class_weight.items()}


def require_some_weight(weights: Floats) -> None:
    """Raise `WeightError` if all class weights are zero."""
    if not weights.any():
        raise WeightError("class_weight is zero for every class, so nothing is left to learn from. Raise some.")


# Rows that a source left out.

MAX_KEPT_ERRORS = 5  # errors of skipped rows that are kept


@dataclass(slots=True)
class Skipped:
    """Rows that were left out because they could not be read, or had no label.

    Attributes
    ----------
    count : int
        How many there were.
    first : list of FormatError
        The errors of the first few rows, each with its place.
    """

    count: int = 0
    first: list[FormatError] = field(default_factory=list)

    def add(self, problem: FormatError) -> None:
        """Count one more row."""
        self.count += 1
        if len(self.first) < MAX_KEPT_ERRORS:
            self.first.append(problem)

    def clear(self) -> None:
        """Count from zero."""
        self.count = 0
        self.first.clear()

    def merge(self, others: Skipped) -> None:
        """Count rows that come after these."""
        self.count += others.count
        self.first += others.first[: MAX_KEPT_ERRORS - len(self.first)]


# Labelled rows as one immutable value.


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Batch(Features):
    """Rows, as in `Features`, their classes and their weights; all arrays are read-only."""

    codes: Ints  # (n_rows,): the class of each row, as a position in `classes`
    classes: NDArray[Any]  # the labels
    weight: Floats | None = None  # (n_rows,): the weight of each row; None if all weigh the same

    @classmethod
    def of(cls, features: Features, labels: NDArray[Any]) -> Batch:
        """Return rows with the label of each, which may be the numbers of a regression; the rows are not copied.

        Examples
        --------
        >>> batch = Batch.of(as_rows([[0.0], [1.0], [2.0]]), np.array(["yes", "no", "yes"]))
        >>> batch.classes, batch.codes, batch.labels
        (array(['no', 'yes'], dtype='<U3'), array([1, 0, 1]), array(['yes', 'no', 'yes'], dtype='<U3'))
        """
        classes, codes = factorize(one_a_row(labels, features.n_rows))
        return _labelled(features, read_only(codes), read_only(classes), None)

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each row."""
        return read_only(self.classes[self.codes])

    @property
    def signs(self) -> NDArray[np.int8]:
        """The labels as +1 (the second class) and −1 (the first)."""
        self.require_classes()
        if len(self.classes) != 2:
            raise LabelError(
                f"Only binary classification is supported here, but y has {len(self.classes)} classes: "
                f"{list_classes(self.classes)}. Keep two of them, or use a multiclass learner."
            )
        return read_only((2 * self.codes - 1).astype(np.int8))

    def require_classes(self) -> None:
        """Require at least two classes."""
        require_two(self.classes)

    @property
    def counts(self) -> Ints:
        """The rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    def take(self, index: Any) -> Batch:
        """Return copies of the rows that a slice, sequence of int or mask picks; all classes stay."""
        picked = np.arange(self.n_rows)[index]
        if picked.ndim != 1 or not len(picked):
            raise ShapeError(f"take must pick at least one row, by a one-dimensional index; got {index!r}.")
        return replace(
            self,
            rows=_take(self.rows, picked),
            n_rows=len(picked),
            codes=read_only(self.codes[picked]),
            weight=None if self.weight is None else read_only(self.weight[picked]),
        )


def require_two(classes: NDArray[Any]) -> None:
    """Require at least two classes."""
    if len(classes) == 1:
        raise LabelError(
            Term("target", "y")
            + f" has only one class, {list_classes(classes)}, but two are needed to tell apart. "
            "Add rows of another class.",
            code="one-class",
        )


def as_batch(
    X: MatrixLike, y: ColumnLike | None, sample_weight: ArrayLike | None = None, *, keep_bytes: bool = False
) -> Batch:
    """Check features, labels and weights, as `as_rows`, `as_labels` and `as_weight` do, and put them together.

    NaN and infinity in X pass: training finds them in its scores, and `require_finite` in the rows.

    Parameters
    ----------
    X : array-like, scipy sparse matrix or array, or dataframe
        The rows.
    y : sequence, array or series
        One label for each row.
    sample_weight : None, number, or sequence of numbers
        The weight of each row.
    keep_bytes : bool
        See `as_rows`.

    Examples
    --------
    >>> batch = as_batch([[0, 1], [2, 3]], ["no", "yes"])
    >>> batch.signs
    array([-1,  1], dtype=int8)
    """
    features = as_rows(X, keep_bytes=keep_bytes)
    codes, classes = as_labels(y, features.n_rows, features.n_features)
    return _labelled(features, codes, classes, as_weight(sample_weight, features.n_rows))


def as_labelled(X: MatrixLike, y: ColumnLike, classes: NDArray[Any]) -> Batch:
    """Check features, and labels of classes that are already known.

    Examples
    --------
    >>> as_labelled([[0, 1], [2, 3]], ["no", "no"], np.array(["no", "yes"])).signs
    array([-1, -1], dtype=int8)
    """
    features = as_rows(X)
    return _labelled(features, encode_labels(y, classes, features.n_rows), classes, None)


def _labelled(features: Features, codes: Ints, classes: NDArray[Any], weight: Floats | None) -> Batch:
    known = (features.rows, features.n_rows, features.n_features, features.names)
    return Batch(*known, codes=codes, classes=classes, weight=weight)


def _take(rows: Rows, picked: Ints) -> Rows:
    if not isinstance(rows, CSR):
        return read_only(rows.take(picked, axis=0))
    data, indices, indptr = csr_take(rows, picked)
    # Rows picked more than once can outgrow 32 bits.
    narrow = rows.indptr.dtype == np.uint32 and indptr[-1] <= np.iinfo(np.int32).max
    ends: Unsigned = indptr.astype(np.uint32) if narrow else indptr
    return CSR(read_only(data), read_only(indices), read_only(ends))


# One example at a time: a vector, or a mapping from feature names to values.

FLOAT64 = np.dtype(np.float64)
_REALS = (FLOAT64, np.dtype(np.float32))  # native byte order only


def vector_row(x: Any, n_features: int | None) -> Reals:
    """Return one example as a matrix of one row; `n_features`, if given, is the number expected."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype in _REALS and x.flags.c_contiguous and x.flags.aligned:
        row = x[None]
        row.flags.writeable = False
    else:
        if np.ndim(x) != 1:
            raise ShapeError(
                f"x must be one example, a 1-D sequence of values or a mapping of feature names to values; its "
                f"shape is {np.shape(x)}. Use partial_fit or predict for several."
            )
        several = [list(x)] if isinstance(x, list | tuple) else np.asanyarray(x)[None]
        row = cast("Reals", as_rows(several, name="x").rows)
    if n_features is not None and row.shape[1] != n_features:
        raise ShapeError(f"x has {row.shape[1]} features, but {n_features} are expected.")
    return row


class Vocabulary:
    """The names of features and their numbers; if it does not grow, a new name is an error."""

    def __init__(self, names: Iterable[Any] = (), *, grows: bool) -> None:
        # Floats, because numpy makes an array of floats faster: see `rosenblatt.loops.named_features`.
        self._numbers: dict[Any, float] = {name: float(j) for j, name in enumerate(names)}
        self.grows = grows
        self._last: tuple[tuple[Any, ...], Ints, Unsigned, Unsigned] | None = None

    @classmethod
    def of(cls, names: Sequence[Any] | None) -> Vocabulary:
        """Return the names of a model that was trained on a table; raise `InputError` if it had none."""
        if names is None:
            raise InputError(
                "x is a mapping of feature names to values, but the model was trained on features without names. "
                "Pass a sequence of values."
            )
        return cls(names, grows=False)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> list[Any]:
        """The names in the order of their numbers."""
        return list(self._numbers)

    def pairs(self, x: Mapping[Any, Any]) -> Floats | None:
        """Return one example as `rosenblatt.loops.named_features` reads it.

        None if a name is new, or if a value is not an ordinary number: `row` then says what is wrong.
        """
        try:
            pairs = np.array([0.0, len(x), *map(self._numbers.__getitem__, x), *x.values()])
        except (KeyError, ValueError, TypeError):  # a new name, or a value that is a sequence or a date
            return None
        return pairs if pairs.dtype is FLOAT64 else None

    def copy(self) -> Vocabulary:
        """Return a vocabulary that grows by itself."""
        return Vocabulary(self._numbers, grows=self.grows)

    def rows(self, several: Sequence[Mapping[Any, Any]], *, learn: bool) -> tuple[Features, list[Any]]:
        """Return examples as sparse rows, and the names in them that are new; see `row`."""
        met: dict[Any, float] = {}
        parts = [self.row(x, learn=learn, name=f"X[{k}]", met=met)[0] for k, x in enumerate(several)]
        ends = np.cumsum([0, *(len(part.data) for part in parts)])
        data, indices = (np.concatenate(column) for column in list(zip(*parts, strict=True))[:2])
        rows = CSR(read_only(data), read_only(indices), read_only(ends.astype(np.uint64)))
        return Features(rows, len(parts), len(self) + len(met)), list(met)

    def row(
        self, x: Mapping[Any, Any], *, learn: bool, name: str = "x", met: dict[Any, float] | None = None
    ) -> tuple[CSR, list[Any]]:
        """Return one example as a sparse matrix of one row, and the names in it that are new.

        For prediction, new names are ignored. For learning they are numbered after the known ones, and become
        features with `add` after the example has been learned. `met` holds the new names of the examples before
        this one, and gets those of this one. Messages call the example `name`.
        """
        names = tuple(x)
        last = self._last
        if last is not None and names == last[0]:  # most streams repeat their names
            by, indices, starts = last[1:]
            return CSR(_values(x, by, name), indices, starts), []
        numbers = self._numbers
        late = {} if met is None else met
        new = [each for each in names if each not in numbers and each not in late]
        if new and not self.grows:
            raise InputError(f"{name} has features that were not in training: {new[:5]!r}. Leave them out.")
        if new and not learn:
            known = {each: value for each, value in x.items() if each in numbers}
            return self.row(known, learn=False, name=name)
        late |= {each: float(len(numbers) + len(late) + j) for j, each in enumerate(new)}
        places = [numbers[each] if each in numbers else late[each] for each in names]
        by = np.argsort(places)  # so that the bits do not depend on the order of names
        indices = read_only(np.array(places, np.uint32)[by])
        starts = read_only(np.array([0, len(names)], np.uint32))
        if late.keys().isdisjoint(names):
            self._last = names, by, indices, starts
        return CSR(_values(x, by, name), indices, starts), new

    def add(self, names: Iterable[Any]) -> None:
        """Make features of names."""
        for name in names:
            self._numbers[name] = float(len(self._numbers))


def are_mappings(X: object) -> TypeGuard[Sequence[Mapping[Any, Any]]]:
    """Return whether X is a list or tuple of examples that are mappings of feature names to values."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(x, Mapping) for x in X)


def _values(x: Mapping[Any, Any], by: Ints, name: str) -> Floats:
    """Return the values in the order `by`, checked like those of a table."""
    values = list(x.values())
    try:
        held = np.array(values)
    except ValueError:
        held = np.empty((0, 0))  # a value that is itself a sequence
    # Floats of ordinary size need no further check: none is NaN, and no integer among them was rounded.
    if held.dtype == np.float64 and held.ndim == 1 and (np.abs(held) < 2.0**EXACT_BITS).all():
        return read_only(held[by])
    if held.shape != (len(values),) or held.dtype.kind not in "iub":
        held = object_array(values)
    names = list(x)
    data = as_reals(held, name=name, where=lambda position: f"{name}[{names[position]!r}]").astype(np.float64)
    if not np.isfinite(data).all():
        feature, value = list(x.items())[int(np.flatnonzero(~np.isfinite(data))[0])]
        raise NonFiniteError(
            f"{name}[{feature!r}] is {value!r}. Leave the feature out, or give it a finite value."
        )
    return read_only(data[by])
