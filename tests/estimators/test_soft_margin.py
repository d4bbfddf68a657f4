"""Soft margins: the objective other libraries reach, a gap that holds, and every end explained."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, NonFiniteError, ParameterError, TrainingOverflowError, WeightError
from rosenblatt.margins import softest as soft_margin
from tests.shared.examples import examples
from tests.shared.margin_oracles import least_objective, objective
from tests.shared.strategies import full_state, noisy, problems, quietly, separable

LOSSES = ["perceptron", "hinge", "squared_hinge", "logistic"]
PENALTIES = ["l2", "l1", "elasticnet", None]


def fitted(X, y, *, fit=None, **parameters):
    return quietly(rb.SoftMarginClassifier(**parameters).fit, X, y, **(fit or {}))


def formula(clf, X, y, **given):
    return objective(
        X, np.where(y == clf.classes_[1], 1, -1), clf.coef_[0], np.atleast_1d(clf.intercept_)[0], **given
    )


def breast_cancer():
    return load_breast_cancer(return_X_y=True)


def odd_digits():
    X, y = load_digits(return_X_y=True)
    return X, y % 2


@pytest.mark.parametrize("data", [breast_cancer, odd_digits])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_raw_data_is_solved_to_a_millionth(loss, penalty, data):
    X, y = data()
    clf = fitted(X, y, loss=loss, penalty=penalty, tol=1e-6)
    if (loss, penalty, data) == ("logistic", None, breast_cancer):
        assert clf.stop_reason_ == "no_minimum"
        return
    assert (clf.stop_reason_, clf.converged_) == ("tol", True)
    assert clf.gap_ <= 1e-6 * clf.objective_
    share = {"l1": 1.0, "elasticnet": 0.15}.get(penalty, 0.0)
    alpha = 1e-4 if penalty else 0.0
    known = formula(clf, X, y, loss=loss, l1=alpha * share, l2=alpha * (1 - share))
    assert clf.objective_ == pytest.approx(known, rel=1e-9)


def test_logistic_regression_has_the_same_minimum():
    X, y = breast_cancer()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    alpha = 0.01
    ours = fitted(X, y, loss="logistic", alpha=alpha, tol=1e-12)
    theirs = LogisticRegression(C=1 / (alpha * len(y)), solver="newton-cholesky", tol=1e-12).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, rel=1e-5, abs=1e-7)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-5)
    assert ours.objective_ <= formula(theirs, X, y, loss="logistic", l2=alpha) + 1e-12


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_linear_svm_has_the_same_minimum(loss):
    X, y = odd_digits()
    X, alpha = X / 16, 0.01
    ours = fitted(X, y, loss=loss, alpha=alpha, fit_intercept=False, tol=1e-9)
    theirs = LinearSVC(loss=loss, C=1 / (alpha * len(y)), fit_intercept=False, tol=1e-5, max_iter=100_000)
    assert formula(theirs.fit(X, y), X, y, loss=loss, l2=alpha) == pytest.approx(ours.objective_, rel=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_the_l1_penalty_sets_weights_to_zero_at_the_default_tolerance(loss):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rough, fine = (fitted(X, y, loss=loss, penalty="l1", alpha=0.01, tol=tol) for tol in (1e-3, 1e-9))
    assert 0 < np.count_nonzero(rough.coef_) < 20
    needed = abs(fine.coef_) > 0.05 * abs(fine.coef_).max()
    assert (rough.coef_[needed] != 0).all()
    assert rough.gap_ <= 1e-3 * rough.objective_


def test_the_l1_penalty_leaves_the_weights_at_zero_that_liblinear_does():
    X, y = breast_cancer()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X = np.column_stack([X, np.ones(len(X))])
    ours = fitted(X, y, loss="squared_hinge", penalty="l1", alpha=0.01, fit_intercept=False, tol=1e-10)
    theirs = LinearSVC(penalty="l1", dual=False, C=100 / len(y), fit_intercept=False, tol=1e-10, max_iter=100_000)
    theirs.fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)
    assert ((np.abs(ours.coef_) < 1e-6) == (theirs.coef_ == 0)).all()


@settings(max_examples=examples(40))
@given(
    problem=problems(),
    loss=st.sampled_from(LOSSES),
    penalty=st.sampled_from(PENALTIES),
    solver=st.sampled_from(["auto", "sgd"]),
    alpha=st.sampled_from([0.001, 0.1, 3.0]),
    weight=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=8, max_size=8),
)
def test_the_minimum_is_never_below_the_objective_less_its_gap(problem, loss, penalty, solver, alpha, weight):
    X, y = problem
    weight = np.array(weight[: len(y)])
    weight[[np.argmax(y == 1), np.argmax(y == -1)]] = 1.0
    rate = {"learning_rate": "constant", "max_iter": 20} if solver == "sgd" else {}
    clf = fitted(
        X, y, fit={"sample_weight": weight}, loss=loss, penalty=penalty, solver=solver, alpha=alpha, **rate
    )
    share = {"l1": 1.0, "elasticnet": 0.15}.get(penalty, 0.0)
    alpha = alpha if penalty else 0.0
    given = {"loss": loss, "cost": weight / weight.sum(), "l1": alpha * share, "l2": alpha * (1 - share)}
    assert clf.objective_ == pytest.approx(formula(clf, X, y, **given), abs=1e-12)
    assert clf.objective_ - clf.gap_ <= least_objective(X, y, **given) + 1e-8


@pytest.mark.parametrize("solver", ["interior", "coordinate", "sgd"])
def test_layouts_and_precisions_reach_the_same_hyperplane(solver):
    X, y = noisy(200, 6, seed=1, dtype=np.float32)
    X[np.abs(X) < 0.5] = 0
    given = {"alpha": 0.05, "solver": solver, "tol": 1e-8, "max_iter": 50}
    base = fitted(X.astype(float), y, **given)
    for same in (X, sp.csr_array(X), sp.csr_array(X.astype(float)), np.asfortranarray(X)):
        clf = fitted(same, y, **given)
        assert clf.coef_ == pytest.approx(base.coef_, rel=1e-5, abs=1e-6)
        assert clf.objective_ == pytest.approx(base.objective_, rel=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_row_of_weight_two_is_two_rows(loss):
    X, y = noisy(50, 4, seed=2)
    weight = np.arange(50) % 3
    clf = fitted(X, y, fit={"sample_weight": weight}, loss=loss, alpha=0.1, tol=1e-12)
    again = np.repeat(np.arange(50), weight)
    same = fitted(X[again], y[again], loss=loss, alpha=0.1, tol=1e-12)
    assert clf.coef_ == pytest.approx(same.coef_, abs=1e-4)
    assert clf.objective_ == pytest.approx(same.objective_)


@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_weights_are_shares_whatever_their_size(weight):
    X, y = noisy(60, 3, seed=3)
    assert (fitted(X, y, fit={"sample_weight": np.full(60, weight)}).coef_ == fitted(X, y).coef_).all()


def test_rows_whose_share_vanishes_still_count_as_rows():
    X, y = separable(20, 2)
    weight = np.where(y == 1, 1e308, 1e-308)
    assert fitted(X, y, fit={"sample_weight": weight}, alpha=1.0).objective_ >= 0.0


def test_class_weights_multiply_the_loss():
    X, y = noisy(60, 3, seed=3)
    clf = fitted(X, y, class_weight={1: 5.0}, alpha=0.1, tol=1e-10)
    cost = np.where(y == 1, 5.0, 1.0) / 60
    assert clf.objective_ == pytest.approx(formula(clf, X, y, loss="hinge", cost=cost, l2=0.1))
    assert (clf.predict(X) == 1).sum() > (fitted(X, y, alpha=0.1).predict(X) == 1).sum()
    assert fitted(X, y, class_weight="balanced").converged_


@pytest.mark.parametrize("loss", ["perceptron", "hinge", "squared_hinge"])
def test_without_a_penalty_a_separable_set_costs_nothing(loss):
    X, y = separable(50, 3)
    clf = fitted(X, y, loss=loss, penalty=None)
    assert (clf.objective_, clf.gap_, clf.converged_, clf.gap_from_) == (0.0, 0.0, True, "zero")
    assert clf.score(X, y) == 1.0


@pytest.mark.parametrize("solver", ["auto", "sgd"])
def test_without_a_penalty_the_logistic_loss_of_a_separable_set_has_no_minimum(solver):
    X, y = separable(50, 3)
    clf = rb.SoftMarginClassifier("logistic", penalty=None, solver=solver, learning_rate="constant", eta0=1.0)
    with pytest.warns(ConvergenceWarning, match="no minimum"):
        clf.fit(X, y)
    assert (clf.converged_, clf.stop_reason_) == (False, "no_minimum")
    assert clf.gap_ == clf.objective_
    assert clf.score(X, y) == 1.0


def test_the_perceptron_s_loss_is_a_hinge_scaled():
    X, y = noisy(50, 3, seed=4)
    one = fitted(X, y, alpha=0.1, tol=1e-10)
    other = fitted(X, y, loss="perceptron", margin=2.0, alpha=0.05, tol=1e-10)
    assert other.coef_ == pytest.approx(2 * one.coef_, abs=1e-5)
    assert other.objective_ == pytest.approx(2 * one.objective_)


@pytest.mark.parametrize("data", [load_iris, load_digits])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_of_many_classes_each_is_told_from_the_rest(loss, data):
    X, y = data(return_X_y=True)
    clf = fitted(X, y, loss=loss, alpha=0.01)
    parts = [fitted(X, y == c, loss=loss, alpha=0.01) for c in clf.classes_]
    assert clf.coef_ == pytest.approx(np.vstack([part.coef_ for part in parts]))
    assert clf.objective_ == pytest.approx(sum(part.objective_ for part in parts))
    assert clf.gap_ == pytest.approx(sum(part.gap_ for part in parts))
    assert (clf.predict(X) == clf.classes_[clf.decision_function(X).argmax(axis=1)]).all()
    assert clf.score(X, y) > 0.9


@pytest.mark.parametrize("rate", ["optimal", "constant", "invscaling", "adaptive"])
@pytest.mark.parametrize("average", [False, True])
def test_descent_comes_near_the_minimum(rate, average):
    X, y = noisy(400, 5, seed=5)
    least = fitted(X, y, loss="logistic", alpha=0.01, tol=1e-9).objective_
    clf = fitted(
        X, y, loss="logistic", alpha=0.01, solver="sgd", learning_rate=rate, eta0=0.05, average=average, tol=1e-6
    )
    assert least <= clf.objective_ <= 1.02 * least
    assert clf.objective_ - clf.gap_ <= least


def test_descent_on_a_plateau_says_what_is_left():
    X, y = noisy(100, 4, seed=6)
    clf = rb.SoftMarginClassifier(solver="sgd", alpha=0.01, learning_rate="constant")
    with pytest.warns(ConvergenceWarning, match=r"did not fall .* The objective .* may be up to"):
        clf.fit(X, y)
    assert (clf.stop_reason_, clf.converged_) == ("plateau", False)
    easy = rb.SoftMarginClassifier(solver="sgd", penalty=None, learning_rate="constant", eta0=1.0).fit(
        *separable(50, 3)
    )
    assert (easy.stop_reason_, easy.converged_) == ("tol", True)


def test_visits_are_counted_where_there_are_any():
    X, y = load_iris(return_X_y=True)
    clf = fitted(X, y, fit={"sample_weight": np.arange(150) % 2}, solver="sgd", max_iter=3)
    assert clf.t_ == 75 * clf.n_iter_ == 225
    assert not hasattr(rb.SoftMarginClassifier(solver="sgd"), "t_")
    with pytest.raises(AttributeError, match="only solver='sgd'"):
        fitted(X, y).t_  # noqa: B018
    assert not hasattr(rb.MaxMarginClassifier().fit(X, y == 0), "t_")


def test_descent_goes_on_from_the_last_fit():
    X, y = noisy(100, 4, seed=6)
    clf = rb.SoftMarginClassifier(
        solver="sgd", warm_start=True, shuffle=False, max_iter=1, learning_rate="constant"
    )
    first = quietly(clf.fit, X, y).coef_
    assert clf.t_ == 100
    second = quietly(clf.fit, X, y).coef_
    assert clf.t_ == 200
    assert (first != second).any()
    both = fitted(
        np.vstack([X, X]), np.append(y, y), solver="sgd", shuffle=False, max_iter=1, learning_rate="constant"
    )
    assert second == pytest.approx(both.coef_)
    with pytest.raises(ParameterError, match="warm_start"):
        clf.fit(X[:, :2], y)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_limit_warns_and_says_what_is_left(loss):
    X, y = noisy(100, 4, seed=7)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 steps\. The objective .* may be up to"):
        clf = rb.SoftMarginClassifier(max_iter=2).fit(X, y)
    assert (clf.stop_reason_, clf.n_iter_, clf.converged_) == ("max_iter", 2, False)
    with pytest.warns(ConvergenceWarning, match="max_time=1e-09 seconds"):
        clf = rb.SoftMarginClassifier(max_time=1e-9).fit(X, y)
    assert (clf.stop_reason_, clf.n_iter_) == ("max_time", 1)
    with pytest.warns(ConvergenceWarning, match="Rounding allowed no better"):
        clf = rb.SoftMarginClassifier(loss, tol=0.0).fit(X, y)
    assert (clf.stop_reason_, clf.converged_) == ("stalled", False)
    assert 0 < clf.gap_ < 1e-10


def test_ctrl_c_publishes_the_best_and_goes_on_its_way(monkeypatch):
    def interrupted(problem, start, how):
        yield from ()
        raise KeyboardInterrupt

    X, y = noisy(50, 3, seed=8)
    clf = rb.SoftMarginClassifier(solver="sgd")
    monkeypatch.setattr(soft_margin, "stochastic", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.stop_reason_ == "interrupted"
    other = rb.SoftMarginClassifier(solver="sgd")
    with pytest.raises(KeyboardInterrupt):
        other.fit(*load_iris(return_X_y=True))
    assert not hasattr(other, "coef_")  # one hyperplane of three is no classifier


def test_what_cannot_be_used_leaves_it_as_it_was():
    X, y = noisy(30, 3, seed=9)
    clf = fitted(X, y)
    before = full_state(clf)
    with pytest.raises(LabelError, match="only one class"):
        clf.fit(X, np.zeros(30))
    with pytest.raises(LabelError, match="No row of class 'no' has a weight above 0"):
        clf.fit(X, np.where(y > 0, "yes", "no"), sample_weight=(y > 0).astype(float))
    with pytest.raises(WeightError, match="zero for every row"):
        quietly(rb.SoftMarginClassifier(class_weight={1: 0.0}).fit, X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(NonFiniteError, match="NaN"):
        clf.fit(np.where(X > 2, np.nan, X), y)
    assert full_state(clf) == before
    wild = rb.SoftMarginClassifier("squared_hinge", penalty=None, solver="sgd", learning_rate="constant", eta0=1e9)
    with pytest.raises(TrainingOverflowError, match="steps are too long"):
        wild.fit(1e9 * X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "log"}, "loss='log' is not one of"),
        ({"penalty": "l3"}, "penalty='l3' is not one of"),
        ({"solver": "lbfgs"}, "solver='lbfgs' is not one of"),
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
        ({"alpha": 0}, "alpha=0 must be a finite number above 0"),
        ({"alpha": np.inf}, "alpha=inf"),
        ({"l1_ratio": 1.5}, "l1_ratio=1.5 must be a number from 0 to 1"),
        ({"loss": "perceptron", "margin": 0}, "margin=0 must be above 0 for solver='auto'"),
        ({"margin": 2}, "margin=2 belongs to loss='perceptron'"),
        ({"tol": -1}, "tol=-1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"max_time": 0}, "max_time=0"),
        ({"eta0": 0}, "eta0=0"),
        ({"power_t": "x"}, "power_t='x'"),
        ({"average": 1}, "average=1 must be True or False"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"random_state": "x"}, "random_state='x'"),
        ({"class_weight": "heavy"}, "class_weight"),
        ({"solver": "coordinate", "penalty": "l1"}, "solver='coordinate' needs penalty='l2'"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = noisy(20, 2)
    with pytest.raises(ParameterError, match=message):
        rb.SoftMarginClassifier(**parameters).fit(X, y)


def test_the_solver_that_suits_the_data_is_chosen(monkeypatch):
    X, y = noisy(40, 30, seed=10)
    direct = {p: fitted(X, y, penalty=p, alpha=0.05, tol=1e-6) for p in ("l2", "l1")}
    monkeypatch.setattr(soft_margin, "MAX_DIRECT_SIZE", 10)
    for penalty, clf in direct.items():
        other = fitted(X, y, penalty=penalty, alpha=0.05, tol=1e-6)
        assert other.n_iter_ != clf.n_iter_
        assert other.objective_ == pytest.approx(clf.objective_, rel=2e-6)
    monkeypatch.setattr(soft_margin, "MAX_MATRIX_SIZE", 10)
    with pytest.raises(ParameterError, match="too many of both"):
        fitted(X, y, penalty=None)


def test_it_survives_pickling():
    X, y = noisy(30, 3)
    clf = fitted(X, y)
    assert (pickle.loads(pickle.dumps(clf)).predict(X) == clf.predict(X)).all()


def test_descent_takes_a_margin_of_zero_and_is_the_perceptron_then():
    X = np.random.default_rng(0).integers(-9, 9, (40, 3)).astype(float)
    y = np.where(X @ [1, 2, -1] > 0.5, 1, -1)
    clf = rb.SoftMarginClassifier(
        "perceptron", margin=0, solver="sgd", penalty=None, learning_rate="constant", eta0=1.0
    )
    clf = quietly(clf.set_params(shuffle=False, max_iter=3, tol=0, n_iter_no_change=99).fit, X, y)
    plain = quietly(rb.Perceptron(order="cyclic", max_iter=3).fit, X, y)
    assert np.array_equal(clf.coef_, plain.coef_)
    assert np.array_equal(clf.intercept_, plain.intercept_)
    with pytest.raises(ParameterError, match=r"margin=0 must be above 0 for solver='auto'.*solver='sgd'"):
        rb.SoftMarginClassifier("perceptron", margin=0).fit(X, y)
    with pytest.raises(ParameterError, match="margin=-1"):
        rb.SoftMarginClassifier("perceptron", margin=-1, solver="sgd").fit(X, y)


def test_with_a_margin_of_zero_the_warning_does_not_speak_of_a_gap():
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), [0, 1, 1, 0]
    with pytest.warns(ConvergenceWarning, match="With margin=0 the least objective is 0"):
        rb.SoftMarginClassifier("perceptron", margin=0, solver="sgd", max_iter=50).fit(X, y)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_dense_rows_of_mostly_zeros_are_solved_as_sparse_ones(dtype):
    rng = np.random.default_rng(7)
    X = (rng.integers(-2, 3, size=(120, 40)) * (rng.random((120, 40)) < 0.1)).astype(dtype)
    y = X.astype(float) @ rng.standard_normal(40) > 0
    dense, sparse = (rb.SoftMarginClassifier().fit(rows, y) for rows in (X, sp.csr_array(X.astype(float))))
    assert dense.coef_.tolist() == sparse.coef_.tolist()
    assert dense.objective_ == sparse.objective_
