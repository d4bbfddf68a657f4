"""Sparse matrices become rows that the loops can read, whatever their format; malformed ones are refused."""

import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import DataTypeError, InputError
from rosenblatt.loops.layout import CSR
from rosenblatt.rows.features import as_rows, is_sparse
from tests.rows.tables import assert_ready, dense, matrices

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


@given(matrices, st.sampled_from(FORMATS), st.sampled_from(["array", "matrix"]))
def test_every_sparse_format_gives_the_same_values(X, fmt, kind):
    matrix = getattr(sp, f"{fmt}_{kind}")(X)
    features = as_rows(matrix)
    assert_ready(features)
    assert isinstance(features.rows, CSR)
    assert features.rows.data.dtype == X.dtype
    np.testing.assert_array_equal(dense(features), X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_canonical_csr_is_not_copied(dtype, index, kind):
    # Columns fall from one row to the next, and rows without values stand at both ends and between.
    matrix = kind(np.array([[0, 0], [0, 1], [0, 0], [2, 3], [0, 0]], dtype))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    rows = as_rows(matrix).rows
    assert np.shares_memory(rows.data, matrix.data)
    assert np.shares_memory(rows.indices, matrix.indices)
    assert np.shares_memory(rows.indptr, matrix.indptr)
    assert rows.indices.itemsize == np.dtype(index).itemsize
    assert matrix.data.flags.writeable
    assert matrix.indices.flags.writeable


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-9, 9)), max_size=30),
    st.sampled_from([np.float64, np.float32, np.int8, np.int64]),
)
def test_duplicates_are_summed_and_the_input_left_alone(entries, dtype):
    """Rows of CSR filled in any order, with columns repeated: what no constructor would clean up."""
    entries.sort(key=lambda entry: entry[0])
    values = np.array([v for _, _, v in entries], dtype)
    columns = np.array([c for _, c, _ in entries], np.int32)
    indptr = np.searchsorted([r for r, _, _ in entries], np.arange(5)).astype(np.int32)
    matrix = sp.csr_array((values, columns, indptr), shape=(4, 5))
    before = matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()
    expected = np.zeros((4, 5))
    for r, c, v in entries:
        expected[r, c] += v

    features = as_rows(matrix)
    assert_ready(features)
    np.testing.assert_array_equal(dense(features), expected)
    for i in range(4):
        row = features.rows.indices[int(features.rows.indptr[i]) : int(features.rows.indptr[i + 1])]
        assert np.all(row[1:] > row[:-1])
    for now, then in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_a_stale_claim_of_canonical_form_is_not_believed():
    matrix = sp.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    assert matrix.has_canonical_format
    matrix.indices[:2] = [1, 1]
    np.testing.assert_array_equal(dense(as_rows(matrix)), [[0, 3], [0, 3]])
    np.testing.assert_array_equal(matrix.indices, [1, 1, 1])


def test_stored_zeros_stay_and_spare_room_is_cut_off():
    matrix = sp.csr_array((np.array([0.0, 2.0, 9.0]), np.array([0, 1, 7]), np.array([0, 1, 2])), shape=(2, 2))
    rows = as_rows(matrix).rows
    np.testing.assert_array_equal(rows.data, [0, 2])
    np.testing.assert_array_equal(rows.indices, [0, 1])
    assert np.shares_memory(rows.data, matrix.data)


def test_a_matrix_of_zeros_and_rows_without_values_pass():
    assert as_rows(sp.csr_array((3, 2))).rows.data.size == 0
    X = np.array([[0, 0], [0, 5.0], [0, 0]])
    np.testing.assert_array_equal(dense(as_rows(sp.csr_array(X))), X)


def test_a_sparse_integer_that_would_be_rounded_is_named_with_its_place():
    matrix = sp.coo_array(([1, 2**53 + 1], ([0, 2], [1, 3])), shape=(4, 5))
    with pytest.raises(DataTypeError, match="X at row 2, column 3 is 9007199254740993"):
        as_rows(matrix)


def break_csr(**changes):
    matrix = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]]))
    for attribute, value in changes.items():
        setattr(matrix, attribute, np.asarray(value))
    return matrix


@pytest.mark.parametrize(
    "changes, found",
    [
        ({"indices": [0, 1, 1, 3]}, "runs from 0 to 3, but must lie in 0 … 2"),
        ({"indices": [0, 1, 1, -1]}, "runs from -1 to 1"),
        ({"indptr": [0, 3, 2]}, "falls after entry 1"),
        ({"indptr": [1, 2, 4]}, "starts at 1"),
        ({"indptr": [0, 2, 5]}, "ends at 5, but only 4"),
        ({"indptr": [0, 4]}, "2 entries instead of 3"),
        ({"indptr": [0, -5, 4]}, "falls after entry 0"),
        ({"data": [1.0, 2.0]}, "ends at 4, but only 2"),
        ({"indices": [0.0, 1.0, 1.0, 2.0]}, "of integers"),
        ({"data": np.ones((4, 2))}, "data has 2 dimensions"),
    ],
)
def test_malformed_csr_is_an_error_and_not_memory_corruption(changes, found):
    with pytest.raises(InputError, match=r"X is a malformed sparse csr matrix.*coo_array") as error:
        as_rows(break_csr(**changes))
    assert found in str(error.value)


def test_other_malformed_formats_are_errors_too():
    csc = sp.csc_array(np.eye(3))
    csc.indices[1] = 3
    with pytest.raises(InputError, match="malformed sparse csc"):
        as_rows(csc)
    coo = sp.coo_array(np.eye(3))
    coo.coords[0][2] = 100
    with pytest.raises(InputError, match="malformed sparse coo"):
        as_rows(coo)
    coo = sp.coo_array(np.eye(3))
    coo.data = np.ones(2)
    with pytest.raises(InputError, match=r"row numbers of shape \(3,\) for values of shape \(2,\)"):
        as_rows(coo)
    bsr = sp.bsr_array(np.eye(4), blocksize=(2, 2))
    bsr.indices[1] = 2
    with pytest.raises(InputError, match="malformed sparse bsr"):
        as_rows(bsr)


def test_unusual_index_types_are_converted():
    matrix = break_csr(indices=np.array([0, 1, 1, 2], np.int16), indptr=np.array([0, 2, 4], ">i4"))
    features = as_rows(matrix)
    assert_ready(features)
    np.testing.assert_array_equal(dense(features), [[1, 2, 0], [0, 3, 4]])


def test_dtypes_scipy_cannot_sum_say_the_way_out():
    matrix = sp.csr_array((np.ones(2, np.float16), [0, 0], [0, 2]), shape=(1, 2))
    with pytest.raises(DataTypeError, match=r"dtype float16.*X.astype\(float\)"):
        as_rows(matrix)
    assert as_rows(sp.csr_array((np.ones(1, np.float16), [0], [0, 1]))).rows.data.dtype == np.float32


def test_while_another_thread_imports_scipy_nothing_is_sparse(monkeypatch):
    """The module is there then, but has no names yet."""
    monkeypatch.setitem(sys.modules, "scipy.sparse", types.ModuleType("scipy.sparse"))
    assert not is_sparse([[1.0]])
