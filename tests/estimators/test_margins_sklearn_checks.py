"""Scikit-learn's own checks of the two margin classifiers."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb

ORDER = "a row of weight 2 is one long step, a row repeated twice is two short ones"
NOT_SEPARABLE = "the check draws labels at random, or blobs that overlap: it expects a fit where an error is right"
DIGITS = "both end within tol of the same minimum, after other visits: seven digits are more than that promises"
EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
HARD = dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_classifiers_train",
        "check_dtype_object",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimator_sparse_tag",
        "check_estimators_dtypes",
        "check_estimators_nan_inf",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_sample_weights_list",
        "check_sample_weights_not_an_array",
        "check_sample_weights_pandas_series",
        "check_sparsify_coefficients",
        "check_supervised_y_2d",
    ],
    NOT_SEPARABLE,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


def expected(clf):
    if isinstance(clf, rb.MaxMarginClassifier):
        return HARD
    reason = {"sgd": ORDER, "coordinate": DIGITS}.get(clf.solver)
    return dict.fromkeys(EQUIVALENCE, reason) if reason else {}


@parametrize_with_checks(
    [
        rb.SoftMarginClassifier(tol=1e-12),
        rb.SoftMarginClassifier("logistic", penalty="l1", tol=1e-12),
        rb.SoftMarginClassifier("squared_hinge", solver="coordinate"),
        rb.SoftMarginClassifier("logistic", solver="sgd", average=True),
        rb.MaxMarginClassifier(),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
