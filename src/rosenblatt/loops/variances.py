"""Updates by variances of weights: AROW and SCW-I, for dense and sparse rows.

An update adds c y s_j x_j to a weight and subtracts b s_j² x_j² from its variance s_j, which starts at 1 and stays
above 0 because b Σ s_j x_j² < 1. The log holds c; b follows from c and the score (AROW), or from c and the
variances (SCW-I), so that a replay finds the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from rosenblatt.loops._jit import inline, verb
from rosenblatt.loops._vector import machine
from rosenblatt.loops.rules import Shaped
from rosenblatt.loops.sparse import FOUR, ONE, THREE, TWO
from rosenblatt.loops.steps import NO_RIVAL, move_of, step_of

LANES = 8


@verb
def spread(X: Any, i: Any, s: Any) -> Any:
    """Return Σ s_j x_j² over the features, by eight running sums (dense) or four (sparse), then the rest."""

    def dense(X: Any, i: Any, s: Any) -> Any:
        n = X.shape[1]
        even = n - n % LANES
        a = b = c = d = e = f = g = h = 0.0
        for j in range(0, even, LANES):
            a += s[j] * (np.float64(X[i, j]) * np.float64(X[i, j]))
            b += s[j + 1] * (np.float64(X[i, j + 1]) * np.float64(X[i, j + 1]))
            c += s[j + 2] * (np.float64(X[i, j + 2]) * np.float64(X[i, j + 2]))
            d += s[j + 3] * (np.float64(X[i, j + 3]) * np.float64(X[i, j + 3]))
            e += s[j + 4] * (np.float64(X[i, j + 4]) * np.float64(X[i, j + 4]))
            f += s[j + 5] * (np.float64(X[i, j + 5]) * np.float64(X[i, j + 5]))
            g += s[j + 6] * (np.float64(X[i, j + 6]) * np.float64(X[i, j + 6]))
            h += s[j + 7] * (np.float64(X[i, j + 7]) * np.float64(X[i, j + 7]))
        v = ((a + b) + (c + d)) + ((e + f) + (g + h))
        for j in range(even, n):
            v += s[j] * (np.float64(X[i, j]) * np.float64(X[i, j]))
        return v

    def sparse(X: Any, i: Any, s: Any) -> Any:
        start, stop = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + ONE])
        four = stop - (stop - start) % FOUR
        a = b = c = d = 0.0
        for p in range(start, four, FOUR):
            a += s[X.indices[p]] * _square(X, p)
            b += s[X.indices[p + ONE]] * _square(X, p + ONE)
            c += s[X.indices[p + TWO]] * _square(X, p + TWO)
            d += s[X.indices[p + THREE]] * _square(X, p + THREE)
        v = (a + b) + (c + d)
        for p in range(four, stop):
            v += s[X.indices[p]] * _square(X, p)
        return v

    return dense if isinstance(X, types.Array) else sparse


@inline
def _square(X: Any, p: Any) -> float:
    x = np.float64(X.data[p])
    return x * x


@inline
def variance(rule: Any, X: Any, i: Any, m: Any, rival: Any) -> float:
    """Return v of a row by machine m; the variances of a rival, if there is one, are added."""
    own = machine(rule.s, m)
    v = spread(X, i, own) + rule.beta * own[-1]
    if rival >= 0:
        other = machine(rule.s, rival)
        v += spread(X, i, other) + rule.beta * other[-1]
    return v


@step_of(Shaped)
@inline
def shaped_step(rule: Any, pull: Any, f: Any, X: Any, i: Any, m: Any, rival: Any) -> float:
    """Return c, signed as `pull` is; an example of weight 0 moves nothing."""
    weight = abs(pull)
    z = f if pull > 0.0 else -f
    if weight == 0.0:
        return 0.0
    if rule.phi == 0.0:
        if z >= rule.margin:
            return 0.0
        c = (rule.margin - z) / (variance(rule, X, i, m, rival) + rule.r / weight)
        return c if pull > 0.0 else -c
    v, phi2 = variance(rule, X, i, m, rival), rule.phi * rule.phi
    if v == 0.0 or z >= rule.phi * np.sqrt(v):
        return 0.0
    psi, zeta = 1.0 + 0.5 * phi2, 1.0 + phi2
    c = (np.sqrt(z * z * phi2 * phi2 * 0.25 + v * phi2 * zeta) - z * psi) / (v * zeta)
    c = min(rule.C * weight, max(0.0, c))
    return c if pull > 0.0 else -c


@inline
def sharpness(rule: Any, c: Any, z: Any, X: Any, i: Any, m: Any, rival: Any) -> float:
    """Return b of an update by the step c > 0, made at the signed score z."""
    if rule.phi == 0.0:
        return c / (rule.margin - z)
    v = variance(rule, X, i, m, rival)
    part = c * v * rule.phi
    q = 0.5 * (np.sqrt(part * part + 4.0 * v) - part)
    return c * rule.phi / (q + part)


@move_of(Shaped)
@inline
def move_by_variances(
    rule: Any, X: Any, i: Any, f: Any, c: Any, t: Any, m: Any, m2: Any, c2: Any, w: Any, u: Any
) -> None:
    """Move the weights and variances of one machine, or of a class and its rival."""
    z = f if c > 0.0 else -f
    b = sharpness(rule, abs(c), z, X, i, m, m2 if c2 != 0.0 else NO_RIVAL)
    move_shaped(rule, X, i, c, b, t, m, w, u)
    if c2 != 0.0:
        move_shaped(rule, X, i, c2, b, t, m2, w, u)


@inline
def move_shaped(rule: Any, X: Any, i: Any, c: Any, b: Any, t: Any, m: Any, w: Any, u: Any) -> None:
    """Move the weights of machine m, its sum u for averaging if given, and its variances; t visits came before."""
    own, s = machine(w, m), machine(rule.s, m)
    if u is not None:
        _sum(X, i, c * t, s, machine(u, m), rule.beta)
    add_shaped(X, i, c, b, own, s)
    g = s[-1]
    own[-1] += c * g * rule.beta
    s[-1] = g - b * (g * g) * rule.beta


@inline
def _sum(X: Any, i: Any, c: Any, s: Any, u: Any, beta: Any) -> None:
    add_scaled(X, i, c, s, u)
    u[-1] += c * s[-1] * beta


@verb
def add_shaped(X: Any, i: Any, c: Any, b: Any, w: Any, s: Any) -> Any:
    """Add c s_j x_j to each weight, and subtract b s_j² x_j² from its variance."""

    def dense(X: Any, i: Any, c: Any, b: Any, w: Any, s: Any) -> Any:
        for j in range(X.shape[1]):
            g = s[j] * X[i, j]
            w[j] += c * g
            s[j] -= b * (g * g)

    def sparse(X: Any, i: Any, c: Any, b: Any, w: Any, s: Any) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            j = X.indices[p]
            g = s[j] * X.data[p]
            w[j] += c * g
            s[j] -= b * (g * g)

    return dense if isinstance(X, types.Array) else sparse


@verb
def add_scaled(X: Any, i: Any, c: Any, s: Any, u: Any) -> Any:
    """Add c s_j x_j to each value of u."""

    def dense(X: Any, i: Any, c: Any, s: Any, u: Any) -> Any:
        for j in range(X.shape[1]):
            u[j] += c * (s[j] * X[i, j])

    def sparse(X: Any, i: Any, c: Any, s: Any, u: Any) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            u[X.indices[p]] += c * (s[X.indices[p]] * X.data[p])

    return dense if isinstance(X, types.Array) else sparse
