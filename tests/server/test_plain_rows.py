"""Plain rows have the features that the table of them has, to the bit; all others are left to the table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.models.files import take_apart
from rosenblatt.rows.features import as_rows
from rosenblatt.server.served_model import PlainRows, plain_arrays
from tests.server.serving import quiet

NAMES = ["a", "b", "c"]
NUMBER = st.one_of(st.floats(-1e9, 1e9), st.integers(-(2**40), 2**40))


def preparation(**how):
    from sklearn.pipeline import make_pipeline

    rows = [{"a": 1.0, "b": 2.5, "c": -3.0}, {"a": 0.5, "b": 0.0, "c": 4.0}, {"a": 1.0, "b": None, "c": 4.0}]
    model = quiet(lambda: make_pipeline(rb.TableEncoder(**how), rb.Perceptron()).fit(rows, ["x", "y", "y"]))
    return take_apart(model)[0]


PREPARATIONS = [preparation(), preparation(scale=True), preparation(missing="mean")]


@given(st.sampled_from(PREPARATIONS), st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, NUMBER)), min_size=1))
def test_the_same_features(prepared, rows):
    read, plain = prepared.read(rows), PlainRows(prepared).read(rows)
    assert plain is not None
    assert plain.rows.tobytes() == read.rows.tobytes()
    assert plain.rows.dtype == read.rows.dtype


@pytest.mark.parametrize(
    "row",
    [
        {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0, "c": None}, {"a": 1.0, "b": "2", "c": 3.0}, [1.0, 2.0, 3.0],
        {"a": 1.0, "b": True, "c": 3.0}, {"a": 1.0, "b": 2**60 + 1, "c": 3.0}, {"a": 1.0, "b": 2.0, "d": 3.0},
        {"a": 1.0, "b": float("nan"), "c": 3.0}, {"a": 1.0, "b": 10**400, "c": 3.0}, "text",
        {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0},
    ],
)  # fmt: skip
def test_others_are_left_to_the_table(row):
    assert PlainRows(PREPARATIONS[0]).read([row]) is None


def test_other_preparations_are_left_to_the_table():
    assert PlainRows(preparation(categorical=["c"])).read([{"a": 1.0, "b": 2.0, "c": 3.0}]) is None


@given(st.lists(st.lists(NUMBER, min_size=3, max_size=3), min_size=1))
def test_arrays_have_the_same_features(rows):
    plain, read = plain_arrays(rows, 3), as_rows(rows)
    assert (plain.rows.tobytes(), plain.rows.dtype) == (read.rows.tobytes(), read.rows.dtype)


@pytest.mark.parametrize("value", [None, "1", True, 2**60 + 1, 10**400, float("nan"), float("inf")])
def test_other_arrays_need_a_closer_look(value):
    assert plain_arrays([[1.0, 2.0], [1.0, value]], 2) is None
    assert plain_arrays([[1.0, 2.0], [1.0]], 2) is None
    assert plain_arrays([[1.0, 2.0], {"a": 1.0, "b": 2.0}], 2) is None
