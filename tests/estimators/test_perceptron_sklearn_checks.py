"""Scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb

WEIGHTS = "an update of weight 2 is one mistake, a row repeated twice may be two"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
SLOW = "an average forgets its first hypotheses slowly: it needs 100 passes here, the check ends it after 25"

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@parametrize_with_checks(
    [rb.Perceptron(), rb.Perceptron(average=True), rb.Perceptron(order="cyclic", bias="radius", radius=10.0)],
    expected_failed_checks=lambda clf: (
        EXPECTED | ({"check_class_weight_classifiers": SLOW} if clf.average else {})
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
