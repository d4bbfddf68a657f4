"""Draw the pictures of ``docs/sources``, each light and dark, as SVG: ``python examples/pictures_lectures.py``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Ellipse, FancyBboxPatch, Polygon, Wedge
from pictures import IMAGES
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.plot import style

LIGHT, DARK = (
    {name: getattr(theme, name.lower()) for name in ("INK", "FAINT", "PAPER", "POSITIVE", "NEGATIVE")}
    for theme in (style.LIGHT, style.DARK)
)
ARROW: dict[str, Any] = {"arrowstyle": "-|>,head_width=0.25,head_length=0.5", "shrinkA": 0, "shrinkB": 0}


def save_both(draw: Callable[[], Figure], folder: Any = IMAGES) -> None:
    """Write a picture twice, without a date, so that drawing it again changes nothing."""
    name = draw.__name__
    for suffix, colours in (("", LIGHT), ("_dark", DARK)):
        ink = colours["INK"]
        look = dict.fromkeys(
            ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.titlecolor"), ink
        )
        look |= {"svg.hashsalt": name, "axes.facecolor": "none", "figure.facecolor": "none"}
        with patch.multiple(style, **colours), mpl.rc_context(look):
            figure = draw()
            figure.savefig(folder / f"{name}{suffix}.svg", metadata={"Date": None}, transparent=True)
            plt.close(figure)


def arrow(ax: Axes, tail: Any, tip: Any, colour: str | None = None, bend: float = 0.0) -> None:
    look = ARROW | {"color": colour or style.INK, "linewidth": 1.6, "connectionstyle": f"arc3,rad={bend}"}
    ax.annotate("", tuple(tip), tuple(tail), arrowprops=look, zorder=5)


def box(ax: Axes, x: float, y: float, text: str, width: float = 2.2, height: float = 1.0) -> None:
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0.05",
            facecolor=style.PAPER,
            edgecolor=style.INK,
            linewidth=1.5,
            zorder=3,
        )
    )
    ax.text(x, y, text, ha="center", va="center", fontsize=style.SMALL_FONT_POINTS, color=style.INK, zorder=4)


def bare(ax: Axes, width: float, height: float) -> None:
    ax.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    ax.axis("off")


def lecture_koski_steps() -> Figure:
    """Draw the start of the worked example, and the line after each of its three updates."""
    X, y = rb.datasets.load_six_points()
    clf = rb.presets.fit("koski-example", X, y)
    figure, axes = plt.subplots(2, 2, figsize=(8.4, 7.6), layout="constrained", sharex=True, sharey=True)
    W, b = clf.trace_.path(X, y)
    for k, ax in enumerate(axes.flat):
        rb.plot.boundary((W[k], float(b[k])), X, y, ax=ax, band=False, view=((-3, 3), (-3, 3)), classes=(-1, 1))
        ax.get_legend().remove()
        wrong = f", then point {clf.trace_.index[k] + 1} is wrong" if k < 3 else ": all are right"
        ax.set_title(
            f"{f'update {k}' if k else 'start'}: w = ({W[k][0]:g}, {W[k][1]:g}), b = {b[k]:g}{wrong}",
            fontsize=style.SMALL_FONT_POINTS,
        )
        for i, place in enumerate(X, 1):
            ax.annotate(str(i), tuple(place), (7, 5), textcoords="offset points", fontsize=style.SMALL_FONT_POINTS)
    return figure


def lecture_system() -> Figure:
    """Draw the machine with its teacher, and alone after training."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", width_ratios=(1.25, 1))
    bare(left, 10, 6)
    box(left, 1.4, 4.3, "example\n$x(l)$")
    box(left, 4.9, 4.3, "perceptron\n$w, b$")
    box(left, 8.5, 4.3, "answer\nsign $f(x)$")
    box(left, 8.5, 1.3, "teacher\ncompares with $y(l)$", 2.7)
    for tail, tip in (((2.6, 4.3), (3.7, 4.3)), ((6.1, 4.3), (7.3, 4.3)), ((8.5, 3.7), (8.5, 1.9))):
        arrow(left, tail, tip)
    left.plot([7.1, 4.9], [1.3, 1.3], color=style.NEGATIVE, linewidth=1.6)
    arrow(left, (4.9, 1.3), (4.9, 3.7), style.NEGATIVE)
    left.text(5.9, 1.55, "error: feedback", ha="center", fontsize=style.SMALL_FONT_POINTS, color=style.NEGATIVE)
    left.set_title("while it learns", fontsize=style.NORMAL_FONT_POINTS)
    bare(right, 9, 6)
    box(right, 1.3, 4.3, "new $x$", 1.9)
    box(right, 4.5, 4.3, "$w = (0.5, 1)$\n$b = 0.2$", 2.4)
    box(right, 7.7, 4.3, "+1 or −1", 1.9)
    arrow(right, (2.4, 4.3), (3.2, 4.3))
    arrow(right, (5.8, 4.3), (6.6, 4.3))
    right.text(
        4.5, 2.7, "the six examples are stored\nin three numbers", ha="center", fontsize=style.SMALL_FONT_POINTS
    )
    right.set_title("after training", fontsize=style.NORMAL_FONT_POINTS)
    return figure


def lecture_cell() -> Figure:
    """Draw a nerve cell beside the formula, part by part."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    bare(left, 10, 7)
    cell = style.POSITIVE
    for height, end in ((6.0, 4.3), (3.5, 3.5), (1.0, 2.7)):
        left.plot(
            [0.4, 1.6, 3.4],
            [height, 0.5 * (height + end) + 0.3, end],
            color=cell,
            linewidth=3,
            solid_capstyle="round",
        )
        left.add_patch(Circle((0.4, height), 0.28, facecolor=style.NEGATIVE, edgecolor="none", zorder=4))
    left.add_patch(Ellipse((4.2, 3.5), 2.2, 2.4, facecolor=cell, alpha=0.35, edgecolor=cell, linewidth=2))
    left.add_patch(Circle((4.2, 3.5), 0.4, facecolor=cell, alpha=0.7, edgecolor="none"))
    left.plot([5.3, 8.4], [3.5, 3.5], color=cell, linewidth=4, solid_capstyle="round")
    for height in (4.6, 3.5, 2.4):
        left.plot([8.4, 9.5], [3.5, height], color=cell, linewidth=2.5, solid_capstyle="round")
    labels = (
        ("synapse", (0.55, 6.3), (1.9, 6.7)),
        ("dendrite", (2.0, 5.45), (4.0, 6.2)),
        ("soma", (4.2, 2.3), (4.2, 1.1)),
        ("axon", (7.0, 3.4), (7.0, 1.9)),
    )
    for text, tip, place in labels:
        left.annotate(
            text,
            tip,
            place,
            ha="center",
            fontsize=style.NORMAL_FONT_POINTS,
            color=style.INK,
            arrowprops={"arrowstyle": "-", "color": style.FAINT},
        )
    left.set_title("a nerve cell", fontsize=style.NORMAL_FONT_POINTS)
    rb.plot.neuron([1.0, 1.0, -1.0], 1.0, ax=right)
    right.set_title("synapse = weight, soma = sum, axon = answer", fontsize=style.NORMAL_FONT_POINTS)
    return figure


def lecture_network() -> Figure:
    """Draw a layer, and a network of layers."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=(1, 1.7))
    rb.plot.network([3, 4], ax=left, names=["inputs i", "outputs o"])
    left.set_title("a layer", fontsize=style.NORMAL_FONT_POINTS)
    rb.plot.network([3, 5, 4, 2], ax=right)
    right.set_title("a network: layers after each other", fontsize=style.NORMAL_FONT_POINTS)
    return figure


def lecture_hierarchy() -> Figure:
    """Draw the layers of the visual hierarchy."""
    figure, ax = plt.subplots(figsize=(10, 2.6), layout="constrained")
    bare(ax, 17, 4)
    sizes = rb.VisualHierarchy().get_params()["sizes"]
    steps = (
        ("picture\n$x$", ""),
        (f"{sizes[0]} units", "max$(\\langle w, x\\rangle, 0)$"),
        (f"{sizes[1]} units", "log$(\\langle w, y\\rangle^2 + 1)$, $w \\geq 0$"),
        ("gain control", "divide by the\ncontrast"),
        (f"{sizes[2]} units", "max$(\\langle w, z\\rangle, 0)$"),
    )
    for k, (title, text) in enumerate(steps):
        box(ax, 1.6 + 3.45 * k, 2.6, title, 2.3)
        ax.text(1.6 + 3.45 * k, 1.6, text, ha="center", va="top", fontsize=style.SMALL_FONT_POINTS)
        if k:
            arrow(ax, (2.85 + 3.45 * (k - 1), 2.6), (0.4 + 3.45 * k, 2.6))
    return figure


def lecture_convex() -> Figure:
    """Draw a convex and another set, and weak and strict separation."""
    figure, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
    for ax, title in zip(axes, ("convex", "not convex", "separated weakly", "separated strictly"), strict=True):
        bare(ax, 4, 4)
        ax.set_title(title, fontsize=style.NORMAL_FONT_POINTS)
    look: dict[str, Any] = {"facecolor": style.POSITIVE, "alpha": 0.35, "edgecolor": style.POSITIVE}
    axes[0].add_patch(Ellipse((2, 2), 3.2, 2.2, angle=20, **look))
    axes[1].add_patch(Wedge((2, 2), 1.7, 35, 325, width=0.8, **look))
    for ax, ends in ((axes[0], [(1.0, 1.6), (3.0, 2.5)]), (axes[1], [(2.9, 2.85), (2.9, 1.15)])):
        ax.plot(*np.array(ends).T, "o-", color=style.INK, linewidth=1.6, markersize=5)
    other = look | {"facecolor": style.NEGATIVE, "edgecolor": style.NEGATIVE}
    for ax, gap in ((axes[2], 0.0), (axes[3], 0.45)):
        ax.add_patch(Polygon([(2 - gap, 1.6), (2 - gap, 2.8), (0.4, 3.2), (0.5, 0.9)], **look))
        ax.add_patch(Polygon([(2 + gap, 1.1), (2 + gap, 2.2), (3.6, 3.0), (3.4, 0.7)], **other))
        ax.plot([2, 2], [0.2, 3.8], color=style.INK, linewidth=1.8)
    return figure


def lecture_margins() -> Figure:
    """Draw the geometric margins of the six points, for the last line of the worked example."""
    X, y = rb.datasets.load_six_points()
    figure, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
    rb.plot.margins(rb.presets.fit("koski-example", X, y), X, y, ax=ax)
    ax.set_title(
        "γ = 0.179 is the smallest; f(x) is the margin times ‖w‖ = 1.118", fontsize=style.NORMAL_FONT_POINTS
    )
    return figure


def lecture_diagonal() -> Figure:
    """Draw Harchaoui's points above and below the diagonal, with W."""
    X, y = rb.datasets.make_diagonal(200, seed=0)
    figure, ax = plt.subplots(figsize=(6.6, 4.8), layout="constrained")
    clf = rb.presets.fit("harchaoui", X, y)
    rb.plot.boundary(clf, X, y, ax=ax, band=False)
    ax.set_title(
        f"200 points, W = ({clf.coef_[0, 0]:.2f}, {clf.coef_[0, 1]:.2f})", fontsize=style.NORMAL_FONT_POINTS
    )
    return figure


def lecture_or() -> Figure:
    """Draw OR with its line."""
    X, y = rb.datasets.load_or()
    figure, ax = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    rb.plot.boundary(rb.presets.fit("zhang", X, y), X, y, ax=ax)
    ax.set_title("OR: $2x_1 + 2x_2 - 1 = 0$", fontsize=style.NORMAL_FONT_POINTS)
    return figure


def lecture_classes() -> Figure:
    """Draw the regions of one against the rest and of one against one."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], 14)
    X = np.array([[-2.0, -1.0], [0.0, 1.6], [2.0, -1.0]])[y] + 0.45 * rng.standard_normal((42, 2))
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
    for ax, multiclass, title in zip(axes, ("ovr", "ovo"), ("one vs. all", "one vs. one"), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf = rb.Perceptron(multiclass=multiclass, order="cyclic").fit(X, y)
        rb.plot.regions(clf, X, y, ax=ax)
        ax.set_title(f"{title}: {len(clf.coef_)} lines", fontsize=style.NORMAL_FONT_POINTS)
        if ax is axes[0]:
            ax.get_legend().remove()
    return figure


def lecture_losses() -> Figure:
    """Draw what a score costs: the losses behind the perceptron and behind soft margins."""
    figure, ax = plt.subplots(figsize=(6.6, 3.8), layout="constrained")
    z = np.linspace(-2.5, 2.5, 201)
    losses = {
        "a mistake counts 1": np.where(z > 0, 0.0, 1.0),
        "perceptron": np.maximum(0.0, -z),
        "hinge": np.maximum(0.0, 1.0 - z),
        "logistic": np.log1p(np.exp(-z)),
    }
    colours = (style.FAINT, style.INK, style.POSITIVE, style.NEGATIVE)
    for (name, values), colour in zip(losses.items(), colours, strict=True):
        ax.plot(z, values, color=colour, linewidth=2, label=name)
    style.tidy(ax, "$y f(x)$", "loss")
    style.legend_beside(ax)
    return figure


def lecture_organisation() -> Figure:
    """Draw Rosenblatt's organisation of a perceptron: retina, association units, responses."""
    figure, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
    bare(ax, 14, 6.4)
    rng = np.random.default_rng(3)
    lit = {(i, 4 - i) for i in range(5)} | {(i, i) for i in range(5)}
    cells = {(i, j): (0.8 + 0.6 * i, 1.8 + 0.6 * j) for i in range(5) for j in range(5)}
    units = [(6.8, 0.9 + 0.75 * k) for k in range(7)]
    replies = [(11.8, 2.1), (11.8, 4.1)]
    for unit in units:
        for place in rng.permutation(list(cells.values()))[:4]:
            ax.plot(*zip(place, unit, strict=True), color=style.FAINT, linewidth=0.6, zorder=1)
        for reply in replies:
            ax.plot(*zip(unit, reply, strict=True), color=style.INK, linewidth=0.9, zorder=1)
    for key, place in cells.items():
        colour = style.NEGATIVE if key in lit else style.PAPER
        ax.add_patch(Circle(place, 0.2, facecolor=colour, edgecolor=style.INK, linewidth=1, zorder=3))
    for place in (*units, *replies):
        ax.add_patch(Circle(place, 0.27, facecolor=style.PAPER, edgecolor=style.INK, linewidth=1.5, zorder=3))
    for x, text in (
        (2.0, "retina\nsees an X"),
        (6.8, "association units\nrandom wires, fixed"),
        (11.8, "responses\nweights are learned"),
    ):
        ax.text(x, 6.3, text, ha="center", va="top", fontsize=style.SMALL_FONT_POINTS)
    return figure


PICTURES = (
    *(lecture_koski_steps, lecture_system, lecture_cell, lecture_network, lecture_hierarchy, lecture_convex),
    *(lecture_margins, lecture_diagonal, lecture_or, lecture_classes, lecture_losses, lecture_organisation),
)


if __name__ == "__main__":
    for picture in PICTURES:
        save_both(picture)
