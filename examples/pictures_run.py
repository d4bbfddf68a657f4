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

VIEW = ((-2.56, 5.06), (-2.4, 2.85))
TURN = 5
"""Frames in which the line moves to its next place."""


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
    """Return the frames of a run: its end, then each mistake and the line turning to its next place."""
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
    # The end comes first: it is what a page shows while the rest loads, and what is printed.
    return [Frame(W[-1], b[-1], len(trace), None, last, 4000), *found]


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 0.005 else "0"


def point(x: np.ndarray) -> str:
    return f"({number(x[0])},\\ {number(x[1])})"


def draw(frame: Frame, errors: list[int], X: np.ndarray, y: np.ndarray, look: style.Colours) -> Image.Image:
    """Draw the plane above the words, large enough to be read on a phone."""
    figure = plt.figure(figsize=(6.4, 6.3), facecolor=look.paper)
    draw_plane(figure.add_axes((0.0, 0.3, 1.0, 0.7)), frame, X, y, look)
    draw_words(figure.add_axes((0.03, 0.0, 0.96, 0.28)), frame, errors, look)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]  # type: ignore[attr-defined]
    plt.close(figure)
    return Image.fromarray(np.ascontiguousarray(pixels))


def draw_plane(ax: Axes, frame: Frame, X: np.ndarray, y: np.ndarray, look: style.Colours) -> None:
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
    ax.scatter(*X[y > 0].T, marker="+", s=170, color=look.positive, linewidths=3.2, zorder=4)
    ax.scatter(*X[y < 0].T, s=95, facecolors=look.paper, edgecolors=look.negative, linewidths=2.6, zorder=4)


def arrow(ax: Axes, tail: np.ndarray, w: np.ndarray, look: style.Colours) -> None:
    unit = w / np.linalg.norm(w)
    tip = tail + 0.28 * w
    arrow: dict[str, Any] = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "color": look.ink, "lw": 2.2}
    ax.annotate("", tip, tail, arrowprops=arrow | {"shrinkA": 0, "shrinkB": 0}, zorder=5, annotation_clip=False)
    ax.text(*(tip + 0.2 * unit), "$w$", color=look.ink, fontsize=19, ha="center", va="center", zorder=5)


def draw_words(ax: Axes, frame: Frame, errors: list[int], look: style.Colours) -> None:
    """Write the weights, what happens, and how many points are on the wrong side."""
    ax.axis("off")
    w1, w2, b = (number(value) for value in (*frame.w, frame.b))
    place: dict[str, Any] = {"transform": ax.transAxes, "color": look.ink, "va": "top", "fontsize": 17}
    ax.text(0, 1.0, f"$w = ({w1},\\ {w2})$   $b = {b}$", **place)
    ax.text(0, 0.74, frame.text, linespacing=1.35, **place)
    missed = errors[frame.update]
    told = "Each point is on its side." if missed == 0 else f"Points not on their side: {missed} of {errors[0]}."
    ax.text(0, 0.22, told, **place | {"color": look.faint})


def write(name: str, look: style.Colours) -> Path:
    """Write the animation, and its first frame as a still picture."""
    X, y = clouds()
    clf = rb.Perceptron(order="cyclic").fit(X, y)
    W, b = clf.trace_.path(X, y)
    errors = [int(np.count_nonzero(y * (X @ w + bias) <= 0)) for w, bias in zip(W, b, strict=True)]
    shown = frames(clf, X, y)
    pictures = [draw(frame, errors, X, y, look) for frame in shown]
    # One palette for all frames, so that what does not move has the same bytes and is stored once.
    sheet = Image.new("RGB", (pictures[0].width, 4 * pictures[0].height))
    for at, picture in enumerate((pictures[0], pictures[2], pictures[len(pictures) // 2], pictures[-2])):
        sheet.paste(picture, (0, at * picture.height))
    palette = sheet.quantize(40, dither=Image.Dither.NONE)
    keep_exact(palette, look.paper)
    small = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    place = IMAGES / f"{name}.gif"
    times = [frame.milliseconds for frame in shown]
    small[0].save(place, save_all=True, append_images=small[1:], duration=times, loop=0, optimize=True)
    small[0].save(IMAGES / f"{name}.png", optimize=True)
    return place


def keep_exact(palette: Image.Image, colour: str) -> None:
    """Replace the entries of a palette near this colour by the colour itself: quantising had moved it a little."""
    wanted = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])
    entries = np.array(palette.getpalette()).reshape(-1, 3)
    apart = np.abs(entries - wanted).sum(axis=1)
    entries[apart <= max(16, apart.min())] = wanted
    palette.putpalette(entries.ravel().tolist())


if __name__ == "__main__":
    write("run", style.LIGHT)
    write("run_dark", style.DARK)
