"""Threads, imports and the façade."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.loops import passes, screen
from rosenblatt.registry import BUILT_IN
from tests.shared.strategies import bits, noisy, trained


def test_many_threads_predict_the_same():
    X, y = noisy(500, 20)
    clf = trained(X, y, max_iter=3, average=True)
    sparse = csr_array(X)
    expected, sparsely = clf.decision_function(X), clf.decision_function(sparse)

    def ask(k):
        table, right = (X, expected) if k % 2 else (sparse, sparsely)
        assert clf.decision_function(table).tobytes() == right.tobytes()
        assert clf.predict_one(X[k]) == clf.classes_[int(expected[k] > 0)]
        return clf.predict(table).tobytes()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(200)))
    assert set(answers[1::2]) == {clf.predict(X).tobytes()}
    assert set(answers[::2]) == {clf.predict(sparse).tobytes()}


def test_many_threads_train_the_same():
    X, y = noisy(300, 7)
    expected = bits(trained(X, y, max_iter=5))
    rule = {"max_iter": 5, "n_iter_no_change": 100}

    def fit(_):
        clf = rb.Perceptron(**rule, callbacks=[lambda report: report.epoch == 5])
        return bits(clf.fit(X, y))

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(fit, range(8))) == {expected}


@pytest.mark.parametrize("module", [passes, screen])
def test_loops_release_the_lock(module):
    loops = {name: loop for name, loop in vars(module).items() if isinstance(loop, Dispatcher)}
    assert len(loops) >= 3
    for name, loop in loops.items():
        assert loop.targetoptions["nogil"] is True, name


def test_training_adds_in_a_fixed_order():
    for loop in (passes.train, passes.scores, passes.replay, passes.learn_row, screen.train_screened):
        assert not loop.targetoptions.get("fastmath")


def test_importing_the_package_is_light():
    program = (
        "import sys, rosenblatt; dir(rosenblatt); "
        "heavy = {'numba', 'sklearn', 'scipy', 'matplotlib', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_public_name_loads():
    assert rb.__all__ == sorted(rb.__all__)
    for name in rb.__all__:
        assert getattr(rb, name) is not None
        assert name in dir(rb)
    names = {*rb._NAMES, *rb._MODULES, *BUILT_IN}
    assert names == set(rb.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rb.nothing  # noqa: B018


def test_what_is_handed_out_is_not_changed_by_learning_on():
    X, y = noisy(30, 3)
    clf = rb.Perceptron().partial_fit(X[:10], y[:10])
    w, b = clf.coef_, clf.intercept_
    held = w.copy(), b.copy()
    clf.partial_fit(X[10:], y[10:])
    for x, label in zip(X, y, strict=True):
        clf.learn_one(x, label)
    assert not np.array_equal(clf.coef_, held[0])
    assert np.array_equal(w, held[0])
    assert np.array_equal(b, held[1])
    w[:] = np.nan
    assert np.isfinite(clf.coef_).all()


def test_training_data_is_left_alone():
    X, y = noisy(30, 3)
    kept = X.copy(), y.copy()
    clf = trained(X, y, max_iter=3)
    clf.partial_fit(X, y).learn_one(X[0], y[0])
    clf.predict(X)
    assert np.array_equal(X, kept[0])
    assert np.array_equal(y, kept[1])
    assert X.flags.writeable
