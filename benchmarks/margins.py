"""Soft and hard margins: the time to a minimum, on real data, against solvers of the same objective."""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.timing import Setup, race
from rosenblatt import MaxMarginClassifier, SoftMarginClassifier

ALPHA = 1e-4
GOLDEN = (5**0.5 - 1) / 2
FAR = 30.0  # beyond the scores: no bias need be larger
NARROWED = 60
WIDE_OPEN = 1e10  # the price of an error, so high that there is none: a hard margin


def soft(setup: Setup) -> Iterator[Comparison]:
    """Minimise each loss with an l2 penalty; the last column tells how far above the lower objective each ends.

    The default call comes first. Where the peer ends farther above, a second line gives the time until we prove
    the objective that the peer reached. The objective is ours, which leaves the bias free. LinearSVC penalises its
    bias, so its weights are judged with the bias that suits them best. Of several classes each is told from the
    rest.
    """
    yield from _softly(setup, _two_classes(setup))


def soft_classes(setup: Setup) -> Iterator[Comparison]:
    """Do the same with many classes: R52, and 10,000 digits, dense and sparse."""
    yield from _softly(setup, _many_classes(setup))


def soft_raw(setup: Setup) -> Iterator[Comparison]:
    """Do the same with digits as bytes, a penalty so weak that the peers end far from the minimum."""
    if setup.data is None:
        print("MNIST: left out; --data DIR names the folder that holds it", file=sys.stderr)
        return
    X, y = _digits(setup)
    yield from _softly(setup, iter([("MNIST 10k raw", X.astype(np.float64), y)]))


def _softly(setup: Setup, sets: Iterator[tuple[str, Any, Any]]) -> Iterator[Comparison]:
    for name, X, y in sets:
        C = 1.0 / (ALPHA * len(y))
        for loss in ("hinge", "squared_hinge", "logistic"):
            peer: Any = LogisticRegression(C=C) if loss == "logistic" else LinearSVC(loss=loss, C=C)
            if loss == "logistic" and len(np.unique(y)) > 2:
                peer = OneVsRestClassifier(peer)
            best = SoftMarginClassifier(loss, alpha=ALPHA)
            seconds = _duel(setup, best, peer, X, y)
            reached = _objective(peer, loss, X, y)
            yield _compared(f"{name}, {loss}", seconds, [best.objective_, reached])
            if reached > best.objective_ * (1.0 + best.tol):
                enough = reached / (best.objective_ - best.gap_) - 1.0
                same = SoftMarginClassifier(loss, alpha=ALPHA, tol=enough / (1.0 + enough))
                seconds = _duel(setup, same, peer, X, y)
                yield _compared(f"{name}, {loss}, to the peer's objective", seconds, [same.objective_, reached])


def _compared(name: str, seconds: tuple[list[float], list[float]], values: list[float]) -> Comparison:
    excess = " / ".join(f"{value / min(values) - 1:.1e}" for value in values)
    peer = "LogisticRegression" if "logistic" in name else "LinearSVC"
    return Comparison(f"soft margin, {name}", peer, *seconds, AtLeast(1 / 1.5), models=f"{excess} above")


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


def _two_classes(setup: Setup) -> Iterator[tuple[str, Any, Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer, standardised", (X - X.mean(axis=0)) / X.std(axis=0), y
    if setup.data is None:
        print("a9a, w8a: left out; --data DIR names the folder that holds them", file=sys.stderr)
        return
    for name in ("a9a", "w8a.gz"):
        X, y = load_svmlight_file(str(setup.data / name))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # the peers take no others
        yield name.removesuffix(".gz"), X, y
        yield f"{name.removesuffix('.gz')} dense", X.toarray(), y


def _many_classes(setup: Setup) -> Iterator[tuple[str, Any, Any]]:
    if setup.data is None:
        print("R52, MNIST: left out; --data DIR names the folder that holds them", file=sys.stderr)
        return
    with gzip.open(setup.data / "r52-train.csv.gz", "rt") as file:
        labels, texts = zip(*list(csv.reader(file))[1:], strict=True)
    yield "R52", CountVectorizer(dtype=np.float64).fit_transform(texts), np.array(labels)
    X, y = _digits(setup)
    yield "MNIST 10k /255", X / 255, y
    yield "MNIST 10k /255 sparse", csr_matrix(X / 255), y


def _digits(setup: Setup) -> tuple[Any, Any]:
    assert setup.data is not None
    with np.load(setup.data / "mnist.npz") as digits:
        n = setup.rows(10_000)
        return digits["X_train"].reshape(-1, 784)[:n], digits["y_train"][:n]


def _objective(model: Any, loss: str, X: Any, y: Any) -> float:
    """Return the objective of a peer's weights with the best biases, summed over the hyperplanes."""
    parts = getattr(model, "estimators_", [model])
    W = np.vstack([each.coef_ for each in parts])
    z = np.asarray(X @ W.T)
    side = np.where(y[:, None] == (model.classes_[1:] if len(W) == 1 else model.classes_), 1, -1)

    def mean_loss(bias: Any) -> Any:
        lead = side * (z + bias)
        if loss == "logistic":
            return np.logaddexp(0, -lead).mean(axis=0)
        return (np.maximum(0, 1 - lead) ** (2 if loss == "squared_hinge" else 1)).mean(axis=0)

    low, high = -z.max(axis=0) - FAR, -z.min(axis=0) + FAR
    for _ in range(NARROWED):  # golden sections: the loss is convex in the bias
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        falls = mean_loss(left) > mean_loss(right)
        low, high = np.where(falls, left, low), np.where(falls, high, right)
    return float(mean_loss((low + high) / 2).sum() + ALPHA / 2 * np.square(W).sum())


def _margin(model: Any, X: Any, y: Any) -> float:
    z = np.where(y == model.classes_[1], 1, -1) * (X @ model.coef_[0] + model.intercept_[0])
    return float(z.min() / np.linalg.norm(model.coef_))
