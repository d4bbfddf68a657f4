"""Runs of the perceptron on streams: chunks, single rows, single rows by name, classes as they come."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import rosenblatt as rb
from tests.golden.runs_perceptron import Run
from tests.golden.samples import SAMPLES, Sample, scheme_of, weights_of
from tests.golden.telling import digest, hyperplanes


def chunks(
    sample: Sample, how: str, size: int, classes: Any = "all", weight: Any = None, fit: int = 0, **parameters: Any
) -> dict[str, Any]:
    """Learn chunk by chunk, after a fit of the first rows if there is to be one."""
    y = sample.labels(how)
    model = rb.Perceptron(**({"max_iter": 4} | scheme_of(how) | parameters))
    if fit:
        model.fit(sample.X[:fit], y[:fit])
    for first in range(fit, len(y), size):
        part = slice(first, first + size)
        given = {} if weight is None else {"sample_weight": weight[part]}
        every = sorted(set(y.tolist())) if isinstance(classes, str) and classes == "all" else classes
        model.partial_fit(sample.X[part], y[part], classes=None if fit else every, **given)
    return hyperplanes(model, sample.held)


def one_by_one(sample: Sample, how: str, **parameters: Any) -> dict[str, Any]:
    """Learn row by row, and predict each before it is learned."""
    model, said = rb.Perceptron(**parameters), []
    for k, (x, label) in enumerate(zip(sample.X, sample.labels(how).tolist(), strict=True)):
        if k > 5:
            said.append(str(model.predict_one(x)))
        model.learn_one(x, label, classes="grow" if how == "direct" else None)
    return {**hyperplanes(model, sample.held), "said": digest(np.array(said))}


def by_name(how: str, **parameters: Any) -> dict[str, Any]:
    """Learn examples whose features have names, more and more of them."""
    sample = SAMPLES["sparse"]
    rows, model, said = sample.X.toarray(), rb.Perceptron(**parameters), []
    for k, (row, label) in enumerate(zip(rows, sample.labels(how).tolist(), strict=True)):
        example = {f"f{j * 7 % 40}": float(row[j]) for j in np.flatnonzero(row)[::-1]}
        model.learn_one(example, label, classes="grow" if how == "direct" else None)
        if k > 20:
            said.append(str(model.predict_one(example)))
    names = list(model.feature_names_in_)
    held = pd.DataFrame(np.arange(3.0 * len(names)).reshape(3, -1) / 8, columns=names)
    return {**hyperplanes(model, held), "names": digest(np.array(names)), "said": digest(np.array(said))}


def streams() -> dict[str, Run]:
    """Chunks of several sizes, rows and names one by one, and streams that go on from a fit."""
    dyadic, floats, floats32, sparse = (SAMPLES[kind] for kind in ("dyadic", "floats", "floats32", "sparse"))
    runs: dict[str, Run] = {}
    for size in (1, 7, 64):
        runs[f"chunks of {size}, dyadic, two"] = partial(chunks, dyadic, "two", size, trace="mistakes")
        runs[f"chunks of {size}, floats, direct, averaged"] = partial(chunks, floats, "direct", size, average=True)
        runs[f"chunks of {size}, sparse, ovr"] = partial(chunks, sparse, "ovr", size, trace="mistakes")
        runs[f"chunks of {size}, floats32, ovo"] = partial(chunks, floats32, "ovo", size)
        runs[f"chunks of {size}, sparse, two, l1"] = partial(chunks, sparse, "two", size, penalty="l1", alpha=0.01)
    weight = weights_of(dyadic)
    runs |= {
        "classes that grow": partial(chunks, dyadic, "direct", 9, classes="grow", trace="mistakes"),
        "classes that grow, averaged": partial(chunks, sparse, "direct", 5, classes="grow", average=True),
        "two as they come": partial(chunks, floats, "two", 11, classes=None),
        "balanced": partial(chunks, dyadic, "direct", 9, class_weight="balanced"),
        "class weights": partial(chunks, dyadic, "two", 9, class_weight={"no": 0.5}),
        "weights of rows": partial(chunks, dyadic, "two", 9, weight=weight, average=True),
        "from the first row": partial(chunks, floats, "two", 9, init="first"),
        "from random weights": partial(chunks, floats, "direct", 9, init="random"),
        "a radius": partial(chunks, dyadic, "two", 9, bias="radius", radius=6.0, margin=0.5),
        "after a fit": partial(chunks, dyadic, "two", 13, fit=50, bias="radius", average=True),
        "after a fit, sparse": partial(chunks, sparse, "direct", 13, fit=50, trace="mistakes"),
        "after a fit, balanced": partial(chunks, floats, "ovo", 13, fit=60, class_weight="balanced"),
        "after a fit, elasticnet": partial(chunks, sparse, "two", 13, fit=60, penalty="elasticnet", alpha=0.01),
        "one by one, two": partial(one_by_one, dyadic, "two", trace="mistakes"),
        "one by one, floats, averaged": partial(one_by_one, floats, "two", average=True),
        "one by one, direct": partial(one_by_one, floats32, "direct"),
        "one by one, l2": partial(one_by_one, dyadic, "two", penalty="l2", alpha=0.01),
        "by name, two": partial(by_name, "two", trace="mistakes"),
        "by name, two, averaged": partial(by_name, "two", average=True),
        "by name, direct": partial(by_name, "direct"),
    }
    return runs
