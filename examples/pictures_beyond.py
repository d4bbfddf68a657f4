"""Draw the pictures of the later chapters in ``docs/understand``: ``python examples/pictures_beyond.py``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from pictures import save, two_clouds
from pictures_understand import arrow, half_planes, points

import rosenblatt as rb
from rosenblatt.plot import style


def four_inequalities() -> None:
    """Draw why XOR has no line: two diagonals that cross, and weights that would have to lie in two places."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    X, y = rb.datasets.load_xor()
    for sign, colour in ((1, style.POSITIVE), (-1, style.NEGATIVE)):
        left.plot(*X[y == sign].T, color=colour, linewidth=2.2)
    left.plot(0.5, 0.5, "D", color=style.INK, markersize=8)
    left.annotate("$(½, ½)$ is in both hulls", (0.5, 0.5), (12, -4), textcoords="offset points", va="center")
    points(left, X, y, 110)
    left.set(xlim=(-0.3, 1.5), ylim=(-0.3, 1.3), aspect="equal", xticks=(0, 1), yticks=(0, 1))
    style.tidy(left, "$x_1$", "$x_2$")
    left.set_title("Points", fontsize=style.NORMAL_FONT_POINTS)
    right.fill([1, 3, 3, 1], [1, 1, 3, 3], color=style.POSITIVE, alpha=0.2)
    right.fill([-1, 2, -1], [-1, -1, 2], color=style.NEGATIVE, alpha=0.2)
    right.plot([1, 1], [-1, 3], color=style.POSITIVE, linewidth=1.5)
    right.plot([-1, 3], [1, 1], color=style.POSITIVE, linewidth=1.5)
    right.plot([-1, 2], [2, -1], color=style.NEGATIVE, linewidth=1.5, linestyle="--")
    right.text(
        2, 2, "$w_1 > 1$ and $w_2 > 1$", ha="center", color=style.POSITIVE, fontsize=style.NORMAL_FONT_POINTS
    )
    right.text(-0.15, -0.4, "$w_1 + w_2 < 1$", ha="center", color="#a34700", fontsize=style.NORMAL_FONT_POINTS)
    right.set(xlim=(-1, 3), ylim=(-1, 3), aspect="equal", xticks=range(-1, 4), yticks=range(-1, 4))
    style.tidy(right, "$w_1$", "$w_2$")
    right.set_title("Weights, with $b = -1$", fontsize=style.NORMAL_FONT_POINTS)
    save(figure, "four_inequalities.png")


def noisy() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    y = np.repeat([1, -1], 40)
    return (0.85 * rng.standard_normal((80, 2)) + y[:, None] * [1.0, 0.7]).round(2), y


def pocket() -> None:
    """Draw the errors after each update, with what the pocket holds, and both last lines."""
    X, y = noisy()
    clf = rb.PocketPerceptron(max_iter=5, averages=False, order="cyclic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
        last = rb.Perceptron(max_iter=5, order="cyclic", decide=False).fit(X, y)
    W, b = clf.trace_.path(X, y)
    errors = np.array([np.count_nonzero(y * (X @ w + bias) <= 0) for w, bias in zip(W, b, strict=True)])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    k = np.arange(len(errors))
    left.plot(k[1:], errors[1:], color=style.FAINT, linewidth=1, marker=".", label="errors after the update")
    best = np.minimum.accumulate(errors)
    left.step(k[1:], best[1:], where="post", color=style.POCKET, linewidth=2.5, label="errors of the pocket")
    left.legend(frameon=False)
    left.set_ylim(0)
    style.tidy(left, "updates", f"rows wrong, of {len(y)}")
    points(right, X, y, 40)
    looks = (("pocket", clf, "-", style.POCKET), ("after the last update", last, "--", style.INK))
    for name, model, dash, colour in looks:
        (w1, w2), bias = model.coef_[0], float(model.intercept_[0])
        wrong = np.count_nonzero(model.predict(X) != y)
        line: dict[str, Any] = {
            "color": colour,
            "linestyle": dash,
            "linewidth": 2.2,
            "label": f"{name}: {wrong} wrong",
        }
        right.axline((0, -bias / w2), slope=-w1 / w2, **line)
    right.set(xlim=(-3.4, 3.4), ylim=(-4, 3), aspect="equal")
    right.legend(frameon=False, fontsize=style.SMALL_FONT_POINTS, loc="lower left")
    style.tidy(right, "$x_1$", "$x_2$")
    save(figure, "pocket.png")


LINE = np.array([-2.0, -1.2, -0.5, 0.6, 1.1, 1.6, 2.2])
SIDES = np.array([-1, -1, -1, 1, -1, 1, 1])


def lifting() -> None:
    """Draw seven numbers, one on the wrong side, before and after it gets a coordinate of its own."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=(1.2, 1))
    odd = 4
    a = 0.7
    clf = rb.LiftedPerceptron(a=a, order="cyclic").fit(LINE[:, None], SIDES)
    table = np.column_stack([a * LINE, np.zeros(7)])
    table[odd, 1] = np.sqrt(1 - a * a)
    weights = np.array([a * clf.coef_[0, 0], np.sqrt(1 - a * a) * clf.lift_[odd]])
    view = ((-2.2, 2.2), (-1.0, 1.4))
    half_planes(left, weights, a * a * float(clf.intercept_[0]), view)
    left.axhline(0, color=style.FAINT, linewidth=0.8)
    left.plot([a * LINE[odd]] * 2, [0.08, 0.62], color=style.FAINT, linestyle=":", linewidth=1.5)
    points(left, table, SIDES)
    left.set(xlim=view[0], ylim=view[1])
    style.tidy(left, "$a\\,x$", "own coordinate of the fifth row")
    left.set_title("The fifth row is lifted", fontsize=style.NORMAL_FONT_POINTS)
    shares = np.linspace(0.05, 0.95, 19)
    runs = [rb.LiftedPerceptron(a=share, order="cyclic").fit(LINE[:, None], SIDES) for share in shares]
    right.plot(shares, [run.mistake_bound_ for run in runs], color=style.NEGATIVE, linewidth=2, label="bound")
    right.plot(shares, [run.n_mistakes_ for run in runs], "--", color=style.INK, linewidth=2, label="mistakes")
    right.set(yscale="log", xlim=(0, 1))
    style.tidy(right, "$a$", "mistakes")
    right.legend(frameon=False, loc="upper left")
    save(figure, "lifting.png")


def widest() -> None:
    """Draw the lines of many perceptrons between two clouds, and their margins beside the largest."""
    X, y = two_clouds()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
    best = rb.MaxMarginClassifier().fit(X, y)
    runs = [rb.Perceptron(random_state=seed).fit(X, y) for seed in range(300)]
    for clf in runs[:60]:
        (w1, w2), b = clf.coef_[0], float(clf.intercept_[0])
        left.axline((0, -b / w2), slope=-w1 / w2, color=style.FAINT, linewidth=0.5, alpha=0.5)
    (w1, w2), b = best.coef_[0], float(best.intercept_[0])
    left.axline((0, -b / w2), slope=-w1 / w2, color=style.PALETTE[2], linewidth=3)
    points(left, X, y, 45)
    rings: dict[str, Any] = {"s": 190, "facecolors": "none", "edgecolors": style.INK, "linewidths": 1.2}
    left.scatter(*best.support_vectors_.T, **rings)
    left.set(xlim=(-4.4, 4.8), ylim=(-3.6, 3.4), aspect="equal")
    style.tidy(left, "$x_1$", "$x_2$")
    margins = [rb.geometry.geometric_margin(X, y, clf.coef_[0], clf.intercept_[0]).min() for clf in runs]
    right.hist(margins, bins=np.linspace(0, 1.02 * best.margin_, 26), color=style.FAINT, alpha=0.7)
    right.axvline(best.margin_, color=style.PALETTE[2], linewidth=3)
    right.set_ylim(0, 62)
    label: dict[str, Any] = {"color": "#00654a", "ha": "right", "fontsize": style.NORMAL_FONT_POINTS}
    right.text(0.98 * best.margin_, 0.92, "the largest: $γ$", transform=right.get_xaxis_transform(), **label)
    style.tidy(right, "distance of the line from the nearest row", "of 300 perceptrons")
    save(figure, "widest.png")


def rings() -> tuple[np.ndarray, np.ndarray]:
    """Return points inside and outside an ellipse."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, (140, 2))
    value = X[:, 0] ** 2 + 2 * X[:, 1] ** 2
    keep = np.abs(value - 2.5) > 0.5
    return X[keep], np.where(value[keep] > 2.5, 1, -1)


def kernel_trick() -> None:
    """Draw an ellipse in the plane, and the line it is after the squares are taken."""
    X, y = rings()
    clf = rb.Perceptron().fit(X**2, y)
    (w1, w2), b = clf.coef_[0], float(clf.intercept_[0])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    across, up = np.meshgrid(*[np.linspace(-2.1, 2.1, 300)] * 2)
    height = w1 * across**2 + w2 * up**2 + b
    left.contourf(across, up, height, levels=[-1e9, 0, 1e9], colors=[style.NEGATIVE, style.POSITIVE], alpha=0.1)
    left.contour(across, up, height, levels=[0], colors=[style.INK], linewidths=1.8)
    points(left, X, y, 40)
    left.set(xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), aspect="equal")
    style.tidy(left, "$x_1$", "$x_2$")
    view = ((-0.2, 4.2), (-0.2, 4.2))
    half_planes(right, clf.coef_[0], b, view)
    points(right, X**2, y, 40)
    right.set(xlim=view[0], ylim=view[1], aspect="equal")
    style.tidy(right, "$x_1^2$", "$x_2^2$")
    save(figure, "kernel_trick.png")


def layers() -> None:
    """Draw XOR in the plane and in the plane of two neurons, OR and NAND."""
    X, y = rb.datasets.load_xor()
    hidden = np.column_stack([np.where(X @ [1, 1] > 0.5, 1, 0), np.where(X @ [-1, -1] > -1.5, 1, 0)])
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="constrained")
    view = ((-0.5, 1.5), (-0.5, 1.5))
    for b in (-0.5, -1.5):
        axes[0].axline((0, -b), slope=-1, color=style.INK, linewidth=1.8)
    arrow(axes[0], (0.1, 0.4), (0.3, 0.6))
    arrow(axes[0], (0.9, 0.6), (0.7, 0.4))
    axes[0].text(0.35, 0.68, "$h_1$: OR", fontsize=style.NORMAL_FONT_POINTS, ha="center")
    axes[0].text(0.62, 0.25, "$h_2$: NAND", fontsize=style.NORMAL_FONT_POINTS, ha="center")
    points(axes[0], X, y, 110)
    half_planes(axes[1], [1, 1], -1.5, view)
    points(axes[1], hidden, y, 110)
    axes[1].annotate("two points", (1, 1), (2, 14), textcoords="offset points", ha="center")
    for ax, names in ((axes[0], ("$x_1$", "$x_2$")), (axes[1], ("$h_1$", "$h_2$"))):
        ax.set(xlim=view[0], ylim=view[1], aspect="equal", xticks=(0, 1), yticks=(0, 1))
        style.tidy(ax, *names)
    axes[0].set_title("Two lines", fontsize=style.NORMAL_FONT_POINTS)
    axes[1].set_title("What two neurons say", fontsize=style.NORMAL_FONT_POINTS)
    _activations(axes[2])
    save(figure, "layers.png")


def _activations(ax: Axes) -> None:
    f = np.linspace(-4, 4, 400)
    ax.plot(f, np.where(f > 0, 1, -1), color=style.INK, linewidth=1.5, label="sign", linestyle="--")
    ax.plot(f, np.tanh(f), color=style.PALETTE[0], linewidth=2, label="tanh")
    ax.plot(f, 1 / (1 + np.exp(-f)), color=style.PALETTE[1], linewidth=2, linestyle="-.", label="logistic")
    ax.legend(frameon=False)
    style.tidy(ax, "$f$", "output")
    ax.set_title("Steps, hard and smooth", fontsize=style.NORMAL_FONT_POINTS)


if __name__ == "__main__":
    four_inequalities()
    pocket()
    lifting()
    widest()
    kernel_trick()
    layers()
