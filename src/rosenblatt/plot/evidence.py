"""A certificate and its data as floats to be drawn."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.batch import as_batch
from rosenblatt.plot import style
from rosenblatt.typing import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rosenblatt.certify.certificate import Answer, Inseparable, Separable
    from rosenblatt.plot.plane import Line

LONG = 7
"""Exact weights with more letters are rounded."""


class Evidence:
    """A certificate that was verified on its data, X and y.

    Attributes
    ----------
    side : ndarray of int
        1, −1, or 0 for rows that take no part.
    labels : (str, str)
        The names of the positive and the negative class.
    names : tuple of str or None
        The names of the features, if the data has any.
    """

    def __init__(self, certificate: Answer, X: Any, y: Any) -> None:
        from rosenblatt.certify.certificate import Inseparable, Separable
        from rosenblatt.certify.check import signer
        from rosenblatt.certify.tie_verdicts import Quasi

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
    from rosenblatt.certify.wording import number

    text = number(weight)
    return text if len(text) <= LONG and text[0] != "≈" else f"≈{float(weight):.2g}"
