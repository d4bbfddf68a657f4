"""A run: the mistakes of each pass, the path of the weights, and the learning curve."""

from __future__ import annotations

import os
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.atomic import write_whole
from rosenblatt.escaping import Html, html_frame, html_text
from rosenblatt.exceptions import Given, InputError, ParameterError, ShapeError
from rosenblatt.parameters import check_count, check_number
from rosenblatt.plot import style
from rosenblatt.plot.boundary import boundary, plane_rows
from rosenblatt.plot.plane import Line, View, view_of
from rosenblatt.rooms import find
from rosenblatt.rows.labels import encode_labels
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rosenblatt.learning.trace import Trace

MAX_DRAWN_WEIGHTS = 10
"""The most weights that are drawn."""
MOST_UPDATES = 600
"""Up to so many updates the weights after each are drawn."""
SAMPLED_UPDATES = 120
"""Of longer runs, the weights after so many updates, evenly spaced: more lines would hide each other."""


def trace(
    trace: Any,
    X: MatrixLike | None = None,
    y: ColumnLike | None = None,
    *,
    ax: Axes | None = None,
    feature_names: Any = None,
) -> Axes:
    """Draw the mistakes of each pass and, given the data, the weights after each update.

    Parameters
    ----------
    trace : Trace, or an estimator with ``trace_``, or a pipeline that ends with one
        The record of a run.
    X, y : arrays, optional
        Its training data. With them a second panel shows the weights and the bias.
    ax : matplotlib Axes, optional
        Where to draw; with X and y it is split in two. The default is a new figure.
    feature_names : sequence of str, optional
        Names for the weights instead of w₁, w₂, …

    Returns
    -------
    matplotlib Axes
        The panel of mistakes. The other one is the last of ``ax.figure.axes``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> run = SimpleNamespace(mistakes_per_pass=[3, 1, 0])
    >>> [int(bar.get_height()) for bar in trace(run).patches]
    [3, 1, 0]
    """
    trace, X = style.last_step(trace, X)
    trace = getattr(trace, "trace_", trace)
    if not hasattr(trace, "mistakes_per_pass"):
        raise InputError(f"{trace!r} has no trace to draw. Train it, and not with trace=None.")
    if (X is None) != (y is None):
        told = "To draw the weights pass both " + Given("X") + " and " + Given("y")
        raise ParameterError(told + ", or neither to draw the mistakes alone.")
    if X is None:
        ax = style.axes(ax, (6.4, 3.2))
        _draw_mistakes(ax, np.asarray(trace.mistakes_per_pass))
        return ax
    last = len(np.unique(trace.visit))
    updates = np.unique(
        np.linspace(0, last, (last if last <= MOST_UPDATES else SAMPLED_UPDATES) + 1).round().astype(int)
    )
    W, b = trace.path(X, y, at=updates)
    if np.ndim(b) > 1:
        raise InputError(
            f"this run trained {len(b[0])} machines, whose weights do not fit in one panel. Omit X and y to draw "
            "its mistakes alone."
        )
    ax = style.axes(ax, (6.4, 5.8))
    below = _split(ax)
    _draw_mistakes(ax, np.asarray(trace.mistakes_per_pass))
    _draw_weights(below, updates, np.asarray(W), np.asarray(b), feature_names)
    return ax


def _split(ax: Axes) -> Axes:
    """Shrink the Axes to their upper part and return new ones for the lower part."""
    figure: Any = ax.figure
    below: Axes
    spec = ax.get_subplotspec()
    if spec is None:  # without a grid
        box = ax.get_position()
        ax.set_position((box.x0, box.y0 + 0.68 * box.height, box.width, 0.32 * box.height))
        below = figure.add_axes((box.x0, box.y0, box.width, 0.5 * box.height))
    else:
        parts = spec.subgridspec(2, 1, height_ratios=(2, 3), hspace=0.1)
        ax.set_subplotspec(parts[0])
        below = figure.add_subplot(parts[1])
    return below


def _draw_mistakes(ax: Axes, counts: Any) -> None:
    passes = np.arange(1, counts.size + 1)
    style.tidy(ax, "pass", "mistakes")
    if counts.size <= 60:
        bars = ax.bar(passes, counts, width=0.7, color=style.POSITIVE)
        if counts.size <= 15:
            ax.bar_label(bars, fontsize=style.SMALL_FONT_POINTS, padding=2)
    else:
        ax.stairs(counts, np.arange(0.5, counts.size + 1), fill=True, color=style.POSITIVE)
    if counts.size <= 15:
        ax.set_xticks(passes)
    else:
        style.whole_ticks(ax)
    ax.set_xlim(0.4, max(counts.size, 1) + 0.6)
    positive = counts[counts > 0]
    if positive.size and counts.max() >= 100 and counts.max() >= 50 * positive.min():
        ax.set_yscale("symlog", linthresh=1)  # zero stays on the axis
        ax.yaxis.set_major_formatter("{x:g}")
        ax.set_ylim(0, 2 * counts.max())
    else:
        style.whole_ticks(ax, "y")
        ax.set_ylim(0, 1.15 * max(counts.max(initial=0), 1))


def _draw_weights(ax: Axes, updates: Any, W: Any, b: Any, names: Any) -> None:
    k, d = int(updates[-1]), W.shape[1]
    end = k + (0.8 if k <= 30 else 0.03 * k)  # room to see the last state
    updates = np.append(updates, end)
    width = 1.8 if k <= 60 else 1.2
    shown = np.sort(np.argsort(-np.abs(W[-1]), kind="stable")[:MAX_DRAWN_WEIGHTS])
    names = [f"$w_{{{j + 1}}}$" for j in range(d)] if names is None else names
    lines: list[tuple[Any, str, str, Any]] = []
    for j, colour in zip(shown, style.PALETTE, strict=False):
        lines.append((W[:, j], str(names[j]), colour, "-"))
    lines.append((b, "$b$", style.INK, "-" if k > 60 else (0, (2, 1.5))))
    for values, name, colour, dash in lines:
        values = np.append(values, values[-1])
        ax.step(updates, values, where="post", color=colour, linestyle=dash, linewidth=width, label=name)
    ax.axhline(0, color="#cccccc", linewidth=0.8, zorder=0)
    style.tidy(ax, "updates", "weights and bias")
    style.whole_ticks(ax)
    ax.set_xlim(0, end)
    notes = [f"{shown.size} of {d} weights: those largest at the end"] * (d > shown.size)
    if len(W) <= k:
        notes.append(f"after every {round(k / (len(W) - 1)):,} updates")
    if notes:
        note = "; ".join(notes)
        ax.set_title(note, fontsize=style.SMALL_FONT_POINTS, loc="left", color=style.FAINT)
    style.end_labels(ax, end, [(float(values[-1]), name, colour) for values, name, colour, _ in lines])


def learning_curve(curve: Any, *, ax: Axes | None = None) -> Axes:
    """Draw error rates against passes, and mark the pass with the lowest validation error.

    Training error that falls while validation error rises means overfitting; both high means underfitting.

    Parameters
    ----------
    curve : learning curve, or an estimator with ``curve_``, or a pipeline that ends with one
        An object with ``passes``, ``training``, ``validation`` (or None) and ``best`` (a pass, or None).
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> curve = SimpleNamespace(passes=[1, 2, 3], training=[0.3, 0.1, 0], validation=[0.3, 0.2, 0.25], best=2)
    >>> [line.get_label() for line in learning_curve(curve).get_lines()[:2]]
    ['training', 'validation']
    """
    curve, _ = style.last_step(curve)
    curve = getattr(curve, "curve_", curve)
    passes = np.asarray(getattr(curve, "passes", ()))
    if not passes.size:
        raise InputError(f"{curve!r} has no passes to draw: a fit has a learning curve, a stream has none.")
    ax = style.axes(ax, (6.4, 3.8))
    ends = []
    for name, marker, colour in (("training", "o", style.POSITIVE), ("validation", "s", style.NEGATIVE)):
        if getattr(curve, name) is None:
            continue
        errors = np.asarray(getattr(curve, name), dtype=np.float64)
        if errors.shape != passes.shape:
            raise ShapeError(f"{name} has {errors.size} error rates for {passes.size} passes")
        dots: dict[str, Any] = {"marker": marker, "markersize": 4.5} if passes.size <= 30 else {}
        ax.plot(passes, errors, color=colour, linewidth=1.8, label=name, **dots)
        ends.append((float(errors[-1]), name, colour))
    _scale(ax, passes)
    if curve.validation is not None and curve.best is not None:
        _mark_best(ax, passes, np.asarray(curve.validation), int(curve.best))
    style.end_labels(ax, float(passes[-1]), ends)
    return ax


def _scale(ax: Axes, passes: Any) -> None:
    style.tidy(ax, "pass", "error rate")
    style.whole_ticks(ax)
    ax.yaxis.set_major_formatter(lambda rate, _: f"{round(100 * rate, 6):g}%")
    room = 0.25 + min(0.02 * float(passes[-1] - passes[0]), 0.5)
    ax.set_xlim(passes[0] - room, passes[-1] + room)
    highest = max(float(np.max(line.get_ydata())) for line in ax.get_lines())
    ax.set_ylim(0 if highest else -0.005, 1.12 * highest or 0.1)
    ax.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    ax.set_axisbelow(True)


def _mark_best(ax: Axes, passes: Any, validation: Any, best: int) -> None:
    error = float(validation[np.flatnonzero(passes == best)[0]])
    ax.axvline(best, color=style.FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    ax.plot([best], [error], "o", markersize=11, markerfacecolor="none", color=style.INK, markeredgewidth=1.5)
    late = best > (passes[0] + passes[-1]) / 2
    ax.annotate(
        f"best: pass {best}, {error:.1%}",
        (best, ax.get_ylim()[1]),
        (-6 if late else 6, -3),
        textcoords="offset points",
        fontsize=style.SMALL_FONT_POINTS,
        ha="right" if late else "left",
        va="top",
    )


# A run that moves: every update as a frame of a GIF or a film, or a page to step through.


MOST_FRAMES = 200
LAST_FRAME_FACTOR = 4
"""How many times longer the last frame stays."""


MAX_SHOWN_BYTES = 2**25
"""The largest file that a notebook shows: it becomes a part of the notebook."""


class Animation(type(Path())):  # type: ignore[misc]  # a path of this system
    """The path of an animation; notebooks show the file itself, without a network."""

    def _repr_html_(self) -> str:
        """Return the file as a part of the page: a picture, a film, or a frame with the lab."""
        if not self.is_file() or self.stat().st_size > MAX_SHOWN_BYTES:
            return html_text(self)
        if self.suffix == ".html":
            return html_frame(self.read_text(encoding="utf-8"), 800, "The perceptron lab")
        held = b64encode(self.read_bytes()).decode("ascii")
        if self.suffix == ".gif":
            return Html(f'<img alt="{html_text(self.name)}" src="data:image/gif;base64,{held}">')
        return Html(f'<video controls loop src="data:video/mp4;base64,{held}"></video>')


def animate(
    trace: Any,
    X: MatrixLike,
    y: ColumnLike,
    path: str | os.PathLike[str],
    *,
    fps: float = 2.0,
    frames: int = MOST_FRAMES,
    feature_names: tuple[str, str] | None = None,
) -> Animation:
    """Write a run with two classes as an animation. A notebook shows it.

    Parameters
    ----------
    trace : Trace, or an estimator with ``trace_``
        The record of a run.
    X, y : arrays
        Its training data. A picture needs two features; a page takes any number of them.
    path : path
        The file. ``.gif`` is an animated picture, ``.mp4`` a film, for which ffmpeg must be installed, and
        ``.html`` the lab: one page without a network, with a slider, the arithmetic of each update and a proof.
    fps : float
        Frames a second.
    frames : int
        The most frames. A longer run is shown by updates that are evenly spaced.
    feature_names : pair of str, optional
        Labels for the axes; by default the names of a frame's columns, else x₁ and x₂.

    Returns
    -------
    Animation
        The path of the file, which notebooks show.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_or()
    >>> clf = rb.Perceptron(order="cyclic").fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     page = animate(clf, X, y, f"{folder}/or.html").read_text(encoding="utf-8")
    >>> "rosenblatt-run" in page
    True
    """
    place = Animation(path)
    if place.suffix not in (".gif", ".html", ".mp4"):
        raise ParameterError(
            f"path is {os.fspath(path)!r}; its name must end in .gif, .mp4 or .html.", parameter="path"
        )
    check_count("frames", frames, least=2)
    check_number("fps", fps, above=0)
    trace, X = style.last_step(trace, X)
    record = getattr(trace, "trace_", trace)
    if place.suffix == ".html":
        page: str = find("lab.run_page").page_of(trace, X, y)
        write_whole(place, page.encode("utf-8"))
        return place
    _write_film(place, record, X, y, fps, frames, feature_names)
    return place


def _write_film(
    place: Path, trace: Trace, X: MatrixLike, y: ColumnLike, fps: float, frames: int, names: Any
) -> None:
    from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter

    features = plane_rows(X)
    table = features.dense()
    if trace.scheme.kind != "binary" or len(trace.classes) != 2:
        raise InputError(f"This picture needs two classes, but the run has {len(trace.classes)}.")
    if place.suffix == ".mp4" and not FFMpegWriter.isAvailable():
        told = "A film needs ffmpeg, which is not installed. Install it, or write a .gif or .html."
        raise ParameterError(told, parameter="path", value=str(place))
    updates = len(trace)
    shown = np.unique(np.linspace(0, updates, min(frames, updates + 1)).round().astype(np.int64))
    W, b = trace.path(X, y, at=shown)
    plt = style.pyplot()
    figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    sides = 2 * encode_labels(y, trace.classes, len(table)) - 1
    view = view_of(table, (W[-1], float(b[-1])) if W[-1].any() else None)
    names = names or style.plane_names(features.names)

    def draw(k: int) -> None:
        ax.clear()
        _draw_frame(ax, trace, (table, y, sides), (W[k], float(b[k])), int(shown[k]), view, names)

    film = FuncAnimation(figure, draw, frames=[*range(len(shown)), *[len(shown) - 1] * (LAST_FRAME_FACTOR - 1)])
    kind: Any = PillowWriter if place.suffix == ".gif" else FFMpegWriter
    writer = kind(fps=fps)
    with TemporaryDirectory() as folder:
        made = Path(folder) / f"run{place.suffix}"
        film.save(made, writer=writer, dpi=100)
        write_whole(place, made.read_bytes())
    plt.close(figure)


def _draw_frame(
    ax: Any, trace: Trace, data: tuple[Floats, Any, Any], line: Line, k: int, view: View, names: Any
) -> None:
    table, y, sides = data
    boundary(line, table, y, ax=ax, feature_names=names, band=False, view=view, classes=trace.classes)
    if k == 0:
        ax.set_title("start", fontsize=style.NORMAL_FONT_POINTS, loc="left")
        return
    row = int(trace.index[k - 1])
    signed = float(sides[row] * trace.score[k - 1])
    ax.plot(*table[row], "o", markersize=26, color=style.HALO, zorder=1)
    text = f"update {k} of {len(trace)}, pass {trace.epoch[k - 1]}: row {row}, $y\\,f$ = {signed:.3g}"
    ax.set_title(text, fontsize=style.NORMAL_FONT_POINTS, loc="left")
