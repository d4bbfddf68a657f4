"""`Certificate.verify`, on arrays, agrees with what a proof says evaluated in the plainest way."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.certify import (
    Certificate,
    Inseparable,
    InseparableVerdict,
    Overlap,
    Quasi,
    Separable,
    check,
    fingerprint,
)
from rosenblatt.certify.rigorous import prove_contradiction
from rosenblatt.certify.separability import Question
from rosenblatt.certify.time_limit import Clock
from rosenblatt.rows.batch import as_batch
from rosenblatt.rows.features import as_rows
from tests.certify import oracle
from tests.certify.proofs import CASES, holds
from tests.certify.test_check import FALSE, pairs_of_mutations, single_mutations
from tests.shared.strategies import trained


def verified(proof, rows, labels) -> bool:
    try:
        read = Certificate.from_json(json.dumps(proof))
    except check.ProofError:
        return False
    return bool(read.verify(np.array(rows, float), labels))


@pytest.mark.parametrize("name", CASES)
def test_true_proofs(name):
    assert verified(CASES[name].proof, CASES[name].rows, CASES[name].labels)


@given(single_mutations())
def test_a_changed_field(mutated):
    rows, labels, proof = mutated
    assert verified(proof, rows, labels) == holds(proof, rows, labels)


@given(pairs_of_mutations())
def test_many_changed_numbers(mutated):
    rows, labels, proof = mutated
    assert verified(proof, rows, labels) == holds(proof, rows, labels)


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_in_good_form(name):
    rows, labels, proof = FALSE[name]
    assert not verified(proof, rows, labels)


def test_zeros_that_are_stored_are_zeros():
    X = csr_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    X.data[1] = 0.0
    signs = np.array([1, -1])
    assert fingerprint.Fingerprint(as_rows(X)).of(signs) == check.fingerprint([[1.0, 0.0], [3.0, 4.0]], [1, -1], 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning")
def test_as_many_rows_as_can_be_are_strictly_separated():
    met = 0
    for case in oracle.degenerate(7, 600):
        found = rb.certify(case.X, case.y, bias=case.bias)
        if found.verdict != "inseparable" or not isinstance(found.ties, Quasi):
            continue
        X = np.array(case.X, float)
        if (4 * X != np.round(4 * X)).any():  # too fine for floats to judge
            continue
        met += 1
        Z = np.array(case.y)[:, None] * (np.column_stack([X, np.ones(len(X))]) if case.bias else X)
        for i, z in enumerate(Z):
            best = linprog(-z, A_ub=np.vstack([-Z, z]), b_ub=np.append(np.zeros(len(Z)), 1.0), bounds=(None, None))
            assert (i in found.ties.rows) == (best.fun < -0.5), case
    assert met > 50


def _tied():
    """Return rows that the third feature separates with ties."""
    r = np.random.default_rng(0)
    X = np.hstack([r.standard_normal((1200, 2)), np.repeat([0.0, 1.0, -1.0], 400)[:, None]])
    return X, np.append(r.integers(0, 2, 400), np.repeat([1, 0], 400))


def _proofs():
    """Return answers of every kind, and their data."""
    r = np.random.default_rng(0)
    overlapping, tied = (r.standard_normal((500, 3)), np.arange(500) % 2), _tied()
    apart = rb.datasets.load_and()
    three = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array(["a", "b", "c", "c"])
    return {
        "separable": (rb.certify(*apart, margin=True), *apart),
        "overlap": (rb.certify(*overlapping), *overlapping),
        "quasi": (rb.certify(*tied, ties=True), *tied),
        "verdict": (rb.certify(*overlapping, proof="verdict"), *overlapping),
        "tied verdict": (rb.certify(*tied, proof="verdict"), *tied),
        "direct": (rb.certify(*three, multiclass="direct"), *three),
    }


def _changed(value):
    """Yield other values of the kind of a field, near and far; parts of it are changed one by one."""
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value // 2, 2 * value)
        case float():
            yield from (value + 1, value / 2, value * (1 + 2**-9))
        case Fraction():
            yield from (value + 1, value / 2, value * Fraction(513, 512))
        case str():
            yield value + "1"
        case tuple() if value:
            yield from (value[:-1], value[::-1], (*value, value[-1]))
            yield from ((*value[:-1], other) for other in _changed(value[-1]))
        case np.ndarray():
            yield value[::-1]
        case _ if hasattr(value, "__dataclass_fields__"):
            for each in fields(value):
                yield from (replace(value, **{each.name: other}) for other in _changed(getattr(value, each.name)))
        case None:
            yield from (0.5, ((1.0,), 1))


CHOSEN = {"names", "kept", "ties_open"}  # how features are called, what is kept, and what was not asked


@pytest.mark.parametrize("kind", _proofs())
def test_what_is_printed_is_verified(kind):
    """A field that was changed is refused, or it changes no statement but to one that claims less."""
    found, X, y = _proofs()[kind]
    assert found.verify(X, y)
    forged = 0
    for each in fields(found):
        if each.name in CHOSEN:
            continue
        for other in _changed(getattr(found, each.name)):
            changed = replace(found, **{each.name: other})
            try:
                held = bool(changed.verify(X, y))
            except (TypeError, ValueError, AttributeError):  # it has no such form
                held = False
            forged += not held
            assert not held or _claims_less(found, changed), (each.name, other)
    assert forged > 5


def _claims_less(found, changed) -> bool:
    """Return whether a verified answer says nothing that the true one does not."""
    if isinstance(found, InseparableVerdict):
        weaker = changed.residual >= found.residual and changed.stretch <= found.stretch
        return changed.spanning <= found.spanning and (weaker or changed.weights != found.weights)
    if isinstance(found, Separable) and changed.margin is not None:
        (low, high), (least, most) = changed.margin.squared, found.margin.squared
        return low <= least and most <= high
    ties, other = getattr(found, "ties", None), getattr(changed, "ties", None)
    if isinstance(ties, Quasi) and isinstance(other, Quasi) and (ties.w, ties.b) != (other.w, other.b):
        return (ties.strict, ties.rows) == (other.strict, other.rows)  # another plane with the same rows on it
    if isinstance(found, Inseparable) and found.bias and not changed.bias:
        return True  # what no hyperplane separates, none through the origin does
    return str(changed) == str(found) or getattr(changed, "chance", 0.0) is None


def test_a_verdict_that_claims_more_is_refused():
    X, y = _tied()
    found = rb.certify(X, y, proof="verdict")
    assert isinstance(found, InseparableVerdict)
    assert not found.spanning
    assert "ties=True does" in str(found)
    refused = replace(found, spanning=True).verify(X, y)
    assert not refused
    assert "do not span" in refused.reason
    assert replace(found, residual=2.0 * found.residual).verify(X, y)
    assert not replace(found, residual=found.residual / 2.0).verify(X, y)
    assert not replace(found, stretch=(1.0 + found.stretch) / 2.0).verify(X, y)


def test_points_rows_and_chances_that_are_not_those_are_refused():
    found, X, y = _proofs()["quasi"]
    points, ties = found.points, found.ties
    for forged in (
        {"points": (((9.0, 9.0, 9.0), 1), *points[1:])},
        {"points": (((*points[0][0],), -points[0][1]), *points[1:])},
        {"chance": 1e-9},
        {"ties": replace(ties, rows=(0, *ties.rows[1:]))},
    ):
        assert not replace(found, **forged).verify(X, y)


def test_tables_name_the_classes_of_their_proofs():
    X, y = [[0.0], [1.0], [1.0], [2.0]], [0, 1, 2, 2]
    found = rb.certify(X, y)
    (first, *_, last), proofs = found.pairs, list(found.pairs.values())
    forged = replace(found, pairs={**found.pairs, first: proofs[-1], last: proofs[0]})
    assert found.verify(X, y)
    assert "other classes" in forged.verify(X, y).reason
    assert not replace(found, rest={0: found.rest[1], 1: found.rest[0], 2: found.rest[2]}).verify(X, y)


def test_looking_at_a_proof_loses_no_knowledge():
    X, y = np.random.default_rng(0).standard_normal((500, 3)), np.arange(500) % 2
    verdict = rb.certify(X, y, proof="verdict")
    model = trained(X, y)
    assert verdict.spanning
    for found in (verdict, verdict.proof, model.__dict__["certificate_"], model.certificate_, rb.certify(X, y)):
        assert "Even allowing rows exactly on the plane, none separates the classes." in str(found)
        assert found.verify(X, y)
    assert isinstance(rb.certify(X, y, ties=False).ties, Overlap)  # for nothing: the rows combined span everything


def test_a_proof_of_few_rows_that_span_less_keeps_what_the_verdict_knew():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # two pairs, which each span a line
    y = np.array([1, 1, 1, 0])
    ask = Question(as_batch(X, y), bias=False, margin=False, clock=Clock(None))
    posed = ask.pose(1, 0)
    contradiction = prove_contradiction(posed.problem.signed_exactly(np.arange(4)), np.ones(4), bias=False)
    verdict = ask.express_contradiction(posed, contradiction)
    assert verdict.spanning
    assert len(verdict.proof.support) == 2
    assert isinstance(verdict.proof.ties, Overlap)
    assert verdict.verify(X, y)
    assert verdict.proof.verify(X, y)
