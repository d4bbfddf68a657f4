"""Pictures of certificates: the hulls of both classes, and the point in both or what lies between.

Two features are drawn in the plane; one feature, or the distance from the hyperplane, as two strips on a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.geometry import signed_distance
from rosenblatt.plot import style
from rosenblatt.plot.plane import (
    View,
    convex_hull,
    corners,
    cut,
    draw_band,
    draw_halos,
    draw_line,
    draw_points,
    draw_rings,
    size_of,
    view_of,
)
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rosenblatt.plot.evidence import Evidence

ALIKE = 10
"""Both axes have the same scale unless points are spread so many times wider along one of them."""


def draw_hulls(ax: Axes, evidence: Evidence, names: Sequence[str]) -> Axes:
    """Draw the hulls of rows with two features, and the line between them or the point in both."""
    X, side = evidence.table, evidence.side
    shown = X[side != 0]
    if evidence.mirrored:
        shown = np.vstack([shown, evidence.point])
    spans = np.ptp(shown, axis=0)
    equal = spans.max() <= ALIKE * spans.min() or not spans.min()
    view = view_of(shown, evidence.plane, equal=bool(equal))
    ax.set(xlim=view[0], ylim=view[1], aspect="equal" if equal else "auto")
    _draw_hulls(ax, evidence)
    draw_points(ax, X, side, evidence.labels)
    _draw_idle(ax, evidence, view)
    if evidence.yes is not None:
        _draw_plane(ax, evidence, view)
    else:
        _draw_ties(ax, evidence, view)
        draw_combination(ax, X, evidence, [evidence.point])
    ax.set_title(evidence.title, fontsize=style.NORMAL)
    style.tidy(ax, *names)
    style.legend_beside(ax)
    return ax


def _draw_idle(ax: Axes, evidence: Evidence, view: View) -> None:
    """Draw the rows in view that take no part."""
    X = evidence.table[evidence.side == 0]
    low, high = np.transpose(view)
    X = X[((low <= X) & (X <= high)).all(axis=1)]
    if len(X):
        size = 0.5 * size_of(len(evidence.table))
        ax.scatter(X[:, 0], X[:, 1], s=size, c=style.FAINT, marker=".", label="take no part", zorder=1)


def _draw_hulls(ax: Axes, evidence: Evidence) -> None:
    X, side = evidence.table, evidence.side
    groups = [(X[side > 0], style.POSITIVE), (X[side < 0], style.NEGATIVE)]
    if evidence.mirrored:
        groups = [(X[side != 0], style.FAINT)]
    for points, colour in groups:
        if len(points):
            hull = convex_hull(points)
            ax.fill(*hull.T, color=colour, alpha=0.12, linewidth=0, zorder=0)
            ax.plot(*np.vstack([hull, hull[:1]]).T, color=colour, linewidth=1, alpha=0.6, zorder=1, label="_hull")


def _draw_plane(ax: Axes, evidence: Evidence, view: View) -> None:
    if evidence.plane is None:
        return
    draw_line(ax, evidence.plane, view)
    if evidence.gamma is not None:
        distance = signed_distance(corners(view), *evidence.plane)
        above = cut(corners(view), distance + evidence.gamma)
        band = cut(above, evidence.gamma - signed_distance(above, *evidence.plane))
        ax.fill(*band.T, color=style.INK, alpha=0.07, linewidth=0, zorder=0)
        draw_band(ax, evidence.plane, evidence.gamma, view)
        rows, what = evidence.ringed
        draw_rings(ax, evidence.table[rows], len(evidence.table), what)


def _draw_ties(ax: Axes, evidence: Evidence, view: View) -> None:
    if evidence.plane is not None:
        draw_line(ax, evidence.plane, view, "line with ties")
        draw_halos(ax, evidence.table[evidence.strict], len(evidence.table), "strictly on their side")


def draw_combination(ax: Axes, places: Floats, evidence: Evidence, points: Sequence[Floats]) -> None:
    """Draw the combined rows, with their weights, and the points where the combination is drawn."""
    rows, what = evidence.ringed
    targets = np.array(points)
    nearest = targets[[int(np.argmin(np.hypot(*(targets - places[row]).T))) for row in rows]]
    for start, end in zip(places[rows], nearest, strict=True):
        ax.plot(*np.array([start, end]).T, color=style.INK, linewidth=0.8, alpha=0.7, zorder=3, label="_share")
    draw_rings(ax, places[rows], len(places), what)
    label = "point in both hulls" if evidence.bias else "the origin"
    look: dict[str, Any] = {"marker": "D", "c": style.INK, "edgecolors": "white", "linewidths": 1}
    ax.scatter(targets[:, 0], targets[:, 1], s=75, label=label, zorder=7, **look)
    for row, end, text in zip(rows, nearest, evidence.weights, strict=True):
        side, away = int(evidence.side[row]), places[row] - end
        if evidence.plane is not None and evidence.n_features == 2:
            away = side * evidence.plane[0]  # off the line with ties, on which all these rows lie
        _write(ax, places[row], away, text, side)


def _write(ax: Axes, place: Floats, away: Floats, text: str, side: int) -> None:
    """Write a weight beside its row, in the direction `away`, or above or below if that is zero."""
    from matplotlib.patheffects import withStroke

    spans = np.ptp([ax.get_xlim(), ax.get_ylim()], axis=1)
    away = away / (spans if ax.get_aspect() == "auto" else spans.max())
    length = float(np.hypot(*away))
    across, up = (away / length if length > 1e-9 else np.array([0.0, side])).tolist()  # less is rounding
    colour = style.POSITIVE if side > 0 else style.NEGATIVE
    label = ax.annotate(
        text,
        (float(place[0]), float(place[1])),
        (15 * across, 15 * up),
        textcoords="offset points",
        ha="left" if across > 0.4 else "right" if across < -0.4 else "center",
        va="bottom" if up > 0.4 else "top" if up < -0.4 else "center",
        color=colour,
        fontsize=style.NORMAL + 1,
        zorder=8,
    )
    label.set_path_effects([withStroke(linewidth=3, foreground="white")])


def draw_strips(ax: Axes, evidence: Evidence, names: Sequence[str]) -> Axes:
    """Draw two strips of rows, the positive class above, and the threshold between them or the point in both."""
    single = evidence.n_features == 1
    side = evidence.side
    along = evidence.table[:, 0] if single else _distances(evidence)
    places = np.column_stack([along, side]).astype(np.float64)
    _draw_extents(ax, places, evidence)
    draw_points(ax, places, side, evidence.labels)
    if evidence.plane is not None:
        w, b = evidence.plane
        _draw_threshold(ax, float(-b / w[0]) if single else 0.0, evidence, single)
        if len(evidence.strict):
            draw_halos(ax, places[evidence.strict], len(places), "strictly on their side")
    if evidence.no is None:
        rows, what = evidence.ringed
        if len(rows):
            draw_rings(ax, places[rows], len(places), what)
    elif single:
        at = float(evidence.point[0])
        ax.plot([at, at], [-1, 1], color=style.INK, linewidth=0.8, linestyle=(0, (2, 2)), zorder=2, label="_point")
        draw_combination(ax, places, evidence, [np.array([at, 1.0]), np.array([at, -1.0])])
    ax.set_title(evidence.title, fontsize=style.NORMAL)
    style.tidy(ax, names[0], "")
    ax.set(ylim=(-2, 2), yticks=[])
    ax.spines["left"].set_visible(False)
    style.legend_beside(ax)
    return ax


def _distances(evidence: Evidence) -> Floats:
    assert evidence.plane is not None, "distances are from a hyperplane"
    return signed_distance(evidence.batch.native(), *evidence.plane)


def _draw_extents(ax: Axes, places: Floats, evidence: Evidence) -> None:
    """Draw the hull of each class, from its least to its largest value."""
    for side, colour in ((1, style.POSITIVE), (-1, style.NEGATIVE)):
        along = places[evidence.side == side, 0]
        if len(along):
            look: dict[str, Any] = {"color": colour, "alpha": 0.15, "solid_capstyle": "butt", "linewidth": 14}
            ax.plot([along.min(), along.max()], [side, side], zorder=0, label="_hull", **look)


def _draw_threshold(ax: Axes, at: float, evidence: Evidence, single: bool) -> None:
    name = "with ties" if evidence.ties is not None else ""
    label = f"{'threshold' if single else 'hyperplane'} {name}".rstrip()
    ax.axvline(at, color=style.INK, linewidth=2, zorder=3, label=label)
    if evidence.gamma is not None:
        ends = at - evidence.gamma, at + evidence.gamma
        ax.axvspan(*ends, color=style.INK, alpha=0.07, linewidth=0, zorder=0)
        for end, text in zip(ends, (f"margin $\\gamma$ = {evidence.gamma:.3g}", "_"), strict=True):
            ax.axvline(end, color=style.INK, linewidth=1, linestyle=(0, (5, 4)), zorder=2, label=text)
