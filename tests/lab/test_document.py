"""Run documents: they hold a run whole, and nothing that is no run passes for one."""

import copy
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError
from rosenblatt.lab.questions import RunMessage
from rosenblatt.lab.replies import Answers

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = Path(__file__).parents[2] / "web" / "run.schema.json"


def document_of(clf, X, y, order, text=True):
    clf.fit(X, y)
    document = clf.trace_.to_document(
        X, y, eta=clf.eta0, margin=clf.margin, tie=clf.tie, order=order, reason=clf.stop_reason_
    )
    return json.loads(json.dumps(document, allow_nan=False)) if text else document


def golden_runs():
    six, xor, spam = (
        load() for load in (rb.datasets.load_six_points, rb.datasets.load_xor, rb.datasets.load_spam_table)
    )
    orders = [[3, 1, 0, 2], [0, 2, 3, 1], [1, 1, 2, 0]]
    yield "six-points-averaged", rb.Perceptron(order="cyclic", average=True), *six, range(6)
    yield "xor-three-orders", rb.Perceptron(order=orders, eta0=0.1, tie="half", max_iter=3), *xor, orders
    yield "spam-without-order", rb.Perceptron(bias="radius", random_state=1), *spam, None
    three = np.array([0, 1, 2, 0, 1, 2])
    for scheme in ("direct", "ovr", "ovo"):
        several = rb.Perceptron(order="cyclic", multiclass=scheme, average=scheme == "direct", max_iter=20)
        yield f"three-classes-{scheme}", several, six[0], three, range(6)


def same(a, b):
    """Whether two documents are equal, with the signs of zeros."""
    return json.dumps(a) == json.dumps(b)


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name, clf, X, y, order", list(golden_runs()), ids=[run[0] for run in golden_runs()])
def test_golden(name, clf, X, y, order):
    path = GOLDEN / f"{name}.json"
    document = document_of(clf, X, y, order)
    assert same(document, json.loads(path.read_text())), f"{name} is not what it was"
    trace, again_X, again_y = rb.Trace.from_document(document)
    assert np.array_equal(again_X, X)
    assert np.array_equal(again_y, y)
    assert np.array_equal(trace.replay(X, y).coef.ravel(), clf.coef_.ravel())
    assert same(trace.to_document(X, y, **known(document)), document)


def known(document):
    order, rule = document["order"], document["rule"]
    passes = None if order is None else order["passes"][0] if order["repeat"] else order["passes"]
    return {name: rule[name] for name in ("eta", "margin", "tie")} | {
        "order": passes,
        "reason": document["end"]["reason"],
    }


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_golden_documents_follow_the_schema(path):
    jsonschema.validate(json.loads(path.read_text()), json.loads(SCHEMA.read_text()))


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["mistake", "sign", "half", "correct"]),
    st.booleans(),
    st.integers(2, 5),
    st.sampled_from(["direct", "ovr", "ovo"]),
)
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_round_trip(seed, tie, average, classes, scheme):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(classes, 12)), int(rng.integers(1, 8))
    X, y = np.round(rng.normal(size=(n, d)), 1) * -1.0, np.array(list("abcde"))[np.arange(n) % classes]
    order = [rng.integers(n, size=n).tolist() for _ in range(5)]
    rule = {"tie": tie, "average": average, "eta0": float(rng.random() + 0.1)}
    clf = rb.Perceptron(order=order, init="random", multiclass=scheme, **rule)
    document = document_of(clf, X, y, order)
    trace, X2, y2 = rb.Trace.from_document(document)
    assert same(trace.to_document(X2, y2, **known(document)), document)
    for name in ("visit", "index", "score", "step", "machine", "mistakes_per_pass", "visits_per_pass"):
        assert np.array_equal(getattr(trace, name), getattr(clf.trace_, name))


def broken(change, name="six-points-averaged"):
    document = json.loads((GOLDEN / f"{name}.json").read_text())
    change(document)
    return document


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda d: d.update(format="other"), "not a run document"),
        (lambda d: d.update(version=3), "version 3"),
        (lambda d: d.update(version=2), "scheme"),
        (lambda d: d.pop("rule"), "no object 'rule'"),
        (lambda d: d["rule"].update(beta=None), r"rule\.beta"),
        (lambda d: d["rule"].update(beta=True), r"rule\.beta"),
        (lambda d: d["rule"].update(tie="never"), "never"),
        (lambda d: d["rule"].update(zero=0), r"rule\.zero"),
        (lambda d: d["data"]["X"][0].append(1.0), r"data\.X\[0\]"),
        (lambda d: d["data"]["X"][0].__setitem__(0, "1"), r"data\.X\[0\]"),
        (lambda d: d["data"]["X"][0].__setitem__(0, float("inf")), r"data\.X\[0\]"),
        (lambda d: d["data"]["y"].__setitem__(0, 0), r"data\.y"),
        (lambda d: d["data"].update(labels=["a", "a"]), "different labels"),
        (lambda d: d["data"].update(labels=[None, "a"]), "label None"),
        (lambda d: d["mistakes"]["index"].__setitem__(0, 99), "cannot be a run"),
        (lambda d: d["mistakes"]["score"].__setitem__(0, 1.0), "scored 1.0"),
        (lambda d: d["passes"]["mistakes"].__setitem__(0, 2), "cannot be a run"),
        (lambda d: d["order"].update(passes=[[1, 0, 2, 3, 4, 5]]), "mistake 0 was on row 0"),
        (lambda d: d["order"].update(passes=[[0]]), "fewer visits"),
        (lambda d: d["order"].update(passes=[]), "fewer visits"),
        (lambda d: d["end"].update(b=2.0), "other weights"),
        (lambda d: d["start"].update(visits=-1), "cannot be a run"),
    ],
)
def test_what_is_no_run_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        rb.Trace.from_document(broken(change))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda d: d.update(scheme="tree"), "direct, ovr, ovo"),
        (lambda d: d.update(version=1), r"start\.b"),
        (lambda d: d["data"]["labels"].pop(), r"start\.w"),
        (lambda d: d["data"]["y"].__setitem__(0, -1), r"data\.y"),
        (lambda d: d["data"]["y"].__setitem__(0, 3), r"data\.y"),
        (lambda d: d["start"]["w"].pop(), r"start\.w"),
        (lambda d: d["start"]["w"].__setitem__(0, 1.0), r"start\.w\[0\]"),
        (lambda d: d["start"]["b"].pop(), r"start\.b"),
        (lambda d: d["mistakes"]["machine"].__setitem__(0, 3), "machine"),
        (lambda d: d["mistakes"]["machine"].__setitem__(0, d["data"]["y"][0]), "cannot be"),
        (lambda d: d["mistakes"]["machine"].pop(), "cannot be a run"),
        (lambda d: d["end"]["b"].__setitem__(1, 9.0), "other weights"),
    ],
)
def test_several_classes_that_are_no_run_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        rb.Trace.from_document(broken(change, "three-classes-direct"))


@pytest.mark.parametrize("document", [None, [], 1, "run", {}, {"format": "rosenblatt-run"}])
def test_other_json_is_refused(document):
    with pytest.raises(InputError):
        rb.Trace.from_document(document)


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_what_a_document_cannot_hold_is_refused():
    X, y = rb.datasets.load_six_points()
    one = rb.Perceptron().partial_fit(X[:1], y[:1])
    with pytest.raises(InputError, match="has met one"):
        one.trace_.to_document(X[:1], y[:1])
    shrunk = rb.Perceptron(penalty="l2").fit(X, y)
    with pytest.raises(InputError, match="penalty"):
        shrunk.trace_.to_document(X, y)
    late = rb.Perceptron(average=3).fit(X, y)
    with pytest.raises(InputError, match=r"begins late\. Train with average=True"):
        late.trace_.to_document(X, y)
    sparse = csr_array(X)
    with pytest.raises(InputError, match="sparse"):
        rb.Perceptron().fit(sparse, y).trace_.to_document(sparse, y)
    plain = rb.Perceptron(order="cyclic").fit(X, y)
    with pytest.raises(InputError, match="not the data of the run"):
        plain.trace_.to_document(X + 1.0, y)
    with pytest.raises(InputError, match="counts only"):
        rb.Perceptron(trace="counts").fit(X, y).trace_.to_document(X, y)
    document = plain.trace_.to_document(X, y)
    assert copy.deepcopy(document) == document
    assert document["order"] is None


@pytest.mark.parametrize("average, kind", [("True", "document"), ("3", "outcome")])
def test_the_lab_shows_what_a_late_average_predicts(average, kind):
    X, y = rb.datasets.load_six_points()
    points = {"X": X.tolist(), "y": y.tolist(), "labels": ["a", "b"]}
    question = RunMessage(id=1, **points, learner="perceptron", settings=[f"average={average}"])
    assert kind in Answers((), {}).answer(question)
