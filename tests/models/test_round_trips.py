"""Any model saved and loaded is the same one: what it predicts, what it knows, and how it goes on."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.models import open_model
from rosenblatt.registry import BUILT_IN
from tests.models.models import MODELS, NAMES, TWO, X, answers, asked, bits, gone_on, made
from tests.shared.strategies import quietly

FILES = settings(max_examples=15)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    """Wait for no disk: what a crash leaves is tested elsewhere."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def through_a_file(model, path):
    rb.save(model, path)
    return rb.load(path)


def test_there_is_a_model_of_every_kind():
    assert {name.split("-")[0] for name in MODELS} == set(BUILT_IN)


def test_every_estimator_of_the_package_can_be_saved():
    from sklearn.base import BaseEstimator

    public = {name for name in rb.__all__ if isinstance(getattr(rb, name), type)}
    found = {name for name in public if issubclass(getattr(rb, name), BaseEstimator)}
    assert found == {*BUILT_IN, "TableEncoder"}  # which are saved with their learner


@pytest.mark.parametrize("name", NAMES)
def test_it_answers_the_same_and_goes_on_the_same(name, tmp_path):
    model = made(name)
    loaded = through_a_file(model, tmp_path / "m")
    assert type(loaded) is type(model)
    assert bits(answers(loaded)) == bits(answers(model))
    assert repr(loaded.get_params()) == repr(model.get_params())
    assert bits(answers(gone_on(loaded))) == bits(answers(gone_on(model)))
    again = through_a_file(loaded, tmp_path / "again")
    assert bits(answers(gone_on(again))) == bits(answers(gone_on(model)))


@pytest.mark.parametrize("name", NAMES)
def test_it_tells_the_same_of_itself(name, tmp_path):
    model = made(name)
    loaded = through_a_file(model, tmp_path / "m")
    for attribute in dir(model):
        if not attribute.endswith("_") or attribute.startswith("_"):
            continue
        try:
            value = getattr(model, attribute)
        except AttributeError:
            with pytest.raises(AttributeError):
                getattr(loaded, attribute)
            continue
        told = getattr(loaded, attribute)
        if isinstance(value, np.ndarray | int | float | str | bool | tuple | None):
            assert type(told) is type(value)
            assert_array_equal(told, value)
        else:
            assert repr(told) == repr(value)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_model_makes_the_same_file(name, tmp_path):
    made_then = {"created": "then"}
    for path in ("a", "b"):
        rb.save(made(name), tmp_path / path, provenance=made_then)
    rb.save(rb.load(tmp_path / "a"), tmp_path / "c", provenance=made_then)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("name", ["Perceptron", "Perceptron-direct-sparse-l1", "KernelPerceptron"])
def test_a_warm_start_goes_on_as_if_nothing_had_been_saved(name, tmp_path):
    model = made(name).set_params(warm_start=True, max_iter=2)
    y = np.resize(model.classes_, len(X))
    loaded = through_a_file(model, tmp_path / "m")
    assert bits(answers(quietly(loaded.fit, asked(model), y))) == bits(
        answers(quietly(model.fit, asked(model), y))
    )


def test_a_trace_replays_after_loading(tmp_path):
    loaded = through_a_file(made("Perceptron"), tmp_path / "m")
    assert_array_equal(loaded.trace_.replay(X, TWO).coef, loaded.coef_[0])


LABELS = st.sampled_from(
    [
        np.array([True, False, True]),
        np.array([3, -7, 12], np.int8),
        np.array([2**63, 1, 0], np.uint64),
        np.array([1.0, 2.0, -3.0], np.float32),
        np.array(["", "ünïcode ✓", "a\x00b"]),
        np.array(["no", 3, True], object),
        np.array(["x", "y", "z"], object),
        np.array(["\ud800", "q", '"\\'], object),
    ]
)
PARAMETERS = st.fixed_dictionaries(
    {
        "bias": st.sampled_from(["unit", "radius", None, 0.5]),
        "multiclass": st.sampled_from(["direct", "ovr", "ovo"]),
        "average": st.booleans(),
        "tie": st.sampled_from(["mistake", "half", "correct"]),
        "zero": st.sampled_from([-1, 1]),
        "margin": st.sampled_from([0.0, 0.5]),
        "eta0": st.sampled_from([1, 0.3]),
        "order": st.sampled_from(["shuffle", "cyclic", "random", [3, 1, 0, 2], np.array([0, 1, 2, 3])]),
        "random_state": st.sampled_from([0, 7, np.int64(3)]),
        "class_weight": st.sampled_from([None, "balanced"]),
        "trace": st.sampled_from(["auto", "mistakes", "counts", None]),
    }
)


def labelled(data, labels, n):
    codes = [*range(len(set(labels.tolist()))), *data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))]
    return np.unique(labels)[codes] if labels.dtype != object else np.array([labels[c] for c in codes], object)


@pytest.mark.slow
@given(st.data(), LABELS, PARAMETERS, st.sampled_from(["dense", "single", "sparse"]))
@FILES
def test_perceptrons_of_all_kinds(tmp_path, data, labels, parameters, layout):
    y = labelled(data, labels, 5)
    row = st.lists(st.integers(-3, 3), min_size=3, max_size=3)
    rows = np.array(data.draw(st.lists(row, min_size=len(y), max_size=len(y))), float)
    X = {"dense": rows, "single": rows.astype(np.float32), "sparse": csr_array(rows)}[layout]
    model = quietly(rb.Perceptron(max_iter=3, **parameters).fit, X, y)
    loaded = through_a_file(model, tmp_path / "m")
    ways = [lambda m: m.predict(X), lambda m: m.decision_function(X), lambda m: m.coef_, lambda m: m.classes_]
    assert bits([way(loaded) for way in ways]) == bits([way(model) for way in ways])
    for each in (model, loaded):
        each.partial_fit(X, y).learn_one(rows[0], y[-1])
    assert bits([way(loaded) for way in ways]) == bits([way(model) for way in ways])
    assert loaded.n_mistakes_ == model.n_mistakes_


def some(**parameters):
    return st.fixed_dictionaries({name: st.sampled_from(values) for name, values in parameters.items()})


TASKS = ["classification", "regression"]
OTHERS = {
    "VotedPerceptron": some(multiclass=["direct", "ovo"], zero=[-1, 1], bias=["unit", None], max_iter=[1, 3]),
    "PocketPerceptron": some(multiclass=["direct", "ovr"], count=["functional"], pocket_margin=[0.0, 0.5]),
    "KernelPerceptron": some(
        kernel=["linear", "rbf", "laplacian", rb.kernels.Polynomial(3, 0.5)],
        budget=[None, 3],
        budget_policy=["projection", "oldest", "random"],
        max_iter=[2],
    ),
    "SoftMarginClassifier": some(loss=["hinge", "logistic"], solver=["auto", "sgd", "batch"], max_iter=[5]),
    "MultilayerPerceptron": some(
        task=TASKS,
        hidden_layer_sizes=[(), 3, [2, 2]],
        activation=["relu", "tanh"],
        solver=["adam", "sgd"],
        one_hot=[False, True],
        max_iter=[2],
    ),
    "MarkOne": some(
        n_association=[3, 10],
        retina=[(2, 3)],
        photocells=["binary", "graded"],
        average=[False, True],
        max_iter=[2],
    ),
    "ExtremeLearningMachine": some(task=TASKS, n_hidden=[1, 4], activation=["tanh", "step", "sine"]),
    "VisualHierarchy": some(sizes=[(3, 2, 2)], sigma=[0.5], training=["random", "backpropagation"], max_iter=[2]),
    "MonomialMap": some(degree=[1, 3], c=[0.0, 0.5]),
}


@pytest.mark.slow
@given(st.data(), st.sampled_from([*OTHERS]))
@settings(FILES, max_examples=25)
def test_every_other_estimator_on_random_data(tmp_path, data, name):
    parameters = data.draw(OTHERS[name])
    n = data.draw(st.integers(4, 8))
    rows = data.draw(
        hnp.arrays(data.draw(st.sampled_from([np.float64, np.float32])), (n, 9), elements=st.integers(-3, 3))
    )
    y = rows[:, :2] if parameters.get("task") == "regression" else np.resize(data.draw(LABELS), n)
    model = getattr(rb, name)(**parameters)
    model = quietly(model.fit, csr_array(rows) if data.draw(st.booleans()) else rows, y)
    loaded = through_a_file(model, tmp_path / "m")
    assert bits(answers(loaded)) == bits(answers(model))
    assert bits(answers(gone_on(loaded))) == bits(answers(gone_on(model)))


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-4, 4)), st.integers(1, 6), st.booleans())
@FILES
def test_filters_on_random_signals(tmp_path, far, n_taps, rotated):
    far = far * 1j if rotated else far
    model = rb.AdaptiveFilter(n_taps, window=5).fit(far, far[::-1])
    loaded = through_a_file(model, tmp_path / "m")
    assert bits(answers(loaded)) == bits(answers(model))
    assert bits(answers(gone_on(loaded))) == bits(answers(gone_on(model)))


@given(hnp.arrays(np.float64, (6, 3), elements=st.integers(-3, 3)), st.sampled_from([0.3, 0.9]))
@FILES
def test_lifted_and_widest_hyperplanes_on_random_data(tmp_path, rows, a):
    y = np.where(rows[:, 0] + 0.1 > 0, "b", "a")
    y[:2] = "a", "b"
    try:
        models = [quietly(rb.LiftedPerceptron(a=a).fit, rows, y), quietly(rb.MaxMarginClassifier().fit, rows, y)]
    except rb.exceptions.NotSeparableError:
        models = [quietly(rb.LiftedPerceptron(a=a).fit, rows, y)]
    for model in models:
        ways = [model.predict, model.decision_function]
        loaded = through_a_file(model, tmp_path / "m")
        assert bits([loaded.predict(rows), loaded.decision_function(rows)]) == bits([way(rows) for way in ways])


@pytest.mark.slow
@given(st.data(), st.sampled_from(["VotedPerceptron", "KernelPerceptron"]), st.integers(1, 3))
@FILES
def test_streams_saved_at_any_moment(tmp_path, data, name, chunks):
    values = st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=5)
    own = {"kernel": "poly", "budget": 3} if name == "KernelPerceptron" else {}
    model = getattr(rb, name)(**own)
    other = getattr(rb, name)(**own)
    for chunk in range(chunks + 1):
        rows = np.array(data.draw(values), float)
        rows = csr_array(rows) if data.draw(st.booleans()) else rows
        y = data.draw(st.lists(st.sampled_from("abc"), min_size=rows.shape[0], max_size=rows.shape[0]))
        model.partial_fit(rows, y, classes="grow")
        other.partial_fit(rows, y, classes="grow")
        other = through_a_file(other, tmp_path / f"{chunk}")
        grid = np.mgrid[-2:3, -2:3].reshape(2, -1).T.astype(float)
        assert bits([other.decision_function(grid)]) == bits([model.decision_function(grid)])


def test_names_and_provenance(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X[:, :3], columns=["ä", "b c", ""])
    model = rb.Perceptron(order="cyclic").fit(frame, X[:, 0] > 0)
    rb.save(model, tmp_path / "m", provenance={"data": "abc"})
    stored = open_model(tmp_path / "m")
    assert stored.feature_names == ("ä", "b c", "")
    assert stored.preparation.steps == ()
    assert stored.provenance["data"] == "abc"
    assert stored.provenance["rosenblatt"] == rb.__version__
    assert stored.facts["stop_reason_"] == model.stop_reason_
    assert stored.facts["mistakes_per_pass"] == model.mistakes_per_pass_.tolist()
    assert stored.parameters == model.get_params()
    assert "Perceptron" in repr(stored)
    loaded = stored.estimator()
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.predict_one({"ä": 1.0}) == model.predict_one({"ä": 1.0})


def test_estimators_of_one_file_are_their_own(tmp_path):
    rb.save(made("Perceptron-fit-then-stream"), tmp_path / "m")
    stored = open_model(tmp_path / "m")
    first, second = stored.estimator(), stored.estimator()
    before = bits(answers(second))
    first.learn_one(X[0], not first.predict_one(X[0]))  # a mistake, which changes the weights in place
    assert bits(answers(first)) != before
    assert bits(answers(second)) == bits(answers(stored.estimator())) == before


def test_a_long_trace_is_left_out_and_said_so(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.estimators._linear.LONGEST_TRACE", 3)
    model = made("Perceptron-fit-then-stream")
    fitted = made("Perceptron")
    loaded = through_a_file(fitted, tmp_path / "m")
    with pytest.raises(AttributeError, match="kept no trace: a run of"):
        _ = loaded.trace_
    assert loaded.mistakes_per_pass_.tolist() == fitted.mistakes_per_pass_.tolist()
    assert_array_equal(loaded.curve_.training, fitted.curve_.training)
    with pytest.raises(AttributeError, match="kept no trace: a run of"):
        _ = through_a_file(loaded, tmp_path / "again").trace_
    y = np.resize(fitted.classes_, len(X))
    assert len(quietly(loaded.set_params(max_iter=1).fit, X, y).trace_) > 0
    assert fitted.trace_.index.size  # the model that was saved keeps its own
    # R of the fit is what the stream's bias needs, however long the trace.
    assert bits(answers(gone_on(through_a_file(model, tmp_path / "r")))) == bits(answers(gone_on(model)))
