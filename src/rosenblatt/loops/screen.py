"""Avoid reading most of large dense data, without changing one decision.

Each row has a shadow of one byte for each value. If the shadow proves that a visit is no mistake, the row is not
read; every other visit is decided by the arithmetic of the plain loop. Mistakes, weights and scores are those of
the plain loop, bit for bit.

The proof
---------
Write x = s q + e with integers |q_j| ≤ 127, N ≥ ‖x‖, ρ ≥ ‖e‖. Let a be the weights at which every row was last
scored, ref ≈ <a, x>, and Δ = w − a the drift since. Then

    <w, x> = <a, x> + <Δ, s q> + <Δ, e>,        |<Δ, e>| ≤ ‖Δ‖ ρ.

The loop decides by f̂, the rounded <w, x> + b; the screen computes ĝ, the rounded ref + s <Δ, q> + b. With
γ(m, u) = m u / (1 − m u), u = 2⁻²⁴ for float32 and U = 2⁻⁵³ for float64, they differ by at most

    ‖Δ‖ ρ                          the part of x that q omits,
    γ(d + 2, U) (‖w‖ N + |b|)      rounding of f̂, in any order of summation,
    γ(d + 2, U) ‖a‖ N + u |ref|    rounding of ref, which is stored in float32,
    γ(d + 4, u) ‖Δ‖ (N + ρ)        Δ rounded to float32 (2 u ‖Δ‖ N) and its product with q summed there
                                   (γ(d + 1, u) ‖Δ‖ ‖s q‖, and ‖s q‖ ≤ N + ρ),
    4 U (|ref| + |s <Δ, q>| + |b|) the last few operations.

The `Slack` used is larger: it counts d + 16 roundings in each place, which also covers the roundings in computing
it. Norms are rounded up. Sums of squares start from a floor that exceeds what underflow can lose; Δ is scaled by a
power of two before it is narrowed, so nothing that matters underflows there. If anything overflows, the comparison
is with infinity or NaN and is false, and the row is read. Hence y ĝ − slack > margin implies y f̂ > margin, and
the plain loop would find no mistake either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops._jit import inline, inline_any_order, jit
from rosenblatt.loops._vector import CACHE_LINE, lanes_dot, prefetch
from rosenblatt.loops.dense import dense_dot
from rosenblatt.loops.layout import Log, Order
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.visits import correction, move, resized, wanted
from rosenblatt.typing import Floats, Reals

WIDE_LANES, NARROW_LANES = 64, 16
MAX_SCREENED_FEATURES = 100_000  # features; beyond, the float32 slack is no longer small
BLOCK_VALUES = 1 << 25  # values quantised in one call: a few hundredths of a second
SHADOWS_AHEAD = 8  # how many visits ahead a shadow is prefetched
U32, U64 = 2.0**-24, 2.0**-53
SQUARES_FLOOR = 1e-300  # squares below this may underflow; adding it makes up for them

# The head of a row's record, as float32; the bytes q follow it.
SCALE, RESIDUE, NORM, REFERENCE, HEAD = 0, 1, 2, 3, 4  # y s, ρ, N, y ref

_dot_wide = lanes_dot(WIDE_LANES)
_dot_narrow = lanes_dot(NARROW_LANES)


class Shadow(NamedTuple):
    """A dense matrix and its shadow."""

    X: Reals  # the rows themselves
    # int8 records, one for each row: sixteen bytes of head, then the values, padded with zeros. A record is
    # contiguous, because in a shuffled order every further place would be another wait for memory
    q: NDArray[np.int8]
    # the same memory as float32. The scale has the sign of the label, and the reference score is times it
    head: NDArray[np.float32]
    anchor: Floats  # the weights a of the reference scores, followed by ‖a‖
    drift: NDArray[np.float32]  # float32, Δ scaled to at most 1, padded as the values


class Slack(NamedTuple):
    """The bound of the proof, as a factor for each kind of length in a record."""

    unscale: float
    norm: float
    residue: float
    constant: float


def empty_shadow(X: Reals) -> Shadow:
    """Allocate a shadow of `X`; `cast` fills it."""
    n, d = X.shape
    padded = -(-d // NARROW_LANES) * NARROW_LANES
    q = np.zeros((n, 4 * HEAD + padded), np.int8)
    return Shadow(X, q, q.view(np.float32), np.empty(d + 1), np.zeros(padded, np.float32))


@inline
def _up(value: float) -> np.float32:
    """Round to a float32 that is not smaller."""
    return np.float32(value * (1.0 + 2.0 * U32) + 1e-44)


@inline
def _norm_up(square: float, d: int) -> float:
    """Return a float not smaller than the norm, from its square summed over d values in any order."""
    return np.sqrt(square + SQUARES_FLOOR * d) * (1.0 + (d + 16) * U64)


@inline_any_order
def _square(w: Floats, d: int) -> float:
    square = 0.0
    for j in range(d):
        square += w[j] * w[j]
    return square


@inline
def _quantise(X: Reals, i: int, q: NDArray[np.int8], inverse: np.float32) -> None:
    half = np.float32(0.5)
    for j in range(X.shape[1]):
        v = np.float32(X[i, j]) * inverse
        q[i, 4 * HEAD + j] = np.int8(v + (half if v > 0 else -half))


@inline_any_order
def _lengths(X: Reals, i: int, q: NDArray[np.int8], scale: float) -> tuple[float, float]:
    """Return ‖x − s q‖² and ‖x‖². They hold for any q, so q need not be the nearest."""
    residue = norm = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[i, j])
        rest = x - scale * np.float64(q[i, 4 * HEAD + j])
        residue += rest * rest
        norm += x * x
    return residue, norm


@inline
def _top_bits(bits: NDArray[Any], i: int, unsigned: np.unsignedinteger[Any]) -> Any:
    """Return the bits of the largest |x_j| of a row.

    Without their signs, floats are ordered as the integers of the same bits, and the maximum of integers is
    vectorised, because it need not consider NaN.
    """
    top = bits[i, 0] & unsigned
    for j in range(bits.shape[1]):
        x = bits[i, j] & unsigned
        if x > top:
            top = x
    return top


def cast(shadow: Shadow, pull: Floats, w: Floats) -> None:
    """Quantise every row, and score it by the weights `w`."""
    integer = np.dtype(f"i{shadow.X.itemsize}")
    top = np.zeros(1, integer)  # read both as an integer and as a float
    unsigned = integer.type(np.iinfo(integer).max)
    for rows in _blocks(shadow):
        part = shadow._replace(X=shadow.X[rows], q=shadow.q[rows], head=shadow.head[rows])
        _cast(part, part.X.view(integer), unsigned, top, top.view(shadow.X.dtype), pull[rows], w)
    _set_anchor(shadow, w)


def anchor(shadow: Shadow, pull: Floats, w: Floats) -> None:
    """Score every row again, by the weights `w`."""
    for rows in _blocks(shadow):
        _refer_all(shadow._replace(X=shadow.X[rows], head=shadow.head[rows]), pull[rows], w)
    _set_anchor(shadow, w)


def _blocks(shadow: Shadow) -> Iterator[slice]:
    """Yield blocks of rows, so that Ctrl-C is noticed between them."""
    n, d = shadow.X.shape
    block = max(1, BLOCK_VALUES // d)
    return (slice(first, first + block) for first in range(0, n, block))


@jit
def _cast(
    shadow: Shadow,
    bits: NDArray[Any],
    unsigned: np.unsignedinteger[Any],
    top_bits: NDArray[Any],
    top_value: NDArray[Any],
    pull: Floats,
    w: Floats,
) -> None:
    X, q, head = shadow.X, shadow.q, shadow.head
    d = X.shape[1]
    for i in range(X.shape[0]):
        top_bits[0] = _top_bits(bits, i, unsigned)
        top = np.float64(top_value[0])
        scale = np.float64(np.float32(top / 127.0))
        _quantise(X, i, q, np.float32(127.0 / top if top > 0.0 else 0.0))
        residue, norm = _lengths(X, i, q, scale)
        head[i, SCALE] = scale if pull[i] > 0.0 else -scale
        head[i, NORM] = _up(_norm_up(norm, d))
        # Computing x − s q may round by at most 2 U |x_j| in each place, so 2 U N in all.
        head[i, RESIDUE] = _up(_norm_up(residue, d) + 4.0 * U64 * _norm_up(norm, d))
        _refer(shadow, i, pull[i], w)


@jit
def _refer_all(shadow: Shadow, pull: Floats, w: Floats) -> None:
    for i in range(shadow.X.shape[0]):
        _refer(shadow, i, pull[i], w)


@inline
def _refer(shadow: Shadow, i: int, pull: float, w: Floats) -> None:
    f = dense_dot(shadow.X, i, w)
    shadow.head[i, REFERENCE] = f if pull > 0.0 else -f


@jit
def _set_anchor(shadow: Shadow, w: Floats) -> None:
    d = shadow.X.shape[1]
    for j in range(d):
        shadow.anchor[j] = w[j]
    shadow.anchor[d] = _norm_up(_square(w, d), d)


@inline_any_order
def _square_of_drift(a: Floats, w: Floats, d: int) -> float:
    square = 0.0
    for j in range(d):
        square += (w[j] - a[j]) * (w[j] - a[j])
    return square


@inline
def _follow(shadow: Shadow, w: Floats) -> Slack:
    """Update the drift to the weights, and return the slack it needs."""
    d = shadow.X.shape[1]
    length = _norm_up(_square_of_drift(shadow.anchor, w, d), d)
    unscale = 2.0 ** np.ceil(np.log2(length)) if length < np.inf else 1.0
    scale = 1.0 / unscale
    for j in range(d):
        shadow.drift[j] = (w[j] - shadow.anchor[j]) * scale
    single, double = 1.01 * (d + 16) * U32, 1.01 * (d + 16) * U64
    weights = _norm_up(_square(w, d), d) + shadow.anchor[d]
    return Slack(
        unscale,
        length * single + double * weights,
        length * (1.0 + 16.0 * U64 + single),
        double * abs(w[d]) + 1e-44,
    )


@inline
def _surely_right(shadow: Shadow, i: int, margin: float, b: float, slack: Slack) -> bool:
    """Return whether the shadow proves y f > margin."""
    q, head, drift = shadow.q, shadow.head, shadow.drift
    wide = drift.size - drift.size % WIDE_LANES
    start = i * q.shape[1] + 4 * HEAD
    moved = _dot_wide(drift, 0, q, start, wide)
    moved += _dot_narrow(drift, wide, q, start + wide, drift.size - wide)
    scale, reference = np.float64(head[i, SCALE]), np.float64(head[i, REFERENCE])
    g = reference + scale * (np.float64(moved) * slack.unscale) + np.copysign(1.0, scale) * b
    doubt = (
        slack.norm * head[i, NORM] + slack.residue * head[i, RESIDUE] + 2.0 * U32 * abs(reference) + slack.constant
    )
    return g - doubt > margin


@inline
def _look_ahead(shadow: Shadow, order: Order, t: int) -> None:
    """Prefetch the record of a row that is visited soon, unless rows are visited in the order they are stored."""
    if t + SHADOWS_AHEAD < order.size and order[t + SHADOWS_AHEAD] != order[t] + SHADOWS_AHEAD:
        width = shadow.q.shape[1]
        for j in range(0, min(width, 4 * CACHE_LINE), CACHE_LINE):
            prefetch(shadow.q, order[t + SHADOWS_AHEAD] * width + j)


@jit
def train_screened(
    shadow: Shadow, pull: Floats, order: Order, rule: Rule, w: Floats, log: Log
) -> tuple[int, int, int]:
    """Do what `passes.train` does, reading fewer rows; return (mistakes, visits made, rows read)."""
    X: Any = shadow.X
    d = X.shape[1]
    k = read = 0
    slack = _follow(shadow, w)
    for t in range(order.size):
        _look_ahead(shadow, order, t)
        i = order[t]
        if _surely_right(shadow, i, wanted(rule, pull[i]), w[d], slack):
            continue
        read += 1
        f = dense_dot(X, i, w) + w[d]
        if f - f != 0.0:
            return k, t, read
        c = correction(rule, pull[i], f)
        if c != 0.0:
            c = resized(rule, c, f if c > 0.0 else -f, X, i, 1)
            move(X, i, c, rule.beta, w)
            slack = _follow(shadow, w)
            log.at[k] = t
            log.score[k] = f
            log.step[k] = abs(c)
            k += 1
    return k, order.size, read
