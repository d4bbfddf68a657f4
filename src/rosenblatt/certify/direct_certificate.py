"""Answers, with their proofs, to whether an argmax of linear functions makes no error on several classes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from reprlib import repr as short
from typing import Any, ClassVar, Self

import numpy as np

from rosenblatt.certify import check
from rosenblatt.certify.certificate import (
    Certificate,
    OutOfTime,
    Verification,
    distinct_labels,
    proof_text,
    written_vector,
)
from rosenblatt.certify.direct import Argmax, Clash, ClassProblem
from rosenblatt.certify.fingerprint import Fingerprint
from rosenblatt.certify.rationals import combined, common, exact
from rosenblatt.certify.time_limit import Clock, Unsettled
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.rows.features import require_finite


@dataclass(frozen=True)
class ClassData:
    """The data of a proof about several classes.

    Attributes
    ----------
    rows, features : int
        The shape of the data.
    classes : tuple of str
        The labels, as text.
    sha256 : str
        The fingerprint of values and classes.
    """

    rows: int
    features: int
    classes: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectAnswer(Certificate):
    """An answer to whether an argmax of linear functions, one for each class, makes no error.

    Attributes
    ----------
    bias : bool
        Whether the functions have a bias.
    data : ClassData
        The data of the question.
    names : tuple of str or None
        The names of the features, if the data has any.
    """

    bias: bool
    data: ClassData
    names: tuple[str, ...] | None = field(default=None, repr=False)

    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same answer with other feature names."""
        return replace(self, names=names)

    def to_json(self) -> str:
        """Return the proof as text, in the format that `check.py` reads."""
        about = {"bias": self.bias, "data": {**vars(self.data), "classes": list(self.data.classes)}}
        return proof_text(self.verdict, {**about, **self._proof()})

    def verify(self, X: Any, y: Any) -> Verification:
        """Check the proof on data, exactly; see `Certificate.verify`."""
        batch = as_batch(X, y)
        require_finite(batch)
        data = self.data
        if (batch.n_rows, batch.n_features) != (data.rows, data.features):
            return Verification(
                False,
                f"These data have {batch.n_rows} rows and {batch.n_features} features, those of the proof "
                f"{short(data.rows)} and {short(data.features)}.",
            )
        keys = {check.label_key(label): k for k, label in enumerate(data.classes)}
        codes = [keys.get(check.label_key(str(label)), -1) for label in batch.classes.tolist()]
        if not 2 <= len(keys) == len(data.classes) or -1 in codes:
            return Verification(False, "The classes of these data are not those of the proof.")
        own = replace(batch, codes=np.array(codes)[batch.codes], classes=np.array(data.classes))
        if Fingerprint(own).of_classes(own.codes) != data.sha256:
            return Verification(False, "These are not the data of the proof: the fingerprints differ.")
        fault = self._fault(own)
        return Verification(not fault, fault or self.reason)

    def __str__(self) -> str:
        return f"{self.verdict.capitalize()}: {len(self.data.classes)} classes by one argmax. {self.reason}"

    @abstractmethod
    def _proof(self) -> dict[str, Any]:
        """Return the fields of the proof that depend on the verdict."""

    @abstractmethod
    def _fault(self, batch: Batch) -> str:
        """Return why the proof does not hold for its data; "" if it does."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectSeparable(DirectAnswer):
    """Yes: for every row the function of its class is strictly above all others.

    Attributes
    ----------
    w : tuple of tuples of Fraction
        The weights of each class, in the order of ``data.classes``.
    b : tuple of Fraction
        The bias of each class.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.certify([[0.0], [1.0], [2.0]], ["low", "middle", "high"], multiclass="direct")
    >>> found.verdict
    'separable'
    """

    w: tuple[tuple[Fraction, ...], ...] = field(repr=False)
    b: tuple[Fraction, ...] = field(repr=False)

    verdict: ClassVar[str] = "separable"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        return "On every row the linear function of its class is strictly above those of all others."

    def _proof(self) -> dict[str, Any]:
        planes = [{"w": written_vector(w), "b": check.text_of(b)} for w, b in zip(self.w, self.b, strict=True)]
        return {"hyperplanes": planes}

    def _fault(self, batch: Batch) -> str:
        if len(self.w) != len(self.data.classes) or any(len(w) != self.data.features for w in self.w):
            return "There is not one vector of weights for each class."
        if any(self.b) and not self.bias:
            return "A bias is not 0, but the functions have none."
        problem = ClassProblem(batch, bias=self.bias, clock=Clock(None))
        wrong = problem.wrong([[*w, b] for w, b in zip(self.w, self.b, strict=True)])
        if wrong is None:
            return ""
        rival = problem.label(wrong.rivals[0])
        return f"On row {wrong.rows[0]} the function of its class is not above that of {rival}."


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectInseparable(DirectAnswer):
    """No: any functions would have to be above each other in a circle.

    For each class, the rows of the class with their weights sum to the same as the rows that it is the rival of.

    Attributes
    ----------
    support : tuple of int
        The rows that are combined; a row may occur once for each rival.
    rivals : tuple of int
        The rival of each, as a position in ``data.classes``.
    integers : tuple of int
        Their positive weights.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X = [[-2.0, -6.0], [-1.0, 2.0], [6.0, 1.0], [-1.0, -2.0], [-4.0, 5.0], [2.0, 0.0]]
    >>> rb.certify(X, [0, 0, 1, 1, 2, 2], multiclass="direct").verdict
    'inseparable'
    """

    support: tuple[int, ...]
    rivals: tuple[int, ...] = field(repr=False)
    integers: tuple[int, ...] = field(repr=False)

    verdict: ClassVar[str] = "inseparable"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        k, n = len(self.data.classes), len(set(self.support))
        return f"Any {k} linear functions err on one of {n} rows, which have a combination to 0."

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """The weights, which sum to 1."""
        return tuple(Fraction(weight, sum(self.integers)) for weight in self.integers)

    def _proof(self) -> dict[str, Any]:
        return {
            "combination": {
                "rows": list(self.support),
                "rivals": list(self.rivals),
                "weights": [check.text_of(weight) for weight in self.integers],
            }
        }

    def _fault(self, batch: Batch) -> str:
        rows, rivals, weights = self.support, self.rivals, self.integers
        if not rows or not len(rows) == len(rivals) == len(weights) == len(set(zip(rows, rivals, strict=False))):
            return "A combination needs different rows and rivals, with a weight each."
        if min(weights) <= 0:
            return "A combination needs positive weights."
        if max(rivals) >= len(self.data.classes) or max(rows) >= batch.n_rows:
            return "A combination names a row or a class that there is not."
        own = batch.codes[list(rows)].tolist()
        if any(a == b for a, b in zip(own, rivals, strict=True)):
            return "A combination has the class of a row as its rival."
        table = batch.take(np.array(rows)).dense()
        for k in range(len(self.data.classes)):
            at = [i for i, pair in enumerate(zip(own, rivals, strict=True)) if k in pair]
            if not at:
                continue
            signed = [weights[i] if own[i] == k else -weights[i] for i in at]
            entries = [[exact(value) for value in table[i].tolist()] + [Fraction(1)] * self.bias for i in at]
            flat = common([value for row in entries for value in row])[0]
            width = len(entries[0])
            if any(combined(signed, [flat[j : j + width] for j in range(0, len(flat), width)])):
                return "The combination of rows is not 0."
        return ""


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectUndecided(OutOfTime, DirectAnswer):
    """The limit was reached before an answer was found.

    Attributes
    ----------
    why : str
        What was being computed then.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X = [[0.0], [1.0], [2.0]]
    >>> rb.certify(X, ["low", "middle", "high"], multiclass="direct", time_limit=0).verdict
    'undecided'
    """

    def _fault(self, batch: Batch) -> str:
        return "An undecided question has no proof."


def certify_direct(batch: Batch, *, bias: bool, clock: Clock) -> DirectAnswer:
    """Decide the question about finite rows, and express the proof in terms of the data."""
    found: Argmax | Clash | str
    try:
        found = ClassProblem(batch, bias=bias, clock=clock).decide()
    except Unsettled as end:
        found = str(end)
    return make_answer(batch, found, bias=bias)


def make_answer(batch: Batch, found: Argmax | Clash | str, *, bias: bool) -> DirectAnswer:
    """Return the answer about all rows of a batch; text is the reason why there is none."""
    labels = distinct_labels(batch)
    sha256 = Fingerprint(batch).of_classes(batch.codes)
    data = ClassData(batch.n_rows, batch.n_features, labels, sha256)
    known: dict[str, Any] = {"bias": bias, "data": data, "names": batch.names}
    if isinstance(found, str):
        return DirectUndecided(**known, why=found)
    if isinstance(found, Argmax):
        w = tuple(tuple(vector[:-1]) for vector in found.vectors)
        b = tuple(vector[-1] if bias else Fraction(0) for vector in found.vectors)
        return DirectSeparable(**known, w=w, b=b)
    order = np.lexsort((found.rivals, found.rows))
    return DirectInseparable(
        **known,
        support=tuple(found.rows[order].tolist()),
        rivals=tuple(found.rivals[order].tolist()),
        integers=tuple(found.weights[k] for k in order),
    )
