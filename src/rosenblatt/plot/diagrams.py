"""Neurons and networks as graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exceptions import ParameterError, ShapeError
from rosenblatt.plot import style
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NODES = 9
"""Layers with more neurons are drawn with a gap in the middle."""
ARROW: dict[str, Any] = {"arrowstyle": "-|>,head_width=0.22,head_length=0.45", "shrinkA": 0, "shrinkB": 0}


def neuron(
    w: Any, b: float = 0.0, x: Any = None, *, ax: Axes | None = None, names: Sequence[str] | None = None
) -> Axes:
    """Draw a neuron: its inputs, its weights, the sum and the answer.

    Parameters
    ----------
    w : array of shape (d,), or a fitted model with one hyperplane
        The weights; of a model, its ``coef_`` and ``intercept_``.
    b : float
        The bias, for an array.
    x : array of shape (d,), optional
        An input. With it the numbers are written into the picture; without it the symbols.
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.
    names : sequence of str, optional
        The names of the inputs. By default x₁, x₂, …

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = neuron([0.5, 2.0], 1.0, [1.5, -0.5])
    >>> [text.get_text().split()[0] for text in ax.texts[-2:]]
    ['sum', 'answer']
    """
    w, _ = style.last_step(w)
    if hasattr(w, "coef_"):
        if np.shape(w.coef_)[0] != 1:
            raise ShapeError(f"The model has {np.shape(w.coef_)[0]} hyperplanes; a neuron has one.")
        w, b = w.coef_[0], float(np.ravel(w.intercept_)[0])
    w = np.asarray(w, dtype=float)
    if w.ndim != 1 or not 1 <= len(w) <= MOST_NODES:
        raise ShapeError(f"w has the shape {w.shape}; pass one vector of 1 to {MOST_NODES} weights.")
    if names is not None and len(names) != len(w):
        raise ParameterError(f"names has {len(names)} names for {len(w)} weights.", parameter="names")
    if x is not None and np.shape(x) != w.shape:
        raise ShapeError(f"x has the shape {np.shape(x)} but w has {w.shape}: they must agree.")
    named = [f"$x_{j + 1}$" for j in range(len(w))] if names is None else [style.plain(each) for each in names]
    ax = style.axes(ax, (6.4, 0.75 * len(w) + 1.6))
    heights = np.linspace(1.0, -1.0, len(w) + 1) * (0.6 * len(w))
    entries = [f"{name} = {value:g}" for name, value in zip(named, x, strict=True)] if x is not None else named
    weights = (
        [f"$w_{j + 1}$ = {value:g}" for j, value in enumerate(w)]
        if x is not None
        else [f"$w_{j + 1}$" for j in range(len(w))]
    )
    look: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "fontsize": style.NORMAL_FONT_POINTS,
        "color": style.INK,
    }
    for height, entry, weight, size in zip(
        heights, [*entries, "1"], [*weights, f"$b$ = {b:g}" if x is not None else "$b$"], [*w, b], strict=True
    ):
        colour = style.POSITIVE if size >= 0 else style.NEGATIVE
        ax.text(0.0, height, entry, bbox=_disc(style.FAINT), **look)
        ax.annotate(
            "", (3.3, 0.35 * height), (0.9, height), arrowprops=ARROW | {"color": colour, "linewidth": 1.6}
        )
        ax.text(2.0, 0.68 * height + 0.24, weight, **look)
    f = None if x is None else float(w @ np.asarray(x, dtype=float) + b)
    answer = "sign" if f is None else f"answer\n${'+1' if f > 0 else '-1'}$"
    ax.annotate("", (6.1, 0.0), (5.1, 0.0), arrowprops=ARROW | {"color": style.FAINT, "linewidth": 1.6})
    ax.text(4.2, 0.0, "sum\n$f(x)$" if f is None else f"sum\n$f = {f:g}$", bbox=_disc(style.INK), **look)
    ax.text(6.9, 0.0, answer, bbox=_disc(style.INK), **look)
    rim = 0.6 * len(w) + 0.7
    ax.set(xlim=(-1.1, 7.9), ylim=(-rim, rim))
    ax.axis("off")
    return ax


def network(model: Any, *, ax: Axes | None = None, names: Sequence[str] | None = None) -> Axes:
    """Draw a network as a graph: a column for each layer, a line for each weight.

    Parameters
    ----------
    model : fitted network, or sequence of int
        With ``coefs_`` the lines show weights: blue excites, orange inhibits, and a wider line is a larger weight.
        A list such as [3, 4, 2] gives the number of neurons of each layer, the inputs first.
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.
    names : sequence of str, optional
        What stands below the layers. By default "input", "hidden" and "output".

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = network([3, 4, 2])
    >>> len(ax.lines), [text.get_text() for text in ax.texts]
    (20, ['input', 'hidden', 'output'])
    """
    weights: list[Floats] | None = None
    if hasattr(model, "coefs_"):
        weights = [np.asarray(each, dtype=float) for each in model.coefs_]
        sizes = [weights[0].shape[0], *(each.shape[1] for each in weights)]
    else:
        sizes = [int(each) for each in model]
    if len(sizes) < 2 or min(sizes) < 1:
        told = f"The layers {sizes} are no network. Pass two or more positive numbers."
        raise ParameterError(told, parameter="model", value=sizes)
    if names is not None and len(names) != len(sizes):
        raise ParameterError(f"names has {len(names)} names for {len(sizes)} layers.", parameter="names")
    below = names or ["input", *["hidden"] * (len(sizes) - 2), "output"]
    ax = style.axes(ax, (1.9 * len(sizes) + 0.6, 3.6))
    shown = [_shown(size) for size in sizes]
    top = max(len(each) for each in shown)
    places = [
        {i: (1.9 * layer, _height(k, len(each), size)) for k, i in enumerate(each)}
        for layer, (each, size) in enumerate(zip(shown, sizes, strict=True))
    ]
    for layer in range(len(sizes) - 1):
        block = None if weights is None else weights[layer]
        largest = 1.0 if block is None else float(np.abs(block).max()) or 1.0
        for i, start in places[layer].items():
            for j, end in places[layer + 1].items():
                size = 0.5 if block is None else float(block[i, j]) / largest
                colour = style.FAINT if block is None else style.POSITIVE if size >= 0 else style.NEGATIVE
                ax.plot(*zip(start, end, strict=True), color=colour, linewidth=0.3 + 2.0 * abs(size), zorder=1)
    for layer, (size, found) in enumerate(zip(sizes, places, strict=True)):
        ring = style.FAINT if layer == 0 else style.INK
        across, up = np.array(list(found.values())).T
        ax.scatter(across, up, s=230, facecolors=style.PAPER, edgecolors=ring, linewidths=1.6, zorder=3)
        if len(found) < size:
            ax.text(
                1.9 * layer,
                0.0,
                f"⋮ {size} ⋮",
                ha="center",
                va="center",
                fontsize=style.SMALL_FONT_POINTS,
                color=style.INK,
            )
        ax.text(
            1.9 * layer,
            -(top + 1) / 2 - 0.1,
            style.plain(below[layer]),
            ha="center",
            va="top",
            fontsize=style.NORMAL_FONT_POINTS,
            color=style.INK,
        )
    ax.set(xlim=(-0.7, 1.9 * (len(sizes) - 1) + 0.7), ylim=(-(top + 1) / 2 - 0.7, (top + 1) / 2))
    ax.axis("off")
    return ax


def _shown(size: int) -> list[int]:
    """Return the neurons of a layer that are drawn: all, or the first and the last few, with a gap between."""
    return list(range(size)) if size <= MOST_NODES else [*range(3), *range(size - 3, size)]


def _height(k: int, drawn: int, size: int) -> float:
    """Return the height of the k-th neuron that is drawn; where some are left out, the middle is free."""
    gap = 0.5 if drawn < size else 0.0
    return (drawn - 1) / 2 - k + (gap if k < drawn / 2 else -gap)


def _disc(colour: str) -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.5", "facecolor": style.PAPER, "edgecolor": colour, "linewidth": 1.6}
