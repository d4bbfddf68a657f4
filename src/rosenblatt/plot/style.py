"""How the pictures look, in one place.

The colours are Okabe and Ito's, which people who see colours differently can tell apart. Classes differ in
their marker as well, + and o as on a blackboard, so that nothing is lost in black and white.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE = "#0072B2"
NEGATIVE = "#D55E00"
INK = "#222222"
FAINT = "#767676"
PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#882255", "#999933", "#332288", "#44AA99"),
)
"""For lines: Okabe and Ito's colours, less a yellow that does not show on white, and four of Paul Tol's."""

SMALL, NORMAL, LARGE = 9.5, 11.0, 20.0
"""Font sizes, in points."""


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("rosenblatt.plot needs matplotlib: pip install rosenblatt[plot]") from error
    return plt


def axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes to draw on: the given ones, or those of a new figure of this size in inches."""
    plt = pyplot()
    if ax is None:
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    assert ax is not None
    return ax


def tidy(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Label the axes, and leave out lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(labelsize=SMALL, color=FAINT)
    ax.set_xlabel(xlabel, fontsize=NORMAL)
    ax.set_ylabel(ylabel, fontsize=NORMAL)


def whole_ticks(ax: Axes, which: str = "x") -> None:
    """Put ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=8, integer=True, min_n_ticks=1)
    (ax.xaxis if which == "x" else ax.yaxis).set_major_locator(locator)


def end_labels(ax: Axes, x: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Name lines at their right ends, with (height, text, colour) for each; labels keep apart."""
    points = ax.get_window_extent().height * 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    low, high = ax.get_ylim()
    scale = points / (high - low)
    # Lines that end at the same height are named from the top down.
    order = sorted(range(len(ends)), key=lambda i: (ends[i][0], -i))
    heights = spread([ends[i][0] for i in order], 1.3 * NORMAL / scale, low, high)
    for i, at in zip(order, heights, strict=True):
        height, text, colour = ends[i]
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0}
        ax.annotate(
            text,
            (x, height),
            (14, (at - height) * scale),
            textcoords="offset points",
            arrowprops=leader | {"relpos": (0, 0.5)},
            color=colour,
            fontsize=NORMAL,
            va="center",
            annotation_clip=False,
        )


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move sorted heights apart to at least `gap`, each stack about its own mean, between low and high."""

    def bottom(stack: list[float]) -> float:
        extent = gap * (len(stack) - 1)
        return max(min(sum(stack) / len(stack) - extent / 2, high - extent), low)

    stacks: list[list[float]] = []
    for height in heights:
        stacks.append([height])
        while len(stacks) > 1 and bottom(stacks[-2]) + gap * len(stacks[-2]) > bottom(stacks[-1]):
            top = stacks.pop()
            stacks[-1] = stacks[-1] + top
    return [bottom(stack) + gap * i for stack in stacks for i in range(len(stack))]
