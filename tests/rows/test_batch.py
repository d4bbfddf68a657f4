"""Labelled rows as one value."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import LabelError, ShapeError, WeightError
from rosenblatt.loops.layout import CSR
from rosenblatt.rows.batch import as_batch

X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 4.0], [5.0, 0.0, 0.0]])
Y = ["b", "a", "b", "a"]


def dense(batch):
    rows = batch.rows
    if not isinstance(rows, CSR):
        return rows
    signed = rows.data, rows.indices.astype(int), rows.indptr.astype(int)
    return sp.csr_array(signed, shape=(batch.n_rows, batch.n_features)).toarray()


def test_everything_in_one_place():
    batch = as_batch(X, Y, [1, 2, 3, 4])
    assert np.shares_memory(batch.rows, X)
    assert (batch.n_rows, batch.n_features) == (4, 3)
    assert batch.names is None
    assert batch.codes.tolist() == [1, 0, 1, 0]
    assert batch.classes.tolist() == ["a", "b"]
    assert batch.weight.tolist() == [1, 2, 3, 4]
    assert as_batch(X, Y).weight is None


def test_names_come_along():
    assert as_batch(pd.DataFrame(X, columns=list("pqr")), Y).names == ("p", "q", "r")


def test_a_batch_cannot_be_changed():
    batch = as_batch(X, Y, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.n_rows = 3
    for array in (batch.rows, batch.codes, batch.classes, batch.weight, batch.signs):
        assert not array.flags.writeable


def test_the_second_class_is_positive():
    signs = as_batch(X, Y).signs
    assert signs.dtype == np.int8
    assert signs.tolist() == [1, -1, 1, -1]


def test_signs_need_two_classes():
    with pytest.raises(LabelError, match=r"only one class, \['a'\], but two are needed"):
        _ = as_batch(X, ["a"] * 4).signs
    with pytest.raises(LabelError, match=r"y has 3 classes: \[1, 2, 3\]"):
        _ = as_batch(X, [1, 2, 3, 1]).signs


def test_stored_values_are_counted():
    assert as_batch(X, Y).stored == 12
    assert as_batch(sp.csr_array(X), Y).stored == 5


def test_errors_of_each_part_come_through():
    with pytest.raises(ShapeError, match="X has 4 rows but y has 3 labels"):
        as_batch(X, Y[:3])
    with pytest.raises(WeightError, match="each of the 4 rows"):
        as_batch(X, Y, [1, 2])


@pytest.mark.parametrize("hold", [np.array, sp.csr_array])
@given(index=st.lists(st.integers(-4, 3), min_size=1, max_size=9))
def test_taking_rows(hold, index):
    batch = as_batch(hold(X), Y, [1, 2, 3, 4])
    taken = batch.take(index)
    np.testing.assert_array_equal(dense(taken), X[index])
    assert taken.n_rows == len(index)
    assert taken.n_features == 3
    assert taken.codes.tolist() == batch.codes[index].tolist()
    assert taken.weight.tolist() == batch.weight[index].tolist()
    assert taken.classes is batch.classes
    arrays = tuple(taken.rows) if isinstance(taken.rows, CSR) else (taken.rows,)
    assert all(not a.flags.writeable and a.flags.c_contiguous for a in (*arrays, taken.codes, taken.weight))


@pytest.mark.parametrize("hold", [np.array, sp.csr_array])
@pytest.mark.parametrize("index", [slice(1, 3), slice(None, None, -2), np.array([True, False, True, False])])
def test_taking_by_slices_and_masks(hold, index):
    np.testing.assert_array_equal(dense(as_batch(hold(X), Y).take(index)), X[index])


@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_taking_keeps_the_widths_and_the_dtype(width):
    matrix = sp.csr_array(X.astype(np.float32))
    matrix.indices, matrix.indptr = matrix.indices.astype(width), matrix.indptr.astype(width)
    batch = as_batch(matrix, Y)
    taken = batch.take([2, 0])
    assert [a.dtype for a in taken.rows] == [a.dtype for a in batch.rows]
    assert taken.weight is None


def test_classes_that_no_row_is_left_of_stay():
    taken = as_batch(X, Y).take([0, 2])
    assert taken.classes.tolist() == ["a", "b"]
    assert taken.signs.tolist() == [1, 1]


@pytest.mark.parametrize("index", [[], slice(0, 0), 2, [[0, 1]]])
def test_nothing_taken_is_an_error(index):
    with pytest.raises((ShapeError, IndexError)):
        as_batch(X, Y).take(index)


def test_rows_that_do_not_exist():
    with pytest.raises(IndexError, match="4 is out of bounds"):
        as_batch(X, Y).take([4])
