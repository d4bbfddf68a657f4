"""Runs of the perceptron's relatives that add in an order of their own: bits are promised."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import rosenblatt as rb
from tests.golden.runs_perceptron import Run
from tests.golden.samples import SAMPLES, Sample, scheme_of, weights_of
from tests.golden.telling import answers, course, digest, expansion, hyperplanes, votes


def voted(sample: Sample, how: str, chunk: int = 0, **parameters: Any) -> dict[str, Any]:
    """Train a voted perceptron, and let it learn some rows more if asked to."""
    y = sample.labels(how)
    model = rb.VotedPerceptron(**({"max_iter": 3} | scheme_of(how) | parameters)).fit(sample.X, y)
    if chunk:
        model.partial_fit(sample.X[:chunk], y[:chunk])
    return votes(model, sample.held)


def pocket(sample: Sample, how: str, given: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    """Train a pocket perceptron."""
    model = rb.PocketPerceptron(**({"max_iter": 5, "averages": False} | scheme_of(how) | parameters))
    model.fit(sample.X, sample.labels(how), **(given or {}))
    kept = [model.pocket_errors_, model.pocket_visit_, model.n_rows_counted_]
    return {**hyperplanes(model, sample.held), "pocket": kept}


def lifted(sample: Sample, **parameters: Any) -> dict[str, Any]:
    """Train a lifted perceptron."""
    model = rb.LiftedPerceptron(**parameters).fit(sample.X, sample.two)
    return {**hyperplanes(model, sample.held), "lift": digest(model.lift_)}


def kernel(sample: Sample, how: str, of: Any, chunk: int = 0, fits: int = 1, **parameters: Any) -> dict[str, Any]:
    """Train a kernel perceptron, on chunks if asked to."""
    y = sample.labels(how)
    model = rb.KernelPerceptron(of, **({"max_iter": 4} | scheme_of(how) | parameters))
    if not chunk:
        for _ in range(fits):
            model.fit(sample.X, y)
        return expansion(model, sample.held)
    for first in range(0, len(y), chunk):
        part = slice(first, first + chunk)
        model.partial_fit(sample.X[part], y[part], classes=sorted(set(y.tolist())))
    return expansion(model, sample.held)


def precomputed(sample: Sample) -> dict[str, Any]:
    """Train on a matrix of kernel values."""
    gram = rb.kernels.Polynomial(2, 1)
    model = rb.KernelPerceptron("precomputed", max_iter=4).fit(gram(sample.X), sample.two)
    return {"gram": digest(gram(sample.X)), **expansion(model, gram(sample.held, sample.X))}


def mark_one(stream: bool = False, **parameters: Any) -> dict[str, Any]:
    """Train the machine of 1960 on cards."""
    X, y = rb.datasets.make_cards(90, seed=4)
    machine = rb.MarkOne(60, **({"max_iter": 4} | parameters))
    if stream:
        machine.partial_fit(X[:40], y[:40])
        for card, side in zip(X[40:70], y[40:70].tolist(), strict=True):
            machine.learn_one(card, side)
    else:
        machine.fit(X[:70], y[:70])
    wires = digest(machine.wiring_.excitatory, machine.wiring_.inhibitory, machine.associate(X[70:]))
    weights = digest(machine.coef_, machine.intercept_)
    return {"wires": wires, "weights": weights, **answers(machine, X[70:]), **course(machine)}


def echo(chunk: int, turn: bool = False, **parameters: Any) -> dict[str, Any]:
    """Cancel an echo, chunk by chunk."""
    rng = np.random.default_rng(11)
    far, near = rng.integers(-64, 65, (2, 300)) / 64
    heard: Any = np.convolve(far, [0.5, -0.25, 0.125])[:300] + near / 64
    if turn:
        heard, far = heard * 1j, far + near * 1j
    canceller = rb.AdaptiveFilter(9, window=64, **parameters)
    cleaned = [canceller.process(far[k : k + chunk], heard[k : k + chunk]) for k in range(0, 300, chunk)]
    return {
        "taps": digest(canceller.coef_),
        "cleaned": digest(np.concatenate(cleaned)),
        "echo": digest(canceller.predict(far[:40])),
        "seen": canceller.n_samples_seen_,
    }


def monomials(sample: Sample, degree: int, c: float) -> dict[str, Any]:
    """Map rows to their monomials."""
    phi = rb.MonomialMap(degree, c).fit(sample.X)
    names = digest(np.array(phi.get_feature_names_out().tolist()))
    return {"rows": digest(phi.transform(sample.held)), "powers": digest(phi.powers_), "names": names}


def family() -> dict[str, Run]:
    """Return all of them."""
    dyadic, floats, floats32, sparse = (SAMPLES[kind] for kind in ("dyadic", "floats", "floats32", "sparse"))
    narrow = floats.with_rows(lambda X: X[:, :5])
    thin = sparse.with_rows(lambda X: X[:, :6])
    square, cube = rb.kernels.Polynomial(2, 1), rb.kernels.Polynomial(3, 0.5)
    runs: dict[str, Run] = {
        "voted, dyadic, two": partial(voted, dyadic, "two"),
        "voted, floats, two, margin": partial(voted, floats, "two", margin=0.5, zero=1),
        "voted, sparse, direct": partial(voted, sparse, "direct"),
        "voted, floats32, ovr": partial(voted, floats32, "ovr"),
        "voted, sparse, two, then a chunk": partial(voted, sparse, "two", chunk=40),
        "pocket, dyadic, two": partial(pocket, dyadic, "two"),
        "pocket, floats, direct": partial(pocket, floats, "direct"),
        "pocket, floats32, ovr": partial(pocket, floats32, "ovr", order="cyclic"),
        "pocket, sparse, two": partial(pocket, sparse, "two", bias="radius"),
        "pocket, floats, geometric margin": partial(pocket, floats, "two", pocket_margin=0.25),
        "pocket, dyadic, functional margin": partial(
            pocket, dyadic, "direct", pocket_margin=0.5, count="functional"
        ),
        "pocket, dyadic, weights": partial(
            pocket, dyadic, "two", given={"sample_weight": weights_of(dyadic)}, class_weight="balanced"
        ),
        "lifted, dyadic": partial(lifted, dyadic),
        "lifted, floats, cyclic": partial(lifted, floats, order="cyclic", bias="radius"),
        "lifted, sparse": partial(lifted, sparse, a=0.25, random_state=3),
        "kernel, dyadic, linear": partial(kernel, dyadic, "two", rb.kernels.Linear()),
        "kernel, floats, linear, averaged": partial(kernel, floats, "two", "linear", average=True),
        "kernel, sparse, linear, direct": partial(kernel, sparse, "direct", "linear", tie="half"),
        "kernel, floats32, square, ovo": partial(kernel, floats32, "ovo", square),
        "kernel, floats, square, ovr": partial(kernel, floats, "ovr", square, order="cyclic"),
        "kernel, dyadic, cube, averaged": partial(kernel, dyadic, "direct", cube, average=True),
        "kernel, sparse, square, margin": partial(kernel, sparse, "two", square, margin=1.0, bias="radius"),
        "kernel, floats, square, the oldest go": partial(
            kernel, floats, "two", square, budget=20, budget_policy="oldest"
        ),
        "kernel, dyadic, square, any may go": partial(
            kernel, dyadic, "direct", square, budget=20, budget_policy="random"
        ),
        "kernel, floats, square, chunks": partial(kernel, floats, "direct", square, chunk=17, trace="mistakes"),
        "kernel, sparse, linear, chunks": partial(kernel, sparse, "two", "linear", chunk=1),
        "kernel, dyadic, square, early stopping": partial(
            kernel, dyadic, "two", square, early_stopping=True, max_iter=20, class_weight="balanced"
        ),
        "kernel, floats, square, warm start": partial(
            kernel, floats, "two", square, fits=2, max_iter=2, warm_start=True
        ),
        "kernel, dyadic, precomputed": partial(precomputed, dyadic),
        "mark one, cards": mark_one,
        "mark one, cards, averaged": partial(mark_one, average=True, order="cyclic", random_state=2),
        "mark one, cards, one by one": partial(mark_one, stream=True),
        "echo, at once": partial(echo, 300),
        "echo, chunks": partial(echo, 23, step_size=1.0),
        "echo, lms": partial(echo, 100, algorithm="lms", step_size=0.0625),
        "echo, complex": partial(echo, 41, turn=True),
        "monomials, dyadic": partial(monomials, dyadic, 2, 1.0),
        "monomials, floats": partial(monomials, narrow, 3, 0.5),
        "monomials, floats32": partial(monomials, narrow.with_rows(lambda X: X.astype(np.float32)), 4, 0.0),
        "monomials, sparse": partial(monomials, thin, 3, 2.0),
    }
    return runs
