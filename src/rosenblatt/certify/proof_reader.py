"""Read a certificate from the text of a proof; nothing in it is trusted before it is verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.certify import check
from rosenblatt.certify.certificate import (
    Answer,
    Certificate,
    Data,
    Inseparable,
    Overlap,
    Quasi,
    Separable,
    Verification,
)
from rosenblatt.certify.class_rows import ClassRows
from rosenblatt.certify.class_tables import ClassTables, Verdicts
from rosenblatt.certify.direct_certificate import ClassData, DirectInseparable, DirectSeparable
from rosenblatt.certify.margin import Margin
from rosenblatt.certify.rationals import common
from rosenblatt.certify.verify import Refuted, first_refuted, other_shape
from rosenblatt.exceptions import FormatError
from rosenblatt.rooms import find
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.typing import Ints

MAX_FEATURES = 2**24  # the most features: a few bytes can describe a vector with this many
MAX_ROWS = 2**62  # the most rows
MAX_NUMBERS = 2**27  # in all vectors of all proofs that are held at a time, zeros included
NUMBERS_AT_ONCE = 2**20  # the numbers of several proofs that are read before they are checked


def read(text: str) -> Certificate:
    """Read a proof, or a list of proofs for several classes; raise `check.ProofError` if the text is not one."""
    proofs = check.read_proofs(text)
    if sum(map(_numbers_in, proofs)) > MAX_NUMBERS:
        raise check.ProofError(
            f"its vectors have more than {MAX_NUMBERS} numbers; check.py checks them one by one"
        )
    if len(proofs) == 1:
        return _read(proofs[0])
    return ClassTables.of([_Reader(proof).answer() for proof in proofs])


def _read(proof: Mapping[str, Any]) -> Certificate:
    answer: Certificate
    if "sentences" in proof["data"]:
        answer = _read_sentences(proof)
    else:
        answer = (_ClassReader if "classes" in proof["data"] else _Reader)(proof).answer()
    return answer


def read_file(path: str) -> list[dict[str, Any]]:
    """Return the proofs in a file, within the limits of `check.py`; raise `FormatError` if it is not a proof."""
    try:
        return check.read_file(path)
    except check.DataError as error:
        raise FormatError(str(error).removeprefix(f"{path} is "), file=path) from None


def _read_sentences(proof: Mapping[str, Any]) -> Any:
    return find("sequences.sentence_proof").read_sentences(proof)


def verify_sentences(proof: Mapping[str, Any], X: Any, y: Any) -> tuple[Verification, str]:
    """Check a proof about sentences; return the result and the verdict."""
    try:
        answer = _read_sentences(proof)
    except check.ProofError as error:
        return Verification(False, str(error)), proof["verdict"]
    return answer.verify(X, y), answer.verdict


def verify_proofs(proofs: list[dict[str, Any]], X: Any, y: Any) -> tuple[Verification, str]:
    """Check the proofs in a file on data; return the result and the verdict.

    Several proofs are read a few at a time, so that they take little memory, and checked by as many threads as are
    allowed.
    """
    if "sentences" in proofs[0]["data"]:
        return verify_sentences(proofs[0], X, y)
    batch = as_batch(X, y)
    about_tables = [proof for proof in proofs if "classes" not in proof["data"]]
    verdicts = Verdicts.of(about_tables, batch.classes.tolist())
    try:
        if len(proofs) == 1:
            answer = _read_for(batch, proofs[0])
            return answer.verify(X, y), answer.verdict
        check.require_labels(proofs, batch.classes.tolist())
        rows = ClassRows(batch)
        for group in _groups(proofs):
            found = _first_refuted(group, rows)
            if found is not None:
                return found, verdicts.verdict
    except (Refuted, check.ProofError) as error:
        return Verification(False, str(error)), verdicts.verdict
    return Verification(True, verdicts.reason), verdicts.verdict


def _groups(proofs: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield proofs in groups whose vectors are not too many numbers to hold together."""
    group: list[dict[str, Any]] = []
    held = 0
    for proof in proofs:
        numbers = _numbers_in(proof)
        if group and held + numbers > NUMBERS_AT_ONCE:
            yield group
            group, held = [], 0
        group.append(proof)
        held += numbers
    yield group


def _first_refuted(proofs: Sequence[dict[str, Any]], rows: ClassRows) -> Verification | None:
    """Return why the first of several proofs that does not hold does not; None if all hold."""
    answers: list[Answer] = []
    error: Exception | None = None
    for proof in proofs:
        try:
            answers.append(_read_for(rows.batch, proof))
        except (Refuted, check.ProofError) as refusal:  # raised in its turn
            error = refusal
            break
    if answers:
        rows.require_finite()
    if (refuted := first_refuted(answers, rows)) is not None:
        place, found = refuted
        data = proofs[place]["data"]
        rest = "the rest" if data["negative"] is None else data["negative"]
        return Verification(False, f"{data['positive']} against {rest}: {found.reason}")
    if error is not None:
        raise error
    return None


def _read_for(batch: Batch, proof: dict[str, Any]) -> Any:
    """Read a proof; raise `Refuted` if it is about another shape, before vectors of that are made."""
    data = proof["data"]
    if (data["rows"], data["features"]) != (batch.n_rows, batch.n_features):
        raise Refuted(other_shape(batch, data["rows"], data["features"]))
    if _numbers_in(proof) > MAX_NUMBERS:
        raise check.ProofError(f"its vectors have more than {MAX_NUMBERS} numbers")
    return _read(proof)


def _numbers_in(proof: Mapping[str, Any]) -> int:
    """Return how many numbers the vectors of a proof have, zeros included; about sentences there are no zeros."""
    if "sentences" in proof["data"]:
        return 0
    vectors = len(proof.get("ties", {}).get("null", ())) + len(proof.get("hyperplanes", ()))
    return int((proof["data"]["features"] + 1) * (1 + vectors))


class _Reader:
    """The parsed JSON of a proof, with all fields present and of the right type."""

    data: Any

    def __init__(self, proof: Mapping[str, Any]) -> None:
        self.proof = proof
        self.data, self.bias = self.about(proof["data"]), proof["bias"]
        if max(self.data.features, self.data.rows // (MAX_ROWS // MAX_FEATURES)) > MAX_FEATURES:
            raise check.ProofError(f"it is about more than {MAX_FEATURES} features or {MAX_ROWS} rows")

    def answer(self) -> Answer:
        """Return the certificate."""
        known: dict[str, Any] = {"bias": self.bias, "data": self.data}
        if self.proof["verdict"] == "separable":
            plane = self.proof["hyperplane"]
            w, b = self.vector(plane["w"], self.data.features), check.number(plane["b"])
            return Separable(**known, w=w, b=b, margin=self.margin(w, b))
        combination = self.proof["combination"]
        support, weights = self.rows(combination), _whole(_numbers(combination["weights"]))
        is_open = self.proof.get("ties", {}).get("kind") == "open"
        return Inseparable(
            **known, support=tuple(support.tolist()), integers=weights, ties=self.ties(), ties_open=is_open
        )

    def about(self, data: Mapping[str, Any]) -> Any:
        """Return the data of the proof."""
        given = dict(data)
        parts = tuple((part["rows"], part["sha256"]) for part in given.pop("partitions", ()))
        return Data(**given, partitions=parts)

    def margin(self, w: tuple[Fraction, ...], b: Fraction) -> Margin | None:
        """Return the bounds of the margin, or None."""
        part = self.proof.get("margin")
        if part is None:
            return None
        if len(part["squared"]) != 2:
            raise check.ProofError("margin.squared is not a pair")
        low, high = _numbers(part["squared"])
        least, rows, weights = check.number(part["least"]), self.rows(part), _numbers(part["weights"])
        return Margin((low, high), w, b, least, rows, weights, padding=None if self.bias else Fraction(0))

    def ties(self) -> Quasi | Overlap | None:
        """Return what the proof says about ties, or None."""
        part = self.proof.get("ties")
        if part is None or part["kind"] == "open":
            return None
        if part["kind"] == "quasi":
            return Quasi(self.vector(part["w"], self.data.features), check.number(part["b"]), part["strict"])
        width = self.data.features + self.bias
        if len(part["null"]) > width:
            raise check.ProofError("ties: there are more null vectors than dimensions")
        null = tuple(self.vector(each, width) for each in part["null"])
        return Overlap(tuple(self.rows(part).tolist()), _whole(_numbers(part["weights"])), null)

    def rows(self, part: Mapping[str, Any]) -> Ints:
        """Return the rows of a combination, after checking their numbers."""
        rows = part["rows"]
        if len(rows) != len(part["weights"]) or any(row >= self.data.rows for row in rows):
            raise check.ProofError(f"a combination does not give rows below {self.data.rows} a weight each")
        return np.array(rows, np.int64)

    def vector(self, written: Any, width: int) -> tuple[Fraction, ...]:
        """Return a vector, including its zeros."""
        columns, texts, _ = check.entries(written, width, "a vector")
        values, zero = dict(zip(columns, _numbers(texts), strict=True)), Fraction(0)
        return tuple(values.get(j, zero) for j in range(width))


class _ClassReader(_Reader):
    """The parsed JSON of a proof about all classes together."""

    def about(self, data: Mapping[str, Any]) -> Any:
        return ClassData(data["rows"], data["features"], tuple(data["classes"]), data["sha256"])

    def answer(self) -> Any:
        known: dict[str, Any] = {"bias": self.bias, "data": self.data}
        if self.proof["verdict"] == "separable":
            planes = self.proof["hyperplanes"]
            w = tuple(self.vector(each["w"], self.data.features) for each in planes)
            return DirectSeparable(**known, w=w, b=tuple(check.number(each["b"]) for each in planes))
        part = self.proof["combination"]
        rows, weights = self.rows(part), _whole(_numbers(part["weights"]))
        return DirectInseparable(
            **known, support=tuple(rows.tolist()), rivals=tuple(part["rivals"]), integers=weights
        )


def _numbers(texts: list[str]) -> tuple[Fraction, ...]:
    return tuple(map(check.number, texts))


def _whole(weights: tuple[Fraction, ...]) -> tuple[int, ...]:
    """Return weights times a common factor, as integers."""
    return tuple(common(weights)[0])
