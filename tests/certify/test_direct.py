"""One argmax of linear functions for several classes: decided as the constructed rows are, and proved."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris

import rosenblatt as rb
from rosenblatt.certify import Certificate, DirectInseparable, DirectSeparable, DirectUndecided, check, direct
from rosenblatt.certify.verdict import verdict
from rosenblatt.exceptions import LabelError, ParameterError, UndecidedError
from rosenblatt.rows.batch import as_batch
from tests.certify import oracle
from tests.certify.proofs import hash_of_classes


def constructed(X, y, bias) -> oracle.Problem:
    """Kesler's rows, in full: one block of columns for each class."""
    classes = sorted(set(y))
    rows = []
    for x, own in zip(X, y, strict=True):
        x = [*x, 1.0] if bias else list(x)
        for rival in classes:
            if rival != own:
                blocks = [[(k == own) * v - (k == rival) * v for v in x] for k in classes]
                rows.append([v for block in blocks for v in block])
    return oracle.Problem(rows, [1] * len(rows), bias=False)


def proved(X, y, **options) -> Certificate:
    """Certify, and require that both checkers accept the proof, as it is and as it is read back."""
    found = rb.certify(X, y, multiclass="direct", **options)
    text = found.to_json()
    assert found.verify(X, y), found.verify(X, y).reason
    assert Certificate.from_json(text).verify(X, y)
    rows = (X.toarray() if hasattr(X, "toarray") else np.asarray(X)).astype(float).tolist()
    (proof,) = check.read_proofs(text)
    assert check.check(proof, rows, [str(label) for label in np.asarray(y).tolist()])
    return found


@st.composite
def problems(draw):
    d, n = draw(st.integers(1, 3)), draw(st.integers(3, 8))
    value = st.integers(-2, 2).map(float)
    X = draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(lambda y: len(set(y)) > 2))
    return X, y, draw(st.booleans())


@given(problems())
def test_it_agrees_with_the_constructed_rows(problem):
    X, y, bias = problem
    found = proved(X, y, bias=bias)
    assert found.verdict == (
        "separable" if oracle.decide(constructed(X, y, bias)) == "separable" else "inseparable"
    )


@given(problems())
def test_row_generation_decides_alike(problem):
    X, y, bias = problem
    whole = rb.certify(X, y, multiclass="direct", bias=bias)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(direct, "MAX_VALUES_AT_ONCE", 0)
        patch.setattr(direct, "ROWS_A_COLUMN", 1)
        assert proved(X, y, bias=bias).verdict == whole.verdict


def test_the_perceptron_decides_alike(monkeypatch):
    monkeypatch.setattr(direct, "LARGE_VALUES", 0)
    X, y = load_digits(return_X_y=True)
    assert isinstance(proved(X, y), DirectSeparable)
    assert isinstance(proved(csr_array(X), y), DirectSeparable)


def test_a_line_of_classes_is_an_argmax_though_no_class_is_apart_from_the_rest():
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    found = proved(X, y)
    assert isinstance(found, DirectSeparable)
    assert rb.certify(X, y).rest["b"].verdict == "inseparable"
    assert len(found.w) == len(found.b) == 3
    assert "strictly above" in str(found)


def test_pairs_may_be_separable_where_no_argmax_is():
    """A pinwheel: each class winds around the middle in the same sense."""
    X = [[-2.0, -6.0], [-1.0, 2.0], [6.0, 1.0], [-1.0, -2.0], [-4.0, 5.0], [2.0, 0.0]]
    y = [0, 0, 1, 1, 2, 2]
    found = proved(X, y)
    assert isinstance(found, DirectInseparable)
    assert set(found.support) == set(range(6))
    assert rb.certify(X, y).verdict == "separable"


def test_an_inseparable_pair_decides(monkeypatch):
    monkeypatch.setattr(direct, "MAX_VALUES_AT_ONCE", 0)
    X, y = load_iris(return_X_y=True)
    found = proved(X, y)
    assert isinstance(found, DirectInseparable)
    assert set(y[list(found.support)]) == {1, 2}
    assert sum(found.weights) == 1


@pytest.mark.parametrize("change", ["weight", "rival", "row", "own", "twice", "sign", "hash", "order"])
def test_false_proofs_are_rejected(change):
    X, y = [[0.0], [1.0], [2.0], [0.5]], [0, 1, 2, 2]
    proof = json.loads(proved(X, y).to_json())
    part = proof["combination"]
    if change == "weight":
        part["weights"][0] = "0x7"
    elif change == "rival":
        part["rivals"][0] = 0
    elif change == "row":
        part["rows"][0] = 9
    elif change == "own":
        part["rivals"][0] = 1
    elif change == "twice":
        part.update(rows=part["rows"] * 2, rivals=part["rivals"] * 2, weights=part["weights"] * 2)
    elif change == "sign":
        part["weights"] = ["-" + text for text in part["weights"]]
    elif change == "hash":
        proof["data"]["sha256"] = "0" * 64
    else:
        proof["data"]["classes"].reverse()
    rejected(proof, X, y)


@pytest.mark.parametrize("change", ["tie", "missing", "bias"])
def test_false_functions_are_rejected(change):
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    proof = json.loads(proved(X, y).to_json())
    if change == "tie":
        proof["hyperplanes"][1] = proof["hyperplanes"][0]
    elif change == "missing":
        del proof["hyperplanes"][0]
    else:
        proof["bias"] = False
    rejected(proof, X, y)


def test_one_class_is_no_question():
    X, y = [[0.0], [1.0]], ["a", "a"]
    data = {"rows": 2, "features": 1, "classes": ["a"], "sha256": hash_of_classes(X, [0, 0])}
    known = {"format": "rosenblatt-proof", "version": 1, "verdict": "separable", "bias": True, "data": data}
    rejected({**known, "hyperplanes": [{"w": ["0x1"], "b": "0x0"}]}, X, y)


@pytest.mark.parametrize("features", [2**64, 10**25])
def test_a_false_number_of_features_makes_no_vector_of_that_length(features):
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    proof = json.loads(proved(X, y).to_json())
    proof["data"]["features"] = features
    rejected(proof, X, y)


def rejected(proof, X, y):
    text = json.dumps(proof)
    with pytest.raises(check.ProofError):
        check.check(check.read_proof(text), X, y)
    try:
        read = Certificate.from_json(text)
    except check.ProofError:
        return
    assert not read.verify(X, y)


def test_functions_that_floats_cannot_tell_apart():
    big = 2.0**60
    X, y = [[big, 1.0], [big, 0.0], [big, -1.0]], [0, 1, 2]
    found = proved(X, y)
    assert isinstance(found, DirectSeparable)
    worse = json.loads(found.to_json())
    worse["hyperplanes"] = [{"w": [w, "0x0"], "b": "0x0"} for w in ("0x3", "0x3", "0x3")]
    rejected(worse, X, y)


def test_the_verdict_of_a_fit():
    X, y = [[0.0], [1.0], [2.0], [0.5]], [0, 1, 2, 2]
    assert isinstance(verdict(as_batch(X, y)), DirectInseparable)
    found = verdict(as_batch(X, y, [1.0, 1.0, 1.0, 0.0]))
    assert isinstance(found, DirectSeparable)
    assert found.verify(X[:3], y[:3])
    more, labels = [[7.0], *X], [0, *y]
    again = verdict(as_batch(more, labels, [0.0, 1.0, 1.0, 1.0, 1.0]))
    assert isinstance(again, DirectInseparable)
    assert 0 not in again.support
    assert again.verify(more, labels)
    assert verdict(as_batch(X, y), work=1) is None


def test_limits_and_wrong_use():
    X, y = load_iris(return_X_y=True)
    hasty = rb.certify(X, y, multiclass="direct", time_limit=0)
    assert isinstance(hasty, DirectUndecided)
    assert not hasty.verify(X, y)
    with pytest.raises(UndecidedError):
        hasty.to_json()
    with pytest.raises(ParameterError, match="multiclass"):
        rb.certify(X, y, multiclass="pairs")
    with pytest.raises(LabelError, match="cannot be distinguished"):
        rb.certify([[0.0], [1.0], [2.0]], ["1", "1.0", "2"], multiclass="direct")
    assert rb.certify(X[:100], y[:100], multiclass="direct").verdict == "separable"
    found = rb.certify(X, y, multiclass="direct")
    assert not found.verify(X + 1, y)
    assert not found.verify(X[:, :2], y)
    assert not found.verify(X, y + 1)
    assert found.renamed(("a", "b", "c", "d")).names == ("a", "b", "c", "d")
    assert isinstance(found.weights[0], Fraction)


def test_several_proofs_of_which_one_is_about_all_classes_are_no_list():
    X, y = load_iris(return_X_y=True)
    all_together = rb.certify(X, y, multiclass="direct").to_json()
    pair = rb.certify(X[:100], y[:100]).to_json()
    with pytest.raises(check.ProofError, match="all classes together"):
        check.read_proofs(f"[{all_together}, {pair}]")
    assert check.read_proofs(f"[{all_together}]")


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_equal_rows_of_two_of_many_classes_decide_at_once(layout):
    rng = np.random.default_rng(3)
    X = (rng.random((900, 60)) < 0.1).astype(float)  # short numbers: only the first bits of their floats are set
    y = rng.integers(0, 12, 900)
    X[700], y[700], y[55] = X[55], 7, 3
    X[:, 0] = np.where(np.isin(np.arange(900), (55, 700)), 5.0, np.arange(900) + 10.0)  # no others are equal
    few = 20 * X.size  # not enough to train or to compare pairs
    found = verdict(as_batch(layout(X), y), work=few)
    assert isinstance(found, DirectInseparable)
    assert sorted(found.support) == [55, 700]
    assert found.verify(X, y)
    assert proved(layout(X), y).verdict == "inseparable"
