"""Bad data: an error that says what is wrong and where, and an estimator that stays as it was."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import (
    DataTypeError,
    InputError,
    LabelError,
    NonFiniteError,
    RosenblattError,
    ShapeError,
    TrainingOverflowError,
    WeightError,
)
from tests.shared.strategies import full_state, trained

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
        (X, [0.5, 1.5, 0.5, 1.5], LabelError, "continuous"),
        (X, [1, -1, 1, np.nan], LabelError, "NaN"),
        (X, [1, -1, 1, np.inf], LabelError, "infinity"),
        (X, ["a", "b", "a", None], LabelError, "row 3"),
        (X, None, LabelError, "y"),
        (X, [[1], [2, 3], {}, 1], LabelError, "y has the label"),
        (X.astype(complex), Y, DataTypeError, "Complex"),
        ([["a", "b"]] * 4, Y, DataTypeError, "X"),
        ([[1, 2], [3]], [1, -1], ShapeError, "X is no table"),
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
    with pytest.raises(TrainingOverflowError, match="row 2 of X"):
        clf.predict([[0.0, 0.0], [1.0, 1.0], [1e300, 1e300]])
    with pytest.raises(TrainingOverflowError, match="largest float"):
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


def test_overflow_of_the_average_alone():
    table = np.ones((50, 2))
    table[-1] = 1e308, 0
    labels = [1] * 49 + [-1]
    clf = rb.Perceptron(average=True, order="cyclic", bias=None)
    with pytest.raises(TrainingOverflowError):
        clf.fit(table, labels)
    with pytest.raises(TrainingOverflowError):
        rb.Perceptron(average=True, bias=None).partial_fit(table, labels)
