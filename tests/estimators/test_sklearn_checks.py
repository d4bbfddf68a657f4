"""Scikit-learn's own checks, for every estimator; a check that must fail is named with the reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt as rb
from rosenblatt.kernels import RBF, Polynomial
from rosenblatt.registry import BUILT_IN

pytestmark = [
    pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.KernelWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]

UPDATES = "an update of weight 2 is one mistake, a row repeated twice may be two"
BATCHES = "a row repeated twice fills other mini-batches than a row of weight 2"
STEPS = "a row of weight 2 is one long step, a row repeated twice is two short ones"
DIGITS = "both end within tol of the same minimum, after other visits: seven digits are more than that promises"
AVERAGE = "an average forgets its first hypotheses slowly: it needs 100 passes here, the check ends it after 25"
SCALE = "gamma='scale' is taken from all rows, which a stream has yet to show"
PRECOMPUTED = "it predicts rows of another width than the training rows' number"
CONTRAST = "two features are two pixels: a photocell that is on or off sees which is brighter, and no more"
NOT_SEPARABLE = "the check draws labels at random, or blobs that overlap: it expects a fit where an error is right"
NO_RANKS = "the classes of the check are no ranks: they lie in no order along any direction"
DRAWN = "weights that are drawn take no passes"


def equivalence(reason):
    """Return the checks that a row of weight 2 equals a row repeated twice."""
    names = (f"check_sample_weight_equivalence_on_{layout}_data" for layout in ("dense", "sparse"))
    return dict.fromkeys(names, reason)


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
STREAM = dict.fromkeys(["check_estimators_partial_fit_n_features", "check_n_features_in_after_fitting"], SCALE)

UNORDERED = dict.fromkeys(["check_classifiers_classes", "check_classifiers_train"], NO_RANKS)

CASES = [
    (rb.Perceptron(), equivalence(UPDATES)),
    (rb.PassiveAggressiveRegressor(), equivalence(UPDATES)),
    (rb.KernelPerceptron(), equivalence(UPDATES) | STREAM),
    (rb.SoftMarginClassifier(tol=1e-12), {}),
    (rb.ExtremeLearningMachine(30), {}),
    (rb.MonomialMap(), {}),
    (rb.TableEncoder(), {}),
    (rb.OnlineScaler(), {}),
]
"""One estimator of each kind, for `make test`."""
OTHERS = [
    (rb.PassiveAggressiveClassifier(), equivalence(UPDATES)),
    (rb.ConfidenceWeightedClassifier(), equivalence(UPDATES)),
    (rb.PNormPerceptron(4), equivalence(UPDATES)),
    (rb.OrdinalPerceptron(), equivalence(UPDATES) | UNORDERED),
    (rb.RankingPerceptron(), equivalence(UPDATES)),
    (rb.PocketPerceptron(), equivalence(UPDATES)),
    (rb.VotedPerceptron(max_iter=100), equivalence(UPDATES)),
    (rb.LiftedPerceptron(), equivalence(UPDATES)),
    (rb.MarkOne(100), equivalence(UPDATES) | {"check_classifiers_train": CONTRAST}),
    (rb.MaxMarginClassifier(), HARD),
    # Twenty neurons find room for rows that weigh next to nothing, which the check of class weights forbids.
    (rb.MultilayerPerceptron(hidden_layer_sizes=5, max_iter=500), equivalence(BATCHES)),
    (rb.VisualHierarchy(sizes=(12, 8, 5)), {"check_transformer_n_iter": DRAWN}),
]
VARIANTS = [
    (rb.Perceptron(average=True), equivalence(UPDATES) | {"check_class_weight_classifiers": AVERAGE}),
    (rb.Perceptron(order="cyclic", bias="radius", radius=10.0, decide=False), equivalence(UPDATES)),
    (rb.Perceptron(multiclass="ovr"), equivalence(UPDATES)),
    (rb.Perceptron(multiclass="ovo"), equivalence(UPDATES)),
    (rb.PocketPerceptron(pocket_margin=0.1, count="functional"), equivalence(UPDATES)),
    (rb.MarkOne(200, photocells="graded", exposure=(-3.0, 3.0), average=True), equivalence(UPDATES)),
    (rb.KernelPerceptron(RBF(0.1), average=True, max_iter=50), equivalence(UPDATES)),
    (rb.KernelPerceptron(Polynomial(2, 1.0), multiclass="ovo", max_iter=20), equivalence(UPDATES)),
    (rb.KernelPerceptron(RBF(0.1), budget=20, max_iter=5), equivalence(UPDATES)),
    (
        rb.KernelPerceptron("precomputed", max_iter=20),
        equivalence(UPDATES) | {"check_estimators_nan_inf": PRECOMPUTED},
    ),
    (rb.SoftMarginClassifier("logistic", penalty="l1", tol=1e-12), {}),
    (rb.SoftMarginClassifier("squared_hinge", solver="coordinate"), equivalence(DIGITS)),
    (rb.SoftMarginClassifier("logistic", solver="sgd", average=True), equivalence(STEPS)),
    (rb.SoftMarginClassifier("hinge", solver="batch", learning_rate="adaptive", eta0=1.0), {}),
    (
        rb.MultilayerPerceptron(
            hidden_layer_sizes=20, max_iter=200, loss="cross_entropy", activation="relu", solver="sgd", eta0=0.05
        ),
        equivalence(BATCHES),
    ),
    (rb.MultilayerPerceptron("regression", hidden_layer_sizes=20, max_iter=200), equivalence(BATCHES)),
    (rb.VisualHierarchy(sizes=(12, 8, 5), training="backpropagation", max_iter=20), equivalence(BATCHES)),
    (rb.ExtremeLearningMachine(30, task="regression"), {}),
    (rb.ExtremeLearningMachine(30, task="regression", alpha=0, activation="sine"), {}),
    (rb.MonomialMap(3, 0.0), {}),
    (rb.MonomialMap(1), {}),
    (rb.TableEncoder(missing="mean", scale=True), {}),
    (rb.TableEncoder(missing="zero"), {}),
    (rb.TableEncoder(sparse_output=False), {}),
    (rb.OnlineScaler(with_mean=False), {}),
]


def checks(cases):
    """Parametrize a test by the checks of estimators, each with those it cannot pass."""
    return parametrize_with_checks(
        [estimator for estimator, _ in cases],
        expected_failed_checks=lambda asked: next(fails for estimator, fails in cases if estimator is asked),
    )


@checks(CASES)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@checks(OTHERS)
def test_scikit_learn_checks_of_the_others(estimator, check):
    check(estimator)


@pytest.mark.slow
@checks(VARIANTS)
def test_scikit_learn_checks_of_variants(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    checked = {type(estimator).__name__ for estimator, _ in [*CASES, *OTHERS]}
    # The rows of an adaptive filter are moments of signals, and those of a tagger are sentences, not tables. The
    # checks know no sets of labels, nor many problems at once.
    unlike = {"AdaptiveFilter", "SequencePerceptron", "MultilabelPerceptron", "Probes"}
    assert checked == {*BUILT_IN, "OnlineScaler", "TableEncoder"} - unlike
