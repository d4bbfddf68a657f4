"""The targets of a regression, from whatever holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError, ShapeError
from rosenblatt.rows.labels import as_measurements

VALUES = [1.0, -2.5, 3.0]


@pytest.mark.parametrize(
    "y",
    [VALUES, tuple(VALUES), np.array(VALUES), np.array(VALUES, np.float32), pd.Series(VALUES), pl.Series(VALUES)],
)
def test_flat(y):
    found = as_measurements(y, 3)
    assert (found.tolist(), found.dtype, found.flags.writeable) == (VALUES, np.float64, False)


@pytest.mark.parametrize("kind", [np.array, pd.DataFrame, lambda rows: rows])
def test_several_a_row(kind):
    rows = [[1.0, 2.0], [3.0, 4.0]]
    assert as_measurements(kind(rows), 2).tolist() == rows


def test_integers_and_truths_are_numbers():
    assert as_measurements([1, 2], 2).tolist() == [1.0, 2.0]
    assert as_measurements([True, False], 2).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, InputError, "requires y"),
        (csr_array(np.eye(3)), InputError, "toarray"),
        (np.ma.masked_array(VALUES, [0, 1, 0]), InputError, "masked at row 1"),
        (VALUES[:2], ShapeError, "3 rows but y has 2"),
        (5.0, ShapeError, "0 dimensions"),
        (["a", "b", "c"], DataTypeError, "y"),
        ([1.0, None, 2.0], DataTypeError, "row 1"),
        ([1j, 2j, 3j], DataTypeError, "omplex"),
        ([1.0, np.nan, 2.0], NonFiniteError, "row 1"),
        ([[1.0], [np.inf], [2.0]], NonFiniteError, "row 1"),
        (np.zeros((3, 0)), ShapeError, "no columns"),
    ],
)
def test_what_cannot_be_used(y, error, message):
    with pytest.raises(error, match=message):
        as_measurements(y, 3)
