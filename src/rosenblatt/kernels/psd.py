"""Whether a function is a kernel: its matrices must be symmetric and positive semidefinite (Mercer 1909)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, lcm
from typing import Any, Literal, TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat

from rosenblatt.exceptions import DataTypeError, NonFiniteError, ShapeError
from rosenblatt.parameters import check_number
from rosenblatt.typing import Floats

# Quadratic forms cᵀKc of float matrices, in exact rationals; K need not be symmetric.


def quadratic_form(K: Floats, c: Sequence[int]) -> Fraction:
    """Return cᵀKc.

    Examples
    --------
    >>> quadratic_form(np.array([[1.0, 2.0], [2.0, 1.0]]), [1, -1])
    Fraction(-2, 1)
    """
    used = [i for i, each in enumerate(c) if each]
    total = fmpq(0)
    for i in used:
        total += sum((_entry(K, i, j) * c[j] for j in used), fmpq(0)) * c[i]
    return Fraction(int(total.p), int(total.q))


def rounding_of_form(K: Floats, c: Sequence[int], ulps: Fraction) -> Fraction:
    """Return the error of cᵀKc if each entry is off by up to `ulps` ulps: ulps · Σ |c_i| |c_j| ulp(K_ij)."""
    return ulps * quadratic_form(np.spacing(np.abs(K)), [abs(each) for each in c])


def negative_direction(K: Floats) -> list[int] | None:
    """Return integers c with cᵀKc < 0 for a symmetric K, or None if K is positive semidefinite.

    Rows are eliminated one after the other (K = L D Lᵀ). The first negative pivot, or a zero pivot with a non-zero
    entry in its row, gives such a c. The work grows with the cube of the size and with the length of the numbers.

    Examples
    --------
    >>> negative_direction(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
    True
    >>> negative_direction(np.array([[1.0, 2.0], [2.0, 1.0]]))
    [-2, 1]
    """
    n = len(K)
    A = [[_entry(K, i, j) for j in range(n)] for i in range(n)]
    eliminated: list[int] = []
    for p in range(n):
        pivot = A[p][p]
        if pivot < 0:
            return _lifted(K, eliminated, {p: fmpq(1)})
        if pivot == 0:
            other = next((j for j in range(p + 1, n) if A[p][j] != 0), None)
            if other is not None:
                # On (t, 1) the form is 2 t A_pj + A_jj: negative for this t.
                t = -(A[other][other] + 1) / (2 * A[p][other])
                return _lifted(K, eliminated, {p: t, other: fmpq(1)})
            continue
        for i in range(p + 1, n):
            if A[i][p] != 0:
                factor = A[i][p] / pivot
                for j in range(i, n):
                    A[i][j] -= factor * A[p][j]
                    A[j][i] = A[i][j]
        eliminated.append(p)
    return None


def _entry(K: Floats, i: int, j: int) -> Any:
    return fmpq(*K[i, j].as_integer_ratio())


def _lifted(K: Floats, eliminated: list[int], c: dict[int, Any]) -> list[int]:
    """Extend `c` to the eliminated rows so that the form keeps its value: their part x solves K_ee x = −K_ec c."""
    x = dict(c)
    if eliminated:
        size = len(eliminated)
        matrix = fmpq_mat(size, size, [_entry(K, i, j) for i in eliminated for j in eliminated])
        right = [-sum((_entry(K, i, j) * value for j, value in c.items()), fmpq(0)) for i in eliminated]
        found = matrix.solve(fmpq_mat(size, 1, right))
        x |= {i: found[k, 0] for k, i in enumerate(eliminated)}
    denominator = lcm(*(int(value.q) for value in x.values()))
    return [int(x[i].p) * (denominator // int(x[i].q)) if i in x else 0 for i in range(len(K))]


Verdict: TypeAlias = Literal["yes", "no", "undecided"]

MAX_EXACT_ROWS = 24  # rows up to which the answer is found in rationals
MAX_SEARCHED_ROWS = 300  # rows up to which a witness is searched for before Cholesky's method
MAX_WITNESS_COORDINATES = 400  # the most coordinates of a witness, whose form is summed exactly
LARGEST_COORDINATE = 2**20  # the largest coordinate of a witness
UNIT = 2.0**-53
COMPUTED_ULPS = 2.0**16
"""The error allowed in computed entries, in units in the last place: functions may sum and cancel."""


@dataclass(frozen=True)
class Semidefinite:
    """Whether a matrix is positive semidefinite, with the reason.

    Attributes
    ----------
    verdict : {"yes", "no", "undecided"}
        "yes": no eigenvalue lies below −`bound`. "no": see `witness`, or `pair`. "undecided": see `reason`.
    bound : float or None
        With "yes"; 0 if it was found in rationals.
    witness : tuple of int or None
        With "no": a vector c with cᵀKc = `form` < 0 by more than `rounding`; both are exact.
    form, rounding : Fraction or None
        cᵀKc, and how far rounding of the entries can move it: ``Σ |c_i| |c_j| · ulps · ulp(K_ij)``.
    pair : tuple of int or None
        With "no" for an asymmetric matrix: the entry that differs most from its transpose.
    reason : str
        The reason in words.

    Examples
    --------
    >>> from rosenblatt.kernels import is_psd
    >>> is_psd([[1.0, 2.0], [2.0, 1.0]]).verdict
    'no'
    """

    verdict: Verdict
    bound: float | None = None
    witness: tuple[int, ...] | None = field(default=None, repr=False)
    form: Fraction | None = field(default=None, repr=False)
    rounding: Fraction | None = field(default=None, repr=False)
    pair: tuple[int, int] | None = None
    reason: str = ""


def is_psd(K: Any, *, ulps: float = 0.5) -> Semidefinite:
    """Decide whether K is a matrix of kernel values: symmetric and positive semidefinite.

    Parameters
    ----------
    K : array-like, shape (n, n)
        The matrix, whose entries may be rounded.
    ulps : float
        The error allowed in each entry, in units in its last place. Half a unit means rounded once.

    Returns
    -------
    Semidefinite
        "no" comes with a witness whose exact form is below zero by more than that rounding could cause; "yes" with
        a bound on how far below zero an eigenvalue can lie.

    Notes
    -----
    Up to 24 rows are eliminated in rationals, and "yes" then is exact. Otherwise "yes" is by Cholesky's method on
    K + sI. If it succeeds in floats, some K + sI + E is positive semidefinite with ``|E_ij| ≤ g sqrt(a_ii a_jj)``.
    Here a is the shifted diagonal, g = γ/(1 − γ) and γ = (n + 2) u / (1 − (n + 2) u). So no eigenvalue of K lies
    below −(s + g Σ a_ii). This holds in any order of summation.

    Examples
    --------
    >>> is_psd([[1.0, 0.5], [0.5, 1.0]]).verdict
    'yes'
    >>> found = is_psd([[1.0, 2.0], [2.0, 1.0]])
    >>> found.verdict, found.witness, found.form
    ('no', (-2, 1), Fraction(-3, 1))
    """
    matrix = as_square(K)
    check_number("ulps", ulps, least=0)
    asymmetric = _asymmetry(matrix, ulps)
    if asymmetric is not None:
        return asymmetric
    matrix = np.maximum(matrix, matrix.T)  # the two differ by no more than the error allowed
    exactly = Fraction(ulps)
    n = len(matrix)
    if n <= MAX_EXACT_ROWS:
        found = _in_rationals(matrix, exactly)
    elif n <= MAX_SEARCHED_ROWS:
        found = _refuted(matrix, exactly)
    else:
        found = None
    if found is not None:
        return found
    found = _by_cholesky(matrix)
    if found is None and n > MAX_SEARCHED_ROWS:
        found = _refuted(matrix, exactly)
    return found or Semidefinite(
        "undecided",
        reason="An eigenvalue may lie below zero, but by no more than rounding of the entries could cause.",
    )


def as_square(K: Any) -> Floats:
    """Return a square matrix of finite numbers as an array."""
    try:
        matrix = np.asarray(K.toarray() if hasattr(K, "toarray") else K, np.float64)
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"K must be a matrix of real numbers: {error}.") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ShapeError(f"K must be a square matrix; its shape is {matrix.shape}.")
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise NonFiniteError(f"K[{i}, {j}] is {matrix[i, j]}; every entry must be finite.")
    return matrix


def _asymmetry(K: Floats, ulps: float) -> Semidefinite | None:
    """Return "no" if an entry differs from its transpose by more than the error allowed."""
    with np.errstate(over="ignore"):
        excess = np.abs(K - K.T) - ulps * (np.spacing(np.abs(K)) + np.spacing(np.abs(K.T)))
    i, j = np.unravel_index(int(np.argmax(excess)), K.shape)
    # The subtraction is exact for numbers near each other, and rounding does not matter for others.
    if not excess[i, j] > 0.0:
        return None
    pair = (int(min(i, j)), int(max(i, j)))
    return Semidefinite(
        "no",
        pair=pair,
        reason=f"It is not symmetric: K[{pair[0]}, {pair[1]}] is {float(K[pair])!r} and K[{pair[1]}, {pair[0]}] "
        f"is {float(K[pair[::-1]])!r}.",
    )


def _in_rationals(K: Floats, ulps: Fraction) -> Semidefinite | None:

    c = negative_direction(K)
    if c is None:
        return Semidefinite("yes", bound=0.0, reason="Eliminated exactly, it has no pivot below zero.")
    return _checked(K, c, ulps) or _refuted(K, ulps)


def _refuted(K: Floats, ulps: Fraction) -> Semidefinite | None:
    """Return "no" with a witness: a negative diagonal entry, or an eigenvector."""
    diagonal = np.diag(K)
    lowest = int(np.argmin(diagonal))
    if diagonal[lowest] < 0.0:
        return _checked(K, [int(i == lowest) for i in range(len(K))], ulps)
    from scipy.linalg import eigh

    rows = np.arange(len(K))
    values, vectors = eigh(K, subset_by_index=[0, 0])
    if not values[0] < 0.0:
        return None
    v = vectors[:, 0]
    if len(K) > MAX_WITNESS_COORDINATES:  # the coordinates that matter most, and the least eigenvector on these
        rows = np.sort(np.argsort(-np.abs(v))[:MAX_WITNESS_COORDINATES])
        v = eigh(K[np.ix_(rows, rows)], subset_by_index=[0, 0])[1][:, 0]
    c = np.zeros(len(K), np.int64)
    c[rows] = np.rint(LARGEST_COORDINATE * v / np.abs(v).max())
    return _checked(K, c.tolist(), ulps)


def _checked(K: Floats, c: list[int], ulps: Fraction) -> Semidefinite | None:
    """Return "no" if c is a witness beyond what rounding could cause."""
    form, rounding = quadratic_form(K, c), rounding_of_form(K, c, ulps)
    if form >= -rounding:
        return None
    rows = [i for i, each in enumerate(c) if each]
    named = ", ".join(map(str, rows[:6])) + (", …" if len(rows) > 6 else "")
    norm = float(sum(Fraction(each) ** 2 for each in c))
    return Semidefinite(
        "no",
        witness=tuple(c),
        form=form,
        rounding=rounding,
        reason=f"On rows {named} there is a vector c with cᵀKc / cᵀc = {float(form) / norm:.3g}, below zero by "
        "more than rounding of the entries could cause.",
    )


def _by_cholesky(K: Floats) -> Semidefinite | None:
    from scipy.linalg import LinAlgError, cholesky

    n, diagonal = len(K), np.diag(K)
    if diagonal.min() < 0.0:
        return None
    gamma = (n + 2) * UNIT / (1.0 - (n + 2) * UNIT)
    g = gamma / (1.0 - gamma)
    trace = float(diagonal.sum())
    shift = 4.0 * g * trace
    shifted = K + shift * np.eye(n)
    try:
        cholesky(shifted, lower=True, check_finite=False)
    except LinAlgError:
        return None
    # Twice the sums, for their own rounding and that of the shifted diagonal, and for underflow.
    bound = 2.0 * (shift + (g + UNIT) * float(np.diag(shifted).sum())) + n * n * 1e-300
    if not bound < inf:
        return None
    return Semidefinite("yes", bound=bound, reason=f"No eigenvalue lies below −{bound:.3g}.")
