"""Ties: within the work that the verdict took, without a limit, or not at all."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.certify import Certificate, Overlap, Quasi, check, separability
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.rationals import null_space, product
from rosenblatt.certify.sides import products
from rosenblatt.exceptions import ParameterError
from rosenblatt.rows.features import as_rows
from tests.certify import oracle
from tests.shared.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning")


@pytest.fixture
def hurried(monkeypatch):
    """Allow no work for ties."""
    monkeypatch.setattr(separability, "TIES_WORK", 0.0)
    monkeypatch.setattr(separability.Clock, "part", lambda self, work: separability.Clock(None, 0.0))


def overlapping():
    """Two equal rows decide the verdict, and leave ties open."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 3)), rng.integers(0, 2, 400)
    X[1], y[:2] = X[0], [0, 1]
    return X, y


def test_what_was_not_determined_is_said_and_stored(hurried):
    X, y = overlapping()
    found = rb.certify(X, y)
    assert found.verdict == "inseparable"
    assert found.ties is None
    assert found.ties_open
    assert "was not determined within the budget" in str(found)
    text = found.to_json()
    assert json.loads(text)["ties"] == {"kind": "open"}
    read = Certificate.from_json(text)
    assert read.ties_open
    assert read.verify(X, y)
    assert "ties was not determined" in check.check(check.read_proof(text), X.tolist(), y.tolist())


def test_ties_are_asked_for_or_not(hurried):
    X, y = overlapping()
    assert isinstance(rb.certify(X, y, ties=True).ties, Overlap)
    without = rb.certify(X, y, ties=False)
    assert without.ties is None
    assert not without.ties_open
    assert "was not asked; ties=True does" in str(without)
    assert "ties" not in json.loads(without.to_json())
    with pytest.raises(ParameterError, match="ties"):
        rb.certify(X, y, ties="some")


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("bias", [True, False])
def test_single_features_answer_quickly(hurried, form, bias):
    X, y = overlapping()
    X = np.column_stack([X, np.zeros((400, 2))])
    X[[3, 5], 3], X[7, 4] = [1.0, 2.0], -1.0
    y[[3, 5]], y[7] = 1, 1
    found = rb.certify(form(X), y, bias=bias)
    assert isinstance(found.ties, Quasi)
    assert found.ties.rows == (3, 5, 7)
    assert found.ties.features == (3, 4)
    assert found.verify(X, y)


@pytest.mark.parametrize("bits", [3, 40, 200])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_whole_numbers_are_multiplied_exactly(bits, form):
    rng = np.random.default_rng(bits)
    X = rng.integers(-9, 10, (40, 6)).astype(float) * (rng.random((40, 6)) < 0.5) * [1, 1, 8, 1, 64, 1]
    X[:4] = X[4:8]
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    problem = SeparationProblem(as_rows(form(X)), y, bias=True)
    assert problem.whole is not None
    v = [int.from_bytes(rng.bytes(26), "big", signed=True) >> (208 - bits) for _ in range(7)]
    scaled = [a << int(problem.scale.max() - s) for a, s in zip(v, problem.scale, strict=False)]
    sums = [sum(int(a) * b for a, b in zip(x, scaled, strict=True)) for x in X]
    totals = [int(s) * (a + (v[-1] << int(problem.scale.max()))) for a, s in zip(sums, y, strict=True)]
    expected = np.sign(np.array([(t > 0) - (t < 0) for t in totals]))
    assert np.array_equal(problem.exact_signs(np.arange(40), v), expected)
    assert np.array_equal(products(problem, v, np.arange(40))[1], expected)


def test_the_null_space_of_rows_with_unused_columns():
    rows = [[0, 1, 0, 2, 0], [0, 0, 0, 3, 0]]
    found = null_space(rows)
    assert len(found) == 3
    assert not any(map(any, product(rows, found)))
    assert null_space([[0, 0]]) == [[1, 0], [0, 1]]


def test_a_limit_of_work_never_changes_an_answer():
    for case in oracle.degenerate(400, examples(100)):
        known = oracle.decide(case)
        found = rb.certify(case.X, case.y, bias=case.bias)
        if known != "separable":
            assert found.ties is not None
            assert found.ties.kind == known
