"""Dataframes of pandas, polars and pyarrow."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError, ShapeError
from rosenblatt.rows.features import as_rows, require_finite

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=sorted(MAKERS))
def frame(request):
    """Makes a frame from a dict of columns, in each library."""
    return MAKERS[request.param]


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    ),
    st.sampled_from(sorted(MAKERS)),
)
def test_same_values_as_the_array(X, library):
    names = tuple(f"f{j}" for j in range(X.shape[1]))
    features = as_rows(MAKERS[library](dict(zip(names, X.T.copy(), strict=True))))
    assert features.names == names
    assert (features.n_rows, features.n_features) == X.shape
    assert features.rows.dtype == X.dtype
    assert features.rows.tobytes() == X.tobytes()
    assert features.rows.flags.c_contiguous
    assert not features.rows.flags.writeable


def test_more_rows_than_one_block(frame):
    X = np.arange(3.0 * 10_001).reshape(-1, 3)
    features = as_rows(frame({"a": X[:, 0], "b": X[:, 1].astype(np.int64), "c": X[:, 2].astype(np.float32)}))
    np.testing.assert_array_equal(features.rows, X)


def test_bools_integers_and_floats_mix_to_float64(frame):
    columns = {
        "flag": np.array([True, False]),
        "small": np.array([1, -2], np.int8),
        "count": np.array([3, 2**60], np.int64),
        "big": np.array([1, 2**63], np.uint64),
        "single": np.array([0.1, 0.5], np.float32),
        "double": np.array([0.1, 0.5]),
    }
    features = as_rows(frame(columns))
    assert features.names == tuple(columns)
    assert features.rows.dtype == np.float64
    for j, column in enumerate(columns.values()):
        np.testing.assert_array_equal(features.rows[:, j], column.astype(np.float64))


def test_single_precision_stays_single_only_if_all_of_it_is(frame):
    single = np.ones(2, np.float32)
    assert as_rows(frame({"a": single, "b": single})).rows.dtype == np.float32
    assert as_rows(frame({"a": single, "b": np.ones(2)})).rows.dtype == np.float64
    assert as_rows(frame({"a": single, "b": np.ones(2, np.int8)})).rows.dtype == np.float64


def test_half_precision_becomes_single():
    halves = {"a": np.array([1, 2.5], np.float16), "b": np.array([3, 4], np.float16)}
    assert as_rows(pd.DataFrame(halves)).rows.dtype == np.float32
    assert as_rows(pa.table(halves)).rows.dtype == np.float32


def test_the_frame_is_left_alone():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    before = X.copy()
    features = as_rows(X)
    pd.testing.assert_frame_equal(X, before)
    X.loc[0, "a"] = 7.0  # still writable
    assert features.rows[0, 0] == 1.0


def test_every_column_of_no_numbers_is_named_with_its_type(frame):
    X = frame(
        {
            "age": [1.0, 2.0],
            "city": ["Bern", "Genf"],
            "when": [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)],
        }
    )
    with pytest.raises(DataTypeError) as error:
        as_rows(X, name="Z")
    message = str(error.value)
    assert message.startswith("Z has columns that are not numbers: 'city' (String), 'when' (Datetime")
    assert "age" not in message
    assert "TableEncoder" in message
    assert "drop" in message


@pytest.mark.parametrize(
    "X, named",
    [
        (pd.DataFrame({"c": pd.Categorical(["x", "y"])}), "'c' (Categorical)"),
        (pd.DataFrame({"c": pd.Categorical([1, 2])}), "'c' (Categorical)"),
        (pd.DataFrame({"o": np.array([1, "q"], object)}), "row 1, column 0 ('o') is 'q' (str)"),
        (pd.DataFrame({"z": [1j, 2]}), "'z' (complex128)"),
        (pd.DataFrame({"t": pd.to_timedelta([1, 2])}), "'t' (Duration"),
        (pd.DataFrame({3: ["a", "b"]}), "3 (String)"),
        (pl.DataFrame({"c": pl.Series(["x", "y"], dtype=pl.Categorical)}), "'c' (Categorical)"),
        (pl.DataFrame({"l": [[1], [2]]}), "'l' (List"),
        (pl.DataFrame({"w": pl.Series([1, 2], dtype=pl.Int128)}), "'w' (Int128)"),
        (pa.table({"c": pa.array(["a", "b"]).dictionary_encode()}), "'c' (Categorical)"),
    ],
)
def test_other_columns_that_are_refused(X, named):
    with pytest.raises(DataTypeError) as error:
        as_rows(X)
    assert named in str(error.value)


def test_a_null_is_named_with_its_column_and_row(frame):
    X = frame(
        {
            "a": pd.array([1, 2, 3], dtype="Int64") if frame is pd.DataFrame else [1, 2, 3],
            "b": [1.5, 2.5, None],
        }
    )
    with pytest.raises(NonFiniteError, match=r"X contains NaN\. .* row 2, column 1 \('b'\) is missing.*Impute"):
        as_rows(X)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"n": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"n": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"n": pd.array([1.5, None], dtype=pd.ArrowDtype(pa.float64()))}),
        pd.DataFrame({"n": [1.0, np.nan]}),
        pl.DataFrame({"n": [True, None]}),
        pl.DataFrame({"n": [1, None]}),
        pa.table({"n": [1, None]}),
        pa.table({"n": [True, None]}),
    ],
)
def test_every_kind_of_null_is_found(X):
    with pytest.raises(NonFiniteError, match=r"row 1, column 0 \('n'\)"):
        as_rows(X)


def test_a_column_of_nothing_but_nulls_is_refused():
    for X in (pl.DataFrame({"n": [None, None]}), pa.table({"n": pa.nulls(2)})):
        with pytest.raises(InputError, match="'n'"):
            as_rows(X)


def test_a_nan_that_is_no_null_is_named_with_its_column_by_the_finiteness_check():
    features = as_rows(pl.DataFrame({"a": [1.0, 2.0], "b": [1.0, float("nan")]}))
    with pytest.raises(NonFiniteError, match=r"row 1, column 1 \('b'\) is NaN"):
        require_finite(features)


def test_nullable_columns_without_nulls_are_numbers():
    X = pd.DataFrame(
        {
            "i": pd.array([1, 2], dtype="Int64"),
            "b": pd.array([True, False], dtype="boolean"),
            "f": pd.array([0.5, 1.5], dtype="Float32"),
            "a": pd.array([3, 4], dtype=pd.ArrowDtype(pa.int64())),
        }
    )
    np.testing.assert_array_equal(as_rows(X).rows, [[1, 1, 0.5, 3], [2, 0, 1.5, 4]])


def test_sparse_columns_of_pandas_are_made_dense():
    X = pd.DataFrame({"s": pd.arrays.SparseArray([0.0, 1.0]), "d": [2.0, 3.0]})
    np.testing.assert_array_equal(as_rows(X).rows, [[0, 2], [1, 3]])


def test_an_integer_that_would_be_rounded_is_named_with_its_column(frame):
    X = frame({"a": [1.5, 2.5], "id": [7, 2**53 + 1]})
    with pytest.raises(DataTypeError, match=r"row 1, column 1 \('id'\) is 9007199254740993"):
        as_rows(X)


def test_names_are_kept_only_if_all_are_strings():
    assert as_rows(pd.DataFrame([[1, 2]])).names is None
    assert as_rows(pd.DataFrame([[1, 2]], columns=["a", 1])).names is None
    assert as_rows(pd.DataFrame([[1, 2]], columns=["a", "b"])).names == ("a", "b")


def test_the_index_of_pandas_does_not_matter():
    X = pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 7])
    np.testing.assert_array_equal(as_rows(X).rows, [[1], [2]])


def test_repeated_names_are_refused():
    for X in (pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])):
        with pytest.raises(InputError, match=r"X has columns of the same name. Rename them"):
            as_rows(X)


def test_lazy_frames_are_refused():
    with pytest.raises(InputError, match=r"X is a lazy frame.*collect\(\) it first"):
        as_rows(pl.LazyFrame({"a": [1]}))


def test_empty_frames_are_refused(frame):
    with pytest.raises(ShapeError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 1\)\)"):
        as_rows(frame({"a": np.array([], float)}))


def test_a_frame_without_columns_is_refused():
    with pytest.raises(ShapeError, match=r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required\."):
        as_rows(pd.DataFrame(index=[0, 1]))


@pytest.mark.parametrize("X", [pd.Series([1, 2]), pl.Series([1, 2]), pa.array([1, 2]), pa.chunked_array([[1, 2]])])
def test_a_series_is_one_dimensional(X):
    with pytest.raises(ShapeError, match="Reshape your data"):
        as_rows(X)


def test_chunked_columns_are_joined():
    X = pa.table({"a": pa.chunked_array([[1.0, 2.0], [3.0]]), "b": pa.chunked_array([[4], [5, 6]])})
    np.testing.assert_array_equal(as_rows(X).rows, [[1, 4], [2, 5], [3, 6]])
    np.testing.assert_array_equal(
        as_rows(pl.concat([pl.from_arrow(X), pl.from_arrow(X)])).rows[3:], as_rows(X).rows
    )


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": np.array([1, 0.25], object), "b": [2, True]}, dtype=object),
        pd.DataFrame({"a": [Decimal(1), Decimal("0.25")], "b": [Decimal(2), Decimal("1.0")]}),
        pl.DataFrame({"a": [Decimal(1), Decimal("0.25")], "b": [2, 1]}),
        pa.table({"a": pa.array([Decimal(1), Decimal("0.25")]), "b": [2.0, 1.0]}),
    ],
)
def test_object_columns_and_decimals_are_read_as_object_arrays_are(X):
    assert as_rows(X).rows.tolist() == [[1.0, 2.0], [0.25, 1.0]]


def test_a_decimal_becomes_the_float_that_a_file_would_give():
    X = pd.DataFrame({"price": [Decimal("0.1"), Decimal("19.99")]})
    assert as_rows(X).rows.tolist() == [[0.1], [19.99]]
    assert as_rows(np.array([[Decimal("0.1")]])).rows.tolist() == [[0.1]]
    with pytest.raises(DataTypeError, match=f"{2**53 + 1}, which float64 would round"):
        as_rows(pd.DataFrame({"id": [Decimal(2**53 + 1)]}))
