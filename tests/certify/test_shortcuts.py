"""Cheap attempts before the search: equal rows of different classes, and rows that single features force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt.certify import shortcuts
from rosenblatt.certify.shortcuts import find_equal_rows, peel
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
        patch.setattr(shortcuts, "SAMPLE_ROWS", first)
        patch.setattr(shortcuts, "GROWTH_FACTOR", 2)
        pair = find_equal_rows(matrix(rows, layout), codes)
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
    assert find_equal_rows(matrix(X, layout), codes) == (300, 7)
    assert read == [512]
    codes[300] = 0.0
    assert find_equal_rows(matrix(X, layout), codes) == (4999, 300)
    assert read == [512, 512, 4096, 5000]


def test_rows_of_one_hash_are_compared(monkeypatch):
    monkeypatch.setattr(shortcuts, "_digest", lambda matrix, odd, rows, digests: digests[rows].fill(0))
    X = np.array([[1.0], [2.0], [2.0], [3.0]])
    assert find_equal_rows(matrix(X, "dense"), np.array([0, 0, 1, 1])) == (2, 1)
    assert find_equal_rows(matrix(X, "dense"), np.array([0, 1, 1, 1])) is None


def left_by_definition(rows, y, bias) -> set[int]:
    """Remove rows where a feature is not c, while some c has one class at or above it and the other below."""
    left = set(range(len(rows)))
    while left:
        if bias and len({y[i] for i in left}) == 1:
            return set()
        forced = set()
        for j in range(len(rows[0])):
            for c in {rows[i][j] for i in left} if bias else {0.0}:
                for sign in (1, -1):
                    if all(sign * y[i] * (rows[i][j] - c) >= 0 for i in left):
                        forced |= {i for i in left if rows[i][j] != c}
            if bias and any(  # a gap between the classes
                max(sign * rows[i][j] for i in left if y[i] < 0) < min(sign * rows[i][j] for i in left if y[i] > 0)
                for sign in (1, -1)
            ):
                forced = set(left)
        if not forced:
            return left
        left -= forced
    return left


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("bias", [True, False])
@given(data=st.data())
def test_rows_left_are_those_that_no_feature_forces(dtype, bias, data):
    value = st.sampled_from([0.0, 1.0, 2.0] if dtype is np.uint8 else [0.0, -0.0, 1.0, -1.0, 2.0])
    rows = data.draw(st.lists(st.tuples(value, value), min_size=2, max_size=12))
    y = np.array(data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=len(rows), max_size=len(rows))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortcuts, "SAMPLE_ROWS", data.draw(st.integers(1, 12)))
        patch.setattr(shortcuts, "GROWTH_FACTOR", 2)
        shown = peel(np.array(rows, dtype), y, bias=bias)
    assert set(np.flatnonzero(shown.left)) == left_by_definition(rows, y, bias)
    if not shown.left.any():
        w = shown.normal(np.array(rows), None)
        assert (y * (np.array(rows) @ w[:-1] + w[-1]) > 0.0).all()
