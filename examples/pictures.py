"""Draw the pictures of the README and the docs anew: ``python examples/pictures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import warnings

import numpy as np
from matplotlib import pyplot as plt
from PIL import Image
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.plot import style

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def six_points() -> None:
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(eta0=0.2, order=[4, 5, 0, 1, 2, 3]).fit(X, y, coef_init=[1, 0.5])
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    rb.plot.boundary(clf, X, y, ax=axes[0])
    rb.plot.trace(clf, X, y, ax=axes[1])
    save(figure, "six_points.png")


def learning_curve() -> None:
    X, y = rb.datasets.make_separable(1000, 60, margin=0.05, flip=0.1, seed=2)
    clf = rb.Perceptron().fit(X[:150], y[:150])
    curve = rb.exact_curve(clf.trace_, X[:150], y[:150], validation=(X[150:], y[150:]))
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    rb.plot.learning_curve(curve, ax=ax)
    save(figure, "learning_curve.png")


def three_in_a_row() -> None:
    """Draw what two schemes make of three clouds, the second between the others."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], 25)
    X = np.array([[-2.0, -1.0], [0.0, 0.0], [2.0, 1.0]])[y] + 0.32 * rng.standard_normal((75, 2))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained", sharey=True)
    titles = {"direct": "compared directly", "ovr": "one against the rest"}
    for ax, (multiclass, title) in zip(axes, titles.items(), strict=True):
        clf = rb.Perceptron(multiclass=multiclass)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf.fit(X, y)
        regions(ax, clf, X, y)
        passes = f"{clf.n_iter_:,} passes, {clf.stop_reason_!r}: {clf.score(X, y):.0%} right"
        ax.set_title(f"{title}\n{passes}", fontsize=style.NORMAL)
    axes[1].set_ylabel("")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=style.SMALL)
    save(figure, "three_in_a_row.png")


def regions(ax: plt.Axes, clf: rb.Perceptron, X: np.ndarray, y: np.ndarray) -> None:
    """Tint the plane by the class predicted, and draw the points; those predicted wrong are ringed."""
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    across, up = np.meshgrid(*np.linspace(low, high, 400).T)
    grid = clf.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    colours = style.PALETTE[: len(clf.classes_)]
    levels = np.arange(len(clf.classes_) + 1) - 0.5
    ax.contourf(across, up, grid, levels=levels, colors=colours, alpha=0.14)
    for label, colour, marker in zip(clf.classes_, colours, "o+^", strict=True):
        ax.scatter(*X[y == label].T, c=colour, marker=marker, s=28, label=f"class {label}", zorder=3)
    wrong = clf.predict(X) != y
    if wrong.any():
        ring = {"s": 90, "marker": "o", "facecolors": "none", "edgecolors": style.INK, "linewidths": 1.0}
        ax.scatter(*X[wrong].T, label="predicted wrong", zorder=4, **ring)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    style.tidy(ax, "$x_1$", "$x_2$")


def save(figure: plt.Figure, name: str) -> None:
    """Keep a picture in few colours, which is all that it has."""
    figure.savefig(IMAGES / name, dpi=110)
    with Image.open(IMAGES / name) as image:
        few = image.convert("RGB").quantize(64)
    few.save(IMAGES / name, optimize=True)


if __name__ == "__main__":
    six_points()
    learning_curve()
    three_in_a_row()
