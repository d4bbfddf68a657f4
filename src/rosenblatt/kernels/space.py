"""Tables that stand for points in the space of a kernel, so that hyperplanes there can be asked about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError
from rosenblatt.kernels.coordinates import coordinates
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.psd import COMPUTED
from rosenblatt.kernels.values import Kernel, Linear, Polynomial
from rosenblatt.typing import Floats

MOST_ROWS = 1000
"""Rows whose Gram matrix is factorised."""
NEAR = 4
"""How far dot products of coordinates may be from kernel values, in n · 2⁻⁵² of the largest."""
MOST_MONOMIALS = 1000
"""Columns up to which a polynomial kernel is written out in monomials."""


class Space(NamedTuple):
    """Points in the space of a kernel.

    Attributes
    ----------
    table : ndarray or sparse array, shape (n_rows, n_coordinates)
        Their coordinates.
    names : tuple of str
        What each coordinate is.
    """

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
    """Return coordinates of points, separable by a hyperplane if and only if they are so in the kernel's space.

    Parameters
    ----------
    kernel : Kernel
        k, with numbers for all it takes from data.
    points : Points
        The rows.
    names : sequence of str or None
        The names of their features; x1, x2, … if None.
    isometric : bool
        Whether lengths and angles must be the kernel's, too.
    constant : bool
        Whether hyperplanes must pass through the origin, so that a monomial of degree zero is of use.

    Returns
    -------
    Space
        Of a linear kernel the rows themselves. Of a polynomial one their monomials, without the factors that give
        them the kernel's lengths, because hyperplanes do not need these and √2 is no float: so each value is a
        product of features, rounded once for each multiplication, and exact where products are. Of any other
        kernel, and if it is to be isometric, `coordinates` of the Gram matrix.
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
    table = coordinates(K, ulps=COMPUTED)
    _require_near(table, K, kernel)
    return Space(table, tuple(f"z{j + 1}" for j in range(table.shape[1])))


def _require_near(table: Floats, K: Floats, kernel: Kernel) -> None:
    """Require the dot products that were asked for: values that cancelled may be those of no points at all."""
    unit = len(K) * np.finfo(np.float64).eps * float(np.abs(K).max())
    off = float(np.abs(table @ table.T - K).max())
    if off > NEAR * unit:
        raise InputError(
            f"Values of {kernel!r} between these rows are rounded so coarsely that no points have them: those "
            f"nearest are off by {off:.2g}. Centre and scale the features."
        )


def _monomials(points: Points, degrees: range, names: list[str]) -> Space:
    rows = points.native if isinstance(points.rows, np.ndarray) else points.native.toarray()
    X = np.asarray(rows, np.float64)
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
