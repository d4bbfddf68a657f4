"""Cheap attempts before the search: equal rows of different classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt.certify import shortcuts
from rosenblatt.certify.shortcuts import equal_rows
from rosenblatt.margins.matrix import Matrix
from rosenblatt.rows.features import as_rows

LAYOUTS = {"dense": np.asarray, "single": lambda X: np.asarray(X, np.float32), "sparse": csr_array}


def matrix(X, layout):
    return Matrix(as_rows(LAYOUTS[layout](X)), bias=False)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data())
def test_equal_rows_are_found_wherever_they_are(layout, data):
    values = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0])
    rows = data.draw(st.lists(st.tuples(values, values, values), min_size=2, max_size=40))
    codes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))))
    first = data.draw(st.integers(1, 50))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortcuts, "FIRST", first)
        patch.setattr(shortcuts, "FURTHER", 2)
        patch.setattr(shortcuts, "BLOCK", 7)
        pair = equal_rows(matrix(rows, layout), codes)
    classes = [{int(code) for row, code in zip(rows, codes, strict=True) if row == each} for each in rows]
    if pair is None:
        assert all(len(each) == 1 for each in classes)
        return
    larger, smaller = pair
    assert rows[larger] == rows[smaller]
    assert codes[larger] > codes[smaller]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_rest_is_not_read_once_a_pair_is_found(layout, monkeypatch):
    X = np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32)
    X[[7, 300, 4999]] = X[5]
    codes = np.zeros(5000)
    codes[[300, 4999]] = 1.0
    read = []
    digest = shortcuts._digest

    def noted(matrix, odd, rows, digests):
        read.append(rows.stop)
        digest(matrix, odd, rows, digests)

    monkeypatch.setattr(shortcuts, "_digest", noted)
    assert equal_rows(matrix(X, layout), codes) == (300, 7)
    assert read == [512]
    codes[300] = 0.0
    assert equal_rows(matrix(X, layout), codes) == (4999, 300)
    assert read == [512, 512, 4096, 5000]


def test_rows_of_one_hash_are_compared(monkeypatch):
    monkeypatch.setattr(shortcuts, "_digest", lambda matrix, odd, rows, digests: digests[rows].fill(0))
    X = np.array([[1.0], [2.0], [2.0], [3.0]])
    assert equal_rows(matrix(X, "dense"), np.array([0, 0, 1, 1])) == (2, 1)
    assert equal_rows(matrix(X, "dense"), np.array([0, 1, 1, 1])) is None
