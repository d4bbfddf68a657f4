"""Losses: the compiled ones, the vectorised ones and their conjugates tell one story."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.loops._jit import jit
from rosenblatt.loops.descent import Hinge, Logistic, SquaredHinge, best_dual, slope, value
from rosenblatt.margins.objective import conjugates, losses, slopes

LOSSES = [Hinge(1.0), Hinge(0.25), SquaredHinge(), Logistic()]
numbers = st.floats(-30, 30)


@jit
def compiled(loss, t):
    return value(loss, t), slope(loss, t)


@jit
def compiled_best_dual(loss, a, c, t, q):
    return best_dual(loss, a, c, t, q)


@pytest.mark.parametrize("loss", LOSSES)
@given(t=numbers)
def test_compiled_and_vectorised_losses_agree(loss, t):
    assert compiled(loss, t) == pytest.approx((losses(loss, np.array([t]))[0], slopes(loss, np.array([t]))[0]))


@pytest.mark.parametrize("loss", LOSSES)
@given(t=numbers)
def test_the_slope_is_that_of_the_loss(loss, t):
    step = 1e-6
    if not (isinstance(loss, Hinge) and abs(t) < 2 * step):
        low, high = losses(loss, np.array([t - step, t + step]))
        assert slopes(loss, np.array([t]))[0] == pytest.approx((high - low) / (2 * step), abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@given(t=numbers, share=st.floats(0, 1))
def test_the_conjugate_bounds_the_loss_from_below_and_touches_it(loss, t, share):
    u = 60 * share if isinstance(loss, SquaredHinge) else share
    phi = losses(loss, np.array([t]))[0]
    assert u * t - conjugates(loss, np.array([u]))[0] <= phi + 1e-9 * (1 + abs(phi))
    at = slopes(loss, np.array([t]))
    assert at[0] * t - conjugates(loss, at)[0] == pytest.approx(phi, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@given(c=st.floats(0.01, 10), share=st.floats(0, 1), t=numbers, q=st.floats(0.01, 100), other=st.floats(0, 1))
@example(c=1.0, share=2.0**-9, t=3.5, q=16.0, other=0.0)  # Newton's steps alone jump to and fro here
def test_the_best_dual_weight_is_no_worse_than_any_other(loss, c, share, t, q, other):
    def dual(alpha):  # of this row, where its shortfall falls by q for each unit of α
        return alpha * t - q * (alpha - a) ** 2 / 2 - c * conjugates(loss, np.array([alpha / c]))[0]

    a = share * c
    best = compiled_best_dual(loss, a, c, t, q)
    assert 0 <= best <= (np.inf if isinstance(loss, SquaredHinge) else c)
    scale = 1 + abs(t) * c + q * c * c
    assert dual(best) >= dual(other * c) - 1e-9 * scale
    assert dual(best) >= dual(best * (0.9 + 0.1 * other)) - 1e-9 * scale
