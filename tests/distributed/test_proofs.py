"""Proofs over partitions: the verdicts of `certify`, in files that anyone can check."""

from dataclasses import replace
from itertools import pairwise

import dask
import numpy as np
import pytest
import scipy.sparse as sp

import rosenblatt as rb
import rosenblatt.distributed as rd
from rosenblatt.certify import check
from rosenblatt.certify.certificate import Certificate
from rosenblatt.certify.fingerprint import Fingerprint, fingerprint_of_blocks
from rosenblatt.exceptions import NonFiniteError, ParameterError
from rosenblatt.rows.features import as_rows

pytestmark = pytest.mark.slow


def parts_of(X, y, cuts):
    """Return delayed batches that end at the cuts."""
    ends = [0, *cuts, len(y)]
    return [dask.delayed((X[a:b], y[a:b])) for a, b in pairwise(ends)]


def accepted(proof, X, y):
    """Check a proof by the file that stands alone."""
    rows = X.toarray() if sp.issparse(X) else X
    return check.check(check.read_proof(proof.to_json()), rows.tolist(), y.tolist())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("separable", [False, True])
def test_verdicts_are_those_of_certify(client, bias, sparse, separable):
    rng = np.random.default_rng(7)
    X = rng.integers(-5, 6, (240, 4)) / 8
    scores = X @ [3, -2, 1, 1] + (0.3 if bias else 0.0)
    y = np.where(scores > 0, "yes", "no")
    X, y = X[scores != 0], y[scores != 0]
    if not separable:
        y[17] = {"yes": "no", "no": "yes"}[y[17]]
    data = sp.csr_array(X) if sparse else X
    proof = rd.certify(parts_of(data, y, [50, 51, 130]), client=client, bias=bias)
    assert proof.verdict == rb.certify(X, y, bias=bias).verdict == ("separable" if separable else "inseparable")
    assert proof.verify(X, y)
    assert proof.verdict.capitalize() in accepted(proof, X, y)
    again = Certificate.from_json(proof.to_json())
    assert again.data == proof.data
    assert again.verify(data, y)
    assert rd.verify(again, parts_of(data, y, [50, 51, 130]), client=client)
    assert not rd.verify(again, parts_of(data, y, [50, 52, 130]), client=client)
    for forged in ({"chance": 0.123}, {"margin": proof} if separable else {"points": (((1.0,), 1),)}):
        assert not rd.verify(replace(proof, **forged), parts_of(data, y, [50, 51, 130]), client=client)
    if not separable:
        assert len(proof.support) <= 4 + 2


def test_rows_a_unit_in_the_last_place_apart(client):
    """Floats cannot decide these rows; the rows that decide are in different partitions."""
    X = np.array([[1.0], [2.0], [np.nextafter(1.0, 0.0)], [0.5], [0.25], [3.0]])
    y = np.array([1, 1, 0, 0, 0, 1])
    proof = rd.certify(parts_of(X, y, [2, 4]), client=client)
    assert proof.verdict == "separable"
    assert accepted(proof, X, y)
    X[2] = 1.0
    proof = rd.certify(parts_of(X, y, [2, 4]), client=client)
    assert (proof.verdict, proof.support) == ("inseparable", (0, 2))
    assert accepted(proof, X, y)


def test_few_rows_come_to_this_node(client):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    y = np.where(X @ [1, 2, -1] > 0.1, 1, 0)
    blocks = rd.partition(parts_of(X, y, [1000, 2000]), client=client)
    from rosenblatt.certify.time_limit import Clock
    from rosenblatt.distributed.proofs import PartitionQuestion, TwoSides

    question = PartitionQuestion(blocks, TwoSides(1, 0, True), ["0", "1"], Clock(None))
    assert question.answer().verdict == "separable"
    assert len(question.addresses) < 200


def test_a_trained_model_is_a_guess_that_changes_no_verdict(client, labelled):
    X, y = labelled(n=120, d=3)
    data = rd.partition(parts_of(X, y, [40, 90]), client=client)
    model = rb.Perceptron().fit(X, y)
    proof = rd.certify(data, guess=model)
    assert proof.verdict == "separable"
    if model.converged_:
        assert [float(value) for value in proof.w] == model.coef_[0].tolist()
    model._state.w[:] = -model._state.w
    assert rd.certify(data, guess=model).verdict == "separable"


def test_several_classes_one_class_and_no_time(client, labelled):
    X, y = labelled(n=60, d=2, classes=3)
    tables = rd.certify(parts_of(X, y, [20]), client=client)
    local = rb.certify(X, y)
    assert {k: v.verdict for k, v in tables.pairs.items()} == {k: v.verdict for k, v in local.pairs.items()}
    assert {k: v.verdict for k, v in tables.rest.items()} == {k: v.verdict for k, v in local.rest.items()}
    assert Certificate.from_json(tables.to_json()).verify(X, y)
    one = rd.certify(parts_of(X, np.zeros(60), [20]), client=client)
    assert one.verdict == "separable"
    assert accepted(one, X, np.zeros(60))
    noisy = np.random.default_rng(0).integers(0, 2, 60)
    assert rd.certify(parts_of(X, noisy, [20]), client=client, time_limit=0).verdict == "undecided"


def test_what_cannot_be_proved(client, labelled):
    X, y = labelled(n=20)
    X[15, 2] = np.inf
    with pytest.raises(NonFiniteError, match="partition 1"):
        rd.certify(parts_of(X, y, [10]), client=client)
    with pytest.raises(ParameterError, match="rows as they are"):
        rd.certify(rd.partition(parts_of(X[:15], y[:15], [10]), client=client, scale=True))


def test_a_fingerprint_of_blocks_is_that_of_all_rows():
    rng = np.random.default_rng(1)
    X = np.where(rng.random((20, 5)) < 0.4, 0.0, rng.standard_normal((20, 5)))
    signs = rng.integers(-1, 2, 20)
    for rows in (X, sp.csr_array(X)):
        whole = Fingerprint(as_rows(rows)).of(signs)
        pieces = [(as_rows(rows[k : k + 7]), signs[k : k + 7]) for k in (0, 7, 14)]
        assert fingerprint_of_blocks(pieces, 20, 5) == whole
        parts = Fingerprint(as_rows(rows)).of_parts(signs, [7, 13])
        wanted = [Fingerprint(as_rows(rows[cut])).of(signs[cut]) for cut in (slice(7), slice(7, 20))]
        assert parts == ((7, wanted[0]), (13, wanted[1]))


@pytest.mark.parametrize("fault", ["order", "boundary", "hash", "rows", "more", "fewer", "empty", "version"])
def test_the_checker_follows_the_boundaries(fault):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    print_of = [Fingerprint(as_rows(X[a:b])).of(np.array([-1, -1, 1, 1])[a:b]) for a, b in ((0, 1), (1, 4))]
    proof = {
        "format": "rosenblatt-proof",
        "version": 2,
        "verdict": "separable",
        "bias": True,
        "data": {
            "rows": 4,
            "features": 1,
            "positive": "1",
            "negative": "0",
            "partitions": [{"rows": 1, "sha256": print_of[0]}, {"rows": 3, "sha256": print_of[1]}],
        },
        "hyperplane": {"w": ["0x2"], "b": "-0x3"},
    }
    assert check.check(check.conforming(proof), X, y).startswith("Separable")
    data = proof["data"]
    match fault:
        case "order":
            data["partitions"].reverse()
        case "boundary":
            data["partitions"][0]["rows"], data["partitions"][1]["rows"] = 2, 2
        case "hash":
            data["partitions"][1]["sha256"] = print_of[0]
        case "rows":
            data["rows"] = 5
        case "more":
            X, y = [*X, [9.0]], [*y, 1]
        case "fewer":
            X, y = X[:3], y[:3]
        case "empty":
            data["partitions"] = []
        case "version":
            proof["version"] = 1
    with pytest.raises(check.ProofError):
        check.check(check.conforming(proof), X, y)
