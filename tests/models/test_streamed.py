"""A learner read without scikit-learn goes on as its estimator does, to the bit."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.codecs import read_container
from rosenblatt.exceptions import ModelFileError
from rosenblatt.loops.rules import Rule
from rosenblatt.models.files import open_model, write_model
from rosenblatt.models.streamed import RULES, read_streamed
from rosenblatt.registry import class_of
from rosenblatt.rows.features import as_rows
from rosenblatt.server.events import LearnEvent, PackedRows
from rosenblatt.server.replica import Replica

RNG = np.random.default_rng(3)
X = RNG.standard_normal((24, 5)).round(1)
LEARNERS = [
    rb.Perceptron(),
    rb.Perceptron(average=True, class_weight="balanced"),
    rb.PassiveAggressiveClassifier(),
    rb.ConfidenceWeightedClassifier(),
    rb.PNormPerceptron(p=4),
]


@pytest.mark.parametrize("name", RULES)
def test_the_registry_names_the_rule_of_each_learner(name):
    assert type(class_of(name)()._own_rule(Rule())) is RULES[name]


def labels(n_classes):
    return np.array(list("abcd"))[np.argmax(X[:, :n_classes], axis=1)]


def event(rows, y):
    return LearnEvent(PackedRows.of(as_rows(rows)), y.tolist())


def content(path):
    """Return what is in a file, but for the time when it was made."""
    document, tensors = read_container(path)
    del document["provenance"]
    return json.dumps(document), {name: (array.dtype, array.tobytes()) for name, array in tensors.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes, sparse", [(2, False), pytest.param(3, True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_it_goes_on_as_its_estimator_does(tmp_path, learner, n_classes, sparse):
    y, rows = labels(n_classes), csr_array(X) if sparse else X
    model = learner.fit(rows[:12], y[:12]).partial_fit(rows[12:16], y[12:16])
    rb.save(model, tmp_path / "m")
    light = Replica(read_streamed(open_model(tmp_path / "m")), 0)
    whole = Replica(rb.load(tmp_path / "m"), 0)
    assert light.digest() == whole.digest()
    for each in (light, whole):
        each.fold(event(rows[16:20], y[16:20]))
    other = light.copy()
    assert light.digest() == other.digest() == whole.digest()
    for each in (light, whole):
        each.fold_all([event(rows[20:], y[20:])])
    assert light.digest() == whole.digest() != other.digest()
    assert light.decide(as_rows(rows)) == whole.decide(as_rows(rows))
    assert light.decide(as_rows(rows[:3])) == whole.decide(as_rows(rows[:3]))
    assert light.learner.estimator().predict(rows).tolist() == whole.learner.predict(rows).tolist()


@pytest.mark.parametrize("names", ["rows", "mappings", "texts"])
def test_files_of_it_are_those_of_its_estimator(tmp_path, names):
    if names == "texts":
        model = make_pipeline(rb.TableEncoder(bits=6), rb.Perceptron()).fit(["a b", "c d", "a"], ["x", "y", "x"])
        model[-1].partial_fit(model[:-1].transform(["e f"]), ["y"])
    elif names == "mappings":
        model = rb.Perceptron().learn_one({"a": 1.0, "b": 2.0}, "x").learn_one({"c": 1.0}, "y")
    else:
        model = rb.Perceptron().fit(X, labels(2)).learn_one(X[0], "b")
    rb.save(model, tmp_path / "m")
    stored = open_model(tmp_path / "m")
    learner = read_streamed(stored)
    for _ in range(2):  # the second time the file has been given up
        write_model(stored.preparation, learner.estimator(), tmp_path / "again", provenance=None)
        write_model(stored.preparation, stored.estimator(), tmp_path / "whole", provenance=None)
        assert content(tmp_path / "again") == content(tmp_path / "whole")
    assert learner.online_model().feature_names == (("a", "b", "c") if names == "mappings" else None)


@pytest.mark.filterwarnings("ignore")
def test_files_without_a_stream_need_their_estimator(tmp_path):
    rb.save(rb.Perceptron().fit(X, labels(2)), tmp_path / "fit")
    rb.save(rb.KernelPerceptron(budget=5).fit(X, labels(2)).learn_one(X[0], "b"), tmp_path / "kernel")
    assert read_streamed(open_model(tmp_path / "fit")) is None
    assert read_streamed(open_model(tmp_path / "kernel")) is None


def test_contradictions_are_refused(tmp_path):
    rb.save(rb.Perceptron().learn_one([1.0], "x").learn_one([2.0], "y"), tmp_path / "m")
    stored = open_model(tmp_path / "m")
    stored._document["state"]["width"] = 7
    with pytest.raises(ModelFileError, match="fewer weights than features"):
        read_streamed(stored)
    del stored._document["state"]["zero"]
    with pytest.raises(ModelFileError, match="missing"):
        read_streamed(stored)


def test_every_learner_with_a_rule_is_tried():
    assert {type(learner).__name__ for learner in LEARNERS} == RULES.keys()


def test_it_needs_no_scikit_learn(tmp_path):
    rb.save(rb.Perceptron().learn_one([1.0], "x").learn_one([2.0], "y"), tmp_path / "m")
    lines = (
        "import sys",
        "from rosenblatt.models.files import open_model",
        "from rosenblatt.models.streamed import read_streamed",
        "from rosenblatt.server.host import Host",
        "read_streamed(open_model(sys.argv[1]))",
        "assert 'sklearn' not in sys.modules",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines), str(tmp_path / "m")], check=True)
