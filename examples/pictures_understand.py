"""Draw the pictures of the first chapters in ``docs/understand``: ``python examples/pictures_understand.py``."""

from __future__ import annotations

import warnings
from itertools import permutations
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from pictures import save

import rosenblatt as rb
from rosenblatt.geometry import project, signed_distance
from rosenblatt.plot import style
from rosenblatt.plot.plane import corners, cut, segment
from rosenblatt.theory.proof import proof_quantities

SQUARE = ((-3.2, 3.2), (-3.2, 3.2))
ARROW: dict[str, Any] = {"arrowstyle": "-|>,head_width=0.28,head_length=0.55", "shrinkA": 0, "shrinkB": 0}


def arrow(ax: Axes, tail: Any, tip: Any, colour: str = style.INK, width: float = 2.0) -> None:
    ax.annotate("", tuple(tip), tuple(tail), arrowprops=ARROW | {"color": colour, "linewidth": width}, zorder=6)


def half_planes(ax: Axes, w: Any, b: float, view: Any = SQUARE) -> None:
    """Draw the line f = 0, and tint its two sides."""
    rim = corners(view)
    for side, colour in ((1, style.POSITIVE), (-1, style.NEGATIVE)):
        region = cut(rim, side * signed_distance(rim, w, b))
        if len(region) > 2:
            ax.fill(*region.T, color=colour, alpha=0.09, linewidth=0, zorder=0)
    ends = segment((np.asarray(w, float), float(b)), view)
    if ends is not None:
        ax.plot(*ends.T, color=style.INK, linewidth=1.8, zorder=2)


def points(ax: Axes, X: np.ndarray, y: np.ndarray, size: float = 70) -> None:
    ax.scatter(*X[y > 0].T, marker="+", s=1.4 * size, color=style.POSITIVE, linewidths=2.2, zorder=4)
    ax.scatter(*X[y < 0].T, s=size, facecolors="white", edgecolors=style.NEGATIVE, linewidths=1.8, zorder=4)


def square(ax: Axes, view: Any = SQUARE) -> None:
    ax.set(xlim=view[0], ylim=view[1], aspect="equal")
    style.tidy(ax, "$x_1$", "$x_2$")


def neuron() -> None:
    """Draw one neuron at work, and the step from f to its answer."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained", width_ratios=(1.7, 1))
    w, b, x = np.array([0.5, 2.0]), 1.0, np.array([1.5, -0.5])
    f = float(w @ x + b)
    left.set(xlim=(-0.4, 8.6), ylim=(-1.9, 1.9), aspect="equal")
    left.axis("off")
    text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": style.NORMAL_FONT_POINTS + 1}
    inputs = ((1.2, f"$x_1 = {x[0]}$", f"$w_1 = {w[0]}$"), (0, f"$x_2 = {x[1]}$", f"$w_2 = {w[1]}$"))
    for height, value, weight in (*inputs, (-1.2, "$1$", f"$b = {b}$")):
        left.text(0.6, height, value, bbox=_disc(style.POSITIVE), **text)
        arrow(left, (1.5, height), (3.5, 0.55 * height), style.FAINT)
        left.text(2.5, 0.78 * height + 0.27, weight, **text)
    left.text(4.5, 0, f"sum\n$f = {f}$", bbox=_disc(style.INK), **text)
    arrow(left, (5.4, 0), (6.5, 0), style.FAINT)
    left.text(7.4, 0, f"answer\n$\\hat y = {'+1' if f > 0 else '-1'}$", bbox=_disc(style.NEGATIVE), **text)
    for low, high, value in ((-3, 0, -1), (0, 3, 1)):
        right.plot([low, high], [value, value], color=style.INK, linewidth=2.5)
    right.plot([0, 0], [-1, 1], color=style.FAINT, linestyle=":", linewidth=1.2)
    right.plot(0, -1, "o", color=style.INK, markersize=8)
    right.plot(0, 1, "o", color=style.INK, markerfacecolor="white", markersize=8)
    right.plot(f, 1, "D", color=style.NEGATIVE, markersize=7)
    right.set(ylim=(-1.5, 1.5), yticks=(-1, 0, 1))
    style.tidy(right, "$f(x)$", "$\\hat y$")
    save(figure, "neuron.png")


def _disc(colour: str) -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.55", "facecolor": "white", "edgecolor": colour, "linewidth": 1.8}


def geometry() -> None:
    """Draw a point with its foot on the line, what the bias does, and points of a line made vectors."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained")
    w, b, x = np.array([1.2, 1.6]), 1.6, np.array([1.2, 2.2])
    half_planes(axes[0], w, b)
    foot, origin = project(x, w, b), project([0.0, 0.0], w, b)
    for start, end, label in ((foot, x, "$r$"), (origin, np.zeros(2), "$b\\,/\\,‖w‖$")):
        axes[0].plot(*np.array([start, end]).T, color=style.PALETTE[2], linewidth=2.5, zorder=3)
        axes[0].text(
            *(0.5 * (start + end) + [0.18, -0.12]), label, fontsize=style.NORMAL_FONT_POINTS, color="#00654a"
        )
    names = ((x, "$x$", (0.15, 0.15)), (foot, "$x_p$", (-0.5, -0.25)), (np.zeros(2), "$0$", (0.12, 0.12)))
    for place, name, shift in names:
        axes[0].plot(*place, "o", color=style.INK, markersize=6, zorder=5)
        axes[0].text(*(place + shift), name, fontsize=style.NORMAL_FONT_POINTS + 2)
    tail = project([-2.0, 0.0], w, b)
    arrow(axes[0], tail, tail + 0.6 * w)
    axes[0].text(*(tail + 0.6 * w + [-0.1, 0.18]), "$w$", fontsize=style.NORMAL_FONT_POINTS + 2)
    axes[0].set_title("A point and its foot", fontsize=style.NORMAL_FONT_POINTS)
    for bias, colour in zip((-3.0, 0.0, 3.0), (style.PALETTE[1], style.FAINT, style.PALETTE[0]), strict=True):
        ends = segment((w, bias), SQUARE)
        assert ends is not None
        axes[1].plot(*ends.T, color=colour, linewidth=2, label=f"$b = {bias:+.0f}$" if bias else "$b = 0$")
    axes[1].plot(0, 0, "o", color=style.INK, markersize=6)
    arrow(axes[1], (0, 0), 0.75 * w)
    axes[1].text(*(0.75 * w + [0.1, 0.1]), "$w$", fontsize=style.NORMAL_FONT_POINTS + 2)
    axes[1].set_title("The bias shifts the line", fontsize=style.NORMAL_FONT_POINTS)
    axes[1].legend(frameon=False, loc="lower left", fontsize=style.SMALL_FONT_POINTS)
    for ax in axes[:2]:
        square(ax)
    _augmented(axes[2])
    save(figure, "geometry.png")


def _augmented(ax: Axes) -> None:
    """Draw five numbers at height 1, where a line through the origin parts them."""
    x, y = np.array([-2.0, -0.6, 0.8, 1.7, 2.6]), np.array([-1, -1, -1, 1, 1])
    view = ((-3.2, 3.2), (-1.6, 2.4))
    half_planes(ax, [0.8, -1.0], 0.0, view)
    points(ax, np.column_stack([x, np.zeros(5)]), y, 25)
    points(ax, np.column_stack([x, np.ones(5)]), y)
    for at in x:
        ax.plot([at, at], [0.12, 0.88], color=style.FAINT, linestyle=":", linewidth=1)
    ax.axhline(0, color=style.FAINT, linewidth=0.8)
    ax.axhline(1, color=style.FAINT, linewidth=0.8, linestyle="--")
    ax.plot(0, 0, "o", color=style.INK, markersize=6)
    ax.set(xlim=view[0], ylim=view[1], yticks=(0, 1))
    style.tidy(ax, "$x$", "the added feature")
    ax.set_title("With a feature 1", fontsize=style.NORMAL_FONT_POINTS)


def update() -> None:
    """Draw one update in the plane of points and in the plane of weights, and y f over repeated visits."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained")
    w, x = np.array([2.0, -1.0]), np.array([-1.0, 1.5])
    after = w + x
    for ax, weights, title in (
        (axes[0], w, "Before"),
        (axes[1], after, "After: $w + x$"),
    ):
        half_planes(ax, weights, 0.0)
        square(ax)
        ax.scatter(*x, s=500, color=style.HALO, zorder=1)
        points(ax, x[None], np.array([1]))
        arrow(ax, (0, 0), weights)
        ax.text(*(weights + 0.12), "$w$" if ax is axes[0] else "$w + x$", fontsize=style.NORMAL_FONT_POINTS + 2)
        ax.text(*(x + 0.2), "$x$, a $+$", fontsize=style.NORMAL_FONT_POINTS + 2)
        ax.set_title(f"{title}: $f(x) = {weights @ x:g}$", fontsize=style.NORMAL_FONT_POINTS)
    arrow(axes[1], (0, 0), w, style.FAINT, 1.2)
    arrow(axes[1], w, after, style.POSITIVE)
    axes[1].text(1.75, 0.0, "$+x$", fontsize=style.NORMAL_FONT_POINTS + 2, color=style.POSITIVE)
    visits = np.arange(5)
    heights = w @ x + visits * (x @ x)
    axes[2].axhline(0, color=style.FAINT, linewidth=1)
    axes[2].plot(visits, heights, color=style.FAINT, linestyle=":", zorder=1)
    sides = np.where(heights <= 0, style.NEGATIVE, style.POSITIVE)
    axes[2].scatter(visits, heights, c=sides, s=60, zorder=2)
    for k, height in zip(visits, heights, strict=True):
        axes[2].annotate(
            f"{height:g}", (k, height), (8, -12), textcoords="offset points", fontsize=style.SMALL_FONT_POINTS
        )
    style.whole_ticks(axes[2])
    style.tidy(axes[2], "times $x$ was added", "$y\\,f(x)$")
    axes[2].set_title("$y\\,f$ rises by $‖x‖^2$", fontsize=style.NORMAL_FONT_POINTS)
    save(figure, "update.png")


def six_points_steps() -> None:
    """Draw each update of the plain run on the six points."""
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(order="cyclic").fit(X, y)
    W, b = clf.trace_.path(X, y)
    figure, axes = plt.subplots(2, 2, figsize=(7.6, 7.8), layout="constrained")
    for k, ax in enumerate(axes.flat):
        if k:
            half_planes(ax, W[k], b[k])
        if k < len(clf.trace_):
            ax.scatter(*X[clf.trace_.index[k]], s=420, color=style.HALO, zorder=1)
        points(ax, X, y)
        for row, place in enumerate(X):
            ax.annotate(str(row + 1), place, (7, 5), textcoords="offset points", fontsize=style.SMALL_FONT_POINTS)
        square(ax)
        weights = f"$w = ({W[k][0]:g},\\ {W[k][1]:g})$, $b = {b[k]:g}$"
        ax.set_title(
            f"{('start', *(f'after update {i}' for i in (1, 2, 3)))[k]}\n{weights}",
            fontsize=style.NORMAL_FONT_POINTS,
        )
    save(figure, "six_points_steps.png")


RUNS: dict[str, tuple[dict[str, Any], Any]] = {
    "lab": ({"order": "cyclic"}, None),
    "Koski's example": ({"eta0": 0.2, "order": [4, 5, 0, 1, 2, 3]}, [1, 0.5]),
    "Koski's algorithm": ({"bias": "radius", "order": "cyclic"}, None),
    "Perceptron()": ({}, None),
}


def six_points_runs() -> None:
    """Draw the lines at which four runs on the six points end."""
    X, y = rb.datasets.load_six_points()
    figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    points(ax, X, y)
    dashes = ("-", "--", "-.", ":")
    for (name, (options, start)), dash, colour in zip(RUNS.items(), dashes, style.PALETTE[2:], strict=False):
        clf = rb.Perceptron(**options).fit(X, y, coef_init=start)
        ends = segment((clf.coef_[0], float(clf.intercept_[0])), SQUARE)
        assert ends is not None
        ax.plot(*ends.T, dash, color=colour, linewidth=2.2, label=f"{name}: {clf.n_mistakes_} updates")
    square(ax)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=style.SMALL_FONT_POINTS)
    save(figure, "six_points_runs.png")


def two_curves() -> None:
    """Draw both inequalities of the convergence proof along a run on the six points."""
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(bias="radius", order="cyclic").fit(X, y)
    run = proof_quantities(clf.trace_, X, y)
    figure, ax = plt.subplots(figsize=(7.6, 4.6), layout="constrained")
    most = (run.radius / run.gamma) ** 2
    far = np.linspace(0, 1.12 * most, 400)
    low, high = far * run.gamma, run.radius * np.sqrt(far)
    ax.fill_between(far, low, high, where=high >= low, color=style.FAINT, alpha=0.12, linewidth=0)
    ax.plot(far, high, color=style.NEGATIVE, linewidth=2, label="$C\\sqrt{k}$: $‖w_k‖$ stays below")
    ax.plot(far, low, color=style.POSITIVE, linewidth=2, label="$k\\gamma$: $⟨w_k, u⟩$ stays above")
    norm = np.sqrt(run.squared_norm)
    ax.plot(run.k, norm, "s-", color=style.INK, markersize=5, linewidth=1, label="$‖w_k‖$ of the run")
    ax.plot(run.k, run.inner, "o--", color=style.INK, markersize=5, linewidth=1, label="$⟨w_k, u⟩$ of the run")
    ax.plot(most, run.radius * np.sqrt(most), "o", color=style.INK, markersize=8, markerfacecolor="white")
    note = f"They cross at $k = C^2/\\gamma^2 = {most:.1f}$"
    ax.annotate(note, (most, run.radius * np.sqrt(most)), (-225, -4), textcoords="offset points", va="center")
    ax.set(xlim=(0, far[-1]), ylim=(0, None))
    style.tidy(ax, "updates $k$", "")
    ax.legend(frameon=False, loc="lower right", fontsize=style.NORMAL_FONT_POINTS)
    save(figure, "two_curves.png")


def learning_rate() -> None:
    """Draw how many updates each learning rate takes, from zero and from another start."""
    X, y = rb.datasets.load_six_points()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    rates = np.geomspace(0.001, 10, 60)
    counts = {"from $0$": None, "from $(1,\\ 0.5)$": [1, 0.5]}
    for (name, start), colour, dash in zip(counts.items(), style.PALETTE, ("-", "--"), strict=False):
        clf = [rb.Perceptron(order="cyclic", eta0=rate).fit(X, y, coef_init=start) for rate in rates]
        left.plot(rates, [each.n_mistakes_ for each in clf], dash, color=colour, linewidth=2, label=name)
    left.set(xscale="log", yscale="log", yticks=(1, 3, 10, 30, 100, 300))
    left.yaxis.set_major_formatter("{x:g}")
    left.minorticks_off()
    style.tidy(left, "learning rate $η$", "updates")
    left.legend(frameon=False)
    points(right, X, y)
    for rate, colour, dash in zip((0.01, 0.2, 1, 10), style.PALETTE[2:], ("-", "--", "-.", ":"), strict=False):
        clf = rb.Perceptron(order="cyclic", eta0=rate).fit(X, y, coef_init=[1, 0.5])
        ends = segment((clf.coef_[0], float(clf.intercept_[0])), SQUARE)
        assert ends is not None
        right.plot(*ends.T, dash, color=colour, linewidth=2, label=f"$η = {rate:g}$")
    square(right)
    right.set_title("The last line, from $(1,\\ 0.5)$", fontsize=style.NORMAL_FONT_POINTS)
    right.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=style.SMALL_FONT_POINTS)
    save(figure, "learning_rate.png")


def orders() -> None:
    """Draw the updates and the last lines of all 720 orders of the six points."""
    X, y = rb.datasets.load_six_points()
    runs = [rb.Perceptron(order=list(order)).fit(X, y) for order in permutations(range(6))]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    updates = np.array([clf.n_mistakes_ for clf in runs])
    values, counts = np.unique(updates, return_counts=True)
    bars = left.bar(values, counts, color=style.PALETTE[2], width=0.7)
    left.bar_label(bars, fontsize=style.NORMAL_FONT_POINTS)
    left.set(xlim=(0, 8), ylim=(0, 560))
    style.whole_ticks(left)
    style.tidy(left, "updates", "orders of the six points")
    left.set_title(f"The bound allows {int(rb.bounds(X, y)['padded'].value)}", fontsize=style.NORMAL_FONT_POINTS)
    ends = {(*clf.coef_[0], clf.intercept_[0]): 0 for clf in runs}
    for clf in runs:
        ends[*clf.coef_[0], clf.intercept_[0]] += 1
    points(right, X, y)
    looks = zip(style.PALETTE, ("-", "--", "-.", ":", (0, (6, 1)), (0, (1, 3))), strict=False)
    for ((w1, w2, b), many), (colour, dash) in zip(
        sorted(ends.items(), key=lambda at: -at[1]), looks, strict=False
    ):
        line = segment((np.array([w1, w2]), b), SQUARE)
        assert line is not None
        right.plot(*line.T, color=colour, linestyle=dash, linewidth=2, label=f"{many} orders")
    square(right)
    right.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=style.SMALL_FONT_POINTS)
    save(figure, "orders.png")


def cycle() -> None:
    """Draw the weights on XOR going round, and the length of weights on rows that do not separate."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    X, y = rb.datasets.load_xor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        around = rb.Perceptron(order="cyclic", decide=False, max_iter=3).fit(X, y)
    W, b = around.trace_.path(X, y)
    curves = {"$w_1$": W[:, 0], "$w_2$": W[:, 1], "$b$": b}
    for at, ((name, values), dash) in enumerate(zip(curves.items(), ("-", "--", ":"), strict=True)):
        shift = 0.04 * (at - 1)  # so that equal values do not hide each other
        left.step(
            range(len(b)), values + shift, dash, where="post", color=style.PALETTE[at], linewidth=2.2, label=name
        )
    for k in range(0, len(b), 4):
        left.axvline(k, color=style.FAINT, linewidth=0.8, linestyle=":")
    left.set(xlim=(0, 12.9), ylim=(-1.5, 1.5), xticks=range(0, 13, 2), yticks=(-1, 0, 1))
    left.legend(frameon=False, ncols=3, loc="lower right")
    style.tidy(left, "updates $k$", "")
    left.set_title("XOR: a cycle of four updates", fontsize=style.NORMAL_FONT_POINTS)
    rng = np.random.default_rng(3)
    sides = np.repeat([1, -1], 60)
    clouds = rng.normal(0, 0.9, (120, 2)) + sides[:, None] * [0.9, 0.6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = rb.Perceptron(order="cyclic", decide=False, max_iter=200).fit(clouds, sides)
    W, b = clf.trace_.path(clouds, sides)
    length = np.sqrt((W**2).sum(axis=1) + b**2)
    k = np.arange(1, len(length))
    right.plot(k, length[1:], color=style.POSITIVE, linewidth=0.9, label="$‖(w_k, b_k)‖$")
    reach = np.sqrt(((clouds**2).sum(axis=1) + 1).max())
    right.plot(k, reach * np.sqrt(k), color=style.NEGATIVE, linewidth=2, linestyle="--", label="$C\\sqrt{k}$")
    right.set(xscale="log", ylim=(0, 4 * length.max()))
    style.tidy(right, "updates $k$", "")
    right.legend(frameon=False)
    right.set_title("Two overlapping clouds", fontsize=style.NORMAL_FONT_POINTS)
    save(figure, "cycle.png")


if __name__ == "__main__":
    neuron()
    geometry()
    update()
    six_points_steps()
    six_points_runs()
    two_curves()
    learning_rate()
    orders()
    cycle()
