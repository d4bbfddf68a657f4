"""Scikit-learn's own checks of the network estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb

BATCHES = "a row repeated twice fills other mini-batches than a row of weight 2"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": BATCHES,
    "check_sample_weight_equivalence_on_sparse_data": BATCHES,
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


def expected(estimator):
    if getattr(estimator, "training", None) == "random":
        return {"check_transformer_n_iter": "weights that are drawn take no passes"}
    return EXPECTED


@parametrize_with_checks(
    [
        # Twenty neurons find room for rows that weigh next to nothing, which the check of class weights forbids.
        rb.MultilayerPerceptron(hidden_layer_sizes=5, max_iter=500),
        rb.MultilayerPerceptron(
            hidden_layer_sizes=20, max_iter=200, loss="cross_entropy", activation="relu", solver="sgd", eta0=0.05
        ),
        rb.MultilayerPerceptron("regression", hidden_layer_sizes=20, max_iter=200),
        rb.VisualHierarchy(sizes=(12, 8, 5)),
        rb.VisualHierarchy(sizes=(12, 8, 5), training="backpropagation", max_iter=20),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
