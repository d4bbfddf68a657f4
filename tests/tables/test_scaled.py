"""Scaling on the fly is standardisation by hand, and folds into the weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import NonFiniteError, ParameterError, ShapeError
from rosenblatt.loops.layout import CSR
from rosenblatt.loops.order import Blockwise
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables import scaling as scaling_module
from rosenblatt.tables.blocks import MemoryBlocks, TakenBlocks, block_starts
from rosenblatt.tables.collect import collect, measure, transform_blocks
from rosenblatt.tables.scaling import Filling, Scaling
from tests.shared.examples import examples
from tests.shared.multiclass import blobs
from tests.shared.strategies import noisy, quietly
from tests.tables.sources import ArraySource, everywhere


def crooked(n=200, d=5, classes=2, dtype=float):
    X, y = noisy(n, d, flip=0.05) if classes == 2 else blobs(n, classes, d)
    return (X * 10.0 ** np.arange(d) + 3.0 * np.arange(d)).astype(dtype), y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_by_hand(tmp_path, classes, average, dtype):
    X, y = crooked(classes=classes, dtype=dtype)
    for blocks in everywhere(X, y, tmp_path, block_bytes=1000, step=30).values():
        scaling = Scaling.of(measure(blocks))
        by_hand = ((X - scaling.mean) / scaling.deviation).astype(dtype)
        np.testing.assert_allclose(scaling.mean, X.mean(axis=0, dtype=float), rtol=1e-12)
        np.testing.assert_allclose(scaling.deviation, X.std(axis=0, dtype=float), rtol=1e-12)
        model = quietly(
            rb.Perceptron(max_iter=5, average=average).fit_blocks, transform_blocks(blocks, None, scaling)
        )
        order = Blockwise(blocks.boundaries, model._drawn.seed)
        plain = rb.Perceptron(max_iter=5, average=average, order=lambda epoch, order=order: order.visits(epoch))
        quietly(plain.fit, by_hand, y)
        assert model.mistakes_per_pass_.tolist() == plain.mistakes_per_pass_.tolist()
        padded = np.column_stack([plain.coef_, plain.intercept_])
        folded = scaling.fold(padded)
        np.testing.assert_allclose(model.coef_, folded[:, :-1], rtol=1e-12)
        np.testing.assert_allclose(model.intercept_, folded[:, -1], rtol=1e-12)
        scores, expected = model.decision_function(X.astype(float)), plain.decision_function(by_hand)
        np.testing.assert_allclose(scores, expected, rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-4)
        if dtype == np.float64:
            assert (model.predict(X) == plain.predict(by_hand)).all()


def test_sparse_data_is_divided_only(tmp_path):
    X, y = crooked()
    X = csr_array(X * (np.random.default_rng(0).random(X.shape) < 0.5))
    for blocks in everywhere(X, y, tmp_path, block_bytes=1000).values():
        scaling = Scaling.of(measure(blocks))
        assert not scaling.mean.any()
        np.testing.assert_allclose(scaling.deviation, X.toarray().std(axis=0), rtol=1e-12)
        done = transform_blocks(blocks, None, scaling)
        found = np.concatenate([done.read(k).native().toarray() for k in range(len(done.boundaries) - 1)])
        np.testing.assert_allclose(found, X.toarray() / scaling.deviation, rtol=1e-15)
        model = quietly(rb.Perceptron(max_iter=5).fit_blocks, done)
        assert np.mean(model.predict(X) == y) > 0.6


def test_the_numbers_of_a_table_are_centred_beside_sparse_features(tmp_path):
    X, y = crooked()
    X = X * (np.random.default_rng(1).random(X.shape) < 0.6)
    expected = X.copy()
    expected[:, :3] = (X[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    for blocks in everywhere(csr_array(X), y, tmp_path, block_bytes=1000).values():
        scaling = Scaling.of(measure(blocks), numbers=3)
        assert (scaling.mean[3:] == 0.0).all()
        assert (scaling.deviation[3:] == 1.0).all()
        done = transform_blocks(blocks, None, scaling)
        found = np.concatenate([done.read(k).native().toarray() for k in range(len(done.boundaries) - 1)])
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        walked = [batch.native().toarray() for batch in done.walk(range(len(done.boundaries) - 1))]
        np.testing.assert_array_equal(np.concatenate(walked), found)
        model = quietly(rb.Perceptron(max_iter=5, order="cyclic").fit_blocks, done)
        plain = quietly(rb.Perceptron(max_iter=5, order="cyclic").fit, csr_array(found), y)
        scores = model.decision_function(csr_array(X))
        np.testing.assert_allclose(scores, plain.decision_function(csr_array(found)), rtol=1e-9, atol=1e-9)


def test_walks_and_reads_agree_and_leave_the_data_alone(tmp_path):
    X, y = crooked()
    X[::7, 2] = np.nan
    for blocks in everywhere(X, y, tmp_path, block_bytes=1000).values():
        statistics = measure(blocks)
        done = transform_blocks(blocks, Filling.of(statistics), Scaling.of(statistics, filled=True))
        walked = np.concatenate([batch.rows.copy() for batch in done.walk(range(len(done.boundaries) - 1))])
        read = np.concatenate([done.read(k).rows for k in range(len(done.boundaries) - 1)])
        filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        assert walked.tobytes() == read.tobytes()
        np.testing.assert_allclose(
            walked, (filled - filled.mean(axis=0)) / filled.std(axis=0), rtol=1e-9, atol=1e-12
        )
        again = np.concatenate([batch.rows.copy() for batch in blocks.walk(range(len(done.boundaries) - 1))])
        assert np.array_equal(again, X, equal_nan=True)
        model = quietly(rb.Perceptron(max_iter=5).fit_blocks, done)
        assert np.mean(model.predict(filled) == y) > 0.7


def test_constant_features_are_left_alone():
    X, y = noisy(100, 3)
    X[:, 1] = 0.1
    scaling = Scaling.of(measure(collect(ArraySource(X, y), block_bytes=200)))
    assert scaling.deviation[1] == 1.0


@settings(max_examples=examples(50))
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4), st.lists(st.floats(0.01, 100), min_size=3, max_size=3)
)
def test_folding_is_algebra(weights, deviation):
    scaling = Scaling(np.array([1.0, -2.0, 3.0]), np.array(deviation))
    x = np.array([0.5, 2.0, -7.0])
    w = np.array(weights)
    folded = scaling.fold(w)
    expected = w[:3] @ ((x - scaling.mean) / scaling.deviation) + w[3]
    assert folded[:3] @ x + folded[3] == pytest.approx(expected, rel=1e-9, abs=1e-3)


def test_scaled_fits_go_on_from_checkpoints_of_the_same_scale_only(tmp_path):
    X, y = crooked()
    blocks = collect(ArraySource(X, y), memory=0, cache=tmp_path / "cache", block_bytes=1000)
    scaling = Scaling.of(measure(blocks))
    done = transform_blocks(blocks, None, scaling)
    quietly(rb.Perceptron(max_iter=3).fit_blocks, done, checkpoint=tmp_path / "c")
    model = quietly(rb.Perceptron(max_iter=6).fit_blocks, done, checkpoint=tmp_path / "c", resume=True)
    assert model.coef_.tobytes() == quietly(rb.Perceptron(max_iter=6).fit_blocks, done).coef_.tobytes()
    other = transform_blocks(blocks, None, Scaling(scaling.mean, 2 * scaling.deviation))
    for others in (blocks, other):
        with pytest.raises(ParameterError, match="data"):
            rb.Perceptron(max_iter=6).fit_blocks(others, checkpoint=tmp_path / "c", resume=True)


def test_what_does_not_fit_is_refused(tmp_path):
    X, y = crooked()
    blocks = collect(ArraySource(X, y))
    with pytest.raises(ShapeError, match="the model has 99"):
        transform_blocks(blocks, Filling(np.zeros(99)))
    X[0, 0] = np.inf
    with pytest.raises(NonFiniteError, match="column 0"):
        Scaling.of(measure(collect(ArraySource(X, y))))
    model = quietly(rb.Perceptron(max_iter=2, warm_start=True).fit_blocks, blocks)
    with pytest.raises(ParameterError, match="scaled"):
        model.fit_blocks(transform_blocks(blocks, None, Scaling.of(measure(blocks))))


@pytest.mark.parametrize("index", [np.uint32, np.uint64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_loop_centres_sparse_rows_as_numpy_does(monkeypatch, dtype, index):
    """Zeros that are stored or not, negative zeros, a missing value, and columns that stay as they are."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 9)).astype(dtype)
    X[rng.random(X.shape) < 0.4] = 0.0
    X[3, 2], X[4, 1], X[5, 7] = np.nan, -0.0, -0.0
    stored = (X != 0.0) | (rng.random(X.shape) < 0.2)
    starts = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(index)
    rows = CSR(X[stored], np.nonzero(stored)[1].astype(index), starts)
    step = Scaling(np.r_[rng.standard_normal(5), np.zeros(4)], np.r_[rng.random(5) + 0.3, 1.0, 1.0, 2.5, 1.0])
    found = []
    for compiled in (False, True):
        monkeypatch.setattr(scaling_module, "loop_pays", lambda *sizes, compiled=compiled: compiled)
        found.append(step.into(rows._replace(data=rows.data.copy())))
    for one, other in zip(*found, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_loop_scales_dense_rows_as_numpy_does(monkeypatch, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 9)).astype(dtype)
    X[3, 2], X[4, 1], X[5, 7], X[6, 0] = np.nan, -0.0, -0.0, 3e38
    step = Scaling(np.r_[rng.standard_normal(5), np.zeros(4)], np.r_[rng.random(5) + 0.3, 1.0, 1.0, 2.5, 1.0])
    found = []
    for compiled in (False, True):
        monkeypatch.setattr(scaling_module, "loop_pays", lambda *sizes, compiled=compiled: compiled)
        found.append(step.into(X.copy()))
    assert found[0].dtype == found[1].dtype == dtype
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_rows_that_are_taken_are_those_of_a_copy(sparse, missing):
    """Folds are read from the rows of all, a block at a time, as if their rows had been copied before."""
    X, y = crooked(classes=3)
    X = X * (np.random.default_rng(1).random(X.shape) < 0.6)
    X[::7, 2] = np.nan if missing else 1.0
    mask = np.random.default_rng(2).random(len(X)) < 0.7
    batch = as_batch(csr_array(X) if sparse else X, y)
    taken, copy = TakenBlocks(batch, mask, 1000), batch.take(mask)
    copied = MemoryBlocks(copy, block_starts(copy, 1000))
    assert taken.n_blocks > 3
    assert taken.whole is None
    assert taken.fingerprint == copied.fingerprint
    statistics = [measure(blocks) for blocks in (taken, copied)]
    assert statistics[0].mean.tobytes() == statistics[1].mean.tobytes()
    assert statistics[0].squares.tobytes() == statistics[1].squares.tobytes()
    filling, scaling = Filling.of(statistics[0]), Scaling.of(statistics[0], filled=True, numbers=3)
    for how in ((None, None), (filling, None), (None, scaling), (filling, scaling)):
        one, other = (transform_blocks(blocks, *how) for blocks in (taken, copied))
        assert one.boundaries.tolist() == other.boundaries.tolist()
        for first, second in ((one.whole, other.whole), (one.unscaled(), other.unscaled())):
            assert first.codes.tolist() == second.codes.tolist()
            assert first.classes.tolist() == second.classes.tolist()
            assert first.values.tobytes() == second.values.tobytes()
            if sparse:
                assert first.rows.indices.tolist() == second.rows.indices.tolist()
                assert first.rows.indptr.tolist() == second.rows.indptr.tolist()
