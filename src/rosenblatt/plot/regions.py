"""What a classifier of any kind makes of the plane."""

from __future__ import annotations

import warnings
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.features import as_rows
from rosenblatt.data.labels import encode_labels
from rosenblatt.exceptions import ShapeError
from rosenblatt.plot import style
from rosenblatt.plot.plane import draw_points, draw_rings, size_of, view_of
from rosenblatt.typing import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["regions"]

FINE = 240
"""Places along each side of the picture that are predicted."""
MARKERS = "osD^vPX*<>"


def regions(
    model: Any, X: Any, y: Any, *, ax: Axes | None = None, feature_names: tuple[str, str] | None = None
) -> Axes:
    """Draw rows with two features on the regions that a classifier predicts; rows it gets wrong are ringed.

    For one line between two classes `boundary` tells more; this is for several classes, kernels and networks.

    Parameters
    ----------
    model : fitted classifier
        Anything with ``predict`` and ``classes_``.
    X : array of shape (n, 2)
        The points.
    y : array of shape (n,)
        Their labels.
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.
    feature_names : pair of str, optional
        Labels for the axes; by default the names of a frame's columns, else x₁ and x₂.

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
    features = as_rows(X)
    if features.n_features != 2:
        shape = (features.n_rows, features.n_features)
        raise ShapeError(f"X has shape {shape}: this picture needs rows with two features, (n, 2)")
    table: Any = features.native()
    table = np.asarray(table if isinstance(table, np.ndarray) else table.toarray(), np.float64)
    classes = np.asarray(model.classes_)
    codes = encode_labels(y, classes, len(table))
    wrong = encode_labels(model.predict(X), classes, len(table)) != codes
    ax = style.axes(ax, (6.4, 4.6))
    (x0, x1), (y0, y1) = view_of(table, equal=False)
    across, up = np.meshgrid(np.linspace(x0, x1, FINE), np.linspace(y0, y1, FINE))
    places = np.column_stack([across.ravel(), up.ravel()])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # places have none
        leads = _leads(model, places, classes)
    _tint(ax, across, up, leads)
    ax.set(xlim=(x0, x1), ylim=(y0, y1))
    if len(classes) == 2:
        draw_points(ax, table, 2 * codes - 1, (style.of_class(classes[1]), style.of_class(classes[0])))
    else:
        _draw_classes(ax, table, codes, [style.of_class(label) for label in classes.tolist()])
    if wrong.any():
        draw_rings(ax, table[wrong], len(table), "misclassified")
    style.tidy(ax, *(feature_names or style.plane_names(features.names)))
    style.legend_beside(ax)
    return ax


def _colours(n_classes: int) -> list[str]:
    """Return a colour a class; of two, those of the negative and the positive side."""
    if n_classes == 2:
        return [style.NEGATIVE, style.POSITIVE]
    return [colour for colour, _ in zip(cycle(style.PALETTE), range(n_classes), strict=False)]


def _leads(model: Any, places: Any, classes: NDArray[Any]) -> Floats:
    """Return for each class how far it leads at each place: above zero where it is predicted.

    Scores have smooth borders; a classifier without any is asked for its labels alone.
    """
    K = len(classes)
    if not hasattr(model, "decision_function"):
        taken = encode_labels(model.predict(places), classes, len(places))
        scores = np.eye(K)[taken]
    else:
        scores = np.asarray(model.decision_function(places), np.float64)
        scores = np.column_stack([-scores, scores])[:, -K:] if scores.ndim == 1 else scores
    if K == 1:
        return np.ones((1, FINE, FINE))
    leads = np.empty((K, len(scores)))
    for c in range(K):
        leads[c] = scores[:, c] - np.delete(scores, c, axis=1).max(axis=1)
    return leads.reshape(K, FINE, FINE)


def _tint(ax: Axes, across: Floats, up: Floats, leads: Floats) -> None:
    """Colour the regions, and draw where one meets another."""
    for lead, colour in zip(leads, _colours(len(leads)), strict=True):
        if not (lead > 0.0).any():
            continue
        ax.contourf(across, up, lead, levels=[0.0, 2.0 * lead.max()], colors=[colour], alpha=0.13, zorder=0)
        if (lead < 0.0).any():
            ax.contour(across, up, lead, levels=[0.0], colors=[style.INK], linewidths=1.2, zorder=1)


def _draw_classes(ax: Axes, X: Floats, codes: Ints, labels: list[str]) -> None:
    size = size_of(len(X))
    for code, (label, colour, marker) in enumerate(
        zip(labels, _colours(len(labels)), cycle(MARKERS), strict=False)
    ):
        points = X[codes == code]
        look: dict[str, Any] = {"facecolors": "white", "edgecolors": colour, "linewidths": 0.2 * np.sqrt(size)}
        ax.scatter(points[:, 0], points[:, 1], s=size, marker=marker, label=label, zorder=4, **look)
