"""Draw the pictures of the tutorials again: ``python examples/pictures_learn.py``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from random import Random

import numpy as np
from matplotlib import pyplot as plt
from pictures import save
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.plot import style


def first_model() -> None:
    """Draw two species of iris with the line between them, and the weights after each mistake."""
    iris = load_iris()
    X, y = iris.data[:100, 2:], iris.target_names[iris.target[:100]]
    clf = rb.Perceptron().fit(X, y)
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    rb.plot.boundary(clf, X, y, ax=axes[0])
    axes[0].set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    rb.plot.trace(clf, X, y, ax=axes[1])
    save(figure, "first_model.png")


def ways_out() -> None:
    """Draw the accuracy of eight learners on data that no plane separates, over thirty folds."""
    cancer = load_breast_cancer()
    X, y = cancer.data[:, :10], cancer.target
    averaged = rb.Perceptron(average=True)
    learners = {
        "perceptron, last weights": rb.Perceptron(),
        "average": averaged,
        "vote": rb.VotedPerceptron(),
        "pocket": rb.PocketPerceptron(n_iter_no_change=5),
        "lifted": rb.LiftedPerceptron(),
        "soft margin": rb.SoftMarginClassifier(),
        "monomials of degree 2, average": make_pipeline(rb.MonomialMap(degree=2), averaged),
        "RBF kernel, average": rb.KernelPerceptron("rbf", average=True),
    }
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=3, random_state=0)
    figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
    for place, learner in enumerate(learners.values()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = 100 * cross_val_score(make_pipeline(StandardScaler(), learner), X, y, cv=folds)
        color, marker = (style.POSITIVE, "o") if place < 6 else (style.NEGATIVE, "D")
        ax.plot(np.percentile(found, [25, 75]), [place, place], color=color, linewidth=3, alpha=0.5)
        ax.plot(found.mean(), place, marker=marker, color=color, markersize=8)
        ax.annotate(f"{found.mean():.1f}", (found.mean(), place), (0, 8), textcoords="offset points", ha="center")
    ax.set_yticks(range(len(learners)), list(learners))
    ax.set_ylim(len(learners) - 0.5, -0.8)
    style.tidy(ax, "percent right on new rows", "")
    save(figure, "ways_out.png")


def readings() -> Iterator[tuple[dict[str, float], str]]:
    """Yield the stream of the tutorial on streams, which changes in its middle."""
    draw = Random(0)
    for t in range(4000):
        row = {name: draw.gauss(0, 1) for name in ("heat", "noise", "load", "age")}
        before, after = row["heat"] + row["noise"] - row["age"] / 2, row["heat"] - row["noise"] + row["load"] / 2
        danger = before if t < 2000 else after
        yield row, "fails" if (danger > 0) != (draw.random() < 0.05) else "runs"


def drift() -> None:
    """Draw the accuracy of three learners on a stream that changes."""
    learners = {
        "average": rb.Perceptron(average=True),
        "passive-aggressive, C = 0.1": rb.PassiveAggressiveClassifier(C=0.1),
        "perceptron": rb.Perceptron(),
    }
    figure, ax = plt.subplots(figsize=(8.5, 3.6), layout="constrained")
    ends = np.arange(200, 4001, 200)
    for (name, learner), color, dashes in zip(learners.items(), style.PALETTE, ("-", "--", ":"), strict=False):
        right = []
        for row, label in readings():
            right.append(learner.predict_one(row) == label)
            learner.learn_one(row, label)
        ax.plot(
            ends, 100 * np.reshape(right, (-1, 200)).mean(axis=1), dashes, color=color, linewidth=2, label=name
        )
    ax.axvline(2000, color=style.FAINT, linewidth=1)
    ax.annotate("the change", (2000, 40), (6, 0), textcoords="offset points", color=style.INK)
    ax.set_ylim(35, 100)
    ax.legend(loc="lower left", frameon=False, fontsize=style.SMALL_FONT_POINTS)
    style.tidy(ax, "readings", "percent right, of the last 200")
    save(figure, "drift.png")


if __name__ == "__main__":
    first_model()
    ways_out()
    drift()
