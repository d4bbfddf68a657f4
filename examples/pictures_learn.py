"""Draw the pictures of the tutorials again: ``python examples/pictures_learn.py``."""

from __future__ import annotations

import warnings

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


if __name__ == "__main__":
    first_model()
    ways_out()
