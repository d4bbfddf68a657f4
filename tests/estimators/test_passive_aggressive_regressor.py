"""Passive-aggressive regression: a plain loop, replay, streams and files."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError, ShapeError
from tests.shared.examples import slowly

RNG = np.random.default_rng(2)
X = RNG.integers(-8, 9, (30, 5)) / 8
Y = X @ [1.0, -2.0, 0.5, 0.0, 3.0] + 0.25 + RNG.integers(-2, 3, 30) / 8
LOSSES = {"epsilon_insensitive": 1, "squared_epsilon_insensitive": 2}


def plain(C, kind, epsilon, passes, weight=None):
    """PA-I and PA-II over fractions."""
    rows = [[*map(Fraction, row), Fraction(1)] for row in X.tolist()]
    w = [Fraction(0)] * 6
    for i in list(range(30)) * passes:
        e = Fraction(Y[i]) - sum(a * b for a, b in zip(w, rows[i], strict=True))
        loss, x2 = abs(e) - epsilon, sum(a * a for a in rows[i])
        m = 1 if weight is None else Fraction(weight[i])
        if loss > 0 and m > 0:
            if kind == 2:
                c = loss / (x2 + 1 / (2 * C * m))
            else:
                c = loss / x2 if C == math.inf else min(C * m, loss / x2)
            w = [a + (c if e > 0 else -c) * b for a, b in zip(w, rows[i], strict=True)]
    return np.array(w, float)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_textbook(loss, layout, weighted):
    weight = RNG.integers(0, 4, 30) / 2 if weighted else None
    reg = rb.PassiveAggressiveRegressor(C=0.25, loss=loss, epsilon=0.125, shuffle=False, max_iter=2, tol=None)
    with pytest.warns(ConvergenceWarning):
        reg.fit(layout(X), Y, sample_weight=weight)
    true = plain(Fraction(1, 4), LOSSES[loss], Fraction(1, 8), 2, weight)
    np.testing.assert_allclose(np.append(reg.coef_, reg.intercept_), true, rtol=1e-9, atol=1e-12)
    again = reg.replay(layout(X), Y)
    assert again.tobytes() == reg._state.w.tobytes()
    np.testing.assert_allclose(reg.predict(layout(X)), X @ true[:-1] + true[-1], rtol=1e-9)


def test_chunks_and_files_leave_the_same_bits(tmp_path):
    whole = rb.PassiveAggressiveRegressor(average=True, shuffle=False, max_iter=1).fit(X, Y)
    parts = rb.PassiveAggressiveRegressor(average=True).partial_fit(X[:11], Y[:11])
    rb.save(parts, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    for each in (parts, again):
        each.partial_fit(X[11:], Y[11:])
        assert each.coef_.tobytes() == whole.coef_.tobytes()
        assert each.n_updates_ == whole.n_updates_
    assert whole.t_ == parts.t_ == 30


def test_it_ends_within_epsilon():
    exact = X @ [1.0, -2.0, 0.5, 0.0, 3.0]
    reg = rb.PassiveAggressiveRegressor(C=math.inf, epsilon=0.5).fit(X, exact)
    assert reg.stop_reason_ == "margin"
    assert (abs(reg.predict(X) - exact) <= 0.5).all()


def test_a_warm_start_goes_on():
    whole = rb.PassiveAggressiveRegressor(average=True, tol=None, n_iter_no_change=50, max_iter=4).fit(X, Y)
    part = rb.PassiveAggressiveRegressor(average=True, tol=None, n_iter_no_change=50, max_iter=2, warm_start=True)
    assert part.fit(X, Y).fit(X, Y).coef_.tobytes() == whole.coef_.tobytes()


def test_errors():
    with pytest.raises(ShapeError, match="2 numbers a row"):
        rb.PassiveAggressiveRegressor().fit(X, np.stack([Y, Y], axis=1))
    with pytest.raises(ParameterError, match="epsilon=-1"):
        rb.PassiveAggressiveRegressor(epsilon=-1).fit(X, Y)
    with pytest.raises(ParameterError, match="loss='x'"):
        rb.PassiveAggressiveRegressor(loss="x").fit(X, Y)
