"""The model is its mistakes: the record of a run rebuilds it, bit for bit."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, LabelError, ShapeError
from rosenblatt.learning.trace import exact_curve
from rosenblatt.rows.batch import as_batch
from tests.shared.examples import examples, slowly
from tests.shared.strategies import noisy, problems, quietly, separable, trained

LAYOUTS = {
    "dense": np.asarray,
    "float32": lambda X: np.asarray(X, np.float32),
    "csr": csr_array,
    "csr32": lambda X: csr_array(np.asarray(X, np.float32)),
}


def _bits(clf):
    return np.append(clf.coef_[0], clf.intercept_).tobytes()


@pytest.mark.parametrize("layout", [*list(LAYOUTS.values())[:3], *slowly(LAYOUTS["csr32"])], ids=LAYOUTS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("bias", ["unit", "radius"])
def test_replay(layout, average, bias):
    X, y = noisy(80, 11)
    table, weight = layout(X), np.random.default_rng(1).random(80)
    clf = trained(
        table, y, fit={"sample_weight": weight}, average=average, bias=bias, max_iter=5, init="random", tie="half"
    )
    model = clf.trace_.replay(table, y)
    assert model.weights.tobytes() == _bits(clf)
    assert model.classes.tolist() == [-1, 1]
    assert model.coef.tobytes() == clf.coef_.tobytes()
    assert model.intercept == clf.intercept_[0]


@pytest.mark.parametrize("average", [False, True])
def test_replay_of_a_stream(average):
    X, y = noisy(80, 11)
    clf = rb.Perceptron(trace="mistakes", average=average)
    clf.partial_fit(X[:30], y[:30], sample_weight=np.linspace(0, 2, 30))
    for x, label in zip(X[30:50], y[30:50], strict=True):
        clf.learn_one(x, label)
    clf.partial_fit(X[50:], y[50:])
    assert len(clf.trace_) == clf.n_mistakes_
    assert clf.trace_.n_rows == 80
    assert clf.trace_.replay(X, y).weights.tobytes() == _bits(clf)
    assert rb.Perceptron().partial_fit(X, y).trace_.mistakes is None


def test_replay_of_a_fit_that_went_on():
    X, y = noisy(80, 11)
    clf = trained(X, y, warm_start=True, average=True, max_iter=3)
    quietly(clf.fit, X, y)
    assert clf.trace_.start.visits == 240
    assert clf.trace_.visit.min() >= 240
    assert clf.trace_.replay(X, y).weights.tobytes() == _bits(clf)
    clf.set_params(trace="mistakes").partial_fit(X[:20], y[:20])
    assert clf.trace_.replay(X[:20], y[:20]).weights.tobytes() == _bits(clf)


@settings(max_examples=examples(60))
@given(problems(), st.data())
def test_other_data_is_noticed(problem, data):
    X, y = problem
    clf = trained(X, y, order="cyclic", max_iter=4)
    row = int(clf.trace_.index[-1])
    first = np.flatnonzero(clf.trace_.index == row)[0]
    W, _ = clf.trace_.path(X, y)
    column = data.draw(st.integers(0, X.shape[1] - 1))
    assume(W[first, column])  # else the first score of that row would not tell
    other = X.copy()
    other[row, column] += data.draw(st.sampled_from([1.0, -1.0, 2.0**-20]))
    with pytest.raises(InputError, match="not the data of the run"):
        clf.trace_.replay(other, y)


def test_what_does_not_fit_is_refused():
    X, y = noisy(20, 3)
    trace = trained(X, y, max_iter=3).trace_
    with pytest.raises(ShapeError, match="shape"):
        trace.replay(X[:19], y[:19])
    with pytest.raises(ShapeError, match="shape"):
        trace.path(X[:, :2], y)
    with pytest.raises(LabelError, match="not one of the known classes"):
        trace.replay(X, np.where(y > 0, 1, 0))
    with pytest.raises(InputError, match="not the data of the run"):
        trace.replay(X[::-1], y[::-1])
    with pytest.raises(InputError, match="not the data of the run"):
        trace.replay(X, -y)


@given(problems(), st.sampled_from(["mistake", "half", "sign", "correct"]), st.sampled_from([0.5, 1.0]), st.data())
def test_expansion(problem, tie, eta, data):
    """w = w₀ + Σ expansion_i y_i x_i, b = b₀ + β Σ expansion_i y_i, exactly."""
    X, y = problem
    weight = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(y), max_size=len(y)))
    start = data.draw(st.lists(st.integers(-2, 2), min_size=X.shape[1], max_size=X.shape[1]))
    clf = trained(
        X, y, fit={"sample_weight": weight, "coef_init": start}, tie=tie, eta0=eta, bias="radius", max_iter=4
    )
    trace = clf.trace_
    pulls = trace.expansion * y
    assert clf.coef_[0].tolist() == (np.array(start) + pulls @ X).tolist()
    assert clf.intercept_[0] == trace.bias * pulls.sum()
    assert trace.alpha.sum() == len(trace) == clf.n_mistakes_
    if tie != "half":
        assert trace.expansion.tolist() == (eta * trace.alpha * weight).tolist()


@given(problems(), st.sampled_from([-1, 1]))
def test_path_and_passes(problem, zero):
    X, y = problem
    clf = trained(X, y, max_iter=5, zero=zero)
    W, b = clf.trace_.path(X, y)
    assert W.shape == (clf.n_mistakes_ + 1, X.shape[1])
    assert not W[0].any()
    assert W[-1].tolist() == clf.coef_[0].tolist()
    assert b[-1] == clf.intercept_[0]
    i, steps = clf.trace_.index, clf.trace_.step
    assert np.diff(W, axis=0).tolist() == (steps[:, None] * y[i, None] * X[i]).tolist()
    models = clf.trace_.after_each_pass(X, y)
    ends = np.cumsum(clf.mistakes_per_pass_)
    assert [m.weights.tolist() for m in models] == [[*W[k], b[k]] for k in ends]
    curve = exact_curve(clf.trace_, X, y, validation=(X[:1], y[:1]))
    scores = [X @ model.coef + model.intercept for model in models]
    wrong = [np.mean(np.where((f > 0) | ((f == 0) & (zero > 0)), 1, -1) != y) for f in scores]
    assert curve.training.tolist() == wrong
    assert curve.validation.tolist() == [model.error(as_batch(X, y).take([0])) for model in models]
    assert 1 - wrong[-1] == pytest.approx(clf.score(X, y))


@pytest.mark.parametrize("layout", [*list(LAYOUTS.values())[:3], *slowly(LAYOUTS["csr32"])], ids=LAYOUTS)
@pytest.mark.parametrize("bias", ["unit", "radius", None])
@pytest.mark.parametrize("eta", [1.0, 0.3])
def test_the_mistakes_alone_train_the_same_model(layout, bias, eta):
    """Z, corollary 2.4.4."""
    X, y = separable(200, 4, gap=0.2)
    X, y = (np.vstack([X, -X]), np.append(y, -y)) if bias is None else (X, y)
    table = layout(X)
    clf = rb.Perceptron(bias=bias, eta0=eta).fit(table, np.where(y > 0, "yes", "no"))
    few = clf.trace_.compressed(table, np.where(y > 0, "yes", "no"))
    assert len(few.rows) < 200
    assert set(few.y) == {"yes", "no"}
    again = trained(few.X, few.y, order=few.order, bias=few.bias, max_iter=1, eta0=eta)
    assert _bits(again) == _bits(clf)
    assert again.n_mistakes_ == len(few.order) == clf.n_mistakes_
    assert again.score(table, np.where(y > 0, "yes", "no")) == 1.0
    bound = (2 * np.linalg.norm(X, axis=1).max() / 0.2) ** 2
    assert len(few.order) <= bound


def test_a_run_without_mistakes_compresses_to_nothing_or_says_so():
    clf = rb.Perceptron().fit([[1.0], [-1.0]], [1, -1], coef_init=[1.0])
    assert len(clf.trace_) == 0
    with pytest.raises(InputError, match="mistake"):
        clf.trace_.compressed([[1.0], [-1.0]], [1, -1])
    assert clf.trace_.replay([[1.0], [-1.0]], [1, -1]).coef.tolist() == [1.0]
    assert clf.trace_.alpha.tolist() == [0, 0]
    assert clf.trace_.path([[1.0], [-1.0]], [1, -1])[0].tolist() == [[1.0]]
