"""`Certificate.verify`, on arrays, agrees with what a proof says evaluated in the plainest way."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.certify import Certificate, Quasi, check, fingerprint
from rosenblatt.rows.features import as_rows
from tests.certify import oracle
from tests.certify.proofs import CASES, holds
from tests.certify.test_check import FALSE, pairs_of_mutations, single_mutations


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
