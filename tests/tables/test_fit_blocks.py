"""Training on blocks is training in memory by the same visits, bit for bit."""

import os
import signal
import threading
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, NonFiniteError, ParameterError
from rosenblatt.loops.order import Blockwise, Shuffled
from rosenblatt.tables.blocks import MemoryBlocks
from rosenblatt.tables.cache import CachedBlocks
from rosenblatt.tables.collect import StreamedBlocks, collect
from tests.shared.examples import examples
from tests.shared.strategies import RaisesAfter, noisy, quietly, separable
from tests.tables.sources import ArraySource, FileSource, everywhere

KINDS = {"memory": MemoryBlocks, "cache": CachedBlocks, "streamed": StreamedBlocks}


def told(model):
    state = model._state
    return (
        np.ascontiguousarray(state.w).tobytes(),
        None if state.u is None else np.ascontiguousarray(state.u).tobytes(),
        state.visits,
        model.stop_reason_,
        model.mistakes_per_pass_.tolist(),
        model.converged_,
        model.curve_.training.tobytes(),
        None if model.curve_.validation is None else model.curve_.validation.tobytes(),
        model.classes_.tolist(),
        model._class_counts,
        None if model._trace.mistakes is None else [column.tobytes() for column in model._trace.mistakes],
    )


def twin(blocks, X, y, seed=None, **parameters):
    """Train in memory, by an order that names the visits one by one."""
    if seed is None:
        seed = quietly(rb.Perceptron(**parameters | {"max_iter": 1}).fit, X, y)._drawn.seed
    if parameters.get("order") != "cyclic":
        order = Blockwise(blocks.boundaries, seed)
        parameters = parameters | {"order": lambda epoch: order.visits(epoch)}
    return quietly(rb.Perceptron(**parameters).fit, X, y)


def problem(seed, n, d, classes, layout):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)) * rng.choice([0.1, 0.25, 1.0])
    y = rng.permutation([*range(classes), *rng.integers(classes, size=n - classes)])
    X[:, 0] += y * rng.choice([0.0, 2.0])
    X = X.astype(np.float32 if layout == "f32" else float)
    return csr_array(X) if layout == "csr" else X, np.array(["a", "b", "c", "d"])[y]


PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "average": st.booleans(),
        "margin": st.sampled_from([0.0, 0.5]),
        "penalty": st.sampled_from(["l2", "l1", "elasticnet"]),
        "alpha": st.sampled_from([0.001, 0.01]),
        "class_weight": st.sampled_from(["balanced", {"a": 0.5, "b": 2.0}, {"a": 0.0}]),
        "bias": st.sampled_from([None, "radius", 0.5]),
        "tie": st.sampled_from(["sign", "half", "correct"]),
        "zero": st.sampled_from([-1, 1]),
        "init": st.sampled_from(["first", "random"]),
        "order": st.sampled_from(["shuffle", "cyclic"]),
        "multiclass": st.sampled_from(["direct", "ovr", "ovo"]),
        "tol": st.sampled_from([0.001, 0.1]),
        "n_iter_no_change": st.integers(1, 4),
        "early_stopping": st.booleans(),
        "random_state": st.integers(0, 3),
    },
)


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(
    st.integers(0, 10**6),
    st.integers(8, 30),
    st.integers(1, 4),
    st.integers(2, 4),
    st.sampled_from(["f64", "f32", "csr"]),
    st.integers(40, 400),
    st.integers(1, 7),
    PARAMETERS,
)
def test_any_fit_is_that_of_memory(seed, n, d, classes, layout, block_bytes, step, parameters):
    X, y = problem(seed, n, d, classes, layout)
    if parameters.get("penalty") and parameters.get("average"):
        del parameters["average"]
    parameters = {"max_iter": 6, "trace": "mistakes", "decide": False} | parameters  # only memory can be asked
    if parameters.get("early_stopping") and min(np.unique(y, return_counts=True)[1]) < 2:
        del parameters["early_stopping"]
    with TemporaryDirectory() as folder:
        for kind, blocks in everywhere(X, y, Path(folder), block_bytes=block_bytes, step=step).items():
            assert type(blocks) is KINDS[kind]
            model = quietly(rb.Perceptron(**parameters).fit_blocks, blocks)
            expected = twin(blocks, X, y, model._drawn.seed, **parameters)
            assert told(model) == told(expected), kind
            del blocks, model


def test_one_block_is_plain_fit(tmp_path):
    X, y = noisy(200, 5)
    expected = quietly(rb.Perceptron(max_iter=5, average=True, trace="mistakes").fit, X, y)
    for blocks in everywhere(X, y, tmp_path, block_bytes=1 << 20, step=64).values():
        assert len(blocks.boundaries) == 2
        model = quietly(rb.Perceptron(max_iter=5, average=True, trace="mistakes").fit_blocks, blocks)
        assert told(model) == told(expected)


def test_blocks_are_the_same_wherever_they_are_and_however_they_came(tmp_path):
    X, y = noisy(100, 3)
    for name, data in {"dense": X, "sparse": csr_array(X)}.items():
        folder = tmp_path / name
        folder.mkdir()
        found = [
            each
            for step in (1, 7, 100)
            for each in everywhere(data, y, folder, block_bytes=300, step=step).values()
        ]
        found.append(MemoryBlocks(found[0].whole, found[0].boundaries))
        for each in found:
            assert each.boundaries.tolist() == found[0].boundaries.tolist()
            assert each.fingerprint == found[0].fingerprint
            assert each.counts.tolist() == np.bincount(y > 0).tolist()
            assert each.stored == X.size
    changed = X.copy()
    changed[50, 1] += 1e-9
    other = collect(ArraySource(changed, y), block_bytes=300)
    assert other.fingerprint != collect(ArraySource(X, y), block_bytes=300).fingerprint


def test_traces_are_counts_unless_asked_for(tmp_path):
    X, y = noisy(60, 3)
    blocks = everywhere(X, y, tmp_path, block_bytes=300)["cache"]
    assert quietly(rb.Perceptron(max_iter=2).fit_blocks, blocks).trace_.mistakes is None
    kept = quietly(rb.Perceptron(max_iter=2, trace="mistakes").fit_blocks, blocks)
    assert kept.trace_.replay(X, y).weights[:-1].tobytes() == kept.coef_[0].tobytes()


def test_callbacks_are_told_of_each_pass(tmp_path):
    X, y = noisy(60, 3)
    blocks = everywhere(X, y, tmp_path, block_bytes=300)["cache"]
    here, there = [], []
    twin(blocks, X, y, max_iter=4, callbacks=[here.append])
    quietly(rb.Perceptron(max_iter=4, callbacks=[there.append]).fit_blocks, blocks)
    told_of = [[(r.epoch, r.mistakes, r.visits, r.loss) for r in reports] for reports in (here[1:], there)]
    assert told_of[0] == told_of[1]
    model = quietly(rb.Perceptron(callbacks=[lambda report: report.epoch == 2]).fit_blocks, blocks)
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 2)


def test_ctrl_c_leaves_the_last_completed_pass(tmp_path):
    X, y = noisy(60, 3)
    for blocks in everywhere(X, y, tmp_path, block_bytes=300).values():
        model = rb.Perceptron(callbacks=[RaisesAfter(3, KeyboardInterrupt)])
        with pytest.raises(KeyboardInterrupt):
            model.fit_blocks(blocks)
        expected = quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks)
        assert model.coef_.tobytes() == expected.coef_.tobytes()
        assert model.n_iter_ == 3


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "rosenblatt reader"]


def test_time_runs_out_within_a_pass(tmp_path):
    X, y = noisy(300, 3)
    for blocks in everywhere(X, y, tmp_path, block_bytes=300).values():
        model = quietly(rb.Perceptron(max_time=1e-9).fit_blocks, blocks)
        assert model.stop_reason_ == "max_time"
        assert model.n_iter_ == 1
        assert 0 < model.t_ <= 300
        if type(blocks) is not MemoryBlocks:
            assert model.t_ == blocks.boundaries[1]
        assert not readers()


def test_ctrl_c_while_the_source_is_read(tmp_path):
    X, y = noisy(300, 3)

    class Interrupted(FileSource):
        def chunks(self):
            for number, chunk in enumerate(super().chunks()):
                if number == 50:
                    os.kill(os.getpid(), signal.SIGINT)
                yield chunk

    FileSource.write(tmp_path / "data.npy", X, y)
    model = rb.Perceptron()
    blocks = collect(Interrupted(tmp_path / "data.npy", known=True), memory=0, block_bytes=300)
    assert type(blocks) is StreamedBlocks
    with pytest.raises(KeyboardInterrupt):
        model.fit_blocks(blocks)
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 0)
    assert not readers()
    assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]


def test_a_fit_goes_on_where_the_last_one_ended(tmp_path):
    X, y = noisy(60, 3)
    for blocks in everywhere(X, y, tmp_path, block_bytes=300).values():
        whole = quietly(rb.Perceptron(max_iter=5, average=True).fit_blocks, blocks)
        parts = rb.Perceptron(max_iter=2, average=True, warm_start=True)
        quietly(parts.fit_blocks, blocks)
        quietly(parts.set_params(max_iter=3).fit_blocks, blocks)
        assert parts.coef_.tobytes() == whole.coef_.tobytes()


def test_separable_data_is_separated(tmp_path):
    X, y = separable(100, 4)
    for blocks in everywhere(X, y, tmp_path, block_bytes=500).values():
        model = rb.Perceptron().fit_blocks(blocks)
        assert model.stop_reason_ == "separated"
        assert model.converged_
        assert (model.predict(X) == y).all()


@pytest.mark.parametrize("parameters", [{"order": "random"}, {"order": [0, 1]}, {"stop_on_cycle": True}])
def test_what_needs_all_rows_is_refused_out_of_core(tmp_path, parameters):
    X, y = noisy(60, 3)
    found = everywhere(X, y, tmp_path, block_bytes=300)
    quietly(rb.Perceptron(max_iter=2, **parameters).fit_blocks, found["memory"])
    with pytest.raises(ParameterError, match="all rows in memory"):
        rb.Perceptron(**parameters).fit_blocks(found["cache"])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers_are_told_by_their_row(tmp_path, bad):
    X, y = noisy(60, 3)
    X[41, 2] = bad
    for blocks in everywhere(X, y, tmp_path, block_bytes=300).values():
        for parameters in ({}, {"early_stopping": True, "random_state": 7}):
            with pytest.raises(NonFiniteError, match="row 41, column 2"):
                rb.Perceptron(**parameters).fit_blocks(blocks)


def test_one_class_is_refused():
    with pytest.raises(LabelError, match="only one class"):
        rb.Perceptron().fit_blocks(collect(ArraySource(np.eye(3), [1, 1, 1])))


def test_a_single_pass_reads_the_source_once_and_writes_nothing(tmp_path):
    X, y = noisy(200, 3)
    source = FileSource.write(tmp_path / "data.npy", X, y, known=True)
    blocks = collect(source, memory=0, block_bytes=300, passes=1)
    model = quietly(rb.Perceptron(max_iter=1).fit_blocks, blocks)
    assert source.read == 3  # for its first chunk alone, to learn, and the first block for the scales of columns
    assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]
    assert told(model) == told(twin(blocks, X, y, max_iter=1, trace="counts"))
    assert blocks.fingerprint == collect(ArraySource(X, y), block_bytes=300).fingerprint
    assert source.read == 3
    with pytest.raises(ParameterError, match="cache"):
        quietly(rb.Perceptron(max_iter=2).fit_blocks, blocks)


def test_several_passes_read_the_source_once(tmp_path):
    X, y = noisy(200, 3)
    source = FileSource.write(tmp_path / "data.npy", X, y, known=True)
    blocks = collect(source, memory=0, cache=tmp_path / "cache", block_bytes=300)
    quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks)
    assert source.read == 2
    again = FileSource(tmp_path / "data.npy", known=True)
    assert type(collect(again, memory=0, cache=tmp_path / "cache", block_bytes=300)) is CachedBlocks
    assert again.read == 0


@given(st.integers(1, 40), st.integers(0, 2**64 - 1), st.integers(1, 9))
def test_one_block_is_shuffled_as_all_rows_are(n, seed, epoch):
    visits = Blockwise(np.array([0, n]), seed).visits(epoch)
    assert visits.tolist() == Shuffled(n, seed).visits(epoch).tolist()


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(0, 99), st.integers(1, 5))
def test_blocks_are_visited_one_after_the_other(sizes, seed, epoch):
    boundaries = np.concatenate([[0], np.cumsum(sizes)])
    order = Blockwise(boundaries, seed)
    visits = order.visits(epoch)
    assert sorted(visits.tolist()) == list(range(boundaries[-1]))
    met = np.searchsorted(boundaries, visits, side="right") - 1
    changes = [k for k, _ in groupby(met.tolist())]
    assert sorted(changes) == list(range(len(sizes)))
    if epoch == 1:
        assert changes == sorted(changes)
    late = Blockwise(boundaries, seed, made=epoch - 1)
    assert late.visits(1).tolist() == visits.tolist()
    within = Blockwise(boundaries, seed).within(epoch, 1)
    assert within.tolist() == (visits[met == 1] - boundaries[1].astype(np.uint64)).tolist()


def test_orders_of_blocks_differ_from_pass_to_pass():
    order = Blockwise(np.arange(0, 101, 10), 0)
    assert len({tuple(order.blocks(epoch).tolist()) for epoch in range(2, 9)}) == 7
    assert len({tuple(order.within(2, block).tolist()) for block in range(10)}) == 10
