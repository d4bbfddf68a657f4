"""What is tried when: some of very many rows before all of them."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt import certify
from rosenblatt.certify import InseparableVerdict, decide, problem
from rosenblatt.certify.verdict import verdict
from rosenblatt.rows.batch import as_batch
from tests.certify import oracle
from tests.shared.examples import examples
from tests.shared.strategies import trained

LAYOUTS = {"dense": np.asarray, "single": lambda X: np.asarray(X, np.float32), "sparse": csr_array}


def table(n=2000, d=3, seed=0):
    """Return rows with labels that a hyperplane gives them, with a gap between the classes."""
    X = np.random.default_rng(seed).integers(-99, 100, (n, d)) / 2.0
    f = X @ np.arange(1.0, d + 1.0)
    return X[f != 0], (f > 0)[f != 0].astype(int)


def tried(n, d, bias=True):
    """Return the rows that are tried alone first."""
    return decide.choose_first_rows(n, d + bias, None)


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


def indicators(n, zero):
    """Return rows with one 1, at a feature of their class alone, but for some rows of zeros."""
    r = np.random.default_rng(0)
    X, y = np.zeros((n, 50)), np.arange(n) % 2
    X[np.arange(n), r.integers(25, size=n) + 25 * y] = 1.0
    X[zero] = 0.0
    return X, y


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("n", "bias", "zero"), [(600, False, [7]), (6000, True, [5000, 5001]), (600, True, [30, 41])]
)
def test_where_only_rows_of_zeros_are_left_they_are_the_proof(layout, n, bias, zero):
    X, y = indicators(n, zero)
    given = LAYOUTS[layout](X)
    for proof in ("exact", "verdict"):
        found = certify(given, y, bias=bias, proof=proof, ties=False)
        assert found.verdict == "inseparable"
        assert sorted(found.support) == zero
        assert found.integers == (1,) * len(zero)
        assert found.verify(given, y)
    fitted = trained(given, y, fit_intercept=bias)
    assert fitted.stop_reason_ == "inseparable"
    assert sorted(fitted.certificate_.support) == zero


def test_zeros_that_are_stored_are_zeros():
    X, y = indicators(600, [7])
    given = csr_array(X)
    X[:, 0] = X[:, 1] = 0.0
    given.data[np.isin(given.indices, [0, 1])] = 0.0
    given = given.copy()
    assert given.nnz > np.count_nonzero(X)
    found = certify(given, y, bias=False)
    assert found.verdict == "inseparable"
    assert found.verify(X, y)


@st.composite
def sparse_problems(draw):
    """Draw few small integers in rows most of which are 0, and a side for each row."""
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 4))
    rows = st.one_of(st.just([0] * d), st.lists(st.sampled_from([0, 0, 0, 1, -1, 2]), min_size=d, max_size=d))
    X = draw(st.lists(rows, min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n).filter(lambda y: len(set(y)) == 2))
    return np.array(X, float), np.array(y)


@pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning")
@settings(max_examples=examples(150))
@given(sparse_problems(), st.booleans(), st.sampled_from(["exact", "verdict"]))
def test_sparse_rows_with_zeros_are_decided_as_the_oracle_does(drawn, bias, proof):
    X, y = drawn
    truth = oracle.decide(oracle.Problem(X.tolist(), y.tolist(), bias))
    with patch.object(decide, "SMALL_VALUES", 0), patch.object(decide, "EARLY_ROWS", 1):
        found = certify(csr_array(X), y, bias=bias, proof=proof, ties=False)
    assert (found.verdict == "separable") == (truth == "separable")
    assert found.verify(X, y)
