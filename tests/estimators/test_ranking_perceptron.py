"""Ranking within groups: the reference, the score, replay, streams, files and the command line."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

import rosenblatt as rb
from rosenblatt.exceptions import InputError, LabelError, ParameterError, ShapeError
from rosenblatt.rows.pairs import pairs_of
from tests.oracles.family import train_pairs
from tests.shared.examples import slowly

RNG = np.random.default_rng(8)
X = RNG.integers(-8, 9, (40, 4)) / 8
Y = np.round(X @ [1.0, 2.0, -1.0, 0.0] + RNG.integers(-1, 2, 40) / 4)
QID = RNG.integers(0, 6, 40)
LAYOUTS = pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])


@LAYOUTS
@pytest.mark.parametrize("average", [False, *slowly(True)])
@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_it_is_the_reference(layout, average, margin):
    ranker = rb.RankingPerceptron(
        shuffle=False, max_iter=3, average=average, margin=margin, n_iter_no_change=9, tol=None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker.fit(layout(X), Y, qid=QID)
    pairs = list(zip(*map(np.ndarray.tolist, pairs_of(Y, np.unique(QID, return_inverse=True)[1])), strict=True))
    w, mean, updates = train_pairs(X.tolist(), pairs * ranker.n_iter_, margin=margin)
    np.testing.assert_allclose(ranker.coef_, mean if average else w, rtol=1e-12, atol=1e-13)
    assert ranker.n_updates_ == updates == len(ranker.updates().index)
    assert ranker.t_ == ranker.n_iter_ * len(pairs)
    assert ranker.replay(layout(X), Y, QID).tobytes() == ranker._hypothesis().tobytes()
    with pytest.raises(InputError, match="pair"):
        ranker.replay(layout(X[::-1].copy()), Y, QID)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_the_score_is_the_share_of_pairs_in_order(seed):
    rng = np.random.default_rng(seed)
    rows, y, qid = rng.integers(-2, 3, (15, 3)).astype(float), rng.integers(0, 3, 15), rng.integers(0, 3, 15)
    pairs = [(i, j) for i in range(15) for j in range(15) if qid[i] == qid[j] and y[i] > y[j]]
    if not pairs:
        return
    ranker = rb.RankingPerceptron(average=True).fit(rows, y, qid=qid)
    f, weight = ranker.predict(rows), rng.integers(1, 4, 15)
    right = [float(f[i] > f[j]) + 0.5 * float(f[i] == f[j]) for i, j in pairs]
    assert ranker.score(rows, y, qid=qid) == pytest.approx(np.mean(right))
    each = [weight[i] * weight[j] for i, j in pairs]
    assert ranker.score(rows, y, qid=qid, sample_weight=weight) == pytest.approx(np.average(right, weights=each))


def test_with_two_values_and_one_group_the_score_is_the_roc_auc():
    ranker = rb.RankingPerceptron(average=True).fit(X, Y > 0)
    assert ranker.score(X, Y > 0) == pytest.approx(roc_auc_score(Y > 0, ranker.predict(X)))


def test_an_order_that_can_be_learned_is_learned():
    ranker = rb.RankingPerceptron(n_iter_no_change=1000).fit(X, X @ [1.0, 2.0, -1.0, 0.5], qid=QID)
    assert ranker.stop_reason_ == "separated"
    assert ranker.score(X, X @ [1.0, 2.0, -1.0, 0.5], qid=QID) == 1.0


def test_weights_multiply_and_a_row_without_weight_does_not_count():
    weight = np.ones(40)
    weight[20:] = 0.0
    half = rb.RankingPerceptron(shuffle=False, average=True).fit(X[:20], Y[:20], qid=QID[:20])
    same = rb.RankingPerceptron(shuffle=False, average=True).fit(X, Y, qid=QID, sample_weight=weight)
    assert half.n_updates_ == same.n_updates_
    twice = rb.RankingPerceptron(shuffle=False, average=True, max_iter=1).fit(
        X, Y, QID, sample_weight=2 * np.ones(40)
    )
    assert twice.updates().step.tolist() == [4.0] * twice.n_updates_


def test_chunks_names_and_files_leave_the_same_bits(tmp_path):
    order = np.argsort(QID, kind="stable")
    rows, y, qid = X[order], Y[order], QID[order]
    cut = int(np.searchsorted(qid, 3))
    whole = rb.RankingPerceptron(shuffle=False, max_iter=1, average=True).fit(rows, y, qid=qid)
    chunks = rb.RankingPerceptron(average=True).partial_fit(rows[:cut], y[:cut], qid=qid[:cut])
    rb.save(chunks, tmp_path / "model")
    for each in (chunks, rb.load(tmp_path / "model")):
        each.partial_fit(rows[cut:], y[cut:], qid=qid[cut:])
        assert each.coef_.tobytes() == whole.coef_.tobytes()
    named = [{f"x{j}": float(v) for j, v in enumerate(row)} for row in rows]
    streamed = rb.RankingPerceptron(average=True).partial_fit(named, y, qid=qid)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-13)
    with pytest.raises(InputError, match="Files keep no record"):
        rb.load(tmp_path / "model").updates()


def test_bad_input_is_refused():
    ranker = rb.RankingPerceptron()
    with pytest.raises(ParameterError, match="margin"):
        rb.RankingPerceptron(margin=-1.0).fit(X, Y)
    with pytest.raises(ShapeError, match="labels"):
        ranker.fit(X, Y, qid=QID[:-1])
    with pytest.raises(ShapeError, match="one is needed"):
        ranker.fit(X, np.column_stack([Y, Y]))
    ranker.fit(X, Y, qid=QID)
    with pytest.raises(LabelError, match="no pair"):
        ranker.score(X, np.zeros(40))


def test_from_the_command_line(tmp_path, capfd, monkeypatch):
    from rosenblatt.cli.main import main

    monkeypatch.chdir(tmp_path)
    lines = [
        f"{int(y)} qid:{q} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row))
        for y, q, row in zip(Y, QID, X, strict=True)
    ]
    (tmp_path / "r.svm").write_text("\n".join(lines) + "\n")
    assert main(["train", "r.svm", "-o", "m", "--learner", "ranking", "--holdout", "0.3"]) == 0
    assert "pairs in order" in capfd.readouterr().out
    assert main(["train", "r.svm", "-o", "m", "--learner", "ranking", "-q"]) == 0
    ours = rb.RankingPerceptron().fit(csr_array(X), Y, qid=QID)
    capfd.readouterr()
    assert main(["evaluate", "m", "r.svm", "--json"]) == 0
    told = __import__("json").loads(capfd.readouterr().out)
    assert told["groups"] == len(np.unique(QID))
    assert told["in_order"] == pytest.approx(ours.score(X, Y, qid=QID))
    assert main(["predict", "m", "r.svm"]) == 0
    np.testing.assert_allclose([float(line) for line in capfd.readouterr().out.split()], ours.predict(X))
    assert main(["evaluate", "--cv", "3", "r.svm", "--learner", "ranking", "-q"]) == 0
    assert "pairs in order" in capfd.readouterr().out
    (tmp_path / "plain.svm").write_text(
        "\n".join(line.replace(f"qid:{q} ", "") for line, q in zip(lines, QID, strict=True)) + "\n"
    )
    assert main(["train", "plain.svm", "-o", "m", "--learner", "ranking"]) == 0
    assert "no groups" in capfd.readouterr().err
