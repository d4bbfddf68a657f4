"""Draw the pictures of the README and the docs again: ``python examples/pictures.py``."""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.learning.trace import exact_curve
from rosenblatt.plot import style

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"


def save(figure: Figure, name: str) -> None:
    """Write a picture for light and one for dark pages, each with a palette of colours: a quarter of the bytes."""
    write(figure, IMAGES / name)
    style.darken(figure)
    write(figure, IMAGES / name.replace(".png", "_dark.png"))
    plt.close(figure)


def write(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=110)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(96)
    small.save(path, optimize=True)


def learning_curve() -> None:
    X, y = rb.datasets.make_separable(1000, 60, margin=0.05, flip=0.1, seed=2)
    clf = rb.Perceptron().fit(X[:150], y[:150])
    curve = exact_curve(clf.trace_, X[:150], y[:150], validation=(X[150:], y[150:]))
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    rb.plot.learning_curve(curve, ax=ax)
    save(figure, "learning_curve.png")


def three_in_a_row() -> None:
    """Draw what two schemes make of three clouds, the second between the others."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], 25)
    X = np.array([[-2.0, -1.0], [0.0, 0.0], [2.0, 1.0]])[y] + 0.32 * rng.standard_normal((75, 2))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained", sharey=True)
    titles = {"direct": "compared directly", "ovr": "one against the rest"}
    for ax, (multiclass, title) in zip(axes, titles.items(), strict=True):
        clf = rb.Perceptron(multiclass=multiclass)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf.fit(X, y)
        regions(ax, clf, X, y)
        passes = f"{clf.n_iter_:,} passes, {clf.stop_reason_!r}: {clf.score(X, y):.0%} right"
        ax.set_title(f"{title}\n{passes}", fontsize=style.NORMAL_FONT_POINTS)
    axes[1].set_ylabel("")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=style.SMALL_FONT_POINTS)
    save(figure, "three_in_a_row.png")


def regions(ax: plt.Axes, clf: rb.Perceptron, X: np.ndarray, y: np.ndarray) -> None:
    """Tint the plane by the class predicted, and draw the points; those predicted wrong are ringed."""
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    across, up = np.meshgrid(*np.linspace(low, high, 400).T)
    grid = clf.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    looks = [style.of_code(code) for code in range(len(clf.classes_))]
    levels = np.arange(len(clf.classes_) + 1) - 0.5
    ax.contourf(across, up, grid, levels=levels, colors=[colour for colour, _ in looks], alpha=0.14)
    for label, (colour, marker) in zip(clf.classes_, looks, strict=True):
        ax.scatter(*X[y == label].T, c=colour, marker=marker, s=28, label=f"class {label}", zorder=3)
    wrong = clf.predict(X) != y
    if wrong.any():
        ring = {"s": 90, "marker": "o", "facecolors": "none", "edgecolors": style.INK, "linewidths": 1.0}
        ax.scatter(*X[wrong].T, label="predicted wrong", zorder=4, **ring)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    style.tidy(ax, "$x_1$", "$x_2$")


def not_separable() -> None:
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal((0.9, 0.6), 0.9, (60, 2)), rng.normal((-0.9, -0.6), 0.9, (60, 2))])
    y = np.repeat([1, -1], 60)
    pocket = rb.PocketPerceptron(max_iter=3, averages=False, random_state=2)
    plain = rb.Perceptron(max_iter=3, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these three end on their limit
        voted = rb.VotedPerceptron(max_iter=3, random_state=2).fit(X, y)
        pocket.fit(X, y), plain.fit(X, y)
    lifted = rb.LiftedPerceptron().fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    left.scatter(*X[y > 0].T, marker="+", color=style.POSITIVE, s=45)
    left.scatter(*X[y < 0].T, marker="o", facecolor="none", edgecolor=style.NEGATIVE, s=25)
    x = np.linspace(-3.2, 3.2, 300)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    looks = {
        "last": (plain, ":", style.INK),
        "vote": (voted, "-", style.AVERAGE),
        "pocket": (pocket, "--", style.POCKET),
        "lifted": (lifted, "-.", style.PALETTE[5]),
    }
    for name, (clf, dashes, colour) in looks.items():
        height = clf.decision_function(grid).reshape(300, 300)
        left.contour(x, x, height, levels=[0], colors=[colour], linestyles=[dashes], linewidths=2)
        left.plot([], [], color=colour, linestyle=dashes, linewidth=2, label=name)
    left.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1))
    left.set_aspect("equal")
    style.tidy(left, "$x_1$", "$x_2$")
    coef, intercept = pocket.trace_.path(X, y)
    errors = [np.count_nonzero((X @ w + b > 0) != (y > 0)) for w, b in zip(coef, intercept, strict=True)]
    right.plot(errors, color=style.FAINT, linewidth=1, label="hypothesis")
    best = np.minimum.accumulate(errors)
    right.step(range(len(best)), best, where="post", color=style.POCKET, linewidth=2, label="pocket")
    right.legend(frameon=False)
    right.set_ylim(0)
    style.tidy(right, "updates", "errors on all 120 rows")
    save(figure, "not_separable.png")


def margins() -> None:
    X, y = two_clouds()
    outlier = X[0] * -0.28
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), sharex=True, sharey=True, layout="constrained")
    widest = rb.MaxMarginClassifier().fit(X, y)
    rb.plot.boundary(widest, X, y, ax=axes[0], shade=False)
    line(axes[0], rb.Perceptron(random_state=5).fit(X, y), "perceptron", style.PALETTE[2], "--")
    axes[0].set_title("The widest of all lines, and one a perceptron finds", fontsize=style.NORMAL_FONT_POINTS)
    rings(axes[0], widest.support_vectors_)
    X, y = np.vstack([X, outlier]), np.append(y, y[0])
    narrow = rb.MaxMarginClassifier().fit(X, y)
    rb.plot.boundary(narrow, X, y, ax=axes[1], shade=False)
    line(axes[1], rb.SoftMarginClassifier(alpha=0.05).fit(X, y), "soft margin", style.PALETTE[3], "-")
    rings(axes[1], narrow.support_vectors_)
    axes[1].set_title("One row more: a soft margin gives it up", fontsize=style.NORMAL_FONT_POINTS)
    for ax in axes:
        ax.legend(loc="lower left", fontsize=style.SMALL_FONT_POINTS, frameon=False)
        ax.set_ylim(-5.2, 3.2)
    save(figure, "margins.png")


def two_clouds() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    y = np.repeat([-1, 1], 14)
    return rng.standard_normal((28, 2)) * [1.0, 0.7] + y[:, None] * [1.7, 1.3], y


def line(ax: Axes, model: Any, name: str, color: str, dashes: str) -> None:
    (a, b), c = model.coef_[0], model.intercept_[0]
    ax.axline((0, -c / b), slope=-a / b, color=color, linestyle=dashes, linewidth=2, label=name)


def rings(ax: Axes, rows: np.ndarray) -> None:
    ax.scatter(*rows.T, s=170, facecolors="none", edgecolors=style.INK, linewidths=1.2, label="support vectors")


def ties() -> None:
    X, y = tied()
    save(rb.plot.certificate(rb.certify(X, y), X, y).get_figure(root=True), "ties.png")


def tied() -> tuple[np.ndarray, np.ndarray]:
    """Return rows that x₂ separates, but for three on the axis."""
    X = np.array([[0, 0], [1, 0], [2, 0], [0.5, 1], [1.5, 1.5], [2.5, 1], [0.5, -1], [1.5, -0.7]])
    return X, np.array([1, -1, 1, 1, 1, 1, -1, -1])


def margin_band() -> None:
    X, y = two_clouds()
    save(rb.plot.certificate(rb.certify(X, y, margin=True), X, y).get_figure(root=True), "margin_band.png")


def class_tables() -> None:
    """Draw the tables of iris and of digits."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 5), layout="constrained", width_ratios=(2, 3))
    iris, digits = load_iris(), load_digits()
    rb.plot.certificate(rb.certify(iris.data, iris.target_names[iris.target]), ax=left)
    rb.plot.certificate(rb.certify(digits.data, digits.target), ax=right)
    save(figure, "class_tables.png")


def bounds() -> None:
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(bias="radius", order="cyclic").fit(X, y)
    save(rb.plot.bounds(clf, X, y).get_figure(root=True), "bounds.png")


def examples() -> None:
    """Draw the pictures of the other examples."""
    for name in ("echo", "one_pass", "polynomial_boundaries", "six_points", "spirals", "xor_four_ways"):
        save(import_module(name).picture(), f"{name}.png")
    save(import_module("hulls").picture(), "xor_proof.png")
    mark_one = import_module("mark_one")
    save(mark_one.squares(), "mark_one_squares.png")
    save(mark_one.digits(), "mark_one_digits.png")


def scaling() -> None:
    """Draw what `benchmarks.scaling` measured: mixing in passes, and the simulation of a large cluster."""
    measured = json.loads((ROOT / "benchmarks" / "scaling.json").read_text())
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    kinds = {"separable": "64,000 rows", "few rows": "640 rows"}
    partitions = sorted({int(name.split()[-2]) for name in measured["curves"]})
    for (kind, name), color in zip(kinds.items(), style.PALETTE, strict=False):
        found = [measured["curves"][f"{kind}, {count} partitions"]["passes"] for count in partitions]
        left.plot(partitions, found, "o-", color=color)
        left.annotate(name, (partitions[2], found[2]), xytext=(0, 7), textcoords="offset points", ha="center")
    left.set_xscale("log", base=2)
    left.set_xticks(partitions, [f"{count}" for count in partitions])
    left.set_ylim(0, 45)
    style.tidy(left, "partitions", "passes until separated")
    for count, color in zip(partitions, style.PALETTE, strict=False):
        found = [100 * share for share in measured["curves"][f"noisy, {count} partitions"]["right"]]
        middle.plot(range(1, len(found) + 1), found, "o-", color=color, markersize=3)
        middle.annotate(f"{count}", (len(found), found[-1]), xytext=(6, -3), textcoords="offset points")
    style.tidy(middle, "pass", "% right on new rows, by partitions")
    workers, below = list(measured["simulation"]), np.zeros(len(measured["simulation"]))
    for part, color in zip(("training", "scheduling", "moving"), style.PALETTE, strict=False):
        heights = np.array([measured["simulation"][count][part] for count in workers])
        right.bar(workers, heights, bottom=below, color=color, label=part)
        below += heights
    for at, total in enumerate(below):
        right.annotate(f"{total:.1f} s", (at, total), xytext=(0, 4), textcoords="offset points", ha="center")
    right.legend(frameon=False)
    style.tidy(right, "workers (simulated)", "seconds of a pass over 10⁹ × 1,000")
    save(figure, "scaling.png")


if __name__ == "__main__":
    learning_curve()
    three_in_a_row()
    not_separable()
    margins()
    ties()
    margin_band()
    class_tables()
    bounds()
    examples()
    scaling()
