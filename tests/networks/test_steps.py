"""Steps along gradients are those of the textbook, in the precision of the parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.networks.backpropagation import Adam, Momentum, take_step
from tests.oracles import network as reference

NUMBERS = st.floats(-10, 10, allow_subnormal=False)


def walk(rule, theta, gradients, decay=(0, 0.0)):
    theta = theta.copy()
    moments = np.zeros((rule.n_moments, theta.size), theta.dtype)
    for t, gradient in enumerate(gradients, 1):
        take_step(rule, theta, gradient.copy(), moments, decay, t)
    return theta


@given(
    st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=2, max_size=6),
    st.floats(0.01, 1),
    st.floats(0, 0.99),
    st.booleans(),
)
def test_momentum(rows, eta, mu, nesterov):
    theta, *gradients = np.array(rows)
    expected = reference.momentum(theta.tolist(), [g.tolist() for g in gradients], eta, mu, nesterov)
    assert walk(Momentum(eta, mu, nesterov), theta, gradients) == pytest.approx(np.array(expected), abs=1e-9)


@given(
    st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=2, max_size=6),
    st.floats(0.001, 1),
    st.floats(0, 0.99),
    st.floats(0, 0.999),
)
def test_adam(rows, eta, beta_1, beta_2):
    theta, *gradients = np.array(rows)
    numbers = eta, beta_1, beta_2, 1e-8
    expected = reference.adam(theta.tolist(), [g.tolist() for g in gradients], *numbers)
    assert walk(Adam(*numbers), theta, gradients) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("rule", [Momentum(0.1, 0.5), Momentum(0.1, 0.5, nesterov=False), Adam(0.1)])
def test_decay_is_a_gradient_of_the_weights_alone(rule):
    theta, gradient = np.array([1.0, -2, 3, 4]), np.array([0.5, 0.25, -1, 2])
    decayed = gradient + 0.1 * np.array([1.0, -2, 3, 0])
    assert walk(rule, theta, [gradient], (3, 0.1)) == pytest.approx(walk(rule, theta, [decayed]), rel=1e-14)


def test_float32_steps_are_in_float32():
    """Bit for bit what numpy computes of float32 alone; numbers of float64 in between would round otherwise."""
    f = np.float32
    theta, g, m, v = np.random.default_rng(0).standard_normal((4, 50)).astype(f)
    v = np.abs(v)
    slope = g + f(0.01) * theta
    moved, moments = theta.copy(), m[None].copy()
    take_step(Momentum(0.1, 0.9, nesterov=False), moved, g.copy(), moments, (50, 0.01), 1)
    velocity = f(0.9) * m - f(0.1) * slope
    assert (moments[0].tolist(), moved.tolist()) == (velocity.tolist(), (theta + velocity).tolist())
    moved, moments = theta.copy(), np.stack([m, v])
    take_step(Adam(0.1, 0.9, 0.999, 1e-8), moved, g.copy(), moments, (50, 0.01), 3)
    mean = f(0.9) * m + f(0.1) * slope
    square = f(0.999) * v + f(1 - 0.999) * (slope * slope)
    rate = f(0.1 * np.sqrt(1 - 0.999**3) / (1 - 0.9**3))
    assert moments.tolist() == [mean.tolist(), square.tolist()]
    assert moved.tolist() == (theta - rate * mean / (np.sqrt(square) + f(1e-8))).tolist()
