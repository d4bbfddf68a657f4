"""Bytes are trained on as they are, to the bits of their float64 copies, in an eighth of the memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.rows.features import as_rows
from tests.shared.examples import examples
from tests.shared.strategies import bits, quietly

PARAMETERS = [
    {},
    {"average": True},
    {"multiclass": "ovr"},
    {"multiclass": "ovo", "average": True},
    {"penalty": "l2"},
    {"early_stopping": True, "bias": "radius"},
    {"init": "first", "margin": 3.0, "tie": "half"},
]


def byte_table(seed, n=40, d=45, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, (n, d), dtype=np.uint8)  # those from 128 on would be negative as signed bytes
    y = rng.integers(0, classes, n)
    y[: 2 * classes] = np.repeat(np.arange(classes), 2)
    return X, y


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.integers(0, 10**6), st.integers(1, 80), st.sampled_from([2, 3]), st.sampled_from(PARAMETERS))
def test_bytes_train_the_bits_of_floats(seed, d, classes, parameters):
    X, y = byte_table(seed, d=d, classes=classes)
    weight = np.random.default_rng(seed).random(len(y)) + 0.1
    one, other = (
        quietly(rb.Perceptron(max_iter=4, **parameters).fit, table, y, sample_weight=weight)
        for table in (X, X.astype(float))
    )
    assert bits(one) == bits(other)
    assert one.trace_.score.tobytes() == other.trace_.score.tobytes()
    assert one.trace_.replay(X, y).coef.tobytes() == other.trace_.replay(X.astype(float), y).coef.tobytes()
    assert one.decision_function(X).tobytes() == other.decision_function(X.astype(float)).tobytes()


@pytest.mark.parametrize("change", [np.asfortranarray, lambda X: X[:, ::-1], lambda X: X > 100], ids="FSB")
def test_any_layout_of_bytes(change):
    X, y = byte_table(1)
    table = change(X)
    one, other = (quietly(rb.Perceptron(max_iter=4).fit, each, y) for each in (table, table.astype(float)))
    assert bits(one) == bits(other)


def test_bytes_stay_bytes_only_where_loops_read_them():
    X, _ = byte_table(1)
    assert as_rows(X).rows.dtype == np.float64
    kept = as_rows(X, keep_bytes=True).rows
    assert kept.dtype == np.uint8
    assert np.shares_memory(kept, X)
    assert not kept.flags.writeable


def test_a_fit_on_bytes_makes_no_copy_of_them():
    X, y = byte_table(1, n=16_000, d=400)
    quietly(rb.Perceptron(max_iter=2).fit, X[:50], y[:50])  # compiles
    tracemalloc.start()
    try:
        quietly(rb.Perceptron(max_iter=2, decide=False).fit, X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes


def test_a_cycle_is_still_proved():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8), [0, 1, 1, 0]
    clf = quietly(rb.Perceptron(stop_on_cycle=True, order="cyclic").fit, X, y)
    assert clf.stop_reason_ == "cycle"
    assert clf.certificate_.verify(X, y)
