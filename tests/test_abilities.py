"""What a learner declares that it can do is what it does, for every learner and every ability."""

import html
import inspect
import json
import math
import re
from functools import cache
from typing import get_args

import numpy as np
import pytest
from sklearn.base import is_regressor

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.lab.page_server import _page_for
from rosenblatt.lab.questions import RunMessage
from rosenblatt.lab.replies import Answers
from rosenblatt.learning.linear import HYPERPLANES
from rosenblatt.registry import BUILT_IN, Ability, able, class_of, command, declaration_of, title_of
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks

pytestmark = pytest.mark.filterwarnings("ignore")  # a few rows are not enough for most of them

GIVEN = {"SequencePerceptron": {"templates": "words"}, "AdaptiveFilter": {"n_taps": 4}}
"""Parameters for so few rows."""


@cache
def rows_of(name):
    """Return rows and targets that a learner takes; hyperplanes separate the classes."""
    rng = np.random.default_rng(0)
    X = np.round(4 * rng.standard_normal((40, 4))) / 4
    X[:, 0] += np.where(X[:, 0] >= 0, 1.0, -1.0)
    y = (X[:, 0] > 0).astype(int)
    match name:
        case "SequencePerceptron":
            sentences = [[f"w{(i + 1) % 7}", f"v{i % 5}", f"u{i % 3}"] for i in range(40)]
            return sentences, [["AB"[int(word[1]) % 2] for word in words] for words in sentences]
        case "PassiveAggressiveRegressor" | "RankingPerceptron":
            return X, X @ np.arange(4.0) + 0.125
        case "AdaptiveFilter":
            return X[:, 1], X[:, 1] / 2
        case "MultilabelPerceptron":
            return X, [{"long"} if positive else {"wide"} for positive in y]
    return X, y


def made(name, **given):
    cls = class_of(name)
    chosen = {"max_iter": 20} | given
    return cls(**{key: value for key, value in chosen.items() if key in cls._declared} | GIVEN.get(name, {}))


@cache
def fitted(name):
    return made(name).fit(*rows_of(name))


def known_to(name):
    """Return the classes that a stream has to be told."""
    known = {"MultilabelPerceptron": ["long", "wide"], "OrdinalPerceptron": [0, 1]}
    return {"classes": known[name]} if name in known else {}


def answers_of(model, X):
    answer = model.transform if isinstance(model, rb.OnlineScaler) else model.predict
    return np.asarray(answer(X), dtype=object).tolist()


def streams(name):
    """Chunks leave the answers of one longer chunk, and the model of no fit."""
    if not hasattr(class_of(name), "partial_fit"):
        return False
    X, y = rows_of(name)
    known = known_to(name)
    parts = made(name, batch_size=20, kernel="linear").partial_fit(X[:20], y[:20], **known)
    parts.partial_fit(X[20:], y[20:])
    if name != "RankingPerceptron":  # which compares the rows of a chunk
        whole = made(name, batch_size=20, kernel="linear").partial_fit(X, y, **known)
        assert answers_of(parts, X) == answers_of(whole, X)
    return True


def examples(name):
    """Single examples leave the answers of a chunk."""
    if not hasattr(class_of(name), "predict_one"):
        return False
    X, y = rows_of(name)
    known = known_to(name)
    one = made(name, kernel="linear")
    if name != "SequencePerceptron":
        assert one.predict_one(X[0]) is None
    for k, (x, label) in enumerate(zip(X, y, strict=True)):
        one.learn_one(x, label, **({} if k else known))
    whole = made(name, kernel="linear").partial_fit(X, y, **known)
    assert answers_of(one, X) == answers_of(whole, X)
    return True


def blocks(name):
    """Blocks of rows are learned from; see also `tests/tasks/test_training.py`, which has files of any size."""
    if not hasattr(class_of(name), "fit_blocks"):
        return False
    X, y = rows_of(name)
    several = MemoryBlocks(as_batch(X, y), np.array([0, 15, 40]))
    assert made(name).fit_blocks(several).score(X, y) > 0.9
    return True


def checkpoints(name, path):
    """A fit goes on from a checkpoint, to the bits of one that was not interrupted."""
    cls = class_of(name)
    fit = getattr(cls, "fit_blocks", None) or getattr(cls, "fit", lambda: None)
    if "checkpoint" not in inspect.signature(fit).parameters:
        return False
    rng = np.random.default_rng(1)
    X, y = rows_of(name)
    if name == "SequencePerceptron":
        y = [[str(rng.integers(3)) for _ in each] for each in y]
    else:
        y = [y[k] for k in rng.permutation(len(y))]
    data = (MemoryBlocks(as_batch(X, y), np.array([0, 15, 40])),) if fit.__name__ == "fit_blocks" else (X, y)
    fit(made(name, max_iter=2), *data, checkpoint=path)
    assert path.exists()
    resumed = fit(made(name, max_iter=5), *data, checkpoint=path, resume=True)
    whole = fit(made(name, max_iter=5), *data)
    assert resumed.n_iter_ == whole.n_iter_ > 2
    assert resumed._state.w.tobytes() == whole._state.w.tobytes()
    return True


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    with distributed.Client(n_workers=1, processes=False, dashboard_address=":0") as made:
        yield made


def mixing(name, client):
    """The partitions of a cluster are learned from."""
    import dask.array as da

    from rosenblatt import distributed as rd

    X, y = rows_of("Perceptron")
    try:
        model = rd.fit(made(name), da.from_array(X, (20, 4)), da.from_array(y, 20), client=client)
    except ParameterError as error:
        return "cannot be trained by parameter mixing" not in str(error)
    return model.score(X, y) > 0.9


def linear(name):
    """The labels are those of its hyperplanes, which is all that a file keeps to predict by."""
    if not hasattr(class_of(name), "unscale") or not hasattr(fitted(name), "coef_"):
        return False
    X, _ = rows_of(name)
    model = fitted(name)
    scores = X @ model.coef_.T + model.intercept_
    assert model.classes_[(scores[:, 0] > 0).astype(int)].tolist() == model.predict(X).tolist()
    return HYPERPLANES.keys() <= declaration_of(class_of(name)).state.parts.keys()


def traces(name):
    """The record of a fit counts its mistakes, or its updates."""
    trace = getattr(fitted(name), "trace_", None)
    if trace is None:
        return False
    assert len(trace.mistakes_per_pass) == fitted(name).n_iter_
    return True


def onnx(name):
    """An ONNX graph predicts the same labels."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed, so no ONNX model was run")
    X, _ = rows_of(name)
    try:
        graph = rb.to_onnx(fitted(name))
    except ParameterError as error:
        return "has no ONNX graph" not in str(error)
    session = runtime.InferenceSession(graph.SerializeToString())
    found = session.run(None, {session.get_inputs()[0].name: X})[0]
    assert found.ravel().tolist() == fitted(name).predict(X).tolist()
    return True


def groups(name):
    """Rows are compared within their groups alone."""
    if "qid" not in inspect.signature(class_of(name).fit).parameters:
        return False
    X, y = rows_of(name)
    model = made(name).fit(X, y, qid=np.arange(len(y)) // 4)
    return model.score(X, y, qid=np.arange(len(y)) // 4) > 0.9


def numbers(name):
    """Targets are numbers: what is predicted need not be one of them."""
    if not hasattr(class_of(name), "predict") or name in ("SequencePerceptron", "MultilabelPerceptron", "Probes"):
        return False
    X, y = rows_of(name)
    found = np.asarray(fitted(name).predict(X))
    other = not set(found.tolist()) <= set(np.asarray(y).tolist())
    assert other or not is_regressor(fitted(name))
    return other


PROBES = {each.__name__: each for each in (streams, examples, blocks, linear, traces, onnx, groups, numbers)}


def test_every_ability_has_a_probe():
    assert {*PROBES, "checkpoints", "mixing", "serves"} == set(get_args(Ability))
    assert {name for name, entry in BUILT_IN.items() if "onnx" in entry.abilities} == {
        "MultilayerPerceptron",
        *(name for name, entry in BUILT_IN.items() if "linear" in entry.abilities),
    }  # as messages and pages say


def classes_named(text):
    return {name for name in BUILT_IN if re.search(rf"\b{name}\b", text)}


@pytest.mark.parametrize(("function", "ability"), [("to_onnx", "onnx"), ("fit", "mixing")])
def test_docstrings_name_the_learners_with_an_ability(function, ability):
    if function == "fit":
        pytest.importorskip("distributed", reason="Dask is not installed")
    doc = inspect.getdoc(rb.to_onnx if function == "to_onnx" else rb.distributed.fit)
    _, section = doc.split("----------\n", 1)
    able_there = {name for name, entry in BUILT_IN.items() if ability in entry.abilities}
    assert (
        classes_named(section.split("\npath :")[0].split("Its parameters mean")[0]) - {"OnlineScaler"}
        == able_there
    )


def serves(name, path):
    """A server goes on with it, row by row."""
    served = pytest.importorskip("rosenblatt.server.served_model", reason="what the server needs is not installed")
    if not hasattr(class_of(name), "predict"):
        return False
    rb.save(made(name, **({"budget": 8} if name == "KernelPerceptron" else {})).fit(*rows_of(name)), path)
    try:
        served.read_learner(path)
    except ParameterError as error:
        told = str(error).partition("Serve a")[2]
        return classes_named(told) != {each for each in BUILT_IN if "serves" in BUILT_IN[each].abilities}
    return True


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_learner_is_served_if_it_declares_it(name, tmp_path):
    assert serves(name, tmp_path / "m") == ("serves" in BUILT_IN[name].abilities)


def test_every_learner_has_a_title():
    for entry in BUILT_IN.values():
        assert entry.titles.keys() == entry.commands.keys()
    assert title_of("careful") == "careful"


@pytest.mark.parametrize("ability", PROBES)
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_learner_does_what_it_declares(name, ability):
    assert PROBES[ability](name) == (ability in declaration_of(class_of(name)).abilities)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_learner_keeps_the_checkpoints_it_declares(name, tmp_path):
    assert checkpoints(name, tmp_path / "state") == ("checkpoints" in BUILT_IN[name].abilities)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_learner_is_mixed_if_it_declares_it(name, client):
    assert mixing(name, client) == ("mixing" in BUILT_IN[name].abilities)


@pytest.mark.parametrize("learner", [name for entry in BUILT_IN.values() for name in entry.commands])
def test_the_lab_trains_the_learners_that_it_lists(learner):
    told = re.search(r'name="lab-server" content="([^"]+)"', _page_for("localhost", ""))
    listed = [name for name, _ in json.loads(html.unescape(told[1]))["learners"]]
    assert (learner in listed) == (learner not in able("numbers"))
    if learner in listed:
        X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0], [4.0, 3.0], [3.0, 4.0]]
        run = RunMessage(id=1, learner=learner, X=X, y=[-1, -1, -1, 1, 1, 1], labels=["-1", "1"])
        assert Answers((), {}).answer(run).keys() & {"document", "outcome"}


def test_a_name_fixes_parameters_that_its_class_has():
    for entry in BUILT_IN.values():
        for name, fixed in entry.commands.items():
            cls, found = command(name)
            assert found == fixed
            assert fixed.keys() <= cls._declared.keys()
            assert all(value != cls._declared[key].default or math.isnan(value) for key, value in fixed.items())
