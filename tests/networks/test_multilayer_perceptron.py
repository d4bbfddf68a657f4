"""What networks learn and report; scikit-learn's networks make the same steps where the mathematics coincide."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import rosenblatt as rb
from rosenblatt.datasets import load_xor
from rosenblatt.exceptions import ParameterError
from rosenblatt.networks.base import rule_of
from rosenblatt.networks.layers import RESPONSES
from rosenblatt.networks.network_fit import begin
from rosenblatt.testing import checks
from tests.shared.strategies import quietly

SMALL = {"hidden_layer_sizes": 6, "max_iter": 60}


def trained(X, y, *args, fit=None, **parameters):
    return quietly(rb.MultilayerPerceptron(*args, **parameters).fit, X, y, **(fit or {}))


def parameters_of(net):
    return b"".join(each.tobytes() for each in [*net.coefs_, *net.intercepts_])


def wave(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2


@pytest.mark.parametrize("seed", range(5))
def test_xor_from_many_starts(seed):
    X, y = load_xor()
    clf = rb.MultilayerPerceptron(hidden_layer_sizes=4, random_state=seed).fit(X, y)
    assert clf.predict(X).tolist() == y.tolist()
    assert (clf.stop_reason_, clf.converged_) == ("tol", True)
    assert clf.curve_.training[-1] == 0.0


@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy"])
def test_xor_by_default(loss):
    X, y = load_xor()
    assert rb.MultilayerPerceptron(loss=loss).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize(("loss", "least"), [("squared_error", 0.97), ("cross_entropy", 0.96)])
def test_digits(loss, least):
    X, y = load_digits(return_X_y=True)
    A, B, a, b = train_test_split(X / 16, y, test_size=0.25, random_state=0, stratify=y)
    clf = rb.MultilayerPerceptron(loss=loss).fit(A, a)
    assert clf.score(B, b) >= least
    assert clf.stop_reason_ == "tol"


def test_a_regression_reports_both_errors():
    X, y = wave(400)
    A, B, a, b = train_test_split(X, y, random_state=0)
    net = rb.MultilayerPerceptron("regression", early_stopping=True, hidden_layer_sizes=30).fit(A, a)
    assert net.score(B, b) > 0.98
    assert net.mse_curve_.shape == net.validation_mse_.shape == (net.n_iter_,)
    assert net.mse_curve_[-1] < 0.05 * net.mse_curve_[0]
    assert net.validation_mse_.min() == pytest.approx(mean_squared_error(b, net.predict(B)), abs=0.02)
    for name in ("classes_", "n_mistakes_", "curve_", "decision_function", "predict_proba"):
        assert not hasattr(net, name)


def test_the_error_of_a_pass_is_that_of_its_visits():
    """In one step a pass, every visit is by the parameters before it."""
    X, y = wave(50)
    one = trained(X, y, "regression", max_iter=1, alpha=0.01)
    two = trained(X, y, "regression", max_iter=2, alpha=0.01)
    assert two.mse_curve_[1] == pytest.approx(mean_squared_error(y, one.predict(X)), rel=1e-12)
    penalty = 0.005 * sum(np.square(w).sum() for w in two.coefs_)
    assert two.loss_ == two.loss_curve_[1] == pytest.approx(two.mse_curve_[1] / 2 + penalty, rel=1e-12)


def test_mistakes_are_counted_at_the_visit():
    X, y = load_iris(return_X_y=True)
    one, two = (trained(X, y, max_iter=k) for k in (1, 2))
    assert two.mistakes_per_pass_[1] == np.count_nonzero(one.predict(X) != y)
    assert two.n_mistakes_ == two.mistakes_per_pass_.sum()
    assert two.curve_.training == pytest.approx(two.mistakes_per_pass_ / len(y))
    assert two.t_ == 300


def test_several_numbers_a_row():
    X, y = wave()
    both = np.column_stack([y, -2 * y])
    net = rb.MultilayerPerceptron("regression", hidden_layer_sizes=20, max_iter=500)
    assert quietly(net.fit, X, both).predict(X).shape == (200, 2)
    assert net.score(X, both) > 0.9
    assert net.mse_curve_[-1] == pytest.approx(mean_squared_error(both, net.predict(X)), rel=0.1)
    assert quietly(net.fit, X, y[:, None]).predict(X).shape == (200, 1)
    assert quietly(net.fit, X, y).predict(X).shape == (200,)


def test_outputs_by_hand():
    X, y = load_iris(return_X_y=True)
    net = trained(X, y, hidden_layer_sizes=(5, 4), activation="logistic", output_activation="tanh", max_iter=5)
    a = X
    for w, b, name in zip(net.coefs_, net.intercepts_, ["logistic", "logistic", "tanh"], strict=True):
        a = a @ w + b
        RESPONSES[name][0].respond(a, a)
    assert net.decision_function(X) == pytest.approx(a, rel=1e-12)
    assert net.predict(X).tolist() == a.argmax(axis=1).tolist()


@pytest.mark.parametrize(("output", "low", "middle"), [(None, 0, 0.5), ("logistic", 0, 0.5), ("tanh", -1, 0.0)])
def test_targets_of_two_classes(output, low, middle):
    X, y = np.array([[0.0], [1.0]]), ["no", "yes"]
    net = trained(X, y, output_activation=output, alpha=0.0, hidden_layer_sizes=())
    assert net.decision_function(X) + middle == pytest.approx([low, 1.0], abs=0.15)
    assert net.predict(X).tolist() == y
    assert [w.shape for w in net.coefs_] == [(1, 1)]


@pytest.mark.parametrize("output", ["identity", "logistic"])
def test_two_one_hot_outputs_are_two_numbers_to_regress_on(output):
    X, y = load_iris(return_X_y=True)
    y = y == 2
    own = {"output_activation": output, "hidden_layer_sizes": 3, "max_iter": 5}
    net = trained(X, y, one_hot=True, **own)
    numbers = trained(X, np.eye(2)[y.astype(int)], "regression", **own)
    assert [w.tobytes() for w in net.coefs_] == [w.tobytes() for w in numbers.coefs_]
    outputs = numbers.predict(X)
    assert net.decision_function(X).tolist() == (outputs[:, 1] - outputs[:, 0]).tolist()
    assert net.predict(X).tolist() == (outputs.argmax(axis=1) == 1).tolist()


def test_two_one_hot_outputs_tell_chances():
    X, y = load_iris(return_X_y=True)
    net = trained(X, y == 2, loss="cross_entropy", one_hot=True, max_iter=50, hidden_layer_sizes=4)
    chances = net.predict_proba(X)
    assert chances.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert np.log(chances[:, 1] / chances[:, 0]) == pytest.approx(net.decision_function(X), rel=1e-9)
    assert trained(X, y, one_hot=True, **SMALL).coefs_[-1].tobytes() == trained(X, y, **SMALL).coefs_[-1].tobytes()
    with pytest.raises(ParameterError, match="one_hot=1 must be True or False"):
        trained(X, y, one_hot=1)


def test_probabilities_only_where_they_were_learned():
    X, y = load_iris(return_X_y=True)
    for labels in (y, y == 2):
        net = trained(X, labels, loss="cross_entropy", alpha=0.0, max_iter=1, batch_size=150, hidden_layer_sizes=4)
        chances = net.predict_proba(X)
        assert chances.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
        assert net.classes_[chances.argmax(axis=1)].tolist() == net.predict(X).tolist()
        assert np.exp(net.predict_log_proba(X)) == pytest.approx(chances)
        two = clone(net).set_params(max_iter=2)
        assert quietly(two.fit, X, labels).loss_curve_[1] == pytest.approx(log_loss(labels, chances), rel=1e-9)
    assert not hasattr(rb.MultilayerPerceptron(), "predict_proba")
    with pytest.raises(AttributeError):
        trained(X, y, **SMALL).predict_proba(X)
    base = rb.MultilayerPerceptron(**SMALL)
    assert quietly(CalibratedClassifierCV(base, cv=2).fit, X, y).predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_float32_is_trained_in_float32(task):
    X, y = load_iris(return_X_y=True)
    wide = trained(X, y, task, **SMALL)
    net = trained(X.astype(np.float32), y, task, **SMALL)
    assert {each.dtype for each in [*net.coefs_, *net.intercepts_]} == {np.dtype(np.float32)}
    assert {each.dtype for each in wide.coefs_} == {np.dtype(np.float64)}
    assert net.coefs_[0] == pytest.approx(wide.coefs_[0], abs=1e-3)
    assert net.coefs_[0].tobytes() != wide.coefs_[0].astype(np.float32).tobytes()
    if task == "regression":
        assert (net.predict(X).dtype, wide.predict(X).dtype) == (np.float32, np.float64)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("order", ["shuffle", "cyclic"])
def test_sparse_rows_train_the_same_up_to_rounding(task, order):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 7)) * (rng.random((90, 7)) < 0.4)
    y = (X.sum(axis=1) > 0).astype(int)
    rule = {"order": order, "batch_size": 20, "early_stopping": True, **SMALL}
    dense, sparse = (trained(kind(X), y, task, **rule) for kind in (np.array, csr_array))
    assert sparse.loss_curve_ == pytest.approx(dense.loss_curve_, rel=1e-9)
    assert sparse.predict(X) == pytest.approx(dense.predict(csr_array(X)), rel=1e-6, abs=1e-9)


def test_many_blocks_of_rows(monkeypatch):
    X, y = load_iris(return_X_y=True)
    net = trained(X, y, **SMALL)
    whole = net.decision_function(X)
    monkeypatch.setattr("rosenblatt.networks.layers.BLOCK_NUMBERS", 60)
    assert net.decision_function(X) == pytest.approx(whole, rel=1e-12)
    assert net.decision_function(csr_array(X)) == pytest.approx(whole, rel=1e-12)


def test_a_weight_multiplies_the_loss():
    X, y = load_iris(return_X_y=True)
    rule = {"order": "cyclic", "batch_size": 150, "alpha": 0.0, "solver": "sgd", "hidden_layer_sizes": 4}
    weight = np.where(y == 1, 3.0, 0.5)
    weighted = trained(X, y, fit={"sample_weight": weight}, max_iter=1, **rule)
    by_class = trained(X, y, class_weight={0: 0.5, 1: 3.0, 2: 0.5}, max_iter=1, **rule)
    assert parameters_of(weighted) == parameters_of(by_class)
    # In one batch, a row of weight 2 is two rows, and a step by the sum of losses is one by their mean times n.
    counts = np.where(y == 1, 2, 1)
    repeated = np.repeat(np.arange(150), counts)
    rows = len(repeated)
    twice = trained(
        X[repeated], y[repeated], max_iter=5, **rule | {"batch_size": rows, "eta0": 0.005 * rows / 150}
    )
    heavy = trained(X, y, fit={"sample_weight": counts}, max_iter=5, **rule)
    assert heavy.coefs_[0] == pytest.approx(twice.coefs_[0], rel=1e-9)


def test_tags_follow_the_task():
    clf, reg = rb.MultilayerPerceptron(), rb.MultilayerPerceptron("regression")
    assert is_classifier(clf)
    assert not is_regressor(clf)
    assert is_regressor(reg)
    assert not is_classifier(reg)
    assert get_tags(reg).target_tags.multi_output
    assert get_tags(clf).input_tags.sparse


def test_in_a_pipeline_and_a_grid():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), rb.MultilayerPerceptron(batch_size=10, **SMALL))
    grid = {"multilayerperceptron__activation": ["tanh", "relu"], "multilayerperceptron__solver": ["adam", "sgd"]}
    search = quietly(GridSearchCV(model, grid, cv=3).fit, X, y)
    assert search.best_score_ > 0.9


def test_streams_of_single_rows_leave_the_bits_of_one_pass():
    for parameters in ({}, {"solver": "sgd"}, {"loss": "cross_entropy", "activation": "relu"}):
        net = rb.MultilayerPerceptron(hidden_layer_sizes=3, batch_size=1, **parameters)
        dict(checks(net))["check_stream"]()


def test_frames_of_targets():
    X, y = wave(40)
    expected = parameters_of(trained(X, y, "regression", **SMALL))
    assert parameters_of(trained(X, pd.Series(y), "regression", **SMALL)) == expected
    assert parameters_of(trained(X, pd.DataFrame({"y": y}), "regression", **SMALL)) == expected
    assert parameters_of(trained(X, y.tolist(), "regression", **SMALL)) == expected


X, Y = load_iris(return_X_y=True)
TASKS = {"two": (X, Y == 2), "three": (X, Y), "number": (X, X[:, 0] * X[:, 1])}
BATCH, ETA, ALPHA = 50, 0.01, 0.02


def twins(task, A, y, activation, solver, nesterov, alpha):
    """Return our network and theirs at the same random weights, before three passes as stored."""
    peer_kind = MLPRegressor if task == "number" else MLPClassifier
    shared = {"hidden_layer_sizes": (5, 4), "activation": activation, "solver": solver, "batch_size": BATCH}
    shared |= {"nesterovs_momentum": nesterov, "warm_start": True}
    peer = peer_kind(
        learning_rate_init=ETA, shuffle=False, alpha=alpha * BATCH, max_iter=1, random_state=0, **shared
    )
    quietly(peer.fit, A, y)
    loss = {"loss": "cross_entropy"} if task != "number" else {"task": "regression"}
    ours = rb.MultilayerPerceptron(eta0=ETA, order="cyclic", alpha=alpha, max_iter=1, **loss, **shared)
    quietly(ours.fit, A, y)
    theta = np.concatenate([each.ravel() for each in [*peer.coefs_, *peer.intercepts_]])
    ours._state = begin(theta, rule_of(ours))
    return ours.set_params(max_iter=3), peer.set_params(max_iter=3)


@pytest.mark.parametrize("solver", [("adam", True), ("sgd", True), ("sgd", False)])
@pytest.mark.parametrize("activation", ["tanh", "logistic", "relu"])
@pytest.mark.parametrize("task", TASKS)
def test_three_passes(task, activation, solver):
    A, y = TASKS[task]
    for alpha in (0.0, ALPHA):
        ours, peer = twins(task, A, y, activation, *solver, alpha)
        before = len(peer.loss_curve_)
        quietly(ours.fit, A, y)
        quietly(peer.fit, A, y)
        for here, there in zip([*ours.coefs_, *ours.intercepts_], [*peer.coefs_, *peer.intercepts_], strict=True):
            assert here == pytest.approx(there, rel=1e-8, abs=1e-10)
        if alpha == 0.0:  # theirs adds the penalty of each batch, ours that at the end of the pass
            assert ours.loss_curve_ == pytest.approx(np.array(peer.loss_curve_[before:]), rel=1e-8)
        assert ours.predict(A) == pytest.approx(peer.predict(A), rel=1e-7)
        if task != "number":
            assert ours.predict_proba(A) == pytest.approx(peer.predict_proba(A), abs=1e-9)


def test_sparse_rows():
    ours, peer = twins("three", csr_array(X), Y, "tanh", "adam", True, ALPHA)
    quietly(ours.fit, csr_array(X), Y)
    quietly(peer.fit, csr_array(X), Y)
    assert ours.coefs_[0] == pytest.approx(peer.coefs_[0], rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_large_inputs_are_divided_by_a_power_of_two_while_training(solver):
    X, y = load_digits(return_X_y=True)
    X = X[:300] / 16
    y = y[:300]
    seen = []
    given = {"solver": solver, "max_iter": 3, "hidden_layer_sizes": 5}
    small = quietly(rb.MultilayerPerceptron(**given).fit, X, y)
    large = rb.MultilayerPerceptron(**given, callbacks=[lambda report: seen.append(report.model)], warm_start=True)
    quietly(large.fit, 256 * X, y)
    assert (256 * large.coefs_[0] == small.coefs_[0]).all()
    assert (large.coefs_[1] == small.coefs_[1]).all()
    assert (large.decision_function(256 * X) == small.decision_function(X)).all()
    assert (seen[-1].theta == large._state.theta).all()
    quietly(large.fit, 256 * X, y)
    small.set_params(warm_start=True)
    assert (256 * large.coefs_[0] == quietly(small.fit, X, y).coefs_[0]).all()


def test_hashed_text_makes_too_large_a_network_which_is_said_before_training(tmp_path, capsys):
    from rosenblatt.cli.main import main

    rng = np.random.default_rng(0)
    words = rng.integers(0, 1000, (50, 8))
    X = csr_array((np.ones(400), (np.repeat(np.arange(50), 8), words.ravel() * 262)), shape=(50, 2**18))
    said = (
        r"A network of 262144-100-1 neurons has 26,214,601 weights, 6[56],\d{3} times as many as the rows have "
        r"values \((39\d|400)\), and its model would take 629 MB\. Hash text into fewer features \(bits\)"
    )
    clf = rb.MultilayerPerceptron()
    with pytest.raises(ParameterError, match=said):
        clf.fit(X, np.arange(50) % 2)
    assert not hasattr(clf, "n_iter_")
    with pytest.raises(ParameterError, match="would take 419 MB"):
        rb.MultilayerPerceptron(solver="sgd").fit(X, np.arange(50) % 2)
    lines = [f"{'spam' if k % 2 else 'ham'},word{row[0]} word{row[1]}" for k, row in enumerate(words)]
    (tmp_path / "mail.csv").write_text("\n".join(["label,text", *lines]) + "\n")
    command = ["train", str(tmp_path / "mail.csv"), "-o", str(tmp_path / "m"), "--learner", "network"]
    assert main([*command, "--text", "text"]) == 2
    told = capsys.readouterr().err
    assert "Hash text into fewer features (--bits)" in told
    assert "a linear learner such as --learner averaged." in told
    assert main([*command, "--text", "text", "--bits", "8", "--max-iter", "2"]) == 0


def test_large_networks_of_as_large_data_are_trained(monkeypatch):
    monkeypatch.setattr("rosenblatt.networks.base.LARGE_WEIGHT_COUNT", 100)
    X, y = np.random.default_rng(0).normal(size=(50, 10)), np.arange(50) % 2
    quietly(rb.MultilayerPerceptron(hidden_layer_sizes=400, max_iter=2).fit, X, y)  # 4,801 weights, 500 values
    with pytest.raises(ParameterError, match="has 6,001 weights, 12 times as many"):
        rb.MultilayerPerceptron(hidden_layer_sizes=500).fit(X, y)
