"""Codecs of recursive least squares and of adaptive filters."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.learners.filtering import FilterStream
from rosenblatt.learners.ridge import RecursiveRidge, Solution
from rosenblatt.loops.filter import Taps
from rosenblatt.schema.codecs import Array, Count, Number, Record, require


def _parts_of_ridge(ridge: RecursiveRidge) -> dict[str, Any]:
    m, k = ridge.turned.shape
    names = ("alpha", "triangle", "turned", "unexplained", "total_weight")
    return {name: getattr(ridge, name) for name in names} | {
        "waiting": np.vstack([np.empty((0, m + k)), *ridge._waiting]),
        "solution": ridge.solution(),
    }


def _ridge(
    alpha: float,
    triangle: Any,
    turned: Any,
    unexplained: Any,
    total_weight: float,
    waiting: Any,
    solution: Solution,
) -> RecursiveRidge:
    m = len(triangle)
    require(m >= 2 and triangle.shape == (m, m) and len(turned) == m, "triangle and targets have different shapes")
    k = turned.shape[1]
    require(k >= 1 and unexplained.shape == (k,) and waiting.shape[1] == m + k, "the number of outputs is wrong")
    require(
        solution.weights.shape == (k, m) and solution.squares.shape == (k,),
        "the solution has another number of outputs",
    )
    ridge = RecursiveRidge(m - 1, k, alpha)
    require(len(waiting) < ridge.block, "more rows are pending than a block has")
    ridge.triangle, ridge.turned, ridge.unexplained, ridge.total_weight = (
        triangle,
        turned,
        unexplained,
        total_weight,
    )
    ridge._waiting, ridge._n_waiting = [waiting] if len(waiting) else [], len(waiting)
    ridge._solution = solution
    return ridge


RIDGE = Record(
    _ridge,
    {
        "alpha": Number(least=0.0),
        "triangle": Array(2),
        "turned": Array(2),
        "unexplained": Array(),
        "total_weight": Number(least=0.0),
        "waiting": Array(2),
        "solution": Record(Solution, {"weights": Array(2), "squares": Array()}),
    },
    take=_parts_of_ridge,
)


def _parts_of_filter(stream: FilterStream) -> dict[str, Any]:
    w, line, newest = stream.taps
    return {
        "w": w,
        "line": line,
        "newest": int(newest[0]),
        "window": stream.window,
        "now": stream.now,
        "ended": np.concatenate([np.empty((0, 2)), *stream.ended]),
        "n_samples": stream.n_samples,
    }


def _filter(w: Any, line: Any, newest: int, window: int, now: Any, ended: Any, n_samples: int) -> FilterStream:
    parts, n = w.shape
    require(parts in (1, 2) and n >= 1, "there are no taps")
    stream = FilterStream(n, window)
    require(line.shape == (parts, stream.taps.line.shape[1]), "taps and delay line have different lengths")
    require(newest <= line.shape[1] - n, "the newest sample is beyond the delay line")
    require(now.shape == (4,) and ended.shape[1] == 2, "the powers have the wrong shape")
    require(
        (now >= 0.0).all() and now[2] < window and now[2] == int(now[2]), "the counts of the window are invalid"
    )
    stream.taps = Taps(w, line, np.array([newest]))
    stream.now, stream.n_samples = now, n_samples
    stream.ended = [ended] if len(ended) else []
    return stream


FILTER = Record(
    _filter,
    {
        "w": Array(2),
        "line": Array(2),
        "newest": Count(),
        "window": Count(1),
        "now": Array(),
        "ended": Array(2),
        "n_samples": Count(),
    },
    take=_parts_of_filter,
)
