"""What is told of a trained model so that it can be known again: digests where bits are promised, else numbers."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any

import numpy as np

import rosenblatt as rb

FEW = 8
LISTED = 12
"""Passes whose mistakes are written out; more become a digest."""


def digest(*values: Any) -> str:
    """Return a digest of arrays: of their types, shapes and bits."""
    told = hashlib.sha256()
    for value in values:
        array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
        if array.dtype.kind in "iub":
            array = array.astype(np.int64)
        if array.dtype.kind in "OUS":
            told.update(repr(array.tolist()).encode())
            continue
        told.update(f"{array.dtype.str}{array.shape}".encode())
        told.update(np.ascontiguousarray(array).tobytes())
    return told.hexdigest()[:16]


def numbers(*values: Any) -> list[float]:
    """Return the first numbers of arrays, rounded."""
    flat = np.concatenate([np.asarray(value, float).ravel()[:FEW] for value in values])
    return [float(f"{value:.9g}") for value in flat]


def course(model: Any) -> dict[str, Any]:
    """Tell how training went."""
    told: dict[str, Any] = {}
    for short, name in (("t", "t_"), ("passes", "n_iter_"), ("stop", "stop_reason_")):
        if (value := getattr(model, name, None)) is not None:
            told[short] = value
    mistakes = np.asarray(model.mistakes_per_pass_)
    told["mistakes"] = mistakes.tolist() if len(mistakes) <= LISTED else [int(mistakes.sum()), digest(mistakes)]
    if (trace := getattr(model, "trace_", None)) is not None:
        with suppress(rb.exceptions.InputError):  # of counts only
            told["trace"] = digest(*(getattr(trace, name) for name in trace.columns))
    return told


def answers(model: Any, held: Any) -> dict[str, Any]:
    """Tell what a model says of rows."""
    return {"scores": digest(model.decision_function(held)), "labels": digest(model.predict(held))}


def hyperplanes(model: Any, held: Any) -> dict[str, Any]:
    """Tell all of a model that is trained by visits, and is hyperplanes."""
    return {"weights": digest(model.coef_, model.intercept_), **answers(model, held), **course(model)}


def expansion(model: Any, held: Any) -> dict[str, Any]:
    """Tell all of a kernel perceptron."""
    weights = digest(model.support_, model.dual_coef_, model.intercept_)
    return {"weights": weights, **answers(model, held), **course(model)}


def votes(model: Any, held: Any) -> dict[str, Any]:
    """Tell all of a voted perceptron."""
    return {"survived": digest(model.survived_), **answers(model, held), **course(model)}
