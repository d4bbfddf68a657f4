"""The exact question: whether some v has z_i·v > 0 for every row, where z_i = y_i (x_i, 1).

Columns are divided by powers of two, which rounds nothing and keeps floats within their range. Unless stated
otherwise, vectors here are in these columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np

from rosenblatt.certify.rationals import (
    UNIT,
    WORD,
    as_integers,
    as_words,
    common,
    exponents,
    nearest,
    shifted,
    times_powers,
)
from rosenblatt.certify.time_limit import PYTHON, Unsettled
from rosenblatt.loops.layout import CSR, csr_take, value_slices
from rosenblatt.margins.matrix import Matrix, scaled_rows
from rosenblatt.rows.features import Features, as_rows
from rosenblatt.typing import Floats, Ints

UNDERFLOW = 2.0**-1022  # more than underflow can change a product by
MAX_UNSCALED_POWER = 400  # columns within 2**±400 are not scaled; the weights are scaled instead
WORK_A_SPARSE_VALUE = 4  # units of work to multiply a sparse value
WORK_A_SPARSE_ROW = 500  # operations to find the integers of one sparse row
BLOCK_VALUES = 2**20  # values converted to integers together
MAX_DENSE_VALUES = 2**20  # the most values of sparse rows that become dense
MAX_WORDS = 2**23  # the most values kept as integers: 64 megabytes
MAX_INTEGERS = 2**25  # the most values held as integers of any length: up to two gigabytes


@dataclass(frozen=True, eq=False)
class Direction:
    """A normal vector v = integers · 2**power, scaled so that its largest entry is between 1 and 2 in size."""

    integers: list[int]
    power: int
    high: Floats  # v, rounded to floats

    @classmethod
    def of_floats(cls, values: Floats) -> Direction | None:
        """Return the direction of floats; None if all are zero or some are not finite."""
        size = np.abs(values).max(initial=0.0)
        if not 0.0 < size < np.inf:
            return None
        with np.errstate(under="ignore"):
            values = np.ldexp(values, -int(exponents(size)))
        values = np.where(np.abs(values) < UNDERFLOW, 0.0, values)
        (integers,), (power,) = as_integers(values[None, :], np.zeros(values.size, np.int64))
        return cls(integers, int(power), values)

    @classmethod
    def of_integers(cls, integers: list[int]) -> Direction:
        """Return the direction of integers of any size, not all zero."""
        bits = max(map(int.bit_length, integers)) - 1
        if bits <= MAX_UNSCALED_POWER:  # floats have room for the integers, and powers of two round nothing
            return cls(integers, -bits, np.ldexp(np.array(integers, np.float64), -bits))
        return cls(integers, -bits, np.array([nearest(value, 1 << bits) for value in integers]))

    @cached_property
    def low(self) -> Floats:
        """What rounding v to floats has lost, rounded."""
        one = 1 << -self.power
        rest = []
        for value, (num, den) in zip(self.integers, map(float.as_integer_ratio, self.high.tolist()), strict=True):
            rest.append(nearest(value * den - num * one, den * one))
        return np.array(rest)

    def shortened(self, bits: int) -> Direction:
        """Return the direction with entries cut to `bits` bits below the top bit of the largest."""
        surplus = max(0, -self.power - bits)
        return Direction.of_integers([value >> surplus for value in self.integers])


class SeparationProblem:
    """Finite rows of two sides y, −1.0 and +1.0; with `bias`, z_i has a last coordinate y_i.

    The largest absolute value of each column and the digest of each row can be given if they are known already.
    """

    def __init__(
        self,
        features: Features,
        y: Floats,
        *,
        bias: bool,
        largest: Floats | None = None,
        digests: Ints | None = None,
    ) -> None:
        self.features, self.y, self.bias, self.digests = features, y, bias, digests
        self.n, self.d = features.n_rows, features.n_features
        self.width = self.d + bias
        self.matrix = Matrix(features, bias=False)
        self.sparse = self.matrix.sparse
        self._largest = largest
        # the work of one reading; sparse values are scattered
        self.size = (WORK_A_SPARSE_VALUE if self.sparse else 1) * features.stored + self.n
        self.positive, self.negative = np.flatnonzero(y > 0.0), np.flatnonzero(y < 0.0)

    def some(self, rows: Ints, columns: Ints | None = None) -> SeparationProblem:
        """Return the question about some of the rows, and of the columns; few sparse rows become dense."""
        if columns is not None and len(columns) < self.d:
            part = self.matrix.X[rows][:, columns]
            return SeparationProblem(as_rows(part), self.y[rows], bias=self.bias)
        X = self.features.rows
        if len(rows) * self.d <= MAX_DENSE_VALUES:
            X = self.matrix.dense(rows)
        else:
            X = csr_take(X, rows) if isinstance(X, CSR) else X[rows]
        return SeparationProblem(Features(X, len(rows), self.d), self.y[rows], bias=self.bias)

    def signed_exactly(self, rows: Ints) -> Floats:
        """Return z_i of some rows as in the data, dense."""
        dense, y = self.matrix.dense(rows), self.y[rows][:, None]
        return y * np.hstack([dense, np.ones_like(y)]) if self.bias else y * dense

    @cached_property
    def scale(self) -> Ints:
        """The power of two that each column is divided by."""
        return exponents(largest_values(self.features) if self._largest is None else self._largest)

    def scores(self, v: Direction, rows: Ints | None = None) -> tuple[Floats, float]:
        """Return f_i = <v, x_i> for every row or some, without a bias, and a bound on the error of each."""
        matrix, left = self.floats
        with np.errstate(under="ignore"):
            w = np.ldexp(v.high[: self.d], -left)
            f = matrix.times(w) if rows is None else np.asarray(matrix.X[rows] @ w, np.float64)
        return f, self.error(v)

    def error(self, v: Direction, *, biased: bool = False) -> float:
        """Return a bound on the error of a score <v, x_i> in floats, or of that plus a bias.

        The error of a sum of d products, in any order, is at most d u/(1 − d u) times the sum of their sizes,
        which is at most Σ 2|v_j|. Rounding v adds u times that, and underflow less than 2⁻¹⁰²² for each product.
        The bound has room for one more summand.
        """
        total = 2.0 * float(np.abs(v.high).sum())
        error = 1.001 * (self.d + 4) * (UNIT * total + UNDERFLOW)
        return 1.001 * error if biased else error

    def table(self, rows: Any) -> Floats:
        """Return x_i of some rows as a dense array, exact but for values far below the largest of their column."""
        matrix, left = self.floats
        with np.errstate(under="ignore"):
            return np.asarray(matrix.dense(rows) * np.ldexp(1.0, -left))

    @cached_property
    def center(self) -> Floats:
        """The mean of the rows, roughly; moving rows there lets floats resolve small differences."""
        if self.sparse or not self.bias:
            return np.zeros(self.d)
        matrix, left = self.floats
        return np.ldexp(matrix.combine(np.full(self.n, 1.0 / self.n)), -left)

    def signed(self, rows: Any, center: Floats) -> Any:
        """Return z_i of some rows as floats, relative to a center; sparse rows stay sparse and are not moved."""
        from scipy.sparse import csr_array, diags_array, hstack

        y = self.y[rows][:, None]
        if not self.sparse:
            X = self.table(rows) - center
            return y * np.hstack([X, np.ones_like(y)]) if self.bias else y * X
        matrix, left = self.floats
        X = diags_array(y[:, 0]) @ matrix.X[rows] @ diags_array(np.ldexp(1.0, -left))
        return hstack([X, csr_array(y)], format="csr") if self.bias else X

    def exact_scores(self, rows: Ints, v: Direction) -> list[Fraction]:
        """Return <v, x_i> for some rows, exactly."""
        found: list[Fraction] = []
        step = max(1, BLOCK_VALUES // self.d)
        for start in range(0, len(rows), step):
            for columns, integers, power in self.stored_integers(rows[start : start + step], self.scale):
                entries = [v.integers[j] for j in columns] if self.sparse else v.integers
                found.append(shifted(sum(map(mul, integers, entries)), power + v.power))
        return found

    def exact_signs(self, rows: Ints, v: list[int]) -> Ints:
        """Return the signs of z_i·v for some rows, exactly; the last entry of v is the bias, if there is one."""
        bits = sum(map(abs, v)).bit_length()
        if self.whole is not None:
            return self._whole_signs(rows, v, self.whole)
        if self._words is not None and self._bits + bits <= WORD:
            return np.asarray(np.sign(self._words[rows] @ np.array(v)))
        if self.sparse:
            direction = Direction.of_integers(v)
            offset = shifted(v[-1], direction.power) if self.bias else 0
            totals = [score + offset for score in self.exact_scores(rows, direction)]
            return self.y[rows].astype(np.int64) * np.array([_sign(total) for total in totals], np.int64)
        signs = np.empty(len(rows), np.int64)
        step = max(1, BLOCK_VALUES // self.width)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            totals = [sum(map(mul, row, v)) for row in as_integers(*self._signed(rows[part]))[0]]
            signs[part] = list(map(_sign, totals))
        return signs

    def exact_work(self, v: list[int], rows: int) -> float:
        """Return the work of `exact_signs` for so many rows."""
        words = 1 + max(map(int.bit_length, v)) / WORD
        if self.whole is not None:
            return 2.0 * words * rows * (self.size / self.n + PYTHON)
        return PYTHON * rows * (words * self.size / self.n + (WORK_A_SPARSE_ROW if self.sparse else 0))

    @cached_property
    def whole(self) -> int | None:
        """The bits of the largest value if all values are whole numbers of machine size, else None."""
        values = self.features.values
        largest = float(np.abs(values).max(initial=0.0))
        if largest >= 2.0**31 or not all(
            np.array_equal(part, np.rint(part))
            for part in (values[start : start + BLOCK_VALUES] for start in range(0, values.size, BLOCK_VALUES))
        ):
            return None
        return int(largest).bit_length()

    def _whole_signs(self, rows: Ints, v: list[int], bits: int) -> Ints:
        """Return the signs of z_i·v for whole numbers: v is cut into digits with which products fit into words."""
        highest = int(self.scale.max(initial=0))
        shifts = (highest - self.scale).tolist()
        entries = [value << shift for value, shift in zip(v[: self.d], shifts, strict=True)]
        length = WORD - bits - self.d.bit_length()
        count = max(1, -(-max(value.bit_length() for value in entries) // length))
        mask, X = (1 << length) - 1, self.matrix.X
        signs = np.empty(len(rows), np.int64)
        step = max(1, BLOCK_VALUES // max(1, int(self.size / self.n)))
        last = v[-1] << highest if self.bias else 0
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            table = X[rows[part]].astype(np.int64)
            total: Any = np.zeros(table.shape[0], object)
            for k in reversed(range(count)):
                digits = [(abs(value) >> (k * length)) & mask for value in entries]
                signed = np.array([-x if value < 0 else x for x, value in zip(digits, entries, strict=True)])
                total = (total << length) + np.asarray(table @ signed).astype(object)
            total = total + last
            signs[part] = self.y[rows[part]].astype(np.int64) * ((total > 0).astype(np.int64) - (total < 0))
        return signs

    @cached_property
    def _words(self) -> Ints | None:
        """All z_i as machine words, each row up to a power of two; None if they are too long or too many."""
        if self.n * self.width > MAX_WORDS:
            return None
        words = as_words(*self._signed(np.arange(self.n)))
        return None if words is None else words[0]

    @cached_property
    def _bits(self) -> int:
        return 0 if self._words is None else int(np.abs(self._words).max()).bit_length()

    def _signed(self, rows: Ints, columns: Ints | None = None) -> tuple[Floats, Ints]:
        """Return z_i of some rows and columns as in the data, and the powers of two of the columns."""
        scale, y = self.scale, self.y[rows][:, None]
        if columns is None:
            dense = self.matrix.dense(rows)
        else:
            dense, scale = self.matrix.X[rows][:, columns].toarray().astype(np.float64), scale[columns]
        if self.bias:
            return y * np.hstack([dense, np.ones_like(y)]), np.append(scale, 0)
        return y * dense, scale

    def integer_rows(self, rows: Ints, *, only_used: bool = False) -> tuple[list[list[int]], list[int]]:
        """Return z_i of some rows as integers, and the power of two that each row is to be multiplied with.

        `only_used` leaves out the columns in which all these rows are 0. Raises `Unsettled` if there are too many
        integers to hold.
        """
        columns = None
        if only_used and self.sparse:
            used = np.unique(self.matrix.X[rows].indices)
            columns = used if len(used) else np.zeros(1, np.int64)
        width = self.width if columns is None else len(columns) + self.bias
        if len(rows) * width > MAX_INTEGERS:
            raise Unsettled(
                f"{len(rows):,} rows of {width:,} numbers are too many for exact arithmetic, and floats "
                "do not suffice. Use fewer rows or features."
            )
        integers, powers = as_integers(*self._signed(rows, columns))
        return integers, powers.tolist()

    def direction(self, w: Floats) -> tuple[Direction, Fraction] | None:
        """Return the direction of a normal vector in the columns of the data; None if it is 0 or not finite.

        Also return the factor from the vector to its direction; entries far below the largest are lost.
        """
        parts, powers = np.frexp(w)
        powers = np.where(w == 0.0, -(2**20), powers + self.scale)
        top = int(powers.max())
        with np.errstate(under="ignore"):
            values = np.ldexp(parts, np.maximum(powers - top, -2000))
        v = Direction.of_floats(values)
        return None if v is None else (v, shifted(1, -top - int(exponents(np.abs(values).max()))))

    def original(self, integers: Sequence[int], power: int = 0) -> list[Fraction]:
        """Return a normal vector, integers times a power of two, in the columns of the data."""
        powers = (power - self.scale).tolist()
        return list(map(shifted, integers[: self.d], powers))

    def vector(self, w: Sequence[Fraction], b: Fraction) -> list[int]:
        """Return a hyperplane of the data as integers up to a positive factor; any bias is the last."""
        powers = self.scale.tolist()
        if not self.bias:
            return times_powers(common(w)[0], powers)
        return times_powers(common([*w, b])[0], [*powers, 0])

    @cached_property
    def floats(self) -> tuple[Matrix, Ints]:
        """The rows in a range where floats can multiply them, and the powers of two still to divide by."""
        if np.abs(self.scale).max(initial=0) <= MAX_UNSCALED_POWER:
            return self.matrix, self.scale
        return Matrix(scaled_rows(self.features, -self.scale), bias=False), np.zeros_like(self.scale)

    def stored_integers(
        self, rows: Sequence[int] | Ints, scale: Ints
    ) -> list[tuple[Sequence[int], list[int], int]]:
        """Return for each row its stored columns, their integers, and the power of two of the row."""
        X = self.matrix.X
        if not self.sparse:
            table, powers = as_integers(np.asarray(X[rows], np.float64), scale)
            return [(range(self.d), row, power) for row, power in zip(table, powers.tolist(), strict=True)]
        found = []
        for i in rows:
            stored = slice(X.indptr[i], X.indptr[i + 1])
            columns, values = X.indices[stored], np.asarray(X.data[stored], np.float64)
            (row,), (power,) = as_integers(values[None, :], scale[columns])
            found.append((columns.tolist(), row, int(power)))
        return found


def _sign(value: Fraction | int) -> int:
    return (value > 0) - (value < 0)


def cover_probability(n: int, width: int) -> float:
    """Return the probability that n points in general position, labelled at random, are separable (Cover 1965).

    It is at most this for points in any other position.

    Parameters
    ----------
    n : int
        The number of points.
    width : int
        The number of weights: one for each feature, and one for the bias.

    Examples
    --------
    >>> cover_probability(4, 3), cover_probability(3, 3), round(cover_probability(20, 10), 9)
    (0.875, 1.0, 0.5)
    """
    from scipy.special import bdtr

    return 1.0 if n <= width else float(bdtr(width - 1, n - 1, 0.5))


def largest_values(features: Features) -> Floats:
    """Return the largest absolute value of each column."""
    X = features.rows
    if not isinstance(X, CSR):
        return np.asarray(np.maximum(X.max(axis=0), -X.min(axis=0)), np.float64)
    sizes = np.zeros(features.n_features)
    for part in value_slices(X):
        np.maximum.at(sizes, X.indices[part], np.abs(X.data[part]))
    return sizes
