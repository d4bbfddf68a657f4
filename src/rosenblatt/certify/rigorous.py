"""Proofs in floats that rows contradict each other: a theorem, with every rounding error bounded.

Rows are z_i = y_i (x_i, 1). They contradict each other if Σ λ'_i z_i = 0 for some λ' > 0. A solver finds floats
λ > 0 with Σ λ_i z_i ≈ 0. This module decides whether exact weights are near them. It does not trust the solver.

Theorem. Let Z be the rows as a matrix, λ > 0, P the diagonal matrix of the largest powers of two p_i ≤ λ_i, Q a
diagonal matrix of powers of two, A = P Z Q, r = Q Zᵀ λ, and C any square matrix. σ_min(M) is the least ‖M x‖ with
‖x‖ = 1. If ‖Cᵀ r‖ < σ_min(A C), then some λ' > 0 has Zᵀ λ' = 0.

Proof. A C has full column rank, so C is invertible. The shortest ε with (A C)ᵀ ε = −Cᵀ r has ‖ε‖ < 1, and
Aᵀ ε = −r. Put λ' = λ + P ε: Q Zᵀ λ' = r + Aᵀ ε = 0, and λ'_i ≥ λ_i − p_i |ε_i| > 0.

`judge` computes ρ ≥ ‖Cᵀ r‖ and s ≤ σ_min(A C). With u = 2⁻⁵³, a sum of k products, in any order, with or without
fused instructions, errs by at most γ_k Σ |a_i b_i| + k τ, where γ_k = 1.01 k u, and τ = 2⁻¹⁰²⁰ covers underflow,
even if it is flushed to zero. Matrix products must be sums of products: no Strassen. C comes from a Cholesky
factor of Aᵀ A, which makes A C nearly orthonormal; if that fails, s is small or negative, and nothing is claimed.

Columns that depend on others exactly, on these rows, need no equation of their own: `check_dependence` checks that
in integers. Nearly dependent columns, or weights that are not near exact ones, are left to exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rosenblatt.certify.algebra import FIXED
from rosenblatt.typing import Floats, Ints

UNIT = 2.0**-53
UNDERFLOW = 2.0**-1020
SAFETY_FACTOR = (
    1.02  # covers the rounding of the bounds themselves: sums of up to 4e13 terms ≥ 0, and a few operations more
)
LEAST_POWER = -400  # powers of two below which entries, and weights, are refused
MAX_COLUMN_POWER = 200  # the largest power of two in Q
MAX_ENTRY = 1e30  # the largest entry of C
MAX_EXACT_SUM = 2.0**52  # sums of integers below this are exact in floats
DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12)  # of the coefficients of dependent columns that are tried
MAX_FRACTION_BITS = 60  # the most binary places of values that are made integers
# These choose what is tried, and decide nothing.
LEAST_PIVOT = 1e-12  # a smaller pivot of a Gram matrix of unit columns is taken for 0
LEAST_STRETCH = 0.25  # with a smaller s, C is improved once


class Bound(NamedTuple):
    """The numbers of a proof: exact weights differ from the floats λ by less than the share ρ/s of them."""

    residual: float  # ρ ≥ ‖Cᵀ r‖
    stretch: float  # s ≤ σ_min(A C)

    @property
    def ratio(self) -> float:
        """ρ/s, rounded up; infinite if nothing is proved."""
        proved = self.stretch > 0.0 and self.residual < np.inf
        return float(SAFETY_FACTOR * self.residual / self.stretch) if proved else float("inf")


NOTHING = Bound(float("inf"), 0.0)


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Rows that contradict each other, by weights in floats near exact ones.

    If the rows span all columns, nothing separates them even if rows may lie on the plane.
    """

    rows: Ints
    weights: Floats
    bound: Bound
    spanning: bool


def prove_contradiction(Z: Floats, weights: Floats, *, bias: bool) -> Contradiction | None:
    """Prove that rows contradict each other, by weights near those given, one for each row, or return None.

    Z holds z_i exactly; with `bias` its last column is y.
    """
    T = recode(Z) if bias and len(Z) else Z
    T, fine = scale_columns(T[:, T.any(axis=0)])
    rows, weights = np.arange(len(Z)), scale_weights(weights)
    if not fine or not len(weights):
        return None
    if not T.shape[1]:  # all rows are 0
        return Contradiction(rows, weights, Bound(0.0, 1.0), spanning=False)
    for _ in range(2):
        chosen = choose_columns(T, weights)
        if chosen is None:
            return None
        J, C = chosen
        found, better = judge(np.ascontiguousarray(T[:, J]), weights, C)
        if found.ratio < 1.0:
            return Contradiction(rows, weights, found, spanning=len(J) == Z.shape[1])
        weights = scale_weights(better)  # nearer to exact ones
        if found.ratio == np.inf or not len(weights):
            return None
    return None


def recode(Z: Floats) -> Floats:
    """Make constant features 0, and features of two values 0 and 1: with a bias, combinations to 0 stay so."""
    X = Z[:, :-1] * Z[:, -1:]
    low, high = X.min(axis=0), X.max(axis=0)
    two = ((X == low) | (X == high)).all(axis=0)
    Z = Z.copy()
    Z[:, :-1][:, two] = ((X == high) & (low < high))[:, two] * Z[:, -1:]
    return Z


def scale_columns(Z: Floats) -> tuple[Floats, bool]:
    """Divide columns by powers of two, to largest values in [½, 1); tell if that is exact and no entry is tiny."""
    e = np.frexp(np.abs(Z).max(axis=0, initial=0.0))[1]
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        A = np.ldexp(Z, -e)
        size = np.abs(A)
        fine = (np.ldexp(A, e) == Z) & ((A == 0.0) | (size >= 2.0**LEAST_POWER)) & (size < 1.0)
    return A, bool(fine.all())


def scale_weights(weights: Floats) -> Floats:
    """Return weights divided by a power of two, all in [2⁻⁴⁰⁰, 1]; none if that is not possible exactly."""
    if not len(weights) or not (weights > 0.0).all() or not np.isfinite(weights).all():
        return weights[:0]
    with np.errstate(under="ignore"):
        scaled = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    return scaled if scaled.min() >= 2.0**LEAST_POWER else weights[:0]


def equilibrate(T: Floats, weights: Floats) -> tuple[Floats, Ints, Ints]:
    """Return A = P T Q, and the powers of two in P and Q. It is exact: all powers together are above −1022."""
    p = np.frexp(weights)[1] - 1  # 2**p ≤ λ
    A = np.ldexp(T, p[:, None])
    q = np.clip(-np.frexp(np.sqrt(np.square(A).sum(axis=0)))[1], -MAX_COLUMN_POWER, MAX_COLUMN_POWER)
    return np.ldexp(A, q), p, q


def choose_columns(T: Floats, weights: Floats) -> tuple[Ints, Floats] | None:
    """Return columns J whose equations Σ λ_i t_ij = 0 imply all others, and C; None if that cannot be shown.

    C, the inverse of a Cholesky factor, makes the columns J of A C nearly orthonormal.
    """
    A, _, q = equilibrate(T, weights)
    G = FIXED.gram(A)
    R = G.copy()
    if FIXED.factorise(R, LEAST_PIVOT):
        return np.arange(len(R)), FIXED.inverse(R)
    R, pivots, rank = FIXED.triangle(G, LEAST_PIVOT)
    J, rest = pivots[:rank], pivots[rank:]
    if not rank:
        return None
    C = FIXED.inverse(np.ascontiguousarray(R[:rank, :rank]))
    if len(rest):
        near = np.column_stack([FIXED.times(C, column) for column in R[:rank, rank:].T])
        if not check_dependence(T, J, rest, np.ldexp(near, q[J][:, None] - q[rest])):
            return None
    return J, C


def check_dependence(T: Floats, J: Ints, rest: Ints, near: Floats) -> bool:
    """Return whether columns `rest` are rational combinations of columns J on all rows, by coefficients near some.

    Columns are multiplied by powers of two that make them integers. Coefficients are integers over a small
    denominator. All sums are of integers below 2⁵², and so exact in any order.
    """
    e, odd = np.zeros(T.shape[1], np.int64), np.ones(T.shape[1], np.bool_)
    for _ in range(MAX_FRACTION_BITS):
        odd[odd] = (np.ldexp(T[:, odd], e[odd]) % 1.0 != 0.0).any(axis=0)
        e[odd] += 1
    N = np.ldexp(T, e)
    whole = ~odd & (np.abs(N).max(axis=0) < MAX_EXACT_SUM)
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.ldexp(near, e[rest] - e[J][:, None])
    if not whole[rest].all() or not (np.abs(near) < MAX_EXACT_SUM).all():
        return False
    left = np.arange(len(rest))
    for q in DENOMINATORS:
        K = np.rint(q * near[:, left])
        used = K.any(axis=1)
        B, K, others = N[:, J[used]], K[used], q * N[:, rest[left]]
        exact = ~K[~whole[J[used]]].any(axis=0) & (
            (np.abs(B) @ np.abs(K) + np.abs(others)).max(axis=0) < MAX_EXACT_SUM
        )
        left = left[~(exact & (B @ K == others).all(axis=0))]
    return not len(left)


def judge(T: Floats, weights: Floats, C: Floats) -> tuple[Bound, Floats]:
    """Return the bound for rows that `scale_columns` found fine, and weights that may be nearer to exact ones."""
    A, p, q = equilibrate(T, weights)
    if len(A) < A.shape[1] or not np.abs(C).max() < MAX_ENTRY:
        return NOTHING, weights
    B = FIXED.product(A, C)
    s = bound_stretch(A, C, B)
    if s < LEAST_STRETCH:  # A C is not orthonormal enough: once more
        R = FIXED.gram(B)
        C = FIXED.product(C, FIXED.inverse(R)) if FIXED.factorise(R) else C
        if not np.abs(C).max() < MAX_ENTRY:
            return NOTHING, weights
        B = FIXED.product(A, C)
        s = bound_stretch(A, C, B)
    r = np.ldexp(FIXED.combine(T, weights), q)
    found = Bound(bound_residual(T, weights, q, r, C), s)
    if found.ratio < 1.0:
        return found, weights
    return found, weights - np.ldexp(FIXED.times(B, FIXED.combine(C, r)), p)


def bound_stretch(A: Floats, C: Floats, B: Floats) -> float:
    """Return a lower bound s of σ_min(A C), where B is A C as computed.

    The error of B has norm e ≤ γ_D ‖A‖ ‖C‖ + m D² τ. Let α bound ‖Bᵀ B − I‖; then σ_min(B) ≥ √(1 − α) ≥ 1 − α.
    """
    m, D = A.shape
    e = bound_sum(D + 2) * bound_norm(A) * bound_norm(C) + m * D * D * UNDERFLOW
    off = FIXED.gram(B)
    off[np.diag_indices_from(off)] -= 1.0
    alpha = (
        SAFETY_FACTOR * bound_norm(off) + bound_sum(m + 2) * bound_norm(B) ** 2 + D * (UNIT + m * D * UNDERFLOW)
    )
    return float(1.0 - SAFETY_FACTOR * (alpha + e))


def bound_residual(T: Floats, weights: Floats, q: Ints, r: Floats, C: Floats) -> float:
    """Return an upper bound ρ of ‖Cᵀ Q Tᵀ λ‖, where r is Q Tᵀ λ as computed."""
    m, D = T.shape
    lost = bound_sum(m + 2) * bound_norm(np.ldexp(FIXED.combine(np.abs(T), weights), q)) + m * D * 2.0**-700
    return float(
        bound_norm(FIXED.combine(C, r))
        + bound_norm(C) * (bound_sum(D + 2) * bound_norm(r) + lost)
        + D * D * UNDERFLOW
    )


def bound_sum(k: int) -> float:
    """Return a bound of k u / (1 − k u), for k < 4e13."""
    return 1.01 * k * UNIT


def bound_norm(a: Floats) -> float:
    """Return an upper bound of the Euclidean norm, but for an absolute error of τ."""
    top = float(np.abs(a).max(initial=0.0))
    if not 0.0 < top < 2.0**900:
        return 0.0 if top == 0.0 else float("inf")
    e = int(np.frexp(top)[1])
    with np.errstate(under="ignore"):
        b = np.ldexp(a, -e)
        return float(np.ldexp(SAFETY_FACTOR * np.sqrt(float(np.sum(b * b)) + b.size * UNDERFLOW), e))
