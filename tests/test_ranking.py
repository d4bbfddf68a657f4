"""ROC AUC, average precision and thresholds, compared with scikit-learn's."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from rosenblatt.evaluation import evaluate
from rosenblatt.ranking import Ranking, ranked

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
    assert ranked(scores, codes, 1, 2).roc_auc == ranked(scores, codes, 0, 2).roc_auc == 0.75
    several = np.array([[1.0, 0, 0], [0, 5.0, 4.0], [0, 0, 2.0]])
    assert ranked(several, np.array([0, 1, 2]), 2, 3).scores.tolist() == [-1.0, -1.0, 2.0]


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
