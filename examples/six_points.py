"""Six points, step by step
========================

The perceptron starts from a line that is wrong, and turns it at each mistake. Left: the line at the end.
Right: the mistakes of each pass, and the weights after each update.
"""

from __future__ import annotations

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rosenblatt as rb


def picture() -> Figure:
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(eta0=0.2, order=[4, 5, 0, 1, 2, 3]).fit(X, y, coef_init=[1, 0.5])
    print(f"{clf.stop_reason_} after {clf.n_iter_} passes and {clf.n_mistakes_} mistakes")
    print("weights", clf.coef_[0].round(3), "intercept", clf.intercept_.round(3))
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    rb.plot.boundary(clf, X, y, ax=axes[0])
    rb.plot.trace(clf, X, y, ax=axes[1])
    return figure


if __name__ == "__main__":
    picture()
