"""Draw the pictures of the tutorials again: ``python examples/pictures_learn.py``."""

from __future__ import annotations

from matplotlib import pyplot as plt
from pictures import save
from sklearn.datasets import load_iris

import rosenblatt as rb


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


if __name__ == "__main__":
    first_model()
