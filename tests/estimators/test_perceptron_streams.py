"""Chunks, single rows, resumed fits and one fit leave the same bits; classes may appear on the way."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import LabelError
from tests.shared.examples import slowly
from tests.shared.strategies import bits, noisy, problems, quietly, trained

CHUNKS = ([60], [1] * 60, [7, 1, 30, 22], [59, 1])
WIDE = 41  # every lane of the dot product: 32 + 8 + 1


def _chunked(clf, X, y, sizes, weight=None):
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        part = None if weight is None else weight[start:end]
        clf.partial_fit(X[start:end], y[start:end], sample_weight=part)
    return clf


def _one_by_one(clf, X, y):
    for x, label in zip(X, y, strict=True):
        clf.learn_one(x, label)
    return clf


@pytest.mark.parametrize("sizes", CHUNKS, ids=str)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, *slowly(np.float32)])
def test_dense_chunks_equal_one_fit(dtype, average, sizes):
    X, y = noisy(60, WIDE, dtype=dtype)
    whole = trained(X, y, order="cyclic", max_iter=1, average=average)
    stream = _chunked(rb.Perceptron(average=average), X, y, sizes)
    assert bits(stream) == bits(whole)
    assert stream.n_mistakes_ == whole.n_mistakes_
    assert stream.classes_.tolist() == [-1, 1]


@pytest.mark.parametrize("sizes", CHUNKS, ids=str)
@pytest.mark.parametrize("average", [False, True])
def test_sparse_chunks_equal_one_fit(average, sizes):
    X, y = noisy(60, WIDE)
    X[np.abs(X) < 0.7] = 0
    X = csr_array(X)
    whole = trained(X, y, order="cyclic", max_iter=1, average=average)
    assert bits(_chunked(rb.Perceptron(average=average), X, y, sizes)) == bits(whole)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_single_rows_equal_one_fit(dtype, average):
    X, y = noisy(60, WIDE, dtype=dtype)
    whole = trained(X, y, order="cyclic", max_iter=1, average=average, eta0=0.3)
    stream = _one_by_one(rb.Perceptron(average=average, eta0=0.3), X, y)
    assert bits(stream) == bits(whole)
    assert stream.n_mistakes_ == whole.n_mistakes_
    assert [stream.predict_one(x) for x in X] == whole.predict(X).tolist()


def test_single_rows_and_chunks_may_alternate():
    X, y = noisy(60, 5)
    clf = rb.Perceptron(average=True)
    clf.partial_fit(X[:10], y[:10])
    _one_by_one(clf, X[10:20], y[10:20])
    clf.partial_fit(X[20:35], y[20:35])
    _one_by_one(clf, X[35:].tolist(), y[35:].tolist())
    assert bits(clf) == bits(trained(X, y, order="cyclic", max_iter=1, average=True))


def test_weighted_chunks_equal_one_fit():
    X, y = noisy(60, 5)
    weight = np.random.default_rng(1).random(60)
    weight[::7] = 0
    whole = trained(X, y, fit={"sample_weight": weight}, order="cyclic", max_iter=1, class_weight={1: 0.3})
    stream = _chunked(rb.Perceptron(class_weight={1: 0.3}), X, y, [5, 25, 30], weight)
    assert bits(stream) == bits(whole)


def test_a_first_row_of_no_weight_is_no_start():
    X, y, weight = [[1.0, 3.0], [2.0, 1.0]], [1, -1], [0, 1]
    whole = trained(X, y, fit={"sample_weight": weight}, init="first", order="cyclic", max_iter=1)
    assert bits(rb.Perceptron(init="first").partial_fit(X, y, sample_weight=weight)) == bits(whole)


def test_a_stream_goes_on_from_a_fit():
    X, y = noisy(60, 5)
    fitted = trained(X, y, order="cyclic", max_iter=2, average=True)
    three = trained(X, y, order="cyclic", max_iter=3, average=True)
    for go_on in (_one_by_one, lambda clf, X, y: _chunked(clf, X, y, [7, 53])):
        clf = go_on(copy.deepcopy(fitted), X, y)
        assert bits(clf) == bits(three)
        assert clf.mistakes_per_pass_.tolist() == three.mistakes_per_pass_.tolist()
        for attribute in ("n_iter_", "converged_", "stop_reason_", "curve_"):
            assert not hasattr(clf, attribute)  # they would be of the fit alone


@given(
    problems(),
    st.sampled_from(["mistake", "half", "correct"]),
    st.sampled_from(["zero", "first"]),
    st.sampled_from([0.0, 1.0]),
    st.data(),
)
def test_chunks_and_rows_equal_one_fit_under_every_rule(problem, tie, init, margin, data):
    X, y = problem
    labels = data.draw(st.sampled_from([(-1, 1), ("a", "b"), ("no", "yes!"), (3, 7), (False, True)]))
    y = np.array(labels)[(y > 0).astype(int)]
    rule = {"tie": tie, "init": init, "margin": margin, "average": data.draw(st.booleans())}
    whole = trained(X, y, order="cyclic", max_iter=1, **rule)
    cut = data.draw(st.integers(1, len(X) - 1))
    for stream in (
        _chunked(rb.Perceptron(**rule), X, y, [cut, len(X) - cut]),
        _one_by_one(rb.Perceptron(**rule), X, y),
        _one_by_one(rb.Perceptron(**rule), X, y.tolist()),
    ):
        assert bits(stream) == bits(whole)
        assert stream.classes_.tolist() == list(labels)
        assert stream.predict(X).tolist() == whole.predict(X).tolist()


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "random"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", [lambda X: X, *slowly(lambda X: X.astype(np.float32)), csr_array])
def test_resumed_fits_equal_one_fit(layout, average, order):
    X, y = noisy(60, 5)
    X = layout(X)
    rule = {"order": order, "average": average, "random_state": 3}
    whole = trained(X, y, max_iter=7, **rule)
    clf = rb.Perceptron(max_iter=3, warm_start=True, **rule)
    quietly(clf.fit, X, y)
    quietly(clf.set_params(max_iter=4).fit, X, y)
    assert bits(clf) == bits(whole)
    assert clf.n_iter_ == 4
    assert clf.mistakes_per_pass_.tolist() == whole.mistakes_per_pass_.tolist()[3:]
    replayed = clf.trace_.replay(X, y)
    assert replayed.weights.tobytes() == np.append(clf.coef_[0], clf.intercept_).tobytes()


def test_fits_without_warm_start_begin_anew():
    X, y = noisy(60, 5)
    clf = trained(X, y, max_iter=3)
    first = bits(clf)
    assert bits(quietly(clf.fit, X, y)) == first
    clf.partial_fit(X, y)
    assert bits(quietly(clf.fit, X, y)) == first


def test_a_fit_goes_on_from_a_stream():
    X, y = noisy(60, 5)
    clf = rb.Perceptron(order="cyclic", warm_start=True, max_iter=2).partial_fit(X, y)
    assert bits(quietly(clf.fit, X, y)) == bits(trained(X, y, order="cyclic", max_iter=3))


def test_warm_start_with_given_weights_begins_there():
    X, y = noisy(60, 5)
    clf = trained(X, y, order="cyclic", max_iter=2, warm_start=True)
    other = trained(X, y, fit={"coef_init": np.ones(5)}, order="cyclic", max_iter=2)
    assert bits(quietly(clf.fit, X, y, coef_init=np.ones(5))) == bits(other)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("learn", ["learn_one", "partial_fit"])
def test_a_pickled_stream_goes_on_bit_for_bit(average, learn):
    X, y = noisy(60, 5)
    clf = rb.Perceptron(average=average)
    for start in range(60):
        if learn == "learn_one":
            clf.learn_one(X[start], y[start])
        else:
            clf.partial_fit(X[start : start + 1], y[start : start + 1])
        if start in (0, 13):
            clf = pickle.loads(pickle.dumps(clf))
    assert bits(clf) == bits(trained(X, y, order="cyclic", max_iter=1, average=average))


def test_a_balanced_stream_counts_on_from_the_fit():
    """Three of four rows were of class 0, so the next of class 1 is the second of five: 5 / (2 · 2)."""
    X, y = np.array([[0.0], [1.0], [2.0], [9.0]]), [0, 0, 0, 1]
    clf = trained(X, y, class_weight="balanced", max_iter=3, trace="mistakes")
    clf.partial_fit([[-9.0]], [1])
    assert clf.trace_.step.tolist() == [5 / 4]


PAIRS = [(-1, 1), ("ham", "spam"), (0, 1), (5, 50), (b"a", b"b"), (("x", 1), ("y", 0))]


def _labelled(pair, y):
    return [pair[label] for label in (np.asarray(y) > 0).astype(int)]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("first", [0, 1], ids=["smaller first", "larger first"])
@pytest.mark.parametrize("lead", [1, 4], ids=["one row", "four rows of one class"])
def test_either_class_may_come_first(pair, first, lead):
    X, y = noisy(30, 3)
    y[:lead], y[lead] = 2 * first - 1, 1 - 2 * first
    labels = _labelled(pair, y)
    whole = trained(X, labels, order="cyclic", max_iter=1)
    rows = rb.Perceptron()
    for x, label in zip(X, labels, strict=True):
        rows.learn_one(x, label)
    chunks = rb.Perceptron().partial_fit(X[:lead], labels[:lead]).partial_fit(X[lead:], labels[lead:])
    for stream in (rows, chunks):
        assert stream.classes_.tolist() == list(pair)
        assert bits(stream) == bits(whole)
        assert stream.predict(X).tolist() == whole.predict(X).tolist()
        assert [stream.predict_one(x) for x in X] == whole.predict(X).tolist()


@pytest.mark.parametrize("first", [-1, 1])
def test_predictions_are_right_from_the_second_row_on(first):
    clf = rb.Perceptron()
    clf.learn_one(np.array([1.0]), first).learn_one(np.array([-1.0]), -first)
    assert clf.classes_.tolist() == [-1, 1]
    assert clf.predict_one(np.array([1.0])) == first
    assert clf.predict_one(np.array([-1.0])) == -first


@pytest.mark.parametrize("label", ["a", 0, 1])
def test_with_one_class_so_far_it_is_what_is_predicted(label):
    clf = rb.Perceptron().partial_fit([[1.0, 2.0]], [label])
    X = [[1.0, 2.0], [-9.0, 0.0], [0.0, 0.0]]
    assert clf.predict(X).tolist() == [label] * 3
    assert [clf.predict_one(x) for x in X] == [label] * 3
    assert clf.score(X, [label] * 3) == 1.0


@pytest.mark.parametrize("order", ["abab", "abba", "baab", "aaab", "bbba"])
def test_declared_classes_are_known_before_they_are_met(order):
    clf = rb.Perceptron(tie="sign").partial_fit([[1.0]], [order[0]], classes=["b", "a"])
    assert clf.classes_.tolist() == ["a", "b"]
    clf.partial_fit([[1.0], [-2.0], [3.0]], list(order[1:]), classes=["a", "b"])
    whole = trained([[1.0], [1.0], [-2.0], [3.0]], list(order), tie="sign", order="cyclic", max_iter=1)
    assert bits(clf) == bits(whole)


def test_asymmetric_rules_need_their_classes_declared():
    clf = rb.Perceptron(tie="sign")
    with pytest.raises(LabelError, match="classes"):
        clf.partial_fit([[1.0], [2.0]], [0, 1])
    assert not clf.__sklearn_is_fitted__()
    with pytest.raises(LabelError, match="classes"):
        rb.Perceptron(init="random").learn_one(np.array([1.0]), 1)


def test_a_third_class_is_refused():
    clf = rb.Perceptron().partial_fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(LabelError, match="'c' is not one of the classes"):
        clf.learn_one(np.array([1.0]), "c")
    with pytest.raises(LabelError, match="'c' is not one of the classes"):
        clf.partial_fit([[1.0], [2.0]], ["a", "c"])


def test_other_classes_than_before_are_refused():
    clf = rb.Perceptron().partial_fit([[1.0]], [1], classes=[0, 1])
    with pytest.raises(LabelError, match=r"classes=\[1, 2\] is not the same as on last call"):
        clf.partial_fit([[1.0]], [1], classes=[1, 2])
    with pytest.raises(LabelError, match="two different classes"):
        rb.Perceptron().partial_fit([[1.0]], [1], classes=[1, 1])
    with pytest.raises(LabelError, match="'grown' must be a list of labels"):
        rb.Perceptron().partial_fit([[1.0]], [1], classes="grown")


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_mirrored_streams_keep_their_record(scale):
    """The larger label comes second, so all that was learned before it is turned around."""
    X, y = noisy(20, 3)
    y[:5], y[5] = -1, 1
    clf = rb.Perceptron(trace="mistakes", eta0=scale, average=True)
    for x, label in zip(X, y, strict=True):
        clf.learn_one(x, label)
    whole = trained(X, y, order="cyclic", max_iter=1, eta0=scale, average=True)
    for name in ("epoch", "visit", "index", "score", "step"):
        assert getattr(clf.trace_, name).tobytes() == getattr(whole.trace_, name).tobytes()
    assert clf.trace_.replay(X, y).coef.tobytes() == clf.coef_.tobytes()


def test_a_new_rule_holds_from_then_on():
    X, y = noisy(30, 3)
    clf = rb.Perceptron().partial_fit(X[:10], y[:10])
    clf.set_params(eta0=0.25).partial_fit(X[10:], y[10:])
    start = trained(X[:10], y[:10], order="cyclic", max_iter=1)
    rest = {"coef_init": start.coef_, "intercept_init": start.intercept_}
    whole = trained(X[10:], y[10:], fit=rest, eta0=0.25, order="cyclic", max_iter=1)
    assert clf.coef_.tobytes() == whole.coef_.tobytes()
