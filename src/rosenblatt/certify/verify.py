"""Check a certificate on arrays, exactly and fast; `check.py` independently does the same on lists."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from fractions import Fraction
from math import isclose
from reprlib import repr as short
from typing import Any

import numpy as np

from rosenblatt.certify import check
from rosenblatt.certify.certificate import (
    Answer,
    Data,
    Inseparable,
    InseparableVerdict,
    Overlap,
    Quasi,
    Separable,
    Verification,
)
from rosenblatt.certify.class_rows import ClassRows, ClassSigns, SidedPlane
from rosenblatt.certify.fingerprint import Fingerprint, Signs
from rosenblatt.certify.problem import SeparationProblem, cover_probability
from rosenblatt.certify.rationals import combined, common, rank, shifted, times_powers
from rosenblatt.certify.rigorous import prove_contradiction
from rosenblatt.certify.sides import products
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features
from rosenblatt.threads import one_blas_thread, ordered, using
from rosenblatt.typing import Ints

ROUNDING_SHARE = 1.001  # by which the bounds of another machine may differ; they have room for 1.02
CHANCE_ROUNDING = 1e-9  # the same for a probability
OTHER_CHANCE = "The probability said of labels drawn at random is not that of so many rows."
VALUES_A_DECISION = 64  # how many values are checked in about the time that one takes to decide a question


class Refuted(Exception):  # noqa: N818 - becomes the answer "no"
    """The proof does not hold, for the reason given."""


def verify(certificate: Answer, X: Any, y: Any) -> Verification:
    """Check a certificate on data."""
    return verify_on(certificate, ClassRows.of(X, y))


def verify_on(certificate: Answer, rows: ClassRows) -> Verification:
    """Check a certificate on rows."""
    try:
        return Verification(True, _checked(certificate, rows, _sides_of(certificate, rows)))
    except (Refuted, check.ProofError) as refusal:
        return Verification(False, str(refusal))


def first_refuted(certificates: Sequence[Answer], rows: ClassRows) -> tuple[int, Verification] | None:
    """Return the first of several certificates that does not hold, by its position, and why; None if all hold.

    They are checked by as many threads as are allowed.
    """
    with using(None, rows.batch.stored / VALUES_A_DECISION), one_blas_thread():
        rows.read()
        sides, refuted = [], None
        for k, certificate in enumerate(certificates):
            try:
                sides.append(_sides_of(certificate, rows))
            except (Refuted, check.ProofError) as refusal:
                refuted = k, Verification(False, str(refusal))
                break
        planes = {
            k: SidedPlane(sides[k], each.w, each.b)
            for k, each in enumerate(certificates[: len(sides)])
            if isinstance(each, Separable) and each.margin is None and _fits(each, rows)
        }
        proved = {k for k, right in zip(planes, rows.tested(list(planes.values())), strict=True) if right}

        def result(k: int) -> tuple[int, Verification]:
            try:
                return k, Verification(True, _checked(certificates[k], rows, sides[k]))
            except (Refuted, check.ProofError) as refusal:
                return k, Verification(False, str(refusal))

        rest = [k for k in range(len(sides)) if k not in proved]
        with closing(ordered(result, rest, ahead=max(1, len(rest)))) as results:
            return next((found for found in results if not found[1]), refuted)


def _sides_of(certificate: Answer, rows: ClassRows) -> ClassSigns:
    """Return the side of each class if these are the data of a proof, else raise `Refuted`."""
    batch, data = rows.batch, certificate.data
    if (batch.n_rows, batch.n_features) != (data.rows, data.features):
        raise Refuted(other_shape(batch, data.rows, data.features))
    sides = np.array(list(map(check.signer(data.positive, data.negative), batch.classes.tolist())), np.int8)
    if not _is_same(rows.fingerprint, sides[batch.codes], data):
        raise Refuted("These are not the data of the proof: the fingerprints differ.")
    n = int(np.count_nonzero(sides[batch.codes]))
    if not n:
        raise Refuted("No row has a label of the proof.")
    if not has_chance(certificate, n):
        raise Refuted(OTHER_CHANCE)
    return sides


def has_chance(certificate: Answer, n: int) -> bool:
    """Return whether an answer about n rows states their probability to be separable, or none."""
    most = cover_probability(n, certificate.data.features + certificate.bias)
    return certificate.chance is None or isclose(certificate.chance, most, rel_tol=CHANCE_ROUNDING)


def _checked(certificate: Answer, rows: ClassRows, sides: ClassSigns) -> str:
    """Return what is proved, or raise `Refuted`."""
    problem, names, _ = rows.sides(sides, bias=certificate.bias)
    return _Checker(problem, names).check(certificate)


def _fits(certificate: Separable, rows: ClassRows) -> bool:
    """Return whether a hyperplane has the form that its proof needs."""
    return len(certificate.w) == rows.batch.n_features and (certificate.bias or not certificate.b)


def _is_same(fingerprint: Fingerprint, signs: Signs, data: Data) -> bool:
    if not data.partitions:
        return fingerprint.of(signs) == data.sha256
    lengths = [rows for rows, _ in data.partitions]
    return sum(lengths) == data.rows and fingerprint.of_parts(signs, lengths) == data.partitions


def other_shape(batch: Batch, rows: int, features: int) -> str:
    """Say that data does not have the rows and features of a proof."""
    return (
        f"These data have {batch.n_rows} rows and {batch.n_features} features, those of the proof {short(rows)} "
        f"and {short(features)}."
    )


def combination_is_zero(rows: Features, signs: Ints, weights: Sequence[int], *, bias: bool) -> bool:
    """Return whether rows with positive weights sum to 0: Σ λ_i z_i, exactly."""
    if rows.n_rows != len(weights) or not signs.all():
        return False
    problem = SeparationProblem(rows, signs.astype(np.float64), bias=bias)
    try:
        _Checker(problem, np.arange(rows.n_rows)).zero(range(rows.n_rows), weights)
    except Refuted:
        return False
    return True


class _Checker:
    """The rows of the two sides, and their numbers in the data."""

    def __init__(self, problem: SeparationProblem, names: Ints) -> None:
        self.problem, self.names = problem, names
        self.rows = np.arange(problem.n)

    def check(self, certificate: Answer) -> str:
        """Return what is proved, or raise `Refuted`."""
        if isinstance(certificate, Separable):
            wrong = np.flatnonzero(self.signs(certificate.w, certificate.b) <= 0)
            if len(wrong):
                raise Refuted(f"The hyperplane does not have row {self.names[wrong[0]]} strictly on its side.")
            if certificate.margin is not None:
                self.margin(certificate)
        elif isinstance(certificate, Inseparable):
            self.zero(certificate.support, certificate.integers)
            self.points(certificate)
            if isinstance(certificate.ties, Quasi):
                self.quasi(certificate.ties)
            if isinstance(certificate.ties, Overlap):
                self.overlap(certificate.ties)
        elif isinstance(certificate, InseparableVerdict):
            self.verdict(certificate)
        else:
            raise Refuted("An undecided question has no proof.")
        return certificate.reason

    def verdict(self, certificate: InseparableVerdict) -> None:
        """Bound the rounding errors of a verdict in floats anew; what it says must be at most that."""
        weights = np.array(certificate.weights, np.float64)
        if np.isnan(weights).any():
            raise Refuted("A combination needs positive weights.")
        places = self.places(certificate.support, certificate.weights)
        found = prove_contradiction(self.problem.signed_exactly(places), weights, bias=self.problem.bias)
        if found is None:
            raise Refuted("Floats do not prove that exact weights near these combine the rows to 0.")
        if certificate.spanning and not found.spanning:
            raise Refuted("The rows combined do not span all features: a plane may contain them.")
        residual, stretch = found.bound
        if not (
            residual <= ROUNDING_SHARE * certificate.residual
            and 1.0 - stretch <= ROUNDING_SHARE * (1.0 - certificate.stretch)
        ):
            raise Refuted("The weights are not proved to be as near to exact ones as the verdict says.")

    def vector(self, w: Sequence[Fraction], b: Fraction) -> list[int]:
        """Return a hyperplane in the problem's columns, as integers up to a positive factor."""
        if len(w) != self.problem.d:
            raise Refuted(f"w has {len(w)} entries, but there are {self.problem.d} features.")
        if b and not self.problem.bias:
            raise Refuted("b must be 0 without a bias.")
        return self.problem.vector(w, b)

    def signs(self, w: Sequence[Fraction], b: Fraction) -> Ints:
        """Return the sides of all rows: 1 for the right one, 0 on the hyperplane."""
        v = self.vector(w, b)
        if not any(v):
            return np.zeros(self.problem.n, np.int64)
        return products(self.problem, v, self.rows)[1]

    def places(self, rows: Sequence[int], weights: Sequence[Fraction | int] | Sequence[float]) -> Ints:
        """Return the positions of the rows of a combination, after checking rows and weights."""
        if not len(rows) or len(set(map(int, rows))) != len(rows) or len(rows) != len(weights):
            raise Refuted("A combination needs different rows, with a weight each.")
        if min(weights) <= 0:
            raise Refuted("A combination needs positive weights.")
        places = np.searchsorted(self.names, np.asarray(rows))
        known = places < len(self.names)
        if not known.all() or (self.names[places] != np.asarray(rows)).any():
            raise Refuted("A combination names a row that takes no part.")
        return places

    def combined(self, rows: Sequence[int], weights: Sequence[Fraction | int]) -> list[Fraction]:
        """Return Σ λ_i z_i, in the problem's columns."""
        integers, power, denominator = self.sums(rows, weights)
        return [shifted(value, power) / denominator for value in integers]

    def sums(self, rows: Sequence[int], weights: Sequence[Fraction | int]) -> tuple[list[int], int, int]:
        """Return Σ λ_i z_i as integers, a power of two to multiply them with, and one denominator."""
        integers, powers = self.problem.integer_rows(self.places(rows, weights))
        whole, denominator = common(weights)
        return combined(times_powers(whole, powers), integers), min(powers), denominator

    def zero(self, rows: Sequence[int], weights: Sequence[Fraction | int]) -> None:
        """Require Σ λ_i z_i = 0."""
        if any(self.sums(rows, weights)[0]):
            raise Refuted("The combination of rows is not 0.")

    def points(self, certificate: Inseparable) -> None:
        """Require that the points shown are the rows combined, with their sides."""
        if certificate.points is None:
            return
        places = self.places(certificate.support, certificate.integers)
        table = map(tuple, self.problem.matrix.dense(places).tolist())
        if certificate.points != tuple(zip(table, self.problem.y[places].astype(int).tolist(), strict=True)):
            raise Refuted("The points shown are not the rows combined.")

    def quasi(self, ties: Quasi) -> None:
        """Require no row on the wrong side, and the stated number of rows strictly on the right side."""
        signs = self.signs(ties.w, ties.b)
        if (signs < 0).any():
            raise Refuted(f"The hyperplane with ties has row {self.names[np.argmin(signs)]} on its wrong side.")
        strict = int(np.count_nonzero(signs))
        if strict != ties.strict or not strict:
            raise Refuted(f"The hyperplane with ties has {strict} rows strictly on their side, not {ties.strict}.")
        if ties.rows is not None and ties.rows != tuple(self.names[np.flatnonzero(signs)].tolist()):
            raise Refuted("The rows strictly on their side of the hyperplane with ties are others.")

    def overlap(self, ties: Overlap) -> None:
        """Require a combination to 0 of rows that, with the vectors orthogonal to all rows, span everything."""
        self.zero(ties.support, ties.weights)
        width = self.problem.width
        bias = self.problem.bias
        null = [self.vector(v[:-1], v[-1]) if bias else self.vector(v, Fraction(0)) for v in ties.null]
        for vector in null:
            if not any(vector) or products(self.problem, vector, self.rows)[1].any():
                raise Refuted("A vector said to be orthogonal to every row is not.")
        if null and rank(null) != len(null):
            raise Refuted("The vectors orthogonal to every row are not independent.")
        rows = self.problem.integer_rows(self.places(ties.support, ties.weights))[0]
        if rank(rows) + len(null) != width:
            raise Refuted("The rows combined do not span all rows.")

    def margin(self, certificate: Separable) -> None:
        """Require that the hyperplane and the combination prove the bounds of the margin."""
        margin = certificate.margin
        assert margin is not None
        low, high = margin.squared
        if not (margin.least > 0 and 0 < low <= high):
            raise Refuted("The margin's bounds are not positive and in order.")
        self.clear(certificate, margin.least)
        if low * sum(value * value for value in certificate.w) > margin.least**2:
            raise Refuted("The hyperplane does not prove the lower bound of the margin.")
        rows, weights = [int(row) for row in margin.rows], list(margin.weights)
        places = self.places(rows, weights)
        signs = self.problem.y[places]
        for side in (1.0, -1.0) if self.problem.bias else (None,):
            total = sum(weight for weight, sign in zip(weights, signs, strict=True) if side in (None, sign))
            if total != 1:
                raise Refuted("The weights of the margin do not sum to 1.")
        sums = self.combined(rows, weights)[: self.problem.d]
        square = sum(value**2 for value in self.scaled(sums))
        if square > high * (4 if self.problem.bias else 1):
            raise Refuted("The combination does not prove the upper bound of the margin.")

    def clear(self, certificate: Separable, least: Fraction) -> None:
        """Require y f ≥ least on every row: f − least ≥ 0 on one side, f + least ≤ 0 on the other."""
        padded = self.problem
        if not padded.bias:
            padded = SeparationProblem(padded.features, padded.y, bias=True)
        for side, rows in ((1, padded.positive), (-1, padded.negative)):
            signs = products(padded, padded.vector(certificate.w, certificate.b - side * least), rows)[1]
            if (signs < 0).any():
                raise Refuted(f"Row {self.names[rows[np.argmin(signs)]]} is nearer than the margin's proof says.")

    def scaled(self, w: Sequence[Fraction]) -> list[Fraction]:
        """Return one number per feature times the powers of two of the problem's columns."""
        powers = self.problem.scale.tolist()
        return [value and value * shifted(1, power) for value, power in zip(w, powers, strict=True)]
