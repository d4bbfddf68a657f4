"""Values with names, side by side: the parts of a decision score, and the accuracy of probes and of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exceptions import ParameterError
from rosenblatt.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NUMBERED_CELLS = 400
"""Up to so many layers and probes, a picture of layers has the accuracy in each cell."""


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


def probes(trained: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of probes on rows that they have not seen.

    Of one matrix, each probe is a line: its accuracy with Wilson's interval, and that of its control tasks. A
    tick is where always predicting the larger side is. Of layers, each cell is a probe of a layer.

    Parameters
    ----------
    trained : Probes or ProbeLayers
        Trained with folds.
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.

    Returns
    -------
    matplotlib Axes
        The picture.

    Examples
    --------
    >>> import numpy as np
    >>> import rosenblatt as rb
    >>> X = np.random.default_rng(0).standard_normal((100, 4))
    >>> ax = rb.plot.probes(rb.Probes(controls=1).fit(X, {"first": X[:, 0] > 0, "second": X[:, 1] > 0}))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['first', 'second']
    """
    table = trained.table()
    if any(result.accuracy is None for result in table):
        told = "These probes were trained without folds, so their accuracy is not known. Set folds=5."
        raise ParameterError(told, parameter="trained")
    return _lines(table, ax) if table.layers is None else _cells(table, ax)


def _lines(table: Any, ax: Axes | None) -> Axes:
    ax = style.axes(ax, (6.8, 1.3 + 0.3 * len(table)))
    style.tidy(ax, "accuracy on rows left out", "")
    places = np.arange(len(table))
    low, high = (np.array([result.interval[end] for result in table]) for end in (0, 1))
    ax.hlines(places, low, high, color=style.POSITIVE, linewidth=2)
    ax.plot([result.accuracy for result in table], places, "o", color=style.POSITIVE, label="probe, 95 % interval")
    if table[0].control_accuracy is not None:
        low, high = (np.array([result.control_interval[end] for result in table]) for end in (0, 1))
        ax.hlines(places + 0.2, low, high, color=style.NEGATIVE, linewidth=1)
        control = [result.control_accuracy for result in table]
        ax.plot(control, places + 0.2, "D", color=style.NEGATIVE, markersize=4, label="control")
    majority = [result.majority for result in table]
    ax.plot(majority, places, "|", color=style.INK, markersize=12, label="always the larger side")
    ax.set_yticks(places, [style.plain(result.name) for result in table])
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.grid(axis="x", color=style.FAINT, alpha=0.25)
    style.legend_beside(ax)
    return ax


def _cells(table: Any, ax: Axes | None) -> Axes:
    layers, names = list(dict.fromkeys(table.layers)), list(dict.fromkeys(result.name for result in table))
    ax = style.axes(ax, (2.6 + 0.75 * len(layers), 1.5 + 0.32 * len(names)))
    values = np.array([result.accuracy for result in table]).reshape(len(layers), len(names)).T
    least = min(0.5, float(values.min()))
    ax.imshow(values, cmap="cividis", vmin=least, vmax=1.0, aspect="auto")
    if values.size <= MAX_NUMBERED_CELLS:
        for (y, x), value in np.ndenumerate(values):
            colour = style.PAPER if value < 0.45 * least + 0.55 else style.INK
            ax.text(x, y, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=style.SMALL_FONT_POINTS)
    ax.set_xticks(range(len(layers)), [style.plain(layer) for layer in layers], fontsize=style.SMALL_FONT_POINTS)
    ax.set_yticks(range(len(names)), [style.plain(name) for name in names], fontsize=style.SMALL_FONT_POINTS)
    ax.set_title("accuracy on rows left out", fontsize=style.NORMAL_FONT_POINTS, loc="left")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
