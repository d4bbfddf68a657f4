"""How training ends, goes on, and is interrupted; what a network is after an error."""

from itertools import count

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import (
    DataTypeError,
    InputError,
    LabelError,
    NonFiniteError,
    OrderError,
    ParameterError,
    PredictionOverflowError,
    ShapeError,
    TrainingOverflowError,
)
from rosenblatt.loops.order import Shuffled
from rosenblatt.networks import network_fit as network
from rosenblatt.stopping import LossPlateau
from tests.networks.test_multilayer_perceptron import SMALL, parameters_of, trained, wave
from tests.shared.strategies import RaisesAfter, full_state, quietly

X, Y = load_iris(return_X_y=True)
RULE = {"hidden_layer_sizes": 4, "batch_size": 40}

BAD = {
    "task": ["clustering", None],
    "hidden_layer_sizes": [0, -1, (3, 0), 2.5, "3", None, True, [3, (2,)]],
    "activation": ["sine", None],
    "output_activation": ["softmax", 1],
    "loss": ["hinge", None],
    "solver": ["lbfgs", None],
    "eta0": [0, -1, np.nan, np.inf, "1", None],
    "momentum": [-0.1, 1, np.nan],
    "nesterovs_momentum": [1, "yes"],
    "beta_1": [-0.1, 1.0],
    "beta_2": [-0.1, 1.0, None],
    "epsilon": [0, -1],
    "alpha": [-1, np.nan, None],
    "batch_size": [0, 1.5, "all", None],
    "max_iter": [0, 1.5, None],
    "tol": [-1, 1, np.nan, "a"],
    "n_iter_no_change": [0, 1.5],
    "max_time": [0, -1, "a"],
    "early_stopping": [1, "yes"],
    "validation_fraction": [0, 1, "a"],
    "warm_start": [1],
    "random_state": [-1, "a"],
    "verbose": [-1, "a"],
    "callbacks": [5, [5], print],
    "order": ["sorted", [[9999]]],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_values_a_parameter_cannot_take(name, value):
    fitted = trained(X, Y, max_iter=2)
    for net in (rb.MultilayerPerceptron(max_iter=2), fitted):
        setattr(net, name, value)
        before = full_state(net)
        with pytest.raises(InputError, match=name):
            net.fit(X, Y)
        assert full_state(net) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "cross_entropy", "output_activation": "logistic"}, "softmax"),
        ({"task": "regression", "loss": "cross_entropy"}, "squared_error"),
        ({"task": "regression", "class_weight": "balanced"}, "sample_weight"),
    ],
)
def test_parameters_that_contradict_each_other(parameters, message):
    with pytest.raises(ParameterError, match=message):
        rb.MultilayerPerceptron(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, InputError, "requires y"),
        (Y[:-1], ShapeError, "149 targets"),
        (Y.reshape(-1, 1, 1), ShapeError, "3 dimensions"),
        ([*Y[:-1].astype(float), np.nan], NonFiniteError, "row 149"),
        ([*Y[:-1].astype(float), np.inf], NonFiniteError, "y contains infinity"),
        (["a"] * 150, DataTypeError, "y"),
        ([[1.0], [1.0, 2.0]] * 75, ShapeError, "as long as the first"),
    ],
)
def test_targets_a_regression_cannot_use(y, error, message):
    net = rb.MultilayerPerceptron("regression")
    before = full_state(net)
    for train in (net.fit, net.partial_fit):
        with pytest.raises(error, match=message):
            train(X, y)
    assert full_state(net) == before


def test_the_loss_must_fall_in_all_not_in_each_pass():
    slow = [1.0 - 0.004 * k for k in range(50)]
    rule = LossPlateau(tol=0.01, patience=5)
    assert not any(rule.ends(k, loss) for k, loss in enumerate(slow, 1))
    flat = LossPlateau(tol=0.01, patience=5)
    assert [flat.ends(k, 1.0 - 1e-4 * k) for k in range(1, 7)] == [False] * 5 + [True]
    zero = LossPlateau(tol=0.01, patience=2, rounding=1e-16)
    assert [zero.ends(k, loss) for k, loss in enumerate([1.0, 1e-17, 1e-30], 1)] == [False, False, True]


def test_ends_by_tol_and_on_a_plateau():
    for tol, reason in ((0.5, "tol"), (None, "plateau")):
        net = rb.MultilayerPerceptron(tol=tol, n_iter_no_change=3, eta0=0.05, **RULE).fit(X, Y)
        assert (net.stop_reason_, net.converged_) == (reason, True)
        least = int(np.argmin(net.loss_curve_))
        if tol is None:
            assert net.n_iter_ == least + 1 + 3


def test_limits_warn():
    net = rb.MultilayerPerceptron(max_iter=2, **RULE)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 passes .* loss of the last pass is"):
        net.fit(X, Y)
    assert (net.stop_reason_, net.converged_, net.n_iter_) == ("max_iter", False, 2)
    net = rb.MultilayerPerceptron(max_time=1e-9, **RULE)
    with pytest.warns(ConvergenceWarning, match="max_time=1e-09 seconds"):
        net.fit(X, Y)
    assert (net.stop_reason_, net.n_iter_, net.t_) == ("max_time", 0, 40)  # after a batch, which is kept
    with pytest.warns(ConvergenceWarning, match="2 listed passes"):
        rb.MultilayerPerceptron(order=[np.arange(150), np.arange(5)]).fit(X, Y)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_early_stopping_returns_the_best_pass(task):
    reports = []
    rule = RULE | {"hidden_layer_sizes": 50, "eta0": 0.02}
    net = rb.MultilayerPerceptron(
        task, early_stopping=True, validation_fraction=0.2, n_iter_no_change=8, callbacks=[reports.append], **rule
    ).fit(X, Y if task == "classification" else np.random.default_rng(0).standard_normal(150))  # all to overfit
    assert net.stop_reason_ == "validation"
    errors = [report.validation_error for report in reports]
    assert net.n_iter_ == len(reports)
    assert reports[0].visits == 120  # a fifth of each class is never trained on
    best = max(k for k, error in enumerate(errors) if error == min(errors))
    assert parameters_of(net) == reports[best].model.theta.tobytes()
    if task == "regression":
        assert net.validation_mse_.tolist() == errors
        assert best == len(reports) - 9  # errors that are numbers have no ties: it waited for eight more
    else:
        assert net.curve_.validation.tolist() == errors
        assert net.curve_.best == best + 1


def test_callbacks_see_every_pass_and_may_end_training():
    seen = []

    def third(report):
        seen.append(report)
        return report.epoch == 3

    net = rb.MultilayerPerceptron(callbacks=[third], **RULE).fit(X, Y)
    assert (net.stop_reason_, net.n_iter_, net.converged_) == ("interrupted", 3, False)
    assert [report.loss for report in seen] == net.loss_curve_.tolist()
    assert [report.mistakes for report in seen] == net.mistakes_per_pass_.tolist()
    assert seen[0].mse is None
    assert parameters_of(net) == seen[2].model.theta.tobytes() != seen[1].model.theta.tobytes()
    assert [report.epoch for report in seen] == [1, 2, 3]
    seen.clear()
    reg = rb.MultilayerPerceptron("regression", callbacks=[third], **RULE).fit(X, Y)
    assert [report.mse for report in seen] == reg.mse_curve_.tolist()


@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.parametrize("early_stopping", [False, True])
def test_interrupted_after_a_pass_and_taken_up_again(solver, early_stopping):
    rule = RULE | {"solver": solver, "early_stopping": early_stopping, "n_iter_no_change": 100}
    net = rb.MultilayerPerceptron(callbacks=[RaisesAfter(3, KeyboardInterrupt)], warm_start=True, **rule)
    with pytest.raises(KeyboardInterrupt):
        net.fit(X, Y)
    assert (net.stop_reason_, net.n_iter_) == ("interrupted", 3)
    snapshots = []
    trained(X, Y, max_iter=7, callbacks=[snapshots.append], **rule)
    assert parameters_of(net) == snapshots[2].model.theta.tobytes()
    later = []
    quietly(net.set_params(callbacks=[later.append], max_iter=4).fit, X, Y)
    assert [each.model.theta.tobytes() for each in later] == [each.model.theta.tobytes() for each in snapshots[3:]]


@pytest.mark.parametrize("at", [1, 5, 8, 9, 12])
def test_interrupted_within_a_pass(monkeypatch, at):
    """Four steps a pass: the ninth begins the third pass."""
    real, steps = network.take_step, count(1)

    def step(*args):
        real(*args)
        if next(steps) == at:
            raise KeyboardInterrupt

    net = rb.MultilayerPerceptron(warm_start=True, **RULE)
    with monkeypatch.context() as patch:
        patch.setattr(network, "take_step", step)
        with pytest.raises(KeyboardInterrupt):
            net.fit(X, Y)
    passes = (at - 1) // 4
    assert (net.stop_reason_, net.n_iter_, net.t_) == ("interrupted", passes, 150 * passes)
    assert len(net.loss_curve_) == len(net.mistakes_per_pass_) == passes
    if passes:
        assert parameters_of(net) == parameters_of(trained(X, Y, max_iter=passes, **RULE))
    quietly(net.set_params(max_iter=5 - passes).fit, X, Y)
    assert parameters_of(net) == parameters_of(trained(X, Y, max_iter=5, **RULE))


def test_warm_start_goes_on_as_if_nothing_had_ended():
    net = rb.MultilayerPerceptron(warm_start=True, max_iter=2, **RULE)
    for _ in range(3):
        quietly(net.fit, X, Y)
    assert parameters_of(net) == parameters_of(trained(X, Y, max_iter=6, **RULE))
    assert (net.n_iter_, net.t_) == (2, 900)
    before = full_state(net)
    with pytest.raises(ShapeError, match="3 features"):
        net.fit(X[:, :3], Y)
    with pytest.raises(LabelError, match="classes"):
        net.fit(X, Y + 1)
    assert full_state(net) == before
    with pytest.raises(InputError, match=r"4-4-3 neurons.*4-5-3"):
        net.set_params(hidden_layer_sizes=5).fit(X, Y)


def test_another_solver_may_go_on():
    net = trained(X, Y, max_iter=2, **RULE)
    quietly(net.set_params(warm_start=True, solver="sgd").fit, X, Y)
    assert net.t_ == 600


def test_the_seed_is_all_that_is_random():
    first, again, other = (trained(X, Y, max_iter=5, random_state=seed, **RULE) for seed in (3, 3, 4))
    assert parameters_of(first) == parameters_of(again) != parameters_of(other)


def test_rows_are_visited_in_the_order_asked_for():
    seed = trained(X, Y, max_iter=1, **RULE)._drawn.seed
    shuffled = Shuffled(150, seed)
    listed = [shuffled.visits(k) for k in (1, 2)]
    assert parameters_of(trained(X, Y, max_iter=2, **RULE)) == parameters_of(trained(X, Y, order=listed, **RULE))


def test_chunks_of_whole_batches_leave_the_same_bits():
    net = rb.MultilayerPerceptron(**RULE)
    for rows in (slice(0, 40), slice(40, 120), slice(120, 150)):
        net.partial_fit(X[rows], Y[rows], classes=[0, 1, 2])
    one = trained(X, Y, order="cyclic", max_iter=1, **RULE)
    assert net.t_ == one.t_ == 150
    assert parameters_of(net) == parameters_of(one)
    assert net.n_mistakes_ == one.n_mistakes_
    assert len(net.loss_curve_) == 3
    for name in ("n_iter_", "stop_reason_", "curve_"):
        assert not hasattr(net, name)


def test_a_stream_goes_on_from_a_fit():
    net = trained(X, Y, max_iter=3, order="cyclic", **RULE)
    net.partial_fit(X, Y)
    assert parameters_of(net) == parameters_of(trained(X, Y, max_iter=4, order="cyclic", **RULE))
    assert len(net.mistakes_per_pass_) == 4


def test_streams_refuse_what_does_not_fit():
    net = rb.MultilayerPerceptron(**RULE).partial_fit(X, Y)
    before = full_state(net)
    with pytest.raises(LabelError, match="label 3"):
        net.partial_fit(X[:2], [3, 0])
    with pytest.raises(LabelError, match="last call"):
        net.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ShapeError, match="3 features"):
        net.partial_fit(X[:, :3], Y)
    assert full_state(net) == before
    with pytest.raises(ParameterError, match="balanced"):
        rb.MultilayerPerceptron(class_weight="balanced").partial_fit(X, Y)
    with pytest.raises(ParameterError, match="classes"):
        rb.MultilayerPerceptron("regression").partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(LabelError, match="list of labels"):
        rb.MultilayerPerceptron().partial_fit(X, Y, classes=3)


def test_a_stream_of_numbers():
    A, a = wave(600)
    net = rb.MultilayerPerceptron("regression", batch_size=20, eta0=0.005)
    for _ in range(20):
        for first in range(0, 600, 100):
            net.partial_fit(A[first : first + 100], a[first : first + 100])
    assert net.score(A, a) > 0.9
    assert len(net.loss_curve_) == 120


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_overflow_is_an_error_and_leaves_no_trace(solver):
    net = trained(X, Y, "regression", max_iter=2, **RULE)
    before = full_state(net.set_params(solver=solver))
    for train in (net.fit, net.partial_fit):
        with pytest.raises(TrainingOverflowError, match="lower eta0"):
            train(X, Y * 1e200)
        assert full_state(net) == before


def test_numbers_too_large_for_the_network():
    net = trained(X.astype(np.float32), Y, "regression", activation="identity", **SMALL)
    with pytest.raises(PredictionOverflowError, match="row 1 of X"):
        net.predict([[0.0] * 4, [1e300] * 4])


def test_targets_too_large_for_float32():
    with pytest.raises(TrainingOverflowError, match="pass 1"):
        rb.MultilayerPerceptron("regression").fit(X.astype(np.float32), Y * 1e200)


def test_an_order_of_rows_held_out_alone():
    rule = RULE | {"early_stopping": True, "max_iter": 1}
    held_out = trained(X, Y, **rule)._drawn.held_out
    with pytest.raises(OrderError, match="held out"):
        rb.MultilayerPerceptron(order=held_out, **rule).fit(X, Y)


def test_parameters_changed_after_training_do_not_change_what_was_learned():
    squared = trained(X, Y, max_iter=2, **RULE).set_params(loss="cross_entropy")
    assert not hasattr(squared, "predict_proba")  # its outputs are no probabilities
    sure = trained(X, Y, max_iter=2, loss="cross_entropy", **RULE)
    expected = sure.predict_proba(X)
    assert sure.set_params(loss="squared_error").predict_proba(X).tolist() == expected.tolist()
    assert hasattr(squared.partial_fit(X, Y), "predict_proba")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_saturates_is_still_refused(value):
    """tanh(∞) is 1: nothing but the rows themselves tells."""
    net = trained(X, Y, max_iter=2, **RULE)
    spoilt = X.copy()
    spoilt[7, 2] = value
    for call in (net.predict, net.decision_function, lambda A: net.fit(A, Y), lambda A: net.partial_fit(A, Y)):
        with pytest.raises(NonFiniteError, match="row 7, column 2"):
            call(spoilt)


def test_progress(capsys):
    quietly(rb.MultilayerPerceptron(verbose=1, max_iter=3, **RULE).fit, X, Y)
    told = capsys.readouterr().err
    assert "MultilayerPerceptron" in told
    assert "loss" in told
    assert "Ended by 'max_iter' after 3 passes" in told
