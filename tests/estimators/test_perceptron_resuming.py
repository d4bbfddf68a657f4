"""Ctrl-C publishes the last completed pass; runs, streams and changed parameters go on from there."""

import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.visitor import Visitor
from tests.shared.strategies import RaisesAfter, bits, noisy, quietly, trained

ORDERS = ["cyclic", "shuffle", "random"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_after_a_pass(layout, average, order):
    X, y = noisy(40, 3)
    X = layout(X)
    clf = rb.Perceptron(
        order=order, average=average, callbacks=[RaisesAfter(3, KeyboardInterrupt)], warm_start=True
    )
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_) == ("interrupted", False, 3)
    assert bits(clf) == bits(trained(X, y, order=order, average=average, max_iter=3))
    assert clf.trace_.replay(X, y).coef.tobytes() == clf.coef_.tobytes()
    quietly(clf.set_params(callbacks=None, max_iter=4).fit, X, y)
    assert bits(clf) == bits(trained(X, y, order=order, average=average, max_iter=7))


def _interrupt_at_stretch(monkeypatch, last):
    """Interrupt once the loop has made a stretch of visits, as a signal does: the weights have moved."""
    real, stretches = Visitor.visit, count(1)

    def visit(self, visits, made=0):
        for stretch in real(self, visits, made):
            if next(stretches) == last:
                raise KeyboardInterrupt
            yield stretch

    monkeypatch.setattr(Visitor, "visit", visit)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("stretch", [9, 10, 12])
def test_within_a_pass(monkeypatch, average, order, stretch):
    """Four stretches a pass: the ninth begins the third pass, the twelfth ends it."""
    monkeypatch.setattr("rosenblatt.learning.visitor.BLOCK_MISTAKES", 10)
    X, y = noisy(40, 3)
    clf = rb.Perceptron(order=order, average=average, warm_start=True)
    with monkeypatch.context() as patch:
        _interrupt_at_stretch(patch, stretch)
        with pytest.raises(KeyboardInterrupt):
            clf.fit(X, y)
    assert (clf.stop_reason_, clf.n_iter_) == ("interrupted", 2)
    assert bits(clf) == bits(trained(X, y, order=order, average=average, max_iter=2))
    assert clf.mistakes_per_pass_.tolist() == clf.trace_.mistakes_per_pass.tolist()
    assert clf.trace_.replay(X, y).coef.tobytes() == clf.coef_.tobytes()
    quietly(clf.set_params(max_iter=5).fit, X, y)
    assert bits(clf) == bits(trained(X, y, order=order, average=average, max_iter=7))


def test_within_the_first_pass(monkeypatch):
    X, y = noisy(40, 3)
    clf = rb.Perceptron(warm_start=True)
    with monkeypatch.context() as patch:
        _interrupt_at_stretch(patch, 1)
        with pytest.raises(KeyboardInterrupt):
            clf.fit(X, y)
    assert (clf.stop_reason_, clf.n_iter_, clf.n_mistakes_) == ("interrupted", 0, 0)
    assert not clf.coef_.any()
    quietly(clf.set_params(max_iter=5).fit, X, y)
    assert bits(clf) == bits(trained(X, y, max_iter=5))


def test_in_a_partial_fit_nothing_changes(monkeypatch):
    X, y = noisy(40, 3)
    clf = rb.Perceptron().partial_fit(X, y)
    before = bits(clf)
    with monkeypatch.context() as patch:
        _interrupt_at_stretch(patch, 1)
        with pytest.raises(KeyboardInterrupt):
            clf.partial_fit(X[::-1], y[::-1])
    assert bits(clf) == before


SCRIPT = """
import sys, warnings
import numpy as np
import rosenblatt as rb
from tests.shared.strategies import RaisesAfter, bits, noisy, trained

X, y = noisy(50_000, 10)
told = lambda report: print("pass", flush=True) if report.epoch == 3 else None
rule = dict(max_iter=10**9, n_iter_no_change=10**9, average=True, order="shuffle")
clf = rb.Perceptron(**rule, warm_start=True, callbacks=[told])
try:
    clf.fit(X, y)
except KeyboardInterrupt:
    print("stopped", flush=True)
assert clf.stop_reason_ == "interrupted" and clf.n_iter_ >= 3, clf.stop_reason_
assert bits(clf) == bits(trained(X, y, **rule | dict(max_iter=clf.n_iter_)))
warnings.simplefilter("ignore")
n = clf.n_iter_ + 2
clf.set_params(callbacks=None, max_iter=2).fit(X, y)
assert bits(clf) == bits(trained(X, y, **rule | dict(max_iter=n)))
print("same", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no signals to another process")
def test_a_real_one():
    """Sent from outside while loops run: training ends, and what it leaves is whole."""
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    try:
        assert child.stdout.readline() == "pass\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped\n"
        assert child.stdout.readline() == "same\n"
        assert child.wait(600) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.parametrize("random_state", [0, None])
def test_ctrl_c_with_validation_leaves_the_last_completed_pass(random_state):
    X, y = noisy(80, 3)
    reports = []
    clf = rb.Perceptron(early_stopping=True, warm_start=True, random_state=random_state, max_iter=8)
    clf.set_params(callbacks=[reports.append, RaisesAfter(4, KeyboardInterrupt)])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert (clf.n_iter_, clf.stop_reason_, len(clf.trace_.mistakes_per_pass)) == (4, "interrupted", 4)
    assert clf.coef_.tobytes() == reports[-1].model.coef.tobytes()
    held_out = clf._drawn.held_out
    clf.set_params(callbacks=None)
    quietly(clf.fit, X, y)
    assert clf._drawn.held_out.tolist() == held_out.tolist()


def test_ctrl_c_before_a_pass_is_measured_leaves_a_curve_that_can_be_drawn(monkeypatch):
    X, y = noisy(80, 3)
    calls, measure = [], LinearModel.error

    def error(self, batch):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return measure(self, batch)

    monkeypatch.setattr(LinearModel, "error", error)
    clf = rb.Perceptron(early_stopping=True)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.n_iter_ == 4
    assert len(clf.curve_.training) == len(clf.curve_.validation) == 3


def _by_number(epoch):
    return np.random.default_rng(epoch).permutation(40)


@pytest.mark.parametrize(
    "order", [_by_number, [_by_number(epoch) for epoch in range(1, 10)]], ids=["called", "listed"]
)
def test_orders_go_on_where_they_were_cut_short(order):
    X, y = noisy(40, 3)
    clf = rb.Perceptron(order=order, warm_start=True, max_iter=9, callbacks=[RaisesAfter(4, KeyboardInterrupt)])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    quietly(clf.set_params(callbacks=None, max_iter=5).fit, X, y)
    assert bits(clf)[0] == bits(trained(X, y, order=order, max_iter=9))[0]


@pytest.mark.parametrize(
    "params",
    [
        {"average": True},
        {"bias": None},
        {"tie": "sign"},
        {"zero": 1},
        {"class_weight": {1: 2.0}},
        {"class_weight": "balanced"},
        {"trace": "mistakes"},
    ],
    ids=lambda params: next(iter(params)),
)
def test_a_stream_refuses_parameters_it_cannot_follow(params):
    X, y = noisy(40, 3)
    clf = rb.Perceptron().partial_fit(X, y)
    before = bits(clf)
    with pytest.raises(ParameterError, match=next(iter(params))):
        clf.set_params(**params)
    assert clf.get_params()[next(iter(params))] == rb.Perceptron().get_params()[next(iter(params))]
    assert bits(clf) == before
    setattr(clf, *next(iter(params.items())))
    with pytest.raises(ParameterError, match=next(iter(params))):
        clf.partial_fit(X, y)


def test_a_stream_goes_on_by_a_new_learning_rate_and_margin():
    X, y = noisy(40, 3)
    clf = rb.Perceptron().partial_fit(X, y).set_params(eta0=0.5, margin=1.0)
    clf.learn_one(X[0], y[0]).partial_fit(X[1:], y[1:])
    once = trained(X, y, order="cyclic", max_iter=1)
    again = rb.Perceptron(order="cyclic", max_iter=1, eta0=0.5, margin=1.0)
    quietly(again.fit, X, y, once.coef_, once.intercept_)
    assert clf.coef_.tobytes() == again.coef_.tobytes()


def test_the_side_of_zero_is_that_of_training():
    clf = rb.Perceptron(bias=None).fit([[1.0], [-1.0]], [1, -1])
    assert clf.predict([[0.0]])[0] == -1
    clf.zero = 1
    assert clf.predict([[0.0]])[0] == clf.predict_one([0.0]) == -1


@pytest.mark.parametrize(
    "series", [pd.Series, lambda y: pd.Series(y, dtype="category"), pa.array, lambda y: np.array(y, object)]
)
def test_traces_of_text_labels_can_be_saved_whatever_held_them(series, tmp_path):
    X = np.array([[1.0], [2.0], [-1.0]])
    clf = rb.Perceptron().fit(X, series(["spam", "spam", "ham"]))
    clf.trace_.save(tmp_path / "run.npz")
    replayed = rb.Trace.load(tmp_path / "run.npz").replay(X, ["spam", "spam", "ham"])
    assert replayed.weights.tolist() == [*clf.coef_[0], *clf.intercept_]
