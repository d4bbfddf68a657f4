"""Labelled rows as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError, LabelError, ShapeError, Term
from rosenblatt.loops.layout import CSR, Rows, Unsigned, csr_take
from rosenblatt.rows.features import Features, as_rows
from rosenblatt.rows.labels import as_labels, encode_labels, list_classes
from rosenblatt.rows.reals import read_only
from rosenblatt.rows.weights import as_weight
from rosenblatt.typing import Floats, Ints

__all__ = ["Chunk", "Skipped"]


# What a source yields: labelled rows, and a record of the rows that could not be read.

MAX_KEPT_ERRORS = 5  # errors of skipped rows that are kept


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Chunk(Features):
    """Consecutive rows of a source, with their labels.

    Attributes
    ----------
    rows, n_rows, n_features, names
        As in `Features`. Sparse rows may be only as wide as the features met so far. A missing number is NaN.
    labels : ndarray or None
        One label for each row, of type int64, float64, bool or str; None where the source has no labels.
    """

    labels: NDArray[Any] | None

    @classmethod
    def of(cls, features: Features, labels: NDArray[Any] | None) -> Chunk:
        """Return features with their labels, without a copy."""
        return cls(features.rows, features.n_rows, features.n_features, features.names, labels=labels)


@dataclass(slots=True)
class Skipped:
    """Rows that were left out because they could not be read.

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

    def merge(self, others: Skipped) -> None:
        """Count rows that come after these."""
        self.count += others.count
        self.first += others.first[: MAX_KEPT_ERRORS - len(self.first)]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Batch(Features):
    """Rows, as in `Features`, their classes and their weights; all arrays are read-only."""

    codes: Ints  # (n_rows,): the class of each row, as a position in `classes`
    classes: NDArray[Any]  # the labels
    weight: Floats | None = None  # (n_rows,): the weight of each row; None if all weigh the same

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


def as_batch(X: Any, y: Any, sample_weight: Any = None, *, keep_bytes: bool = False) -> Batch:
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


def as_labelled(X: Any, y: Any, classes: NDArray[Any]) -> Batch:
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
