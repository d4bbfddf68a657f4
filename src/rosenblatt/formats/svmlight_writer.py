"""Rows and labels as svmlight text that reads back the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rosenblatt.atomic import replacing
from rosenblatt.data.features import Features, as_rows, require_finite
from rosenblatt.exceptions import LabelError, ShapeError
from rosenblatt.formats.svmlight_plain import LARGEST_INDEX
from rosenblatt.loops.layout import CSR

__all__ = ["write_svmlight"]

_ROWS = 1024  # written at once


def write_svmlight(file: str | os.PathLike[str] | BinaryIO, X: Any, y: Any, *, zero_based: bool = False) -> None:
    """Write rows and their labels in the format of LIBSVM and SVMlight.

    Every number is the shortest that reads back as the same float. Zeros of dense rows are left out; zeros that
    sparse rows store are written. The number of features is not written, so columns of zeros at the end are lost.

    Parameters
    ----------
    file : path or binary file
        A file at this path is replaced as a whole, or left unchanged if writing fails.
    X : array, DataFrame or sparse matrix
        Finite numbers.
    y : array
        A finite number for each row.
    zero_based : bool
        Whether the first column is written as 0, not as 1.

    Examples
    --------
    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> write_svmlight(file, [[0.5, 0], [0.1, -3]], [1, -1])
    >>> print(file.getvalue().decode(), end="")
    1 1:0.5
    -1 1:0.1 2:-3
    """
    features = as_rows(X)
    require_finite(features)
    labels = _labels(y, features)
    base = 0 if zero_based else 1
    if features.n_features - 1 + base > LARGEST_INDEX:
        raise ShapeError(f"X has {features.n_features} features; this format holds {LARGEST_INDEX + 1 - base}")
    if isinstance(file, str | os.PathLike):
        with replacing(file) as opened:
            _write(opened, features, labels, base)
    else:
        _write(file, features, labels, base)


def _labels(y: Any, features: Features) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.shape != (features.n_rows,):
        raise ShapeError(f"y must hold one label for each of the {features.n_rows} rows, got shape {labels.shape}")
    if labels.dtype.kind not in "biuf":
        raise LabelError(
            f"this format holds numbers as labels, y is of {labels.dtype}: number the classes, or use CSV"
        )
    if not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise LabelError(f"y must be finite, but holds {labels[row]} at row {row}")
    return labels.astype(np.int64) if labels.dtype.kind == "b" else labels


def _write(file: BinaryIO, features: Features, labels: NDArray[Any], base: int) -> None:
    for start in range(0, features.n_rows, _ROWS):
        rows = slice(start, start + _ROWS)
        lines = zip(labels[rows].tolist(), _entries(features.part(rows)), strict=True)
        file.write("".join(f"{_shortest(label)}{_line(*entries, base)}\n" for label, entries in lines).encode())


def _entries(features: Features) -> Iterator[tuple[list[int], list[float]]]:
    X = features.rows
    if isinstance(X, CSR):
        starts = X.indptr.tolist()
        for start, stop in pairwise(starts):
            yield X.indices[start:stop].tolist(), X.data[start:stop].tolist()
    else:
        for x in X:
            columns = np.flatnonzero((x != 0) | np.signbit(x))  # −0.0 is another number to a reader
            yield columns.tolist(), x[columns].tolist()


def _line(indices: list[int], values: list[float], base: int) -> str:
    return "".join(f" {index + base}:{_shortest(value)}" for index, value in zip(indices, values, strict=True))


def _shortest(number: float) -> str:
    return repr(number).removesuffix(".0")
