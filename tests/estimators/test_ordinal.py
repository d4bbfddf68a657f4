"""PRank: the reference, its bound, replay, streams and files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import LabelError
from rosenblatt.loops.reference_family import train_ranks

RNG = np.random.default_rng(4)
X = RNG.integers(-8, 9, (40, 4)) / 8
SCORE = X @ [1.0, 2.0, -1.0, 0.0]
RANKS = np.digitize(SCORE + RNG.integers(-1, 2, 40) / 4, (-1.0, 0.0, 1.0))
QUIET = {"shuffle": False, "average": True, "n_iter_no_change": 1000}


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("average", [False, True])
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
