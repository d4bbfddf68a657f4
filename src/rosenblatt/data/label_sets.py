"""Several labels a row, as an indicator matrix or as sets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import as_labels, listed, object_array
from rosenblatt.data.reals import shown
from rosenblatt.data.sparse import is_sparse
from rosenblatt.exceptions import LabelError, ShapeError
from rosenblatt.typing import Ints

WANTED = (
    "Pass a matrix of zeros and ones with a column for each label, or a list with a set of labels for each row. "
    "Where each row has one label, use Perceptron(multiclass='ovr')."
)


def as_sets(y: Any, n_rows: int, classes: NDArray[Any] | None = None) -> tuple[Ints, Ints, NDArray[Any]]:
    """Return the labels of each row as CSR holds them, ascending, and all labels.

    Parameters
    ----------
    y : matrix of 0 and 1, dense, sparse or a dataframe, or sequence of sets
        A row may have no label. The labels of a matrix are the numbers of its columns.
    n_rows : int
        The number of rows.
    classes : ndarray or None
        The labels, if they are known.

    Returns
    -------
    indptr, labels, classes : ndarray
        The labels of row i are ``labels[indptr[i] : indptr[i + 1]]``, positions in `classes`.

    Examples
    --------
    >>> indptr, labels, classes = as_sets([{"b", "a"}, set(), {"b"}], 3)
    >>> indptr.tolist(), labels.tolist(), classes.tolist()
    ([0, 2, 2, 3], [0, 1, 1], ['a', 'b'])
    """
    if y is None:
        raise LabelError(f"A classifier requires y to be passed, but the target y is None. {WANTED}")
    if isinstance(y, list | tuple | np.ndarray) and len(y) and all(map(_is_set, y)):
        return _from_sets(y, n_rows, classes)
    return _from_matrix(y, n_rows, classes)


def indicator(indptr: Ints, labels: Ints, n_labels: int) -> Ints:
    """Return a matrix of zeros and ones with a column for each label.

    Examples
    --------
    >>> indicator(np.array([0, 2, 2]), np.array([0, 2]), 3).tolist()
    [[1, 0, 1], [0, 0, 0]]
    """
    table = np.zeros((len(indptr) - 1, n_labels), np.int64)
    table[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), labels] = 1
    return table


def _is_set(row: Any) -> bool:
    """Return whether a row is a set of labels; a list is one unless it is a row of a matrix, which an array is."""
    return isinstance(row, set | frozenset | tuple) or (
        isinstance(row, list) and (not row or any(isinstance(label, str) for label in row))
    )


def _from_sets(y: Any, n_rows: int, classes: NDArray[Any] | None) -> tuple[Ints, Ints, NDArray[Any]]:
    if len(y) != n_rows:
        raise ShapeError(f"X has {n_rows} rows but y has {len(y)} sets of labels. Each row needs exactly one.")
    every = [label for row in y for label in row]
    if classes is None:
        if not every:
            raise LabelError("No row has a label, so there is nothing to learn. Pass rows with labels.")
        classes = as_labels(every, len(every))[1]
    code = {label: k for k, label in enumerate(classes.tolist())}
    rows: list[list[int]] = []
    for i, row in enumerate(y):
        unknown = [label for label in row if label not in code]
        if unknown:
            raise LabelError(
                f"y has the label {shown(unknown[0])} at row {i}, which is not one of the known classes "
                f"{listed(classes)}. Name every class before the first rows are learned."
            )
        rows.append(sorted({code[label] for label in row}))
    indptr = np.cumsum([0, *map(len, rows)])
    return indptr, np.array([label for row in rows for label in row], np.int64), classes


def _from_matrix(y: Any, n_rows: int, classes: NDArray[Any] | None) -> tuple[Ints, Ints, NDArray[Any]]:
    if is_sparse(y):
        table = y.tocsr().toarray()
    else:
        try:
            table = np.asarray(y)
        except ValueError as error:
            raise LabelError(f"y is not a matrix: its rows have different lengths. {WANTED}") from error
    if table.ndim != 2:
        raise ShapeError(f"y must have several labels a row; its shape is {table.shape}. {WANTED}")
    if len(table) != n_rows:
        raise ShapeError(f"X has {n_rows} rows but y has {len(table)} (inconsistent numbers of samples).")
    if classes is not None and table.shape[1] != len(classes):
        raise ShapeError(f"y has {table.shape[1]} columns, but the model knows {len(classes)} labels. {WANTED}")
    try:
        right = (table == 0) | (table == 1)
    except TypeError:
        right = np.zeros(table.shape, np.bool_)
    if not np.all(right):
        row, column = np.argwhere(~np.broadcast_to(right, table.shape))[0].tolist()
        raise LabelError(f"y is {shown(table[row, column])} at row {row}, column {column}. {WANTED}")
    labelled, labels = np.nonzero(table)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(labelled, minlength=n_rows))])
    return indptr, labels.astype(np.int64), np.arange(table.shape[1]) if classes is None else classes


def declared_labels(classes: Collection[Any] | Any) -> NDArray[Any]:
    """Return labels that are known from the first call on, sorted; one is enough."""
    if isinstance(classes, str):
        raise LabelError(f"classes={classes!r} must be a list of labels or None.")
    labels = list(classes)
    return as_labels(labels if labels else object_array(labels), len(labels))[1]
