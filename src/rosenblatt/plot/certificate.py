"""Certificates as pictures: why classes are separable, or why not."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exceptions import Given, InputError, ParameterError, UndecidedError
from rosenblatt.geometry import signed_distance
from rosenblatt.plot import style
from rosenblatt.plot.plane import (
    MAX_SPAN_RATIO,
    View,
    convex_hull,
    corners,
    cut,
    draw_band,
    draw_halos,
    draw_line,
    draw_points,
    draw_rings,
    size_of,
    view_of,
)
from rosenblatt.rows.batch import as_batch
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rosenblatt.certify.certificate import Answer, Certificate, Inseparable, Separable
    from rosenblatt.certify.class_tables import ClassTables
    from rosenblatt.plot.plane import Line


# Pictures of certificates: the hulls of both classes, and the point in both or what lies between.
#
# Two features are drawn in the plane; one feature, or the distance from the hyperplane, as two strips on a line.


def draw_hulls(ax: Axes, evidence: Evidence, names: Sequence[str]) -> Axes:
    """Draw the hulls of rows with two features, and the line between them or the point in both."""
    X, side = evidence.table, evidence.side
    shown = X[side != 0]
    if evidence.mirrored:
        shown = np.vstack([shown, evidence.point])
    spans = np.ptp(shown, axis=0)
    equal = spans.max() <= MAX_SPAN_RATIO * spans.min() or not spans.min()
    view = view_of(shown, evidence.plane, equal=bool(equal))
    ax.set(xlim=view[0], ylim=view[1], aspect="equal" if equal else "auto")
    _draw_hulls(ax, evidence)
    draw_points(ax, X, side, evidence.labels)
    _draw_idle(ax, evidence, view)
    if evidence.yes is not None:
        _draw_plane(ax, evidence, view)
    else:
        _draw_ties(ax, evidence, view)
        draw_combination(ax, X, evidence, [evidence.point])
    ax.set_title(evidence.title, fontsize=style.NORMAL_FONT_POINTS)
    style.tidy(ax, *names)
    style.legend_beside(ax)
    return ax


def _draw_idle(ax: Axes, evidence: Evidence, view: View) -> None:
    """Draw the rows in view that take no part."""
    X = evidence.table[evidence.side == 0]
    low, high = np.transpose(view)
    X = X[((low <= X) & (X <= high)).all(axis=1)]
    if len(X):
        size = 0.5 * size_of(len(evidence.table))
        ax.scatter(X[:, 0], X[:, 1], s=size, c=style.FAINT, marker=".", label="take no part", zorder=1)


def _draw_hulls(ax: Axes, evidence: Evidence) -> None:
    X, side = evidence.table, evidence.side
    groups = [(X[side > 0], style.POSITIVE), (X[side < 0], style.NEGATIVE)]
    if evidence.mirrored:
        groups = [(X[side != 0], style.FAINT)]
    for points, colour in groups:
        if len(points):
            hull = convex_hull(points)
            ax.fill(*hull.T, color=colour, alpha=0.12, linewidth=0, zorder=0)
            ax.plot(*np.vstack([hull, hull[:1]]).T, color=colour, linewidth=1, alpha=0.6, zorder=1, label="_hull")


def _draw_plane(ax: Axes, evidence: Evidence, view: View) -> None:
    if evidence.plane is None:
        return
    draw_line(ax, evidence.plane, view)
    if evidence.gamma is not None:
        distance = signed_distance(corners(view), *evidence.plane)
        above = cut(corners(view), distance + evidence.gamma)
        band = cut(above, evidence.gamma - signed_distance(above, *evidence.plane))
        ax.fill(*band.T, color=style.INK, alpha=0.07, linewidth=0, zorder=0)
        draw_band(ax, evidence.plane, evidence.gamma, view)
        rows, what = evidence.ringed
        draw_rings(ax, evidence.table[rows], len(evidence.table), what)


def _draw_ties(ax: Axes, evidence: Evidence, view: View) -> None:
    if evidence.plane is not None:
        draw_line(ax, evidence.plane, view, "line with ties")
        draw_halos(ax, evidence.table[evidence.strict], len(evidence.table), "strictly on their side")


def draw_combination(ax: Axes, places: Floats, evidence: Evidence, points: Sequence[Floats]) -> None:
    """Draw the combined rows, with their weights, and the points where the combination is drawn."""
    rows, what = evidence.ringed
    targets = np.array(points)
    nearest = targets[[int(np.argmin(np.hypot(*(targets - places[row]).T))) for row in rows]]
    for start, end in zip(places[rows], nearest, strict=True):
        ax.plot(*np.array([start, end]).T, color=style.INK, linewidth=0.8, alpha=0.7, zorder=3, label="_share")
    draw_rings(ax, places[rows], len(places), what)
    label = "point in both hulls" if evidence.bias else "the origin"
    look: dict[str, Any] = {"marker": "D", "c": style.INK, "edgecolors": "white", "linewidths": 1}
    ax.scatter(targets[:, 0], targets[:, 1], s=75, label=label, zorder=7, **look)
    for row, end, text in zip(rows, nearest, evidence.weights, strict=True):
        side, away = int(evidence.side[row]), places[row] - end
        if evidence.plane is not None and evidence.n_features == 2:
            away = side * evidence.plane[0]  # off the line with ties, on which all these rows lie
        _write(ax, places[row], away, text, side)


def _write(ax: Axes, place: Floats, away: Floats, text: str, side: int) -> None:
    """Write a weight beside its row, in the direction `away`, or above or below if that is zero."""
    from matplotlib.patheffects import withStroke

    spans = np.ptp([ax.get_xlim(), ax.get_ylim()], axis=1)
    away = away / (spans if ax.get_aspect() == "auto" else spans.max())
    length = float(np.hypot(*away))
    across, up = (away / length if length > 1e-9 else np.array([0.0, side])).tolist()  # less is rounding
    colour = style.POSITIVE if side > 0 else style.NEGATIVE
    label = ax.annotate(
        text,
        (float(place[0]), float(place[1])),
        (15 * across, 15 * up),
        textcoords="offset points",
        ha="left" if across > 0.4 else "right" if across < -0.4 else "center",
        va="bottom" if up > 0.4 else "top" if up < -0.4 else "center",
        color=colour,
        fontsize=style.NORMAL_FONT_POINTS + 1,
        zorder=8,
    )
    label.set_path_effects([withStroke(linewidth=3, foreground="white")])


def draw_strips(ax: Axes, evidence: Evidence, names: Sequence[str]) -> Axes:
    """Draw two strips of rows, the positive class above, and the threshold between them or the point in both."""
    single = evidence.n_features == 1
    side = evidence.side
    along = evidence.table[:, 0] if single else _distances(evidence)
    places = np.column_stack([along, side]).astype(np.float64)
    _draw_extents(ax, places, evidence)
    draw_points(ax, places, side, evidence.labels)
    if evidence.plane is not None:
        w, b = evidence.plane
        _draw_threshold(ax, float(-b / w[0]) if single else 0.0, evidence, single)
        if len(evidence.strict):
            draw_halos(ax, places[evidence.strict], len(places), "strictly on their side")
    if evidence.no is None:
        rows, what = evidence.ringed
        if len(rows):
            draw_rings(ax, places[rows], len(places), what)
    elif single:
        at = float(evidence.point[0])
        ax.plot([at, at], [-1, 1], color=style.INK, linewidth=0.8, linestyle=(0, (2, 2)), zorder=2, label="_point")
        draw_combination(ax, places, evidence, [np.array([at, 1.0]), np.array([at, -1.0])])
    ax.set_title(evidence.title, fontsize=style.NORMAL_FONT_POINTS)
    style.tidy(ax, names[0], "")
    ax.set(ylim=(-2, 2), yticks=[])
    ax.spines["left"].set_visible(False)
    style.legend_beside(ax)
    return ax


def _distances(evidence: Evidence) -> Floats:
    assert evidence.plane is not None, "distances are from a hyperplane"
    return signed_distance(evidence.batch.native(), *evidence.plane)


def _draw_extents(ax: Axes, places: Floats, evidence: Evidence) -> None:
    """Draw the hull of each class, from its least to its largest value."""
    for side, colour in ((1, style.POSITIVE), (-1, style.NEGATIVE)):
        along = places[evidence.side == side, 0]
        if len(along):
            look: dict[str, Any] = {"color": colour, "alpha": 0.15, "solid_capstyle": "butt", "linewidth": 14}
            ax.plot([along.min(), along.max()], [side, side], zorder=0, label="_hull", **look)


def _draw_threshold(ax: Axes, at: float, evidence: Evidence, single: bool) -> None:
    name = "with ties" if evidence.ties is not None else ""
    label = f"{'threshold' if single else 'hyperplane'} {name}".rstrip()
    ax.axvline(at, color=style.INK, linewidth=2, zorder=3, label=label)
    if evidence.gamma is not None:
        ends = at - evidence.gamma, at + evidence.gamma
        ax.axvspan(*ends, color=style.INK, alpha=0.07, linewidth=0, zorder=0)
        for end, text in zip(ends, (f"margin $\\gamma$ = {evidence.gamma:.3g}", "_"), strict=True):
            ax.axvline(end, color=style.INK, linewidth=1, linestyle=(0, (5, 4)), zorder=2, label=text)


# A certificate and its data as floats to be drawn.

MAX_WEIGHT_LETTERS = 7
"""Exact weights with more letters are rounded."""


class Evidence:
    """A certificate that was verified on its data, X and y.

    `side` is 0 for rows that take no part; `labels` are the names of the positive and the negative class.
    """

    def __init__(self, certificate: Answer, X: MatrixLike, y: ColumnLike | None) -> None:
        from rosenblatt.certify.certificate import Inseparable, Quasi, Separable
        from rosenblatt.certify.check import signer

        batch = as_batch(X, y)
        data = certificate.data
        sign = signer(data.positive, data.negative)
        self.batch, self.names, self.n_features = batch, batch.names, batch.n_features
        self.side = np.array([sign(label) for label in batch.classes.tolist()])[batch.codes]
        other = "all others" if data.negative is None else style.of_class(data.negative)
        self.bias = certificate.bias
        self.yes: Separable | None = certificate if isinstance(certificate, Separable) else None
        self.no: Inseparable | None = certificate if isinstance(certificate, Inseparable) else None
        self.ties = self.no.ties if self.no is not None and isinstance(self.no.ties, Quasi) else None
        self.labels = style.of_class(data.positive), f"{other}, mirrored" if self.mirrored else other

    @property
    def mirrored(self) -> bool:
        """Whether the rows y·x are drawn."""
        return self.no is not None and not self.bias

    @property
    def title(self) -> str:
        """The verdict, in a few words."""
        if self.yes is not None:
            return "separable" if self.plane is not None else "separable: there is one class only"
        if self.ties is not None:
            return "inseparable, but separable with ties"
        return f"inseparable: {'a point lies in both hulls' if self.bias else 'the origin lies in the hull'}"

    @cached_property
    def table(self) -> Floats:
        """The rows to be drawn."""
        X = self.batch.dense()
        shown: Floats = np.where(self.side[:, None] < 0, -X, X) if self.mirrored else X
        return shown

    @cached_property
    def plane(self) -> Line | None:
        """The separating hyperplane, with or without ties."""
        found = self.yes or self.ties
        if found is None or not any(found.w):
            return None
        # Scaled, so that rationals of any size become floats. Hashed text has many zeros, which take no division.
        size = max(abs(value) for value in found.w if value)
        return np.array([float(value / size) if value else 0.0 for value in found.w]), float(found.b / size)

    @property
    def gamma(self) -> float | None:
        """The largest margin, rounded down, or None if it is not known."""
        return None if self.yes is None or self.yes.margin is None else self.yes.margin.low

    @property
    def ringed(self) -> tuple[Ints, str]:
        """The rows that the proof names, and their name in the legend."""
        if self.no is not None:
            return np.array(self.no.support), "rows combined"
        if self.yes is not None and self.yes.margin is not None:
            return self.yes.margin.support, "support vectors"
        return np.array([], np.int64), ""

    @property
    def weights(self) -> list[str]:
        """The weights of the combined rows, as text."""
        return [] if self.no is None else [_short(weight) for weight in self.no.weights]

    @cached_property
    def point(self) -> Floats:
        """The point in both hulls; the origin if hyperplanes pass through it."""
        assert self.no is not None, "only inseparable classes share a point"
        if not self.bias:
            return np.zeros(self.n_features)
        rows = np.array(self.no.support)
        share = np.array([float(weight) for weight in self.no.weights]) * (self.side[rows] > 0)
        return np.asarray(share @ self.table[rows])

    @cached_property
    def strict(self) -> Ints:
        """The rows that a hyperplane with ties has strictly on their side."""
        if self.ties is None:
            return np.array([], np.int64)
        if self.ties.rows is not None:
            return np.array(self.ties.rows)
        # A proof from a file does not name them, and floats could misjudge a row on the hyperplane.
        X, (w, b) = self.batch.dense(), (self.ties.w, self.ties.b)
        return np.array([row for row in np.flatnonzero(self.side) if _score(w, b, X[row])], np.int64)


def _score(w: Sequence[Fraction], b: Fraction, row: Floats) -> Fraction:
    return sum((a * Fraction(x) for a, x in zip(w, row.tolist(), strict=True)), b)


def _short(weight: Fraction) -> str:
    from rosenblatt.certify.certificate import number

    text = number(weight)
    return text if len(text) <= MAX_WEIGHT_LETTERS and text[0] != "≈" else f"≈{float(weight):.2g}"


COLOURS = {"separable": style.POSITIVE, "inseparable": style.NEGATIVE, "undecided": style.FAINT}
REST_GAP_CELLS = 0.25
"""The gap before the column "rest", in cells."""
MAX_WRITTEN_CLASSES = 24
"""Up to so many classes, cells have text as well as colours."""


def certificate(
    certificate: Certificate,
    X: MatrixLike | None = None,
    y: ColumnLike | None = None,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
) -> Axes:
    """Draw a certificate and its data.

    For two features, the picture shows the convex hulls of both classes. If they are inseparable, it shows the
    point in both hulls, and the rows that combine to it with their weights. Rows that a line with ties separates
    strictly are marked. If they are separable, it shows the line, and if the margin is known its band and support
    vectors. For hyperplanes through the origin, inseparability is drawn for the rows y·x.

    One feature is drawn the same way on a line, one class above the other. For more features the picture shows the
    distances from the separating hyperplane, with or without ties; without a hyperplane there is no picture.

    Parameters
    ----------
    certificate : Separable, Inseparable or ClassTables
        As `rosenblatt.certify` returns them. It is verified before it is drawn.
    X, y : array-like, sequence
        Its data. Only `ClassTables`, drawn as a table of verdicts, need no data.
    ax : matplotlib Axes, optional
        Where to draw. The default is a new figure.
    feature_names : sequence of str, optional
        Labels for the axes of one or two features; by default the names of a frame's columns, else x₁ and x₂.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If the certificate does not hold for these data, or they have too many features.
    UndecidedError
        If it is undecided.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_xor()
    >>> ax = certificate(rb.certify(X, y), X, y)
    >>> ax.get_title()
    'inseparable: a point lies in both hulls'
    >>> [text.get_text() for text in ax.texts]
    ['½', '½', '½', '½']
    """
    from rosenblatt.certify.certificate import Answer, Undecided
    from rosenblatt.certify.class_tables import ClassTables

    if (X is None) != (y is None):
        raise ParameterError("Pass both " + Given("X") + " and " + Given("y") + ", the data of the certificate.")
    if isinstance(certificate, ClassTables):
        if X is not None:
            for name, each in certificate:
                if not isinstance(each, Undecided):
                    _require(each, X, y, f"{name}: ")
        return _class_table(certificate, ax)
    if not isinstance(certificate, Answer):
        raise ParameterError(
            f"certificate is a {type(certificate).__name__}; pass what rosenblatt.certify(X, y) returns",
            parameter="certificate",
        )
    if isinstance(certificate, Undecided):
        raise UndecidedError(f"There is no proof to draw: {certificate.why}")
    if X is None:
        told = (
            "A certificate of two classes is drawn with its data. Pass " + Given("X") + " and " + Given("y") + "."
        )
        raise ParameterError(told)
    _require(certificate, X, y)
    evidence = Evidence(certificate, X, y)
    if evidence.n_features <= 2:
        own = evidence.names and [style.plain(name) for name in evidence.names]
        names = own if feature_names is None else feature_names
        names = names or [f"$x_{j + 1}$" for j in range(evidence.n_features)]
        if len(names) != evidence.n_features:
            raise ParameterError(
                f"feature_names has {len(names)} names for {evidence.n_features} features",
                parameter="feature_names",
            )
        names = [f"$y\\,${name}" for name in names] if evidence.mirrored else list(names)
        draw = draw_hulls if evidence.n_features == 2 else draw_strips
        return draw(style.axes(ax, (6.8, 4.4) if evidence.n_features == 2 else (6.8, 2.8)), evidence, names)
    if evidence.plane is None:
        why = "a proof that classes are inseparable" if evidence.no is not None else "one class alone"
        raise InputError(
            f"X has {evidence.n_features} features and no hyperplane to measure distances from: {why} has no "
            "picture. Keep two features, or print the certificate."
        )
    return draw_strips(style.axes(ax, (6.8, 2.8)), evidence, ["distance from the hyperplane"])


def _require(certificate: Certificate, X: MatrixLike | None, y: ColumnLike | None, name: str = "") -> None:
    found = certificate.verify(X, y)
    if not found:
        raise InputError(
            f"{name}the certificate does not hold of these data, so it is not drawn. {found.reason} Pass "
            "the X and y of the certificate."
        )


def _class_table(tables: ClassTables, ax: Axes | None) -> Axes:
    """Draw a cell for each verdict, with its colour and yes, no or ?."""
    from rosenblatt.certify.class_tables import MARKS

    labels = list(tables.rest)
    k = len(labels)
    place = {label: i for i, label in enumerate(labels)}
    side = min(0.62, 6.0 / k)
    ax = style.axes(ax, (max(3.6, side * (k + 3)), max(2.6, side * (k + 1.6))))
    cells = [(place[a], float(place[b]), each.verdict) for (a, b), each in tables.pairs.items()]
    cells += [(int(column), float(row), verdict) for row, column, verdict in cells]
    cells += [(place[a], k + REST_GAP_CELLS, each.verdict) for a, each in tables.rest.items()]
    size = min(style.NORMAL_FONT_POINTS, 60 * side / 3)
    for row, column, verdict in cells:
        _draw_cell(ax, row, column, verdict, MARKS[verdict] if k <= MAX_WRITTEN_CLASSES else "", size)
    style.tidy(ax, "", "")
    ax.spines[:].set_visible(False)
    ax.set(xlim=(-0.5, k + REST_GAP_CELLS + 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
    look: dict[str, Any] = {"length": 0, "labelsize": size}
    ax.tick_params(top=False, bottom=False, labeltop=True, labelbottom=False, **look)
    names = [style.plain(label) for label in labels]
    turned = max(map(len, names)) > 5
    ax.set_xticks([*range(k), k + REST_GAP_CELLS], [*names, "rest"], rotation=30 if turned else 0)
    for text in ax.get_xticklabels():
        text.set(ha="left" if turned else "center", rotation_mode="anchor" if turned else "default")
    ax.set_yticks(range(k), names)
    ax.set_title("separable by a hyperplane?", fontsize=style.NORMAL_FONT_POINTS)
    return ax


def _draw_cell(ax: Axes, row: int, column: float, verdict: str, text: str, size: float) -> None:
    from matplotlib.patches import Rectangle

    colour = COLOURS[verdict]
    strong = 0.5 if verdict == "inseparable" else 0.16  # classes that overlap stand out
    ax.add_patch(Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=colour, alpha=strong, linewidth=0))
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
    ax.text(column, row, text, color=style.INK, **look)
