"""From labels of any kind to class codes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import read_only, shown
from rosenblatt.data.targets import is_column, missing_label, object_array, one_a_row
from rosenblatt.exceptions import LabelError
from rosenblatt.typing import Ints

__all__ = ["as_labels", "encode_labels", "factorize", "is_column", "listed", "require_classes"]


def as_labels(y: Any, n_rows: int) -> tuple[Ints, NDArray[Any]]:
    """Find the classes that y names, and number them.

    The classes are sorted if their labels can be compared, and in order of first appearance if not (such as
    numbers next to strings). They keep the dtype of y; tuples and labels of mixed types make an object array.
    Labels that are equal in Python (``1``, ``1.0``, ``True``) name the same class.

    Parameters
    ----------
    y : sequence, array, or series of pandas, polars or pyarrow
        One hashable label a row. A single column of labels is taken as it stands.
    n_rows : int
        How many labels there must be.

    Returns
    -------
    codes : ndarray of int64, shape (n_rows,)
        The position of each row's label in classes.
    classes : ndarray, shape (n_classes,)
        The distinct labels.

    Raises
    ------
    LabelError
        No labels, missing labels, measurements instead of labels, or labels that are not hashable.
    ShapeError
        More than one column, or a number of labels other than `n_rows`.

    Examples
    --------
    >>> as_labels(["spam", "ham", "spam"], 3)
    (array([1, 0, 1]), array(['ham', 'spam'], dtype='<U4'))
    """
    classes, codes = factorize(one_a_row(y, n_rows))
    require_classes(classes, codes)
    return read_only(codes), read_only(classes)


def encode_labels(y: Any, classes: NDArray[Any], n_rows: int) -> Ints:
    """Translate labels to the numbers of classes that are already known.

    Parameters
    ----------
    y : sequence, array or series
        As for `as_labels`; need not name every class.
    classes : ndarray
        The known labels.
    n_rows : int
        How many labels there must be.

    Returns
    -------
    ndarray of int64, shape (n_rows,)
        The position of each row's label in classes.

    Raises
    ------
    LabelError
        A label that is not among the classes, or for the reasons of `as_labels`.

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
            f"y has the label {shown(found[codes[row]])} at row {row}, which is none of the known classes "
            f"{listed(classes)}. Name every class before the first rows are learned."
        )
    return read_only(translated)


def listed(classes: NDArray[Any], limit: int = 10) -> str:
    """Write the classes for a message."""
    named = ", ".join(shown(label) for label in classes[:limit])
    return f"[{named}]" if len(classes) <= limit else f"[{named} and {len(classes) - limit} more]"


def factorize(labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Give the distinct labels, and for each label which of them it is."""
    if labels.dtype == object:
        return _factorize_objects(labels)
    if np.can_cast(labels.dtype, np.int64):
        low, high = int(labels.min()), int(labels.max())
        if high - low < len(labels):
            return _factorize_dense_integers(labels, low)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _factorize_dense_integers(labels: NDArray[Any], low: int) -> tuple[NDArray[Any], Ints]:
    # Counting instead of sorting: several times as fast, and what most labels are.
    offsets = labels.astype(np.int64) - low
    present = np.bincount(offsets) > 0
    codes = np.cumsum(present)[offsets] - 1
    return (np.flatnonzero(present) + low).astype(labels.dtype), codes


def _factorize_objects(labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    seen: dict[Any, int] = {}
    try:
        codes = np.fromiter((seen.setdefault(label, len(seen)) for label in labels), np.int64, len(labels))
    except TypeError:
        row = next(row for row, label in enumerate(labels) if not _is_hashable(label))
        raise LabelError(
            f"y has the label {shown(labels[row])} ({type(labels[row]).__name__}) at row {row}, which is not "
            "hashable and so cannot name a class. Use a string, a number or a tuple instead."
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


def require_classes(classes: NDArray[Any], codes: Ints, first: int = 0) -> None:
    """Refuse labels that name no class, or are missing; rows are counted from `first`."""
    if classes.dtype.kind in "biuUS":
        return
    for code, label in enumerate(classes):
        if _is_missing(label):
            raise missing_label(label, first + _first_row(codes, code))
        if not isinstance(label, float | np.floating):
            continue
        if math.isinf(label):
            row = first + _first_row(codes, code)
            raise LabelError(f"Input y contains infinity, at row {row}. Drop the row or give it a label.")
        if label != math.floor(label):
            row = first + _first_row(codes, code)
            raise LabelError(
                f"Unknown label type: continuous. y is {shown(label)} at row {row}, but "
                "this is a classifier and its labels name classes. Sort y into classes, or use a regressor."
            )


def _is_missing(label: object) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)  # true of NaN and NaT alone
    except (TypeError, ValueError):
        return True  # pandas' NA, which does not know whether it equals itself


def _first_row(codes: Ints, code: int) -> int:
    return int(np.argmax(codes == code))
