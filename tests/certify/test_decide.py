"""What is tried when: some of very many rows before all of them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt import certify
from rosenblatt.certify import InseparableVerdict, decide, problem
from rosenblatt.certify.verdict import verdict
from rosenblatt.rows.batch import as_batch

LAYOUTS = {"dense": np.asarray, "single": lambda X: np.asarray(X, np.float32), "sparse": csr_array}


def table(n=2000, d=3, seed=0):
    """Return rows with labels that a hyperplane gives them, with a gap between the classes."""
    X = np.random.default_rng(seed).integers(-99, 100, (n, d)) / 2.0
    f = X @ np.arange(1.0, d + 1.0)
    return X[f != 0], (f > 0)[f != 0].astype(int)


def tried(n, d, bias=True):
    """Return the rows that are tried alone first."""
    return decide.choose_first_rows(n, d + bias)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("most", [0, 2**20])
def test_rows_that_contradict_each_other_among_few_are_a_proof(layout, bias, most, monkeypatch):
    monkeypatch.setattr(problem, "MAX_DENSE_VALUES", most)  # whether sparse rows become dense
    monkeypatch.setattr(decide, "guess", None)  # nothing else is tried
    X, y = table()
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.2, 1 - y, y)
    given = LAYOUTS[layout](X)
    found = certify(given, y, bias=bias, ties=False)
    assert found.verdict == "inseparable"
    assert found.verify(given, y)
    assert len(found.support) <= X.shape[1] + 1 + bias


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_contradiction_among_other_rows_is_found_too(layout):
    X, y = table()
    far = np.setdiff1d(np.argsort(X @ [1.0, 2.0, 3.0])[-20:], tried(*X.shape))
    y[far[0]] = 0
    given = LAYOUTS[layout](X)
    found = certify(given, y)
    assert found.verdict == "inseparable"
    assert found.verify(given, y)
    assert far[0] in found.support


@pytest.mark.parametrize("flipped", [False, True])
def test_few_rows_of_one_class_alone_decide_nothing(flipped):
    X, y = table()
    f = X @ [1.0, 2.0, 3.0]
    rare = np.setdiff1d(np.argsort(f)[-60:-30], tried(*X.shape))
    y = (f > f[rare].min()).astype(int) if not flipped else np.isin(np.arange(len(X)), rare).astype(int)
    if not flipped:
        y[tried(*X.shape)], X[tried(*X.shape)] = 0, X[np.argmin(f)]
    found = certify(X, y)
    assert found.verdict == ("inseparable" if flipped else "separable")
    assert found.verify(X, y)


def test_few_rows_are_a_proof_at_once(monkeypatch):
    monkeypatch.setattr(decide, "guess", None)
    X, y = table()
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.2, 1 - y, y)
    first = set(tried(*X.shape).tolist())
    assert set(certify(X, y, ties=False).support) <= first
    found = verdict(as_batch(X, y))
    assert isinstance(found, InseparableVerdict)
    assert set(found.support) <= first
    assert found.verify(X, y)
    assert found.proof.verify(X, y)


def test_rows_that_matter_are_tried_next():
    X, y = table()
    far = np.setdiff1d(np.argsort(X @ [1.0, 2.0, 3.0])[-20:], tried(*X.shape))
    y[far[0]] = 0
    found = verdict(as_batch(X, y))
    assert isinstance(found, InseparableVerdict)
    assert far[0] in found.support
    assert far[0] in found.proof.support
