"""Points in the plane and the line that parts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import as_rows
from rosenblatt.data.labels import as_labels, encode_labels
from rosenblatt.exceptions import LabelError, ShapeError
from rosenblatt.geometry import decision, geometric_margin, normalise, signed_distance
from rosenblatt.plot import style
from rosenblatt.plot.plane import (
    Line,
    View,
    corners,
    cut,
    draw_band,
    draw_line,
    draw_points,
    draw_rings,
    segment,
    view_of,
)
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["boundary"]


def boundary(
    model: Any,
    X: Any,
    y: Any,
    *,
    ax: Axes | None = None,
    feature_names: tuple[str, str] | None = None,
    band: bool = True,
    shade: bool = True,
) -> Axes:
    """Draw rows with two features, and the line D = {f = 0} with its normal vector w.

    Points the model gets wrong are ringed. If it gets all of them right, dashed lines show how far the
    line is from the nearest point: the geometric margin γ.

    Parameters
    ----------
    model : fitted binary linear model, or (w, b)
        Anything with ``coef_`` of shape (1, 2), ``intercept_`` and ``classes_``; the second class is the
        positive one.
    X : array of shape (n, 2)
        The points.
    y : array of shape (n,)
        Their labels.
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.
    feature_names : pair of str, optional
        Labels for the axes; by default the names of a frame's columns, else x₁ and x₂.
    band, shade : bool
        Whether to draw the margin, and to tint the half-spaces.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rosenblatt.datasets import load_six_points
    >>> ax = boundary(([0.5, 1.0], 0.2), *load_six_points())
    >>> ax.get_xlabel()
    '$x_1$'
    """
    given, features = X, as_rows(X)
    if features.n_features != 2:
        shape = (features.n_rows, features.n_features)
        raise ShapeError(f"X has shape {shape}: this picture needs rows with two features, (n, 2)")
    X = features.native()
    X = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    names = feature_names or style.plane_names(features.names)
    w, b = _hyperplane(model)
    classes = _classes(model, y, len(X))
    sign = 2 * encode_labels(y, classes, len(X)) - 1
    # A model's own word on points that lie exactly on the line comes before f > 0.
    if hasattr(model, "predict"):
        predicted = 2 * encode_labels(model.predict(given), classes, len(X)) - 1
    else:
        predicted = np.where(decision(X, w, b) > 0, 1, -1)
    wrong = predicted != sign

    ax = style.axes(ax, (6.4, 4.6))
    line = (w, b) if w.any() else None
    view = view_of(X, line)
    ax.set(xlim=view[0], ylim=view[1], aspect="equal")
    draw_points(ax, X, sign, (style.of_class(classes[1]), style.of_class(classes[0])))
    if wrong.any():
        draw_rings(ax, X[wrong], len(X), "misclassified")
    if line is None:
        ax.set_title("w = 0: there is no boundary", fontsize=style.NORMAL)
    else:
        draw_line(ax, line, view)
        if band and len(X) and not wrong.any():
            draw_band(ax, line, float(geometric_margin(X, sign, *line).min()), view)
        if shade:
            _draw_sides(ax, line, view, X)
        _draw_normal(ax, line, view, X)
    style.tidy(ax, *names)
    style.legend_beside(ax)
    return ax


def _hyperplane(model: Any) -> tuple[Floats, float]:
    w, b = model if isinstance(model, tuple) else (model.coef_, model.intercept_)
    w = w.toarray() if hasattr(w, "toarray") else w  # sparsified
    w, b = np.asarray(w, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if w.size != 2 or b.size != 1:
        raise ShapeError(f"w has shape {w.shape} and b {b.shape}: a line has two weights and one bias")
    return w.ravel(), float(b.ravel()[0])


def _classes(model: Any, y: Any, n_rows: int) -> NDArray[Any]:
    """Return the negative and the positive class."""
    if hasattr(model, "classes_"):
        classes = np.asarray(model.classes_)
    else:
        _, classes = as_labels(y, n_rows)
        if set(classes.tolist()) <= {-1, 1}:
            classes = np.array([-1, 1])
    if len(classes) != 2:
        raise LabelError(f"this picture needs two classes, got {len(classes)}")
    return classes


def _draw_sides(ax: Axes, line: Line, view: View, X: Floats) -> None:
    """Tint the half-spaces, and put the sign of each into its emptiest corner."""
    rim = corners(view)
    middle, inset = np.mean(view, axis=1), 0.055 * np.ptp(view, axis=1).min()
    badges = rim + inset * np.sign(middle - rim)
    for side, text, colour in ((1, "+", style.POSITIVE), (-1, "−", style.NEGATIVE)):
        region = cut(rim, side * signed_distance(rim, *line))
        if len(region) < 3:
            continue
        ax.fill(*region.T, color=colour, alpha=0.09, linewidth=0, zorder=0)
        height = side * signed_distance(badges, *line)
        room = np.minimum(_clearance(badges, X), height)
        if room.max() > 0:
            x, y = badges[np.argmax(room)]
            disc: dict[str, Any] = {"boxstyle": "circle,pad=0.15", "facecolor": colour, "edgecolor": "none"}
            look: dict[str, Any] = {"color": "white", "weight": "bold", "ha": "center", "va": "center"}
            ax.text(x, y, text, fontsize=style.NORMAL, bbox=disc, zorder=3, **look)


def _draw_normal(ax: Axes, line: Line, view: View, X: Floats) -> None:
    """Draw w from the line, near its middle but where the label has room."""
    from matplotlib.patheffects import withStroke

    ends = segment(line, view)
    if ends is None:
        return
    unit, _ = normalise(*line)
    size = float(np.ptp(view, axis=1).min())
    shares = np.array([0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74])
    tails = ends[0] + np.outer(shares, ends[1] - ends[0])
    room = np.minimum(_clearance(tails + 0.2 * size * unit, X), _clearance(tails + 0.1 * size * unit, X))
    tail = tails[np.argmax(np.minimum(room, 0.08 * size))]  # the first that is good enough
    tip = tail + 0.16 * size * unit
    look = {"arrowstyle": "-|>,head_width=0.28,head_length=0.55", "color": style.INK, "linewidth": 1.8}
    ax.annotate("", tip, tail, arrowprops=look | {"shrinkA": 0, "shrinkB": 0}, zorder=6)
    x, y = (9 * unit).tolist()
    label = ax.annotate("$w$", tip, (x, y), textcoords="offset points", ha="center", va="center", zorder=6)
    label.set(fontsize=style.NORMAL + 2, path_effects=[withStroke(linewidth=3, foreground="white")])


def _clearance(places: Floats, X: Floats) -> Floats:
    """Return how far each place is from the nearest point."""
    nearest = [np.min(np.hypot(*(X - place).T), initial=np.inf) for place in places]
    return np.array(nearest)
