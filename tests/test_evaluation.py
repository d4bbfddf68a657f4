"""Counts and rates of predictions, against scikit-learn's."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from rosenblatt.evaluation import Evaluation, Ranking, RegressionEvaluation, evaluate, rank_scores, wilson
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


def test_errors_of_numbers_merge_to_those_of_all_rows():
    truth, found = np.array([1.0, 2.0, 3.0, 10.0, 14.0]), np.array([1.5, 2.0, 2.0, 11.0, 13.0])
    whole = RegressionEvaluation.of(truth, found)
    parts = RegressionEvaluation.of(truth[:3], found[:3]).merged(RegressionEvaluation.of(truth[3:], found[3:]))
    assert (parts.n_rows, parts.mse, parts.mean) == (5, whole.mse, whole.mean)
    assert parts.r2 == pytest.approx(whole.r2, rel=1e-14)


ROWS = st.lists(st.tuples(st.integers(-8, 8), st.booleans()), min_size=2, max_size=80)


@given(ROWS)
def test_they_are_scikit_learns(rows):
    scores, positive = (np.array(each) for each in zip(*rows, strict=True))
    assume(0 < positive.sum() < len(positive))
    found = Ranking(scores.astype(float), positive)
    np.testing.assert_allclose(found.roc_auc, roc_auc_score(positive, scores))
    np.testing.assert_allclose(found.average_precision, average_precision_score(positive, scores))
    for each in found.thresholds:
        called = scores >= each.threshold
        assert each.flagged == called.sum()
        np.testing.assert_allclose(each.precision, precision_score(positive, called))
        np.testing.assert_allclose(each.recall, recall_score(positive, called))
        np.testing.assert_allclose(each.f1, f1_score(positive, called))
    best, half = found.thresholds[:2]
    assert best.f1 >= max(f1_score(positive, scores >= each) for each in scores) - 1e-12
    higher = scores[scores > half.threshold]
    assert half.recall >= 0.5
    assert all(recall_score(positive, scores >= each) < 0.5 for each in higher)


def test_the_first_class_and_one_of_several_can_be_positive():
    codes = np.array([0, 0, 1, 1])
    scores = np.array([-2.0, 1.0, 0.5, 3.0])
    assert rank_scores(scores, codes, 1, 2).roc_auc == rank_scores(scores, codes, 0, 2).roc_auc == 0.75
    several = np.array([[1.0, 0, 0], [0, 5.0, 4.0], [0, 0, 2.0]])
    assert rank_scores(several, np.array([0, 1, 2]), 2, 3).scores.tolist() == [-1.0, -1.0, 2.0]


def test_parts_of_the_data_add_up():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 50), rng.normal(size=50)
    predicted = (scores > 0).astype(int)
    whole = evaluate(truth, predicted, ["no", "yes"], scores=scores)
    parts = [evaluate(truth[s], predicted[s], ["no", "yes"], scores=scores[s]) for s in (slice(20), slice(20, 50))]
    assert parts[0].merged(parts[1]).to_json() == whole.to_json()
    assert "ROC AUC" in str(whole)
    assert "score for 'yes' at least" in str(whole)


def test_rows_of_one_class_have_no_ranking():
    found = evaluate([1, 1], [1, 0], ["no", "yes"], scores=[1.0, -1.0])
    assert found.to_json()["ranking"] is None
    assert "ROC AUC" not in str(found)
