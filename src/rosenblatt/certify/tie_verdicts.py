"""What a proof says of hyperplanes that rows may lie on."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar


@dataclass(frozen=True, eq=False)
class Quasi:
    """A hyperplane with no row on its wrong side and some rows on it: quasi-complete separation.

    Logistic regression then has no finite maximum: it fits the rows that the hyperplane separates ever more
    closely.

    Attributes
    ----------
    w, b : tuple of Fraction, Fraction
        The hyperplane.
    strict : int
        The number of rows strictly on their right side; the others lie on the hyperplane.
    features : tuple of int
        The features with a non-zero weight.
    rows : tuple of int or None
        The rows strictly on their right side; None in a proof read from a file.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.certify([[0.0], [1.0], [1.0], [2.0]], ["a", "a", "b", "b"]).ties
    Quasi(strict=2, rows=(0, 3))
    """

    w: tuple[Fraction, ...] = field(repr=False)
    b: Fraction = field(repr=False)
    strict: int
    rows: tuple[int, ...] | None = None

    kind: ClassVar[str] = "quasi"

    @property
    def features(self) -> tuple[int, ...]:
        """The features with a non-zero weight."""
        return tuple(j for j, value in enumerate(self.w) if value)


@dataclass(frozen=True, eq=False)
class Overlap:
    """Every hyperplane has rows strictly on its wrong side, or has all rows on it.

    Attributes
    ----------
    support, weights : tuple of int
        Rows that span all rows, and positive weights with which they sum to 0.
    null : tuple of tuples of Fraction
        The vectors orthogonal to every row, with the bias last if there is one.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.certify(*rb.datasets.load_xor()).ties.kind
    'overlap'
    """

    support: tuple[int, ...]
    weights: tuple[int, ...] = field(repr=False)
    null: tuple[tuple[Fraction, ...], ...] = field(repr=False)

    kind: ClassVar[str] = "overlap"
