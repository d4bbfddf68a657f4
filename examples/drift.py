"""A stream that changes its mind
==============================

Each row is predicted, then learned. In the middle of the stream the rule changes. The perceptron recovers. Its
average remembers the old rule for longer: an average is for streams that stay the same.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rosenblatt as rb
from rosenblatt.plot import style

ROWS, WINDOW = 6000, 300


def stream(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels; half-way the labels begin to follow another hyperplane."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, 20))
    before, after = rng.standard_normal((2, 20))
    rule = np.where(np.arange(ROWS)[:, None] < ROWS // 2, before, after)
    return X, np.sign((X * rule).sum(axis=1))


def right_on_the_way(clf: rb.Perceptron, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return for each row whether the prediction before learning was correct."""
    right = np.empty(len(y), dtype=bool)
    for i in range(len(y)):
        right[i] = i > 0 and clf.predict(X[i : i + 1])[0] == y[i]
        clf.learn_one(X[i], y[i], classes=[-1, 1])
    return right


def picture() -> Figure:
    X, y = stream()
    learners = {"Perceptron()": rb.Perceptron(), "Perceptron(average=True)": rb.Perceptron(average=True)}
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    for (name, clf), colour in zip(learners.items(), (style.INK, style.AVERAGE), strict=True):
        right = right_on_the_way(clf, X, y)
        share = np.convolve(right, np.full(WINDOW, 1 / WINDOW), mode="valid")
        told = f"{name}: {right.mean():.1%} in all"
        ax.plot(np.arange(WINDOW, ROWS + 1), share, color=colour, label=told, linewidth=1.6)
        print(f"{name}: {right[: ROWS // 2].mean():.1%} before the change, {right[ROWS // 2 :].mean():.1%} after")
    ax.axvline(ROWS // 2, color=style.FAINT, linestyle=":", linewidth=1.2)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_title(
        f"correct among the last {WINDOW} rows, predicted before learned", fontsize=style.NORMAL_FONT_POINTS
    )
    ax.legend(frameon=False, fontsize=style.SMALL_FONT_POINTS)
    style.tidy(ax, "rows seen", "correct")
    return figure


if __name__ == "__main__":
    picture()
