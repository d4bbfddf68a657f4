"""Averages that begin late, and averages of weights that shrink: the textbook, streams, blocks, files, replay."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.learning.online import OnlineModel
from rosenblatt.loops import reference
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.shared.examples import examples, slowly
from tests.shared.multiclass import blobs
from tests.shared.strategies import bits, noisy, quietly, trained

PENALTIES = [{}, {"penalty": "l2", "alpha": 0.01}, {"penalty": "l2", "alpha": 0.5}]
BEGINNINGS = [True, 2, 10, 25, 1000]


def keep_of(penalty):
    return 1.0 - penalty.get("alpha", 0.0)


def weights(clf):
    found = np.hstack([clf.coef_, clf.intercept_[:, None]])
    return found[0] if len(found) == 1 else found


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    average=st.sampled_from(BEGINNINGS),
    penalty=st.sampled_from(PENALTIES),
    passes=st.integers(1, 6),
)
def test_two_classes_equal_the_reference(layout, seed, average, penalty, passes):
    """Whole numbers tie often. Weights that shrink are rounded, which breaks a tie, so there no score may be 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 4)) if penalty else rng.integers(-3, 4, (7, 4)).astype(float)
    y = np.arange(7) % 2
    clf = trained(layout(X), y, order="cyclic", max_iter=passes, average=average, **penalty)
    order = [*range(7)] * clf.n_iter_
    labels, keep = (2 * y - 1).tolist(), keep_of(penalty)
    expected = reference.train(X.tolist(), labels, order, keep=keep, average=int(average))
    np.testing.assert_allclose(weights(clf), [*expected.average_w, expected.average_b], rtol=1e-9, atol=1e-12)
    if len(order) <= average:
        np.testing.assert_allclose(weights(clf), [*expected.w, expected.b], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("multiclass", ["direct", *slowly("ovr", "ovo")])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("average", [True, 10, 60])
def test_several_classes_equal_the_reference(layout, multiclass, penalty, average):
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3, 4, (12, 3)).astype(float), np.arange(12) % 3
    settings = {"order": "cyclic", "max_iter": 4, "multiclass": multiclass, "average": average}
    clf = trained(layout(X), y, **settings, **penalty)
    order, keep, w = [*range(12)] * clf.n_iter_, keep_of(penalty), [[0] * 4] * 3
    if multiclass == "direct":
        expected = reference.train_direct(X.tolist(), y.tolist(), order, w=w, keep=keep, average=int(average))
    else:
        sides = reference.sides(multiclass, 3)
        expected = reference.train_machines(
            X.tolist(), y.tolist(), order, sides=sides, w=w, keep=keep, average=int(average)
        )
    np.testing.assert_allclose(weights(clf), expected.average, rtol=1e-9, atol=1e-12)


def test_one_is_true_and_zero_is_false():
    """In Python ``True == 1``, so both must mean the same."""
    X, y = noisy(60, 5)
    for number, flag in ((1, True), (0, False), (np.int64(1), np.True_)):
        assert bits(trained(X, y, average=number, max_iter=3)) == bits(trained(X, y, average=flag, max_iter=3))


@pytest.mark.parametrize("average", [1, 10, 40])
def test_the_beginning_is_scikit_learns(average):
    """Without a penalty and with a constant step, SGD on the perceptron loss averages the same hypotheses."""
    X, y = noisy(50, 4)
    peer = SGDClassifier(
        loss="perceptron", alpha=0.0, learning_rate="constant", eta0=1.0, shuffle=False, max_iter=1, tol=None,
        average=average,
    )  # fmt: skip
    peer.fit(X, y)
    clf = trained(X, y, order="cyclic", max_iter=1, average=average)
    np.testing.assert_allclose(clf.coef_, peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(clf.intercept_, peer.intercept_, rtol=1e-9)


def test_a_long_run_with_a_small_scale_keeps_its_digits():
    """The scale falls by far more than its smallest value; the sums are moved many times on the way."""
    X, y = noisy(200, 6)
    penalty = {"penalty": "l2", "alpha": 0.05}
    clf = trained(X, y, order="cyclic", max_iter=20, n_iter_no_change=100, average=30, **penalty)
    order = [*range(200)] * clf.n_iter_
    signs = (2 * np.unique(y, return_inverse=True)[1] - 1).tolist()
    expected = reference.train(X.tolist(), signs, order, keep=0.95, average=30)
    np.testing.assert_allclose(weights(clf), [*expected.average_w, expected.average_b], rtol=1e-10)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("average", [True, 20, 70, 500])
def test_streams_chunks_and_fits_leave_the_same_bits(penalty, classes, average):
    X, y = noisy(90, 5) if classes == 2 else blobs(90, 3, 5)
    settings = {"average": average, **penalty}
    fitted = trained(X, y, order="cyclic", max_iter=1, **settings)
    labels = np.unique(y)
    chunks, single, names = (rb.Perceptron(**settings) for _ in range(3))
    for first in range(0, 90, 37):
        chunks.partial_fit(X[first : first + 37], y[first : first + 37], classes=labels)
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label, classes=labels)
        names.learn_one(dict(zip("abcde", x.tolist(), strict=True)), label, classes=labels)
    assert bits(chunks) == bits(fitted)
    assert bits(single) == bits(fitted)
    np.testing.assert_allclose(weights(names), weights(fitted), rtol=1e-9, atol=1e-12)
    score = fitted.decision_function(X[:1])[0]
    np.testing.assert_allclose(names.score_one(dict(zip("abcde", X[0].tolist(), strict=True))), score, rtol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_blocks_leave_the_bits_of_rows_in_memory(penalty, tmp_path):
    X, y = noisy(120, 5)
    settings = {"order": "cyclic", "max_iter": 3, "average": 150, **penalty}
    together = trained(X, y, **settings)
    path = tmp_path / "rows.csv"
    rows = "\n".join(f"{','.join(map(repr, x))},{label}" for x, label in zip(X.tolist(), y.tolist(), strict=True))
    path.write_text("a,b,c,d,e,y\n" + rows + "\n")
    blocks = rb.open_data(path, target="y").blocks(memory=1, cache=tmp_path / "cache")
    assert blocks.whole is None
    apart = quietly(rb.Perceptron(**settings).fit_blocks, blocks)
    assert bits(apart) == bits(together)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("average", [True, 40])
def test_a_killed_run_goes_on(penalty, average, tmp_path):
    X, y = noisy(60, 5)
    settings = {"average": average, "n_iter_no_change": 50, **penalty}
    whole = trained(X, y, max_iter=6, **settings)
    blocks, file = MemoryBlocks(as_batch(X, y)), tmp_path / "run"
    quietly(rb.Perceptron(max_iter=2, **settings).fit_blocks, blocks, checkpoint=file)
    after = quietly(rb.Perceptron(max_iter=6, **settings).fit_blocks, blocks, checkpoint=file, resume=True)
    assert bits(after) == bits(whole)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("average", [True, 70])
def test_a_file_goes_on_with_the_same_bits(penalty, average, tmp_path):
    X, y = noisy(90, 5)
    clf = rb.Perceptron(average=average, **penalty).partial_fit(X[:50], y[:50])
    rb.save(clf, tmp_path / "model.rosenblatt")
    loaded = rb.load(tmp_path / "model.rosenblatt")
    assert bits(loaded) == bits(clf)
    packed = OnlineModel.unpack(clf.online_model().pack())
    assert packed.digest() == clf.online_model().digest()
    assert bits(loaded.partial_fit(X[50:], y[50:])) == bits(clf.partial_fit(X[50:], y[50:]))


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("average", [True, 100])
def test_a_record_replays_the_average(penalty, average, tmp_path):
    X, y = noisy(60, 5)
    clf = trained(X, y, average=average, max_iter=4, **penalty)
    clf.trace_.save(tmp_path / "trace.npz")
    for trace in (clf.trace_, rb.Trace.load(tmp_path / "trace.npz")):
        assert trace.replay(X, y).coef.tolist() == clf.coef_[0].tolist()
        assert trace.after_each_pass(X, y)[-1].coef.tolist() == clf.coef_[0].tolist()


def test_a_warm_start_goes_on_and_a_new_beginning_counts_from_now():
    X, y = noisy(60, 5)
    settings = {"order": "cyclic", "warm_start": True, "max_iter": 1}
    clf = trained(X, y, average=80, **settings)
    quietly(clf.fit, X, y)
    assert bits(clf) == bits(trained(X, y, order="cyclic", max_iter=2, average=80))
    quietly(clf.set_params(average=1000).fit, X, y)
    assert clf.coef_.tolist() == trained(X, y, order="cyclic", max_iter=3).coef_.tolist()


@pytest.mark.parametrize("average", [-1, 2.0, "yes", None, 10**13])
def test_what_is_no_beginning_is_refused(average):
    X, y = noisy(20, 3)
    with pytest.raises(ParameterError, match="average="):
        rb.Perceptron(average=average).fit(X, y)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_weights_that_stop_at_zero_are_not_averaged(penalty):
    X, y = noisy(20, 3)
    with pytest.raises(ParameterError, match="penalty='l2'"):
        rb.Perceptron(average=5, penalty=penalty).fit(X, y)


def test_a_stream_keeps_its_beginning():
    X, y = noisy(20, 3)
    clf = rb.Perceptron(average=5).partial_fit(X, y)
    with pytest.raises(ParameterError, match="average cannot change"):
        clf.set_params(average=6)


@pytest.mark.parametrize("average", [1, 5, 9, 16])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_rational_numbers_give_the_same_average(average, alpha):
    """Whole rows, and a factor of ½, round nothing: only the division by the visits does."""
    X, y = np.array([[1, 2], [-2, 1], [3, -1], [0, 2]]), np.array([1, -1, 1, -1])
    penalty = {"penalty": "l2", "alpha": alpha} if alpha else {}
    clf = trained(X.astype(float), y, order="cyclic", max_iter=4, n_iter_no_change=9, average=average, **penalty)
    order, rows = [*range(4)] * clf.n_iter_, [[Fraction(int(x)) for x in row] for row in X]
    expected = reference.train(rows, y.tolist(), order, keep=1 - Fraction(alpha), average=average)
    mean = [*expected.average_w, expected.average_b]
    np.testing.assert_allclose(weights(clf), [float(value) for value in mean], rtol=4e-16, atol=1e-16)


@pytest.mark.parametrize("average", [True, 10, 1000])
def test_passive_aggressive_hypotheses_are_averaged_from_a_visit_on(average):
    X, y = noisy(40, 3)
    clf, labels, after = rb.PassiveAggressiveClassifier(average=average), np.unique(y), []
    plain = rb.PassiveAggressiveClassifier()
    for x, label in zip(X, y, strict=True):
        clf.learn_one(x, label, classes=labels)
        after.append(weights(plain.learn_one(x, label, classes=labels)))
    kept = after[int(average) - 1 :] or after[-1:]
    np.testing.assert_allclose(weights(clf), np.mean(kept, axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("before, now", [(40, 50), (True, 40), (40, True), (40, False)])
def test_a_checkpoint_keeps_its_beginning(penalty, before, now, tmp_path):
    X, y = noisy(60, 5)
    blocks, file = MemoryBlocks(as_batch(X, y)), tmp_path / "run"
    quietly(rb.Perceptron(max_iter=2, average=before, **penalty).fit_blocks, blocks, checkpoint=file)
    with pytest.raises(ParameterError, match=f"average was {before} then and is {now} now"):
        rb.Perceptron(max_iter=6, average=now, **penalty).fit_blocks(blocks, checkpoint=file, resume=True)


def test_no_bound_is_claimed_for_an_average_under_a_penalty():
    X, y = rb.datasets.load_six_points()
    found = rb.bounds(X, y, model=trained(X, y, average=True, penalty="l2"))
    plain = rb.bounds(X, y, model=trained(X, y, average=True))
    assert any(bound.applies for bound in plain.values())
    assert not any(bound.applies for bound in found.values() if bound.limits == "mistakes")
