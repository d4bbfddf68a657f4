"""Early stopping: the best pass by rows held out is what is returned."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, NonFiniteError
from rosenblatt.learners.validation import hold_out
from tests.shared.strategies import bits, noisy, separable, trained

X, Y = noisy(150, 4, flip=0.25)


def _held_out(y, fraction, seed):
    codes = np.unique(y, return_inverse=True)[1]
    return hold_out(codes, fraction, np.random.default_rng(seed))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_pass_is_returned(layout, average, seed):
    table, reports = layout(X), []
    clf = rb.Perceptron(
        early_stopping=True, n_iter_no_change=5, average=average, random_state=seed, callbacks=[reports.append]
    ).fit(table, Y)
    errors = [r.validation_error for r in reports]
    best = len(errors) - 1 - int(np.argmin(errors[::-1]))  # the last of the best
    assert clf.stop_reason_ in ("validation", "plateau")  # of mistakes in training
    assert clf.coef_.tobytes() == reports[best].model.coef.tobytes()
    assert clf.intercept_[0] == reports[best].model.intercept
    assert clf.curve_.validation.tolist() == errors
    assert clf.curve_.best == best + 1
    assert clf.n_iter_ == len(errors)
    held = _held_out(Y, 0.1, seed)
    assert 1 - clf.score(table[held], Y[held]) == pytest.approx(min(errors))
    waited = len(errors) - 1 - int(np.argmin(errors))
    assert waited == 5 if clf.stop_reason_ == "validation" else waited < 5


def test_the_record_ends_with_the_best_pass():
    clf = trained(X, Y, early_stopping=True, n_iter_no_change=5)
    assert len(clf.trace_.mistakes_per_pass) == clf.curve_.best < clf.n_iter_
    assert clf.trace_.epoch.max() <= clf.curve_.best
    assert clf.trace_.mistakes_per_pass.tolist() == clf.mistakes_per_pass_[: clf.curve_.best].tolist()
    replayed = clf.trace_.replay(X, Y)
    assert replayed.weights.tobytes() == np.append(clf.coef_[0], clf.intercept_).tobytes()


@pytest.mark.parametrize("order", ["shuffle", "cyclic", "random"])
def test_rows_held_out_are_never_trained_on(order):
    clf = trained(X, Y, early_stopping=True, validation_fraction=0.3, max_iter=20, order=order)
    held = _held_out(Y, 0.3, 0)
    assert len(held) == round(0.3 * np.sum(Y < 0)) + round(0.3 * np.sum(Y > 0))
    assert not np.isin(clf.trace_.index, held).any()
    if order != "random":
        assert (clf.trace_.visits_per_pass == 150 - len(held)).all()
    flipped = Y.copy()
    flipped[held] *= -1
    # What they are does not matter to the training, only to when it ends.
    other = trained(X, flipped, early_stopping=True, validation_fraction=0.3, max_iter=1, order="cyclic")
    first = trained(X, Y, early_stopping=True, validation_fraction=0.3, max_iter=1, order="cyclic")
    if np.array_equal(_held_out(flipped, 0.3, 0), held):
        assert bits(other) == bits(first)


def test_it_is_the_same_every_time():
    one, two = (trained(X, Y, early_stopping=True, n_iter_no_change=4) for _ in range(2))
    assert bits(one) == bits(two)
    assert one.curve_.validation.tolist() == two.curve_.validation.tolist()


def test_separated_training_rows_end_it_too():
    earlier = 0
    for seed in range(20):
        A, b = separable(60, 3, seed=seed, gap=0.0)
        clf = rb.Perceptron(
            early_stopping=True, validation_fraction=0.3, random_state=seed, n_iter_no_change=500
        ).fit(A, b)
        rest = np.setdiff1d(np.arange(60), _held_out(b, 0.3, seed))
        # The hypothesis returned is an earlier one, if that was better on the rows held out.
        assert clf.stop_reason_ == "separated"
        assert clf.converged_ == (clf.curve_.best == clf.n_iter_)
        assert not clf.converged_ or clf.score(A[rest], b[rest]) == 1.0
        earlier += not clf.converged_
    assert 0 < earlier < 20, "both kinds are meant to be met here"


def test_waiting_by_default_is_ten_passes_or_half_of_them():
    clf = trained(X, Y, early_stopping=True)
    errors = clf.curve_.validation
    fell = int(np.argmin(errors)) + 1
    assert clf.stop_reason_ == "validation"
    assert clf.n_iter_ - fell >= max(10, clf.n_iter_ / 2)
    assert clf.n_iter_ - 1 - fell < max(10, (clf.n_iter_ - 1) / 2)


def test_a_class_of_one_row_cannot_be_held_out():
    with pytest.raises(InputError, match="early_stopping=True needs at least two rows of each class"):
        rb.Perceptron(early_stopping=True).fit([[1.0], [2.0], [3.0]], [0, 1, 1])


def test_at_least_one_row_of_each_class_is_held_out_and_one_kept():
    for fraction in (0.01, 0.5, 0.99):
        held = hold_out(np.array([0, 0, 1, 1, 1]), fraction, np.random.default_rng(0))
        assert len(np.intersect1d(held, [0, 1])) == 1
        assert 1 <= len(np.intersect1d(held, [2, 3, 4])) <= 2
        assert held.tolist() == sorted(held)


def test_an_order_of_rows_held_out_alone_leaves_nothing_to_train_on():
    held = _held_out(Y, 0.1, 0)
    with pytest.raises(InputError, match="order"):
        rb.Perceptron(order=held, early_stopping=True).fit(X, Y)


def test_a_bad_value_among_rows_held_out_is_found_where_it_is():
    for seed in range(6):
        table = X.copy()
        row = int(_held_out(Y, 0.1, seed)[-1])
        table[row, 2] = np.nan
        with pytest.raises(NonFiniteError, match=f"row {row}, column 2"):
            rb.Perceptron(early_stopping=True, random_state=seed).fit(table, Y)
