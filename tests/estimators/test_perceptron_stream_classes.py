"""A stream may meet its classes on the way, and predicts at any moment."""

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import LabelError
from tests.shared.strategies import bits, noisy, trained

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
    with pytest.raises(LabelError, match="'c' is none of the classes"):
        clf.learn_one(np.array([1.0]), "c")
    with pytest.raises(LabelError, match="'c' is none of the classes"):
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
