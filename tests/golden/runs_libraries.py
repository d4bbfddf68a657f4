"""Runs that BLAS, LAPACK, solvers or exponentials have a part in: numbers are compared, not bits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import rosenblatt as rb
from tests.golden.runs_perceptron import Run
from tests.golden.samples import SAMPLES, Sample, scheme_of, weights_of
from tests.golden.telling import numbers

NETWORK: dict[str, Any] = {"hidden_layer_sizes": (5, 3), "max_iter": 6, "batch_size": 16}


def _held(model: Any, sample: Sample) -> dict[str, Any]:
    return {"values": numbers(model.decision_function(sample.held)), "labels": _labels(model, sample.held)}


def _labels(model: Any, held: Any) -> str:
    return " ".join(str(label) for label in model.predict(held)[:8])


def kernel(sample: Sample, how: str, of: Any, chunk: int = 0, **parameters: Any) -> dict[str, Any]:
    """Train a kernel perceptron whose kernel has exponentials, or whose rows are projected."""
    y = sample.labels(how)
    model = rb.KernelPerceptron(of, **({"max_iter": 3} | scheme_of(how) | parameters))
    if chunk:
        model.partial_fit(sample.X[:chunk], y[:chunk], classes=sorted(set(y.tolist())))
    else:
        model.fit(sample.X, y)
    return {**_held(model, sample), "mistakes": model.mistakes_per_pass_.tolist(), "t": model.t_}


def network(sample: Sample, how: str, chunk: int = 0, given: Any = None, **parameters: Any) -> dict[str, Any]:
    """Train a network of classes."""
    y = sample.labels(how)
    model = rb.MultilayerPerceptron(**(NETWORK | parameters))
    if chunk:
        for first in range(0, len(y), chunk):
            part = slice(first, first + chunk)
            model.partial_fit(sample.X[part], y[part], classes=sorted(set(y.tolist())))
    else:
        model.fit(sample.X, y, sample_weight=given)
    return {**_held(model, sample), "loss": {"values": numbers(model.loss_curve_)}, "t": model.t_}


def regression(**parameters: Any) -> dict[str, Any]:
    """Train a network of numbers."""
    sample = SAMPLES["floats"]
    y = np.column_stack([sample.X[:, 0] * sample.X[:, 1], sample.X[:, 2]])
    model = rb.MultilayerPerceptron("regression", **(NETWORK | parameters)).fit(sample.X, y)
    return {"values": numbers(model.predict(sample.held), model.mse_curve_), "stop": model.stop_reason_}


def extreme(sample: Sample, how: str, chunk: int = 0, **parameters: Any) -> dict[str, Any]:
    """Train an extreme learning machine."""
    y = sample.labels(how)
    model = rb.ExtremeLearningMachine(12, **parameters)
    if chunk:
        for first in range(0, len(y), chunk):
            model.partial_fit(sample.X[first : first + chunk], y[first : first + chunk])
    else:
        model.fit(sample.X, y, sample_weight=weights_of(sample))
    return {**_held(model, sample), "error": {"values": numbers(model.training_mse_, model.coef_)}}


def soft(sample: Sample, how: str, loss: str = "hinge", **parameters: Any) -> dict[str, Any]:
    """Train a soft margin."""
    model = rb.SoftMarginClassifier(loss, **({"alpha": 0.05, "tol": 1e-9} | parameters))
    model.fit(sample.X, sample.labels(how))
    return {**_held(model, sample), "least": {"values": numbers(model.objective_)}, "stop": model.stop_reason_}


def widest(sample: Sample) -> dict[str, Any]:
    """Train the widest margin, on data that has one."""
    model = rb.MaxMarginClassifier().fit(sample.X, sample.clean)
    return {**_held(model, sample), "margin": {"values": numbers(model.margin_, model.coef_)}}


def hierarchy(**parameters: Any) -> dict[str, Any]:
    """Draw or train a visual hierarchy."""
    sample = SAMPLES["dyadic"]
    model = rb.VisualHierarchy((8, 6, 4), max_iter=4, **parameters).fit(sample.X, sample.four)
    return {"values": numbers(model.transform(sample.held), *model.coefs_)}


def libraries() -> dict[str, Run]:
    """Return all of them."""
    dyadic, floats, floats32, sparse = (SAMPLES[kind] for kind in ("dyadic", "floats", "floats32", "sparse"))
    runs: dict[str, Run] = {
        "rbf, dyadic, two": partial(kernel, dyadic, "two", rb.kernels.RBF(0.25)),
        "rbf, sparse, direct": partial(kernel, sparse, "direct", "rbf", average=True),
        "rbf, floats, chunks": partial(kernel, floats, "two", rb.kernels.RBF(0.01), chunk=60, budget=12),
        "laplacian, floats32, ovr": partial(kernel, floats32, "ovr", rb.kernels.Laplacian(0.05)),
        "square, dyadic, projected": partial(kernel, dyadic, "direct", rb.kernels.Polynomial(2, 1), budget=15),
        "network, dyadic, two": partial(network, dyadic, "two"),
        "network, floats, four, entropy": partial(network, floats, "direct", loss="cross_entropy", solver="sgd"),
        "network, sparse, four, logistic": partial(
            network, sparse, "direct", activation="logistic", output_activation="tanh", order="cyclic"
        ),
        "network, floats, weights": partial(network, floats, "two", given=weights_of(floats), alpha=0.01),
        "network, floats, early stopping": partial(
            network, floats, "two", early_stopping=True, class_weight="balanced", activation="relu"
        ),
        "network, dyadic, chunks": partial(network, dyadic, "direct", chunk=32),
        "regression, adam": regression,
        "regression, sgd": partial(regression, solver="sgd", nesterovs_momentum=False, hidden_layer_sizes=()),
        "extreme, dyadic, two": partial(extreme, dyadic, "two"),
        "extreme, floats32, four": partial(extreme, floats32, "direct", activation="relu", alpha=0.5),
        "extreme, sparse, chunks": partial(extreme, sparse, "direct", chunk=30, activation="sine"),
        "soft margin, dyadic": partial(soft, dyadic, "two"),
        "soft margin, sparse, four": partial(soft, sparse, "direct", loss="squared_hinge"),
        "soft margin, floats, l1": partial(soft, floats, "two", loss="logistic", penalty="l1"),
        "soft margin, floats32, elasticnet": partial(soft, floats32, "two", penalty="elasticnet"),
        "soft margin, floats, coordinate": partial(soft, floats, "two", solver="coordinate", tol=1e-6),
        "soft margin, sparse, descent": partial(
            soft, sparse, "two", solver="sgd", max_iter=5, average=True, class_weight="balanced"
        ),
        "widest margin, dyadic": partial(widest, dyadic),
        "widest margin, sparse": partial(widest, sparse),
        "hierarchy, random": hierarchy,
        "hierarchy, trained": partial(hierarchy, training="backpropagation"),
    }
    return runs
