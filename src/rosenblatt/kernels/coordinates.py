"""Coordinates of points in the space of a kernel, from their Gram matrix alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.exceptions import InputError
from rosenblatt.kernels.psd import as_square, is_psd
from rosenblatt.typing import Floats


def coordinates(K: Any, *, ulps: float = 0.5) -> Floats:
    """Return rows whose dot products are K, up to rounding.

    The points lie in a space of as many dimensions as K has rank, so that what holds of lines and planes can be
    asked of them: is the data separable in feature space? ``certify(coordinates(K), y)`` proves its answer for the
    floats returned here. Their dot products differ from K by rounding, less than 4n · 2⁻⁵² of the largest entry if
    K is positive semidefinite as it stands, and by more if its own rounding left it less than that: a
    verdict that this could turn is one about the floats, not about the kernel. An "inseparable" of points that the
    kernel tells apart by less than that is of this kind.

    Parameters
    ----------
    K : array-like, shape (n, n)
        Symmetric and positive semidefinite.
    ulps : float
        How far each entry may be off, as in `is_psd`, which refuses what is no matrix of kernel values.

    Returns
    -------
    ndarray, shape (n, rank)
        By Cholesky's method, the largest pivot first, until what is left is rounding.

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
        raise InputError(f"K is no matrix of kernel values, so there are no such points. {found.reason}")
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
