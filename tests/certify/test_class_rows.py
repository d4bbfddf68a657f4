"""What many questions about the same rows share is what each would have found alone."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt import threads
from rosenblatt.certify import class_rows, fingerprint, proof_reader
from rosenblatt.certify.class_rows import ClassRows, SidedPlane
from rosenblatt.certify.proof_reader import verify_proofs
from rosenblatt.rows.batch import as_batch
from rosenblatt.threads import using

SIDES = ([1, -1, 0], [1, 0, -1], [0, 1, -1], [1, -1, -1], [-1, 1, -1])


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Use threads and several blocks for little data too."""
    monkeypatch.setattr(threads, "FEW_VALUES", 0)
    monkeypatch.setattr(class_rows, "BLOCK_VALUES", 8)


@st.composite
def planes(draw):
    """Draw rows of three classes, and hyperplanes of which many contain a row."""
    halves = st.integers(-6, 6).map(lambda x: x / 2)
    X = draw(st.lists(st.tuples(halves, halves), min_size=3, max_size=12))
    y = [0, 1, 2, *draw(st.lists(st.integers(0, 2), min_size=len(X) - 3, max_size=len(X) - 3))]
    numbers = st.fractions(-3, 3, max_denominator=6)
    chosen = [
        SidedPlane(
            np.array(draw(st.sampled_from(SIDES)), np.int8), draw(st.tuples(numbers, numbers)), draw(numbers)
        )
        for _ in range(draw(st.integers(1, 6)))
    ]
    return np.array(X), np.array(y), chosen


@given(planes(), st.sampled_from([0, 300, 900]), st.sampled_from([np.asarray, csr_array, np.float32]))
def test_exactly_the_hyperplanes_that_separate_are_proved(drawn, far, form):
    X, y, chosen = drawn
    powers = np.array([0, 0 if form is np.float32 else far])
    rows = ClassRows.of(form(np.ldexp(X, powers)), y)
    planes = [SidedPlane(each.sides, (each.w[0], each.w[1] / 2 ** int(powers[1])), each.b) for each in chosen]
    with using(2):
        found = rows.tested(planes)
    for proved, (sides, w, b) in zip(found, chosen, strict=True):
        scores = [w[0] * Fraction(p) + w[1] * Fraction(q) + b for p, q in X.tolist()]
        assert proved == all(side * score > 0 for side, score in zip(sides[y], scores, strict=True) if side)


def test_a_proof_about_no_row_is_refused():
    """Its fingerprint is right: anyone can compute that of rows that are all left out."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), ["a", "b", "c"]
    sha256 = fingerprint.Fingerprint(as_batch(X, y)).of(np.zeros(3, np.int64))
    table = rb.certify(X, y)
    (_, first), *_ = table
    data = replace(first.data, positive="y", negative="z", sha256=sha256)
    for empty in (replace(first, data=data), replace(first, data=data, w=(Fraction(0), Fraction(1)))):
        assert not empty.verify(X, y)
        found = replace(table, pairs={**table.pairs, ("y", "z"): empty}).verify(X, y)
        assert (found.holds, found.reason) == (False, "y against z: No row has a label of the proof.")


def test_a_hyperplane_through_a_row_is_never_proved():
    rng, sides = np.random.default_rng(0), np.array([1, -1, 0], np.int8)
    for _ in range(40):  # of about half of them floats have the row on the right side
        row, w = rng.standard_normal((2, 7))
        rows = ClassRows.of([row, row - w, row + w], [0, 1, 2])
        score = sum(Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True))
        touching, near = (SidedPlane(sides, tuple(map(Fraction, w)), b - score) for b in (0, Fraction(1, 2**40)))
        assert rows.tested([touching, near]).tolist() == [False, True]


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_questions_find_the_same_alone(form):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = form(np.ldexp(rng.integers(-3, 4, (60, 5)) * 4.0 ** y[:, None], [0, 5, -3, 900, 0]))
    shared, alone = ClassRows(as_batch(X, y)), ClassRows(as_batch(X, y))
    shared.read(digests=True)
    for sides in SIDES:
        problem, other = (rows.sides(np.array(sides, np.int8), bias=True).problem for rows in (shared, alone))
        assert np.array_equal(problem.scale, other.scale)
        assert np.array_equal(problem.digests, class_rows.digest_rows(other.matrix))


@pytest.fixture
def tables():
    y = np.repeat(np.arange(4), 10)
    X = np.array([[0, 0], [9, 0], [0, 9], [1, 0]])[y] + np.random.default_rng(0).integers(-2, 3, (40, 2))
    return X, y, rb.certify(X, y)


def counted(monkeypatch):
    """Return a list that grows by the rows of each digest."""
    added, add = [], fingerprint.RowDigests.add

    def noted(self, features):
        added.append(features.n_rows)
        add(self, features)

    monkeypatch.setattr(fingerprint.RowDigests, "add", noted)
    return added


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_are_hashed_once_for_all_questions_and_proofs(monkeypatch, tables, n_jobs):
    X, y, proofs = tables
    read = rb.certify.check.read_proofs(proofs.to_json())
    added = counted(monkeypatch)
    with using(n_jobs):
        for work in (lambda: proofs.verify(X, y), lambda: verify_proofs(read, X, y)[0], lambda: rb.certify(X, y)):
            added.clear()
            assert work()
            assert added == [40]


def test_partitions_are_hashed_once_for_all_proofs(monkeypatch, tables):
    X, y, proofs = tables
    lengths = [25, 15]
    parted = []
    for proof in rb.certify.check.read_proofs(proofs.to_json()):
        data = proof["data"]
        del data["sha256"]
        sides = [
            1 if str(k) == data["positive"] else -1 if data["negative"] in (None, str(k)) else 0 for k in range(4)
        ]
        parts = fingerprint.Fingerprint(as_batch(X, y)).of_parts(np.array(sides)[y], lengths)
        data["partitions"] = [{"rows": rows, "sha256": own} for rows, own in parts]
        parted.append({**proof, "version": 2})
    added = counted(monkeypatch)
    assert verify_proofs(parted, X, y)[0]
    assert sorted(added) == [15, 25]
    parted[4]["data"]["partitions"][1]["sha256"] = "0" * 64
    found, _ = verify_proofs(parted, X, y)
    assert found.reason == "1 against 3: These are not the data of the proof: the fingerprints differ."


@pytest.mark.parametrize("together", [1, 2**20])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_hyperplane_that_does_not_separate_is_found_among_many(monkeypatch, tables, n_jobs, together):
    X, y, proofs = tables
    monkeypatch.setattr(proof_reader, "NUMBERS_AT_ONCE", together)
    read = rb.certify.check.read_proofs(proofs.to_json())
    at = [k for k, proof in enumerate(read) if proof["verdict"] == "separable"]
    broken = read[at[2]]
    broken["hyperplane"]["w"] = ["0x0", "0x0"]
    read[at[3]]["data"]["rows"] += 1  # not reached
    with using(n_jobs):
        found, verdict = verify_proofs(read, X, y)
    assert found.reason.startswith(
        f"{broken['data']['positive']} against {broken['data']['negative']}: The hyperplane"
    )
    assert verdict == proofs.verdict
    del read[at[2]]
    assert verify_proofs(read, X, y)[0].reason.startswith("These data have 40 rows and 2 features, those of")


def test_data_of_another_shape_may_have_gaps(tables):
    X, y, proofs = tables
    read = rb.certify.check.read_proofs(proofs.to_json())
    wider = np.column_stack([X, np.full(40, np.nan)])
    assert "3 features" in verify_proofs(read, wider, y)[0].reason
    with pytest.raises(rb.exceptions.NonFiniteError):
        verify_proofs(read, wider[:, 1:], y)
