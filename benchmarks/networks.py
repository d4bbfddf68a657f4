"""Networks: the same layers, data, batches and passes as scikit-learn's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier, MLPRegressor

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.data import clusters, gaussian
from benchmarks.timing import Setup, race
from rosenblatt import MultilayerPerceptron

ALIKE = 0.03  # how far accuracies may lie apart: the starts and orders differ
BATCH, ETA = 200, 0.001


def networks(setup: Setup) -> Iterator[Comparison]:
    """Train by cross-entropy, or by squared error for numbers, a fixed number of passes."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    yield _duel(setup, "digits 64-100-10, relu", X, y, (100,), "relu", passes=50)
    yield _duel(setup, "digits 64-100-10, relu, f32", X.astype(np.float32), y, (100,), "relu", passes=50)
    yield _duel(setup, "digits 64-100-10, tanh", X, y, (100,), "tanh", passes=50)
    yield _duel(setup, "digits 64-100-10, logistic, sgd", X, y, (100,), "logistic", passes=50, solver="sgd")
    X, y = clusters(setup.rows(20_000), 784, 10, spread=9.0)
    yield _duel(setup, "784-100-10, relu", X, y, (100,), "relu", passes=5)
    yield _duel(setup, "784-100-10, relu, f32", X.astype(np.float32), y, (100,), "relu", passes=5)
    yield _duel(setup, "784-256-128-10, tanh", X, y, (256, 128), "tanh", passes=3)
    X, y = gaussian(setup.rows(50_000), 20, margin=0.1)
    yield _duel(setup, "20-10-1, tanh", X, y, (10,), "tanh", passes=10)
    numbers = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    yield _duel(setup, "20-100-1, relu, numbers", X, numbers, (100,), "relu", passes=5, regression=True)


def raw_bytes(setup: Setup) -> Iterator[Comparison]:
    """Train default networks on MNIST as bytes, which nobody scaled; the last column holds test accuracies."""
    if setup.data is None:
        print("MNIST: left out; --data DIR names the folder that holds it", file=sys.stderr)
        return
    with np.load(setup.data / "mnist.npz") as digits:
        X, y = digits["X_train"].reshape(-1, 784)[: setup.rows(10_000)], digits["y_train"][: setup.rows(10_000)]
        test = digits["X_test"].reshape(-1, 784), digits["y_test"]
    ours, peer = MultilayerPerceptron(), MLPClassifier(random_state=0)
    timed = race({"peer": lambda: peer.fit(X, y), "ours": lambda: ours.fit(X, y)}, 1)
    scores = ours.score(*test), peer.score(*test)
    models = f"{scores[0]:.2%} / {scores[1]:.2%} right"
    seconds = timed["ours"].seconds, timed["peer"].seconds
    yield Comparison("network, default, MNIST 10k raw", "MLPClassifier", *seconds, AtLeast(1), models=models)


def _duel(
    setup: Setup,
    name: str,
    X: Any,
    y: Any,
    sizes: tuple[int, ...],
    activation: str,
    *,
    passes: int,
    solver: str = "adam",
    regression: bool = False,
) -> Comparison:
    shared = {
        "hidden_layer_sizes": sizes,
        "activation": activation,
        "solver": solver,
        "batch_size": BATCH,
        "max_iter": passes,
        "n_iter_no_change": passes + 1,  # neither ends before the other
        "random_state": 0,
    }
    peer = (MLPRegressor if regression else MLPClassifier)(learning_rate_init=ETA, alpha=1e-4, **shared)
    told = {"task": "regression"} if regression else {"loss": "cross_entropy"}
    ours = MultilayerPerceptron(eta0=ETA, alpha=1e-4 / BATCH, **told, **shared)
    ours.fit(X, y)  # compiles
    timed = race({"peer": lambda: peer.fit(X, y), "ours": lambda: ours.fit(X, y)}, setup.repeats)
    assert ours.n_iter_ == peer.n_iter_ == passes
    scores = ours.score(X, y), peer.score(X, y)
    assert scores[0] > scores[1] - ALIKE, f"{name}: {scores}"
    what = "R²" if regression else "right"
    models = (
        f"{scores[0]:.3f} / {scores[1]:.3f} {what}" if regression else f"{scores[0]:.2%} / {scores[1]:.2%} {what}"
    )
    return Comparison(
        f"network {name}, {passes} passes",
        type(peer).__name__,
        timed["ours"].seconds,
        timed["peer"].seconds,
        AtLeast(1),
        models=models,
    )
