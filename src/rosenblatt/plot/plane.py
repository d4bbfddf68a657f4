"""The elements of pictures of the plane: views, lines, hulls and points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rosenblatt.geometry import normalise, project
from rosenblatt.plot import style
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

View: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
Line: TypeAlias = tuple[Floats, float]

FEW_RINGS, MANY_RINGS = 60, 1000
MAX_SPAN_RATIO = 10
"""Both axes have the same scale unless points are spread so many times wider along one of them."""


def view_of(X: Floats, line: Line | None = None, *, equal: bool = True) -> View:
    """Return the limits of a picture of the points, and of the line if it is not too far away."""
    points = X if len(X) else np.zeros((1, 2))
    span = float(np.ptp(points, axis=0).max()) or 1.0
    if line is not None:
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        foot = project(middle, *line)
        if np.abs(foot - middle).max() < 1.2 * span:
            points = np.vstack([points, foot])
    low, high = points.min(axis=0), points.max(axis=0)
    spans = high - low
    if equal:
        spans[:] = spans.max() or 1.0
    else:
        spans[spans == 0.0] = 1.0
    half = np.maximum((high - low) / 2 + 0.17 * spans, 0.45 * spans)  # room at the rim, and not too slim
    middle = (low + high) / 2
    (x0, y0), (x1, y1) = (middle - half).tolist(), (middle + half).tolist()
    return (x0, x1), (y0, y1)


def segment(line: Line, view: View) -> Floats | None:
    """Return the two points where {f = 0} enters and leaves the view, or None if it misses it."""
    unit, _ = normalise(*line)
    along = np.array([-unit[1], unit[0]])
    start = project(np.mean(view, axis=1), *line)
    first, last = -np.inf, np.inf
    for at, step, (low, high) in zip(start, along, view, strict=True):
        if abs(step) < 1e-15:  # parallel to this side, as far as a picture shows
            if not low <= at <= high:
                return None
            continue
        enter, leave = sorted(((low - at) / step, (high - at) / step))
        first, last = max(first, enter), min(last, leave)
    return start + np.outer([first, last], along) if first < last else None


def corners(view: View) -> Floats:
    """Return the corners of a view in order."""
    return np.array([[view[0][i], view[1][j]] for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))])


def cut(polygon: Floats, height: Floats) -> Floats:
    """Return the part of a polygon where a linear function, with these values at its corners, is not negative."""
    kept: list[Floats] = []
    for i, corner in enumerate(polygon):
        before = i - 1
        if (height[before] < 0) != (height[i] < 0):
            share = height[before] / (height[before] - height[i])
            kept.append(polygon[before] + share * (corner - polygon[before]))
        if height[i] >= 0:
            kept.append(corner)
    return np.array(kept).reshape(-1, 2)


def convex_hull(X: Floats) -> Floats:
    """Return the corners of the convex hull of points, anticlockwise (Andrew 1979); of a segment, its two ends.

    Examples
    --------
    >>> convex_hull(np.array([[0, 0], [2, 0], [1, 0], [1, 1], [1, 3], [0, 0]])).tolist()
    [[0, 0], [2, 0], [1, 3]]
    """
    points = np.unique(X, axis=0)  # sorted from left to right
    if len(points) < 3:
        return points
    lower, upper = _chain(points.tolist()), _chain(points[::-1].tolist())
    return np.array(lower[:-1] + upper[:-1], dtype=points.dtype)


def _chain(points: list[list[float]]) -> list[list[float]]:
    """Return the points at which the lower rim of sorted points turns left."""
    chain: list[list[float]] = []
    for x, y in points:
        while len(chain) > 1:
            (x0, y0), (x1, y1) = chain[-2:]
            if (x1 - x0) * (y - y0) > (y1 - y0) * (x - x0):
                break
            chain.pop()
        chain.append([x, y])
    return chain


def size_of(n_points: int) -> float:
    """Return the area of a marker, which is small for many points."""
    return float(np.clip(4000 / max(n_points, 1), 10, 70))


def draw_points(ax: Axes, X: Floats, sign: Any, labels: tuple[str, str]) -> None:
    """Draw the points of both classes; `labels` names the positive class first."""
    size = size_of(len(X))
    plus: dict[str, Any] = {"s": 1.6 * size, "marker": "+", "c": style.POSITIVE}
    o: dict[str, Any] = {"s": size, "marker": "o", "facecolors": style.PAPER, "edgecolors": style.NEGATIVE}
    for side, label, look in ((1, labels[0], plus), (-1, labels[1], o)):
        ax.scatter(*X[sign == side].T, label=label, linewidths=0.22 * np.sqrt(size), zorder=4, **look)


def draw_rings(ax: Axes, X: Floats, n_points: int, label: str) -> None:
    """Ring some of `n_points` points; many rings are small, and very many are dots, so points stay visible."""
    size, width = (max(4 * size_of(n_points), 80), 1.2) if len(X) <= FEW_RINGS else (30.0, 0.7)
    ring: dict[str, Any] = {"marker": "o", "facecolors": "none", "edgecolors": style.INK, "linewidths": width}
    if len(X) > MANY_RINGS:
        size, ring = 2.0, {"marker": "o", "c": style.INK, "linewidths": 0}
    ax.scatter(X[:, 0], X[:, 1], s=size, label=label, zorder=5, **ring)


def draw_halos(ax: Axes, X: Floats, n_points: int, label: str) -> None:
    """Put some of `n_points` points on a light disc."""
    ax.scatter(X[:, 0], X[:, 1], s=5 * size_of(n_points), c=style.HALO, linewidths=0, label=label, zorder=2)


def draw_line(ax: Axes, line: Line, view: View, label: str = "boundary, $f(x) = 0$") -> None:
    """Draw {f = 0}, or write that it is not in view."""
    ends = segment(line, view)
    if ends is None:
        ax.set_title("the boundary lies outside this picture", fontsize=style.NORMAL_FONT_POINTS)
    else:
        ax.plot(*ends.T, color=style.INK, linewidth=2, label=label, zorder=3)


def draw_band(ax: Axes, line: Line, margin: float, view: View) -> None:
    """Draw the lines at the distance of the margin."""
    label = f"margin $\\gamma$ = {margin:.3g}"
    unit, bias = normalise(*line)
    for offset in (-margin, margin):
        ends = segment((unit, bias + offset), view)
        if ends is not None:
            ax.plot(*ends.T, color=style.INK, linewidth=1, linestyle=(0, (5, 4)), label=label, zorder=2)
            label = "_"  # one entry in the legend for both
