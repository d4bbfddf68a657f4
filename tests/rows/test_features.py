"""Dense tables become rows that the loops can read, or an error that says why not."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError, ShapeError
from rosenblatt.rows.features import as_rows, require_finite
from tests.rows.tables import assert_ready, matrices


@given(matrices)
def test_same_values_however_they_are_held(X):
    held = [X.tolist(), tuple(map(tuple, X.tolist())), np.asfortranarray(X), X.astype(X.dtype.newbyteorder())]
    held += [np.repeat(X, 2, axis=1)[:, ::2], X.astype(object), X.astype(np.longdouble), X.view(np.matrix)]
    for other in [X, *held]:
        features = as_rows(other)
        assert_ready(features)
        assert features.rows.shape == X.shape == (features.n_rows, features.n_features)
        assert features.rows.tobytes() == X.astype(features.rows.dtype).tobytes()
        assert features.names is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_copy_of_what_is_ready(dtype):
    X = np.arange(6, dtype=dtype).reshape(3, 2)
    rows = as_rows(X).rows
    assert rows.dtype == dtype
    assert np.shares_memory(rows, X)


def test_a_row_slice_of_a_ready_array_is_not_copied():
    X = np.arange(12.0).reshape(6, 2)
    assert np.shares_memory(as_rows(X[2:4]).rows, X)


def test_a_memory_map_is_not_read_into_memory(tmp_path):
    X = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=(3, 2))
    features = as_rows(X)
    assert_ready(features)
    assert np.shares_memory(features.rows, X)


@pytest.mark.parametrize(
    "X", [np.arange(6.0).reshape(3, 2), np.arange(6).reshape(3, 2), np.asfortranarray(np.eye(3)), [[1, 2]]]
)
def test_the_input_is_left_alone(X):
    before = np.array(X)
    flags = X.flags.writeable if isinstance(X, np.ndarray) else None
    with pytest.raises(ValueError, match="read-only"):
        as_rows(X).rows[0, 0] = 7
    np.testing.assert_array_equal(X, before)
    if flags is not None:
        assert X.flags.writeable == flags
        assert X.dtype == before.dtype


def test_a_misaligned_array_is_aligned():
    raw = np.zeros(8 * 6 + 1, np.uint8)
    X = raw[1:].view(np.float64).reshape(3, 2)
    assert not X.flags.aligned
    assert_ready(as_rows(X))


@pytest.mark.parametrize(
    "given_dtype, stored",
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (">f4", np.float32),
        (np.float64, np.float64),
        (">f8", np.float64),
        (np.longdouble, np.float64),
        (bool, np.float64),
        (np.int8, np.float64),
        (np.uint8, np.float64),
        (np.int32, np.float64),
        (np.uint32, np.float64),
        (np.int64, np.float64),
        (np.uint64, np.float64),
        (object, np.float64),
    ],
)
def test_what_each_dtype_becomes(given_dtype, stored):
    features = as_rows(np.array([[0, 1], [1, 0]]).astype(given_dtype))
    assert_ready(features)
    assert features.rows.dtype == stored
    np.testing.assert_array_equal(features.rows, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    "value, dtype",
    [
        (2**53 + 1, np.int64),
        (-(2**53) - 1, np.int64),
        (2**63 - 1, np.int64),
        (2**64 - 1, np.uint64),
        (2**53 + 1, np.uint64),
        (2**53 + 1, object),
        (np.int64(2**53 + 1), object),
        (10**400, object),
        (Fraction(1, 3), object),
        (np.longdouble(1) + np.finfo(np.longdouble).eps, np.longdouble),
        (np.finfo(np.longdouble).max, np.longdouble),
    ],
)
def test_numbers_that_would_be_rounded_are_refused_with_their_place(value, dtype):
    if dtype is np.longdouble and np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:
        pytest.skip("longdouble is float64 on this system")
    X = np.zeros((3, 2), dtype)
    X[1, 1] = X[2, 0] = value
    for held in (X, np.asfortranarray(X)):
        with pytest.raises(DataTypeError, match="X at row 1, column 1 is") as error:
            as_rows(held)
        assert str(value) in str(error.value)
        assert "explicit conversion" in str(error.value)


def test_an_integer_too_long_for_python_to_print_is_still_an_input_error():
    with pytest.raises(DataTypeError, match="row 0, column 0 is an integer of 16610 bits"):
        as_rows([[10**5000]])


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 63))
def test_integers_pass_exactly_if_float64_holds_them(value, shift):
    value = value >> shift << shift
    X = np.array([[value]])
    if int(float(value)) == value:
        assert int(as_rows(X).rows[0, 0]) == value
    else:
        with pytest.raises(DataTypeError):
            as_rows(X)


@pytest.mark.parametrize("value", [2**53, -(2**53), 2**60, -(2**63), 3 * 2**61 // 2 * 2])
def test_large_integers_that_float64_holds_pass(value):
    assert int(as_rows(np.array([[1, value]])).rows[0, 1]) == value
    assert int(as_rows(np.array([[1, value]], object)).rows[0, 1]) == value


def test_a_long_double_of_nan_and_infinity_passes_to_the_finiteness_check():
    rows = as_rows(np.array([[np.nan, np.inf, -np.inf]], np.longdouble)).rows
    np.testing.assert_array_equal(rows, [[np.nan, np.inf, -np.inf]])


def test_lists_are_not_rounded_by_numpy_behind_our_back():
    for X in ([[2**53 + 1, 0.5]], [[2**63 + 1, -1]], [[1, 2.5], [3, -(2**53) - 1]]):
        with pytest.raises(DataTypeError, match="would round"):
            as_rows(X)
    np.testing.assert_array_equal(as_rows([[1e300, 2**60, -1]]).rows, [[1e300, 2.0**60, -1]])


def test_a_list_of_float32_rows_stays_float32():
    assert as_rows([np.ones(2, np.float32), np.zeros(2, np.float32)]).rows.dtype == np.float32


def test_anything_with_an_array_interface_is_read():
    class Held:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2]])

    np.testing.assert_array_equal(as_rows(Held()).rows, [[1, 2]])


@pytest.mark.parametrize("X", [np.ones((2, 2), complex), [[1j]], sp.csr_array(np.eye(2) * 1j)])
def test_complex_is_refused(X):
    with pytest.raises(DataTypeError, match=r"Complex data not supported.*Z.real"):
        as_rows(X, name="Z")


@pytest.mark.parametrize(
    "X",
    [
        np.array([["1", "2"]]),
        np.array([[b"1"]]),
        np.array([["2020-01-01"]], "M8[D]"),
        np.array([[1]], "m8[s]"),
        np.zeros((2, 2), [("a", float)]),
    ],
)
def test_arrays_of_no_numbers_are_refused(X):
    with pytest.raises(DataTypeError, match=r"X has dtype .*must hold real numbers.*X.astype\(float\)") as error:
        as_rows(X)
    assert str(X.dtype) in str(error.value)


@pytest.mark.parametrize("value", ["3.5", "x", None, {"foo": "bar"}, b"1", 1j, [1]])
def test_objects_that_are_no_numbers_are_named_with_their_place(value):
    X = np.ones((3, 2), object)
    X[2, 1] = value
    # The first words are what scikit-learn's check_dtype_object looks for.
    with pytest.raises(DataTypeError, match=r"argument must be .* string.* number") as error:
        as_rows(X)
    assert "row 2, column 1" in str(error.value)
    assert repr(value) in str(error.value)
    assert isinstance(error.value, TypeError)


def test_text_in_a_list_is_named_with_its_place():
    with pytest.raises(DataTypeError, match=r"row 1, column 0 is '3' \(str\)"):
        as_rows([[1, 2], ["3", 4]])


def test_objects_that_are_numbers_pass():
    X = np.array(
        [[True, 1, 2.5, np.float32(0.1), np.int8(3), Fraction(1, 4), np.bool_(True), float("nan")]], object
    )
    expected = [1, 1, 2.5, float(np.float32(0.1)), 3, 0.25, 1, np.nan]
    np.testing.assert_array_equal(as_rows(X).rows[0], expected)


def test_masked_values_are_refused_and_unmasked_arrays_pass():
    X = np.ma.masked_array(np.ones((3, 2)), mask=[[0, 0], [0, 1], [1, 0]])
    with pytest.raises(InputError, match=r"X has masked values, the first at row 1, column 1.*X.filled"):
        as_rows(X)
    features = as_rows(np.ma.masked_array(np.ones((3, 2))))
    assert_ready(features)


# --- shapes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.zeros, lambda shape: sp.csr_array(shape)])
def test_empty_tables_are_refused_in_scikit_learns_words(make):
    with pytest.raises(ShapeError) as error:
        as_rows(make((0, 3)))
    assert "Found array with 0 sample(s)" in str(error.value)
    assert "minimum of 1 is required" in str(error.value)
    with pytest.raises(ShapeError) as error:
        as_rows(make((3, 0)))
    assert "0 feature(s) (shape=(3, 0)) while a minimum of 1 is required." in str(error.value)


@pytest.mark.parametrize("X", [[1, 2, 3], np.ones(3), [], sp.coo_array(np.ones(3)), range(3)])
def test_one_dimension_is_refused_with_both_ways_out(X):
    with pytest.raises(ShapeError, match=r"Reshape your data: X.reshape\(-1, 1\).*X.reshape\(1, -1\)"):
        as_rows(X)


@pytest.mark.parametrize("X", [3.0, np.array(3.0), np.ones((2, 2, 2)), "text", None, object(), {1: 2}])
def test_other_dimensions_are_refused(X):
    with pytest.raises(ShapeError, match="Expected 2D X"):
        as_rows(X)


def test_ragged_lists_are_refused():
    with pytest.raises(ShapeError, match="X is not a table: its rows must all be as long"):
        as_rows([[1, 2], [3]])


@given(matrices, st.sampled_from([np.nan, np.inf, -np.inf]), st.data(), st.booleans())
def test_the_first_value_that_is_not_finite_is_named(X, value, data, sparse):
    hold = sp.csr_array if sparse else np.array
    require_finite(as_rows(hold(X)))
    row = data.draw(st.integers(0, X.shape[0] - 1))
    column = data.draw(st.integers(0, X.shape[1] - 1))
    X[row, column] = value
    with pytest.raises(NonFiniteError) as error:
        require_finite(as_rows(hold(X)), name="Z")
    message = str(error.value)
    assert f"row {row}, column {column} is" in message
    assert f"is {'NaN' if np.isnan(value) else value};" in message
    assert ("Input Z contains NaN." if np.isnan(value) else "Input Z contains infinity") in message
    assert "Impute" in message


@pytest.mark.parametrize("position", [0, 2**16 - 1, 2**16, 3 * 2**16 + 5, 200_000 * 2 - 1])
def test_every_block_is_looked_at(position):
    X = np.ones((200_000, 2))
    X.flat[position] = np.nan
    row, column = divmod(position, 2)
    with pytest.raises(NonFiniteError, match=f"row {row}, column {column} "):
        require_finite(as_rows(X))


def test_opposite_infinities_do_not_cancel():
    with pytest.raises(NonFiniteError, match="row 0, column 1 is -inf"):
        require_finite(as_rows([[1, -np.inf], [np.inf, 2]]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sum_that_overflows_is_no_error(dtype):
    X = np.full((4, 3), np.finfo(dtype).max)
    require_finite(as_rows(X))
    X[3, 0] = -np.inf
    with pytest.raises(NonFiniteError, match="row 3, column 0 is -inf"):
        require_finite(as_rows(X))


def test_rows_without_values_are_skipped_in_naming_a_sparse_place():
    X = sp.csr_array(np.array([[0, 0], [0, 0], [0, np.nan], [0, 0]]))
    with pytest.raises(NonFiniteError, match="row 2, column 1 "):
        require_finite(as_rows(X))


def test_importing_the_data_layer_is_light():
    heavy = ["sklearn", "numba", "pandas", "polars", "pyarrow", "narwhals", "scipy", "numpy.ma"]
    code = (
        "import sys, rosenblatt.rows.batch as b; b.as_batch([[1, 2], [3, 4]], [0, 1], [1, 2]);"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([{"a": 1}, {"a": 2}], DataTypeError, r"Each row of X is a dict. Pass pandas.DataFrame\(X\)"),
        (["some text", "more text"], DataTypeError, "Each row of X is a text. .*CountVectorizer"),
        (np.array(["some text", "more text"]), DataTypeError, "Each row of X is a text"),
        (([i] for i in range(3)), ShapeError, r"got a generator. .*pass list\(X\)"),
        ({"a": [1, 2]}, ShapeError, r"got a dict. For a dict of columns pass pandas.DataFrame\(X\)"),
    ],
)
def test_what_people_pass_instead_of_a_table_gets_a_hint(X, error, message):
    with pytest.raises(error, match=message):
        as_rows(X)


def test_a_part_of_sparse_rows_is_the_same_rows_as_a_matrix():
    X = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 5]]))
    assert as_rows(X).part(slice(1, 3)).native().toarray().tolist() == X.toarray()[1:].tolist()
    assert as_rows(X).part(slice(1, 2)).dense().tolist() == [[0.0, 3.0, 0.0]]
