"""Where the mathematics coincide, scikit-learn's networks make the same steps."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier, MLPRegressor

import rosenblatt as rb
from rosenblatt.estimators._network import rule_of
from rosenblatt.learners.network_plan import begin
from tests.shared.strategies import quietly

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
