"""Two spirals
===========

A kernel perceptron separates two spirals. The rows in rings are the whole model.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rosenblatt as rb
from rosenblatt.kernels import RBF
from rosenblatt.plot import style

TURNS = 1.75


def two_spirals(n_rows: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points on two arms that wind around each other, with labels −1 and +1."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n_rows) % 2, 1, -1)
    along = np.sqrt(rng.uniform(0.02, 1.0, n_rows))  # the square root: as dense outside as inside
    angle = 2 * np.pi * TURNS * along
    arm = along[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return y[:, None] * arm + noise * rng.standard_normal((n_rows, 2)), y


def told_apart(n_rows: int = 400) -> tuple[rb.KernelPerceptron, float]:
    """Train on one half, and return the classifier and the share of the other half that it gets right."""
    X, y = two_spirals(2 * n_rows, noise=0.02, seed=0)
    clf = rb.KernelPerceptron(RBF(40.0)).fit(X[:n_rows], y[:n_rows])
    return clf, clf.score(X[n_rows:], y[n_rows:])


def picture() -> Figure:
    n_rows = 400
    X, y = two_spirals(2 * n_rows, noise=0.02, seed=0)
    clf, right = told_apart(n_rows)
    print(f"{clf.stop_reason_} after {clf.n_iter_} passes and {clf.n_mistakes_} mistakes,")
    print(
        f"{len(clf.support_)} of {n_rows} rows are the model; {right:.1%} of {n_rows} others classified correctly."
    )

    x = np.linspace(-1.15, 1.15, 400)
    f = clf.decision_function(np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)).reshape(400, 400)
    figure, ax = plt.subplots(figsize=(7.2, 5.2), layout="constrained")
    ax.contourf(x, x, f > 0, levels=[-0.5, 0.5, 1.5], colors=[style.NEGATIVE, style.POSITIVE], alpha=0.14)
    ax.contour(x, x, f, levels=[0], colors=[style.INK], linewidths=1.3)
    A, a = X[:n_rows], y[:n_rows]
    ax.scatter(*A[a > 0].T, marker="+", color=style.POSITIVE, s=32, label="+1")
    ax.scatter(*A[a < 0].T, marker="o", facecolor="none", edgecolor=style.NEGATIVE, s=18, label="−1")
    rings = {"s": 85, "marker": "o", "facecolors": "none", "edgecolors": style.INK, "linewidths": 0.9}
    ax.scatter(*clf.support_vectors_.T, label=f"{len(clf.support_)} support vectors", **rings)
    ax.set(aspect="equal", xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
    ax.set_title(f"{right:.1%} of {n_rows} new points are classified correctly", fontsize=style.NORMAL_FONT_POINTS)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=style.SMALL_FONT_POINTS)
    style.tidy(ax, "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    picture()
