"""Small linear algebra in two ways: in a fixed order by loops of our own, or by BLAS.

What ends a fit must be the same on every machine. A BLAS chooses its order of additions by the processor and the
number of threads, so fits use `FIXED`. `certify` may use `BLAS`: there, floats only propose, and the order decides
nothing but the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rosenblatt.loops._jit import jit
from rosenblatt.typing import Floats, Ints

Solver: TypeAlias = Callable[[Floats], Floats]

ROWS_AT_ONCE = 8  # rows whose products are added to a row of a Gram matrix in one sweep
HALVINGS = 20  # halvings of the interval of a step length


class Blas:
    """By numpy and scipy, with the BLAS that they were built with."""

    def gram(self, A: Any) -> Floats:
        """Return Aᵀ A; A may be sparse."""
        product = A.T @ A
        return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())

    def times(self, A: Any, v: Floats) -> Floats:
        """Return A v."""
        return np.asarray(A @ v)

    def solver(self, G: Floats, ridge: float) -> Solver | None:
        """Return a function that solves (G + ridge I) x = b; None if that matrix is not positive definite."""
        matrix = G.copy()
        matrix[np.diag_indices_from(matrix)] += ridge
        try:
            factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        return lambda b: np.asarray(cho_solve(factor, b, check_finite=False))


class Fixed:
    """By loops whose order of additions is written down; matrices are dense and double."""

    def gram(self, A: Floats) -> Floats:
        """Return Aᵀ A."""
        G = np.zeros((A.shape[1], A.shape[1]))
        fixed_gram(np.ascontiguousarray(A), G)
        return G

    def times(self, A: Floats, v: Floats) -> Floats:
        """Return A v."""
        return self.combine(A.T, v)

    def combine(self, A: Floats, r: Floats) -> Floats:
        """Return Aᵀ r."""
        out = np.zeros(A.shape[1])
        fixed_combine(np.ascontiguousarray(A), r, out)
        return out

    def solver(self, G: Floats, ridge: float) -> Solver | None:
        """Return a function that solves (G + ridge I) x = b; None if that matrix is not positive definite."""
        R = G.copy()
        R[np.diag_indices_from(R)] += ridge
        if not self.factorise(R):
            return None

        def solve(b: Floats) -> Floats:
            x = b.copy()
            fixed_solve(R, x)
            return x

        return solve

    def factorise(self, G: Floats, least: float = 0.0) -> bool:
        """Turn a matrix into its Cholesky factor R, G = Rᵀ R, in the upper triangle; tell if that was possible.

        It was not if a pivot is not above `least`.
        """
        return fixed_factor(G, least)

    def triangle(self, G: Floats, least: float) -> tuple[Floats, Ints, int]:
        """Return R, pivots and a rank with G[pivots][:, pivots] ≈ Rᵀ R; pivots up to `least` count as 0."""
        R, pivots = G.copy(), np.arange(len(G))
        rank = fixed_pivots(R, pivots, least)
        return np.triu(R), pivots, rank

    def inverse(self, R: Floats) -> Floats:
        """Return the inverse of an upper triangular matrix."""
        out = np.zeros_like(R)
        fixed_inverse(R, out)
        return out

    def product(self, A: Floats, C: Floats) -> Floats:
        """Return A C, where C is upper triangular."""
        out = np.zeros(A.shape)
        fixed_product(np.ascontiguousarray(A), C, out)
        return out


FIXED, BLAS = Fixed(), Blas()


@jit
def fixed_combine(A: Floats, r: Floats, out: Floats) -> None:
    """Add Aᵀ r to out, one row of A after the other."""
    for i in range(A.shape[0]):
        c = r[i]
        for j in range(A.shape[1]):
            out[j] += c * A[i, j]


@jit
def fixed_gram(A: Floats, G: Floats) -> None:
    """Set G = Aᵀ A: the products of eight rows are added at a time, in pairs; those of the last rows singly."""
    n, d = A.shape
    whole = n - n % ROWS_AT_ONCE
    for k in range(0, whole, ROWS_AT_ONCE):
        for i in range(d):
            a, b, c, e = A[k, i], A[k + 1, i], A[k + 2, i], A[k + 3, i]
            p, q, r, s = A[k + 4, i], A[k + 5, i], A[k + 6, i], A[k + 7, i]
            for j in range(i, d):
                first = (a * A[k, j] + b * A[k + 1, j]) + (c * A[k + 2, j] + e * A[k + 3, j])
                second = (p * A[k + 4, j] + q * A[k + 5, j]) + (r * A[k + 6, j] + s * A[k + 7, j])
                G[i, j] += first + second
    for k in range(whole, n):
        for i in range(d):
            a = A[k, i]
            for j in range(i, d):
                G[i, j] += a * A[k, j]
    for i in range(d):
        for j in range(i):
            G[i, j] = G[j, i]


@jit
def fixed_factor(R: Floats, least: float) -> bool:
    """Turn the upper triangle of a matrix into its Cholesky factor; return whether all pivots are above `least`.

    Eight rows at a time: they are finished, and then subtracted from the rest together.
    """
    n = R.shape[0]
    for k in range(0, n, ROWS_AT_ONCE):
        stop = min(n, k + ROWS_AT_ONCE)
        for m in range(k, stop):
            if not R[m, m] > least:
                return False
            root = np.sqrt(R[m, m])
            for j in range(m, n):
                R[m, j] /= root
            for i in range(m + 1, stop):
                c = R[m, i]
                for j in range(i, n):
                    R[i, j] -= c * R[m, j]
        for i in range(stop, n):
            a, b, c, e = R[k, i], R[k + 1, i], R[k + 2, i], R[k + 3, i]
            p, q, r, s = R[k + 4, i], R[k + 5, i], R[k + 6, i], R[k + 7, i]
            for j in range(i, n):
                first = (a * R[k, j] + b * R[k + 1, j]) + (c * R[k + 2, j] + e * R[k + 3, j])
                second = (p * R[k + 4, j] + q * R[k + 5, j]) + (r * R[k + 6, j] + s * R[k + 7, j])
                R[i, j] -= first + second
    return True


@jit
def fixed_pivots(R: Floats, pivots: Ints, least: float) -> int:
    """Turn the upper triangle of a matrix into its Cholesky factor; return the number of pivots above `least`.

    The largest diagonal entry that is left becomes the next pivot. The lower triangle is not used.
    """
    n: int = R.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if R[i, i] > R[best, best]:
                best = i
        if best != k:
            for i in range(k):
                R[i, k], R[i, best] = R[i, best], R[i, k]
            for i in range(k + 1, best):
                R[k, i], R[i, best] = R[i, best], R[k, i]
            for j in range(best + 1, n):
                R[k, j], R[best, j] = R[best, j], R[k, j]
            R[k, k], R[best, best] = R[best, best], R[k, k]
            pivots[k], pivots[best] = pivots[best], pivots[k]
        if not R[k, k] > least:
            return k
        root = np.sqrt(R[k, k])
        for j in range(k, n):
            R[k, j] /= root
        for i in range(k + 1, n):
            c = R[k, i]
            for j in range(i, n):
                R[i, j] -= c * R[k, j]
    return n


@jit
def fixed_solve(R: Floats, x: Floats) -> None:
    """Solve Rᵀ R x = b in place."""
    n = R.shape[0]
    for i in range(n):
        x[i] /= R[i, i]
        c = x[i]
        for j in range(i + 1, n):
            x[j] -= c * R[i, j]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= R[i, j] * x[j]
        x[i] = total / R[i, i]


@jit
def fixed_inverse(R: Floats, out: Floats) -> None:
    """Set out to the inverse of an upper triangular matrix, from the last row up, eight rows of it at a time."""
    n = R.shape[0]
    for i in range(n - 1, -1, -1):
        out[i, i] = 1.0
        stop = n - (n - i - 1) % ROWS_AT_ONCE
        for k in range(i + 1, stop, ROWS_AT_ONCE):
            a, b, c, e = R[i, k], R[i, k + 1], R[i, k + 2], R[i, k + 3]
            p, q, r, s = R[i, k + 4], R[i, k + 5], R[i, k + 6], R[i, k + 7]
            for j in range(k, n):
                first = (a * out[k, j] + b * out[k + 1, j]) + (c * out[k + 2, j] + e * out[k + 3, j])
                second = (p * out[k + 4, j] + q * out[k + 5, j]) + (r * out[k + 6, j] + s * out[k + 7, j])
                out[i, j] -= first + second
        for k in range(stop, n):
            c = R[i, k]
            for j in range(k, n):
                out[i, j] -= c * out[k, j]
        for j in range(i, n):
            out[i, j] /= R[i, i]


@jit
def fixed_product(A: Floats, C: Floats, out: Floats) -> None:
    """Set out = A C, where C is upper triangular and out is 0: eight rows of C at a time, the last ones singly."""
    n, d = A.shape
    whole = d - d % ROWS_AT_ONCE
    for i in range(n):
        for k in range(0, whole, ROWS_AT_ONCE):
            a, b, c, e = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
            p, q, r, s = A[i, k + 4], A[i, k + 5], A[i, k + 6], A[i, k + 7]
            for j in range(k, d):
                first = (a * C[k, j] + b * C[k + 1, j]) + (c * C[k + 2, j] + e * C[k + 3, j])
                second = (p * C[k + 4, j] + q * C[k + 5, j]) + (r * C[k + 6, j] + s * C[k + 7, j])
                out[i, j] += first + second
        for k in range(whole, d):
            a = A[i, k]
            for j in range(k, d):
                out[i, j] += a * C[k, j]


@jit
def step_length(left: Floats, change: Floats, ridge: float, inner: float, square: float) -> float:
    """Return the t in (0, 1] that minimises Σ max(0, left_i − t change_i)² + ridge (2 t inner + t² square)."""
    low, high = 0.0, 2.0
    for _ in range(HALVINGS + 1):
        t = (low + high) / 2.0
        slope = ridge * (inner + t * square)
        for i in range(left.size):
            slope -= max(left[i] - t * change[i], 0.0) * change[i]
        if slope > 0.0:
            high = t
        elif t == 1.0:
            return 1.0
        else:
            low = t
    return low if low > 0.0 else high
