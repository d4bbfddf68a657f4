"""Answers with their proofs: separable, inseparable, or undecided; and the same in words."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from functools import cached_property
from reprlib import repr as short
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from rosenblatt.certify import check
from rosenblatt.certify.margin import Margin
from rosenblatt.certify.rigorous import Bound
from rosenblatt.escaping import ShowsText
from rosenblatt.exceptions import LabelError, Remedy, UndecidedError, join_messages
from rosenblatt.rows.batch import Batch
from rosenblatt.typing import Floats


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


class Certificate(ShowsText, ABC):
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

    def _html_parts(self) -> tuple[object, ...]:
        return tuple(str(self).splitlines())

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


def proof_text(verdict: str, fields: Mapping[str, Any], *, version: int = 1) -> str:
    """Return a proof as text, in the format that `check.py` reads: one line for each field, however long."""
    proof = {"format": "rosenblatt-proof", "version": version, "verdict": verdict, **fields}
    return "{\n " + ",\n ".join(f"{json.dumps(name)}: {json.dumps(part)}" for name, part in proof.items()) + "\n}"


@dataclass(frozen=True, eq=False, kw_only=True)
class OutOfTime:
    """An answer that a limit ended: `why` says what was being computed, and nothing is proved."""

    why: str

    verdict: ClassVar[str] = "undecided"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        return self.why

    def _proof(self) -> dict[str, Any]:
        raise UndecidedError(f"There is no proof to write: {self.why}")


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
        The probability that as many points in general position, labelled at random, are separable (Cover 1965).
        For these rows it is at most this. If it is near 1, a yes says little about the labels. None in a proof
        read from a file.
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
        about = {"bias": self.bias, "data": self.data.to_json()}
        return proof_text(self.verdict, {**about, **self._proof()}, version=2 if self.data.partitions else 1)

    def __str__(self) -> str:
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
    def coef_(self) -> Floats:
        """The weights `w` in floats, of shape (1, n_features), as scikit-learn has them.

        `w` and `b` are first divided by the largest of them. Rounding moves the hyperplane, so rows that are
        closer to it than that may be on its other side.
        """
        return np.array([self._rounded()[:-1]])

    @property
    def intercept_(self) -> Floats:
        """The bias `b` in floats, of shape (1,); see `coef_`."""
        return np.array(self._rounded()[-1:])

    def _rounded(self) -> list[float]:
        largest = max(map(abs, (*self.w, self.b))) or Fraction(1)
        return [float(value / largest) for value in (*self.w, self.b)]

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
class InseparableVerdict(Answer):
    """No, proved by floats whose rounding errors are bounded; `proof` is an exact proof of it.

    Weights near the floats `weights`, none of which is 0, combine the rows of `support` to 0 exactly. They differ
    from them by less than the share residual / stretch: see `rosenblatt.certify.rigorous`.

    Attributes
    ----------
    support : tuple of int
        The rows that contradict each other.
    weights : tuple of float
        Their weights, in floats.
    residual, stretch : float
        ρ and s: an upper bound of how far the weighted sum is from 0, and a lower bound of how far small changes
        of the weights can move it.
    spanning : bool
        Whether these rows span all features: then no hyperplane separates even if rows may lie on it.

    Examples
    --------
    >>> import numpy as np, rosenblatt as rb
    >>> X, y = np.random.default_rng(0).normal(size=(500, 4)), np.arange(500) % 2
    >>> found = rb.certify(X, y, proof="verdict")
    >>> found.verdict, found.residual < 1e-9 < found.stretch, bool(found.verify(X, y))
    ('inseparable', True, True)
    >>> found.proof.verdict, bool(found.proof.verify(X, y))
    ('inseparable', True)
    """

    support: tuple[int, ...] = field(repr=False)
    weights: tuple[float, ...] = field(repr=False)
    residual: float
    stretch: float
    spanning: bool
    kept: Any = field(default=None, repr=False)  # the rows of `support`, as a `SeparationProblem`

    verdict: ClassVar[str] = "inseparable"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        share = Bound(self.residual, self.stretch).ratio
        shown = float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(share))
        return (
            f"A combination of {len(self.support)} rows is 0, by weights within a share of {shown:.1g} of those "
            "found; rounding errors are counted in."
        )

    @cached_property
    def proof(self) -> Inseparable:
        """The exact proof, made when it is first looked at; with 500 features that takes seconds.

        Raises
        ------
        rosenblatt.exceptions.UndecidedError
            If the rows were not kept: they were too many, or this was read from a file.
        """
        from rosenblatt.certify.separability import make_proof

        if self.kept is None:
            raise UndecidedError(
                "The rows of this verdict were not kept, so its exact proof cannot be made here. Call "
                "rosenblatt.certify(X, y) with the data."
            )
        return make_proof(self)

    @property
    def known(self) -> Certificate:
        """The exact proof if it was made or its rows are kept, else this verdict."""
        return self if self.kept is None and "proof" not in self.__dict__ else self.proof

    def to_json(self) -> str:
        """Return the exact proof as text, in the format that `check.py` reads."""
        return self.proof.to_json()

    def numbers(self) -> dict[str, Any]:
        """Return the verdict without its rows, as a model file keeps it."""
        held = ("support", "weights", "residual", "stretch", "spanning")
        return {"bias": self.bias, "data": self.data.to_json(), **{name: getattr(self, name) for name in held}}

    def _proof(self) -> dict[str, Any]:
        return self.proof._proof()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: all but the rows."""
        return {**self.__dict__, "kept": None}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class Undecided(OutOfTime, Answer):
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


def read_verdict(stored: dict[str, Any]) -> InseparableVerdict:
    """Read the numbers of a verdict that a model file keeps; call `verify` before you rely on it.

    Raises ValueError, TypeError or KeyError if they are not such numbers.
    """
    data, support, weights = stored["data"], stored["support"], stored["weights"]
    shape, labels = (data["rows"], data["features"]), (data["positive"], data["negative"])
    flags = stored["bias"], stored["spanning"]
    numbers = [stored["residual"], stored["stretch"], *weights]
    if not all(type(each) is int and each >= 0 for each in (*shape, *support)) or len(support) != len(weights):
        raise ValueError("rows are not numbered")
    if not all(type(each) is float and 0.0 <= each < float("inf") for each in numbers) or not stored["stretch"]:
        raise ValueError("weights are not positive numbers")
    texts = data["sha256"], labels[0], labels[1] or ""
    if not all(type(each) is bool for each in flags) or not all(type(each) is str for each in texts):
        raise ValueError("parts have other types")
    return InseparableVerdict(
        bias=flags[0],
        data=Data(*shape, *labels, data["sha256"]),
        support=tuple(support),
        weights=tuple(weights),
        residual=numbers[0],
        stretch=numbers[1],
        spanning=flags[1],
    )


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


# Certificates in words, with numbers where they are few.

MAX_TERMS = 8  # the most terms that are written out
MAX_DIGITS = 12  # the most digits that are written out
MAX_LISTED_ROWS = 12  # the most row numbers that are listed
NO_TIES = "Even allowing rows exactly on the plane, none separates the classes."
HALVES = dict(zip([Fraction(each) for each in ("1/2", "1/3", "2/3", "1/4", "3/4")], "½⅓⅔¼¾", strict=True))


def wording(certificate: Answer, *, first: int = 0) -> str:
    """Return a certificate in words; `first` is the number of the first row."""
    data = certificate.data
    other = short(data.negative) if data.negative is not None else "all others"
    lines = [f"{certificate.verdict.capitalize()}: {short(data.positive)} against {other}. {certificate.reason}"]
    if isinstance(certificate, Separable):
        lines += _plane(certificate)
    if isinstance(certificate, Inseparable):
        lines += _combined_rows(certificate, first) + _ties(certificate, first)
    if isinstance(certificate, InseparableVerdict):
        lines += _verdict(certificate, first)
    if certificate.chance is not None:
        lines.append(_chance(certificate.chance))
    return join_messages("\n", lines)


def _verdict(certificate: InseparableVerdict, first: int) -> list[str]:
    """Say which rows contradict each other, what is known of ties, and how to get the exact proof."""
    lines = [f"Its rows are {listed([row + first for row in certificate.support])}."]
    lines.append(NO_TIES if certificate.spanning else _open_ties("was not asked; ", " does"))
    made = certificate.kept is not None or "proof" in certificate.__dict__
    return [*lines, f"The exact proof is made by {'its attribute proof' if made else 'rosenblatt.certify(X, y)'}."]


def _open_ties(why: str, then: str) -> str:
    """Say that it is not known whether classes are separable with ties, why, and what decides it."""
    which = "Whether a plane separates the classes if rows may lie on it "
    return which + why + Remedy("ties", True) + then + "."


def _chance(most: float) -> str:
    """Say how likely labels drawn at random are separable: rows in general position are the likeliest.

    Examples
    --------
    >>> _chance(0.8751)
    'Labels drawn at random would be separable with probability at most 0.876 (Cover 1965).'
    """
    if most == 1.0:
        return "So few rows in general position would be separable for any labels (Cover 1965)."
    rounded = float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(most))
    shown = f"{rounded:.3g}" if most >= 1e-300 else "1e-300"
    return f"Labels drawn at random would be separable with probability at most {shown} (Cover 1965)."


def number(value: Fraction) -> str:
    """Write a rational exactly if it is short, and else approximately.

    Examples
    --------
    >>> number(Fraction(1, 2)), number(Fraction(-7, 3)), number(Fraction(1, 3**40))
    ('½', '-7/3', '≈8.225e-20')
    """
    if value in HALVES:
        return HALVES[value]
    if max(abs(value.numerator), value.denominator) < 10**MAX_DIGITS:
        return str(value)
    try:
        return f"≈{float(value):.4g}"
    except OverflowError:
        return f"≈2^{abs(value.numerator).bit_length() - value.denominator.bit_length()}"


def listed(rows: Sequence[object]) -> str:
    """Write a list of row numbers or names, only the first of them if they are many."""
    more = f" and {len(rows) - MAX_LISTED_ROWS} more" if len(rows) > MAX_LISTED_ROWS else ""
    return ", ".join(map(str, rows[:MAX_LISTED_ROWS])) + more


def _plane(certificate: Separable) -> list[str]:
    lines = []
    if _few(certificate.w):
        f = _function(certificate, certificate.w, certificate.b)
        lines.append(f"f(x) = {f} is positive for {short(certificate.data.positive)} and negative otherwise.")
    if certificate.margin is not None:
        low, high = certificate.margin
        square = number(certificate.margin.squared[0]) if certificate.margin.exact else "≈"
        square = "" if square.startswith("≈") else f"; exactly, γ² = {square}"
        lines.append(f"The largest margin γ lies between {low:.17g} and {high:.17g}{square}.")
    return lines


def _few(w: Sequence[Fraction]) -> bool:
    return sum(map(bool, w)) <= MAX_TERMS


def _function(certificate: Answer, w: Sequence[Fraction], b: Fraction) -> str:
    """Write <w, x> + b."""
    terms = [(value, certificate.feature(j)) for j, value in enumerate(w) if value]
    if b or not terms:
        terms.append((b, ""))
    written = ""
    for value, name in terms:
        size = abs(value)
        term = name if size == 1 and name else f"{number(size)}{'·' * bool(name)}{name}"
        sign = ("−" if value < 0 else "") if not written else (" − " if value < 0 else " + ")
        written += sign + term
    return written


def _combined_rows(certificate: Inseparable, first: int) -> list[str]:
    rows = listed([row + first for row in certificate.support])
    points = certificate.points
    few = len(certificate.support) <= MAX_TERMS and certificate.data.features <= MAX_TERMS
    if points is None or not few:
        return [f"Its rows are {rows}."]
    if certificate.bias and len(points) == 2:
        return [f"Rows {rows} are equal: {_point(points[0][0])}."]
    sides: dict[int, list[str]] = {1: [], -1: []}
    for weight, (values, side) in zip(certificate.weights, points, strict=True):
        share = "" if weight == 1 else f"{number(weight)}·"
        sides[side].append(share + _point(values))
    if certificate.bias:
        return [" + ".join(sides[-1]) + " = " + " + ".join(sides[1])]
    return [" − ".join([" + ".join(sides[1]) or "0", *sides[-1]]) + " = 0"]


def _point(values: Sequence[float]) -> str:
    return "(" + ",".join(f"{value:g}" for value in values) + ")"


def _ties(certificate: Inseparable, first: int) -> list[str]:
    ties = certificate.ties
    if isinstance(ties, Overlap):
        return [NO_TIES]
    if not isinstance(ties, Quasi):
        return [
            _open_ties("was not determined within the budget; ", " has no limit")
            if certificate.ties_open
            else _open_ties("was not asked; ", " does")
        ]
    rows = "" if ties.rows is None else f" (rows {listed([row + first for row in ties.rows])})"
    plane = f" {_function(certificate, ties.w, ties.b)} = 0" if _few(ties.w) else ""
    features = [certificate.feature(j) for j in ties.features]
    return [
        f"Quasi-separated: the hyperplane{plane} has no row on its wrong side, {ties.strict} strictly on their "
        f"correct side{rows}, and the others on it.",
        f"Logistic regression diverges along it; the features involved are {listed(features)}.",
    ]
