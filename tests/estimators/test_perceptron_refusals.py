"""Bad data and bad parameters: an error that says what is wrong and where, and an unchanged estimator."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import (
    DataTypeError,
    InputError,
    LabelError,
    NonFiniteError,
    ParameterError,
    PredictionOverflowError,
    RosenblattError,
    ShapeError,
    TrainingOverflowError,
    WeightError,
)
from tests.shared.strategies import bits, full_state, trained

X = np.array([[1.0, 2], [-1, 0], [3, 1], [-2, 2]])
Y = np.array([1, -1, 1, -1])
LAYOUTS = {"dense": np.asarray, "float32": lambda X: np.asarray(X, np.float32), "csr": csr_array}


def _spoilt(value, row=2, column=1, layout=np.asarray):
    table = X.copy()
    table[row, column] = value
    return layout(table)


def _estimators():
    """Yield estimators at every stage of their lives."""
    yield rb.Perceptron()
    yield trained(X, Y, average=True)
    yield rb.Perceptron(init="first", trace="mistakes").partial_fit(X[:2], Y[:2])
    one_class = rb.Perceptron().partial_fit(X[:1], Y[:1])
    one_class.learn_one(X[0], Y[0])
    yield one_class
    yield rb.Perceptron().partial_fit(X, Y, classes=[-1, 1])


def _refused(error, message, call, *, method=None):
    """Require the error of every estimator, and each of them to stay as it was."""
    for clf in _estimators():
        if method in ("predict", "predict_one") and not clf.__sklearn_is_fitted__():
            continue
        before = full_state(clf)
        with pytest.raises(error, match=message) as caught:
            call(clf)
        assert isinstance(caught.value, RosenblattError)
        assert isinstance(caught.value, ValueError)
        assert full_state(clf) == before


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict", "decision_function", "score"])
@pytest.mark.parametrize("row", [0, 3])
def test_values_that_are_not_finite(value, layout, method, row):
    kind = "NaN" if np.isnan(value) else "infinity"
    table = _spoilt(value, row=row, layout=layout)
    labels = () if method in ("predict", "decision_function") else (Y,)
    _refused(
        NonFiniteError,
        f"Input X contains {kind}.*row {row}, column 1",
        lambda clf: getattr(clf, method)(table, *labels),
        method="predict" if method in ("predict", "decision_function", "score") else None,
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", [np.array, lambda x: np.array(x, np.float32), list])
@pytest.mark.parametrize("label", [-1, 1])
def test_single_rows_that_are_not_finite(value, convert, label):
    x = convert([1.0, value])
    _refused(NonFiniteError, "Input x contains", lambda clf: clf.learn_one(x, label))
    _refused(NonFiniteError, "Input x contains", lambda clf: clf.predict_one(x), method="predict_one")


@pytest.mark.parametrize("order", [[0, 1], "random", [[0], [1]], lambda epoch: [0, 1]])
def test_values_in_rows_that_are_never_visited(order):
    with pytest.raises(NonFiniteError, match="row 3, column 0"):
        rb.Perceptron(order=order, random_state=0).fit(_spoilt(np.nan, row=3, column=0), Y)


@pytest.mark.parametrize(
    ("table", "labels", "error", "message"),
    [
        (X[:0], Y[:0], ShapeError, "0 sample"),
        (X[:, :0], Y, ShapeError, "0 feature"),
        (X[0], Y, ShapeError, "Expected 2D X"),
        (X[None], Y, ShapeError, "Expected 2D X"),
        (X, Y[:3], ShapeError, "X has 4 rows but y has 3"),
        (X, Y.reshape(2, 2), ShapeError, "y must be one label a row"),
        (X, np.ones((4, 2)), ShapeError, "y must be one label a row"),
        (X, [0.5, 1.5, 0.5, 2.5], LabelError, "continuous"),
        (X, [1, -1, 1, np.nan], LabelError, "NaN"),
        (X, [1, -1, 1, np.inf], LabelError, "infinity"),
        (X, ["a", "b", "a", None], LabelError, "row 3"),
        (X, None, LabelError, "y"),
        (X, [[1], [2, 3], {}, 1], LabelError, "y has the label"),
        (X.astype(complex), Y, DataTypeError, "Complex"),
        ([["a", "b"]] * 4, Y, DataTypeError, "X"),
        ([[1, 2], [3]], [1, -1], ShapeError, "X is not a table"),
        (np.array([[2**53 + 1, 0]] * 4), Y, DataTypeError, "round"),
        (np.ma.array(X, mask=X > 2), Y, InputError, "masked"),
    ],
)
def test_tables_and_labels(table, labels, error, message):
    _refused(error, message, lambda clf: clf.fit(table, labels))
    _refused(error, message, lambda clf: clf.partial_fit(table, labels))


def test_classes_of_a_fit():
    _refused(LabelError, "only one class", lambda clf: clf.fit(X, [1, 1, 1, 1]))


@pytest.mark.parametrize("wide", [X[:, :1], np.hstack([X, X]), csr_array(X[:, :1])])
def test_other_features_than_in_training(wide):
    for clf in list(_estimators())[1:]:
        before = full_state(clf)
        for call in (clf.predict, clf.decision_function, lambda table, clf=clf: clf.partial_fit(table, Y)):
            with pytest.raises(ShapeError, match=f"X has {wide.shape[1]} features, but Perceptron is expecting 2"):
                call(wide)
        for x in ([1.0], np.ones(3), np.ones(3, np.float32)):
            with pytest.raises(ShapeError, match=f"x has {len(x)} features"):
                clf.predict_one(x)
            with pytest.raises(ShapeError, match=f"x has {len(x)} features"):
                clf.learn_one(x, 1)
        assert full_state(clf) == before


@pytest.mark.parametrize("x", [3.0, np.float64(3), X, [[1.0, 2.0]], "ab", None, np.array(["a", "b"]), [1.0, "b"]])
def test_single_rows_that_are_none(x):
    _refused(InputError, "x", lambda clf: clf.learn_one(x, 1))
    _refused(InputError, "x", lambda clf: clf.predict_one(x), method="predict_one")


def test_single_rows_with_something_masked():
    x = np.ma.array([1.0, 2.0], mask=[False, True])
    _refused(InputError, "masked", lambda clf: clf.learn_one(x, 1))
    _refused(InputError, "masked", lambda clf: clf.predict_one(x), method="predict_one")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, -1, 1], "row 2"),
        ([1, np.nan, 1, 1], "row 1"),
        ([1, np.inf, 1, 1], "row 1"),
        ([0, 0, 0, 0], "zero at every row"),
        ([1, 1, 1], "sample_weight has shape"),
        ([[1, 1, 1, 1]], "sample_weight has shape"),
        (["a"] * 4, "sample_weight"),
        (-1, "sample_weight"),
    ],
)
def test_weights(weight, message):
    _refused(WeightError, message, lambda clf: clf.fit(X, Y, sample_weight=weight))
    _refused(WeightError, message, lambda clf: clf.partial_fit(X, Y, sample_weight=weight))


@pytest.mark.parametrize(
    ("start", "error", "message"),
    [
        ({"coef_init": [1.0]}, ShapeError, "coef_init has shape"),
        ({"coef_init": [1.0, np.nan]}, NonFiniteError, "coef_init holds nan at position 1"),
        ({"intercept_init": [1.0, 2.0]}, ShapeError, "intercept_init has shape"),
        ({"intercept_init": np.inf}, NonFiniteError, "intercept_init holds inf"),
        ({"coef_init": "ab"}, InputError, "coef_init"),
        ({"coef_init": [1j, 2]}, InputError, "coef_init"),
        ({"coef_init": [[1.0], [2.0, 3.0]]}, InputError, "coef_init"),
        ({"intercept_init": object()}, InputError, "intercept_init"),
    ],
)
def test_starts(start, error, message):
    _refused(error, message, lambda clf: clf.fit(X, Y, **start))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_overflow(layout, method):
    huge = 3e38 if layout is LAYOUTS["float32"] else 1e308
    table = layout(X * (huge / 3))
    clf = rb.Perceptron(eta0=1e300)
    before = full_state(clf)
    with pytest.raises(TrainingOverflowError, match="Scale the features down") as caught:
        getattr(clf, method)(table, Y)
    assert isinstance(caught.value, ValueError)
    assert full_state(clf) == before


def test_overflow_of_scores_alone():
    _refused(TrainingOverflowError, "Training overflowed", lambda clf: clf.fit(X * 5e307, Y))
    clf = rb.Perceptron().fit(X * 1e150, Y)
    with pytest.raises(PredictionOverflowError, match=r"row 2 of X .* scale them down before"):
        clf.predict([[0.0, 0.0], [1.0, 1.0], [1e300, 1e300]])
    with pytest.raises(PredictionOverflowError, match="score of x exceeds the largest float"):
        clf.predict_one(np.array([1e300, 1e300]))


def test_overflow_of_one_row_at_a_time():
    clf = rb.Perceptron(eta0=1e300)
    with pytest.raises(TrainingOverflowError):
        clf.learn_one(np.array([1e300]), 1)
    assert not clf.__sklearn_is_fitted__()
    clf = rb.Perceptron(eta0=1e300).learn_one(np.array([1.0, 1.0]), 1)
    before = full_state(clf)
    with pytest.raises(TrainingOverflowError):
        clf.learn_one(np.array([-1e10, -1e10]), 1)
    assert full_state(clf) == before


@pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.ScaleWarning")
def test_overflow_of_the_average_alone():
    table = np.ones((50, 2))
    table[-1] = 1e308, 0
    labels = [1] * 49 + [-1]
    clf = rb.Perceptron(average=True, order="cyclic", bias=None)
    with pytest.raises(TrainingOverflowError):
        clf.fit(table, labels)
    with pytest.raises(TrainingOverflowError):
        rb.Perceptron(average=True, bias=None).partial_fit(table, labels)


BAD = {
    "penalty": ["l3", "none"],
    "fit_intercept": [1, "yes", None],
    "max_iter": [0, -1, 1.5, "3", None, True],
    "tol": ["a", np.nan, np.inf],
    "shuffle": ["cyclic", 0, None],
    "eta0": [0, 0.0, -1, np.nan, np.inf, "1", None, True],
    "early_stopping": ["yes", 1],
    "validation_fraction": [0, 1, 1.5, -0.1, "a", np.nan],
    "n_iter_no_change": [0, -1, 2.5, "a"],
    "warm_start": [1, "yes"],
    "bias": ["radii", -1, np.nan, np.inf, True, [1]],
    "radius": [0, -1, np.nan, "a"],
    "zero": [0, 2, "1", None, True],
    "tie": ["wrong", None, 0],
    "init": ["ones", None, 0],
    "margin": [-1, np.nan, np.inf, "a", None],
    "average": [-1, 2.5, "yes", None],
    "multiclass": ["all", None],
    "max_time": [0, -1, np.nan, "a"],
    "trace": ["all", True, 1],
    "random_state": [-1, "a", 1.5],
    "callbacks": [5, [5], "ab", print],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_values_a_parameter_cannot_take(name, value):
    fitted = trained(X, Y)
    for clf in (rb.Perceptron(), fitted):
        setattr(clf, name, value)
        before = full_state(clf)
        for train in (clf.fit, clf.partial_fit):
            if train == clf.partial_fit and name in ("random_state", "callbacks"):
                continue  # a stream has no use for them
            with pytest.raises(ParameterError, match=name) as caught:
                train(X, Y)
            assert isinstance(caught.value, ValueError)
            assert full_state(clf) == before


def test_constructors_only_store():
    """Scikit-learn's rule: nothing is checked or changed before fit."""
    for name, values in BAD.items():
        for value in values:
            assert rb.Perceptron(**{name: value}).get_params()[name] is value


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("weights", "error"),
    [
        ({1: -1.0}, WeightError),
        ({1: np.nan}, WeightError),
        ({1: "a"}, WeightError),
        ({1: 0.0, -1: 0.0}, WeightError),
        ("balance", ParameterError),
        (5, ParameterError),
        ([1, 2], ParameterError),
    ],
)
def test_class_weights(method, weights, error):
    clf = rb.Perceptron(class_weight=weights)
    with pytest.raises(error, match="class_weight"):
        getattr(clf, method)(X, Y)
    assert not clf.__sklearn_is_fitted__()


@pytest.mark.parametrize("weights", [{}, {1: 0.0}, {-1: 0.0, 1: 2.0}, {1: 3}])
def test_class_weights_mean_the_same_to_a_stream(weights):
    stream = rb.Perceptron(class_weight=weights).partial_fit(X, Y)
    whole = trained(X, Y, class_weight=weights, order="cyclic", max_iter=1)
    assert stream.coef_.tolist() == whole.coef_.tolist()


def test_weights_that_leave_nothing():
    with pytest.raises(WeightError, match="weight"):
        rb.Perceptron(class_weight={1: 0.0}).fit(X, Y, sample_weight=[1, 0, 1, 0])


def test_a_stream_needs_its_radius():
    with pytest.raises(ParameterError, match="radius=R"):
        rb.Perceptron(bias="radius").partial_fit(X, Y)
    with pytest.raises(ParameterError, match="radius=R"):
        rb.Perceptron(bias="radius").learn_one(X[0], 1)
    stream = rb.Perceptron(bias="radius", radius=np.sqrt(10)).partial_fit(X, Y)
    assert stream.trace_.radius == np.sqrt(10)


def test_a_radius_whose_square_is_no_float():
    with pytest.raises(InputError, match="radius"):
        rb.Perceptron(bias="radius", radius=1e200).fit(X, Y)


@pytest.mark.parametrize("values", [{"zero": np.int64(1)}, {"tie": np.str_("sign")}, {"max_iter": np.int32(5)}])
def test_numpy_scalars_are_values_too(values):
    """A grid written as an array hands them in."""
    plain = {name: value.item() for name, value in values.items()}
    assert trained(X, Y, **values).coef_.tolist() == trained(X, Y, **plain).coef_.tolist()


@pytest.mark.parametrize("first", [-1, 1])
def test_a_new_label_of_a_row_that_fails_is_not_learned(first):
    clf = rb.Perceptron().learn_one(X[0], first)
    before = full_state(clf)
    for bad in ([np.nan, 0.0], [1.0, np.inf]):
        with pytest.raises(NonFiniteError):
            clf.learn_one(np.array(bad), -first)
    with pytest.raises(InputError):
        clf.learn_one(np.ones(3), -first)
    assert full_state(clf) == before
    assert clf.classes_.tolist() == [first]


def test_new_features_of_a_row_that_fails_are_not_learned():
    clf, twin = (rb.Perceptron().learn_one({"a": 1.0}, 1).learn_one({"a": -1.0}, -1) for _ in range(2))
    with pytest.raises(LabelError):
        clf.learn_one({"b": 1.0, "c": 2.0, "d": 3.0}, "third")
    with pytest.raises(InputError):
        clf.learn_one({"a": 1.0, "e": np.nan}, 1)
    with pytest.raises(LabelError):
        clf.learn_one({"f": 1.0}, [1])
    assert clf.predict_one({"b": 1e9, "d": 1e9}) == clf.predict_one({})  # nothing is known of them
    assert (clf.n_features_in_, clf.feature_names_in_.tolist()) == (1, ["a"])
    assert bits(clf) == bits(twin)
    for x, label in (({"g": 1.0, "b": 2.0}, 1), ({"a": 3.0, "d": 1.0}, -1)):
        assert bits(clf.learn_one(x, label)) == bits(twin.learn_one(x, label))
    assert clf.feature_names_in_.tolist() == ["a", "g", "b", "d"]


def test_new_features_of_a_first_row_that_fails_are_not_learned():
    clf = rb.Perceptron()
    before = full_state(clf)
    for label in (None, np.nan, [1]):
        with pytest.raises(LabelError):
            clf.learn_one({"b": 1.0}, label)
    assert full_state(clf) == before


def test_a_chunk_that_fails_in_its_middle_is_not_learned():
    clf = rb.Perceptron(trace="mistakes", average=True).partial_fit(X, Y)
    before = full_state(clf)
    spoilt = np.vstack([X, [[np.nan, 1.0]], X])
    with pytest.raises(NonFiniteError, match="row 4, column 0"):
        clf.partial_fit(spoilt, [*Y, 1, *Y])
    with pytest.raises(LabelError):
        clf.partial_fit(X, [1, -1, 1, 2])
    assert full_state(clf) == before


def test_a_fit_that_fails_in_a_later_pass_is_not_published():
    clf = trained(X, Y, average=True)
    before = full_state(clf)
    clf.order = _fails_later
    with pytest.raises(InputError, match=r"order\(3\)"):
        clf.fit(np.vstack([X, X]), [*Y, *-Y])
    clf.order = "shuffle"
    assert full_state(clf) == before


def _fails_later(epoch):
    return range(8) if epoch < 3 else [99]


def test_bad_parameters_of_a_stream_under_way_are_refused_and_not_kept():
    clf = rb.Perceptron().partial_fit(X, Y)
    before = full_state(clf)
    with pytest.raises(ParameterError, match="eta0"):
        clf.set_params(eta0=-1)
    assert full_state(clf) == before
