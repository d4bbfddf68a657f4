"""From whatever holds labels to a one-dimensional array of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import first_masked
from rosenblatt.data.sparse import is_sparse
from rosenblatt.exceptions import LabelError, ShapeError

__all__ = ["is_column", "missing_label", "object_array", "one_a_row"]

TEXT = {str, np.str_}
BYTES = {bytes, np.bytes_}
NUMBERS = (bool, np.bool_, int, np.integer, float, np.floating)


def one_a_row(y: Any, n_rows: int) -> NDArray[Any]:
    """Give y as an array of `n_rows` labels, of its own dtype; what the labels are is not looked at."""
    if y is None:
        raise LabelError(
            "A classifier requires y to be passed, but the target y is None. Hand in one label a row."
        )
    if isinstance(y, list | tuple):
        labels = _from_sequence(y)
    elif isinstance(y, np.ndarray):
        labels = _from_array(y)
    elif is_sparse(y):
        raise LabelError(
            "y is a sparse matrix, which holds several labels a row or none. Multilabel targets are not "
            "supported: learn one column of y at a time, as a dense array."
        )
    else:
        labels = _from_series(y)
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
            "Each row needs exactly one label."
        )
    return labels


def is_column(y: Any) -> bool:
    """Tell whether y is a table of one column, which `as_labels` takes as if it were flat."""
    if _is_table(y):
        return len(y[0]) == 1
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] == 1


def object_array(labels: Any) -> NDArray[Any]:
    """Put labels in an object array, one by one: numpy would take tuples for rows."""
    return np.fromiter(labels, dtype=object, count=len(labels))


def missing_label(label: object, row: int) -> LabelError:
    """Give the error for a label that is not there."""
    what = "NaN" if isinstance(label, float | np.floating) else f"a missing label ({label})"
    return LabelError(f"Input y contains {what}, at row {row}. Drop the row or give it a label.")


def _from_sequence(y: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    if is_column(y):
        return _from_sequence([row[0] for row in y])
    if _is_table(y):
        return np.asarray(y, dtype=object)
    types = {type(label) for label in y}
    if types <= TEXT or types <= BYTES or all(issubclass(kind, NUMBERS) for kind in types):
        natural = np.asarray(y)
        # numpy rounds integers next to floats and drops zero bytes at the end, which would merge labels.
        if natural.tolist() == list(y):
            return natural
    return object_array(y)


def _from_array(y: NDArray[Any]) -> NDArray[Any]:
    masked = first_masked(y)
    if masked is not None:
        raise missing_label("masked", masked[0])
    return np.asarray(y)


def _from_series(y: Any) -> NDArray[Any]:
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


def _is_table(y: Any) -> bool:
    # Tuples are labels. Lists and arrays are not, so if all are of one length they are the rows of a table.
    if not isinstance(y, list | tuple) or not all(_is_row(row) for row in y):
        return False
    return len({len(row) for row in y}) == 1


def _is_row(row: Any) -> bool:
    return isinstance(row, list) or (isinstance(row, np.ndarray) and row.ndim == 1)
