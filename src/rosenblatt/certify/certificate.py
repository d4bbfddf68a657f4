"""Answers with their proofs: separable, inseparable, or undecided."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

from rosenblatt.certify import check
from rosenblatt.certify.margin import Margin
from rosenblatt.certify.tie_verdicts import Overlap, Quasi
from rosenblatt.data.batch import Batch
from rosenblatt.exceptions import LabelError, UndecidedError


class Verification(NamedTuple):
    """Whether a proof holds for some data; it is true if it does.

    Attributes
    ----------
    holds : bool
        The answer.
    reason : str
        What is proved, or why the proof does not hold.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_xor()
    >>> rb.certify(X, y).verify(X, y).holds
    True
    """

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class Data:
    """The data of a proof.

    Attributes
    ----------
    rows, features : int
        The shape of the data.
    positive, negative : str, str or None
        The labels of the two sides, as text; None for all labels but the positive one. Rows with other labels
        are left out.
    sha256 : str
        The fingerprint of values and sides; empty if partitions have their own.
    partitions : tuple of (int, str)
        The number of rows and the fingerprint of each partition, in order; empty if all rows have one.
    """

    rows: int
    features: int
    positive: str
    negative: str | None
    sha256: str = ""
    partitions: tuple[tuple[int, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a proof writes them."""
        told = {name: value for name, value in vars(self).items() if name not in ("sha256", "partitions")}
        if not self.partitions:
            return {**told, "sha256": self.sha256}
        return {**told, "partitions": [{"rows": rows, "sha256": own} for rows, own in self.partitions]}


class Certificate(ABC):
    """An answer with its proof.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_or()
    >>> again = rb.certify.Certificate.from_json(rb.certify(X, y).to_json())
    >>> again.verdict, bool(again.verify(X, y))
    ('separable', True)
    """

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The answer: "separable", "inseparable" or "undecided"."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""

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
            True if these are the data of the proof, and the proof holds.
        """

    @abstractmethod
    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same answer with other feature names."""

    @staticmethod
    def from_json(text: str) -> Certificate:
        """Read a proof, or a list of proofs for several classes; call `verify` before you rely on it.

        Raises
        ------
        rosenblatt.certify.check.ProofError
            If the text is not a proof.
        """
        from rosenblatt.certify.proof_reader import read

        return read(text)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer(Certificate):
    """An answer to whether a hyperplane separates two classes.

    Attributes
    ----------
    bias : bool
        Whether hyperplanes have a bias; without one they contain the origin.
    data : Data
        The data of the question.
    chance : float or None
        The probability that as many points in general position, labelled at random, are separable (Cover 1965). If
        it is near 1, a yes says little about the labels. None in a proof read from a file.
    names : tuple of str or None
        The names of the features, if the data has any.
    """

    bias: bool
    data: Data
    chance: float | None = field(default=None, repr=False)
    names: tuple[str, ...] | None = field(default=None, repr=False)

    def feature(self, j: int) -> str:
        """Return the name of a feature: that of its column, or x1, x2, …."""
        return f"x{j + 1}" if self.names is None else self.names[j]

    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same answer with other feature names."""
        return replace(self, names=names)

    def verify(self, X: Any, y: Any) -> Verification:
        """Check the proof on data, exactly; see `Certificate.verify`."""
        from rosenblatt.certify.verify import verify

        return verify(self, X, y)

    def to_json(self) -> str:
        """Return the proof as text, in the format that `check.py` reads."""
        proof = {
            "format": "rosenblatt-proof",
            "version": 2 if self.data.partitions else 1,
            "verdict": self.verdict,
            "bias": self.bias,
            "data": self.data.to_json(),
            **self._proof(),
        }
        parts = (f"{json.dumps(name)}: {json.dumps(part)}" for name, part in proof.items())
        return "{\n " + ",\n ".join(parts) + "\n}"  # one line for each part, however long

    def __str__(self) -> str:
        from rosenblatt.certify.wording import wording

        return wording(self)

    @abstractmethod
    def _proof(self) -> dict[str, Any]:
        """Return the fields of the proof that depend on the verdict."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Separable(Answer):
    """Yes: a hyperplane has every row strictly on its side.

    Attributes
    ----------
    w, b : tuple of Fraction, Fraction
        The hyperplane: y (<w, x> + b) > 0 for every row.
    margin : Margin or None
        Bounds on the largest margin, if requested.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.certify(*rb.datasets.load_and())
    >>> found.verdict, str(found.b), [str(each) for each in found.w]
    ('separable', '-3', ['2', '2'])
    """

    w: tuple[Fraction, ...] = field(repr=False)
    b: Fraction = field(repr=False)
    margin: Margin | None = None

    verdict: ClassVar[str] = "separable"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        through = "" if self.bias else " through the origin"
        return f"A hyperplane{through} has every row strictly on its side."

    def _proof(self) -> dict[str, Any]:
        proof: dict[str, Any] = {"hyperplane": {"w": written_vector(self.w), "b": check.text_of(self.b)}}
        if self.margin is not None:
            proof["margin"] = {
                "least": check.text_of(self.margin.least),
                "squared": [check.text_of(bound) for bound in self.margin.squared],
                **_combination(self.margin.rows.tolist(), self.margin.weights),
            }
        return proof


@dataclass(frozen=True, eq=False, kw_only=True)
class Inseparable(Answer):
    """No: a point lies in both convex hulls; without a bias, the origin lies in the hull of the y·x.

    Attributes
    ----------
    support : tuple of int
        The rows that are combined: at most n_features + 2, unless the time was too short to find so few.
    weights : tuple of Fraction
        Their weights; they sum to 1 in each class, or in total without a bias.
    integers : tuple of int
        The weights times a common factor, as in the proof.
    ties : Quasi, Overlap or None
        Whether a hyperplane separates with ties; None if that is not known.
    ties_open : bool
        Whether ties were looked for, and were not determined within the budget.
    points : tuple of (tuple of float, int) or None
        The rows combined, and their sides; None in a proof read from a file.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.certify(*rb.datasets.load_xor())
    >>> found.support, [str(each) for each in found.point]
    ((0, 1, 2, 3), ['1/2', '1/2'])
    """

    support: tuple[int, ...]
    integers: tuple[int, ...] = field(repr=False)
    ties: Quasi | Overlap | None = None
    ties_open: bool = False
    points: tuple[tuple[tuple[float, ...], int], ...] | None = field(default=None, repr=False)

    verdict: ClassVar[str] = "inseparable"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        n = len(self.support)
        if self.bias:
            return f"A point lies in the convex hulls of both classes, a combination of {n} rows."
        return f"The origin lies in the convex hull of the rows y·x, a combination of {n} of them."

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """The weights of the rows."""
        total = Fraction(sum(self.integers), 2 if self.bias else 1)  # both classes have the same sum
        return tuple(weight / total for weight in self.integers)

    @property
    def point(self) -> tuple[Fraction, ...] | None:
        """The point in both hulls, or without a bias the origin."""
        if self.points is None:
            return None
        total = [Fraction(0)] * self.data.features
        for weight, (values, side) in zip(self.weights, self.points, strict=True):
            if side > 0 and self.bias:
                total = [a + weight * Fraction(value) for a, value in zip(total, values, strict=True)]
        return tuple(total)

    def _proof(self) -> dict[str, Any]:
        proof: dict[str, Any] = {"combination": _combination(self.support, self.integers)}
        match self.ties:
            case Quasi(w, b, strict):
                proof["ties"] = {"kind": "quasi", "w": written_vector(w), "b": check.text_of(b), "strict": strict}
            case Overlap(support, weights, null):
                combination = _combination(support, weights)
                proof["ties"] = {
                    "kind": "overlap",
                    **combination,
                    "null": [written_vector(vector) for vector in null],
                }
            case None if self.ties_open:
                proof["ties"] = {"kind": "open"}
        return proof


@dataclass(frozen=True, eq=False, kw_only=True)
class Undecided(Answer):
    """The time limit was reached before an answer was found.

    Attributes
    ----------
    why : str
        What was being computed when the time was over.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.certify(*rb.datasets.make_diagonal(50, seed=1), time_limit=0)
    >>> found.verdict, found.reason
    ('undecided', 'Time was over while converting rows to integers. Allow more (time_limit).')
    """

    why: str

    verdict: ClassVar[str] = "undecided"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        return self.why

    def _proof(self) -> dict[str, Any]:
        raise UndecidedError(f"There is no proof to write: {self.why}")


def written_vector(values: tuple[Fraction, ...]) -> Any:
    """Write a vector, without its zeros if they are many."""
    stored = [j for j, value in enumerate(values) if value]
    if 4 * len(stored) >= len(values):
        return [check.text_of(value) for value in values]
    return {"columns": stored, "values": [check.text_of(values[j]) for j in stored]}


def distinct_labels(batch: Batch) -> tuple[str, ...]:
    """Return the labels as text; raise `LabelError` if a proof cannot tell two of them apart."""
    keys: dict[object, str] = {}
    labels = tuple(str(label) for label in batch.classes.tolist())
    for label in labels:
        if (other := keys.setdefault(check.label_key(label), label)) is not label:
            raise LabelError(
                f"The labels {other!r} and {label!r} cannot be distinguished in a proof, which compares labels "
                "as numbers if they are numbers, and else as text without outer blanks. Rename one of them."
            )
    return labels


def _combination(rows: Any, weights: tuple[int, ...] | tuple[Fraction, ...]) -> dict[str, Any]:
    return {"rows": list(rows), "weights": [check.text_of(weight) for weight in weights]}
