"""XOR in four ways
================

No line separates XOR. Monomials, a kernel, a network and the Mark I do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.kernels import Polynomial
from rosenblatt.plot import style

LIGHT = LinearSegmentedColormap.from_list("light", ["#2b2b2b", "#fff6d5"])


def cards(X: np.ndarray) -> np.ndarray:
    """Draw rows of zeros and ones as the Mark I sees them: a square lit on the left, on the right, or both."""
    halves = np.zeros((len(X), 20, 20))
    for card, (left, right) in zip(halves, X, strict=True):
        card[6:14, 1:9], card[6:14, 11:19] = left, right
    return halves.reshape(len(X), -1)


def four_ways() -> dict[str, tuple[Any, int]]:
    """Train all four, and return each with its errors."""
    X, y = rb.datasets.load_xor()
    ways: dict[str, tuple[Any, np.ndarray]] = {
        "monomials, then a perceptron": (make_pipeline(rb.MonomialMap(2), rb.Perceptron()), X),
        "the kernel (⟨x, x′⟩ + 1)²": (rb.KernelPerceptron(Polynomial(2, 1)), X),
        "a network with four hidden neurons": (rb.MultilayerPerceptron(hidden_layer_sizes=4), X),
        "the Mark I": (rb.MarkOne(random_state=0), cards(X)),
    }
    return {name: (clf.fit(rows, y), int((clf.predict(rows) != y).sum())) for name, (clf, rows) in ways.items()}


def regions(ax: Axes, clf: Any) -> None:
    """Tint the plane by the sign of f, the deeper the larger, and draw where it changes."""
    X, y = rb.datasets.load_xor()
    x = np.linspace(-0.5, 1.5, 300)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    f = clf.decision_function(grid).reshape(300, 300)
    ax.contourf(x, x, f > 0, levels=[-0.5, 0.5, 1.5], colors=[style.NEGATIVE, style.POSITIVE], alpha=0.16)
    ax.contour(x, x, f, levels=[0], colors=[style.INK], linewidths=1.6)
    ax.scatter(*X[y > 0].T, marker="+", color=style.POSITIVE, s=140, linewidths=2.5, zorder=3)
    ax.scatter(*X[y < 0].T, marker="o", facecolor="white", edgecolor=style.NEGATIVE, s=80, linewidths=2, zorder=3)
    ax.set(xticks=[0, 1], yticks=[0, 1], aspect="equal")
    style.tidy(ax, "$x_1$", "$x_2$")


def shown(ax: Axes, machine: rb.MarkOne) -> None:
    """Draw the four cards where the points of the other panels lie, each with the machine's answer."""
    X, _ = rb.datasets.load_xor()
    scores = machine.decision_function(cards(X))
    for (left, right), card, score in zip(X, cards(X), scores, strict=True):
        inset = ax.inset_axes((0.04 + 0.5 * left, 0.0 + 0.52 * right, 0.42, 0.42))
        inset.imshow(card.reshape(20, 20), cmap=LIGHT, vmin=0, vmax=1)
        inset.set(xticks=[], yticks=[])
        colour = style.POSITIVE if score > 0 else style.NEGATIVE
        inset.spines[:].set(color=colour, linewidth=2.5)
        inset.set_title(
            f"says {'+1' if score > 0 else '−1'}", fontsize=style.SMALL_FONT_POINTS, color=colour, pad=3
        )
    ax.set_axis_off()
    ax.set_aspect("equal")


def picture() -> Figure:
    found = four_ways()
    figure, axes = plt.subplots(1, 4, figsize=(12.5, 3.6), layout="constrained")
    for ax, (name, (clf, errors)) in zip(axes, found.items(), strict=True):
        print(f"{errors} errors: {name}")
        shown(ax, clf) if isinstance(clf, rb.MarkOne) else regions(ax, clf)
        ax.set_title(name, fontsize=style.NORMAL_FONT_POINTS)
    for ax in axes[1:3]:
        ax.set_ylabel("")
    return figure


if __name__ == "__main__":
    picture()
