"""The steps of rules other than the perceptron: passive-aggressive, by variances, by a link of power p."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from rosenblatt.loops._jit import Kind, inline, verb
from rosenblatt.loops._vector import machine
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.loops.rows import add, square
from rosenblatt.loops.rules import Linked, Passive, Shaped
from rosenblatt.loops.sparse import FOUR, ONE, THREE, TWO
from rosenblatt.loops.steps import NO_RIVAL, move_of, size_of, step_of
from rosenblatt.typing import Floats, Reals


@size_of(Passive)
@inline
def passive_size(rule: Passive, c: float, lead: float, X: Rows, i: int, machines: int) -> float:
    """Return the shortest step that gives row i its margin, within the bounds of the rule."""
    weight = abs(c) / rule.eta
    x2 = machines * (square(X, i) + rule.beta) + rule.soft / weight
    if x2 == 0.0:
        return c  # of a row of zeros without a bias, which no step moves
    if x2 == np.inf:
        return x2  # the step is not known, and 0 would pass for a row that has its margin; the weights overflow
    step = rule.eta * min(rule.most * weight, (rule.margin - lead) / x2)
    return step if c > 0.0 else -step


# Updates by variances of weights: AROW and SCW-I, for dense and sparse rows.
#
# An update adds c y s_j x_j to a weight and subtracts b s_j² x_j² from its variance s_j, which starts at 1 and
# stays above 0 because b Σ s_j x_j² < 1. The log holds c; b follows from c and the score (AROW), or from c and
# the variances (SCW-I), so that a replay finds the same bits.


LANES = 8


@verb
def spread(X: Kind, i: Kind, s: Kind) -> Any:
    """Return Σ s_j x_j² over the features, by eight running sums (dense) or four (sparse), then the rest."""

    def dense(X: Reals, i: int, s: Floats) -> Any:
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

    def sparse(X: CSR, i: int, s: Floats) -> Any:
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
def _square(X: Rows, p: np.uint64 | int) -> float:
    x = np.float64(X.data[p])
    return x * x


@inline
def variance(rule: Shaped, X: Rows, i: int, m: int, rival: int) -> float:
    """Return v of a row by machine m; the variances of a rival, if there is one, are added."""
    own = machine(rule.s, m)
    v = spread(X, i, own) + rule.beta * own[-1]
    if rival >= 0:
        other = machine(rule.s, rival)
        v += spread(X, i, other) + rule.beta * other[-1]
    return v


@step_of(Shaped)
@inline
def shaped_step(rule: Shaped, pull: float, f: float, X: Rows, i: int, m: int, rival: int) -> float:
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
def sharpness(rule: Shaped, c: float, z: float, X: Rows, i: int, m: int, rival: int) -> float:
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
    rule: Shaped,
    X: Rows,
    i: int,
    f: float,
    c: float,
    t: int,
    m: int,
    m2: int,
    c2: float,
    w: Floats,
    u: Floats | None,
) -> None:
    """Move the weights and variances of one machine, or of a class and its rival."""
    z = f if c > 0.0 else -f
    b = sharpness(rule, abs(c), z, X, i, m, m2 if c2 != 0.0 else NO_RIVAL)
    move_shaped(rule, X, i, c, b, t, m, w, u)
    if c2 != 0.0:
        move_shaped(rule, X, i, c2, b, t, m2, w, u)


@inline
def move_shaped(
    rule: Shaped, X: Rows, i: int, c: float, b: float, t: int, m: int, w: Floats, u: Floats | None
) -> None:
    """Move the weights of machine m, its sum u for averaging if given, and its variances; t visits came before."""
    own, s = machine(w, m), machine(rule.s, m)
    if u is not None:
        _sum(X, i, c * t, s, machine(u, m), rule.beta)
    add_shaped(X, i, c, b, own, s)
    g = s[-1]
    own[-1] += c * g * rule.beta
    s[-1] = g - b * (g * g) * rule.beta


@inline
def _sum(X: Rows, i: int, c: float, s: Floats, u: Floats, beta: float) -> None:
    add_scaled(X, i, c, s, u)
    u[-1] += c * s[-1] * beta


@verb
def add_shaped(X: Kind, i: Kind, c: Kind, b: Kind, w: Kind, s: Kind) -> Any:
    """Add c s_j x_j to each weight, and subtract b s_j² x_j² from its variance."""

    def dense(X: Reals, i: int, c: float, b: float, w: Floats, s: Floats) -> Any:
        for j in range(X.shape[1]):
            g = s[j] * X[i, j]
            w[j] += c * g
            s[j] -= b * (g * g)

    def sparse(X: CSR, i: int, c: float, b: float, w: Floats, s: Floats) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            j = X.indices[p]
            g = s[j] * X.data[p]
            w[j] += c * g
            s[j] -= b * (g * g)

    return dense if isinstance(X, types.Array) else sparse


@verb
def add_scaled(X: Kind, i: Kind, c: Kind, s: Kind, u: Kind) -> Any:
    """Add c s_j x_j to each value of u."""

    def dense(X: Reals, i: int, c: float, s: Floats, u: Floats) -> Any:
        for j in range(X.shape[1]):
            u[j] += c * (s[j] * X[i, j])

    def sparse(X: CSR, i: int, c: float, s: Floats, u: Floats) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            u[X.indices[p]] += c * (s[X.indices[p]] * X.data[p])

    return dense if isinstance(X, types.Array) else sparse


# Updates through a link: θ moves as the perceptron's weights do, and w_j = sgn(θ_j) |θ_j|^(p − 1) follows.
#
# Only weights of the row's features change, so that scores are ordinary dot products. Whole powers are products
# in a fixed order, and so have the same bits on every machine. The rule depends on the direction of θ alone. So
# θ is kept divided by a power of two, chosen anew when powers might leave the range of floats: that is exact.


LARGEST_EXPONENT = 400  # the largest power is kept between 2^−400 and 2^400


@inline
def link(theta: float, k: int) -> float:
    """Return sgn(θ) |θ|^k, by squaring."""
    power, square, left = 1.0, abs(theta), k
    while left > 0:
        if left % 2 == 1:
            power *= square
        square *= square
        left //= 2
    return power if theta >= 0.0 else -power


@move_of(Linked)
@inline
def move_by_link(
    rule: Linked,
    X: Rows,
    i: int,
    f: float,
    c: float,
    t: int,
    m: int,
    m2: int,
    c2: float,
    w: Floats,
    u: Floats | None,
) -> None:
    """Move θ and the weights of one machine, or of a class and its rival."""
    move_linked(rule, X, i, c, t, m, w, u)
    if c2 != 0.0:
        move_linked(rule, X, i, c2, t, m2, w, u)


@inline
def move_linked(rule: Linked, X: Rows, i: int, c: float, t: int, m: int, w: Floats, u: Floats | None) -> None:
    """Move θ of machine m by c x_i, and let its weights follow, and the sum u if given; t visits came before."""
    theta, k, root = machine(rule.theta, m), int(rule.p) - 1, np.sqrt(rule.beta)
    step = c * rule.unit[0]
    add(X, i, step, theta)
    theta[-1] += step * root
    rule.unit[1] = max(rule.unit[1], abs(theta[-1]), largest(X, i, theta))
    _, exponent = math.frexp(rule.unit[1])
    if abs(exponent) * k > LARGEST_EXPONENT:
        divide(rule, exponent, k, w)
        if u is not None:
            _divide(u, exponent * k)
    own = machine(w, m)
    bias = root * link(theta[-1], k)
    if u is not None:
        sums = machine(u, m)
        follow_sum(X, i, k, t, theta, own, sums)
        sums[-1] += (bias - own[-1]) * t
    follow_theta(X, i, k, theta, own)
    own[-1] = bias


@inline
def divide(rule: Linked, exponent: int, k: int, w: Floats) -> None:
    """Divide θ by a power of two, and the weights by its power."""
    _divide(rule.theta, exponent)
    _divide(w, exponent * k)
    rule.unit[0] = math.ldexp(rule.unit[0], -exponent)
    rule.unit[1] = math.ldexp(rule.unit[1], -exponent)


@verb
def _divide(values: Kind, exponent: Kind) -> Any:
    """Divide an array by a power of two, in place."""

    def one(values: Floats, exponent: int) -> Any:
        for j in range(values.size):
            values[j] = math.ldexp(values[j], -exponent)

    def several(values: Floats, exponent: int) -> Any:
        for m in range(values.shape[0]):
            for j in range(values.shape[1]):
                values[m, j] = math.ldexp(values[m, j], -exponent)

    return one if values.ndim == 1 else several


@verb
def largest(X: Kind, i: Kind, theta: Kind) -> Any:
    """Return the largest |θ_j| of the features of row i."""

    def dense(X: Reals, i: int, theta: Floats) -> Any:
        peak = 0.0
        for j in range(X.shape[1]):
            peak = max(peak, abs(theta[j]))
        return peak

    def sparse(X: CSR, i: int, theta: Floats) -> Any:
        peak = 0.0
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            peak = max(peak, abs(theta[X.indices[p]]))
        return peak

    return dense if isinstance(X, types.Array) else sparse


@verb
def follow_sum(X: Kind, i: Kind, k: Kind, t: Kind, theta: Kind, w: Kind, u: Kind) -> Any:
    """Add the change of each weight of row i, times t, to u."""

    def dense(X: Reals, i: int, k: int, t: int, theta: Floats, w: Floats, u: Floats) -> Any:
        for j in range(X.shape[1]):
            u[j] += (link(theta[j], k) - w[j]) * t

    def sparse(X: CSR, i: int, k: int, t: int, theta: Floats, w: Floats, u: Floats) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            j = X.indices[p]
            u[j] += (link(theta[j], k) - w[j]) * t

    return dense if isinstance(X, types.Array) else sparse


@verb
def follow_theta(X: Kind, i: Kind, k: Kind, theta: Kind, w: Kind) -> Any:
    """Compute the weights of row i from θ."""

    def dense(X: Reals, i: int, k: int, theta: Floats, w: Floats) -> Any:
        for j in range(X.shape[1]):
            w[j] = link(theta[j], k)

    def sparse(X: CSR, i: int, k: int, theta: Floats, w: Floats) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            w[X.indices[p]] = link(theta[X.indices[p]], k)

    return dense if isinstance(X, types.Array) else sparse
