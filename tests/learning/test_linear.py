"""Scores of linear models: the same bits on any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp

import rosenblatt as rb
from rosenblatt import threads
from rosenblatt.exceptions import NonFiniteError
from rosenblatt.learning import linear
from rosenblatt.threads import using

THREADS = (2, 5)


def rows_of(layout, n_rows=1013, n_features=37):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.3)
    match layout:
        case "csr":
            return sp.csr_array(X)
        case "float32":
            return X.astype(np.float32)
        case "bytes":
            return (np.abs(X) * 50).astype(np.uint8)
    return X


@pytest.fixture
def split(monkeypatch):
    """Divide small data too, and count the parts."""
    parts = []
    write = linear._write_scores
    monkeypatch.setattr(threads, "WORTH_NANOSECONDS", 1.0)
    monkeypatch.setattr(linear, "suffices", lambda *_: False)
    monkeypatch.setattr(linear, "_write_scores", lambda *args: (parts.append(args[3]), write(*args))[1])
    return parts


@pytest.mark.parametrize("layout", ["dense", "float32", "bytes", "csr"])
@pytest.mark.parametrize(("classes", "multiclass"), [(2, "direct"), (3, "ovr"), (9, "direct"), (9, "ovo")])
def test_any_number_of_threads_gives_the_same_bits(split, layout, classes, multiclass):
    X = rows_of(layout)
    y = np.random.default_rng(1).integers(0, classes, X.shape[0])
    clf = rb.Perceptron(max_iter=2, average=True, multiclass=multiclass).fit(X, y)
    scores, labels, score = clf.decision_function(X), clf.predict(X), clf.score(X, y)
    for n_jobs in THREADS:
        clf.set_params(n_jobs=n_jobs)
        split.clear()
        assert np.array_equal(clf.decision_function(X).view(np.int64), scores.view(np.int64))
        by_one = classes == 2 and layout != "csr"  # dense rows of one machine are read at the speed of memory
        assert len(split) == 1 if by_one else len(split) > n_jobs
        assert sorted(i for part in split for i in part) == list(range(X.shape[0]))
        assert np.array_equal(clf.predict(X), labels)
        assert clf.score(X, y) == score


def test_little_data_is_scored_by_one_thread(monkeypatch):
    X = rows_of("dense")
    monkeypatch.setattr(
        threads, "WORTH_NANOSECONDS", 50_000
    )  # more than these take, and less than eight times as many
    monkeypatch.setattr(linear, "_write_scores", lambda *args: parts.append(args[3]))
    parts = []
    linear.loop_scores(X, np.ones((2, 38)))
    with using(5):
        linear.loop_scores(X, np.ones((2, 38)))
        assert parts == [range(1013)] * 2
        linear.loop_scores(np.tile(X, (8, 1)), np.ones((2, 38)))
    assert len(parts) == 2 + 5


def test_a_row_that_is_not_finite_is_named(split):
    X = rows_of("dense")
    clf = rb.Perceptron(max_iter=2, average=True, n_jobs=2).fit(X, X[:, 0] > 0.0)
    X[1000, 3] = np.nan
    X[12, 5] = np.inf
    with pytest.raises(NonFiniteError, match="row 12"):
        clf.predict(X)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_votes_are_the_same_on_any_number_of_threads(monkeypatch, layout):
    monkeypatch.setattr(threads, "WORTH_NANOSECONDS", 1.0)
    X = rows_of(layout, 300)
    y = np.random.default_rng(1).integers(0, 3, 300)
    clf = rb.VotedPerceptron(max_iter=2).fit(X, y)
    expected = clf.decision_function(X)
    for n_jobs in THREADS:
        with using(n_jobs):
            assert np.array_equal(clf.decision_function(X), expected)
