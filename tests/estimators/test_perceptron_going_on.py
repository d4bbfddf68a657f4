"""What goes on from what: interrupted runs, streams under way, models that were trained by other parameters."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.model.linear import LinearModel
from tests.shared.strategies import RaisesAfter, bits, noisy, quietly, trained


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
