"""Predictions as lazy Dask collections: nothing is computed before it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from numpy.typing import NDArray

from rosenblatt.distributed.sources import delayed_pairs
from rosenblatt.evaluation import Evaluation
from rosenblatt.evaluation import evaluate as compare
from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.rows.labels import encode_labels
from rosenblatt.typing import ColumnLike, MatrixLike


def predict(model: Any, X: MatrixLike) -> Any:
    """Predict the label of every row, lazily.

    Parameters
    ----------
    model : estimator or Pipeline
        A trained model.
    X : Dask array or Dask DataFrame
        The rows.

    Returns
    -------
    Dask array or Dask Series
        The labels, in the partitions of X; of a frame with its index.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> rd.predict(rb.Perceptron().fit(X, y), rows).compute(scheduler="sync")[:3].tolist() == y[:3].tolist()
    True
    """
    return _lazily(model, X, "predict", np.asarray(model.classes_).dtype, ())


def decision_function(model: Any, X: MatrixLike) -> Any:
    """Return the decision scores of every row, lazily.

    Parameters
    ----------
    model : estimator or Pipeline
        A trained model.
    X : Dask array or Dask DataFrame
        The rows.

    Returns
    -------
    Dask array
        One number for each row, or one for each row and class.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> rd.decision_function(rb.Perceptron().fit(X, y), rows).shape
    (200,)
    """
    classes = len(model.classes_)
    wide = () if classes == 2 else (classes,)
    if isinstance(X, da.Array):
        return _lazily(model, X, "decision_function", np.dtype(np.float64), wide)
    parts = [
        da.from_delayed(dask.delayed(_scores)(model, part), (np.nan, *wide), np.float64)
        for part in _frame(X).to_delayed()
    ]
    return da.concatenate(parts)


def score(model: Any, X: MatrixLike, y: ColumnLike) -> Any:
    """Return the share of rows predicted correctly, lazily.

    Parameters
    ----------
    model : estimator or Pipeline
        A trained model.
    X, y : Dask collections
        The rows and their labels; of a frame y may be the name of a column.

    Returns
    -------
    dask.delayed.Delayed
        Computes a float.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> float(rd.score(rb.Perceptron().fit(X, y), rows, labels).compute(scheduler="sync"))
    1.0
    """
    return evaluate(model, X, y).accuracy


def evaluate(model: Any, X: MatrixLike, y: ColumnLike) -> Any:
    """Compare predictions with labels, lazily.

    Parameters
    ----------
    model : estimator or Pipeline
        A trained model.
    X, y : Dask collections
        The rows and their labels; of a frame y may be the name of a column.

    Returns
    -------
    dask.delayed.Delayed
        Computes an `Evaluation`: the confusion matrix of all rows, and the rates that follow from it.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> rd.evaluate(rb.Perceptron().fit(X, y), rows, labels).compute(scheduler="sync").n_right
    200
    """
    parts = [dask.delayed(_evaluated)(model, rows, labels) for rows, labels in delayed_pairs(X, y)]
    return dask.delayed(_merged)(parts)


def _lazily(model: Any, X: Any, method: str, dtype: np.dtype[Any], wide: tuple[int, ...]) -> Any:
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ShapeError(f"X has {X.ndim} dimensions, but must have 2: rows and features.")
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        how: dict[str, Any] = {"drop_axis": 1} if not wide else {"chunks": (X.chunks[0], wide)}
        return X.map_blocks(
            _of_rows, model, method, wide, dtype=dtype, meta=np.empty((0,) * (1 + len(wide)), dtype), **how
        )
    return _frame(X).map_partitions(_of_frame, model, meta=(None, _series_dtype(dtype)))


def _series_dtype(dtype: np.dtype[Any]) -> Any:
    return "object" if np.dtype(dtype).kind == "U" else dtype


def _frame(X: MatrixLike) -> Any:
    if is_dask_collection(X) and hasattr(X, "map_partitions"):
        return X
    raise InputError(f"X is a {type(X).__name__}, but must be a Dask array or a Dask DataFrame.")


def _of_rows(rows: Any, model: Any, method: str, wide: tuple[int, ...]) -> Any:
    """Return predictions for a block of an array; an empty block has none."""
    if not len(rows):
        dtype = np.asarray(model.classes_).dtype if method == "predict" else np.float64
        return np.empty((0, *wide), dtype)
    predicted: Callable[[Any], Any] = getattr(model, method)
    return predicted(rows)


def _of_frame(frame: Any, model: Any) -> Any:
    import pandas as pd

    classes = np.asarray(model.classes_)
    labels = model.predict(frame) if len(frame) else classes[:0]
    return pd.Series(labels, index=frame.index, dtype=_series_dtype(classes.dtype))


def _scores(model: Any, frame: Any) -> Any:
    wide = () if len(model.classes_) == 2 else (len(model.classes_),)
    return model.decision_function(frame) if len(frame) else np.empty((0, *wide))


def _evaluated(model: Any, rows: NDArray[Any], labels: NDArray[Any]) -> Evaluation | None:
    if not len(labels):
        return None
    classes = np.asarray(model.classes_)
    codes = encode_labels(labels, classes, len(labels))
    return compare(codes, encode_labels(model.predict(rows), classes, len(labels)), classes)


def _merged(parts: list[Evaluation | None]) -> Evaluation:
    """Return the evaluation of all rows; the counts of partitions are added."""
    held = [part for part in parts if part is not None]
    if not held:
        raise ShapeError("All partitions are empty, so that there is nothing to evaluate.")
    return reduce(Evaluation.merged, held)
