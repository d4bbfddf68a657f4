"""Ctrl-C: the last completed pass is published, the interrupt goes on, and training can be taken up again."""

import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.learners.visitor import Visitor
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
    monkeypatch.setattr("rosenblatt.learners.visitor.BLOCK_MISTAKES", 10)
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


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
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
