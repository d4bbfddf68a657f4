"""Soft and hard margins: the time to a minimum, on real data, against solvers of the same objective."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from benchmarks.comparison import Comparison
from benchmarks.timing import Setup, race
from rosenblatt import MaxMarginClassifier, SoftMarginClassifier

ALPHA = 1e-4
WIDE_OPEN = 1e10  # the price of an error, so high that there is none: a hard margin


def soft(setup: Setup) -> Iterator[Comparison]:
    """Minimise each loss with an l2 penalty; the last column tells how far above the lower objective each ends."""
    for name, X, y in _sets(setup):
        C = 1.0 / (ALPHA * len(y))
        peers = {
            "hinge": ("LinearSVC", LinearSVC(loss="hinge", C=C, max_iter=10_000)),
            "logistic": ("newton-cholesky", LogisticRegression(C=C, solver="newton-cholesky", max_iter=10_000)),
        }
        for loss, (peer_name, peer) in peers.items():
            ours = SoftMarginClassifier(loss, alpha=ALPHA)
            seconds = _duel(setup, ours, peer, X, y)
            values = [_objective(model, loss, X, y) for model in (ours, peer)]
            excess = " / ".join(f"{value / min(values) - 1:.1e}" for value in values)
            yield Comparison(f"{name}, {loss}, l2", peer_name, *seconds, models=f"{excess} above")


def hard(setup: Setup) -> Iterator[Comparison]:
    """Find the widest hyperplane between two digits."""
    X, digit = load_digits(return_X_y=True)
    for pair in ((0, 1), (3, 8)):
        both = np.isin(digit, pair)
        ours, peer = MaxMarginClassifier(), SVC(kernel="linear", C=WIDE_OPEN)
        x, y = X[both], digit[both]
        seconds = _duel(setup, ours, peer, x, y)
        margins = " / ".join(f"{_margin(model, x, y):.9g}" for model in (ours, peer))
        name = f"maximum margin, digits {pair[0]} and {pair[1]}"
        yield Comparison(name, "SVC", *seconds, models=f"margin {margins}")


def _duel(setup: Setup, ours: Any, peer: Any, X: Any, y: Any) -> tuple[list[float], list[float]]:
    ours.fit(X, y)  # compiles
    timed = race({"ours": lambda: ours.fit(X, y), "peer": lambda: peer.fit(X, y)}, setup.repeats)
    return timed["ours"].seconds, timed["peer"].seconds


def _sets(setup: Setup) -> Iterator[tuple[str, Any, Any]]:
    path = None if setup.data is None else setup.data / "a9a"
    if path is not None and path.exists():
        X, y = load_svmlight_file(str(path))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # the peers take no others
        yield "a9a", X, y
    else:
        print("a9a: left out; --data DIR names the folder that holds it", file=sys.stderr)
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer, standardised", (X - X.mean(axis=0)) / X.std(axis=0), y


def _objective(model: Any, loss: str, X: Any, y: Any) -> float:
    z = np.where(y == model.classes_[1], 1, -1) * model.decision_function(X)
    losses = np.maximum(0, 1 - z) if loss == "hinge" else np.logaddexp(0, -z)
    return float(losses.mean() + ALPHA / 2 * np.square(model.coef_).sum())


def _margin(model: Any, X: Any, y: Any) -> float:
    z = np.where(y == model.classes_[1], 1, -1) * (X @ model.coef_[0] + model.intercept_[0])
    return float(z.min() / np.linalg.norm(model.coef_))
