"""Draw the run that the start page shows, as a moving picture: ``python examples/pictures_run.py``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from pictures import IMAGES
from PIL import Image

import rosenblatt as rb
from rosenblatt.geometry import signed_distance
from rosenblatt.plot import style
from rosenblatt.plot.plane import corners, cut, segment

VIEW = ((-1.9, 4.4), (-2.4, 2.85))
TURN = 5
"""Frames in which the line moves to its next place."""


@dataclass(frozen=True)
class Look:
    """The colours of one theme."""

    paper: str
    ink: str
    faint: str
    positive: str
    negative: str
    halo: str


LIGHT = Look("#ffffff", style.INK, style.FAINT, style.POSITIVE, style.NEGATIVE, style.HALO)
DARK = Look("#14181e", "#e8eaed", "#9aa0a6", "#56B4E9", "#F08A3C", "#8a7a1e")


def clouds() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(31)
    y = np.repeat([-1, 1], 12)
    X = 0.9 * rng.standard_normal((24, 2)) * [1.0, 0.7] + y[:, None] * [1.3, 1.0] + [0.8, 0.5]
    order = np.random.default_rng(131).permutation(24)
    return X.round(1)[order], y[order]


@dataclass(frozen=True)
class Frame:
    """One picture: the line, how many updates were made, the row in question, and how long it stays."""

    w: np.ndarray
    b: float
    update: int
    row: int | None
    text: str
    milliseconds: int


def frames(clf: rb.Perceptron, X: np.ndarray, y: np.ndarray) -> list[Frame]:
    """Return the frames of a run: each mistake, then the line turning to its next place."""
    trace = clf.trace_
    W, b = trace.path(X, y)
    found = [Frame(W[0], b[0], 0, None, "Start: $w = 0$, $b = 0$.\nNo line yet.", 1500)]
    for k, (row, score) in enumerate(zip(trace.index, trace.score, strict=True)):
        sign = "+" if y[row] > 0 else "−"
        mistake = f"Point ${point(X[row])}$ is {sign},\nbut $f(x) = {number(score)}$: a mistake."
        moved = f"So $w \\leftarrow w {'+' if y[row] > 0 else '-'} x$\nand $b \\leftarrow b {sign} 1$."
        found.append(Frame(W[k], b[k], k, row, mistake, 1400))
        if W[k].any():
            for share in np.linspace(0, 1, TURN + 2)[1:-1]:
                ease = share * share * (3 - 2 * share)
                w, bias = W[k] + ease * (W[k + 1] - W[k]), b[k] + ease * (b[k + 1] - b[k])
                found.append(Frame(w, bias, k + 1, row, moved, 70))
        found.append(Frame(W[k + 1], b[k + 1], k + 1, row, moved, 900))
    last = f"A whole pass without a mistake:\nseparated after {len(trace)} updates."
    return [*found, Frame(W[-1], b[-1], len(trace), None, last, 4500)]


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 0.005 else "0"


def point(x: np.ndarray) -> str:
    return f"({number(x[0])},\\ {number(x[1])})"


def draw(frame: Frame, errors: list[int], X: np.ndarray, y: np.ndarray, look: Look) -> Image.Image:
    figure, (plane, side) = plt.subplots(1, 2, figsize=(10, 5.2), width_ratios=(1.62, 1), facecolor=look.paper)
    figure.subplots_adjust(left=0.02, right=0.97, top=0.97, bottom=0.04, wspace=0.1)
    draw_plane(plane, frame, X, y, look)
    draw_side(side, frame, errors, look)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]  # type: ignore[attr-defined]
    plt.close(figure)
    return Image.fromarray(np.ascontiguousarray(pixels))


def draw_plane(ax: Axes, frame: Frame, X: np.ndarray, y: np.ndarray, look: Look) -> None:
    ax.set(xlim=VIEW[0], ylim=VIEW[1], aspect="equal", xticks=[], yticks=[], facecolor=look.paper)
    ax.spines[:].set_visible(False)
    if frame.w.any():
        rim = corners(VIEW)
        for sign, colour in ((1, look.positive), (-1, look.negative)):
            region = cut(rim, sign * signed_distance(rim, frame.w, frame.b))
            if len(region) > 2:
                ax.fill(*region.T, color=colour, alpha=0.13, linewidth=0, zorder=0)
        ends = segment((frame.w, frame.b), VIEW)
        if ends is not None:
            ax.plot(*ends.T, color=look.ink, linewidth=2.5, zorder=2)
            arrow(ax, ends.mean(axis=0), frame.w, look)
    if frame.row is not None:
        ax.scatter(*X[frame.row], s=850, color=look.halo, zorder=1, linewidths=0)
    ax.scatter(*X[y > 0].T, marker="+", s=110, color=look.positive, linewidths=2.6, zorder=4)
    ax.scatter(*X[y < 0].T, s=62, facecolors=look.paper, edgecolors=look.negative, linewidths=2.2, zorder=4)


def arrow(ax: Axes, tail: np.ndarray, w: np.ndarray, look: Look) -> None:
    unit = w / np.linalg.norm(w)
    tip = tail + 0.28 * w
    arrow: dict[str, Any] = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "color": look.ink, "lw": 2.2}
    ax.annotate("", tip, tail, arrowprops=arrow | {"shrinkA": 0, "shrinkB": 0}, zorder=5, annotation_clip=False)
    ax.text(*(tip + 0.2 * unit), "$w$", color=look.ink, fontsize=15, ha="center", va="center", zorder=5)


def draw_side(ax: Axes, frame: Frame, errors: list[int], look: Look) -> None:
    """Write the weights and what happens, above the number of points on their wrong side."""
    ax.axis("off")
    place: dict[str, Any] = {"transform": ax.transAxes, "color": look.ink, "va": "top"}
    w1, w2, b = (number(value) for value in (*frame.w, frame.b))
    ax.text(0, 1.0, "$f(x) = w_1 x_1 + w_2 x_2 + b$", fontsize=15, **place)
    for at, (name, value) in enumerate((("w_1", w1), ("w_2", w2), ("b", b))):
        ax.text(0, 0.87 - 0.085 * at, f"${name} = {value}$", fontsize=15, **place)
    ax.text(0, 0.58, frame.text, fontsize=13.5, linespacing=1.5, **place)
    lower = ax.inset_axes((0.0, 0.05, 1.0, 0.25), facecolor=look.paper)
    updates = range(1, len(errors))  # before the first update f = 0 everywhere
    heights = [errors[k] if k <= frame.update else 0 for k in updates]
    colours = [look.negative if k == frame.update else look.faint for k in updates]
    lower.bar(updates, heights, color=colours, width=0.75)
    lower.set(xlim=(0.4, len(errors) - 0.4), ylim=(0, max(errors[1:])), xticks=updates, yticks=[])
    lower.tick_params(colors=look.faint, labelsize=11, length=0)
    lower.spines[:].set_visible(False)
    lower.set_xlabel("updates", color=look.faint, fontsize=11)
    ax.text(0, 0.37, f"points not on their side: {errors[frame.update]}", fontsize=13.5, **place)


def write(name: str, look: Look) -> Path:
    """Write the animation, and its last frame as a still picture."""
    X, y = clouds()
    clf = rb.Perceptron(order="cyclic").fit(X, y)
    W, b = clf.trace_.path(X, y)
    errors = [int(np.count_nonzero(y * (X @ w + bias) <= 0)) for w, bias in zip(W, b, strict=True)]
    shown = frames(clf, X, y)
    pictures = [draw(frame, errors, X, y, look) for frame in shown]
    # One palette for all frames, so that what does not move has the same bytes and is stored once.
    sheet = Image.new("RGB", (pictures[0].width, 4 * pictures[0].height))
    for at, picture in enumerate((pictures[1], pictures[len(pictures) // 2], pictures[-3], pictures[-1])):
        sheet.paste(picture, (0, at * picture.height))
    palette = sheet.quantize(40, dither=Image.Dither.NONE)
    keep_exact(palette, look.paper)
    small = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    place = IMAGES / f"{name}.gif"
    times = [frame.milliseconds for frame in shown]
    small[0].save(place, save_all=True, append_images=small[1:], duration=times, loop=0, optimize=True)
    small[-1].save(IMAGES / f"{name}.png", optimize=True)
    return place


def keep_exact(palette: Image.Image, colour: str) -> None:
    """Replace the entries of a palette near this colour by the colour itself: quantising had moved it a little."""
    wanted = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])
    entries = np.array(palette.getpalette()).reshape(-1, 3)
    apart = np.abs(entries - wanted).sum(axis=1)
    entries[apart <= max(16, apart.min())] = wanted
    palette.putpalette(entries.ravel().tolist())


if __name__ == "__main__":
    write("run", LIGHT)
    write("run_dark", DARK)
