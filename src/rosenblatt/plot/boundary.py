"""Points in the plane, and the line or the regions that a classifier makes there."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DataTypeError, LabelError, ParameterError, ShapeError, list_first
from rosenblatt.geometry import decision, geometric_margin, normalise, project, signed_distance
from rosenblatt.plot import style
from rosenblatt.plot.plane import (
    MAX_SPAN_RATIO,
    Line,
    View,
    corners,
    cut,
    draw_band,
    draw_line,
    draw_points,
    draw_rings,
    segment,
    size_of,
    view_of,
)
from rosenblatt.rows.features import Features, as_rows, number_columns
from rosenblatt.rows.labels import as_labels, encode_labels
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLACES_A_SIDE = 240
"""Places along each side of the picture for which regions are predicted."""


def boundary(
    model: Any,
    X: MatrixLike,
    y: ColumnLike,
    *,
    ax: Axes | None = None,
    feature_names: tuple[str, str] | None = None,
    band: bool = True,
    shade: bool = True,
    update: int | None = None,
    view: View | None = None,
    classes: Any = None,
) -> Axes:
    """Draw rows with two features, and the line D = {f = 0} with its normal vector w.

    Misclassified points are ringed. If there are none, dashed lines show the distance of the line from the nearest
    point: the geometric margin γ. A classifier without such a line, such as a pipeline, a kernel or one of several
    classes, is drawn as `regions` does.

    Parameters
    ----------
    model : fitted classifier, Trace, or (w, b)
        A line has ``coef_`` of shape (1, 2) and ``intercept_``; other classifiers have ``predict`` and
        ``classes_``. The second class is the positive one. A trace shows the line after `update` updates.
    X : array of shape (n, 2)
        The points.
    y : array of shape (n,)
        Their labels.
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.
    feature_names : pair of str, optional
        Labels for the axes; by default the names of a frame's columns, else x₁ and x₂.
    band, shade : bool
        Whether to draw the margin, and to tint the half-planes.
    update : int, optional
        The number of updates made, for a trace or a model with one: 0 is the start, -1 the end. X and y are then
        the training data.
    view : ((x0, x1), (y0, y1)), optional
        The limits of the picture. By default it shows all points, and the line if it is near.
    classes : pair, optional
        The negative and the positive class, for (w, b).

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rosenblatt.datasets import load_six_points
    >>> ax = boundary(([0.5, 1.0], 0.2), *load_six_points())
    >>> ax.get_xlabel()
    '$x_1$'
    """
    if update is not None:
        model, X = style.last_step(model, X)
    features = plane_rows(X)
    table = features.dense()
    model, classes = _hypothesis(model, X, y, update, classes)
    if not _is_line(model):
        return _draw_regions(model, X, y, ax, feature_names, shade=shade, view=view)
    w, b = _hyperplane(model)
    classes = _classes(model, y, len(table)) if classes is None else np.asarray(classes)
    sign = 2 * encode_labels(y, classes, len(table)) - 1
    # The model itself decides about points that lie exactly on the line.
    if hasattr(model, "predict"):
        predicted = 2 * encode_labels(model.predict(X), classes, len(table)) - 1
    else:
        predicted = np.where(decision(table, w, b) > 0, 1, -1)
    wrong = predicted != sign

    ax = style.axes(ax, (6.4, 4.6))
    line = (w, b) if w.any() else None
    scale = _scale_of(table) if view is None else np.ones(2)
    scaled_line = None if line is None else (w * scale, b)
    scaled_view = view_of(table / scale, scaled_line) if view is None else view
    (x0, x1), (y0, y1) = (np.array(scaled_view) * scale[:, None]).tolist()
    view = (x0, x1), (y0, y1)
    ax.set(xlim=view[0], ylim=view[1], aspect="equal" if scale.min() == scale.max() else "auto")
    draw_points(ax, table, sign, (style.of_class(classes[1]), style.of_class(classes[0])))
    if wrong.any():
        draw_rings(ax, table[wrong], len(table), "misclassified")
    if line is None or scaled_line is None:
        ax.set_title("w = 0: there is no boundary", fontsize=style.NORMAL_FONT_POINTS)
    else:
        draw_line(ax, line, view)
        if band and len(table) and not wrong.any():
            draw_band(ax, line, float(geometric_margin(table, sign, *line).min()), view)
        if shade:
            _draw_sides(ax, scaled_line, scaled_view, table / scale, scale)
        _draw_normal(ax, scaled_line, scaled_view, table / scale, scale)
    style.tidy(ax, *(feature_names or style.plane_names(features.names)))
    style.legend_beside(ax)
    return ax


def margins(
    model: Any,
    X: MatrixLike,
    y: ColumnLike,
    *,
    ax: Axes | None = None,
    feature_names: tuple[str, str] | None = None,
) -> Axes:
    """Draw the distance of every row from a line, with its geometric margin; the smallest one is bold.

    The geometric margin is y·f(x)/‖w‖. It is negative for a row on the wrong side. With a pipeline, rows and
    distances are those that its last step gets.

    Parameters
    ----------
    model : fitted classifier of two classes with a line, or (w, b)
        As for `boundary`.
    X, y, ax, feature_names
        As for `boundary`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rosenblatt.datasets import load_six_points
    >>> ax = margins(([0.5, 1.0], 0.2), *load_six_points())
    >>> [text.get_text() for text in ax.texts if text.get_text().startswith("0.1")]
    ['0.179']
    """
    model, X = style.last_step(model, X)
    if not _is_line(model):
        told = "margins needs one line. Pass a linear model of two classes, or (w, b)."
        raise ParameterError(told, parameter="model")
    w, b = _hyperplane(model)
    if not w.any():
        raise ParameterError("w = 0 has no line, so that no row has a distance from it.", parameter="model")
    table = plane_rows(X).dense()
    classes = _classes(model, y, len(table))
    sign = 2 * encode_labels(y, classes, len(table)) - 1
    ax = boundary(model, X, y, ax=ax, feature_names=feature_names, band=False)
    sizes, feet = geometric_margin(table, sign, w, b), project(table, w, b)
    for place, foot, size in zip(table, feet, sizes, strict=True):
        least = size == sizes.min()
        stroke: dict[str, Any] = {"linewidth": 2.2 if least else 1.1, "linestyle": "-" if least else "--"}
        ax.plot(*np.array([place, foot]).T, color=style.INK if least else style.FAINT, zorder=2, **stroke)
        look: dict[str, Any] = {"fontsize": style.SMALL_FONT_POINTS, "color": style.INK, "zorder": 6}
        look |= {"textcoords": "offset points", "weight": "bold" if least else "normal"}
        ax.annotate(f"{size:.3g}", tuple((place + foot) / 2), (5, 3), **look)
    return ax


def regions(
    model: Any,
    X: MatrixLike,
    y: ColumnLike,
    *,
    ax: Axes | None = None,
    feature_names: tuple[str, str] | None = None,
) -> Axes:
    """Draw rows with two features on the regions that a classifier predicts; misclassified rows are ringed.

    This is for several classes, kernels and networks; `boundary` shows more of one line between two classes.

    Parameters
    ----------
    model : fitted classifier
        A model with ``predict`` and ``classes_``.
    X, y, ax, feature_names
        As for `boundary`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_xor()
    >>> ax = regions(rb.KernelPerceptron("poly").fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['class +1', 'class −1']
    """
    return _draw_regions(model, X, y, ax, feature_names)


def _draw_regions(
    model: Any,
    X: MatrixLike,
    y: ColumnLike,
    ax: Axes | None,
    feature_names: tuple[str, str] | None,
    *,
    shade: bool = True,
    view: View | None = None,
) -> Axes:
    features = plane_rows(X)
    table = features.dense()
    classes = np.asarray(model.classes_)
    codes = encode_labels(y, classes, len(table))
    wrong = encode_labels(model.predict(X), classes, len(table)) != codes
    ax = style.axes(ax, (6.4, 4.6))
    (x0, x1), (y0, y1) = view_of(table, equal=False) if view is None else view
    across, up = np.meshgrid(np.linspace(x0, x1, PLACES_A_SIDE), np.linspace(y0, y1, PLACES_A_SIDE))
    places = np.column_stack([across.ravel(), up.ravel()])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        leads = _leads(model, places, classes)
    _tint(ax, across, up, leads, shade=shade)
    ax.set(xlim=(x0, x1), ylim=(y0, y1))
    signed = len(classes) == 2 or -1 in classes.tolist()  # else 1 is a number, and no sign
    labels = [style.of_class(each) if signed else f"class {style.plain(each)}" for each in classes.tolist()]
    if len(classes) == 2:
        draw_points(ax, table, 2 * codes - 1, (labels[1], labels[0]))
    else:
        _draw_classes(ax, table, codes, labels)
    if wrong.any():
        draw_rings(ax, table[wrong], len(table), "misclassified")
    style.tidy(ax, *(feature_names or style.plane_names(features.names)))
    style.legend_beside(ax)
    return ax


def plane_rows(X: MatrixLike) -> Features:
    """Return rows with two features that are numbers; raise `DataTypeError` or `ShapeError` for others."""
    try:
        features = as_rows(X)
    except DataTypeError as error:
        numbers = number_columns(X)
        if numbers is None:
            raise
        if len(numbers) > 1:
            named = list_first([*map(repr, numbers)])
            told = f"{named} hold numbers: train a model on two of these, and draw that."
        else:
            only = f"Only {numbers[0]!r}" if numbers else "No column"
            told = f"{only} holds numbers; rb.explain shows what columns of any kind add to a score."
        raise DataTypeError("This picture needs two features that are numbers. " + told) from error
    if features.n_features != 2:
        shape = (features.n_rows, features.n_features)
        raise ShapeError(f"X has shape {shape}: this picture needs rows with two features, (n, 2)")
    return features


def _hypothesis(model: Any, X: MatrixLike, y: ColumnLike, update: int | None, classes: Any) -> tuple[Any, Any]:
    """Return the model or line to draw, and its classes if they are known."""
    from rosenblatt.learning.trace import Trace

    if update is None and not isinstance(model, Trace):
        return model, classes
    trace = getattr(model, "trace_", model)
    if not isinstance(trace, Trace):
        raise ParameterError(
            f"update is {update}, but {type(model).__name__} has no trace. Pass a trace.",
            parameter="update",
            value=update,
        )
    last = len(np.unique(trace.visit))
    k = last if update is None else update + (last + 1) * (update < 0)
    if not 0 <= k <= last:
        raise ParameterError(
            f"update is {update}, but this run made {last} updates.", parameter="update", value=update
        )
    W, b = trace.path(X, y, at=[k])
    if np.ndim(b) > 1:
        raise LabelError(
            f"This picture needs two classes, but the run has {len(trace.classes)}. Pass the classifier without "
            "update, or use plot.regions."
        )
    return (W[0], b[0]), trace.classes


def _is_line(model: Any) -> bool:
    """Return whether a model is one line; raise `ParameterError` for what is no classifier either."""
    if isinstance(model, tuple):
        return True
    if not hasattr(model, "predict") or not hasattr(model, "classes_"):
        if hasattr(model, "coef_") and hasattr(model, "intercept_"):
            return True
        raise ParameterError(
            f"model is a {type(model).__name__}. Pass a fitted classifier, the trace of one, or a pair (w, b).",
            parameter="model",
        )
    return hasattr(model, "coef_") and np.shape(model.coef_)[0] == 1 == np.size(model.intercept_)


def _hyperplane(model: Any) -> tuple[Floats, float]:
    w, b = model if isinstance(model, tuple) else (model.coef_, model.intercept_)
    w = w.toarray() if hasattr(w, "toarray") else w  # sparsified
    w, b = np.asarray(w, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if w.size != 2 or b.size != 1:
        raise ShapeError(f"w has shape {w.shape} and b {b.shape}: a line has two weights and one bias")
    return w.ravel(), float(b.ravel()[0])


def _classes(model: Any, y: ColumnLike, n_rows: int) -> NDArray[Any]:
    """Return the negative and the positive class."""
    if hasattr(model, "classes_"):
        classes = np.asarray(model.classes_)
    else:
        _, classes = as_labels(y, n_rows)
        if set(classes.tolist()) <= {-1, 1}:
            classes = np.array([-1, 1])
    if len(classes) != 2:
        raise LabelError(f"this picture needs two classes, got {len(classes)}")
    return classes


def _scale_of(X: Floats) -> Floats:
    """Return the units of both axes: the spans of the points where they differ widely, else 1."""
    spans = np.ptp(X, axis=0) if len(X) else np.ones(2)
    return spans if spans.max() > MAX_SPAN_RATIO * spans.min() > 0 else np.ones(2)


def _draw_sides(ax: Axes, line: Line, view: View, X: Floats, scale: Floats) -> None:
    """Tint the half-planes, and put the sign of each into its emptiest corner."""
    rim = corners(view)
    middle, inset = np.mean(view, axis=1), 0.055 * np.ptp(view, axis=1).min()
    badges = rim + inset * np.sign(middle - rim)
    for side, text, colour in ((1, "+", style.POSITIVE), (-1, "−", style.NEGATIVE)):
        region = cut(rim, side * signed_distance(rim, *line))
        if len(region) < 3:
            continue
        ax.fill(*(region * scale).T, color=colour, alpha=0.09, linewidth=0, zorder=0)
        room = np.minimum(_clearance(badges, X), side * signed_distance(badges, *line))
        if room.max() > 0:
            x, y = badges[np.argmax(room)] * scale
            disc: dict[str, Any] = {"boxstyle": "circle,pad=0.15", "facecolor": colour, "edgecolor": "none"}
            look: dict[str, Any] = {"color": "white", "weight": "bold", "ha": "center", "va": "center"}
            ax.text(x, y, text, fontsize=style.NORMAL_FONT_POINTS, bbox=disc, zorder=3, **look)


def _draw_normal(ax: Axes, line: Line, view: View, X: Floats, scale: Floats) -> None:
    """Draw w from the line, near its middle but where its label has room."""
    from matplotlib.patheffects import withStroke

    ends = segment(line, view)
    if ends is None:
        return
    unit, _ = normalise(*line)
    size = float(np.ptp(view, axis=1).min())
    shares = np.array([0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74])
    tails = ends[0] + np.outer(shares, ends[1] - ends[0])
    room = np.minimum(_clearance(tails + 0.2 * size * unit, X), _clearance(tails + 0.1 * size * unit, X))
    tail = tails[np.argmax(np.minimum(room, 0.08 * size))]  # the first that has enough room
    tail, tip = tail * scale, (tail + 0.16 * size * unit) * scale
    look = {"arrowstyle": "-|>,head_width=0.28,head_length=0.55", "color": style.INK, "linewidth": 1.8}
    ax.annotate("", tip, tail, arrowprops=look | {"shrinkA": 0, "shrinkB": 0}, zorder=6)
    x, y = (9 * unit).tolist()
    label = ax.annotate("$w$", tip, (x, y), textcoords="offset points", ha="center", va="center", zorder=6)
    label.set(
        fontsize=style.NORMAL_FONT_POINTS + 2, path_effects=[withStroke(linewidth=3, foreground=style.PAPER)]
    )


def _clearance(places: Floats, X: Floats) -> Floats:
    """Return the distance of each place from the nearest point."""
    return np.array([np.min(np.hypot(*(X - place).T), initial=np.inf) for place in places])


def _leads(model: Any, places: Any, classes: NDArray[Any]) -> Floats:
    """Return the lead of each class at each place, positive where it is predicted.

    Decision values give smooth borders; for a classifier without them the lead is that of its labels.
    """
    K = len(classes)
    if not hasattr(model, "decision_function"):
        scores = np.eye(K)[encode_labels(model.predict(places), classes, len(places))]
    else:
        scores = np.asarray(model.decision_function(places), np.float64)
        scores = np.column_stack([-scores, scores])[:, -K:] if scores.ndim == 1 else scores
    if K == 1:
        return np.ones((1, PLACES_A_SIDE, PLACES_A_SIDE))
    leads = np.empty((K, len(scores)))
    for c in range(K):
        leads[c] = scores[:, c] - np.delete(scores, c, axis=1).max(axis=1)
    return leads.reshape(K, PLACES_A_SIDE, PLACES_A_SIDE)


def _tint(ax: Axes, across: Floats, up: Floats, leads: Floats, *, shade: bool) -> None:
    """Colour the regions, and draw the borders between them."""
    for code, lead in enumerate(leads):
        colour, _ = style.of_code(code)
        if not (lead > 0.0).any():
            continue
        if shade:
            ax.contourf(across, up, lead, levels=[0.0, 2.0 * lead.max()], colors=[colour], alpha=0.13, zorder=0)
        if (lead < 0.0).any():
            ax.contour(across, up, lead, levels=[0.0], colors=[style.INK], linewidths=1.2, zorder=1)


def _draw_classes(ax: Axes, X: Floats, codes: Ints, labels: list[str]) -> None:
    size = size_of(len(X))
    for code, label in enumerate(labels):
        colour, marker = style.of_code(code)
        points = X[codes == code]
        look: dict[str, Any] = {"facecolors": style.PAPER, "edgecolors": colour, "linewidths": 0.2 * np.sqrt(size)}
        ax.scatter(points[:, 0], points[:, 1], s=size, marker=marker, label=label, zorder=4, **look)
