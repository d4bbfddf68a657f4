"""Every classifier of the package passes the public checks, and each check can fail."""

import inspect
import math
from unittest import SkipTest

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge

import rosenblatt as rb
from rosenblatt.kernels import RBF, Laplacian, Polynomial
from rosenblatt.learning.state import State
from rosenblatt.testing import CHECKS, CheckFailed, check_estimator, checks

CLASSIFIERS = {
    name: value
    for name in sorted({*rb.__all__} - {"CalibratedModel", "MultilabelPerceptron"})  # one takes a model, one sets
    if inspect.isclass(value := getattr(rb, name)) and issubclass(value, BaseEstimator) and is_classifier(value())
}

VARIANTS = {
    "MultilayerPerceptron": [
        {"hidden_layer_sizes": 3, "max_iter": 5},
        {"hidden_layer_sizes": 3, "max_iter": 5, "loss": "cross_entropy", "solver": "sgd", "early_stopping": True},
        {"hidden_layer_sizes": 3, "max_iter": 5, "one_hot": True},
    ],
    "KernelPerceptron": [  # a stream cannot know gamma="scale", the default
        {"kernel": RBF(0.5)},
        {"kernel": RBF("auto"), "average": True, "eta0": 0.3},
        {"kernel": Polynomial(2, 1.0), "multiclass": "ovr", "order": "cyclic"},
        {"kernel": "linear", "multiclass": "ovo", "margin": 1.0},
        {"kernel": Laplacian(0.25), "bias": "radius", "radius": 1.0, "tie": "half", "zero": 1},
        {"kernel": RBF(0.5), "init": "first", "bias": None, "class_weight": {1: 0.5}},
        {"kernel": RBF(0.5), "budget": 8, "average": True, "max_iter": 5},
        {"kernel": RBF(0.5), "budget": 8, "budget_policy": "oldest", "max_iter": 5},
        {"kernel": RBF(0.5), "budget": 8, "budget_policy": "random", "class_weight": "balanced", "max_iter": 5},
    ],
    "Perceptron": [
        {},
        {"average": True, "eta0": 0.3},
        {"multiclass": "ovr", "order": "cyclic"},
        {"multiclass": "ovo", "margin": 1.0},
        {"bias": "radius", "radius": 10.0, "tie": "half", "zero": 1},
        {"init": "first", "bias": None, "class_weight": {1: 0.5}},
        {"class_weight": "balanced", "order": "random"},
        {"early_stopping": True},
        {"penalty": "l2", "alpha": 0.01},
        {"penalty": "l1", "alpha": 2.0**-7, "multiclass": "ovr"},  # dyadic, so that sparse rows shrink exactly
    ],
    "ConfidenceWeightedClassifier": [
        {},
        {"rule": "scw", "average": True, "multiclass": "ovr"},
        {"rule": "scw", "C": 0.1, "multiclass": "ovo", "class_weight": "balanced"},
    ],
    "PassiveAggressiveClassifier": [
        {},
        {"loss": "squared_hinge", "average": True, "multiclass": "ovr"},
        {"C": 0.01, "multiclass": "ovo", "class_weight": "balanced"},
        {"C": math.inf, "eta0": 1.5, "margin": 0.5},
    ],
    "MarkOne": [
        {"n_association": 100},
        {
            "n_association": 60,
            "photocells": "graded",
            "exposure": (-3.0, 3.0),
            "average": True,
            "multiclass": "ovr",
        },
    ],
}
"""Constructor arguments worth checking; an estimator that is not listed is checked with none."""

SOLVED = "a solver comes as close as it is told to: its sums round by the layout"
QUOTIENTS = "its steps are quotients, so that sums round by the layout"
INAPPLICABLE = {
    "ExtremeLearningMachine": {
        "check_float32": "what its hidden neurons say of a block of rows outweighs the rows",
        "check_replay": "it makes no mistakes to keep",
    },
    "KernelPerceptron": {"check_float32": "it keeps kernel rows beside the data, as many as cache_size allows"},
    "LiftedPerceptron": {"check_float32": "the solver of its lemma keeps vectors of its own beside the rows"},
    "MarkOne": {
        "check_float32": "what photocells and association units say of an image outweighs the image",
        "check_replay": "the trace is of the response units, and replays on what the association units say",
    },
    "MaxMarginClassifier": {
        "check_sparse": SOLVED,
        "check_float32": "the rows that memory is counted on do not separate; its program is in float64",
    },
    "MultilayerPerceptron": {
        "check_stream": "a step is a mini-batch, and chunks cut it; with batch_size=1 its own tests pass it",
        "check_sparse": "its sums round by the layout",
        "check_float32": "float32 rows are trained in float32",
    },
    "ConfidenceWeightedClassifier": {"check_sparse": QUOTIENTS},
    "PassiveAggressiveClassifier": {"check_sparse": QUOTIENTS},
    "PocketPerceptron": {"check_replay": "trace_ is of the whole run, coef_ of the best hypothesis on its way"},
    "SoftMarginClassifier": {
        "check_sparse": SOLVED,
        "check_float32": "its second-order steps work on float64 copies of blocks of rows",
    },
    "VotedPerceptron": {
        "check_float32": "it keeps the rows of its mistakes: they are its hypotheses",
        "check_replay": "a vote has no coef_",
    },
}
"""For a classifier, the checks it need not pass, with the reason."""

FIRST = {"KernelPerceptron", "Perceptron", "PocketPerceptron", "SoftMarginClassifier", "VotedPerceptron"}
"""The classifiers that `make test` checks, by the first of their variants."""


def _cases():
    for name, kind in CLASSIFIERS.items():
        for number, parameters in enumerate(VARIANTS.get(name, [{}])):
            estimator = kind(**parameters)
            marks = pytest.mark.slow if number or name not in FIRST else ()
            for check_name, check in checks(estimator, skip=INAPPLICABLE.get(name)):
                yield pytest.param(check, id=f"{estimator!r}-{check_name}".replace("\n", ""), marks=marks)


@pytest.mark.parametrize("check", list(_cases()))
def test_every_classifier(check):
    check()


def test_every_classifier_is_found_and_every_table_is_of_one():
    assert "Perceptron" in CLASSIFIERS
    assert VARIANTS.keys() | INAPPLICABLE.keys() | FIRST <= CLASSIFIERS.keys()


class _Backwards(rb.Perceptron):
    """Visits the rows of a chunk from the last to the first."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(X[::-1], y[::-1], classes, sample_weight)


class _Contradicts(rb.Perceptron):
    """Predicts another class for a row alone than for a table."""

    def predict_one(self, x):
        return next(label for label in self.classes_.tolist() if label != super(_Contradicts, self).predict_one(x))


class _SparseIsDifferent(rb.Perceptron):
    """Takes smaller steps on sparse rows."""

    def fit(self, X, y, **given):
        self.eta0 = 0.5 if issparse(X) else 1.0
        return super().fit(X, y, **given)


class _Widens(rb.Perceptron):
    """Makes a float64 copy, which trains the same bits."""

    def fit(self, X, y, **given):
        return super().fit(np.array(X, np.float64) if isinstance(X, np.ndarray) else X, y, **given)


class _Narrows(rb.Perceptron):
    """Sums float32 in float32."""

    def decision_function(self, X):
        f = super().decision_function(X)
        return f.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else f


class _Embellishes(rb.Perceptron):
    """Shows other weights than it trained."""

    @property
    def coef_(self):
        return 2 * super().coef_


class _DrawsAnew(rb.Perceptron):
    """Trains by another order each time."""

    def fit(self, X, y, **given):
        self.random_state += 1
        return super().fit(X, y, **given)


class _Rounds(rb.Perceptron):
    """Keeps its weights in a file as float32."""

    def __getstate__(self):
        held = super().__getstate__()
        if "_state" in held:
            held = held | {"_state": State(held["_state"].w.astype(np.float32).astype(float))}
        return held


class _Centres(rb.Perceptron):
    """Centres the columns where they lie."""

    def fit(self, X, y, **given):
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X -= X.mean(axis=0)
        return super().fit(X, y, **given)


class _Counts(rb.Perceptron):
    """Takes labels for numbers."""

    def fit(self, X, y, **given):
        weight = np.abs(y) + 1.0 if np.asarray(y).dtype.kind in "if" else None
        return super().fit(X, y, sample_weight=weight)


class _Borrows(rb.Perceptron):
    """Scales the columns where they lie, and scales them back."""

    def fit(self, X, y, **given):
        if isinstance(X, np.ndarray):
            X *= 2.0
            X /= 2.0
        return super().fit(X, y, **given)


class _NotesTooSoon(rb.Perceptron):
    """Changes before it knows whether it can learn."""

    def fit(self, X, y, **given):
        self.rows_ = len(X)
        return super().fit(X, y, **given)


class _Forgives(rb.Perceptron):
    """Takes NaN for zero."""

    def predict(self, X):
        return super().predict(np.nan_to_num(X) if isinstance(X, np.ndarray) and X.dtype.kind == "f" else X)


class _ForgetsNames(rb.Perceptron):
    """Reads frames as arrays."""

    def fit(self, X, y, **given):
        return super().fit(X if issparse(X) else np.asarray(X), y, **given)

    def predict(self, X):
        return super().predict(X if issparse(X) else np.asarray(X))

    def decision_function(self, X):
        return super().decision_function(X if issparse(X) else np.asarray(X))


BROKEN = [
    ("check_stream", _Backwards, "chunks against all rows at once: .* differs"),
    ("check_stream", _Contradicts, "predict_one differs from predict"),
    ("check_sparse", _SparseIsDifferent, "csr_array .* differs"),
    ("check_float32", _Widens, "they were copied"),
    ("check_float32", _Narrows, "decision_function differs, type float32 against float64"),
    ("check_replay", _Embellishes, "the replay against the fit: coef_ differs, in .* first at"),
    ("check_refit", _DrawsAnew, "against the first.* differs"),
    ("check_pickle", _Rounds, "pickled against the original: .* differs"),
    ("check_inputs_left_alone", _Centres, "X was changed"),
    ("check_labels", _Counts, "labels .* against 0, 1, …: .* differs"),
    ("check_memory", _Borrows, "read-only"),
    ("check_errors", _NotesTooSoon, "fit with .* changed the estimator, before training"),
    ("check_errors", _Forgives, "predict with nan was taken, after a fit"),
    ("check_names", _ForgetsNames, "feature_names_in_|no feature names|were taken"),
]


@pytest.mark.parametrize(("name", "broken", "message"), BROKEN)
def test_each_check_can_fail(name, broken, message):
    check = dict(checks(broken()))[name]
    with pytest.raises(CheckFailed, match=f"^{broken.__name__} fails {name}: ") as caught:
        check()
    caught.match(message)


def test_the_first_check_that_fails_ends_the_suite():
    with pytest.raises(CheckFailed, match="_Backwards fails check_stream"):
        check_estimator(_Backwards())


def test_each_check_has_an_estimator_that_fails_it():
    assert {name for name, *_ in BROKEN} == {check.__name__ for check in CHECKS}
    assert all(check.__doc__ and check.__doc__.endswith(".") for check in CHECKS)


def test_what_an_estimator_lacks_is_skipped_with_a_reason():
    skip = {"check_errors": "it takes anything", "check_names": "it looks at no names"}
    outcomes = check_estimator(DummyClassifier(), skip=skip)
    reasons = {outcome.name: outcome.skipped for outcome in outcomes}
    assert reasons["check_stream"] == "its class declares no partial_fit"
    assert reasons["check_replay"] == "its class declares no trace_"
    assert reasons["check_errors"] == "it takes anything"
    assert reasons["check_pickle"] is None
    assert {outcome.skipped for outcome in check_estimator(Ridge())} == {"it is no classifier"}


def test_only_checks_that_exist_can_be_skipped():
    with pytest.raises(ValueError, match="skip names no check: check_taste"):
        list(checks(rb.Perceptron(), skip={"check_taste": "it has none"}))


def test_an_estimator_with_no_fixed_seed_skips_what_depends_on_it():
    check = dict(checks(rb.Perceptron(random_state=None)))["check_refit"]
    with pytest.raises(SkipTest, match="random_state"):
        check()


def test_the_estimator_itself_is_never_trained():
    clf = rb.Perceptron()
    check_estimator(clf)
    assert not clf.__sklearn_is_fitted__()
