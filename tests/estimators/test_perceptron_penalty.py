"""Weights that shrink with every visit: the textbook on exact data, scikit-learn on floats, streams, replay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import Perceptron as Peer

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.loops import reference
from rosenblatt.loops.rules import Rule
from rosenblatt.rows.features import as_rows
from tests.shared.examples import examples, slowly
from tests.shared.multiclass import blobs
from tests.shared.strategies import bits, noisy, quietly, trained

# Powers of two, so that scaling by them never rounds: keep is 1/2 and 1 and 1/2, rent is 0, 1/8 and 1/2.
PENALTIES = st.sampled_from(
    [
        {"penalty": "l2", "alpha": 0.5},
        {"penalty": "l1", "alpha": 0.125},
        {"penalty": "elasticnet", "alpha": 1.0, "l1_ratio": 0.5},
    ]
)


def _steps(penalty, eta=1.0):
    share = {"l2": 0.0, "l1": 1.0, "elasticnet": penalty.get("l1_ratio")}[penalty["penalty"]]
    return 1.0 - (1.0 - share) * eta * penalty["alpha"], share * eta * penalty["alpha"]


@st.composite
def problems(draw, classes):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(classes, 7)), draw(st.integers(1, 9))
    X = rng.integers(-3, 4, size=(n, d)) * (rng.random((n, d)) < 0.7)
    y = rng.permutation(np.arange(n) % classes)
    return X.astype(float), y


@pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])
@settings(max_examples=examples(150))
@given(problem=problems(2), penalty=PENALTIES, margin=st.sampled_from([0.0, 1.0]), passes=st.integers(1, 5))
def test_two_classes_equal_the_reference(layout, problem, penalty, margin, passes):
    """Thirty-five visits halve the scale often enough for it to be multiplied out, and lose no bit yet."""
    X, y = problem
    clf = trained(layout(X), y, order="cyclic", max_iter=passes, margin=margin, **penalty)
    order = [*range(len(y))] * clf.n_iter_
    keep, rent = _steps(penalty)
    expected = reference.train(X.tolist(), (2 * y - 1).tolist(), order, Rule(margin=margin), keep=keep, rent=rent)
    assert clf.coef_[0].tolist() == expected.w
    assert clf.intercept_[0] == expected.b
    assert clf.trace_.visit.tolist() == [mistake.visit for mistake in expected.mistakes]
    assert clf.trace_.score.tolist() == [mistake.score for mistake in expected.mistakes]


@pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])
@pytest.mark.parametrize("multiclass", ["direct", *slowly("ovr", "ovo")])
@settings(max_examples=examples(60))
@given(problem=problems(3), penalty=PENALTIES, passes=st.integers(1, 5))
def test_several_classes_equal_the_reference(layout, multiclass, problem, penalty, passes):
    X, y = problem
    clf = trained(layout(X), y, order="cyclic", max_iter=passes, multiclass=multiclass, **penalty)
    order = [*range(len(y))] * clf.n_iter_
    keep, rent = _steps(penalty)
    w = [[0] * (X.shape[1] + 1)] * 3
    if multiclass == "direct":
        expected = reference.train_direct(X.tolist(), y.tolist(), order, w=w, keep=keep, rent=rent)
    else:
        sides = reference.sides(multiclass, 3)
        expected = reference.train_machines(X.tolist(), y.tolist(), order, sides=sides, w=w, keep=keep, rent=rent)
    assert np.hstack([clf.coef_, clf.intercept_[:, None]]).tolist() == expected.w
    assert clf.trace_.machine.tolist() == [mistake.machine for mistake in expected.mistakes]


@pytest.mark.parametrize("alpha", [1e-4, 0.01, 0.1])
def test_l2_is_scikit_learns_step(alpha):
    X, y = noisy(300, 12)
    peer = Peer(penalty="l2", alpha=alpha, shuffle=False, max_iter=4, tol=None, eta0=0.7).fit(X, y)
    ours = trained(X, y, penalty="l2", alpha=alpha, shuffle=False, max_iter=4, eta0=0.7)
    assert ours.n_iter_ == 4
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])
def test_chunks_single_rows_replays_and_going_on_are_the_same_bits(penalty, classes, layout):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(120, 9)) * (rng.random((120, 9)) < 0.6), rng.integers(classes, size=120)
    how = {"penalty": penalty, "alpha": 0.01, "trace": "mistakes", "order": "cyclic"}
    whole = trained(layout(X), y, max_iter=1, **how)
    chunks, single = rb.Perceptron(**how), rb.Perceptron(**how)
    for first in range(0, 120, 50):
        part = slice(first, first + 50)
        chunks.partial_fit(layout(X[part]), y[part], classes=range(classes))
    assert bits(chunks) == bits(whole)
    if layout is np.asarray:
        for x_t, y_t in zip(X, y, strict=True):
            single.learn_one(x_t, y_t, classes=range(classes))
        assert bits(single) == bits(whole)
        assert single.trace_.replay(X, y).coef.tobytes() == whole.trace_.replay(X, y).coef.tobytes()
    assert whole.trace_.replay(layout(X), y).coef.ravel().tobytes() == whole.coef_.ravel().tobytes()
    twice = trained(layout(X), y, max_iter=2, **how)
    warm = trained(layout(X), y, max_iter=1, warm_start=True, **how)
    assert bits(quietly(warm.fit, layout(X), y)) == bits(twice)
    models = twice.trace_.after_each_pass(layout(X), y)
    assert np.atleast_2d(models[0].coef).tobytes() == whole.coef_.tobytes()


def test_the_path_holds_the_weights_after_each_mistake():
    X, y = np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 1.0]]), np.array([0, 1, 0])
    clf = trained(X, y, penalty="l2", alpha=0.5, order="cyclic", max_iter=1)
    coef, intercept = clf.trace_.path(X, y)
    for k, visit in enumerate(clf.trace_.visit):
        order = list(range(visit + 1))
        expected = reference.train(X.tolist(), (2 * y - 1).tolist(), order, keep=0.5)
        assert (coef[k + 1].tolist(), intercept[k + 1]) == (expected.w, expected.b)
    assert len(coef) == len(clf.trace_) + 1


def test_a_record_on_disk_replays(tmp_path):
    X, y = noisy(50, 4)
    clf = trained(X, y, penalty="elasticnet", alpha=0.01, max_iter=3)
    clf.trace_.save(tmp_path / "run.npz")
    again = rb.Trace.load(tmp_path / "run.npz").replay(X, y)
    assert again.coef.tobytes() == clf.coef_[0].tobytes()


def test_l1_makes_weights_exactly_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = X[:, 0] > 0
    weak, strong = (trained(X, y, penalty="l1", alpha=alpha, max_iter=5) for alpha in (1e-4, 0.05))
    assert np.count_nonzero(strong.coef_) < np.count_nonzero(weak.coef_)
    assert strong.score(X, y) > 0.9


def test_a_shrinking_hypothesis_is_confirmed_before_it_counts_as_separating():
    """The bias does not shrink, so a pass without a mistake may leave rows on the wrong side, here the second."""
    X, y = np.array([[-1.0], [2.0], [-2.0]]), np.array([0, 1, 0])
    clf = trained(X, y, penalty="l2", alpha=0.2, order="cyclic")
    assert clf.mistakes_per_pass_.tolist() == [1, 0, 1, 0]
    assert clf.trace_.after_each_pass(X, y)[1].predict(as_rows(X)).tolist() != y.tolist()
    assert (clf.stop_reason_, clf.converged_, clf.score(X, y)) == ("separated", True, 1.0)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"penalty": "l3"}, "penalty='l3'"),
        ({"penalty": "l2", "alpha": -1.0}, "alpha=-1.0"),
        ({"penalty": "l2", "alpha": 2.0}, "alpha=2.0 times eta0=1.0"),
        ({"penalty": "elasticnet", "l1_ratio": 1.5}, "l1_ratio=1.5"),
        ({"penalty": "l1", "average": True}, "cannot be combined with average=True"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        rb.Perceptron(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_a_stream_keeps_its_penalty():
    clf = rb.Perceptron(penalty="l2").partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="penalty cannot change"):
        clf.set_params(alpha=0.5)
    with pytest.raises(ParameterError, match="penalty cannot change"):
        clf.set_params(eta0=0.5)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("classes", [2, 3])
def test_one_row_is_predicted_as_many_are(penalty, classes):
    X, y = blobs(60, classes, 4)
    clf = rb.Perceptron(penalty=penalty, alpha=0.05).partial_fit(X, y, classes=range(classes))
    assert [clf.predict_one(x) for x in X] == clf.predict(X).tolist()


@pytest.mark.parametrize("before", [None, "l2"])
@pytest.mark.parametrize("after", [None, "l1", "l2"])
def test_a_stream_goes_on_from_a_fit_by_another_penalty(before, after):
    X, y = blobs(60, 3, 4)
    once = trained(X, y, penalty=before, alpha=0.01, order="cyclic", max_iter=2)
    start = {"coef_init": once.coef_, "intercept_init": once.intercept_}
    again = trained(X, y, fit=start, penalty=after, alpha=0.01, order="cyclic", max_iter=1)
    once.set_params(penalty=after).partial_fit(X, y)
    assert once.coef_ == pytest.approx(again.coef_, rel=1e-9)


def test_mistakes_alone_do_not_rebuild_weights_that_shrink():
    X, y = blobs(60, 2, 4)
    clf = trained(X, y, penalty="l2", alpha=0.01, max_iter=3)
    with pytest.raises(InputError, match="penalty=None"):
        clf.trace_.compressed(X, y)
