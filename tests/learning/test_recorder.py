"""The record of a long run is cut to bound its memory, and says so."""

import copy
import json
import pickle
import tracemalloc

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import InputError
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.shared.strategies import bits, noisy, quietly, trained

LIMIT = "rosenblatt.estimators._fitting.MISTAKES_KEPT"
MESSAGE = r"The trace was cut after 50 mistakes .*; fit with trace='mistakes' to keep everything\."


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(LIMIT, 50)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("parameters", [{}, {"average": True}, {"multiclass": "ovr"}], ids=str)
def test_a_long_run_keeps_counts_only(parameters):
    X, y = noisy(80, 5, flip=0.3)
    y[::7] = 3
    clf, whole = (trained(X, y, max_iter=20, **parameters, **kept) for kept in ({}, {"trace": "mistakes"}))
    assert clf.trace_.cut == 50 < len(clf.trace_)
    assert whole.trace_.cut is None
    assert bits(clf) == bits(whole)
    assert clf.trace_.mistakes_per_pass.tolist() == whole.trace_.mistakes_per_pass.tolist()
    assert whole.trace_.replay(X, y).coef.tobytes() == whole.coef_.tobytes()
    assert repr(clf.trace_).endswith("counts only: cut after 50 mistakes)")


@pytest.mark.usefixtures("short")
def test_those_who_ask_for_what_was_cut_are_told(tmp_path):
    X, y = noisy(80, 5, flip=0.3)
    clf = trained(X, y, max_iter=20)
    asked = {
        "replay": lambda: clf.trace_.replay(X, y),
        "path": lambda: clf.trace_.path(X, y),
        "picture": lambda: rb.plot.trace(clf, X, y),
        "document": lambda: json.dumps(clf.trace_.to_document(X, y)),
        "frame": lambda: clf.trace_.to_frame(),
        "expansion": lambda: clf.trace_.alpha,
        "compressed": lambda: clf.trace_.compressed(X, y),
        "table": lambda: clf.trace_.save(tmp_path / "t.csv"),
    }
    for name, ask in asked.items():
        with pytest.raises(InputError, match=MESSAGE):
            print(name, ask())
    clf.trace_.save(tmp_path / "t.npz")
    assert rb.Trace.load(tmp_path / "t.npz").cut == 50
    assert rb.plot.trace(clf).patches  # the counts can be drawn


@pytest.mark.usefixtures("short")
def test_exactly_the_limit_is_kept():
    X, y = noisy(80, 5, flip=0.3)
    order = trained(X, y, trace="mistakes", order="cyclic", max_iter=20).trace_.index[:51]
    kept, cut = (quietly(rb.Perceptron(order=[order[:n]]).fit, X, y).trace_ for n in (50, 51))
    assert len(kept) == 50
    assert kept.cut is None
    assert cut.cut == 50


@pytest.mark.usefixtures("short")
def test_blocks_in_memory_have_the_same_limit():
    X, y = noisy(80, 5, flip=0.3)
    blocks = MemoryBlocks(as_batch(X, y), np.array([0, 30, 80]))
    assert quietly(rb.Perceptron(max_iter=20).fit_blocks, blocks).trace_.cut == 50
    assert quietly(rb.Perceptron(max_iter=20, trace="mistakes").fit_blocks, blocks).trace_.cut is None


def test_the_record_takes_bounded_memory():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2**16, 2)), rng.integers(0, 2, 2**16)
    trained(X[:9], y[:9], max_iter=1)  # compiles
    tracemalloc.start()
    try:
        clf = trained(X, y, max_iter=40, decide=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert clf.n_mistakes_ > 2**20
    assert clf.trace_.cut == 2**19
    assert peak < 2**26


def test_pickles_keep_as_much_as_files_and_copies_keep_everything(monkeypatch):
    X, y = noisy(80, 5, flip=0.3)
    clf = trained(X, y, max_iter=20)
    assert len(pickle.loads(pickle.dumps(clf)).trace_.index) == clf.n_mistakes_
    monkeypatch.setattr("rosenblatt.estimators._linear.LONGEST_TRACE", 3)
    again = pickle.loads(pickle.dumps(clf))
    with pytest.raises(AttributeError, match=r"pickle .* kept no trace: a run of"):
        _ = again.trace_
    assert bits(again) == bits(clf)
    assert again.mistakes_per_pass_.tolist() == clf.mistakes_per_pass_.tolist()
    for copied in (clf, copy.copy(clf), copy.deepcopy(clf)):
        assert len(copied.trace_.index) == clf.n_mistakes_
    assert copy.deepcopy(clf)._state.w is not clf._state.w
