"""Monomials, weighted so that their dot product is (<x, x'> + c)^p.

By the multinomial theorem (<x, x'> + c)^p is the sum, over all exponents k₀ + k₁ + … + k_d = p, of
p! / (k₀! k₁! … k_d!) c^k₀ Π (x_j x'_j)^k_j. Each term is the product of one feature of x and the same one of x':
the square root of the coefficient, times Π x_j^k_j.

A monomial is the ascending list of its variables, (0, 0, 2) for x₁²x₃. Monomials are ordered by degree, and within
a degree lexicographically, so that the column of a monomial can be computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.codecs import Count, Number, Record
from rosenblatt.exceptions import Given, NonFiniteError, ParameterError
from rosenblatt.loops.layout import CSR
from rosenblatt.parameters import RANGE
from rosenblatt.rows.features import Features
from rosenblatt.rows.memory import require_memory
from rosenblatt.typing import Floats, Ints, Reals

WAY_OUT = "Lower the degree, map fewer rows at a time, or use KernelPerceptron, which needs no map."
LARGEST_DEGREE = 170
"""The factorial of a larger degree exceeds float64."""

MOST_COLUMNS = 2**62
BLOCK_PRODUCTS = 2**18
"""Products computed at a time."""


class _Products(NamedTuple):
    """Products of stored values of one degree, row by row: their rows, variables and values."""

    row: Ints
    variables: list[Ints]
    last: Ints  # the position of the last variable among the stored values
    run: Ints  # its exponent
    repeats: Floats  # the product of the factorials of all exponents
    value: Floats


class Monomials:
    """All monomials of `d` variables up to a degree (of that degree alone if c = 0), and their weights."""

    def __init__(self, d: int, degree: int, c: float) -> None:
        if degree > LARGEST_DEGREE:
            raise ParameterError(
                Given("degree", degree) + f" exceeds {LARGEST_DEGREE}, the largest with a float factorial."
            )
        self.d, self.degree, self.c = d, degree, c
        self.n_columns = math.comb(d + degree, degree) if c else math.comb(d + degree - 1, degree)
        if self.n_columns > MOST_COLUMNS:
            raise ParameterError(
                Given("degree", degree)
                + f" of {d} features makes {self.n_columns:,} monomials, more than can be numbered. "
                "Lower the degree, or use the kernel instead of the map."
            )
        self.degrees = range(degree + 1) if c else range(degree, degree + 1)
        self._front = [self._before_repeats(k) for k in range(degree + 1)]

    def _before_repeats(self, k: int) -> float:
        """Return p!/k₀! c^k₀ of monomials of degree k."""
        if k not in self.degrees:
            return 0.0
        try:
            front = math.perm(self.degree, k) * self.c ** (self.degree - k)
        except OverflowError:
            front = math.inf
        if not 0.0 < front < math.inf:
            raise ParameterError(
                Given("c", self.c)
                + f" to the power of {self.degree - k}, times {self.degree}!/{self.degree - k}!, is "
                "beyond float64. Choose c nearer to 1."
            )
        return front

    @cached_property
    def multisets(self) -> Ints:
        """The number of monomials of degree k in n variables, at [k, n]."""
        counts = np.zeros((self.degree + 1, self.d + 1), np.int64)
        counts[0] = 1
        for k in range(1, self.degree + 1):
            counts[k, 1:] = np.cumsum(counts[k - 1, 1:])
        return counts

    def stored(self, lengths: Any) -> Ints:
        """Return the number of products for rows with these numbers of stored values."""
        counts: Ints = self.multisets[self.degrees.start :].sum(axis=0)[lengths]
        if counts.sum(dtype=np.float64) > MOST_COLUMNS:
            told = (
                f" makes more products of these {len(lengths):,} rows than can be numbered. Choose a smaller one."
            )
            raise ParameterError(Given("degree", self.degree) + told, code=RANGE)
        return counts

    def names(self, variables: list[str]) -> list[str]:
        """Return the monomials with their weights as text: ``1``, ``√2 x1``, ``x1^2``, ``√2 x1 x2``."""
        return [self._written(monomial, variables) for monomial in self]

    def _written(self, monomial: tuple[int, ...], variables: list[str]) -> str:
        powers = {j: monomial.count(j) for j in dict.fromkeys(monomial)}
        repeats = math.prod(math.factorial(power) for power in powers.values())
        k = len(monomial)
        square = Fraction(math.perm(self.degree, k), repeats) * Fraction(self.c) ** (self.degree - k)
        factors = [variables[j] + (f"^{power}" if power > 1 else "") for j, power in powers.items()]
        weight = _root(square)
        return " ".join(factors if factors and weight == "1" else [weight, *factors])

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        for k in self.degrees:
            yield from combinations_with_replacement(range(self.d), k)

    def powers(self) -> Ints:
        """Return the exponent of each variable in each monomial."""
        exponents = np.zeros((self.n_columns, self.d), np.int64)
        for row, monomial in zip(exponents, self, strict=True):
            for j in monomial:
                row[j] += 1
        return exponents

    def weights(self) -> Floats:
        """Return the weight of each monomial."""
        first, run, repeats = np.full(1, self.d), np.zeros(1, np.int64), np.ones(1)
        levels = [repeats]
        for k in range(1, self.degree + 1):
            starts = self._starts(k)
            run = np.concatenate([np.where(first[at:] == j, run[at:], 0) + 1 for j, at in enumerate(starts)])
            repeats = np.concatenate([repeats[at:] for at in starts]) * run
            first = np.repeat(np.arange(self.d), [len(first) - at for at in starts])
            levels.append(repeats)
        weights: Floats = np.sqrt(np.concatenate([self._front[k] / levels[k] for k in self.degrees]))
        return weights

    def _starts(self, k: int) -> Any:
        """Return, for each variable, the first monomial of degree k − 1 that it may precede."""
        before = self.multisets[k - 1]
        return (before[self.d] - before[self.d - np.arange(self.d)]).tolist()

    def of_dense(self, X: Reals, out: Reals) -> None:
        """Write the features of dense rows to `out`, computed in float64."""
        weights = self.weights()
        sizes = self.multisets[:, self.d].tolist()
        rows_at_a_time = max(1, BLOCK_PRODUCTS // sum(sizes))
        # Lower degrees are needed even if only the highest is kept.
        for first in range(0, len(X), rows_at_a_time):
            rows = X[first : first + rows_at_a_time].astype(np.float64, copy=False)
            levels = [np.ones((len(rows), 1))]
            with np.errstate(over="ignore", invalid="ignore"):
                for k in range(1, self.degree + 1):
                    level, at = np.empty((len(rows), sizes[k])), 0
                    for j, start in enumerate(self._starts(k)):
                        width = sizes[k - 1] - start
                        np.multiply(rows[:, j : j + 1], levels[-1][:, start:], out=level[:, at : at + width])
                        at += width
                    levels.append(level)
                part = out[first : first + len(rows)]
                np.multiply(np.hstack([levels[k] for k in self.degrees]), weights, out=part, casting="same_kind")
            _require_finite(part, first)

    def of_sparse(self, X: CSR, n_rows: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return data, indices and indptr of the products of stored values."""
        bounds = X.indptr.astype(np.int64)
        lengths = np.diff(bounds)
        indptr = np.concatenate([[0], np.cumsum(self.stored(lengths))])
        kind = self.index_type(int(indptr[-1]))
        data, indices = np.empty(indptr[-1], X.data.dtype), np.empty(indptr[-1], kind)
        first = 0
        while first < n_rows:
            end = int(np.searchsorted(indptr, indptr[first] + BLOCK_PRODUCTS, side="right")) - 1
            end = min(max(end, first + 1), n_rows)
            self._of_some_sparse(X, bounds, slice(first, end), indptr, data, indices)
            _require_finite(data[indptr[first] : indptr[end]], first, indptr[first : end + 1])
            first = end
        return data, indices, indptr.astype(kind, copy=False)

    def index_type(self, stored: int) -> Any:
        """Return the narrowest integer type for columns and stored values."""
        return np.dtype(np.int32 if max(self.n_columns, stored) <= np.iinfo(np.int32).max else np.int64)

    def _of_some_sparse(
        self, X: CSR, bounds: Ints, rows: slice, indptr: Ints, data: NDArray[Any], indices: NDArray[Any]
    ) -> None:
        numbers = np.arange(rows.start, rows.stop)
        none = np.zeros(len(numbers), np.int64)
        # The empty product can be extended by any value of its row.
        products = _Products(numbers, [], bounds[numbers], none, np.ones(len(numbers)), np.ones(len(numbers)))
        filled = indptr[rows].copy()
        first_column = 0
        for k in range(self.degree + 1):
            if k:
                products = _longer(products, X, bounds)
            if k not in self.degrees:
                continue
            counts = np.bincount(products.row - rows.start, minlength=len(numbers))
            ends = np.cumsum(counts)
            at = np.arange(len(products.row)) + np.repeat(filled - (ends - counts), counts)
            with np.errstate(over="ignore"):
                data[at] = np.sqrt(self._front[k] / products.repeats) * products.value
            indices[at] = first_column + self._column(products.variables)
            filled += counts
            first_column += int(self.multisets[k, self.d])

    def _column(self, variables: list[Ints]) -> Any:
        """Return the positions of monomials among those of their degree, in lexicographic order."""
        column: Any = 0
        before: Any = 0
        for place, j in enumerate(variables):
            left = self.multisets[len(variables) - place]
            column = column + left[self.d - before] - left[self.d - j]
            before = j
        return column


def monomials_of(features: Features, monomials: Monomials, max_bytes: int | None) -> Features:
    """Return the monomials of rows: dense of dense rows, sparse of sparse ones.

    What would take more memory than `max_bytes`, or than is free, is refused before anything is allocated.
    """
    rows, n_rows, width = features.rows, features.n_rows, monomials.n_columns
    what = f"The {width:,} monomials of {n_rows:,} rows"
    if not isinstance(rows, CSR):
        require_memory(what, n_rows * width * rows.itemsize, WAY_OUT, max_bytes)
        out = np.empty((n_rows, width), rows.dtype)
        monomials.of_dense(rows, out)
        return Features(out, n_rows, width)
    n_stored = int(monomials.stored(np.diff(rows.indptr.astype(np.int64))).sum())
    n_bytes = n_stored * (rows.data.itemsize + monomials.index_type(n_stored).itemsize)
    require_memory(f"{what}, {n_stored:,} of them stored,", n_bytes, WAY_OUT, max_bytes)
    data, *signed = monomials.of_sparse(rows, n_rows)
    return Features(CSR(data, *(each.view(f"u{each.itemsize}") for each in signed)), n_rows, width)


def _longer(products: _Products, X: CSR, bounds: Ints) -> _Products:
    """Multiply each product by each stored value of its row, from its last variable on."""
    choices = bounds[products.row + 1] - products.last
    which = np.repeat(np.arange(len(choices)), choices)
    step = np.arange(len(which)) - np.repeat(np.cumsum(choices) - choices, choices)
    last = products.last[which] + step
    run = np.where(step == 0, products.run[which], 0) + 1
    with np.errstate(over="ignore", invalid="ignore"):
        value = products.value[which] * X.data[last]
    variables = [j[which] for j in products.variables]
    return _Products(
        products.row[which],
        [*variables, X.indices[last].astype(np.int64)],
        last,
        run,
        products.repeats[which] * run,
        value,
    )


def _root(square: Fraction) -> str:
    """Return the square root of a number as text: a number if it is rational, otherwise with a root sign."""
    over, under = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if over * over == square.numerator and under * under == square.denominator:
        return f"{over}" if under == 1 else f"{over / under:.6g}"
    return f"√{square.numerator}" if square.denominator == 1 else f"√{float(square):.6g}"


def _require_finite(values: NDArray[Any], first_row: int, indptr: Ints | None = None) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        at = int(np.argmin(finite))
        row = (
            at // values.shape[1] if indptr is None else int(np.searchsorted(indptr - indptr[0], at, "right")) - 1
        )
        raise NonFiniteError(
            f"A product of values in row {first_row + row} exceeds the largest {values.dtype}. "
            "Scale the features down."
        )


MONOMIALS = Record(Monomials, {"d": Count(1), "degree": Count(1, LARGEST_DEGREE), "c": Number(least=0.0)})
