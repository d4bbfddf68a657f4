"""The style of all pictures.

The colours are those of Okabe and Ito, which colour-blind people can tell apart. Classes also differ in their
markers, + and o as on a blackboard, so that nothing is lost in black and white.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE = "#0072B2"
NEGATIVE = "#D55E00"
INK = "#222222"
PAPER = "#FFFFFF"
FAINT = "#767676"
HALO = "#F7E98A"
PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#882255", "#999933", "#332288", "#44AA99"),
)
"""For lines: Okabe and Ito's colours without the yellow, which is faint on white, and four of Paul Tol's."""

SMALL_FONT_POINTS, NORMAL_FONT_POINTS = 9.5, 11.0
"""Font sizes, in points."""


def pyplot() -> Any:
    """Return matplotlib.pyplot, or raise `ImportError` with the way to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("rosenblatt.plot needs matplotlib: pip install matplotlib") from error
    return plt


def axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given Axes, or those of a new figure of this size in inches."""
    return panels(1, size)[0] if ax is None else ax


def panels(rows: int, size: tuple[float, float]) -> tuple[Axes, ...]:
    """Return Axes one below the other, with a common x-axis, on a new figure of this size in inches."""
    figure, stacked = pyplot().subplots(rows, 1, figsize=size, layout="constrained", sharex=True, squeeze=False)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return tuple(stacked[:, 0])


def tidy(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Label the axes, and remove the upper and right spines."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(labelsize=SMALL_FONT_POINTS, color=FAINT)
    ax.set_xlabel(xlabel, fontsize=NORMAL_FONT_POINTS)
    ax.set_ylabel(ylabel, fontsize=NORMAL_FONT_POINTS)


def legend_beside(ax: Axes) -> None:
    """Put the legend to the right of the picture."""
    look: dict[str, Any] = {"frameon": False, "fontsize": SMALL_FONT_POINTS, "labelspacing": 0.85}
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), **look)


def of_class(label: Any) -> str:
    """Return the name of a class in a legend."""
    return "class " + {"-1": "−1", "1": "+1"}.get(str(label), plain(label))


def plain(text: Any) -> str:
    """Return text that matplotlib draws literally, without reading $ as the start of a formula."""
    return str(text).replace("$", r"\$")


def plane_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the axes for two features."""
    return ("$x_1$", "$x_2$") if names is None else tuple(map(plain, names))


def whole_ticks(ax: Axes, which: str = "x") -> None:
    """Put ticks only at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=8, integer=True, min_n_ticks=1)
    (ax.xaxis if which == "x" else ax.yaxis).set_major_locator(locator)


def end_labels(ax: Axes, x: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Label lines at their right ends by (height, text, colour), without overlaps."""
    # In points, so that it is the same on any scale.
    points = ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    (low, high), at_end = (
        ax.transData.transform([(x, y) for y in ys])[:, 1] / points
        for ys in (ax.get_ylim(), [height for height, _, _ in ends])
    )
    # Lines that end at the same height are labelled from the top down.
    order = sorted(range(len(ends)), key=lambda i: (at_end[i], -i))
    heights = spread([at_end[i] for i in order], 1.3 * NORMAL_FONT_POINTS, low, high)
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
            fontsize=NORMAL_FONT_POINTS,
            va="center",
            annotation_clip=False,
        )


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move sorted heights at least `gap` apart, each stack about its mean, between low and high."""

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
