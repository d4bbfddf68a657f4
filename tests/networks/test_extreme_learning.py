"""The extreme learning machine against one large least-squares problem, in chunks, and in scikit-learn's hands."""

import math
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.exceptions import (
    DataTypeError,
    InputError,
    LabelError,
    NonFiniteError,
    ParameterError,
    PredictionOverflowError,
    ShapeError,
    TrainingOverflowError,
)
from rosenblatt.networks.extreme_learning import RecursiveRidge
from rosenblatt.testing import checks
from tests.shared.examples import examples

ACTIVATIONS = {
    "tanh": np.tanh,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "relu": lambda z: np.maximum(z, 0),
    "sine": np.sin,
    "step": lambda z: (z > 0).astype(float),
}


@pytest.mark.parametrize(
    ("name", "check"), checks(rb.ExtremeLearningMachine(20), skip={"check_replay": "it makes no mistakes to keep"})
)
def test_checks_of_this_package(name, check):
    check()


def hidden(model, X):
    """Return what the random neurons say, by the textbook."""
    return ACTIVATIONS[model.activation](X @ model.hidden_coef_.T + model.hidden_intercept_)


def solved(H, Y, alpha, weight=None):
    """Return the minimiser of Σ weight (y − <β, h> − b)² + alpha ‖β‖² by one least-squares problem."""
    n, m = H.shape
    root = np.sqrt(np.ones(n) if weight is None else weight)[:, None]
    A = np.vstack([np.hstack([H, np.ones((n, 1))]) * root, np.sqrt(alpha) * np.eye(m, m + 1)])
    B = np.vstack([Y * root, np.zeros((m, Y.shape[1]))])
    return np.linalg.lstsq(A, B, rcond=None)[0].T


def data(n=80, d=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.concatenate([np.arange(k), rng.integers(k, size=n - k)]), np.sin(X @ rng.standard_normal((d, 2)))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_read_out_is_the_least_squares_solution(activation, alpha, weighted):
    X, y, numbers = data()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    for task, told, Y in (("classification", y, np.eye(3)[y]), ("regression", numbers, numbers)):
        model = rb.ExtremeLearningMachine(15, activation=activation, alpha=alpha, task=task)
        model.fit(X, told, sample_weight=weight)
        expected = solved(hidden(model, X), Y, alpha, weight)
        assert np.hstack([model.coef_, model.intercept_[:, None]]) == pytest.approx(expected, rel=1e-7, abs=1e-8)
        squares = (hidden(model, X) @ model.coef_.T + model.intercept_ - Y) ** 2
        assert model.training_mse_ == pytest.approx(np.average(squares.mean(axis=1), weights=weight), rel=1e-8)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_predictions_are_the_read_outs(activation):
    X, y, numbers = data()
    model = rb.ExtremeLearningMachine(15, activation=activation).fit(X, y)
    outputs = hidden(model, X) @ model.coef_.T + model.intercept_
    assert model.decision_function(X) == pytest.approx(outputs, abs=1e-10)
    assert model.predict(X).tolist() == outputs.argmax(axis=1).tolist()
    two = rb.ExtremeLearningMachine(15, activation=activation).fit(X, y > 0)
    outputs = hidden(two, X) @ two.coef_.T + two.intercept_
    assert two.decision_function(X) == pytest.approx(outputs[:, 1] - outputs[:, 0], abs=1e-10)
    assert ((two.decision_function(X) > 0) == two.predict(X)).all()
    flat = rb.ExtremeLearningMachine(15, task="regression", activation=activation).fit(X, numbers[:, 0])
    assert flat.predict(X).shape == (80,)
    column = rb.ExtremeLearningMachine(15, task="regression", activation=activation).fit(X, numbers[:, :1])
    assert column.predict(X).shape == (80, 1)


@settings(max_examples=examples(50))
@given(
    ends=st.lists(st.integers(1, 599), max_size=8),
    task=st.sampled_from(["classification", "regression"]),
    alpha=st.sampled_from([0.0, 1e-3, 1.0]),
    weighted=st.booleans(),
    layout=st.sampled_from([np.array, csr_array]),
)
def test_chunks_leave_the_bits_of_one_fit(ends, task, alpha, weighted, layout):
    """The block of rows that is factorised at a time is 256: 600 rows fill two, and leave some waiting."""
    X, y, numbers = data(600)
    X[np.abs(X) < 0.5] = 0
    told = y if task == "classification" else numbers
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    parameters = {"task": task, "alpha": alpha, "activation": "sine"}
    whole = rb.ExtremeLearningMachine(20, **parameters).fit(layout(X), told, sample_weight=weight)
    chunked = rb.ExtremeLearningMachine(20, **parameters)
    cuts = [0, *sorted(set(ends)), len(y)]
    for a, b in pairwise(cuts):
        if weight is None or weight[a:b].any():
            part = None if weight is None else weight[a:b]
            chunked.partial_fit(layout(X[a:b]), told[a:b], sample_weight=part)
    assert chunked.coef_.tobytes() == whole.coef_.tobytes()
    assert chunked.intercept_.tobytes() == whole.intercept_.tobytes()
    assert chunked.training_mse_ == pytest.approx(whole.training_mse_, rel=1e-12)
    Y = np.eye(3)[y] if task == "classification" else numbers
    squares = (hidden(whole, X) @ whole.coef_.T + whole.intercept_ - Y) ** 2
    assert whole.training_mse_ == pytest.approx(np.average(squares.mean(axis=1), weights=weight), rel=1e-8)
    expected = solved(hidden(whole, X), Y, alpha, weight)
    assert np.hstack([chunked.coef_, chunked.intercept_[:, None]]) == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_rows_of_no_weight_are_not_there():
    X, y, _ = data(600)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    kept = weight > 0
    weighted = rb.ExtremeLearningMachine(20).fit(X, y, sample_weight=weight)
    without = rb.ExtremeLearningMachine(20).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert weighted.coef_.tobytes() == without.coef_.tobytes()


def test_looking_on_the_way_changes_nothing():
    X, y, _ = data(600)
    looked, blind = rb.ExtremeLearningMachine(20), rb.ExtremeLearningMachine(20)
    for rows in np.array_split(np.arange(600), 7):
        looked.partial_fit(X[rows], y[rows], classes=[0, 1, 2]).predict(X)
        blind.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert looked.coef_.tobytes() == blind.coef_.tobytes()


@given(order=st.permutations([0, 1, 2, 3]))
def test_classes_may_come_one_after_the_other(order):
    """A class not met yet had the target 0: meeting it late is having known it from the beginning."""
    X, y, _ = data(300, k=4)
    names = np.array(["ash", "elm", "fir", "oak"])
    by_class = np.concatenate([np.flatnonzero(y == k) for k in order])
    late, early = rb.ExtremeLearningMachine(20), rb.ExtremeLearningMachine(20)
    for rows in np.array_split(by_class, 6):
        late.partial_fit(X[rows], names[y[rows]])
        early.partial_fit(X[rows], names[y[rows]], classes=names)
    assert late.classes_.tolist() == names.tolist()
    assert late.coef_ == pytest.approx(early.coef_, rel=1e-9, abs=1e-10)
    assert late.predict(X).tolist() == early.predict(X).tolist()


def test_labels_of_another_kind_may_come_late():
    X, _, _ = data(4)
    model = rb.ExtremeLearningMachine(5).partial_fit(X[:2], [1, 2]).partial_fit(X[2:], ["a", "b"])
    assert model.classes_.tolist() == [1, 2, "a", "b"]
    assert model.coef_.shape == (4, 5)


def test_few_rows_and_no_penalty_find_the_shortest_weights():
    X, _, numbers = data(12)
    model = rb.ExtremeLearningMachine(40, alpha=0, task="regression").fit(X, numbers)
    assert model.predict(X) == pytest.approx(numbers, abs=1e-8)
    assert model.training_mse_ == pytest.approx(0, abs=1e-14)
    H = np.hstack([hidden(model, X), np.ones((12, 1))])
    shortest = np.linalg.pinv(H) @ numbers
    assert np.vstack([model.coef_.T, model.intercept_]) == pytest.approx(shortest, abs=1e-8)


def test_square_roots_keep_digits_that_normal_equations_lose():
    """Rows that differ by 1e-7 along one direction: their Gram matrix holds nothing of it."""
    rng = np.random.default_rng(0)
    H = rng.standard_normal((1000, 3))
    H[:, 2] = H[:, 1] + 1e-7 * H[:, 2]
    beta = np.array([1.0, 2.0, 3.0])
    ridge = RecursiveRidge(3, 1, 0.0)
    for rows in np.array_split(np.arange(1000), 13):
        ridge.add(H[rows], H[rows] @ beta[:, None] + 5.0, None)
    assert ridge.solution().weights[0] == pytest.approx([*beta, 5.0], abs=1e-7)
    A = np.hstack([H, np.ones((1000, 1))])
    assert np.abs(np.linalg.solve(A.T @ A, A.T @ (H @ beta + 5.0))[:3] - beta).max() > 1e-4


def test_ridge_is_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    ridge = RecursiveRidge(X.shape[1], 1, 0.5)
    ridge.add(X, y[:, None], None)
    peer = Ridge(alpha=0.5, solver="svd").fit(X, y)
    assert ridge.solution().weights[0] == pytest.approx([*peer.coef_, peer.intercept_], rel=1e-9)


def test_digits_are_read():
    X, y = load_digits(return_X_y=True)
    A, B, a, b = train_test_split(X / 16, y, random_state=0, stratify=y)
    assert rb.ExtremeLearningMachine(300).fit(A, a).score(B, b) > 0.95


def test_a_function_is_learned():
    x = np.linspace(-3, 3, 200)[:, None]
    model = rb.ExtremeLearningMachine(60, task="regression", alpha=1e-8, weight_scale=2.0).fit(x, np.sinc(x[:, 0]))
    assert model.score(x, np.sinc(x[:, 0])) > 0.9999
    assert model.training_mse_ < 1e-6


def test_xor():
    X, y = rb.datasets.load_xor()
    for seed in range(10):
        assert rb.ExtremeLearningMachine(20, alpha=1e-6, random_state=seed).fit(X, y).score(X, y) == 1.0


def test_what_kind_of_estimator_it_is():
    classifier, regressor = rb.ExtremeLearningMachine(), rb.ExtremeLearningMachine(task="regression")
    assert is_classifier(classifier)
    assert not is_regressor(classifier)
    assert is_regressor(regressor)
    assert hasattr(classifier, "decision_function")
    assert not hasattr(regressor, "decision_function")
    assert not hasattr(classifier, "predict_proba")
    X, y, _ = data()
    grid = {"extremelearningmachine__n_hidden": [5, 30], "extremelearningmachine__activation": ["tanh", "relu"]}
    search = GridSearchCV(make_pipeline(StandardScaler(), rb.ExtremeLearningMachine()), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.2


def test_frames_and_names():
    X, y, _ = data()
    frame = pd.DataFrame(X, columns=list("pqrs"))
    model = rb.ExtremeLearningMachine(10).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list("pqrs")
    with pytest.raises(InputError, match="same order"):
        model.predict(frame[list("qprs")])
    assert rb.ExtremeLearningMachine(10, task="regression").fit(frame, frame).predict(frame).shape == (80, 4)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_hidden": 0},
        {"task": "clustering"},
        {"activation": "softmax"},
        {"alpha": -1},
        {"alpha": math.inf},
        {"weight_scale": 0},
        {"random_state": "seed"},
    ],
    ids=repr,
)
def test_parameters_that_make_no_sense(parameters):
    X, y, _ = data()
    for method in ("fit", "partial_fit"):
        with pytest.raises(ParameterError, match=next(iter(parameters))):
            getattr(rb.ExtremeLearningMachine(**parameters), method)(X, y)


@pytest.mark.parametrize("name", ["task", "n_hidden", "activation", "alpha", "weight_scale"])
def test_a_stream_keeps_its_parameters(name):
    X, y, _ = data()
    other = {"task": "regression", "n_hidden": 6, "activation": "sine", "alpha": 7.0, "weight_scale": 2.0}
    model = rb.ExtremeLearningMachine(5).partial_fit(X, y)
    with pytest.raises(ParameterError, match=f"{name}=.* cannot continue from"):
        model.set_params(**{name: other[name]}).partial_fit(X, y)
    assert model.fit(X, y).n_features_in_ == 4


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, InputError, "y to be passed"),
        ([1.0] * 79, ShapeError, "80 rows but y has 79"),
        ([1.0] * 79 + [np.nan], NonFiniteError, "NaN, at row 79"),
        ([1.0] * 79 + [np.inf], NonFiniteError, "infinity, at row 79"),
        (["a"] * 80, DataTypeError, "y"),
        (np.ones((80, 2, 2)), ShapeError, r"\(80, 2, 2\)"),
        ([[1.0]] * 79 + [[1.0, 2.0]], ShapeError, "as long as the first"),
        (np.ma.array(np.ones(80), mask=[0] * 79 + [1]), InputError, "masked at row 79"),
    ],
)
def test_bad_measurements(y, error, message):
    X, _, _ = data()
    model = rb.ExtremeLearningMachine(5, task="regression")
    for method in (model.fit, model.partial_fit):
        with pytest.raises(error, match=message):
            method(X, y)
    assert not model.__sklearn_is_fitted__()


def test_rows_are_named_by_their_number_in_all_of_them(monkeypatch):
    monkeypatch.setattr("rosenblatt.networks.extreme_learning.BLOCK_OUTPUTS", 50)
    X, y, _ = data()
    X[70, 2] = np.nan
    with pytest.raises(NonFiniteError, match="row 70, column 2"):
        rb.ExtremeLearningMachine(5).fit(X, y)
    X[70] = 1.7e308 * np.sign(np.random.default_rng(0).standard_normal(4))
    with pytest.raises(TrainingOverflowError, match="Row 70 "):
        rb.ExtremeLearningMachine(50).fit(X, y)
    model = rb.ExtremeLearningMachine(50).fit(X[:70], y[:70])
    with pytest.raises(PredictionOverflowError, match="Row 70 "):
        model.predict(X)


def test_bad_chunks_leave_a_stream_as_it_was(monkeypatch):
    monkeypatch.setattr("rosenblatt.networks.extreme_learning.BLOCK_OUTPUTS", 50)  # ten rows at a time
    X, y, numbers = data()
    model = rb.ExtremeLearningMachine(5, task="regression").partial_fit(X, numbers)
    before = pickle.dumps(model.__dict__)
    with pytest.raises(ShapeError, match="1 numbers a row, but there were 2 before"):
        model.partial_fit(X, numbers[:, 0])
    with pytest.raises(ParameterError, match="classes are for"):
        model.partial_fit(X, numbers, classes=[0, 1])
    with pytest.raises(NonFiniteError, match="row 79"):
        model.partial_fit(np.vstack([X[:-1], [[np.nan] * 4]]), numbers)
    with pytest.raises(TrainingOverflowError, match=r"Row \d+ .* Scale the features"):
        model.partial_fit(np.sign(X) * 1.7e308, numbers)
    assert pickle.dumps(model.__dict__) == before
    labels = rb.ExtremeLearningMachine(5).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(LabelError, match="not one of the known classes"):
        labels.partial_fit(X, y + 1)
    with pytest.raises(LabelError, match="not the same as on last call"):
        labels.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(LabelError, match="only one class"):
        labels.fit(X, y * 0)
    with pytest.raises(TrainingOverflowError, match="Scale features"):
        rb.ExtremeLearningMachine(5, activation="relu").fit(X * 1e200, y)


def test_copies():
    X, y, _ = data()
    model = rb.ExtremeLearningMachine(10, random_state=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.partial_fit(X, y).coef_.tobytes() == model.partial_fit(X, y).coef_.tobytes()
    drawn = rb.ExtremeLearningMachine(10, random_state=np.random.default_rng(0))
    assert drawn.fit(X, y).hidden_coef_.tobytes() != drawn.fit(X, y).hidden_coef_.tobytes()
    assert clone(model).fit(X, y).coef_.tobytes() == model.fit(X, y).coef_.tobytes()


@pytest.mark.parametrize("classes", [5, "ab", [1], [1, 1]], ids=repr)
@pytest.mark.parametrize("kind", [rb.ExtremeLearningMachine, rb.MultilayerPerceptron, rb.Perceptron])
def test_classes_that_are_no_list_of_two_or_more(kind, classes):
    with pytest.raises(LabelError, match=r"classes=.* (must be a list of labels|must name at least two)"):
        kind().partial_fit([[1.0], [2.0]], [1, 1], classes=classes)


def test_hashed_text_makes_too_large_a_layer_which_is_said_before_training():
    rng = np.random.default_rng(0)
    places = (np.repeat(np.arange(50), 8), 262 * rng.permutation(1000)[:400])
    X, y = csr_array((np.ones(400), places), shape=(50, 2**18)), np.arange(50) % 2
    said = (
        r"A random layer of 500 neurons on 262,144 features has 131,072,000 weights, 327,680 times as many as "
        r"the rows have values \(400\), and its model would take 1\.05 GB\. Hash text into fewer features \(bits\)"
    )
    machine = rb.ExtremeLearningMachine()
    with pytest.raises(ParameterError, match=said):
        machine.fit(X, y)
    assert not hasattr(machine, "n_features_in_")
    assert rb.ExtremeLearningMachine(n_hidden=20).fit(X, y).n_features_in_ == 2**18
