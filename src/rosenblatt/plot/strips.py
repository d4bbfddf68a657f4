"""Certificates on a line: one class above the other, by their one feature or the distance from the hyperplane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.geometry import signed_distance
from rosenblatt.plot import style
from rosenblatt.plot.hulls import draw_combination
from rosenblatt.plot.plane import draw_halos, draw_points, draw_rings
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rosenblatt.plot.evidence import Evidence


def draw_strips(ax: Axes, evidence: Evidence, names: Sequence[str]) -> Axes:
    """Draw two strips of rows, the positive class above, and what is between them or in both."""
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
    """Draw the hull of each class: from its least to its largest value."""
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
