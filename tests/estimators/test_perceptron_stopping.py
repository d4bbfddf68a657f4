"""How runs end: limits, plateaus, tolerances, and early stopping by rows held out."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Peer

import rosenblatt as rb
from rosenblatt import stopping
from rosenblatt.exceptions import InputError, NonFiniteError
from rosenblatt.learning.visitor import hold_out
from tests.shared.examples import examples
from tests.shared.strategies import bits, noisy, problems, quietly, separable, trained

XOR = rb.datasets.load_xor()


def _fit(X, y, **parameters):
    """Train, and say whether it warned."""
    clf = rb.Perceptron(**parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y)
    assert all(issubclass(w.category, ConvergenceWarning) for w in caught)
    return clf, [str(w.message) for w in caught]


@pytest.mark.parametrize("order", ["shuffle", "cyclic", "random"])
def test_separated(order):
    X, y = separable(200, 5)
    clf, said = _fit(X, y, order=order)
    assert (clf.stop_reason_, clf.converged_, said) == ("separated", True, [])
    assert clf.mistakes_per_pass_[-1] == 0
    assert clf.score(X, y) == 1.0


@settings(max_examples=examples(60))
@given(
    st.integers(0, 10**6),
    st.sampled_from(["shuffle", "random", "partial", "callable"]),
    st.sampled_from(["mistake", "sign", "half", "correct"]),
    st.sampled_from([-1, 1]),
    st.booleans(),
)
def test_converged_means_that_every_row_is_right(seed, order, tie, zero, sparse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 2)) if seed % 2 else rng.integers(-1, 2, (12, 2)).astype(float)
    y = np.where(X @ [1, 0.5] > rng.integers(-1, 2) * 0.1, 1, -1)
    y[0] = -y[1]
    orders = {"partial": rng.integers(12, size=6), "callable": lambda epoch: [epoch % 12, (5 * epoch) % 12]}
    table = csr_array(X) if sparse else X
    clf = trained(table, y, order=orders.get(order, order), tie=tie, zero=zero, max_iter=60, random_state=seed)
    assert clf.converged_ == (clf.stop_reason_ == "separated")
    if clf.converged_:
        assert clf.score(table, y) == 1.0
        assert clf.mistakes_per_pass_[-1] == 0


def test_a_random_pass_without_a_mistake_is_confirmed_by_a_sweep():
    X, y = np.array([[1.0]] * 30 + [[-1.0]]), [1] * 30 + [-1]
    clf = rb.Perceptron(order=lambda epoch: [0] if epoch < 5 else [30], bias=None)
    clf.fit(X, y, coef_init=[0.0])
    assert (clf.n_iter_, clf.stop_reason_) == (2, "separated")  # the first pass made the mistake that mends all
    clf = rb.Perceptron(order=lambda epoch: [0] if epoch < 5 else [30])
    clf.fit(X, y)
    # Row 0 alone moves w to 1 and b to 1: rows 1 … 29 are right, row 30 is not until it is visited.
    assert clf.mistakes_per_pass_.tolist() == [1, 0, 0, 0, 1, 0]
    assert clf.converged_


def test_max_iter_warns():
    clf, said = _fit(*XOR, max_iter=3)
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_) == ("max_iter", False, 3)
    assert len(said) == 1
    assert "max_iter=3" in said[0]
    assert "4 mistakes" in said[0]


def test_a_last_pass_without_a_mistake_is_no_limit():
    clf, said = _fit(*rb.datasets.load_or(), order="cyclic", max_iter=6)
    assert (clf.stop_reason_, clf.converged_, said) == ("separated", True, [])
    clf, said = _fit(*rb.datasets.load_or(), order="cyclic", max_iter=5)
    assert (clf.stop_reason_, clf.converged_, len(said)) == ("max_iter", False, 1)


def test_plateau_by_patience_given():
    clf, said = _fit(*XOR, order="cyclic", n_iter_no_change=7, decide=False)
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_, said) == ("plateau", False, 8, [])


def test_small_sets_are_visited_as_often_as_is_cheap(monkeypatch):
    monkeypatch.setattr(stopping, "AFFORDABLE_VALUES", 200.0)  # XOR stores 8 values: 25 passes
    clf, _ = _fit(*XOR, order="cyclic", decide=False)
    assert (clf.stop_reason_, clf.n_iter_) == ("plateau", 25)
    monkeypatch.setattr(stopping, "AFFORDABLE_VALUES", 1.0)
    clf, _ = _fit(*XOR, order="cyclic", decide=False)
    assert (clf.stop_reason_, clf.n_iter_) == ("plateau", 12)


@settings(max_examples=examples(40))
@given(problems(), st.integers(1, 4))
def test_plateau_is_no_new_minimum_for_so_long(problem, patience):
    clf = trained(*problem, n_iter_no_change=patience, max_iter=50, decide=False)
    counts = clf.mistakes_per_pass_
    lows = [k for k in range(len(counts)) if k == 0 or counts[k] < counts[:k].min()]
    if clf.stop_reason_ == "plateau":
        assert len(counts) - 1 - lows[-1] == patience
    else:
        assert max(np.diff([*lows, len(counts) - 1]), default=0) <= patience


def test_tol():
    clf, said = _fit(*XOR, order="cyclic", tol=1e-3)
    assert (clf.stop_reason_, clf.converged_, said) == ("tol", False, [])
    assert clf.n_iter_ == 6
    assert trained(*XOR, order="cyclic", tol=1e-3, n_iter_no_change=2).n_iter_ == 3


@settings(max_examples=examples(150))
@given(problems(most_rows=16), st.sampled_from([0.0, 1e-3, 0.3]), st.sampled_from([None, {1: 4.0}, {-1: 0.25}]))
def test_tol_ends_where_scikit_learn_ends(problem, tol, class_weight):
    X, y = problem
    same = {"tol": tol, "max_iter": 80, "class_weight": class_weight}
    ours = trained(X, y, order="cyclic", **same)
    peer = quietly(Peer(shuffle=False, **same).fit, X, y)
    if ours.stop_reason_ == "separated":
        assert ours.n_iter_ <= peer.n_iter_
    else:
        assert ours.n_iter_ == peer.n_iter_
    assert ours.coef_.tolist() == peer.coef_.tolist()


def test_all_zero_rows_end_like_any_others():
    for X in (np.zeros((2, 3)), csr_array((2, 3))):
        clf, said = _fit(X, [0, 1], max_iter=4)
        assert (clf.stop_reason_, clf.n_iter_, len(said)) == ("max_iter", 4, 1)


def test_max_time():
    clf, said = _fit(*XOR, max_time=0.02, max_iter=10**9, decide=False, n_iter_no_change=10**9)
    assert (clf.stop_reason_, clf.converged_) == ("max_time", False)
    assert len(said) == 1
    assert "max_time=0.02" in said[0]
    assert clf.t_ == 4 * clf.n_iter_


class _Clock:
    """Time that goes by one second a look."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("seconds", range(1, 9))
def test_time_may_run_out_within_a_pass(monkeypatch, average, seconds):
    monkeypatch.setattr("rosenblatt.learning.visitor.BLOCK_MISTAKES", 10)
    monkeypatch.setattr("rosenblatt.learning.fit_loop.time", SimpleNamespace(perf_counter=_Clock().perf_counter))
    X, y = noisy(35, 3)
    clf, said = _fit(X, y, order="cyclic", average=average, max_time=seconds)
    assert clf.stop_reason_ == "max_time"
    assert len(said) == (0 if average else 1)
    visits = int(clf.trace_.visits_per_pass.sum())
    assert visits == clf.t_
    assert len(clf.trace_.visits_per_pass) == clf.n_iter_
    same = trained(X, y, order=[(np.arange(visits) % 35)], max_iter=1, average=average)
    assert same.coef_.tobytes() == clf.coef_.tobytes()
    replayed = clf.trace_.replay(X, y)
    assert replayed.weights.tobytes() == np.append(clf.coef_[0], clf.intercept_).tobytes()


def test_time_that_runs_out_with_a_separating_pass_does_not_matter(monkeypatch):
    monkeypatch.setattr("rosenblatt.learning.fit_loop.time", SimpleNamespace(perf_counter=_Clock().perf_counter))
    clf = rb.Perceptron(max_time=1).fit([[1.0], [-1.0]], [1, -1], coef_init=[1.0])
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_) == ("separated", True, 1)


def test_validation():
    X, y = noisy(200, 5)
    clf, said = _fit(X, y, early_stopping=True, n_iter_no_change=3)
    assert (clf.stop_reason_, clf.converged_, said) == ("validation", False, [])


def test_rows_on_the_plane_that_no_rule_corrects_are_named():
    clf, said = _fit([[1.0], [-1.0]], [1, -1], tie="correct")
    assert (clf.stop_reason_, clf.converged_) == ("plateau", False)
    assert len(said) == 1
    assert "1 rows lie exactly on the hyperplane" in said[0]
    assert "tie='correct'" in said[0]


def test_rows_that_the_order_never_visits_are_not_said_to_lie_on_the_plane():
    clf, said = _fit([[1.0], [-1.0], [5.0]], [1, -1, -1], order=[0, 1])
    assert (clf.stop_reason_, clf.converged_) == ("plateau", False)
    assert not any("exactly on the hyperplane" in each for each in said)


def test_verbose_tells_on_standard_error(capsys):
    quietly(rb.Perceptron(verbose=1, max_iter=3, order="cyclic").fit, *XOR)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Ended by 'max_iter': 3 passes, 12 mistakes." in err


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


def test_held_out_rows_decide_alone():
    """Mistakes that stand still do not end a fit before the error on the rows held out does."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 6))
        y = X @ rng.standard_normal(6) + rng.standard_normal(200) > 0.0
        clf = rb.Perceptron(early_stopping=True, n_iter_no_change=5).fit(X, y)
        errors = clf.curve_.validation
        assert clf.stop_reason_ == "validation"
        assert errors[-6:].min() == errors[-6]
