"""The machine of 1960
===================

``MarkOne`` has a retina, association units wired at random, and response units. It repeats the first
demonstration, and reads digits.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import rosenblatt as rb
from rosenblatt.networks.mark_one import Wiring
from rosenblatt.plot import style

LIGHT = LinearSegmentedColormap.from_list("light", ["#2b2b2b", "#fff6d5"])
TRIALS, HELD_OUT, MACHINES = 50, 300, 10


def squares() -> Figure:
    """Show fifty cards, one after the other, to machines with wires of their own."""
    X, y = rb.datasets.make_cards(TRIALS + HELD_OUT, seed=0)
    right, wrong = np.empty((MACHINES, TRIALS + 1)), np.zeros((MACHINES, TRIALS + 1))
    for seed in range(MACHINES):
        machine = rb.MarkOne(random_state=seed)
        right[seed, 0] = 0.5
        for trial in range(TRIALS):
            machine.learn_one(X[trial], y[trial], classes=[-1, 1])
            right[seed, trial + 1] = machine.score(X[TRIALS:], y[TRIALS:])
            wrong[seed, trial + 1] = machine.n_mistakes_
    print(f"Squares after {TRIALS} trials: {right[:, -1].mean():.1%} of {HELD_OUT} cards are classified correctly")
    print(
        f"  (the worst of {MACHINES} machines {right[:, -1].min():.1%}), after {wrong[:, -1].mean():.1f} mistakes."
    )

    figure = plt.figure(figsize=(11, 3.9), layout="constrained")
    cards, curve = figure.subfigures(1, 2, width_ratios=[1, 1.5])
    for ax, card, side in zip(cards.subplots(2, 3).flat, X, y, strict=False):
        photograph(ax, card.reshape(20, 20))
        ax.set_title("right" if side > 0 else "left", fontsize=style.SMALL_FONT_POINTS)
    ax = curve.subplots()
    trials = np.arange(TRIALS + 1)
    ax.plot(trials, right.T, color=style.FAINT, linewidth=0.7, alpha=0.35)
    ax.plot(trials, right.mean(axis=0), color=style.POSITIVE, linewidth=2.5)
    ax.set(ylim=(0.45, 1.02), xlim=(0, TRIALS))
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_title(
        f"{HELD_OUT} cards it has never seen, told apart: each machine, and their mean",
        fontsize=style.NORMAL_FONT_POINTS,
    )
    style.tidy(ax, "cards shown", "right")
    return figure


def digits() -> Figure:
    """Read digits, and draw what one of them does in the machine."""
    X, y = load_digits(return_X_y=True)
    A, B, a, b = train_test_split(X, y, random_state=0, stratify=y)
    machine = rb.MarkOne(random_state=0).fit(A, a)
    print(f"Digits: {machine.score(B, b):.1%} of {len(b)} unseen ones are read. {machine.wiring_}")
    chosen = int(np.flatnonzero((b == 3) & (machine.predict(B) == 3))[0])
    image, on = B[chosen], machine.associate(B[chosen : chosen + 1])[0]
    scores = machine.decision_function(B[chosen : chosen + 1])[0]

    figure, axes = plt.subplots(1, 4, figsize=(12, 4.1), layout="constrained", width_ratios=[1, 1.25, 1.4, 1])
    photograph(axes[0], image.reshape(8, 8))
    axes[0].set_title("image, 8 × 8", fontsize=style.NORMAL_FONT_POINTS)
    photograph(axes[1], machine.see(B[chosen : chosen + 1])[0])
    axes[1].set_title("retina, 20 × 20 photocells", fontsize=style.NORMAL_FONT_POINTS)
    units = on.reshape(32, 16)
    axes[2].imshow(units, cmap=LIGHT, vmin=0, vmax=1, aspect="auto")
    axes[2].set(xticks=[], yticks=[])
    axes[2].set_title(f"{on.sum():.0f} of {len(on)} association units on", fontsize=style.NORMAL_FONT_POINTS)
    for unit in (83, 276, 452):
        wires(axes[1], axes[2], machine.wiring_, unit)
    responses(axes[3], machine.classes_, scores)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def photograph(ax: Axes, image: np.ndarray) -> None:
    ax.imshow(image, cmap=LIGHT)
    ax.set(xticks=[], yticks=[])


def wires(retina: Axes, association: Axes, wiring: Wiring, unit: int) -> None:
    """Draw the wires of one unit, from its photocells to where it stands among the others."""
    down, across = divmod(unit, 16)
    kinds = {
        "excites": (wiring.excitatory, style.PALETTE[5], "+"),
        "inhibits": (wiring.inhibitory, style.NEGATIVE, "o"),
    }
    for name, (cells, colour, marker) in kinds.items():
        y, x = np.divmod(cells[unit], wiring.retina[1])
        known = retina.get_legend_handles_labels()[1]
        face = {"facecolor": "none"} if marker == "o" else {}
        label = None if name in known else f"{name}"
        retina.scatter(
            x,
            y,
            c=None if face else colour,
            edgecolor=colour if face else None,
            marker=marker,
            s=55,
            linewidths=2,
            label=label,
            zorder=3,
            **face,
        )
        for cell in zip(x, y, strict=True):
            wire = ConnectionPatch(
                cell, (across, down), "data", "data", axesA=retina, axesB=association, color=colour, linewidth=0.9
            )
            retina.figure.add_artist(wire)
    association.scatter(
        [across], [down], s=70, marker="s", facecolor="none", edgecolor=style.PALETTE[4], linewidths=2
    )


def responses(ax: Axes, classes: np.ndarray, scores: np.ndarray) -> None:
    best = scores.argmax()
    colours = [style.POSITIVE if k == best else style.FAINT for k in range(len(scores))]
    ax.barh(classes, scores, color=colours)
    ax.set_yticks(classes)
    ax.invert_yaxis()
    ax.axvline(0, color=style.INK, linewidth=0.8)
    ax.set_title("response units", fontsize=style.NORMAL_FONT_POINTS)
    style.tidy(ax, "score", "digit")


if __name__ == "__main__":
    squares()
    digits()
