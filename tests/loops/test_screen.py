"""The screen changes no decision: not on random data, and not on rows built to deceive it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.loops import passes, screen
from rosenblatt.loops.layout import Log, Sides
from rosenblatt.loops.rules import Rule
from tests.loops.oracles import rows_of, run
from tests.shared.examples import examples


@settings(max_examples=examples(300))
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.sampled_from([1, 7, 16, 17, 64, 81]),
    log_scale=st.sampled_from([-320, -160, -40, -20, 0, 0, 0, 20, 40, 130]),
    heavy=st.booleans(),
    margin=st.sampled_from([0.0, 0.0, 0.5]),
)
def test_same_bits_as_the_plain_loop(seed, d, log_scale, heavy, margin):
    rng = np.random.default_rng(seed)
    X = (rng.standard_cauchy((40, d)) if heavy else rng.normal(size=(40, d))) * 10.0**log_scale
    X[rng.integers(40)] = 0.0
    pull = np.where(X @ rng.normal(size=d) > 0, 1.0, -1.0) * rng.choice([0.0, 1.0, 3.0], 40)
    order = np.concatenate([rng.permutation(40) for _ in range(12)])
    start = rng.normal(size=d + 1)
    plain, screened = (
        run(X, pull, order, Rule(eta=0.7, margin=margin), layout, start, average=True)
        for layout in ("dense", "screened")
    )
    assert all(a.tobytes() == b.tobytes() for a, b in zip(plain, screened, strict=True))


def deceiving_rows(d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and weights before and after, such that what q leaves out points straight against the drift.

    Each row is s q + e with |e_j| just under half a quantum and the sign against Δ_j: the bound ‖Δ‖ ρ is met with
    equality but for rounding. The weights before are then chosen so that the row's score after is at or just below
    zero: a mistake that a screen without slack takes for right.
    """
    rng = np.random.default_rng(seed)
    n = 60
    drift = rng.choice([-1.0, 1.0], d)
    q = rng.integers(-120, 121, size=(n, d)).astype(np.float64)
    q[:, 0] = 127.0 * drift[0]  # sets the scale, without a remainder
    e = -0.499 * drift * np.ones((n, d))
    e[:, 0] = 0.0
    X = q + e
    before = np.zeros(d + 1)
    after = before.copy()
    after[:-1] += drift
    # The bias places each row in turn: f(x) = <Δ, x> + b is minus a tiny bit for the row of the moment.
    return X, before, after


@pytest.mark.parametrize("d", [16, 33, 128])
def test_rows_at_the_boundary_are_read(d):
    X, before, after = deceiving_rows(d, seed=d)
    rows = rows_of(X, "dense")
    pull = np.ones(len(X))
    deceived = 0
    for i in range(len(X)):
        w = after.copy()
        scores = np.empty(len(X))
        passes.scores(rows, w, scores)
        w[-1] = -scores[i]  # now f(x_i) = 0 exactly: a tie, and so a mistake
        shadow = screen.empty_shadow(rows)
        screen.cast(shadow, pull, before)
        log = Log.room(1)
        order = np.array([i], np.uint64)
        # What the screen sees of the row, without its slack: right, by a lot more than rounding.
        seen = shadow.head[i, screen.SCALE] * (shadow.q[i, 4 * screen.HEAD :][:d] @ after[:-1]) + w[-1]
        deceived += seen > 1.0
        mistakes, made, read = screen.train_screened(shadow, pull, order, Rule(), w, log)
        assert (mistakes, made, read) == (1, 1, 1)
        assert log.score[0] == 0.0
    assert deceived == len(X)


@pytest.mark.parametrize("d", [40, 300])
def test_rounding_to_float32_alone_is_covered(d):
    """Rows that q holds without a remainder: only the drift and its product are rounded."""
    rng = np.random.default_rng(d)
    X = rng.integers(-127, 128, size=(300, d)).astype(np.float64)
    X[:, 0] = 127.0
    rows, pull, w = rows_of(X, "dense"), np.ones(300), rng.normal(size=d + 1)
    shadow = screen.empty_shadow(rows)
    screen.cast(shadow, pull, np.zeros(d + 1))
    scores, deceived = np.empty(300), 0
    w[-1] = 0.0
    passes.scores(rows, w, scores)
    log = Log.room(1)
    for i in range(300):
        moved = w.copy()
        moved[-1] = -scores[i]  # f(x_i) = 0: a tie, and so a mistake
        single = np.float32(shadow.q[i, 4 * screen.HEAD :][:d]) @ np.float32(w[:-1])
        deceived += float(single) + moved[-1] > 0.0
        order = np.array([i], np.uint64)
        assert screen.train_screened(shadow, pull, order, Rule(), moved, log) == (1, 1, 1)
    assert deceived > 50


def test_the_bound_of_the_proof_holds_row_by_row():
    """What the screen computes is never further from the plain score than the slack it grants itself."""
    rng = np.random.default_rng(3)
    for d in (1, 16, 100, 700):
        X = rng.normal(size=(300, d)) * rng.lognormal(size=(300, 1), sigma=4)
        rows = rows_of(X, "dense")
        pull = rng.choice([-1.0, 1.0], 300)
        before, after = rng.normal(size=(2, d + 1))
        shadow = screen.empty_shadow(rows)
        screen.cast(shadow, pull, before)
        scores = np.empty(300)
        passes.scores(rows, after, scores)
        # The smallest margin that the screen still clears tells what it subtracted.
        log = Log.room(300)
        every = np.arange(300, dtype=np.uint64)
        for share in (0.0, 0.5, 0.999999, 1.0):
            for i in every:
                margin = float(abs(scores[i])) * share
                right_side = np.array([np.sign(scores[i]) or 1.0] * 300)
                screen.cast(shadow, right_side, before)
                rule = Rule(margin=margin)
                found = screen.train_screened(shadow, right_side, every[i : i + 1], rule, after.copy(), log)
                plain = passes.train(rows, Sides(right_side), every[i : i + 1], rule, after.copy(), None, 0, log)
                assert found[:2] == plain
            if d > 100:
                break


def test_most_rows_of_easy_data_are_not_read():
    """A screen that read everything would pass every other test here."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(2000, 60))
    w = rng.normal(size=61)
    pull = np.sign(X @ w[:-1] + w[-1])
    rows = rows_of(X, "dense")
    shadow = screen.empty_shadow(rows)
    screen.cast(shadow, pull, w + 0.3 * rng.normal(size=61))
    log = Log.room(2000)
    mistakes, made, read = screen.train_screened(shadow, pull, np.arange(2000, dtype=np.uint64), Rule(), w, log)
    assert (mistakes, made) == (0, 2000)
    assert read < 100
