"""Scores by numpy alone are those of the compiled loops, to the bit."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from rosenblatt.learning.linear import (
    LARGEST_SAFE_SIZE,
    LEAST_SAFE_SIZE,
    MAX_PLAIN_PRODUCTS,
    MAX_PLAIN_STEPS,
    loop_scores,
    multiply_add,
    plain_scores,
    suffices,
)
from rosenblatt.loops.layout import CSR

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TAME = st.floats(-1e3, 1e3) | st.integers(-4, 4).map(float) | st.sampled_from([0.0, -0.0, 2.0**-600, 2.0**600])
NASTY = FLOATS | st.sampled_from(
    [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.0**-1022,
        LEAST_SAFE_SIZE,
        LARGEST_SAFE_SIZE,
        2.0**-500,
        2.0**1023,
        1 + 2.0**-52,
        1 - 2.0**-53,
    ]
)


def the_same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays are of the same bits, NaN aside, whose sign no rule settles."""
    return a.shape == b.shape and ((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all()


def compressed(X: np.ndarray) -> CSR:
    matrix = csr_array(X)
    return CSR(matrix.data, matrix.indices.astype(np.uint32), matrix.indptr.astype(np.uint32))


def rounded_once(a: float, b: float, c: float) -> float:
    """Return a b + c by fractions; infinite where no float is as large."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


@given(hnp.arrays(np.float64, (3, 24), elements=NASTY))
def test_a_fused_product_is_the_exact_one_rounded_once(triples):
    with np.errstate(all="ignore"):
        found = multiply_add(*triples)
    for a, b, c, each in zip(*triples.tolist(), found.tolist(), strict=True):
        exact, wanted = Fraction(a) * Fraction(b) + Fraction(c), rounded_once(a, b, c)
        assert each == wanted
        assert wanted != 0.0 or exact == 0 or np.signbit(each) == (exact < 0)


def test_a_fused_product_near_the_middle_of_two_floats():
    # What is left of the product decides, though a float beside c cannot hold it: rounding twice would err.
    rng = np.random.default_rng(0)
    a = 1.0 + rng.integers(0, 2**52, 5000) * 2.0**-52
    b = 1.0 + rng.integers(0, 2**52, 5000) * 2.0**-52
    c = 2.0 ** rng.integers(50, 110, 5000) * rng.choice([-1.0, 1.0], 5000) * (1.0 + 2.0**-52)
    wanted = [rounded_once(*triple) for triple in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    assert multiply_add(a, b, c).tolist() == wanted


@pytest.mark.parametrize("low, high", [(-1074, -940), (940, 1023)])
def test_a_fused_product_at_the_ends_of_the_range(low, high):
    # Where halves overflow, or what is left of a product is too small for a float, and c is of its size.
    rng = np.random.default_rng(4)
    size = rng.integers(low, high, 5000)
    first = np.where(rng.random(5000) < 0.5, size // 2, np.clip(size, -1020, 1020))
    a, b = (np.ldexp(rng.uniform(1.0, 2.0, 5000), each) for each in (first, size - first))
    c = np.ldexp(rng.uniform(-2.0, 2.0, 5000), size + rng.integers(-3, 1, 5000))
    with np.errstate(all="ignore"):
        c = np.where(np.isfinite(a * b) & (rng.random(5000) < 0.3), -(a * b), c)  # all but what is left cancels
        found = multiply_add(a, b, c).tolist()
    for x, y, z, each in zip(a.tolist(), b.tolist(), c.tolist(), found, strict=True):
        assert each == rounded_once(x, y, z)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("machines", [None, 1, 2, 3, 9])
def test_every_width(dtype, machines):
    rng = np.random.default_rng(1)
    for d in range(1, 71):
        X = (rng.standard_normal((5, d)) * 10.0 ** rng.integers(-8, 8, (5, d))).astype(dtype)
        w = rng.standard_normal((d + 1,) if machines is None else (machines, d + 1))
        assert the_same(plain_scores(X, w), loop_scores(X, w)), d
        few = compressed(np.where(rng.random(X.shape) < 0.6, X, 0))
        assert the_same(plain_scores(few, w), loop_scores(few, w)), d


@given(st.data())
def test_nasty_floats(data):
    d, n = data.draw(st.integers(1, 70)), data.draw(st.integers(1, 4))
    machines = data.draw(st.sampled_from([None, 1, 4]))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    width = 64 if dtype == np.float64 else 32
    values = st.floats(allow_nan=False, allow_infinity=False, width=width) if data.draw(st.booleans()) else TAME
    with np.errstate(all="ignore"):
        X = data.draw(hnp.arrays(np.float64, (n, d), elements=values)).astype(dtype)
    w = data.draw(hnp.arrays(np.float64, (d + 1,) if machines is None else (machines, d + 1), elements=NASTY))
    assert the_same(plain_scores(X, w), loop_scores(X, w))
    assert the_same(plain_scores(compressed(X), w), loop_scores(compressed(X), w))


def test_rows_of_a_part_that_begins_elsewhere():
    rng = np.random.default_rng(2)
    X = np.where(rng.random((30, 20)) < 0.5, rng.standard_normal((30, 20)), 0.0)
    rows, w = compressed(X), rng.standard_normal(21)
    part = CSR(rows.data, rows.indices, rows.indptr[10:21])
    assert the_same(plain_scores(part, w), loop_scores(rows, w)[10:20])


def test_many_rows_are_cut_into_pieces():
    rng = np.random.default_rng(3)
    X, w = rng.standard_normal((3000, 40)), rng.standard_normal((3, 41))
    assert the_same(plain_scores(X, w), loop_scores(X, w))


def test_it_is_used_for_little_alone(monkeypatch):
    few, many = np.zeros((4, 8)), np.zeros((MAX_PLAIN_PRODUCTS // 8 + 1, 8))
    long = np.zeros((1, 32 * (MAX_PLAIN_STEPS + 1)))
    assert not suffices(few, 1)  # the loops are loaded here
    monkeypatch.delitem(sys.modules, "numba")
    assert suffices(few, 1)
    assert not suffices(many, 1)
    assert not suffices(many[: len(many) // 2], 3)
    assert not suffices(long, 1)
    assert not suffices(compressed(np.ones((1, 4 * MAX_PLAIN_STEPS + 4))), 1)
    assert suffices(compressed(np.eye(9)), 5)


def test_linear_models_score_little_without_the_loops():
    source = """
import sys
import numpy as np
from rosenblatt.rows.features import as_rows
from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.linear import Scheme
model = LinearModel(np.array([1.0, -2.0, 0.5]), Scheme("binary", 2), np.array([0, 1]))
assert model.predict(as_rows([[3.0, 1.0], [0.0, 1.0]])).tolist() == [1, 0]
assert "numba" not in sys.modules
"""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", source], check=True, cwd=root, timeout=600)
