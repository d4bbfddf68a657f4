"""Labels of every kind."""

import enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import LabelError, ShapeError
from rosenblatt.rows.labels import as_labels, encode_labels, is_column, list_classes


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def check(y, classes, codes, dtype=None):
    got, labels = as_labels(y, len(codes))
    assert labels.tolist() == classes
    assert [type(label) for label in labels.tolist()] == [type(label) for label in classes]
    assert got.tolist() == codes
    assert got.dtype == np.int64
    assert not got.flags.writeable
    assert not labels.flags.writeable
    assert labels.ndim == got.ndim == 1
    if dtype is not None:
        assert labels.dtype == dtype


@pytest.mark.parametrize(
    "y, classes, codes, dtype",
    [
        ([3, 1, 3], [1, 3], [1, 0, 1], np.int64),
        ([True, False], [False, True], [1, 0], bool),
        (["b", "a", "b"], ["a", "b"], [1, 0, 1], "<U1"),
        ([b"b", b"a"], [b"a", b"b"], [1, 0], "S1"),
        ([2.0, -1.0, 2.0], [-1.0, 2.0], [1, 0, 1], np.float64),
        ((1, -1), [-1, 1], [1, 0], np.int64),
        ([1, -(10**15)], [-(10**15), 1], [1, 0], np.int64),
        ([2**70, 1], [1, 2**70], [1, 0], object),
        ([2**63 + 1, 2**63, -1], [-1, 2**63, 2**63 + 1], [2, 1, 0], object),
        ([2**53 + 1, 2**53, 0.0], [0.0, 2**53, 2**53 + 1], [2, 1, 0], object),
        (["a\0", "a"], ["a", "a\0"], [1, 0], object),
        ([np.int8(1), 0], [0, 1], [1, 0], np.int64),
        ([(1, 2), (0, 5), (1, 2)], [(0, 5), (1, 2)], [1, 0, 1], object),
        ([("b",), ("a",)], [("a",), ("b",)], [1, 0], object),
        (["b", 1, "b", (2,)], ["b", 1, (2,)], [0, 1, 0, 2], object),
        ([1, "1"], [1, "1"], [0, 1], object),
        ([Colour.RED, Colour.BLUE, Colour.RED], [Colour.RED, Colour.BLUE], [0, 1, 0], object),
        (np.array([5, 7, 5], np.int8), [5, 7], [0, 1, 0], np.int8),
        (np.array([-128, 127], np.int8), [-128, 127], [0, 1], np.int8),
        (np.array([-128, 127] * 200, np.int8), [-128, 127], [0, 1] * 200, np.int8),
        (np.array([2**64 - 1, 2**64 - 2], np.uint64), [2**64 - 2, 2**64 - 1], [1, 0], np.uint64),
        (np.array(["x", "y"], object), ["x", "y"], [0, 1], object),
        (np.array([1, 0], object), [0, 1], [1, 0], object),
        (np.array([1.0, 0.0], np.float32), [0.0, 1.0], [1, 0], np.float32),
        (np.array([[2], [1]]), [1, 2], [1, 0], np.int64),
        ([[2], [1]], [1, 2], [1, 0], np.int64),
        ([["b"], [1]], ["b", 1], [0, 1], object),
        ([1, 1, 1], [1], [0, 0, 0], np.int64),
        (range(3), [0, 1, 2], [0, 1, 2], np.int64),
    ],
)
def test_labels_of_every_kind(y, classes, codes, dtype):
    check(y, classes, codes, dtype)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="string"),
        pd.Series(["b", "a", "b"], dtype=object, index=[5, 5, 5]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype=pd.ArrowDtype(pa.string())),
        pd.Categorical(["b", "a", "b"]),
        pd.Index(["b", "a", "b"]),
        pd.DataFrame({"y": ["b", "a", "b"]}),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a"])),
        pl.DataFrame({"y": ["b", "a", "b"]}),
        pa.array(["b", "a", "b"]),
        pa.chunked_array([["b"], ["a", "b"]]),
        pa.chunked_array([pa.array(["b", "a", "b"]).dictionary_encode()]),
        pa.table({"y": ["b", "a", "b"]}),
    ],
)
def test_series_of_strings(y):
    check(y, ["a", "b"], [1, 0, 1])


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([7, 5, 7]),
        pd.Series([7, 5, 7], dtype="Int64"),
        pd.Series([7, 5, 7], dtype="category"),
        pl.Series([7, 5, 7]),
        pa.array([7, 5, 7]),
        pa.chunked_array([[7, 5], [7]]),
    ],
)
def test_series_of_integers(y):
    check(y, [5, 7], [1, 0, 1], np.int64)


@pytest.mark.parametrize(
    "y", [pd.Series([True, False]), pd.Series([True, False], dtype="boolean"), pl.Series([True, False])]
)
def test_series_of_bools(y):
    check(y, [False, True], [1, 0], bool)


def test_series_of_tuples_and_dates():
    check(pd.Series([(1, 2), (0, 1)]), [(0, 1), (1, 2)], [1, 0], object)
    codes, classes = as_labels(pd.Series(pd.to_datetime(["2021", "2020", "2021"])), 3)
    assert codes.tolist() == [1, 0, 1]
    assert classes.dtype.kind == "M"


@given(st.lists(st.integers(-20, 20) | st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_agree_with_numpy(y):
    codes, classes = as_labels(y, len(y))
    expected, inverse = np.unique(np.array(y, np.int64), return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)


@given(st.lists(st.integers() | st.text() | st.booleans() | st.tuples(st.integers()), min_size=1))
def test_codes_lead_back_to_the_labels(y):
    codes, classes = as_labels(y, len(y))
    assert [classes[code] for code in codes] == y
    assert len(set(classes.tolist())) == len(classes)
    assert set(codes.tolist()) == set(range(len(classes)))


LONG = {
    "rare": np.where(np.arange(1000) % 97 == 5, 1.0, -1.0),
    "met late": np.repeat([2.0, 0.0, 1.0], 400),
    "above all others": np.repeat([0.0, 9.0], [999, 1]),
    "below all others": np.repeat([0.0, -9.0], [999, 1]),
    "between": np.append(np.tile([0.0, 2.0], 400), 1.0),
    "many": np.arange(1000.0) % 40,
    "text": np.array(["ham", "spam", "egg"])[np.arange(1000) % 3],
    "late text": np.array(["b", "c", "a"])[np.minimum(np.arange(1000) // 400, 2)],
    "dates": np.array(["2020-01-01", "2019-01-01"], "M8[D]")[np.arange(1000) % 2],
    "one": np.ones(1000),
}


@pytest.mark.parametrize("y", LONG.values(), ids=LONG)
def test_many_labels_agree_with_numpy(y):
    codes, classes = as_labels(y, len(y))
    expected, positions = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    assert codes.dtype == np.int64
    assert np.array_equal(classes, expected)
    assert np.array_equal(codes, positions)


def test_nan_among_many_labels_is_named_with_its_row():
    y = np.tile([0.0, 1.0], 500)
    y[700] = np.nan
    with pytest.raises(LabelError, match="row 700"):
        as_labels(y, len(y))


def test_the_input_is_left_alone():
    y = np.array([3, 1, 3])
    codes, _ = as_labels(y, 3)
    assert y.flags.writeable
    assert y.tolist() == [3, 1, 3]
    assert not np.shares_memory(codes, y)


# --- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1.5, 1.0],
        np.array([0, 1.5, 2]),
        np.array([0, 1.5, "a"], object),
        [1, 1.5, "a"],
        pl.Series([0, 1.5, 1.0], dtype=pl.Float64),
    ],
)
def test_measurements_are_no_labels(y):
    with pytest.raises(LabelError, match=r"Unknown label type: continuous.* 1.5 at row 1.*this is a classifier"):
        as_labels(y, 3)


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1.0, np.nan],
        np.array([0, 1, np.nan]),
        np.array(["a", "b", np.nan], object),
        pd.Series(["a", "b", None]),
        pd.Series([0.0, 1.0, np.nan]),
        pl.Series([0.0, 1.0, float("nan")]),
        pl.Series([0, 1, None]),
        pa.array([0, 1, None]),
        pd.Series([0, 1, None], dtype="Int64"),
        pd.Series(["a", "b", None], dtype="category"),
    ],
)
def test_nan_is_named_with_its_row(y):
    with pytest.raises(LabelError, match=r"Input y contains NaN, at row 2\. Drop the row"):
        as_labels(y, 3)


@pytest.mark.parametrize(
    "y",
    [
        ["a", "b", None],
        np.array([0, 1, None], object),
        [0, 1, pd.NA],
        ["a", "b", pd.NaT],
        np.array(["2020", "2021", "NaT"], "M8[Y]"),
        pd.Series(pd.to_datetime(["2020", "2021", None])),
        pl.Series(["a", "b", None]),
        pl.Series([True, False, None]),
        pa.chunked_array([["a", "b"], [None]]),
        np.ma.masked_array([0, 1, 2], mask=[0, 0, 1]),
    ],
)
def test_other_missing_labels_are_named_with_their_row(y):
    with pytest.raises(LabelError, match=r"Input y contains a missing label \(.*\), at row 2\. Drop the row"):
        as_labels(y, 3)


def test_infinity_is_refused():
    with pytest.raises(LabelError, match="Input y contains infinity, at row 1"):
        as_labels([0.0, -np.inf], 2)


def test_no_labels_at_all():
    with pytest.raises(LabelError, match="requires y to be passed, but the target y is None"):
        as_labels(None, 3)


@pytest.mark.parametrize("y", [["a", ["b"]], ["a", {"b": 1}], ["a", np.ones(2)], np.array(["a", {}], object)])
def test_labels_that_are_not_hashable_are_named_with_their_row(y):
    with pytest.raises(LabelError, match="at row 1, which is not hashable"):
        as_labels(y, 2)


def test_rows_of_different_lengths_are_labels_that_are_not_hashable():
    with pytest.raises(LabelError, match=r"the label \[1\] \(list\) at row 0"):
        as_labels([[1], [1, 2]], 2)


@pytest.mark.parametrize(
    "y",
    [
        np.eye(2),
        [[0, 1], [1, 0]],
        [["a", "b"], ["c", "d"]],
        np.zeros((2, 1, 1)),
        pd.DataFrame({"a": [0, 1], "b": [1, 0]}),
        pl.DataFrame({"a": [0, 1], "b": [1, 0]}),
    ],
)
def test_more_than_one_column_is_refused(y):
    with pytest.raises(ShapeError, match=r"y must be one label a row.*[Mm]ultilabel.*not supported"):
        as_labels(y, 2)


@pytest.mark.parametrize("y", [3, "text", {1, 2}])
def test_what_is_no_sequence_is_refused(y):
    with pytest.raises(ShapeError, match=r"y must be one label a row, got one (int|str|set)\. Pass a list"):
        as_labels(y, 2)


def test_a_generator_of_labels_is_recognised():
    with pytest.raises(ShapeError, match=r"got one generator.*pass list\(y\)"):
        as_labels((label for label in (0, 1)), 2)


@pytest.mark.parametrize("y", [[0.5, 1.5, 0.5], np.array([0.5, 1.5, 0.5]), pl.Series([0.5, 1.5, 0.5])])
def test_two_floats_are_labels_even_if_they_are_not_whole(y):
    codes, classes = as_labels(y, 3)
    assert codes.tolist() == [0, 1, 0]
    assert classes.tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        ([5, 2**64 - 1], np.uint64),
        ([np.int64(5), np.uint64(2**64 - 1)], np.uint64),
        ([np.uint64(5), 2**63], np.uint64),
        ([-1, 2**63], object),
        ([0, 2**70], object),
    ],
)
def test_large_integers_do_not_become_floats(y, dtype):
    codes, classes = as_labels(y, 2)
    assert codes.tolist() == [0, 1]
    assert classes.dtype == dtype
    assert [int(label) for label in classes] == [int(label) for label in y]


def test_columns_passed_as_rows_are_recognised():
    with pytest.raises(ShapeError, match=r"X has 2 rows but y has 3 labels.* did you mean X\.T\?"):
        as_labels([0, 1, 0], 2, 3)
    with pytest.raises(ShapeError, match="Each row needs exactly one label"):
        as_labels([0, 1, 0], 2, 4)


@pytest.mark.parametrize("y", [[0] * 9, np.zeros(9, int), pl.Series([0] * 9), [("a", "b")] * 9])
def test_the_wrong_number_of_labels(y):
    with pytest.raises(ShapeError, match=r"X has 10 rows but y has 9 labels .inconsistent numbers of samples"):
        as_labels(y, 10)
    with pytest.raises(ShapeError, match="y has 0 labels"):
        as_labels([], 1)


def test_lazy_frames_are_refused():
    with pytest.raises(LabelError, match=r"collect\(\) it first"):
        as_labels(pl.LazyFrame({"y": [1]}), 1)


# --- columns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [np.zeros((3, 1)), [[1], [2]], pd.DataFrame({"y": [1]}), pl.DataFrame({"y": [1]})])
def test_a_column_is_told(y):
    assert is_column(y) is True


@pytest.mark.parametrize(
    "y",
    [np.zeros(3), np.zeros((3, 2)), [1, 2], [(1,), (2,)], [[1], [1, 2]], [], pd.Series([1]), None, "a", 3],
)
def test_what_is_no_column(y):
    assert is_column(y) is False


# --- known classes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y, classes, codes",
    [
        (["b", "a", "b"], np.array(["a", "b", "c"]), [1, 0, 1]),
        (pd.Series(["c"]), np.array(["a", "b", "c"]), [2]),
        ([1.0, 0.0], np.array([0, 1]), [1, 0]),
        ([True, False], np.array([0, 1]), [1, 0]),
        ([(1, 2)], as_labels([(0, 0), (1, 2)], 2)[1], [1]),
        (["b", 1], as_labels(["b", 1], 2)[1], [0, 1]),
        ([[7], [5]], np.array([5, 7]), [1, 0]),
        ([2, 9, 2], np.array([9, 2]), [1, 0, 1]),
    ],
)
def test_labels_are_numbered_by_known_classes(y, classes, codes):
    got = encode_labels(y, classes, len(codes))
    assert got.tolist() == codes
    assert got.dtype == np.int64
    assert not got.flags.writeable


def test_an_unknown_label_is_named_with_its_row_and_the_known_classes():
    with pytest.raises(LabelError, match=r"the label 'x' at row 2, .* known classes \['a', 'b'\]\. "):
        encode_labels(["b", "a", "x", "w"], np.array(["a", "b"]), 4)
    with pytest.raises(LabelError, match=r"the label '1' at row 0, .* \[1, 2\]"):
        encode_labels(["1"], np.array([1, 2]), 1)


def test_streams_refuse_what_batches_refuse():
    classes = np.array([0, 1])
    with pytest.raises(LabelError, match="continuous"):
        encode_labels([0.5, 0.7, 0.9], classes, 3)
    with pytest.raises(LabelError, match="not one of the known classes"):
        encode_labels([0.5], classes, 1)
    with pytest.raises(LabelError, match="NaN"):
        encode_labels([np.nan], classes, 1)
    with pytest.raises(LabelError, match="y is None"):
        encode_labels(None, classes, 1)
    with pytest.raises(ShapeError, match="X has 2 rows but y has 1 labels"):
        encode_labels([0], classes, 2)


@given(st.lists(st.integers(0, 9) | st.sampled_from("abc"), min_size=1))
def test_encoding_by_its_own_classes_gives_the_same_codes(y):
    codes, classes = as_labels(y, len(y))
    np.testing.assert_array_equal(encode_labels(y, classes, len(y)), codes)


def test_long_lists_of_classes_are_cut():
    assert list_classes(np.arange(3)) == "[0, 1, 2]"
    assert list_classes(np.arange(100)).endswith("9 and 90 more]")
