"""Random wires and neurons, least squares, monomials and filters, as files hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.estimators.extreme_learning import _Targets
from rosenblatt.learners.filtering import FilterStream
from rosenblatt.learners.ridge import RecursiveRidge, Solution
from rosenblatt.loops.filter import Taps
from rosenblatt.maps.monomials import Monomials
from rosenblatt.maps.random_layer import ACTIVATIONS, RandomLayer
from rosenblatt.maps.retina import Retina
from rosenblatt.maps.wiring import Wiring
from rosenblatt.schema.codecs import Array, Boxed, Count, Flag, Maybe, Number, Record, Several, Text, require
from rosenblatt.storage.hyperplanes import LABELS

MOST_CELLS = 2**26
"""Photocells of a retina; each image has one number for each."""

PAIR = Several(Count(1, MOST_CELLS), tuple, 2)


def _sound_wiring(wiring: Wiring) -> None:
    n_cells = wiring.retina[0] * wiring.retina[1]
    require(n_cells <= MOST_CELLS, "there are too many photocells")
    require(len(wiring.excitatory) == len(wiring.inhibitory) > 0, "wires are not of the same units")
    for wires in (wiring.excitatory, wiring.inhibitory):
        require(wires.min(initial=0) >= 0 and wires.max(initial=0) < n_cells, "a wire leads nowhere")


WIRES = Array(2, (np.int64,))
WIRING = Record(
    Wiring,
    {"excitatory": WIRES, "inhibitory": WIRES, "threshold": Number(), "retina": PAIR},
    check=_sound_wiring,
)


def _sound_retina(retina: Retina) -> None:
    require(retina.exposure is None or retina.exposure[0] != retina.exposure[1], "dark is as bright as bright")


RETINA = Record(
    Retina,
    {
        "shape": PAIR,
        "image_shape": Several(Count(1), tuple, 2),
        "graded": Flag(),
        "exposure": Maybe(Several(Number(), tuple, 2)),
    },
    check=_sound_retina,
)
RANDOM_LAYER = Record(RandomLayer, {"weights": Array(2), "activation": Text(tuple(ACTIVATIONS))})


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
    require(m >= 2 and triangle.shape == (m, m) and len(turned) == m, "triangle and targets are not of one shape")
    k = turned.shape[1]
    require(k >= 1 and unexplained.shape == (k,) and waiting.shape[1] == m + k, "outputs are not as many")
    require(
        solution.weights.shape == (k, m) and solution.squares.shape == (k,), "the solution is of other outputs"
    )
    ridge = RecursiveRidge(m - 1, k, alpha)
    require(len(waiting) < ridge.block, "more rows wait than a block has")
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
TARGETS = Record(_Targets, {"classes": Maybe(Boxed(LABELS)), "grows": Flag(), "flat": Flag()})
MONOMIALS = Record(Monomials, {"d": Count(1), "degree": Count(1, 170), "c": Number(least=0.0)})


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
    require(line.shape == (parts, stream.taps.line.shape[1]), "taps and delay line do not fit each other")
    require(newest <= line.shape[1] - n, "the newest sample stands beyond the line")
    require(now.shape == (4,) and ended.shape[1] == 2, "powers are not told of as they should be")
    require((now >= 0.0).all() and now[2] < window and now[2] == int(now[2]), "the window is over")
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
