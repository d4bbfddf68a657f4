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
HALO = "#F7E98A"
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


def panels(rows: int, size: tuple[float, float]) -> tuple[Axes, ...]:
    """Return Axes one below the other, with the same scale along, on a new figure of this size in inches."""
    figure, stacked = pyplot().subplots(rows, 1, figsize=size, layout="constrained", sharex=True)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return tuple(stacked)


def tidy(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Label the axes, and leave out lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(labelsize=SMALL, color=FAINT)
    ax.set_xlabel(xlabel, fontsize=NORMAL)
    ax.set_ylabel(ylabel, fontsize=NORMAL)


def legend_beside(ax: Axes) -> None:
    """Put the legend to the right of the picture."""
    look: dict[str, Any] = {"frameon": False, "fontsize": SMALL, "labelspacing": 0.85}
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), **look)


def of_class(label: Any) -> str:
    """Return what a class is called in a legend."""
    return "class " + {"-1": "−1", "1": "+1"}.get(str(label), plain(label))


def plain(text: Any) -> str:
    """Return text as matplotlib writes it out, dollars and all, instead of reading it as a formula."""
    return str(text).replace("$", r"\$")


def plane_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """Return what the axes of two features are called."""
    return ("$x_1$", "$x_2$") if names is None else tuple(map(plain, names))


def whole_ticks(ax: Axes, which: str = "x") -> None:
    """Put ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=8, integer=True, min_n_ticks=1)
    (ax.xaxis if which == "x" else ax.yaxis).set_major_locator(locator)


def end_labels(ax: Axes, x: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Name lines at their right ends, with (height, text, colour) for each; labels keep apart."""
    # In points, so that it is the same on any scale.
    points = ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    (low, high), at_end = (
        ax.transData.transform([(x, y) for y in ys])[:, 1] / points
        for ys in (ax.get_ylim(), [height for height, _, _ in ends])
    )
    # Lines that end at the same height are named from the top down.
    order = sorted(range(len(ends)), key=lambda i: (at_end[i], -i))
    heights = spread([at_end[i] for i in order], 1.3 * NORMAL, low, high)
    for i, at in zip(order, heights, strict=True):
        height, text, colour = ends[i]
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0}
        ax.annotate(
            text,
            (x, height),
            (14, at - at_end[i]),
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
