"""Bad values of every constructor parameter, and examples that fail half way."""

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import InputError, LabelError, NonFiniteError, ParameterError, WeightError
from tests.shared.strategies import bits, full_state, trained

X = np.array([[1.0, 2], [-1, 0], [3, 1], [-2, 2]])
Y = np.array([1, -1, 1, -1])

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
    "average": [10, "yes", None],
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
    for label in (None, np.nan, 0.5, [1]):
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
