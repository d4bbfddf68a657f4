"""Certificates as pictures: why classes are separable, or why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.exceptions import InputError, ParameterError, UndecidedError
from rosenblatt.plot import style
from rosenblatt.plot.class_table import class_table
from rosenblatt.plot.evidence import Evidence
from rosenblatt.plot.hulls import draw_hulls
from rosenblatt.plot.strips import draw_strips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rosenblatt.certify.certificate import Certificate

__all__ = ["certificate"]


def certificate(
    certificate: Certificate,
    X: Any = None,
    y: Any = None,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
) -> Axes:
    """Draw what a certificate says of its data.

    Of two features, the convex hulls of both classes. If they are inseparable, the point in both hulls with the
    rows that combine to it and their weights; rows that a line separates with ties are told from those on it. If
    they are separable, the line, and where the margin is known the band of the largest one with its support
    vectors. Hyperplanes through the origin separate x and −x alike: that there is none is drawn for the rows y·x.

    Of one feature, the same on a line, one class above the other. Of more features what is drawn is the distance
    from the hyperplane that separates them, or that does with ties; where there is none, no such picture exists.

    Parameters
    ----------
    certificate : Separable, Inseparable or ClassTables
        As `rosenblatt.certify` returns them. It is verified before it is drawn.
    X, y : array-like, sequence
        The data it is of. Only `ClassTables` can do without: what is drawn is a table of their verdicts.
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
        If the certificate does not hold of these data, or they have too many features.
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
        return class_table(certificate, ax)
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
        why = "what proves that these classes are inseparable" if evidence.no is not None else "one class alone"
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
            "the X and y it was made for."
        )
