"""The parts of a decision score as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def explanation(row: Any, *, top: int = 10, ax: Axes | None = None) -> Axes:
    """Draw the parts of the decision score of one row as bars, the largest first, and the bias.

    Parameters
    ----------
    row : RowExplanation
        An element of what `rosenblatt.explain` returns.
    top : int
        The number of parts to draw; all others are one bar.
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.

    Returns
    -------
    matplotlib Axes
        The picture.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> model = rb.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> ax = rb.plot.explanation(rb.explain(model, [[2.0, -1.0]])[0])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x1 = 2', 'x2 = -1']
    """
    lines = [line for line in row.lines(top) if line[0] != "rounding"]
    ax = style.axes(ax, (6.8, 1.2 + 0.32 * max(len(lines), 1)))
    style.tidy(ax, "contribution", "")
    parts = [part for *_, part in lines]
    named = row.by == "feature"
    labels = [f"{name} = {value}" if named and value else name for name, value, *_ in lines]
    places = range(len(lines))
    ax.barh(places, parts, color=[style.POSITIVE if part > 0 else style.NEGATIVE for part in parts], height=0.7)
    ax.set_yticks(places, [style.plain(label) for label in labels])
    ax.invert_yaxis()
    ax.axvline(0, color=style.FAINT, linewidth=0.8, zorder=0)
    most = max(map(abs, parts), default=1.0) or 1.0
    for place, part in zip(places, parts, strict=True):
        side = 1 if part > 0 else -1
        ax.annotate(f"{part:+.3g}".replace("-", "−"), (part, place), (4 * side, 0), textcoords="offset points",
                    ha="left" if part > 0 else "right", va="center", fontsize=style.SMALL_FONT_POINTS)  # fmt: skip
    low, high = min([0.0, *parts]), max([0.0, *parts])
    ax.set_xlim(low - 0.18 * most * (low < 0) - 0.02 * most, high + 0.18 * most * (high > 0) + 0.02 * most)
    ax.set_title(style.plain(row.title), fontsize=style.NORMAL_FONT_POINTS, loc="left")
    return ax
