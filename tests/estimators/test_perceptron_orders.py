"""Orders of visits, and callbacks after each pass."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import OrderError, ParameterError
from tests.shared.strategies import RaisesAfter, bits, full_state, noisy, quietly, trained

X, Y = noisy(20, 3)
FOREVER = [np.arange(20)] * 3


def test_shuffle_false_is_cyclic_as_in_scikit_learn():
    assert bits(trained(X, Y, shuffle=False, max_iter=3)) == bits(trained(X, Y, order="cyclic", max_iter=3))


def test_an_array_is_repeated():
    order = np.random.default_rng(0).integers(20, size=13)
    clf = trained(X, Y, order=order, max_iter=4)
    assert clf.n_iter_ == 4
    assert clf.t_ == 4 * 13
    assert clf.trace_.index.tolist() == order[clf.trace_.visit % 13].tolist()


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_gives_each_pass_its_own_and_ends_training(kind):
    orders = kind([np.arange(20), np.arange(20)[::-1], [3, 3, 3]])
    clf = rb.Perceptron(order=orders)
    with pytest.warns(ConvergenceWarning):
        clf.fit(X, Y)
    assert (clf.n_iter_, clf.stop_reason_, clf.t_) == (3, "max_iter", 43)
    assert clf.trace_.visits_per_pass.tolist() == [20, 20, 3]
    flat = np.concatenate([np.asarray(each) for each in orders])
    assert clf.trace_.index.tolist() == flat[clf.trace_.visit].tolist()


def test_max_iter_cuts_a_list_short():
    assert trained(X, Y, order=FOREVER, max_iter=2).n_iter_ == 2


def test_a_callable_is_asked_once_a_pass_by_number():
    asked = []

    def order(epoch):
        asked.append(epoch)
        return np.roll(np.arange(20), epoch)

    clf = trained(X, Y, order=order, max_iter=4)
    assert asked == [1, 2, 3, 4]
    assert bits(clf) == bits(trained(X, Y, order=[np.roll(np.arange(20), k) for k in (1, 2, 3, 4)]))


def test_the_same_seed_gives_the_same_order_and_another_another():
    for order in ("shuffle", "random"):
        one, same, other = (trained(X, Y, order=order, max_iter=2, random_state=s) for s in (1, 1, 2))
        assert bits(one) == bits(same)
        assert one.trace_.index.tolist() != other.trace_.index.tolist()


@pytest.mark.parametrize("state", [None, 7, np.random.RandomState(3), np.random.default_rng(3), np.int64(3)])
def test_random_states_of_all_kinds(state):
    clf = trained(X, Y, random_state=state, max_iter=2)
    assert clf.t_ == 40


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 20], r"order\[1\] is 20, but X has rows 0 to 19"),
        ([-1], r"order\[0\] is -1"),
        ([[0, 1], [2, 99]], r"order\[1\]\[1\] is 99"),
        (lambda epoch: [epoch * 12], r"order\(2\)\[0\] is 24"),
        ([], "order must be a sequence"),
        ([[0], []], r"order\[1\] must be a sequence"),
        ([0.0, 1.0], "integers"),
        (np.ones(20, bool), "integers"),
        (np.zeros((2, 2), int), "order must be a sequence"),
        ([[0, 1], 2], "order"),
        (lambda epoch: None, r"order\(1\)"),
        ("backwards", "order='backwards'"),
        (None, "order"),
        (7, "order"),
    ],
)
def test_orders_that_name_no_rows(order, message):
    clf = trained(X, Y, max_iter=1)
    clf.order, clf.max_iter = order, 3
    before = full_state(clf) if not callable(order) else None
    with pytest.raises(OrderError, match=message) as caught:
        quietly(clf.fit, X, Y)
    assert isinstance(caught.value, ValueError)
    assert before is None or full_state(clf) == before
    assert clf.n_iter_ == 1


def test_a_random_order_contradicts_no_shuffling():
    with pytest.raises(ParameterError, match="shuffle=False"):
        rb.Perceptron(order="random", shuffle=False).fit(X, Y)


def test_callbacks_are_told_of_each_pass():
    reports = []
    clf = trained(X, Y, order="cyclic", max_iter=5, callbacks=[reports.append])
    assert [r.epoch for r in reports] == [1, 2, 3, 4, 5]
    assert [r.mistakes for r in reports] == clf.mistakes_per_pass_.tolist()
    assert [r.visits for r in reports] == [20] * 5
    assert all(r.validation_error is None for r in reports)
    assert sorted(r.seconds for r in reports) == [r.seconds for r in reports]
    after = clf.trace_.after_each_pass(X, Y)
    assert [r.model.weights.tobytes() for r in reports] == [m.weights.tobytes() for m in after]
    signs, epochs = Y[clf.trace_.index], clf.trace_.epoch
    losses = [np.maximum(0, -signs * clf.trace_.score)[epochs == k].sum() / 20 for k in range(1, 6)]
    assert [r.loss for r in reports] == pytest.approx(losses, rel=1e-14)


def test_a_callback_that_returns_true_ends_training_there():
    told = []
    callbacks = [lambda report: report.epoch == 3, told.append]
    clf = rb.Perceptron(order="cyclic", callbacks=callbacks).fit(X, Y)  # without a warning
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_) == ("interrupted", False, 3)
    assert len(told) == 3
    assert bits(clf) == bits(trained(X, Y, order="cyclic", max_iter=3))


def test_separation_takes_precedence_over_a_callback():
    clf = rb.Perceptron(callbacks=[lambda report: report.mistakes == 0]).fit([[1.0], [-1.0]], [1, -1])
    assert (clf.stop_reason_, clf.converged_) == ("separated", True)


class FaultError(Exception):
    pass


@pytest.mark.parametrize("order", ["cyclic", "shuffle"])
@pytest.mark.parametrize("warm_start", [False, True])
def test_an_exception_in_a_callback_leaves_the_estimator_as_it_was(warm_start, order):
    clf = trained(X, Y, order=order, max_iter=2, warm_start=warm_start, average=True)
    before = bits(clf)
    clf.set_params(callbacks=[RaisesAfter(2, FaultError)])
    with pytest.raises(FaultError):
        quietly(clf.fit, X, Y)
    assert bits(clf) == before
    assert clf.stop_reason_ == "max_iter"
    if warm_start:  # what comes next is what would have come
        quietly(clf.set_params(callbacks=None).fit, X, Y)
        assert bits(clf) == bits(trained(X, Y, order=order, max_iter=4, average=True))


def test_an_exception_in_a_callback_leaves_an_untrained_estimator_untrained():
    clf = rb.Perceptron(callbacks=[RaisesAfter(1, FaultError)])
    before = full_state(clf)
    with pytest.raises(FaultError):
        clf.fit(X, Y)
    assert full_state(clf) == before
