"""From labels of any kind to class codes.

From numbers of any kind to the targets of a regression, or to a signal.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.exceptions import InputError, LabelError, NonFiniteError, ShapeError
from rosenblatt.rows.features import (
    ON_ITS_SIDE,
    Place,
    as_reals,
    as_rows,
    first_masked,
    is_sparse,
    read_only,
    show_value,
    unreadable,
)
from rosenblatt.typing import ColumnLike, Floats, Ints

TEXT = {str, np.str_}
BYTES = {bytes, np.bytes_}
MOST_FRACTIONS = 2
"""The most classes of which some may be floats that are not whole; more are the target of a regression."""
FIRST_LABELS, FEW_CLASSES = 256, 16
"""The labels that are sorted first, and the most classes among them for which all others are looked up."""
INTEGERS = (int, np.integer)
NUMBERS = (bool, np.bool_, int, np.integer, float, np.floating)


def as_labels(y: ColumnLike | None, n_rows: int, n_features: int | None = None) -> tuple[Ints, NDArray[Any]]:
    """Return the class of each row, as a position in the classes, and the classes.

    `n_features`, if given, lets the error for a wrong number of labels recognise an X that is on its side.

    The classes are sorted if their labels can be compared, and otherwise in order of first appearance. They keep
    the dtype of y; tuples and labels of mixed types make an object array. Labels that are equal in Python (``1``,
    ``1.0``, ``True``) name the same class. A table with one column counts as its column.

    Raises
    ------
    LabelError
        No labels, missing labels, labels that are not hashable, or more than two different floats of which some
        are not whole numbers.
    ShapeError
        More than one column, or a number of labels other than `n_rows`.

    Examples
    --------
    >>> as_labels(["spam", "ham", "spam"], 3)
    (array([1, 0, 1]), array(['ham', 'spam'], dtype='<U4'))
    """
    classes, codes = factorize(one_a_row(y, n_rows, n_features))
    require_classes(classes, codes)
    return read_only(codes), read_only(classes)


def encode_labels(y: ColumnLike, classes: NDArray[Any], n_rows: int) -> Ints:
    """Return the position of each label in `classes`; raise `LabelError` for a label that is not among them.

    Examples
    --------
    >>> encode_labels([7, 7, 5], np.array([5, 7]), 3)
    array([1, 1, 0])
    """
    found, codes = factorize(one_a_row(y, n_rows))
    require_classes(found, codes)
    known = {label: code for code, label in enumerate(classes)}
    translation = np.array([known.get(label, -1) for label in found], np.int64)
    translated = translation[codes]
    if translation.min() < 0:
        row = int(np.argmin(translated))
        raise LabelError(
            f"y has the label {show_value(found[codes[row]])} at row {row}, which is not one of the known classes "
            f"{list_classes(classes)}. Name every class before the first rows are learned.",
            code="unknown-label",
            row=row,
            value=found[codes[row]],
        )
    return read_only(translated)


def list_classes(classes: NDArray[Any], limit: int = 10) -> str:
    """Return the classes as text for a message."""
    named = ", ".join(show_value(label) for label in classes[:limit])
    return f"[{named}]" if len(classes) <= limit else f"[{named} and {len(classes) - limit} more]"


def factorize(labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct labels, and for each label its position among them."""
    if labels.dtype == object:
        return _factorize_objects(labels)
    if np.can_cast(labels.dtype, np.int64):
        low, high = int(labels.min()), int(labels.max())
        if high - low < len(labels):
            # Counting is several times as fast as sorting, and most labels are small integers.
            offsets = labels.astype(np.int64) - low
            present = np.bincount(offsets) > 0
            codes = np.cumsum(present)[offsets] - 1
            return (np.flatnonzero(present) + low).astype(labels.dtype), codes
    few = np.unique(labels[:FIRST_LABELS])
    if len(few) <= FEW_CLASSES and len(labels) > FIRST_LABELS:
        # The first labels usually show every class. Looking up is faster than sorting them all.
        codes = np.searchsorted(few[1:], labels, side="right")
        if np.array_equal(few[codes], labels):
            return few, codes.astype(np.int64, copy=False)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _factorize_objects(labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    seen: dict[Any, int] = {}
    try:
        codes = np.fromiter((seen.setdefault(label, len(seen)) for label in labels), np.int64, len(labels))
    except TypeError:
        row = next(row for row, label in enumerate(labels) if not _is_hashable(label))
        raise LabelError(
            f"y has the label {show_value(labels[row])} ({type(labels[row]).__name__}) at row {row}, which is not "
            "hashable and so cannot name a class. Use a string, a number or a tuple instead.",
            row=row,
            value=labels[row],
        ) from None
    try:
        ordered = sorted(seen)
    except TypeError:
        return object_array(seen), codes
    rank = {label: code for code, label in enumerate(ordered)}
    return object_array(ordered), np.array([rank[label] for label in seen], np.int64)[codes]


def _is_hashable(label: object) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


class ContinuousLabelError(LabelError):
    """Labels that are fractions, and so name no classes."""


def require_classes(classes: NDArray[Any], codes: Ints, first: int = 0) -> None:
    """Raise `LabelError` if labels are missing, infinite or continuous; rows are counted from `first`.

    Floats that are not whole are labels if there are at most two of them, such as 0.5 and 1.5.
    """
    if classes.dtype.kind in "biuUS":
        return
    for code, label in enumerate(classes):
        row = first + int(np.argmax(codes == code))
        if is_missing(label):
            raise missing_label(label, row)
        if not isinstance(label, float | np.floating):
            continue
        if math.isinf(label):
            raise LabelError(f"Input y contains infinity, at row {row}. Drop the row or give it a label.", row=row)
        if label != math.floor(label) and len(classes) > MOST_FRACTIONS:
            raise continuous(label, row)


def continuous(label: object, row: int) -> ContinuousLabelError:
    """Return the error for a label of a regression."""
    return ContinuousLabelError(
        f"Unknown label type: continuous. y is {show_value(label)} at row {row} and has more than two different "
        "values, but this is a classifier and its labels name classes. Sort y into classes, or use a regressor.",
        code="continuous-target",
        row=row,
        value=label,
    )


def is_missing(label: object) -> bool:
    """Return whether a label is missing: None, NaN, NaT or the NA of pandas."""
    if label is None:
        return True
    try:
        return bool(label != label)  # true of NaN and NaT alone
    except (TypeError, ValueError):
        return True  # pandas' NA, for which comparison has no truth value


def missing_label(label: object, row: int) -> LabelError:
    """Return the error for a missing label."""
    what = "NaN" if isinstance(label, float | np.floating) else f"a missing label ({label})"
    told = f"Input y contains {what}, at row {row}. Drop the row or give it a label."
    return LabelError(told, code="missing-label", row=row)


def one_a_row(y: ColumnLike | None, n_rows: int, n_features: int | None = None) -> NDArray[Any]:
    """Return y as an array of `n_rows` labels, in the dtype of y, without checking the labels themselves."""
    if y is None:
        raise LabelError("A classifier requires y to be passed, but the target y is None. Pass one label a row.")
    if isinstance(y, list | tuple):
        labels = _from_sequence(y)
    elif isinstance(y, np.ndarray):
        masked = first_masked(y)
        if masked is not None:
            raise missing_label("masked", masked[0])
        labels = np.asarray(y)
    elif is_sparse(y):
        raise LabelError(
            "y is a sparse matrix, which holds several labels a row or none. Multilabel targets are not "
            "supported: learn one column of y at a time, as a dense array."
        )
    else:
        labels = _from_series(y)
    if labels.ndim == 0:
        raise ShapeError(f"y must be one label a row, got one {type(y).__name__}. {unreadable(y, 'y')}")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ShapeError(
            f"y must be one label a row, got {labels.ndim} dimensions (shape={labels.shape}). Multilabel and "
            "multioutput targets are not supported: learn one column of y at a time."
        )
    if len(labels) != n_rows:
        raise ShapeError(
            f"X has {n_rows} rows but y has {len(labels)} labels (inconsistent numbers of samples). "
            + ("Each row needs exactly one label." if len(labels) != n_features else ON_ITS_SIDE)
        )
    return labels


def is_column(y: Any) -> bool:
    """Return whether y is a table with one column, which `as_labels` flattens."""
    if _is_table(y):
        return len(y[0]) == 1
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] == 1


def object_array(labels: Collection[Any]) -> NDArray[Any]:
    """Return labels as an object array, filled one by one because numpy would take tuples for rows."""
    return np.fromiter(labels, dtype=object, count=len(labels))


def _from_sequence(y: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    if is_column(y):
        return _from_sequence([row[0] for row in y])
    if _is_table(y):
        return np.asarray(y, dtype=object)
    types = {type(label) for label in y}
    if types <= TEXT or types <= BYTES or all(issubclass(kind, NUMBERS) for kind in types):
        if types and all(issubclass(kind, INTEGERS) and not issubclass(kind, bool) for kind in types):
            return _from_integers(y)
        natural = np.asarray(y)
        # numpy rounds integers next to floats and drops zero bytes at the end, which would merge labels.
        if natural.tolist() == [label.item() if isinstance(label, np.generic) else label for label in y]:
            return natural
    return object_array(y)


def _from_integers(y: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Return integers unchanged; numpy turns integers above 2⁶³ into floats if smaller ones stand beside them."""
    natural = np.asarray(y)
    if natural.dtype.kind in "iu":
        return natural
    whole = [int(label) for label in y]
    return np.array(whole, np.uint64) if 0 <= min(whole) and max(whole) < 2**64 else object_array(whole)


def _from_series(y: ColumnLike | None) -> NDArray[Any]:
    import narwhals as nw

    series: Any = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(series, nw.LazyFrame):
        raise LabelError("y is a lazy frame, which holds no labels yet: collect() it first.")
    if isinstance(series, nw.DataFrame) and series.shape[1] == 1:
        series = next(series.iter_columns())
    if not isinstance(series, nw.Series):
        return np.asarray(y)
    labels = series.to_numpy()
    absent = series.is_null().to_numpy()
    if absent.any():
        raise missing_label(labels[np.argmax(absent)], int(np.argmax(absent)))
    return labels


def _is_table(y: ColumnLike | None) -> bool:
    # A tuple is a label. A list or an array is not, so equally long ones are the rows of a table.
    if not isinstance(y, list | tuple):
        return False
    rows = all(isinstance(row, list) or (isinstance(row, np.ndarray) and row.ndim == 1) for row in y)
    return rows and len({len(row) for row in y}) == 1


def as_measurements(y: ColumnLike | None, n_rows: int) -> Floats:
    """Return the targets of a regression, one or several for each row, as read-only float64.

    Raises
    ------
    InputError
        No targets, or sparse ones; as `ShapeError`, `DataTypeError` or `NonFiniteError` for values that do not
        fit.

    Examples
    --------
    >>> as_measurements([1, 2.5], 2)
    array([1. , 2.5])
    """
    if y is None:
        raise InputError("A regressor requires y to be passed, but the target y is None. Pass one number a row.")
    if is_sparse(y):
        raise InputError("y is a sparse matrix; targets must be dense. Pass y.toarray().")
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ShapeError(f"y is not a table: its rows must all be as long as the first. ({error})") from error
    shape = array.shape
    if len(shape) == 1:
        masked = first_masked(y)
        if masked is not None:
            raise InputError(f"y is masked at row {masked[0]}. Drop the row or give it a number.", row=masked[0])
        flat = as_reals(array, name="y", where=Place)
        values = flat.reshape(-1, 1).astype(np.float64, copy=False)
    elif len(shape) == 2:
        values = np.asarray(as_rows(y, name="y").rows, np.float64)
    else:
        raise ShapeError(
            f"y must have one number or one row of numbers for each row of X, got {len(shape)} dimensions "
            f"(shape={shape})."
        )
    if len(values) != n_rows:
        raise ShapeError(
            f"X has {n_rows} rows but y has {len(values)} targets (inconsistent numbers of samples). "
            "Each row needs exactly one."
        )
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        kind = "NaN" if np.isnan(values[row]).any() else "infinity"
        raise NonFiniteError(f"Input y contains {kind}, at row {row}. Drop the row or give it a number.", row=row)
    return read_only(values if len(shape) == 2 else values[:, 0])


def as_signal(samples: ArrayLike, *, name: str) -> NDArray[Any]:
    """Return samples as a one-dimensional array of float64, or of complex128 if they are complex.

    Examples
    --------
    >>> as_signal([1, 2], name="far_end")
    array([1., 2.])
    """
    masked = first_masked(samples)
    if masked is not None:
        raise InputError(f"{name} has masked samples, the first at {masked}. Fill them with zeros.")
    try:
        signal = np.asarray(samples)
    except ValueError as error:
        raise ShapeError(f"{name} is not a signal: it must be a flat sequence of samples. ({error})") from error
    if signal.ndim != 1:
        raise ShapeError(
            f"{name} must be one channel, a one-dimensional sequence of samples; its shape is {signal.shape}. "
            "Pass one channel at a time, such as signal[:, 0]."
        )
    if not signal.size:
        raise ShapeError(f"{name} has no samples. Pass at least one.")
    if signal.dtype.kind == "c":
        signal = signal.astype(np.complex128)
    else:
        reals = as_reals(signal, name=name, where=lambda position: f"sample {position}")
        signal = reals.astype(np.float64, copy=False)
    finite = np.isfinite(signal)
    if not finite.all():
        at = int(np.argmin(finite))
        raise NonFiniteError(
            f"{name} is {signal[at]} at sample {at}. Replace missing samples, by zero if need be."
        )
    return signal


def as_signals(far_end: ArrayLike, microphone: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two signals of the same length."""
    far, mic = as_signal(far_end, name="far_end"), as_signal(microphone, name="microphone")
    if len(far) != len(mic):
        raise ShapeError(
            f"far_end has {len(far):,} samples, but microphone has {len(mic):,}. Cut the longer one, so that both "
            "cover the same time."
        )
    return far, mic
