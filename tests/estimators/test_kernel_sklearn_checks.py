"""Scikit-learn's own checks of the kernel perceptron."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb
from rosenblatt.kernels import RBF, Polynomial

WEIGHTS = "an update of weight 2 is one mistake, a row repeated twice may be two"
STREAM = "gamma='scale' is taken from all rows, which a stream has yet to show"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
OF_THE_DEFAULT = {
    "check_estimators_partial_fit_n_features": STREAM,
    "check_n_features_in_after_fitting": STREAM,
}
OF_PRECOMPUTED = {"check_estimators_nan_inf": "it predicts rows of another width than the training rows' number"}
BY_KERNEL = {"rbf": OF_THE_DEFAULT, "precomputed": OF_PRECOMPUTED}

pytestmark = [
    pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.KernelWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@parametrize_with_checks(
    [
        rb.KernelPerceptron(),
        rb.KernelPerceptron(RBF(0.1), average=True, max_iter=50),
        rb.KernelPerceptron(Polynomial(2, 1.0), multiclass="ovo", max_iter=20),
        rb.KernelPerceptron(RBF(0.1), budget=20, max_iter=5),
        rb.KernelPerceptron("precomputed", max_iter=20),
    ],
    expected_failed_checks=lambda clf: EXPECTED | BY_KERNEL.get(str(clf.kernel), {}),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
