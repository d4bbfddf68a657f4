"""Draw the pictures of the README and the docs anew: ``python examples/pictures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

import rosenblatt as rb

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def six_points() -> None:
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(eta0=0.2, order=[4, 5, 0, 1, 2, 3]).fit(X, y, coef_init=[1, 0.5])
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    rb.plot.boundary(clf, X, y, ax=axes[0])
    rb.plot.trace(clf, X, y, ax=axes[1])
    figure.savefig(IMAGES / "six_points.png", dpi=110)


def learning_curve() -> None:
    X, y = rb.datasets.make_separable(1000, 60, margin=0.05, flip=0.1, seed=2)
    clf = rb.Perceptron().fit(X[:150], y[:150])
    curve = rb.exact_curve(clf.trace_, X[:150], y[:150], validation=(X[150:], y[150:]))
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    rb.plot.learning_curve(curve, ax=ax)
    figure.savefig(IMAGES / "learning_curve.png", dpi=110)


if __name__ == "__main__":
    six_points()
    learning_curve()
