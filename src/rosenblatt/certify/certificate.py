"""Answers that carry their proof: separable, inseparable, or undecided."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

from rosenblatt.certify import check
from rosenblatt.certify.margin import Margin
from rosenblatt.exceptions import UndecidedError

__all__ = [
    "Answer",
    "Certificate",
    "Data",
    "Inseparable",
    "Overlap",
    "Quasi",
    "Separable",
    "Undecided",
    "Verification",
]


class Verification(NamedTuple):
    """Whether a proof holds of some data; true if it does.

    Attributes
    ----------
    holds : bool
        The answer.
    reason : str
        What is proved, or why it is not.
    """

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class Data:
    """What a proof speaks of.

    Attributes
    ----------
    rows, features : int
        The shape of the data.
    positive, negative : str, str or None
        The labels of the two sides, as text; None for all labels but the positive one. Rows with other labels
        take no part.
    sha256 : str
        The fingerprint of values and sides.
    """

    rows: int
    features: int
    positive: str
    negative: str | None
    sha256: str


@dataclass(frozen=True, eq=False)
class Quasi:
    """A hyperplane that has no row on its wrong side, but some on it: quasi-complete separation.

    Logistic regression has no finite maximum along it: the rows that it separates are fitted ever more closely.

    Attributes
    ----------
    w, b : tuple of Fraction, Fraction
        The hyperplane.
    strict : int
        The number of rows strictly on their right side; the others lie on it.
    features : tuple of int
        The features involved: those with a weight.
    rows : tuple of int or None
        The rows strictly on their right side; None in a proof read from a file.
    """

    w: tuple[Fraction, ...] = field(repr=False)
    b: Fraction = field(repr=False)
    strict: int
    rows: tuple[int, ...] | None = None

    kind: ClassVar[str] = "quasi"

    @property
    def features(self) -> tuple[int, ...]:
        """The features involved."""
        return tuple(j for j, value in enumerate(self.w) if value)


@dataclass(frozen=True, eq=False)
class Overlap:
    """No hyperplane has all rows on its right side or on it, unless all lie on it.

    Attributes
    ----------
    support, weights : tuple of int
        Rows that are combined to 0 and span all rows, and what they are combined with.
    null : tuple of tuples of Fraction
        The vectors orthogonal to every row, the bias last where there is one.
    """

    support: tuple[int, ...]
    weights: tuple[int, ...] = field(repr=False)
    null: tuple[tuple[Fraction, ...], ...] = field(repr=False)

    kind: ClassVar[str] = "overlap"


class Certificate(ABC):
    """An answer, with what proves it."""

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The answer: "separable", "inseparable" or "undecided"."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why, in a sentence."""

    @abstractmethod
    def to_json(self) -> str:
        """Return the proof as text, in the format that `check.py` reads."""

    @abstractmethod
    def verify(self, X: Any, y: Any) -> Verification:
        """Check the proof on data, exactly.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe
            The rows.
        y : sequence
            Their labels.

        Returns
        -------
        Verification
            True if these are the data of the proof, and it holds.
        """

    @abstractmethod
    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same answer with other names of the features."""

    @staticmethod
    def from_json(text: str) -> Certificate:
        """Read a proof, or the list of proofs of several classes; it is not believed before `verify`.

        Raises
        ------
        rosenblatt.certify.check.ProofError
            If the text is no proof.
        """
        from rosenblatt.certify.proof_reader import read

        return read(text)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer(Certificate):
    """An answer to whether one class can be told from another by a hyperplane.

    Attributes
    ----------
    bias : bool
        Whether hyperplanes may miss the origin.
    data : Data
        What it speaks of.
    chance : float or None
        Cover's probability that so many points in general position, labelled at random, are separable: near 1 a
        yes says little of the labels. None in a proof read from a file.
    names : tuple of str or None
        The names of the features, where the data had any.
    """

    bias: bool
    data: Data
    chance: float | None = field(default=None, repr=False)
    names: tuple[str, ...] | None = field(default=None, repr=False)

    def feature(self, j: int) -> str:
        """Return the name of a feature: that of its column, or x1, x2, … as the sources have it."""
        return f"x{j + 1}" if self.names is None else self.names[j]

    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same answer with other names of the features."""
        return replace(self, names=names)

    def verify(self, X: Any, y: Any) -> Verification:
        """Check the proof on data, exactly; see `Certificate.verify`."""
        from rosenblatt.certify.verify import verify

        return verify(self, X, y)

    def to_json(self) -> str:
        """Return the proof as text, in the format that `check.py` reads."""
        head = {
            "format": "rosenblatt-proof",
            "version": 1,
            "verdict": self.verdict,
            "bias": self.bias,
            "data": dict(vars(self.data)),
        }
        parts = (f"{json.dumps(name)}: {json.dumps(part)}" for name, part in (head | self._proof()).items())
        return "{\n " + ",\n ".join(parts) + "\n}"  # a line for each part, however long its lists

    def __str__(self) -> str:
        from rosenblatt.certify.wording import wording

        return wording(self)

    @abstractmethod
    def _proof(self) -> dict[str, Any]:
        """Return what the proof says beyond what it is about."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Separable(Answer):
    """Yes: a hyperplane has every row strictly on its side.

    Attributes
    ----------
    w, b : tuple of Fraction, Fraction
        The hyperplane: y (<w, x> + b) > 0 for every row.
    margin : Margin or None
        Bounds of the largest margin, if asked for.
    """

    w: tuple[Fraction, ...] = field(repr=False)
    b: Fraction = field(repr=False)
    margin: Margin | None = None

    @property
    def verdict(self) -> str:
        """The answer."""
        return "separable"

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        through = "" if self.bias else " through the origin"
        return f"A hyperplane{through} has every row strictly on its side."

    def _proof(self) -> dict[str, Any]:
        proof: dict[str, Any] = {"hyperplane": {"w": _vector(self.w), "b": check.text_of(self.b)}}
        if self.margin is not None:
            proof["margin"] = {
                "least": check.text_of(self.margin.least),
                "squared": [check.text_of(bound) for bound in self.margin.squared],
                "rows": [int(row) for row in self.margin.rows],
                "weights": [check.text_of(weight) for weight in self.margin.weights],
            }
        return proof


@dataclass(frozen=True, eq=False, kw_only=True)
class Inseparable(Answer):
    """No: a point lies in both convex hulls; without a bias, the origin lies in the hull of the y·x.

    Attributes
    ----------
    support : tuple of int
        The rows that are combined: at most n_features + 2, unless there was no time to find so few.
    weights : tuple of Fraction
        Their weights; they sum to 1 in each class, or without a bias in all.
    integers : tuple of int
        The weights up to a common factor, as the proof has them.
    ties : Quasi, Overlap or None
        Whether something separates with ties, and what; None if that was not found out.
    points : tuple of (tuple of float, int) or None
        The rows combined, and their sides; None in a proof read from a file.
    """

    support: tuple[int, ...]
    integers: tuple[int, ...] = field(repr=False)
    ties: Quasi | Overlap | None = None
    points: tuple[tuple[tuple[float, ...], int], ...] | None = field(default=None, repr=False)

    @property
    def verdict(self) -> str:
        """The answer."""
        return "inseparable"

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        n = len(self.support)
        if self.bias:
            return f"A point lies in the convex hulls of both classes, a combination of {n} rows."
        return f"The origin lies in the convex hull of the rows y·x, a combination of {n} of them."

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """The weights of the rows."""
        total = Fraction(sum(self.integers), 2 if self.bias else 1)  # each class has as much as the other
        return tuple(weight / total for weight in self.integers)

    @property
    def point(self) -> tuple[Fraction, ...] | None:
        """The point in both hulls, or without a bias the origin."""
        if self.points is None:
            return None
        if not self.bias:
            return (Fraction(0),) * self.data.features
        total = [Fraction(0)] * self.data.features
        for weight, (values, side) in zip(self.weights, self.points, strict=True):
            if side > 0:
                total = [a + weight * Fraction(value) for a, value in zip(total, values, strict=True)]
        return tuple(total)

    def _proof(self) -> dict[str, Any]:
        proof: dict[str, Any] = {"combination": _combination(self.support, self.integers)}
        match self.ties:
            case Quasi(w, b, strict):
                proof["ties"] = {"kind": "quasi", "w": _vector(w), "b": check.text_of(b), "strict": strict}
            case Overlap(support, weights, null):
                proof["ties"] = {
                    "kind": "overlap",
                    **_combination(support, weights),
                    "null": [_vector(vector) for vector in null],
                }
        return proof


@dataclass(frozen=True, eq=False, kw_only=True)
class Undecided(Answer):
    """Neither was found in the time allowed.

    Attributes
    ----------
    why : str
        What was being done when time was over.
    """

    why: str

    @property
    def verdict(self) -> str:
        """The answer."""
        return "undecided"

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return self.why

    def _proof(self) -> dict[str, Any]:
        raise UndecidedError(f"There is no proof to write: {self.why}")


def _vector(values: tuple[Fraction, ...]) -> Any:
    """Write a vector, zeros left out if they are many."""
    stored = [j for j, value in enumerate(values) if value]
    if 4 * len(stored) >= len(values):
        return [check.text_of(value) for value in values]
    return {"columns": stored, "values": [check.text_of(values[j]) for j in stored]}


def _combination(support: tuple[int, ...], weights: tuple[int, ...]) -> dict[str, Any]:
    return {"rows": list(support), "weights": [check.text_of(weight) for weight in weights]}
