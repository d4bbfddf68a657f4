"""Points in the space of a kernel as tables of coordinates, so that hyperplanes there can be certified."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.psd import COMPUTED_ULPS, as_square, is_psd
from rosenblatt.kernels.values import Kernel, Linear, Polynomial
from rosenblatt.typing import Floats

MOST_ROWS = 1000
"""Rows up to which a Gram matrix is factorised."""
MAX_ROUNDINGS_OFF = 4
"""How far dot products of coordinates may be from kernel values, in n · 2⁻⁵² of the largest."""
MOST_MONOMIALS = 1000
"""Columns up to which a polynomial kernel is written out in monomials."""


def coordinates(K: Any, *, ulps: float = 0.5) -> Floats:
    """Return rows whose dot products are K, up to rounding.

    The points lie in a space of as many dimensions as the rank of K, so that ``certify(coordinates(K), y)``
    decides whether the data is separable in feature space. It proves its answer for the floats returned here.
    Their dot products differ from K by less than 4n · 2⁻⁵² of the largest entry if K is positive semidefinite, and
    by more if rounding made K slightly indefinite. A verdict that this could change, such as "inseparable" for
    points that the kernel hardly distinguishes, is about the floats, not the kernel.

    Parameters
    ----------
    K : array-like, shape (n, n)
        Symmetric and positive semidefinite.
    ulps : float
        The error allowed in each entry, as in `is_psd`.

    Returns
    -------
    ndarray, shape (n, rank)
        By Cholesky's method, the largest pivot first, until only rounding is left.

    Examples
    --------
    >>> from rosenblatt.kernels import Polynomial
    >>> K = Polynomial(2, 1)([[0, 0], [1, 0], [0, 1], [1, 1]])
    >>> X = coordinates(K)
    >>> X.shape, bool(np.allclose(X @ X.T, K))
    ((4, 4), True)
    """
    matrix = as_square(K)
    found = is_psd(matrix, ulps=ulps)
    if found.verdict == "no":
        raise InputError(f"K is not a matrix of kernel values, so no points belong to it. {found.reason}")
    n = len(matrix)
    left = np.diag(matrix).copy()
    noise = n * np.finfo(np.float64).eps * max(float(left.max()), 0.0)
    columns: list[Floats] = []
    while len(columns) < n:
        p = int(np.argmax(left))
        if not left[p] > noise:
            break
        column = matrix[:, p] - sum((each * each[p] for each in columns), np.zeros(n))
        column /= np.sqrt(left[p])
        left -= column * column
        left[p] = 0.0
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.zeros((n, 1))


class Space(NamedTuple):
    """The coordinates of points in the space of a kernel, shape (n_rows, n_coordinates), and their names."""

    table: Any
    names: tuple[str, ...]


def space_of(
    kernel: Kernel,
    points: Points,
    names: Sequence[str] | None = None,
    *,
    isometric: bool = False,
    constant: bool = False,
) -> Space:
    """Return coordinates that are separable by a hyperplane if and only if the points are in the kernel's space.

    For a linear kernel they are the rows. For a polynomial kernel they are the monomials, without the factors that
    give them the kernel's lengths, because hyperplanes do not need those and √2 is no float. So each value is a
    product of features, rounded once for each multiplication. For any other kernel, and if `isometric`, they are
    the `coordinates` of the Gram matrix. With `isometric`, lengths and angles
    must be those of the kernel; with `constant`, hyperplanes must pass through the origin, so that a monomial of
    degree zero is needed.
    """
    known = [f"x{j + 1}" for j in range(points.n_features)] if names is None else list(names)
    if isinstance(kernel, Linear):
        return Space(points.native, tuple(known))
    if isinstance(kernel, Polynomial) and not isometric:
        lowest = kernel.degree if not kernel.c else int(not constant)
        degrees = range(lowest, kernel.degree + 1)
        count = sum(math.comb(points.n_features + k - 1, k) for k in degrees)
        if count <= MOST_MONOMIALS:
            return _monomials(points, degrees, known)
    if points.n_rows > MOST_ROWS:
        raise ShapeError(
            f"X has {points.n_rows:,} rows, but in the space of {kernel!r} points are found from the matrix of "
            f"all pairs, which is factorised for at most {MOST_ROWS:,} rows. Pass fewer rows."
        )
    numbered = replace(points, ids=np.arange(points.n_rows)) if points.ids is None else points
    K = kernel.gram(numbered, numbered)
    table = coordinates(K, ulps=COMPUTED_ULPS)
    _require_near(table, K, kernel)
    return Space(table, tuple(f"z{j + 1}" for j in range(table.shape[1])))


def _require_near(table: Floats, K: Floats, kernel: Kernel) -> None:
    """Require the dot products of the table to be K: rounded kernel values may belong to no points at all."""
    unit = len(K) * np.finfo(np.float64).eps * float(np.abs(K).max())
    off = float(np.abs(table @ table.T - K).max())
    if off > MAX_ROUNDINGS_OFF * unit:
        raise InputError(
            f"Values of {kernel!r} between these rows are rounded so coarsely that no points have them: the "
            f"nearest points are off by {off:.2g}. Centre and scale the features."
        )


def _monomials(points: Points, degrees: range, names: list[str]) -> Space:
    X = np.asarray(points.dense, np.float64)
    chosen = [each for k in degrees for each in combinations_with_replacement(range(points.n_features), k)]
    table = np.empty((points.n_rows, len(chosen)))
    labels = tuple(_label(each, names) for each in chosen)
    with np.errstate(over="ignore"):
        for column, variables in enumerate(chosen):
            table[:, column] = _product(X, variables)
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0].tolist()
        raise NonFiniteError(f"{labels[column]} of row {row} exceeds the largest float64. Scale the features.")
    return Space(table, labels)


def _product(X: Floats, variables: tuple[int, ...]) -> Floats:
    value = np.ones(len(X))
    for j in variables:
        value *= X[:, j]
    return value


def _label(variables: tuple[int, ...], names: list[str]) -> str:
    powers = {j: variables.count(j) for j in variables}
    return "·".join(names[j] if power == 1 else f"{names[j]}^{power}" for j, power in powers.items()) or "1"
