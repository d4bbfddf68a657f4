"""The fast loops, called as the reference is, so that the two can be compared."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from rosenblatt.loops import passes, reference, screen
from rosenblatt.loops.layout import Log, Sides
from rosenblatt.loops.rules import Rule
from rosenblatt.rows.features import as_rows
from tests.shared.examples import slowly

LAYOUTS = ["dense", "dense32", "csr", "screened", *slowly("csr64")]


class Fast(NamedTuple):
    w: np.ndarray
    u: np.ndarray | None
    at: np.ndarray
    score: np.ndarray
    step: np.ndarray


def rows_of(X: Any, layout: str) -> Any:
    X = np.asarray(X, np.float64)
    if layout == "dense32":
        X = X.astype(np.float32)
    if layout.startswith("csr"):
        X = csr_array(X)
        width = np.int64 if layout == "csr64" else np.int32
        X.indices, X.indptr = X.indices.astype(width), X.indptr.astype(width)
    return as_rows(X).rows


def run(
    X: Any,
    pull: Any,
    order: Any,
    rule: Rule = Rule(),  # noqa: B008
    layout: str = "dense",
    start: Any = None,
    average: bool = False,
    t0: int = 0,
) -> Fast:
    """Visit the rows of `order` by the loop for `layout`; "screened" re-anchors half-way."""
    order = np.asarray(order, np.uint64)
    pull = np.asarray(pull, np.float64)
    w = np.zeros(np.shape(X)[1] + 1) if start is None else np.array(start, np.float64)
    u = np.zeros_like(w) if average else None
    log = Log.room(len(order))
    rows, targets = rows_of(X, layout), Sides(pull)
    if layout != "screened":
        in_the_loop = u if layout.startswith("dense") else None
        k, made = passes.train(rows, targets, order, rule, w, in_the_loop, t0, log)
        if u is not in_the_loop:
            passes.defer(rows, targets, order, log, k, rule.beta, u, t0)
        assert made == len(order)
        return Fast(w, u, log.at[:k], log.score[:k], log.step[:k])
    shadow = screen.empty_shadow(rows)
    screen.cast(shadow, pull, w)
    half = len(order) // 2
    k1, made, _ = screen.train_screened(shadow, pull, order[:half], rule, w, log)
    if u is not None:
        passes.defer(rows, targets, order[:half], log, k1, rule.beta, u, t0)
    first = [column[:k1].copy() for column in log[:3]]
    assert made == half
    screen.anchor(shadow, pull, w)
    k2, made, _ = screen.train_screened(shadow, pull, order[half:], rule, w, log)
    if u is not None:
        passes.defer(rows, targets, order[half:], log, k2, rule.beta, u, t0 + half)
    assert made == len(order) - half
    second = log.at[:k2] + half, log.score[:k2], log.step[:k2]
    return Fast(w, u, *map(np.concatenate, zip(first, second, strict=True)))


def assert_equals_reference(fast: Fast, expected: reference.TrainedBinary, visits: int) -> None:
    """Every number must be the reference's, exactly."""
    assert fast.at.tolist() == [mistake.visit for mistake in expected.mistakes]
    assert fast.score.tolist() == [mistake.score for mistake in expected.mistakes]
    assert fast.step.tolist() == [mistake.step for mistake in expected.mistakes]
    assert fast.w.tolist() == [*expected.w, expected.b]
    if fast.u is not None and visits:
        # The deferred sum is exact where the totals are, so compare totals: no division, no rounding.
        average = [*expected.average_w, expected.average_b]
        assert ((fast.w * visits - fast.u) / visits).tolist() == [float(value) for value in average]
