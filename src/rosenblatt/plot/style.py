"""The style of all pictures.

The colours are those of Okabe and Ito, which colour-blind people can tell apart. Classes also differ in their
markers, + and o as on a blackboard, so that nothing is lost in black and white. The lab page has the same colours
and marks, in ``web/src/palette.ts``; a test compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Colours(NamedTuple):
    """What each colour means, on pages of one brightness."""

    paper: str
    ink: str
    """Lines and text; what a run did, beside the bounds of it."""
    faint: str
    halo: str
    positive: str
    """The positive class and its side; the lower curve of a bound."""
    negative: str
    """The negative class and its side; the upper curve of a bound."""
    average: str
    pocket: str
    more: tuple[str, ...]
    """Classes after the first two."""

    @property
    def classes(self) -> tuple[str, ...]:
        """One for each class; of two, the first is the negative one."""
        return (self.negative, self.positive, *self.more)


LIGHT = Colours(
    paper="#FFFFFF",
    ink="#15191E",
    faint="#6B737C",
    halo="#F7E98A",
    positive="#0072B2",
    negative="#D55E00",
    average="#00795A",
    pocket="#A34A80",
    more=("#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933"),
)
DARK = Colours(
    paper="#14181E",
    ink="#F2F4F6",
    faint="#98A2AD",
    halo="#8A7A1E",
    positive="#56B4E9",
    negative="#F08A3C",
    average="#2FC79A",
    pocket="#E79AC4",
    more=("#00B486", "#E79AC4", "#F0E442", "#8F9BFF", "#C95F8E", "#B8B36A"),
)
MARKS = {
    "circle": "o",
    "plus": "P",
    "triangle": "^",
    "diamond": "D",
    "square": "s",
    "triangle down": "v",
    "pentagon": "p",
    "star": "*",
}
"""The mark of each class and matplotlib's name of it; of two classes, the first is the negative one."""

PAPER, INK, FAINT, HALO, POSITIVE, NEGATIVE, AVERAGE, POCKET, _ = LIGHT
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
    """Put the legend to the right of the picture, or into it where another picture is there."""
    look: dict[str, Any] = {"fontsize": SMALL_FONT_POINTS, "labelspacing": 0.85}
    right = ax.get_position().x1
    if any(other.get_position().x0 > right for other in ax.figure.axes):
        ax.legend(loc="best", framealpha=0.9, **look)
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, **look)


def last_step(model: Any, X: Any = None) -> tuple[Any, Any]:
    """Return the learner at the end of a pipeline, and rows as it gets them; others are returned as they are."""
    if not hasattr(model, "steps"):
        return model, X
    before = model[:-1]
    return model[-1], X if X is None or not before.steps else before.transform(X)


def of_code(code: int) -> tuple[str, str]:
    """Return the colour and the marker of a class; colours move one further with each round of the marks."""
    colours, marks = LIGHT.classes, tuple(MARKS.values())
    return colours[(code + code // len(marks)) % len(colours)], marks[code % len(marks)]


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


def darken(figure: Figure) -> None:
    """Recolour a figure for dark pages: each colour of `LIGHT` becomes that of `DARK`, and others become lighter.

    Images and what a colour map draws stay as they are.
    """
    from matplotlib import colors
    from matplotlib.collections import Collection
    from matplotlib.contour import ContourSet
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    known = dict(zip((*LIGHT[:-1], *LIGHT.more), (*DARK[:-1], *DARK.more), strict=True))

    def dark(colour: Any) -> Any:
        if isinstance(colour, str) and colour in ("none", "auto"):
            return colour
        red, green, blue, alpha = colors.to_rgba(colour)
        exact = known.get(colors.to_hex((red, green, blue)).upper())
        hue, saturation, value = colors.rgb_to_hsv((red, green, blue))
        if exact is not None:
            red, green, blue = colors.to_rgb(exact)
        elif saturation < 0.1:  # grey: black becomes white, white becomes the paper
            red = green = blue = 0.95 - 0.85 * value
        else:
            red, green, blue = colors.hsv_to_rgb((hue, min(saturation, 0.6), max(value, 0.85)))
        return (red, green, blue, alpha)

    def change(artist: Any, *names: str) -> None:
        artist.set(**{name: dark(getattr(artist, f"get_{name}")()) for name in names})

    effects: dict[int, Any] = {}
    figure.canvas.draw()
    for artist in figure.findobj():
        if isinstance(artist, Line2D):
            change(artist, "color", "markerfacecolor", "markeredgecolor")
        elif isinstance(artist, Patch):
            change(artist, "facecolor", "edgecolor")
        elif isinstance(artist, Collection) and (artist.get_array() is None or isinstance(artist, ContourSet)):
            face, edge = artist.get_facecolor(), artist.get_edgecolor()
            artist.set_array(None)
            artist.set(facecolor=[dark(each) for each in face], edgecolor=[dark(each) for each in edge])
        elif isinstance(artist, Text):
            change(artist, "color")
            for patch in (artist.get_bbox_patch(), getattr(artist, "arrow_patch", None)):
                if patch is not None:
                    change(patch, "facecolor", "edgecolor")
            effects |= {id(effect): effect for effect in artist.get_path_effects()}
    for effect in effects.values():  # several texts may share one
        look = getattr(effect, "_gc", {})
        if "foreground" in look:
            look["foreground"] = dark(look["foreground"])
