"""Runs of the perceptron in memory: layouts, rules, orders of visits, and what ends them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array

import rosenblatt as rb
from tests.golden.samples import SAMPLES, SCHEMES, Sample, scheme_of, weights_of
from tests.golden.telling import digest, hyperplanes

Run = Callable[[], dict[str, Any]]


def trained(
    sample: Sample, how: str, fits: int = 1, given: dict[str, Any] | None = None, **parameters: Any
) -> Any:
    """Train a perceptron, several times if it is to go on, and tell all of it."""
    model = rb.Perceptron(**({"max_iter": 6} | scheme_of(how) | parameters))
    for _ in range(fits):
        model.fit(sample.X, sample.labels(how), **(given or {}))
    return hyperplanes(model, sample.held)


def _shown(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def layouts() -> dict[str, Run]:
    """Every layout of rows, every scheme, averaged or not."""
    runs: dict[str, Run] = {}
    for kind, sample in SAMPLES.items():
        for how in SCHEMES:
            for average in (False, True):
                name = f"{kind}, {how}{', averaged' if average else ''}"
                runs[name] = partial(trained, sample, how, average=average)
    whole = SAMPLES["dyadic"].with_rows(lambda X: (X * 16).astype(np.int64))
    others = {
        "integers": whole,
        "lists": whole.with_rows(lambda X: X.tolist()),
        "columns first": SAMPLES["floats"].with_rows(np.asfortranarray),
        "every other column": SAMPLES["floats"].with_rows(lambda X: X[:, ::2]),
        "frame": SAMPLES["dyadic"].with_rows(lambda X: pd.DataFrame(X, columns=list("abcdefghi"))),
        "sparse columns": SAMPLES["sparse"].with_rows(csc_array),
        "sparse, long indices": SAMPLES["sparse"].with_rows(_long),
    }
    for kind, sample in others.items():
        for how in ("two", "direct"):
            runs[f"{kind}, {how}"] = partial(trained, sample, how)
    return runs


def _long(X: Any) -> Any:
    return csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


def rules() -> dict[str, Run]:
    """Margins, ties, biases, starts and learning rates."""
    dyadic, floats = SAMPLES["dyadic"], SAMPLES["floats"]
    parameters: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        *((SCHEMES, {"margin": margin}) for margin in (0.5, 3.0)),
        *((("two", "direct"), {"tie": tie, "zero": z}) for tie in ("sign", "half", "correct") for z in (-1, 1)),
        *((("two", "direct", "ovr"), {"bias": bias}) for bias in ("radius", 0.5, None)),
        *((SCHEMES, {"init": init}) for init in ("random", "first")),
        (("two", "direct"), {"fit_intercept": False, "average": True}),
        (("two", "direct"), {"bias": "radius", "radius": 4.0}),
        (("two", "ovo"), {"eta0": 0.25, "zero": 1}),
    ]
    runs: dict[str, Run] = {
        f"{how}, {_shown(given)}": partial(trained, dyadic, how, **given)
        for schemes, given in parameters
        for how in schemes
    }
    for given in ({"eta0": 0.1}, {"margin": 0.3, "bias": "radius"}, {"init": "random", "average": True}):
        for how in ("two", "direct"):
            runs[f"floats, {how}, {_shown(given)}"] = partial(trained, floats, how, **given)
    start = {"coef_init": np.arange(9) / 8, "intercept_init": 0.5}
    runs["two, from given weights"] = partial(trained, dyadic, "two", given=start)
    start = {"coef_init": np.arange(36).reshape(4, 9) / 8}
    runs["ovr, from given weights"] = partial(trained, dyadic, "ovr", given=start, average=True)
    return runs


def orders() -> dict[str, Run]:
    """Every way to say in which order rows are visited."""
    samples = {"dyadic": SAMPLES["dyadic"], "floats": SAMPLES["floats"], "sparse": SAMPLES["sparse"]}
    runs: dict[str, Run] = {}
    for kind, sample in samples.items():
        n = sample.X.shape[0]
        few = [np.arange(0, n, 3), np.arange(n - 1, -1, -1), np.array([5, 5, 2, 0])]
        ways: dict[str, dict[str, Any]] = {
            "shuffle, seed 7": {"random_state": 7},
            "cyclic": {"order": "cyclic"},
            "not shuffled": {"shuffle": False, "average": True},
            "random": {"order": "random", "random_state": 3},
            "an array": {"order": np.arange(n) * 7 % n},
            "a list of arrays": {"order": few, "max_iter": 3},
            "a function": {"order": lambda k, n=n: (np.arange(n) + k) % n},
        }
        for way, given in ways.items():
            how = "direct" if kind == "floats" else "two"
            runs[f"{kind}, {way}"] = partial(trained, sample, how, **given)
    return runs


def ends() -> dict[str, Run]:
    """Penalties, weights, stops, and fits that go on."""
    dyadic, floats, sparse = (SAMPLES[kind] for kind in ("dyadic", "floats", "sparse"))
    places = {"dyadic, two": (dyadic, "two"), "sparse, two": (sparse, "two"), "floats, direct": (floats, "direct"),
              "sparse, ovr": (sparse, "ovr")}  # fmt: skip
    ways: dict[str, dict[str, Any]] = {
        **{name: {"penalty": name, "alpha": 0.01} for name in ("l1", "l2", "elasticnet")},
        "elasticnet, l1_ratio=0.75": {"penalty": "elasticnet", "alpha": 0.001, "l1_ratio": 0.75, "eta0": 0.5},
        "balanced": {"class_weight": "balanced"},
        "early stopping": {"early_stopping": True, "max_iter": 40, "validation_fraction": 0.25},
        "tol": {"tol": 0.01, "n_iter_no_change": 3, "max_iter": 60},
        "plateau": {"n_iter_no_change": 4, "max_iter": 60, "decide": False},
        "decided": {"max_iter": 60},
        "warm start": {"warm_start": True, "fits": 2, "max_iter": 3},
        "warm start, averaged": {"warm_start": True, "fits": 3, "max_iter": 2, "average": True},
    }
    runs: dict[str, Run] = {
        f"{place}, {way}": partial(trained, *where, **given)
        for way, given in ways.items()
        for place, where in places.items()
    }
    for place, (sample, how) in places.items():
        weight = {"sample_weight": weights_of(sample)}
        runs[f"{place}, weights of rows"] = partial(trained, sample, how, given=weight)
        clean = how.replace("two", "clean")
        runs[f"{place}, until separated"] = partial(trained, sample, clean, max_iter=60, decide=False)
    runs["two, class weights"] = partial(trained, dyadic, "two", class_weight={"yes": 2.0})
    runs["direct, class weights"] = partial(trained, dyadic, "direct", class_weight={3: 0.5, 9: 0.0}, average=True)
    runs["early stopping, averaged"] = partial(
        trained, floats, "two", early_stopping=True, average=True, max_iter=30, n_iter_no_change=3, random_state=4
    )
    runs["warm start, l2"] = partial(trained, sparse, "two", penalty="l2", warm_start=True, fits=2, max_iter=2)
    runs["counts only"] = partial(trained, dyadic, "two", trace="counts")
    runs["no trace"] = partial(trained, dyadic, "direct", trace=None)
    runs["a cycle"] = _cycle
    runs["a replay"] = _replayed
    return runs


def _cycle() -> dict[str, Any]:
    X, y = rb.datasets.load_xor()
    model = rb.Perceptron(order="cyclic", stop_on_cycle=True).fit(X, y)
    return {**hyperplanes(model, X), "proof": model.certificate_.to_json()}


def _replayed() -> dict[str, Any]:
    sample = SAMPLES["floats32"]
    trace = rb.Perceptron(max_iter=3, average=True, multiclass="ovo").fit(sample.X, sample.four).trace_
    after = trace.after_each_pass(sample.X, sample.four)
    path = trace.path(sample.X, sample.four)
    return {
        "passes": digest(*(each.coef for each in after)),
        "path": digest(*path),
        "expansion": digest(trace.expansion),
    }
