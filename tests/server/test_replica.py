"""Folding an event is the update of `learn_one` and `partial_fit`, to the bit, for each learner that is served."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.rows.features import as_rows
from rosenblatt.server.events import LearnEvent, PackedRows, decode_event, encode_event
from rosenblatt.server.replica import Replica
from rosenblatt.tables.online_scaling import Figures, OnlineScaling
from tests.server.serving import LABELS, table, trained

LEARNERS = {
    "two classes": (lambda: rb.Perceptron(), 2),
    "averaged": (lambda: rb.Perceptron(average=True), 3),
    "averaged late": (lambda: rb.Perceptron(average=35), 3),
    "averaged penalty": (lambda: rb.Perceptron(average=35, penalty="l2", alpha=0.01), 2),
    "ovr": (lambda: rb.Perceptron(multiclass="ovr"), 3),
    "ovo": (lambda: rb.Perceptron(multiclass="ovo", average=True), 3),
    "margin": (lambda: rb.Perceptron(margin=0.5, eta0=0.1), 2),
    "penalty": (lambda: rb.Perceptron(penalty="l2", alpha=0.01), 2),
    "balanced": (lambda: rb.Perceptron(class_weight={"a": 2.0, "b": 0.5}), 3),
    "passive-aggressive": (lambda: rb.PassiveAggressiveClassifier(C=0.5), 3),
    "arow": (lambda: rb.ConfidenceWeightedClassifier(), 2),
    "kernel": (lambda: rb.KernelPerceptron(kernel="rbf", budget=12), 3),
    "averaged kernel": (lambda: rb.KernelPerceptron(kernel="rbf", budget=12, average=True), 2),
}


def events_of(X, labels, cuts, weights=None):
    parts = np.split(np.arange(len(X)), cuts)
    return [
        LearnEvent(PackedRows.of(as_rows(X[part])), [labels[i] for i in part],
                   None if weights is None else [weights[i] for i in part])
        for part in parts if len(part)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def models():
    return {name: (trained(make(), classes), classes) for name, (make, classes) in LEARNERS.items()}


def fresh(model):
    """Return a copy by way of a file, as the server makes one."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        rb.save(model, f"{folder}/m")
        return rb.load(f"{folder}/m")


@pytest.mark.parametrize("name", LEARNERS)
def test_folding_is_learning(models, name):
    model, classes = models[name]
    X, y = table(60, seed=3, classes=classes)
    labels = y.tolist()
    events = [decode_event(encode_event(event)) for event in events_of(X, labels, [1, 2, 7, 30])]

    plain = fresh(model)
    before, right = plain.n_mistakes_, 0
    for x, label in zip(X, labels, strict=True):
        right += plain.predict_one(x) == label
        plain.learn_one(x, label)
    one_by_one, at_once, chunk = (Replica(fresh(model), 0) for _ in range(3))
    outcomes = [one_by_one.fold(event) for event in events]
    at_once.fold_all(events)
    chunk.learner.partial_fit(X, y)
    copied = Replica(fresh(one_by_one.learner), 0)

    expected = Replica(plain, 0).digest()
    assert one_by_one.digest() == at_once.digest() == copied.digest() == expected
    assert one_by_one.copy().digest() == expected
    assert Replica(fresh(chunk.learner), 0).digest() == expected
    assert sum(outcome.right for outcome in outcomes) == right
    assert sum(outcome.mistakes for outcome in outcomes) == plain.n_mistakes_ - before or name in (
        "passive-aggressive", "arow"  # they count rows on the wrong side, not updates
    )  # fmt: skip
    probe, _ = table(20, seed=9)
    told, scores = one_by_one.decide(as_rows(probe))
    assert told == plain.predict(probe).tolist()
    assert scores == plain.decision_function(probe).tolist()
    assert [one_by_one.decide(as_rows(row[None]))[1][0] for row in probe] == scores


@given(st.lists(st.integers(1, 39), max_size=6, unique=True).map(sorted), st.integers(0, 5))
def test_weights_and_cuts_change_nothing(models, cuts, seed):
    model, _ = models["averaged"]
    X, y = table(40, seed=seed)
    weights = (np.random.default_rng(seed).integers(0, 5, 40) / 2).tolist()
    replica, whole = Replica(fresh(model), 0), Replica(fresh(model), 0)
    for event in events_of(X, y.tolist(), cuts, weights):
        replica.fold(event)
    whole.fold_all(events_of(X, y.tolist(), [20], weights))
    assert replica.digest() == whole.digest()


def test_new_classes_and_an_overflow(models):
    """A row that overflows changes nothing, alone or among others; a new label becomes a class."""
    model, _ = models["two classes"]
    X = np.array([[1.0, 2.0, 0.0, 1.0], [1e308, 1e308, 1e308, 1e308], [-1.0, 0.5, 2.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    labels = ["a", "b", "c", "a"]
    one, all_ = Replica(fresh(model), 0), Replica(fresh(model), 0)
    one.learner.eta0 = all_.learner.eta0 = 1.0
    events = events_of(X, labels, [2])
    outcomes = [one.fold(event) for event in events]
    all_.fold_all(events)
    assert one.digest() == all_.digest()
    assert one.classes == LABELS
    assert [[row for row, _ in outcome.refused] for outcome in outcomes] == [[1], []]


def test_a_digest_sees_every_bit(models):
    model, _ = models["averaged"]
    replica = Replica(fresh(model), 0)
    before = replica.digest()
    state = replica.learner._state
    for array in (state.w, state.u):
        array[1, 2] = np.nextafter(array[1, 2], np.inf)
        assert replica.digest() != before
        before = replica.digest()
    state.visits += 1
    assert replica.digest() != before


def test_features_that_are_expected_change_no_bit(monkeypatch):
    monkeypatch.setattr("rosenblatt.learning.state.MET_ONLY_BYTES", 0)
    rows = csr_array(np.eye(40)[np.arange(60) % 40] + np.eye(40)[np.arange(60) % 7])
    labels = [LABELS[i % 3] for i in range(60)]
    model = rb.Perceptron(average=True).partial_fit(rows[:5], labels[:5], classes=LABELS)
    events = [LearnEvent(PackedRows.of(as_rows(rows[i : i + 5])), labels[i : i + 5]) for i in range(5, 60, 5)]
    one, other = Replica(fresh(model), 0), Replica(fresh(model), 0)
    assert one.learner._state.met is not None
    one.expect(events)
    assert len(one.learner._state.met.columns) > len(other.learner._state.met.columns)
    assert one.digest() == other.digest()
    for event in events:
        assert one.fold(event) == other.fold(event)
    assert one.digest() == other.digest()


def test_a_row_that_overflows_when_scaled_is_met_by_no_scaler():
    """Its variance is finite, but its scaled value is not: the learner refuses it, and so does the scaler."""
    X = np.array([[0.0, 1.0], [1e-160, 2.0], [1e150, 3.0], [2e-160, 4.0]])
    ways = []
    for all_at_once in (True, False):
        replica = Replica(rb.Perceptron().partial_fit([[0.0, 1.0], [1.0, 2.0]], ["a", "b"]), 0)
        replica.online.scaler = OnlineScaling(True, True, Figures.of(2))
        replica.online.scaler.learn(X[:2])
        events = events_of(X, list("abab"), [1, 2, 3])
        if all_at_once:
            replica.fold_all(events)
        else:
            assert [len(replica.fold(event).refused) for event in events] == [0, 0, 1, 0]
        ways.append((replica.digest(), replica.online.scaler.figures.count.tolist()))
    assert ways[0] == ways[1]
    assert ways[0][1] == [5, 5]
