"""The geometry of a hyperplane D = {x : <w, x> + b = 0}: distances, projections, margins, and a criterion.

Every function takes one row (1-D) and returns one value, or takes many rows (2-D, dense or sparse) and returns one
value for each; the criterion is their sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.exceptions import DataTypeError, LabelError, NonFiniteError, ParameterError, ShapeError
from rosenblatt.typing import ColumnLike, Floats

BLOCK_VALUES = 1 << 18  # values summed together

__all__ = [
    "Criterion",
    "decision",
    "functional_margin",
    "geometric_margin",
    "normalise",
    "perceptron_criterion",
    "project",
    "signed_distance",
]

Rows: TypeAlias = Any
"""One row or many: an array-like or a scipy sparse array."""


def decision(X: Rows, w: ArrayLike, b: float = 0.0) -> Floats:
    """Return f(x) = <w, x> + b.

    Parameters
    ----------
    X : array of shape (d,) or (n, d), or sparse array
        One row, or many.
    w : array of shape (d,)
        The normal vector; it may be zero here.
    b : float
        The bias.

    Examples
    --------
    >>> decision([[1, 1], [0, 0]], [3, 4], -2)
    array([ 5., -2.])
    """
    X, w, b = _rows(X), _vector(w), _number(b)
    if X.shape[-1] != w.size:
        raise ShapeError(f"X has {X.shape[-1]} features but w has {w.size} entries: they must agree")
    return np.asarray(X @ w + b, dtype=np.float64)[()]


def signed_distance(X: Rows, w: ArrayLike, b: float = 0.0) -> Floats:
    """Return r = f(x)/‖w‖, the distance from D, positive on the side that w points to.

    Examples
    --------
    >>> signed_distance([[1, 1], [0, 0]], [3, 4], -2)
    array([ 1. , -0.4])
    """
    w, b, norm = _scaled(w, b)
    return decision(X, w, b) / norm


def project(X: Rows, w: ArrayLike, b: float = 0.0) -> Floats:
    """Return the point of D nearest to x, which is x − r·w/‖w‖.

    Examples
    --------
    >>> project([1, 1], [3, 4], -2)
    array([0.4, 0.2])
    """
    if _is_sparse(X):
        raise DataTypeError("X is sparse, but its projection would not be: pass X.toarray() if it fits in memory")
    X, (w, b, norm) = _rows(X), _scaled(w, b)
    projected: Floats = X - np.multiply.outer(decision(X, w, b) / norm, w / norm)
    return projected


def functional_margin(X: Rows, y: ColumnLike, w: ArrayLike, b: float = 0.0) -> Floats:
    """Return y·f(x), positive if x is classified correctly. The margin of a set is the minimum.

    Parameters
    ----------
    y : −1 or +1, or an array of them of shape (n,)
        One label for each row.
    X, w, b
        As for `decision`.

    Examples
    --------
    >>> functional_margin([[1, 1], [0, 0]], [1, -1], [3, 4], -2)
    array([5., 2.])
    """
    f = decision(X, w, b)
    return np.asarray(_signs(y, np.shape(f)) * f)[()]


def geometric_margin(X: Rows, y: ColumnLike, w: ArrayLike, b: float = 0.0) -> Floats:
    """Return y·r, the functional margin of the normalised hyperplane. The margin of a set is the minimum.

    Examples
    --------
    >>> geometric_margin([[1, 1], [0, 0]], [1, -1], [3, 4], -2)
    array([1. , 0.4])
    """
    w, b, norm = _scaled(w, b)
    return functional_margin(X, y, w, b) / norm


def normalise(w: ArrayLike, b: float = 0.0) -> tuple[Floats, float]:
    """Return (w/‖w‖, b/‖w‖), the same hyperplane with a unit normal.

    Examples
    --------
    >>> normalise([3, 4], -2)
    (array([0.6, 0.8]), -0.4)
    """
    w, b, norm = _scaled(w, b)
    return w / norm, b / norm


class Criterion(NamedTuple):
    """The perceptron criterion, and its subgradient in w and b.

    Examples
    --------
    >>> perceptron_criterion([[1, 1], [0, 0]], [-1, 1], [3, 4], 0).value
    7.0
    """

    value: float
    w: Floats
    b: float


def perceptron_criterion(X: Rows, y: ColumnLike, w: ArrayLike, b: float = 0.0) -> Criterion:
    """Return Σ max(0, −y f(x)), the loss that the perceptron descends, and a subgradient.

    The sum of −y x over the rows with y f(x) ≤ 0 is the subgradient in w, and that of −y the one in b. At y f(x) =
    0 every multiple of −y x from 0 to 1 is a subgradient; this is 1, as for the perceptron, to which a tie is a
    mistake. So a step of 1 against the term of one row is the perceptron's update, and a step against the sum is
    one of batch gradient descent: see ``SoftMarginClassifier(solver="batch")``. Divide by the number of rows for
    the mean.

    Parameters
    ----------
    X, y, w, b
        As for `functional_margin`; w may be zero.

    Examples
    --------
    >>> perceptron_criterion([[1, 1], [0, 2]], [-1, -1], [3, 4], -2)
    Criterion(value=11.0, w=array([1., 3.]), b=2.0)
    """
    z = functional_margin(X, y, w, b)
    pull = np.atleast_1d(np.where(z <= 0.0, -_signs(y, np.shape(z)), 0.0))
    sums = pull @ _rows(X) if _is_sparse(X) else _sum_in_order(pull, np.atleast_2d(_rows(X)))
    return Criterion(float(np.maximum(0.0, -z).sum()), np.asarray(sums, np.float64), float(pull.sum()))


def _sum_in_order(pull: Floats, rows: Floats) -> Floats:
    """Return Σ pull_i x_i, one row after the other, as sparse rows are summed: the bits are the same."""
    total, used = np.zeros(rows.shape[1]), np.flatnonzero(pull)
    step = max(1, BLOCK_VALUES // rows.shape[1])
    for start in range(0, len(used), step):
        part = used[start : start + step]
        total = np.cumsum(np.vstack([total, pull[part, None] * rows[part]]), axis=0)[-1]
    return total


def _scaled(w: ArrayLike, b: float) -> tuple[Floats, float, float]:
    """Return w and b, scaled so that the largest entry of w lies between ½ and 1, and ‖w‖ after that.

    The scale is a power of two, hence exact: f keeps its sign and its zeros, and no square overflows or
    underflows.
    """
    w = _vector(w)
    largest = float(np.max(np.abs(w), initial=0.0))
    if largest == 0:
        raise ParameterError(
            "w is zero, so there is no hyperplane: no distance or margin is defined", parameter="w"
        )
    exponent = -int(np.frexp(largest)[1])
    w = np.ldexp(w, exponent)
    return w, float(np.ldexp(_number(b), exponent)), float(np.sqrt(w @ w))


def _is_sparse(X: Rows) -> bool:
    return hasattr(X, "tocsr")  # without importing scipy


def _rows(X: Rows) -> Any:
    if not _is_sparse(X):
        X = np.asarray(X, dtype=np.float64)
    if X.ndim not in (1, 2):
        raise ShapeError(f"X has {X.ndim} dimensions: pass one row (1) or many (2)")
    if not _is_sparse(X):
        _require_finite(X, "X")
    elif not np.isfinite(X.tocsr().data).all():
        raise NonFiniteError("X contains NaN or infinity: impute such values or drop their rows")
    return X


def _require_finite(values: Floats, name: str) -> None:
    if not np.isfinite(values).all():
        at = [int(i) for i in np.argwhere(~np.isfinite(values))[0]]
        place = f"[{', '.join(map(str, at))}]" if at else ""
        way = "impute missing values or drop their rows" if name == "X" else "pass finite numbers"
        raise NonFiniteError(f"{name}{place} is {values[tuple(at)]}, so no distance or margin is defined: {way}")


def _vector(w: ArrayLike) -> Floats:
    vector = np.asarray(w, dtype=np.float64)
    if vector.ndim != 1:
        raise ShapeError(f"w has shape {vector.shape}, but must be one vector: pass coef_[0] of a fitted model")
    _require_finite(vector, "w")
    return vector


def _number(b: Any) -> float:
    number = np.asarray(b, dtype=np.float64)
    if number.size != 1:
        raise ShapeError(f"b has shape {number.shape}, but must be one number: pass intercept_[0] of a model")
    _require_finite(number.reshape(()), "b")
    return float(number.reshape(()))


def _signs(y: ColumnLike, shape: tuple[int, ...]) -> Floats:
    labels = np.asarray(y)
    if labels.shape != shape:
        rows = f"{shape[0]} rows" if shape else "one row"
        raise ShapeError(f"y has shape {labels.shape}, but X has {rows}: give one label for each row")
    wrong = ~np.isin(labels, (-1, 1))
    if np.any(wrong):
        found = np.atleast_1d(labels)[np.atleast_1d(wrong)].tolist()[0]
        way = "np.where(y == positive, 1, -1)"
        raise LabelError(f"y must be -1 or +1, but contains {found!r}: encode it first, as in {way}")
    return labels.astype(np.float64)
