"""A table of verdicts: every pair of classes, and each class against all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rosenblatt.certify.class_tables import ClassTables

COLOURS = {"separable": style.POSITIVE, "inseparable": style.NEGATIVE, "undecided": style.FAINT}
GAP = 0.25
"""Between the pairs and what is against the rest, in cells."""
WRITTEN = 24
"""Classes up to which each cell is written in; in more, its colour must do."""


def class_table(tables: ClassTables, ax: Axes | None) -> Axes:
    """Draw a cell for each verdict: its colour, and yes, no or ? in it."""
    from rosenblatt.certify.class_tables import MARKS

    labels = list(tables.rest)
    k = len(labels)
    place = {label: i for i, label in enumerate(labels)}
    side = min(0.62, 6.0 / k)
    ax = style.axes(ax, (max(3.6, side * (k + 3)), max(2.6, side * (k + 1.6))))
    cells = [(place[a], float(place[b]), each.verdict) for (a, b), each in tables.pairs.items()]
    cells += [(int(column), float(row), verdict) for row, column, verdict in cells]
    cells += [(place[a], k + GAP, each.verdict) for a, each in tables.rest.items()]
    size = min(style.NORMAL, 60 * side / 3)
    for row, column, verdict in cells:
        _draw_cell(ax, row, column, verdict, MARKS[verdict] if k <= WRITTEN else "", size)
    style.tidy(ax, "", "")
    ax.spines[:].set_visible(False)
    ax.set(xlim=(-0.5, k + GAP + 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
    look: dict[str, Any] = {"length": 0, "labelsize": size}
    ax.tick_params(top=False, bottom=False, labeltop=True, labelbottom=False, **look)
    names = [style.plain(label) for label in labels]
    turned = max(map(len, names)) > 5
    ax.set_xticks([*range(k), k + GAP], [*names, "rest"], rotation=30 if turned else 0)
    for text in ax.get_xticklabels():
        text.set(ha="left" if turned else "center", rotation_mode="anchor" if turned else "default")
    ax.set_yticks(range(k), names)
    ax.set_title("separable by a hyperplane?", fontsize=style.NORMAL)
    return ax


def _draw_cell(ax: Axes, row: int, column: float, verdict: str, text: str, size: float) -> None:
    from matplotlib.patches import Rectangle

    colour = COLOURS[verdict]
    strong = 0.5 if verdict == "inseparable" else 0.16  # what stands out is where classes overlap
    ax.add_patch(Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=colour, alpha=strong, linewidth=0))
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
    ax.text(column, row, text, color=style.INK, **look)
