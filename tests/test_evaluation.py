"""Counts and rates of predictions, against scikit-learn's."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from rosenblatt.evaluation import Evaluation, evaluate, wilson
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError


@st.composite
def predictions(draw):
    K = draw(st.integers(2, 5))
    pairs = draw(st.lists(st.tuples(st.integers(0, K - 1), st.integers(0, K - 1)), min_size=1, max_size=30))
    truth, predicted = np.array(pairs).T
    return truth, predicted, [f"class {c}" for c in range(K)]


@given(predictions())
def test_equals_scikit_learn(made):
    truth, predicted, classes = made
    found = evaluate(truth, predicted, classes)
    codes = range(len(classes))
    assert_array_equal(found.confusion, metrics.confusion_matrix(truth, predicted, labels=codes))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted), rel=1e-15)
    theirs = metrics.precision_recall_fscore_support(truth, predicted, labels=codes, zero_division=0.0)
    for ours, expected in zip((found.precision, found.recall, found.f1, found.support), theirs, strict=True):
        assert_allclose(ours, expected, rtol=1e-14)
    macro = metrics.f1_score(truth, predicted, labels=codes, average="macro", zero_division=0.0)
    assert found.macro_f1 == pytest.approx(macro, rel=1e-14)
    if len(classes) == 2:
        positive = metrics.f1_score(truth, predicted, pos_label=1, zero_division=0.0)
        assert found.f1_positive == pytest.approx(positive, rel=1e-14)
    else:
        assert found.f1_positive is None


@given(predictions())
def test_undefined_rates_are_those_scikit_learn_cannot_define(made):
    truth, predicted, classes = made
    found = evaluate(truth, predicted, classes)
    codes = range(len(classes))
    theirs = metrics.precision_recall_fscore_support(truth, predicted, labels=codes, zero_division=np.nan)
    for name, expected in zip(("precision", "recall", "f1"), theirs, strict=False):
        assert_array_equal(found.undefined[name], np.isnan(expected))


@given(predictions(), st.integers(0, 30))
def test_parts_merge_to_the_whole(made, cut):
    truth, predicted, classes = made
    parts = [evaluate(truth[part], predicted[part], classes) for part in (slice(cut), slice(cut, None))]
    whole = evaluate(truth, predicted, classes)
    assert_array_equal(parts[0].merged(parts[1]).confusion, whole.confusion)


@given(st.integers(0, 200), st.integers(1, 200))
def test_wilson_solves_its_equation(right, more):
    """Its ends are where the share is 1.96 standard deviations away, by their own deviation."""
    n = right + more - 1
    low, high = wilson(right, n)
    if n == 0:
        assert (low, high) == (0.0, 1.0)
        return
    share = right / n
    assert 0.0 <= low <= share <= high <= 1.0
    for end in (low, high):
        if 0.0 < end < 1.0:
            assert (share - end) ** 2 == pytest.approx(1.959963984540054**2 * end * (1 - end) / n, abs=1e-12)


def test_other_classes_do_not_merge():
    with pytest.raises(LabelError, match=r"\['a', 'b'\] and \['b', 'a'\] differ"):
        evaluate([0], [0], ["a", "b"]).merged(evaluate([0], [0], ["b", "a"]))


@pytest.mark.parametrize(
    "truth, predicted, classes, error, message",
    [
        ([0, 2], [0, 1], ["a", "b"], LabelError, "truth_codes is 2 at row 1, but there are 2 classes"),
        ([0, 1], [0, -1], ["a", "b"], LabelError, "predicted_codes is -1 at row 1"),
        ([0, 1], [0], ["a", "b"], ShapeError, "2 rows have a true class, but 1"),
        ([0.5], [0], ["a"], ShapeError, "whole number"),
        ([0], [0], [], ParameterError, "at least one class"),
    ],
)
def test_bad_codes_are_named(truth, predicted, classes, error, message):
    with pytest.raises(error, match=message):
        evaluate(truth, predicted, classes)


def test_nothing_yet():
    found = evaluate([], [], ["a", "b"])
    assert (found.n_rows, found.accuracy, found.interval, str(found)) == (0, 0.0, (0.0, 1.0), "no rows")


def test_text_marks_what_is_undefined():
    text = str(evaluate([0, 0, 1], [0, 0, 0], ["ham", "spam", "rest"]))
    lines = text.splitlines()
    assert lines[0] == "accuracy  0.6667   2 of 3 rows right; 95% interval 0.2077 to 0.9385"
    assert "spam          –  0.0000  0.0000     1" in lines
    assert "rest          –       –       –     0" in lines
    assert "– is undefined (never predicted, or no such row) and counts as 0" in lines


def test_text_lists_confusions_of_many_classes():
    truth = [0, 0, 0, 5, 5, 7]
    text = str(evaluate(truth, [1, 1, 1, 6, 6, 7], [f"c{c}" for c in range(13)]))
    assert text.endswith("most frequent confusions:\n  c0 for c1: 3\n  c5 for c6: 2")


def test_most_confused_first():
    assert evaluate([0, 1, 1, 2, 2], [1, 2, 2, 0, 2], [7, 8, 9]).confusions == [(1, 2, 2), (0, 1, 1), (2, 0, 1)]


def test_json_is_plain():
    found = evaluate([0, 1], [0, 0], np.array([False, True]))
    again = json.loads(json.dumps(found.to_json()))
    assert again["accuracy"] == 0.5
    assert again["confusion"] == [[1, 0], [1, 0]]
    assert again["classes"][1] == {
        "label": True,
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "rows": 1,
        "undefined": ["precision"],
    }
    tuples = np.empty(1, object)
    tuples[0] = ("a", 1)
    assert json.loads(json.dumps(Evaluation(found.confusion[:1, :1], tuples).to_json()))["classes"][0]["label"]


def test_counts_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        evaluate([0], [0], ["a"]).confusion[0, 0] = 5


def test_command_line_needs_no_heavy_import():
    code = (
        "import sys, rosenblatt.evaluation as e; str(e.evaluate([0, 1], [0, 1], ['a', 'b']));"
        "assert not {'sklearn', 'matplotlib', 'scipy', 'numba', 'pyarrow'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
