"""Certificates as pictures: why classes are separable, or why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.exceptions import InputError, ParameterError, UndecidedError
from rosenblatt.plot import style
from rosenblatt.plot.evidence import Evidence
from rosenblatt.plot.hulls import draw_hulls, draw_strips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rosenblatt.certify.certificate import Certificate
    from rosenblatt.certify.class_tables import ClassTables

COLOURS = {"separable": style.POSITIVE, "inseparable": style.NEGATIVE, "undecided": style.FAINT}
GAP = 0.25
"""The gap before the column "rest", in cells."""
WRITTEN = 24
"""Up to so many classes, cells have text as well as colours."""


def certificate(
    certificate: Certificate,
    X: Any = None,
    y: Any = None,
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
    >>> ax = rb.plot.certificate(rb.certify(X, y), X, y)
    >>> ax.get_title()
    'inseparable: a point lies in both hulls'
    >>> [text.get_text() for text in ax.texts]
    ['½', '½', '½', '½']
    """
    from rosenblatt.certify.certificate import Answer, Undecided
    from rosenblatt.certify.class_tables import ClassTables

    if (X is None) != (y is None):
        raise ParameterError("pass both X and y, the data of the certificate")
    if isinstance(certificate, ClassTables):
        if X is not None:
            for name, each in certificate:
                if not isinstance(each, Undecided):
                    _require(each, X, y, f"{name}: ")
        return _class_table(certificate, ax)
    if not isinstance(certificate, Answer):
        raise ParameterError(
            f"certificate is a {type(certificate).__name__}; pass what rosenblatt.certify(X, y) returns"
        )
    if isinstance(certificate, Undecided):
        raise UndecidedError(f"There is no proof to draw: {certificate.why}")
    if X is None:
        raise ParameterError("a certificate of two classes is drawn with its data: pass X and y")
    _require(certificate, X, y)
    evidence = Evidence(certificate, X, y)
    if evidence.n_features <= 2:
        own = evidence.names and [style.plain(name) for name in evidence.names]
        names = own if feature_names is None else feature_names
        names = names or [f"$x_{j + 1}$" for j in range(evidence.n_features)]
        if len(names) != evidence.n_features:
            raise ParameterError(f"feature_names has {len(names)} names for {evidence.n_features} features")
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


def _require(certificate: Certificate, X: Any, y: Any, name: str = "") -> None:
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
    cells += [(place[a], k + GAP, each.verdict) for a, each in tables.rest.items()]
    size = min(style.NORMAL, 60 * side / 3)
    for row, column, verdict in cells:
        _draw_cell(ax, row, column, verdict, MARKS[verdict] if k <= WRITTEN else "", size)
    style.tidy(ax, "", "")
    ax.spines[:].set_visible(False)
    ax.set(xlim=(-0.5, k + GAP + 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
    look: dict[str, Any] = {"length": 0, "labelsize": size}
    ax.tick_params(top=False, bottom=False, labeltop=True, labelbottom=False, **look)
    names = [style.plain(label) for label in labels]
    turned = max(map(len, names)) > 5
    ax.set_xticks([*range(k), k + GAP], [*names, "rest"], rotation=30 if turned else 0)
    for text in ax.get_xticklabels():
        text.set(ha="left" if turned else "center", rotation_mode="anchor" if turned else "default")
    ax.set_yticks(range(k), names)
    ax.set_title("separable by a hyperplane?", fontsize=style.NORMAL)
    return ax


def _draw_cell(ax: Axes, row: int, column: float, verdict: str, text: str, size: float) -> None:
    from matplotlib.patches import Rectangle

    colour = COLOURS[verdict]
    strong = 0.5 if verdict == "inseparable" else 0.16  # classes that overlap stand out
    ax.add_patch(Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=colour, alpha=strong, linewidth=0))
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
    ax.text(column, row, text, color=style.INK, **look)
