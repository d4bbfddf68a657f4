"""Gradients: against the textbook, against differences, and against a library that differentiates by itself."""

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt.networks.backpropagation import Backpropagation
from rosenblatt.networks.layers import (
    CrossEntropy,
    GainControl,
    Layer,
    LogSquare,
    ReLU,
    Sigmoid,
    SquaredError,
    Tanh,
    n_parameters,
    parts,
)
from tests.oracles import network as reference

KINDS = {
    "identity": (),
    "logistic": (Sigmoid(),),
    "tanh": (Tanh(),),
    "relu": (ReLU(),),
    "log_square": (LogSquare(),),
    "gain": (GainControl(0.7),),
    "log_square, gain": (LogSquare(), GainControl(0.7)),
    "tanh, logistic": (Tanh(), Sigmoid()),  # the second must not write over what the first needs
}
PLAIN = {Sigmoid(): "logistic", Tanh(): "tanh", ReLU(): "relu", LogSquare(): "log_square"}
LOSSES = {"squared_error": SquaredError(), "cross_entropy": CrossEntropy()}

RESPONSES = {
    Sigmoid: lambda f, z: 1.0 / (1.0 + anp.exp(-z)),
    Tanh: lambda f, z: anp.tanh(z),
    ReLU: lambda f, z: anp.maximum(z, 0.0),
    LogSquare: lambda f, z: anp.log(z**2 + 1.0),
    GainControl: lambda f, z: z / anp.sqrt(f.sigma**2 + anp.mean(z**2, axis=1, keepdims=True)),
}


def networks():
    """Every response in a hidden layer and in the last one, under each loss; one output and several; no biases."""
    for loss in LOSSES:
        for kind, responses in KINDS.items():
            for n_outputs in (1, 3):
                hidden = (Layer(4, 5, responses), Layer(5, n_outputs))
                yield pytest.param(hidden, loss, id=f"{loss}-{kind}-{n_outputs}")
            if loss == "squared_error":
                yield pytest.param((Layer(4, 3, (Tanh(),)), Layer(3, 3, responses)), loss, id=f"last-{kind}")
        deep = (
            Layer(4, 6, (ReLU(),), bias=False),
            Layer(6, 5, (LogSquare(), GainControl(1.0)), bias=False, nonnegative=True),
            Layer(5, 4, (ReLU(),), bias=False),
            Layer(4, 3),
        )
        yield pytest.param(deep, loss, id=f"{loss}-hierarchy")
        yield pytest.param((Layer(4, 2),), loss, id=f"{loss}-one layer")


def problem(layers, loss, n_rows=7, seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal(n_parameters(layers))
    for layer, w in zip(layers, parts(layers, theta).weights, strict=True):
        if layer.nonnegative:
            np.abs(w, out=w)
    X = rng.standard_normal((n_rows, 4)) * (rng.random((n_rows, 4)) < 0.7)
    k = layers[-1].n_neurons
    if loss == "squared_error":
        U = rng.standard_normal((n_rows, k))
    elif k == 1:
        U = rng.integers(2, size=(n_rows, 1)).astype(float)
    else:
        U = np.eye(k)[rng.integers(k, size=n_rows)]
    return theta, X, U, rng.uniform(0.1, 3, n_rows)


def gradient(layers, loss, theta, X, U, weight=None):
    backward = Backpropagation(layers, theta, LOSSES[loss], len(U))
    total, _ = backward.charge(X, U, weight)
    return total / len(U), backward.gradient


def mean_loss(layers, loss, theta, X, U, weight):
    """Return the mean loss, written for `autograd`."""
    y = X
    at, bias_at = 0, sum(layer.n_inputs * layer.n_neurons for layer in layers)
    for layer in layers:
        size = layer.n_inputs * layer.n_neurons
        z = anp.dot(y, anp.reshape(theta[at : at + size], (layer.n_inputs, layer.n_neurons)))
        at += size
        if layer.bias:
            z = z + theta[bias_at : bias_at + layer.n_neurons]
            bias_at += layer.n_neurons
        for response in layer.responses:
            z = RESPONSES[type(response)](response, z)
        y = z
    if loss == "squared_error":
        losses = anp.sum((y - U) ** 2, axis=1) / 2
    elif U.shape[1] == 1:
        losses = anp.log(1 + anp.exp(y[:, 0])) - U[:, 0] * y[:, 0]
    else:
        losses = anp.log(anp.sum(anp.exp(y), axis=1)) - anp.sum(U * y, axis=1)
    return anp.mean(weight * losses)


@pytest.mark.parametrize(("layers", "loss"), list(networks()))
def test_against_another_library(layers, loss):
    theta, X, U, weight = problem(layers, loss)
    for s in (None, weight):
        value, found = gradient(layers, loss, theta, X, U, s)
        told = np.ones(len(U)) if s is None else s
        expected = autograd.grad(mean_loss, 2)(layers, loss, theta, X, U, told)
        assert value == pytest.approx(mean_loss(layers, loss, theta, X, U, told), rel=1e-12)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("layers", "loss"), list(networks()))
def test_against_differences(layers, loss):
    theta, X, U, weight = problem(layers, loss, seed=1)
    _, found = gradient(layers, loss, theta, X, U, weight)
    h = 1e-6
    for i in range(theta.size):
        step = h * (np.arange(theta.size) == i)
        up, down = (gradient(layers, loss, theta + sign * step, X, U, weight)[0] for sign in (1, -1))
        assert found[i] == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(("layers", "loss"), list(networks()))
def test_against_the_textbook(layers, loss):
    theta, X, U, _ = problem(layers, loss, seed=2)
    _require_textbook(layers, loss, theta, X, U)


def _require_textbook(layers, loss, theta, X, U):
    weights, biases = parts(layers, theta)
    plain = [
        (w.T.tolist(), [0.0] * layer.n_neurons if b is None else b.tolist(), [_name(f) for f in layer.responses])
        for layer, w, b in zip(layers, weights, biases, strict=True)
    ]
    told = [reference.backpropagate(plain, loss, x, u) for x, u in zip(X.tolist(), U.tolist(), strict=True)]
    value, found = gradient(layers, loss, theta, X, U)
    assert value == pytest.approx(np.mean([each for each, _ in told]), rel=1e-12)
    found_weights, found_biases = parts(layers, found)
    for k, (w, b) in enumerate(zip(found_weights, found_biases, strict=True)):
        assert w.T == pytest.approx(np.mean([each[k][0] for _, each in told], axis=0), rel=1e-9, abs=1e-12)
        if b is not None:
            assert b == pytest.approx(np.mean([each[k][1] for _, each in told], axis=0), rel=1e-9, abs=1e-12)


@given(st.data())
def test_any_network_against_the_textbook(data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    kinds = data.draw(st.lists(st.sampled_from(list(KINDS)), min_size=len(sizes), max_size=len(sizes)))
    loss = data.draw(st.sampled_from(list(LOSSES)))
    if loss == "cross_entropy":
        kinds[-1] = "identity"
    shapes = zip([4, *sizes[:-1]], sizes, kinds, strict=True)
    layers = tuple(Layer(a, b, KINDS[kind], bias=data.draw(st.booleans())) for a, b, kind in shapes)
    theta, X, U, _ = problem(layers, loss, n_rows=data.draw(st.integers(1, 5)), seed=data.draw(st.integers(0, 99)))
    _require_textbook(layers, loss, theta, X, U)


def _name(response):
    return ("gain", response.sigma) if isinstance(response, GainControl) else PLAIN[response]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_and_smaller_batches(dtype):
    layers = (Layer(4, 5, (Tanh(),)), Layer(5, 3))
    theta, X, U, weight = (each.astype(dtype) for each in problem(layers, "cross_entropy"))
    backward = Backpropagation(layers, theta, CrossEntropy(), 20)  # room for more rows than come
    close = {"rel": 1e-4, "abs": 1e-6} if dtype == np.float32 else {"rel": 1e-12, "abs": 1e-14}
    for s in (None, weight):
        for n in (7, 3, 1):
            part = None if s is None else s[:n]
            value, _ = backward.charge(X[:n], U[:n], part)
            dense = backward.gradient.copy()
            sparse_value, _ = backward.charge(csr_array(X)[:n], U[:n], part)
            assert backward.gradient.dtype == dtype
            assert backward.gradient == pytest.approx(dense, **close)
            assert sparse_value == pytest.approx(value, rel=1e-5)


def test_cross_entropy_of_sure_mistakes_is_finite():
    for outputs, targets in (([[800.0]], [[0.0]]), ([[-800.0]], [[1.0]]), ([[0.0, 800.0]], [[1.0, 0.0]])):
        error = np.empty_like(outputs)
        assert CrossEntropy().charge(np.array(outputs), np.array(targets), None, error) == pytest.approx(800.0)
        assert np.abs(error) == pytest.approx(1.0)
