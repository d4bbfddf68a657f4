"""Proofs about several classes: the same on any number of threads."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt import threads
from rosenblatt.certify import fingerprint
from rosenblatt.certify.proof_reader import verify_proofs
from rosenblatt.rows.features import as_rows
from rosenblatt.threads import using


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Use threads for little data too."""
    monkeypatch.setattr(threads, "FEW_VALUES", 0)


@pytest.fixture(scope="module")
def data():
    """Return rows of which some classes are separable, some with ties, and some not at all."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 12)
    centres = np.array([[0, 0], [9, 0], [0, 9], [1, 0], [9, 9]])
    return centres[y] + rng.integers(-2, 3, (60, 2)), y


@pytest.fixture(scope="module")
def tables(data):
    return rb.certify(*data, margin=True)


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_proofs_are_the_same(data, tables, n_jobs):
    found = rb.certify(*data, margin=True, n_jobs=n_jobs)
    assert found.to_json() == tables.to_json()
    assert str(found) == str(tables)
    assert {each.verdict for _, each in found} == {"separable", "inseparable"}


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_the_first_proof_that_does_not_hold_is_told(data, tables, n_jobs):
    X, y = data
    with using(n_jobs):
        assert tables.verify(X, y)
        moved = tables.verify(X + 0.5, y)
        assert not moved
        assert moved.reason.startswith("0 against 1: ")
        proofs = json.loads(tables.to_json())
        assert verify_proofs(proofs, X, y)[0]
        for proof in proofs[3:]:
            proof["data"]["sha256"] = "0" * 64
        found, _ = verify_proofs(proofs, X, y)
        third = proofs[3]["data"]
        assert found.reason.startswith(f"{third['positive']} against {third['negative']}: ")


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_fingerprints_are_the_same_on_any_number_of_threads(monkeypatch, layout):
    monkeypatch.setattr(fingerprint, "BLOCK_VALUES", 40)
    X = np.random.default_rng(0).integers(-2, 3, (90, 7)) / 4
    found = set()
    for n_jobs in (1, 2, 5):
        with using(n_jobs):
            found.add(fingerprint.Fingerprint(as_rows(layout(X))).of(np.ones(90, int)))
    assert len(found) == 1
    monkeypatch.undo()
    assert found == {fingerprint.Fingerprint(as_rows(X)).of(np.ones(90, int))}


def test_no_time_leaves_every_question_undecided(data):
    for n_jobs in (1, 2):
        found = rb.certify(*data, time_limit=0.0, n_jobs=n_jobs)
        assert {each.verdict for _, each in found} == {"undecided"}
