"""Weights of rows and of classes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import ParameterError, WeightError
from rosenblatt.rows.batch import as_weight, class_weights, single_weight

CLASSES = np.array(["ham", "spam"])
CODES = np.array([0, 0, 0, 1])


def test_no_weights_stay_no_weights():
    assert as_weight(None, 3) is None
    assert class_weights(None, CODES, CLASSES) is None


@pytest.mark.parametrize(
    "weight",
    [
        [1, 0, 2],
        (1, 0, 2),
        np.array([1, 0, 2], np.float32),
        np.array([1, 0, 2], object),
        np.arange(6)[::-1][[4, 5, 3]],
        pd.Series([1, 0, 2], index=[2, 1, 0]),
        pl.Series([1, 0, 2]),
    ],
)
def test_weights_of_every_kind(weight):
    got = as_weight(weight, 3)
    assert got.dtype == np.float64
    assert got.tolist() == [1, 0, 2]
    assert not got.flags.writeable
    assert got.flags.c_contiguous


@pytest.mark.parametrize("weight", [2, 2.0, np.float32(2), np.array(2)])
def test_a_number_is_every_rows_weight(weight):
    assert as_weight(weight, 3).tolist() == [2, 2, 2]


def test_ready_weights_are_neither_copied_nor_changed():
    weight = np.array([1.0, 2.0])
    got = as_weight(weight, 2)
    assert np.shares_memory(got, weight)
    assert weight.flags.writeable


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, -np.inf])
def test_a_bad_weight_is_named_with_its_row(bad):
    with pytest.raises(WeightError, match=f"sample_weight is {bad} at row 2, .*Use 0"):
        as_weight([1, 0, bad, bad], 4)
    with pytest.raises(WeightError, match=f"sample_weight is {bad} at row 0"):
        as_weight(bad, 4)


@pytest.mark.parametrize("weight", [[0, 0], 0, np.zeros(2)])
def test_some_weight_must_be_left(weight):
    with pytest.raises(WeightError, match="sample_weight is zero at every row"):
        as_weight(weight, 2)


@pytest.mark.parametrize("weight", [[1, 2], [1, 2, 3, 4], [[1], [2], [3]], np.ones((3, 3)), []])
def test_the_wrong_shape(weight):
    with pytest.raises(WeightError, match=r"sample_weight has shape .* each of the 3 rows"):
        as_weight(weight, 3)


@pytest.mark.parametrize(
    "weight", [["a", "b", "c"], [1, None, 2], [1j, 0, 1], "abc", np.array([1, "2", 3], object)]
)
def test_what_is_no_number(weight):
    with pytest.raises(WeightError, match="sample_weight"):
        as_weight(weight, 3)


def test_ragged_and_masked_weights():
    with pytest.raises(WeightError, match="flat sequence"):
        as_weight([1, [2, 3]], 2)
    with pytest.raises(WeightError, match="sample_weight is masked at row 1"):
        as_weight(np.ma.masked_array([1.0, 2.0], mask=[0, 1]), 2)


# --- classes ---------------------------------------------------------------------------------------------


def test_a_mapping_fills_up_with_one():
    assert class_weights({"spam": 5}, CODES, CLASSES).tolist() == [1, 5]
    assert class_weights({"spam": 0, "ham": 0.5}, CODES, CLASSES).tolist() == [0.5, 0]
    assert class_weights({}, CODES, CLASSES).tolist() == [1, 1]
    assert class_weights({1: 3, 0: np.float32(2)}, CODES, np.array([0.0, 1.0])).tolist() == [2, 3]


def test_results_are_read_only():
    assert not class_weights({"spam": 5}, CODES, CLASSES).flags.writeable
    assert not class_weights("balanced", CODES, CLASSES).flags.writeable


@given(st.lists(st.integers(0, 3), min_size=1))
def test_balanced_gives_every_class_that_occurs_the_same_total(codes):
    codes = np.array(codes)
    weights = class_weights("balanced", codes, np.arange(4))
    totals = [weights[c] * np.count_nonzero(codes == c) for c in np.unique(codes)]
    np.testing.assert_allclose(totals, len(codes) / len(totals))
    assert all(weights[c] == 1 for c in range(4) if c not in codes)


def test_balanced_is_the_formula():
    np.testing.assert_allclose(class_weights("balanced", CODES, CLASSES), [4 / (2 * 3), 4 / (2 * 1)])


def test_an_unknown_label_is_named():
    with pytest.raises(WeightError, match=r"class_weight names 'eggs', .* classes are \['ham', 'spam'\]"):
        class_weights({"eggs": 2}, CODES, CLASSES)


def test_a_class_that_is_missing_from_the_data_may_have_a_weight():
    assert class_weights({"eggs": 2, "spam": 3}, CODES, CLASSES).tolist() == [1, 3]


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf, "2", None, 1j])
def test_a_bad_class_weight_is_named(bad):
    with pytest.raises(WeightError, match=r"class_weight of 'spam' is .* finite number and not negative"):
        class_weights({"spam": bad}, CODES, CLASSES)


def test_some_class_must_weigh_something():
    with pytest.raises(WeightError, match="class_weight is zero for every class"):
        class_weights({"spam": 0, "ham": 0}, CODES, CLASSES)


@pytest.mark.parametrize("bad", ["even", 2, [1, 2], np.ones(2)])
def test_anything_else_is_refused(bad):
    with pytest.raises(ParameterError, match=r"class_weight is .* must be None, 'balanced' or a dict"):
        class_weights(bad, CODES, CLASSES)


@pytest.mark.parametrize("weight", [-1.0, -1e-300, np.nan, np.inf, -np.inf, True, "1", None, [1.0]], ids=repr)
def test_the_weight_of_one_example_is_a_finite_number_that_is_not_negative(weight):
    with pytest.raises(WeightError, match="sample_weight="):
        single_weight(weight)
