"""Scikit-learn's own checks of the perceptron's relatives."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb

WEIGHTS = "an update of weight 2 is one mistake, a row repeated twice may be two"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@parametrize_with_checks(
    [
        rb.PocketPerceptron(),
        rb.PocketPerceptron(pocket_margin=0.1, count="functional"),
        rb.VotedPerceptron(max_iter=100),
        rb.LiftedPerceptron(),
    ],
    expected_failed_checks=lambda clf: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
