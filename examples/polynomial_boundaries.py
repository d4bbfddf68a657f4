"""Boundaries from a line to degree five
=====================================

An averaged kernel perceptron fits boundaries of rising degree to points whose true boundary is a cubic (dashed).
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.kernels import Polynomial
from rosenblatt.plot import style

DEGREES = (1, 2, 3, 5)
N_ROWS = 120
WRONG = 0.05  # the share of labels that are turned round


class Result(NamedTuple):
    """A classifier, and the shares of rows it gets wrong."""

    clf: rb.KernelPerceptron
    training: float
    held_out: float


def truth(x: np.ndarray) -> np.ndarray:
    """Return the height of the true boundary."""
    return 2.4 * x**3 - 1.5 * x


def wave(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points in a square, +1 above a cubic and −1 below it, some labels turned round."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 2))
    y = np.where(X[:, 1] > truth(X[:, 0]), 1, -1)
    return X, np.where(rng.random(n_rows) < WRONG, -y, y)


def fitted(degree: int, n_rows: int = N_ROWS, n_held_out: int = 2000, passes: int = 200) -> Result:
    """Train an averaged kernel perceptron of one degree, and measure it."""
    X, y = wave(n_rows, seed=1)
    clf = rb.KernelPerceptron(Polynomial(degree, 1), average=True, max_iter=passes, n_iter_no_change=passes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # wrong labels: there is nothing to converge to
        clf.fit(X, y)
    return Result(clf, 1.0 - clf.score(X, y), 1.0 - clf.score(*wave(n_held_out, seed=2)))


def draw(ax: Axes, clf: rb.KernelPerceptron) -> None:
    """Draw the boundary, the true one dashed, and the training rows; those predicted wrong are ringed."""
    X, y = wave(N_ROWS, seed=1)
    x = np.linspace(-1.05, 1.05, 300)
    f = clf.decision_function(np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)).reshape(300, 300)
    ax.contourf(x, x, f > 0, levels=[-0.5, 0.5, 1.5], colors=[style.NEGATIVE, style.POSITIVE], alpha=0.14)
    ax.contour(x, x, f, levels=[0], colors=[style.INK], linewidths=1.5)
    ax.plot(x, truth(x), color=style.FAINT, linewidth=1.2, linestyle="--")
    ax.scatter(*X[y > 0].T, marker="+", color=style.POSITIVE, s=32)
    ax.scatter(*X[y < 0].T, marker="o", facecolor="none", edgecolor=style.NEGATIVE, s=18)
    wrong = clf.predict(X) != y
    ax.scatter(*X[wrong].T, s=85, facecolors="none", edgecolors=style.INK, linewidths=0.9)
    ax.set(aspect="equal", xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    style.tidy(ax, "$x_1$", "$x_2$")


def picture() -> Figure:
    figure, axes = plt.subplots(1, 4, figsize=(12.5, 4.1), layout="constrained", sharey=True)
    for ax, degree in zip(axes, DEGREES, strict=True):
        clf, training, held_out = fitted(degree)
        print(f"degree {degree}: {training:.1%} of training rows and {held_out:.1%} of rows held out are wrong")
        draw(ax, clf)
        ax.set_title(
            f"degree {degree}\nwrong: {training:.1%}, held out {held_out:.1%}", fontsize=style.NORMAL_FONT_POINTS
        )
    for ax in axes[1:]:
        ax.set_ylabel("")
    return figure


if __name__ == "__main__":
    picture()
