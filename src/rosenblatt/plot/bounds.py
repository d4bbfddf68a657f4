"""The mistakes of a run below every bound, and the cosine that the proof bounds from below."""

from __future__ import annotations

from math import floor, inf
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exceptions import InputError, NotSeparableError
from rosenblatt.plot import style
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rosenblatt.learning.trace import Trace
    from rosenblatt.theory.bound import Bound, Bounds
    from rosenblatt.theory.proof import ProofQuantities

MAX_CURVE_UPDATES = 1000
"""The most updates through which a curve is drawn, chosen evenly on the axis."""


def bounds(
    model: Any, X: MatrixLike, y: ColumnLike, *, ax: Axes | None = None, found: Bounds | None = None
) -> Axes:
    """Draw the mistakes of a run, update by update, below each bound that applies to it.

    Dashed bounds depend on the mistakes of the run; the others are known before the run. Mistakes are whole
    numbers, so bounds are rounded down.

    A new figure has a second panel with cos(w_k, w*), where w* is the normal of the widest hyperplane. A second
    line is the lower bound of the proof (Novikoff 1962), (<w₀, w*> + kηγ) / sqrt(‖w₀‖² + k(η²C² + 2ηm)). No cosine
    exceeds 1, so the run ends before this line reaches 1. The panel is missing if the rows are inseparable or
    lifted.

    Parameters
    ----------
    model : estimator, Pipeline or Trace
        A fitted perceptron of two classes, a pipeline that ends with one, or its trace, which has only the bounds
        that need no estimator.
    X, y : array-like, sequence
        Its training data.
    ax : matplotlib Axes, optional
        Where to draw the first panel alone. The default is a new figure with both.
    found : Bounds, optional
        The result of ``rosenblatt.bounds(X, y, model=model)``, if it is known.

    Returns
    -------
    matplotlib Axes
        The first panel. The other one is the last of ``ax.figure.axes``.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_or()
    >>> clf = rb.Perceptron(order="cyclic").fit(X, y)
    >>> ax = bounds(clf, X, y)
    >>> sorted(text.get_text() for text in ax.texts)[:2]
    ['10: losses at the soft margin, and 1 more', '14: least losses of all visits']
    """
    from rosenblatt.learning.trace import Trace
    from rosenblatt.theory.bounds import bounds as evaluate

    model, X = style.last_step(model, X)
    if isinstance(model, Trace):
        model = _as_model(model, y)
    found = evaluate(X, y, model=model) if found is None else found
    shown = [each for each in found.values() if each.limits == "mistakes" and each.observed is not None]
    shown = [each for each in shown if each.applies and each.value < inf]
    if not shown:
        raise InputError(f"No bound on mistakes applies to this run: {found['start'].reason}.")
    mistakes = len(model.trace_)
    if not mistakes:
        raise InputError(
            "This run made no mistake, so there is nothing to draw. rosenblatt.bounds lists its bounds."
        )
    most = found["start"].value
    quantities = None if ax is not None or most == inf else _quantities(model, X, y)
    if quantities is None:
        ax = style.axes(ax, (8.4, 3.6))
        _draw_mistakes(ax, mistakes, shown, mistakes * max(40.0, mistakes**0.55))  # room for the label
        ax.set_xlabel("updates $k$", fontsize=style.NORMAL_FONT_POINTS)
        return ax
    upper, lower = style.panels(2, (8.4, 5.6))
    _draw_mistakes(upper, mistakes, shown, max(4 * mistakes, 1.25 * most))
    _draw_cosine(lower, quantities, most)
    return upper


def _as_model(trace: Trace, y: ColumnLike) -> Any:
    """Return the attributes of an estimator that the bounds need, as far as its trace has them.

    The bounds hold for any run of equal steps whose updates all had y f ≤ m; here m is the largest y f.
    """
    from rosenblatt.rows.labels import encode_labels

    known = SimpleNamespace(trace_=trace)
    if trace.scheme.kind == "binary" and trace.mistakes is not None and len(trace):
        sides = 2.0 * encode_labels(y, trace.classes, trace.n_rows)[trace.index] - 1.0
        known.eta0 = float(trace.step[0])
        known.margin = max(0.0, float((sides * trace.score).max()))
    return known


def _quantities(model: Any, X: MatrixLike, y: ColumnLike) -> ProofQuantities | None:
    from rosenblatt.theory.proof import proof_quantities

    if hasattr(model, "lift_"):
        return None
    try:
        return proof_quantities(model.trace_, X, y, margin=float(getattr(model, "margin", 0.0)))
    except NotSeparableError:
        return None


def _draw_mistakes(ax: Axes, mistakes: int, shown: list[Bound], end: float) -> None:
    style.tidy(ax, "", "mistakes")
    ax.set(xscale="log", yscale="log", xlim=(0.9, end))
    names: dict[int, list[Bound]] = {}
    for each in shown:
        names.setdefault(floor(each.value), []).append(each)
    ax.set_ylim(0.9, 2 * max(mistakes, *names))
    k = _thinned(1, mistakes)
    ax.plot(k, k, color=style.INK, linewidth=2, label="mistakes", solid_capstyle="butt")
    ax.plot([mistakes], [mistakes], "o", color=style.INK, markersize=6, label="_end")
    many = f"{mistakes:,} mistake" + "s" * (mistakes != 1)
    ax.annotate(
        many,
        (mistakes, mistakes),
        (8, -4),
        textcoords="offset points",
        va="top",
        fontsize=style.NORMAL_FONT_POINTS,
    )
    ends = []
    for (value, called), colour in zip(names.items(), style.PALETTE, strict=False):
        dash = (0, (5, 2)) if called[0].name.startswith("rounds_") else "-"
        ax.axhline(
            value, color=colour, linewidth=1.6, linestyle=dash, label=", ".join(each.name for each in called)
        )
        more = f", and {len(called) - 1} more" * (len(called) > 1)
        ends.append((float(value), f"{_count(value)}: {called[0].title}{more}", colour))
    _plain_ticks(ax)
    style.end_labels(ax, end, ends)


def _draw_cosine(ax: Axes, found: ProofQuantities, most: float) -> None:
    """Draw cos(w_k, w*), and its least possible value up to where that is 1."""
    style.tidy(ax, "updates $k$", "cosine of $w_k$ and $w^*$")
    last = int(found.k[-1])
    k = _thinned(1, last)
    dots: dict[str, Any] = {"marker": "o", "markersize": 4} if last <= 30 else {}
    ax.plot(k, found.cosine[k], color=style.INK, linewidth=2, label="of the run", **dots)
    far = np.geomspace(1, max(most, 1), 300)
    # Steps are equal, so both lines are straight and can be extended beyond the run.
    inner = found.lower[0] + far * (found.lower[1] - found.lower[0])
    norm = found.upper[0] + far * (found.upper[1] - found.upper[0])
    least: Floats = inner / np.sqrt(norm)
    ax.plot(far, least, color=style.POSITIVE, linewidth=1.6, linestyle=(0, (5, 2)), label="at least")
    ax.plot([most], [1], "o", color=style.POSITIVE, markerfacecolor=style.PAPER, markersize=6, label="_most")
    text = f"1 at $k$ = {most:.3g}" if most < 1000 else f"1 at $k$ ≈ {_count(round(most))}"
    ax.annotate(text, (most, 1), (6, 7), textcoords="offset points", ha="right", fontsize=style.SMALL_FONT_POINTS)
    ax.axhline(1, color=style.FAINT, linewidth=0.8, zorder=0, label="_one")
    ax.set_ylim(min(0.0, 1.1 * float(np.nanmin([*least, *found.cosine[k]]))), 1.19)
    _plain_ticks(ax, "x")
    style.legend_beside(ax)


def _thinned(first: int, last: int) -> Any:
    return np.unique(np.geomspace(first, last, MAX_CURVE_UPDATES).round().astype(np.int64))


def _count(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{value:.3g}"


def _plain_ticks(ax: Axes, which: str = "xy") -> None:
    """Write 100, not 10², on axes with short numbers."""
    for axis in (ax.xaxis,) if which == "x" else (ax.xaxis, ax.yaxis):
        if axis.get_view_interval()[1] < 1e5:
            axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            axis.set_minor_formatter(lambda *_: "")
