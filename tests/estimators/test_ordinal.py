"""PRank: the reference, its bound, replay, streams and files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import LabelError
from rosenblatt.loops.order import Blockwise
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.oracles.family import train_ranks
from tests.shared.examples import slowly

RNG = np.random.default_rng(4)
X = RNG.integers(-8, 9, (40, 4)) / 8
SCORE = X @ [1.0, 2.0, -1.0, 0.0]
RANKS = np.digitize(SCORE + RNG.integers(-1, 2, 40) / 4, (-1.0, 0.0, 1.0))
QUIET = {"shuffle": False, "average": True, "n_iter_no_change": 1000}


@pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])
@pytest.mark.parametrize("average", [False, *slowly(True)])
def test_it_is_the_reference(layout, average):
    """Sums of these rows are exact, so that both are the same."""
    clf = rb.OrdinalPerceptron(max_iter=3, tol=-1e9, **(QUIET | {"average": average}))
    if average:
        clf.fit(layout(X), RANKS)
    else:
        with pytest.warns(match="Allow more"):
            clf.fit(layout(X), RANKS)
    true = train_ranks(X.tolist(), RANKS.tolist(), list(range(40)) * 3, 4)
    w, b = (true.average_w, true.average_thresholds) if average else (true.w, true.thresholds)
    np.testing.assert_allclose(clf.coef_[0], w, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(clf.thresholds_, b, rtol=1e-13, atol=1e-15)
    assert clf.rank_errors_ == true.off
    predicted = (X @ np.array(w))[:, None] >= np.array(b)
    assert clf.predict(layout(X)).tolist() == predicted.sum(axis=1).tolist()
    assert clf.replay(layout(X), RANKS).tobytes() == clf._hypothesis().tobytes()


@given(st.integers(0, 10**6), st.integers(2, 5))
@settings(deadline=None, max_examples=15)
def test_the_bound_holds_and_thresholds_stay_in_order(seed, K):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-8, 9, (25, 2)) / 4
    score = rows @ rng.integers(-4, 5, 2)
    cuts = np.sort(rng.integers(-8, 9, K - 1)) + 0.125
    y = np.digitize(score, cuts)
    if len(np.unique(y)) < 2:
        return
    clf = rb.OrdinalPerceptron(max_iter=5000, n_iter_no_change=5000, random_state=seed).fit(rows, y)
    assert clf.stop_reason_ == "separated"
    assert (clf.predict(rows) == y).all()
    assert (np.diff(clf.thresholds_) >= 0.0).all()
    bound = rb.bounds(rows, y, model=clf)["ranks"]
    assert bound.applies
    assert bound.observed == clf.rank_errors_ <= bound.value


def test_ranks_that_no_thresholds_separate_have_no_bound():
    clf = rb.OrdinalPerceptron(average=True).fit([[0.0], [1.0], [2.0]], [0, 2, 1])
    found = rb.bounds([[0.0], [1.0], [2.0]], [0, 2, 1], model=clf)
    assert not found.separable
    assert not found["ranks"].applies


def test_chunks_and_files_leave_the_same_bits(tmp_path):
    labels = np.array(["a", "b", "c", "d"])[RANKS]
    whole = rb.OrdinalPerceptron(max_iter=1, **QUIET).fit(X, labels)
    parts = rb.OrdinalPerceptron(average=True).partial_fit(X[:13], labels[:13], classes=["d", "a", "b", "c"])
    rb.save(parts, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    for each in (parts, again):
        each.partial_fit(X[13:], labels[13:])
        assert each.coef_.tobytes() == whole.coef_.tobytes()
        assert each.thresholds_.tobytes() == whole.thresholds_.tobytes()
        assert each.predict(X).tolist() == whole.predict(X).tolist()


def test_ranks_are_checked():
    with pytest.raises(LabelError, match="only one class"):
        rb.OrdinalPerceptron().fit(X, np.zeros(40, int))
    clf = rb.OrdinalPerceptron(average=True).fit(X, RANKS)
    with pytest.raises(LabelError):
        clf.partial_fit(X[:1], [9])


def test_mean_rank_error_is_below_that_of_single_classes():
    from sklearn.datasets import load_diabetes

    rows, y = load_diabetes(return_X_y=True)
    rows, ranks = rows / rows.std(axis=0), np.digitize(y, np.quantile(y, (0.2, 0.4, 0.6, 0.8)))
    train, test = slice(0, 330), slice(330, None)
    ordinal = rb.OrdinalPerceptron(average=True).fit(rows[train], ranks[train])
    single = rb.Perceptron(average=True, multiclass="ovr").fit(rows[train], ranks[train])
    errors = [np.abs(clf.predict(rows[test]) - ranks[test]).mean() for clf in (ordinal, single)]
    assert errors[0] < errors[1]


@pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])
def test_blocks_leave_the_bits_of_a_fit_with_the_same_visits(layout):
    blocks = MemoryBlocks(as_batch(layout(X), RANKS), np.array([0, 9, 30, 40]))
    for shuffle in (False, True):
        parts = rb.OrdinalPerceptron(average=True, shuffle=shuffle, max_iter=4).fit_blocks(blocks)
        visited = rb.OrdinalPerceptron(average=True)
        order = Blockwise(blocks.boundaries, _seed(parts) if shuffle else None)
        for epoch in range(1, parts.n_iter_ + 1):
            rows = order.visits(epoch).astype(int)
            visited.partial_fit(layout(X[rows]), RANKS[rows], classes=[0, 1, 2, 3])
        assert parts.coef_.tobytes() == visited.coef_.tobytes()
        assert parts.thresholds_.tobytes() == visited.thresholds_.tobytes()
        assert parts.n_updates_ == visited.n_updates_
        assert parts.replay(layout(X), RANKS).tobytes() == parts._hypothesis().tobytes()


def _seed(model):
    return int(np.random.default_rng(model.random_state).integers(2**64, dtype=np.uint64))


def test_scaled_blocks_predict_unscaled_rows():
    trained = rb.train("@iris", "prank", parameters={"average": True}, scale=True)
    assert rb.evaluate(trained.model, "@iris").accuracy == trained.summary.trained_on.accuracy > 0.9


def test_single_examples_and_names():
    whole = rb.OrdinalPerceptron(max_iter=1, **QUIET).fit(X, RANKS)
    single, named = rb.OrdinalPerceptron(average=True), rb.OrdinalPerceptron(average=True)
    assert single.predict_one(X[0]) is None
    for x, rank in zip(X, RANKS, strict=True):
        single.learn_one(x, rank, classes=[0, 1, 2, 3])
        named.learn_one({f"x{j}": v for j, v in enumerate(x.tolist()) if v}, rank, classes=[0, 1, 2, 3])
    assert single.coef_.tobytes() == whole.coef_.tobytes()
    assert single.thresholds_.tobytes() == whole.thresholds_.tobytes()
    assert single.predict_one(X[3]) == whole.predict(X[3:4])[0]
    by_name = dict(zip(named.feature_names_in_, named.coef_[0], strict=True))
    np.testing.assert_allclose([by_name[f"x{j}"] for j in range(4)], whole.coef_[0], rtol=1e-12)
    np.testing.assert_allclose(named.thresholds_, whole.thresholds_, rtol=1e-12)
