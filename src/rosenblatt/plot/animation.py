"""A run that moves: every update as a frame of a GIF or a film, or a page to step through."""

from __future__ import annotations

import os
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.atomic import write_whole
from rosenblatt.escaping import Html, html_frame, html_text
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.plot import style
from rosenblatt.plot.boundary import boundary, plane_rows
from rosenblatt.plot.plane import Line, View, view_of
from rosenblatt.rooms import find
from rosenblatt.rows.labels import encode_labels
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from rosenblatt.learning.trace import Trace

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
    X: Any,
    y: Any,
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
        raise ParameterError(f"path is {os.fspath(path)!r}; its name must end in .gif, .mp4 or .html.")
    if frames < 2 or not fps > 0.0:
        raise ParameterError(f"frames is {frames} and fps {fps}; there must be two frames, and fps above 0.")
    record = getattr(trace, "trace_", trace)
    if place.suffix == ".html":
        page: str = find("lab.run_page").page_of(trace, X, y)
        write_whole(place, page.encode("utf-8"))
        return place
    _write_film(place, record, X, y, fps, frames, feature_names)
    return place


def _write_film(place: Path, trace: Trace, X: Any, y: Any, fps: float, frames: int, names: Any) -> None:
    from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter

    features = plane_rows(X)
    table = features.dense()
    if trace.scheme.kind != "binary" or len(trace.classes) != 2:
        raise InputError(f"This picture needs two classes, but the run has {len(trace.classes)}.")
    if place.suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise ParameterError("A film needs ffmpeg, which is not installed. Install it, or write a .gif or .html.")
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
