"""Four online rules on two streams
================================

Each row is predicted before it is learned. The curves count the mistakes so far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rosenblatt as rb
from rosenblatt.plot import style

ONCE: dict[str, Any] = {"order": "cyclic", "max_iter": 1, "average": True, "trace": "mistakes"}


def learners() -> dict[str, Any]:
    """Return the rules, untrained."""
    return {
        "perceptron": rb.Perceptron(**ONCE),
        "p-norm": rb.PNormPerceptron(**ONCE),
        "PA-I": rb.PassiveAggressiveClassifier(C=0.1, **ONCE),
        "AROW": rb.ConfidenceWeightedClassifier(**ONCE),
    }


def mistakes_on_the_way(X: Any, y: Any) -> dict[str, np.ndarray]:
    """Return the mistakes made up to each row, each predicted before it is learned."""
    found = {}
    for name, clf in learners().items():
        trace = clf.fit(X, y).trace_
        wrong = np.where(y == clf.classes_[1], 1, -1)[trace.index] * trace.score <= 0.0
        found[name] = np.cumsum(np.bincount(trace.index[wrong], minlength=len(y)))
    return found


def picture(n_rows: int = 6000) -> Figure:
    """Draw the curves for a stream of short texts, and for one in which five of a thousand words matter."""
    rng = np.random.default_rng(0)
    few = (rng.random((n_rows, 1000)) < 0.05).astype(float)
    streams = {
        "texts: many words matter a little": rb.datasets.make_text(n_rows, 5000, seed=0),
        "five of a thousand features matter": (few, few[:, :5].any(axis=1)),
    }
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
    for ax, (title, (X, y)) in zip(axes, streams.items(), strict=True):
        curves = mistakes_on_the_way(X, np.asarray(y)).items()
        for (name, curve), colour in zip(curves, style.PALETTE, strict=False):
            ax.plot(curve, color=colour, label=f"{name}: {curve[-1]:,}", linewidth=1.4)
        ax.set_title(title, fontsize=style.NORMAL_FONT_POINTS)
        ax.legend(frameon=False, fontsize=style.SMALL_FONT_POINTS)
        style.tidy(ax, "rows seen", "mistakes so far")
    return figure


if __name__ == "__main__":
    picture()
