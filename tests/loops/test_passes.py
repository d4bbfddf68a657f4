"""The fast loops are the reference: on exact data every decision, weight and average is the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.dispatcher import Dispatcher

from rosenblatt.loops import passes, reference, screen
from rosenblatt.loops.layout import Log, Sides
from rosenblatt.loops.rules import Rule, tie_shares
from tests.loops.oracles import LAYOUTS, assert_equals_reference, rows_of, run
from tests.shared.examples import examples

rules = st.builds(
    lambda eta, beta, margin, tie, zero: Rule(eta, beta, margin, *tie_shares(tie, zero)),
    eta=st.sampled_from([1.0, 0.5, 2.0]),
    beta=st.sampled_from([0.0, 1.0, 9.0]),
    margin=st.sampled_from([0.0, 0.0, 1.0, 2.5]),
    tie=st.sampled_from(["mistake", "sign", "half", "correct"]),
    zero=st.sampled_from([-1, 1]),
)


@st.composite
def problems(draw):
    """Small integers, so that ties abound and every sum is exact; widths around the lanes' edges."""
    n = draw(st.integers(1, 8))
    d = draw(st.sampled_from([1, 2, 3, 5, 8, 9, 33, 41]))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 1.0])))
    y = rng.choice([-1, 1], size=n)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], size=n) if draw(st.booleans()) else np.ones(n)
    order = rng.integers(n, size=draw(st.integers(0, 60)))
    start = rng.integers(-2, 3, size=d + 1) if draw(st.booleans()) else np.zeros(d + 1, int)
    return X, y, weight, order, start


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=examples(600))
@given(problem=problems(), rule=rules, average=st.booleans())
def test_fast_loops_equal_the_reference(layout, problem, rule, average):
    X, y, weight, order, start = problem
    expected = reference.train(
        X.tolist(), y.tolist(), order.tolist(), rule, start[:-1].tolist(), int(start[-1]), weight.tolist()
    )
    fast = run(X, y * weight, order, rule, layout, start, average)
    assert_equals_reference(fast, expected, len(order))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_float_visits_split_anywhere_are_the_same_bits(layout):
    rng = np.random.default_rng(5)
    X, pull = rng.normal(size=(60, 37)), rng.choice([-1.0, 1.0], 60)
    order = rng.integers(60, size=500)
    whole = run(X, pull, order, layout=layout, average=True)
    w, u = np.zeros(38), np.zeros(38)
    for first, last in [(0, 1), (1, 200), (200, 500)]:
        part = run(X, pull, order[first:last], layout=layout, start=w, average=True, t0=first)
        w, u = part.w, u + part.u
    assert w.tobytes() == whole.w.tobytes()
    np.testing.assert_allclose(u, whole.u, rtol=1e-12)


def test_float32_trains_the_bits_of_its_float64_copy():
    rng = np.random.default_rng(6)
    X, pull = rng.normal(size=(80, 45)).astype(np.float32), rng.choice([-1.0, 1.0], 80)
    order = np.tile(np.arange(80), 20)
    narrow, wide = (run(X, pull, order, layout=layout, average=True) for layout in ("dense32", "dense"))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(narrow, wide, strict=True))


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_stops_the_loop_before_it_does_harm(layout, bad):
    X = np.ones((3, 2))
    X[1, 1] = bad
    w = np.zeros(3)
    targets = Sides(np.array([1.0, -1.0, 1.0]))
    order = np.arange(3, dtype=np.uint64)
    made = passes.train(rows_of(X, layout), targets, order, Rule(), w, None, 0, Log.room(3))
    assert made == (1, 1)
    assert w.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("layout", ["dense", "dense32", "csr", "csr64"])
def test_scores_are_those_training_decides_by(layout):
    rng = np.random.default_rng(7)
    X, pull = rng.normal(size=(50, 29)), rng.choice([-1.0, 1.0], 50)
    w = rng.normal(size=30)
    out = np.empty(50)
    rows = rows_of(X, layout)
    passes.scores(rows, w, out)
    everything_is_a_mistake = Rule(eta=2.0**-1000, margin=1e9)
    logged = run(X, pull, np.arange(50), everything_is_a_mistake, layout, start=w)
    assert out.tobytes() == logged.score.tobytes()
    np.testing.assert_allclose(out, (X.astype("f4") if layout == "dense32" else X) @ w[:-1] + w[-1], rtol=1e-9)
    one_by_one = [passes.score_row(rows_of(X[i : i + 1], layout), w) for i in range(50)]
    assert np.array(one_by_one).tobytes() == out.tobytes()


@given(st.integers(0, 2**32 - 1))
def test_largest_square(seed):
    X = np.random.default_rng(seed).integers(-9, 10, size=(7, 5))
    for layout in ("dense", "csr"):
        assert passes.largest_square(rows_of(X, layout), 7) == (X**2).sum(axis=1).max()


def test_loops_release_the_gil_and_add_in_order():
    for loop in (passes.train, passes.scores, passes.replay, passes.learn_row):
        assert loop.targetoptions["nogil"]
        assert not loop.targetoptions.get("fastmath")


@pytest.mark.parametrize("module", [passes, screen])
def test_loops_release_the_lock(module):
    loops = {name: loop for name, loop in vars(module).items() if isinstance(loop, Dispatcher)}
    assert len(loops) >= 3
    for name, loop in loops.items():
        assert loop.targetoptions["nogil"] is True, name


def test_training_adds_in_a_fixed_order():
    for loop in (passes.train, passes.scores, passes.replay, passes.learn_row, screen.train_screened):
        assert not loop.targetoptions.get("fastmath")
