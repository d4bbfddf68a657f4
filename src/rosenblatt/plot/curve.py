"""Training and validation error over the passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["learning_curve"]


def learning_curve(curve: Any, *, ax: Axes | None = None) -> Axes:
    """Draw error rates against passes, and mark the pass with the lowest validation error.

    Training error that falls while validation error rises is overfitting; both still high is underfitting.

    Parameters
    ----------
    curve : learning curve, or an estimator with ``curve_``
        Anything with ``passes``, ``training``, ``validation`` (or None) and ``best`` (a pass, or None).
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> curve = SimpleNamespace(passes=[1, 2, 3], training=[0.3, 0.1, 0], validation=[0.3, 0.2, 0.25], best=2)
    >>> [line.get_label() for line in learning_curve(curve).get_lines()[:2]]
    ['training', 'validation']
    """
    curve = getattr(curve, "curve_", curve)
    passes = np.asarray(getattr(curve, "passes", ()))
    if not passes.size:
        raise InputError(f"{curve!r} has no passes to draw: a learning curve is that of a fit, not of a stream.")
    ax = style.axes(ax, (6.4, 3.8))
    ends = []
    for name, marker, colour in (("training", "o", style.POSITIVE), ("validation", "s", style.NEGATIVE)):
        if getattr(curve, name) is None:
            continue
        errors = np.asarray(getattr(curve, name), dtype=np.float64)
        if errors.shape != passes.shape:
            raise ShapeError(f"{name} has {errors.size} error rates for {passes.size} passes")
        dots: dict[str, Any] = {"marker": marker, "markersize": 4.5} if passes.size <= 30 else {}
        ax.plot(passes, errors, color=colour, linewidth=1.8, label=name, **dots)
        ends.append((float(errors[-1]), name, colour))
    _scale(ax, passes)
    if curve.validation is not None and curve.best is not None:
        _mark_best(ax, passes, np.asarray(curve.validation), int(curve.best))
    style.end_labels(ax, float(passes[-1]), ends)
    return ax


def _scale(ax: Axes, passes: Any) -> None:
    style.tidy(ax, "pass", "error rate")
    style.whole_ticks(ax)
    ax.yaxis.set_major_formatter(lambda rate, _: f"{round(100 * rate, 6):g}%")
    room = 0.25 + min(0.02 * float(passes[-1] - passes[0]), 0.5)
    ax.set_xlim(passes[0] - room, passes[-1] + room)
    highest = max(float(np.max(line.get_ydata())) for line in ax.get_lines())
    ax.set_ylim(0 if highest else -0.005, 1.12 * highest or 0.1)
    ax.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    ax.set_axisbelow(True)


def _mark_best(ax: Axes, passes: Any, validation: Any, best: int) -> None:
    error = float(validation[np.flatnonzero(passes == best)[0]])
    ax.axvline(best, color=style.FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    ax.plot([best], [error], "o", markersize=11, markerfacecolor="none", color=style.INK, markeredgewidth=1.5)
    late = best > (passes[0] + passes[-1]) / 2
    ax.annotate(
        f"best: pass {best}, {error:.1%}",
        (best, ax.get_ylim()[1]),
        (-6 if late else 6, -3),
        textcoords="offset points",
        fontsize=style.SMALL,
        ha="right" if late else "left",
        va="top",
    )
