"""Updates through a link: θ moves as the perceptron's weights do, and w_j = sgn(θ_j) |θ_j|^(p − 1) follows.

Only weights of the row's features change, so that scores are ordinary dot products. Whole powers are products in a
fixed order, and so have the same bits on every machine. The rule depends on the direction of θ alone. So θ is kept
divided by a power of two, chosen anew when powers might leave the range of floats: that is exact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from rosenblatt.loops._jit import inline, verb
from rosenblatt.loops._vector import machine
from rosenblatt.loops.rows import add
from rosenblatt.loops.rules import Linked
from rosenblatt.loops.sparse import ONE
from rosenblatt.loops.steps import move_of

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
    rule: Any, X: Any, i: Any, f: Any, c: Any, t: Any, m: Any, m2: Any, c2: Any, w: Any, u: Any
) -> None:
    """Move θ and the weights of one machine, or of a class and its rival."""
    move_linked(rule, X, i, c, t, m, w, u)
    if c2 != 0.0:
        move_linked(rule, X, i, c2, t, m2, w, u)


@inline
def move_linked(rule: Any, X: Any, i: Any, c: Any, t: Any, m: Any, w: Any, u: Any) -> None:
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
def divide(rule: Any, exponent: Any, k: Any, w: Any) -> None:
    """Divide θ by a power of two, and the weights by its power."""
    _divide(rule.theta, exponent)
    _divide(w, exponent * k)
    rule.unit[0] = math.ldexp(rule.unit[0], -exponent)
    rule.unit[1] = math.ldexp(rule.unit[1], -exponent)


@verb
def _divide(values: Any, exponent: Any) -> Any:
    """Divide an array by a power of two, in place."""

    def one(values: Any, exponent: Any) -> Any:
        for j in range(values.size):
            values[j] = math.ldexp(values[j], -exponent)

    def several(values: Any, exponent: Any) -> Any:
        for m in range(values.shape[0]):
            for j in range(values.shape[1]):
                values[m, j] = math.ldexp(values[m, j], -exponent)

    return one if values.ndim == 1 else several


@verb
def largest(X: Any, i: Any, theta: Any) -> Any:
    """Return the largest |θ_j| of the features of row i."""

    def dense(X: Any, i: Any, theta: Any) -> Any:
        peak = 0.0
        for j in range(X.shape[1]):
            peak = max(peak, abs(theta[j]))
        return peak

    def sparse(X: Any, i: Any, theta: Any) -> Any:
        peak = 0.0
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            peak = max(peak, abs(theta[X.indices[p]]))
        return peak

    return dense if isinstance(X, types.Array) else sparse


@verb
def follow_sum(X: Any, i: Any, k: Any, t: Any, theta: Any, w: Any, u: Any) -> Any:
    """Add the change of each weight of row i, times t, to u."""

    def dense(X: Any, i: Any, k: Any, t: Any, theta: Any, w: Any, u: Any) -> Any:
        for j in range(X.shape[1]):
            u[j] += (link(theta[j], k) - w[j]) * t

    def sparse(X: Any, i: Any, k: Any, t: Any, theta: Any, w: Any, u: Any) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            j = X.indices[p]
            u[j] += (link(theta[j], k) - w[j]) * t

    return dense if isinstance(X, types.Array) else sparse


@verb
def follow_theta(X: Any, i: Any, k: Any, theta: Any, w: Any) -> Any:
    """Compute the weights of row i from θ."""

    def dense(X: Any, i: Any, k: Any, theta: Any, w: Any) -> Any:
        for j in range(X.shape[1]):
            w[j] = link(theta[j], k)

    def sparse(X: Any, i: Any, k: Any, theta: Any, w: Any) -> Any:
        for p in range(X.indptr[i], X.indptr[i + ONE]):
            w[X.indices[p]] = link(theta[X.indices[p]], k)

    return dense if isinstance(X, types.Array) else sparse
