"""Kernels as values: k(x, x'), computed for many pairs at once.

Kernel rows, of which the latest are kept in bounded memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from rosenblatt.exceptions import DataTypeError, Given, NonFiniteError, ParameterError, ShapeError
from rosenblatt.kernels.points import Points, as_points, distances, products, require_same_width
from rosenblatt.loops.layout import CSR
from rosenblatt.parameters import check_count, check_number, is_kind
from rosenblatt.typing import Floats, MatrixLike

BLOCK_VALUES = 1 << 16
SAFE_SQUARE_POWER = 400  # values from 2**-400 to 2**400 have squares within the range of floats
SMALLEST_NORMAL_FLOAT = float(np.finfo(float).tiny)
CONSTANT_VARIANCE_SHARE = 1e-14  # of the mean square: less variance than this is rounding


class Kernel(ABC):
    """A symmetric, positive semidefinite function k(x, x') of two points.

    Called with one or two tables, it returns the matrix of all pairs.

    Examples
    --------
    >>> from rosenblatt.kernels import Kernel, Linear
    >>> isinstance(Linear(), Kernel), Linear()([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    (True, [[11.0]])
    """

    known: ClassVar[bool] = True
    """Whether a theorem says that the kernel is positive semidefinite, so that data need not be checked."""
    streams: ClassVar[bool] = True
    """Whether it can compare new points, which a precomputed matrix cannot."""

    @abstractmethod
    def gram(self, A: Points, B: Points, out: Floats | None = None) -> Floats:
        """Return k(a, b) for each row a of A and b of B, of one width and layout; written to `out` if given."""

    def diagonal(self, A: Points) -> Floats:
        """Return k(a, a) for each row."""
        return np.array([float(self.gram(A.row(i), A.row(i))[0, 0]) for i in range(A.n_rows)])

    def prepare(self, A: Points) -> None:  # noqa: B027  there may be nothing to prepare
        """Compute once what each part of these rows would otherwise compute again."""

    def resolve(self, A: Points) -> Self:
        """Return the same kernel with parameters that depend on data computed from the training rows."""
        return self

    @property
    def resolved(self) -> bool:
        """Whether no parameter depends on data."""
        return True

    def __call__(self, X: MatrixLike, Y: Any = None) -> Floats:
        """Return the matrix of k(x, y) for each row x of X and y of Y, by default of X."""
        A = as_points(X)
        B = A if Y is None else as_points(Y, "Y").like(A)
        require_same_width(A, B)
        return self.resolve(A).gram(A, B)


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, x') = <x, x'>.

    Examples
    --------
    >>> Linear()([[1, 2], [3, 4]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    def gram(self, A: Points, B: Points, out: Floats | None = None) -> Floats:
        """Return the products."""
        return products(A, B, out)

    def diagonal(self, A: Points) -> Floats:
        """Return the squared norms."""
        return A.squares.copy()


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, x') = (<x, x'> + c)^degree: the dot product of all monomials up to a degree.

    Parameters
    ----------
    degree : int
        At least 1. Powers are repeated products, exact if those are.
    c : float
        At least 0, or k would not be positive semidefinite; 0 keeps only the monomials of that degree.

    Examples
    --------
    >>> Polynomial(2, 1)([[1, 2], [3, 4]])
    array([[ 36., 144.],
           [144., 676.]])
    """

    degree: int = 2
    c: float = 1.0

    def __post_init__(self) -> None:
        check_count("degree", self.degree)
        check_number("c", self.c, least=0)

    def gram(self, A: Points, B: Points, out: Floats | None = None) -> Floats:
        """Return the powers of the products."""
        return self._power(products(A, B, out))

    def diagonal(self, A: Points) -> Floats:
        """Return the powers of the squared norms."""
        return self._power(A.squares.copy())

    def _power(self, base: Floats) -> Floats:
        base += self.c
        factor = base.copy() if self.degree > 1 else base
        with np.errstate(over="ignore"):  # the scores show what is not finite
            for _ in range(self.degree - 1):
                base *= factor
        return base


@dataclass(frozen=True)
class _Scaled(Kernel):
    gamma: Any = "scale"

    def __post_init__(self) -> None:
        if isinstance(self.gamma, str) and self.gamma in ("scale", "auto"):
            return
        if not is_kind(self.gamma, Real) or not 0 < self.gamma < np.inf:
            raise ParameterError(
                Given("gamma", self.gamma) + " must be a finite number above 0, 'scale' or 'auto'."
            )

    def resolve(self, A: Points) -> Self:
        """Return the kernel with γ as a number."""
        return self if self.resolved else replace(self, gamma=_resolved_gamma(self.gamma, A))

    @property
    def resolved(self) -> bool:
        """Whether γ is a number."""
        return not isinstance(self.gamma, str)

    def diagonal(self, A: Points) -> Floats:
        """Return ones: a point is at no distance from itself."""
        return np.ones(A.n_rows)


def _resolved_gamma(gamma: str, A: Points) -> float:
    """Return 1 / n_features ("auto") or 1 / (n_features · variance of all values) ("scale"; 1 if that is zero).

    The variance is the mean of squares minus the square of the mean. Both sums are exact where those of training
    are, so that dense and sparse rows then have the same γ to the bit.
    """
    if gamma == "auto":
        return 1.0 / A.n_features
    values = A.rows.data if isinstance(A.rows, CSR) else A.rows.reshape(-1)
    largest = float(np.abs(values).max(initial=0.0))
    # A power of two changes no digit of the variance, and keeps squares within the range of floats.
    power = int(np.frexp(largest)[1])
    power = power if abs(power) > SAFE_SQUARE_POWER else 0
    total = squares = 0.0
    for first in range(0, len(values), BLOCK_VALUES):
        block = np.ldexp(values[first : first + BLOCK_VALUES].astype(np.float64), -power)
        total += float(block.sum())
        squares += float(np.square(block).sum())
    count = A.n_rows * A.n_features
    mean = total / count
    variance = squares / count - mean * mean
    if not variance > CONSTANT_VARIANCE_SHARE * squares / count:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        found = float(np.ldexp(1.0 / (A.n_features * variance), -2 * power))
    if not SMALLEST_NORMAL_FLOAT <= found < np.inf:
        beyond = "above the largest" if power < 0 else "below the smallest"
        raise ParameterError(
            Given("gamma", "scale")
            + f" is 1 / (n_features · variance of X), which is {beyond} float: the largest value is "
            f"{largest:.1g}. Scale the features to about 1, for example with StandardScaler."
        )
    return found


@dataclass(frozen=True)
class RBF(_Scaled):
    """k(x, x') = exp(−γ ‖x − x'‖²).

    The squared distance is ‖x‖² + ‖x'‖² − 2 <x, x'>, so that many pairs cost one matrix product. This loses digits
    for points that are far from the origin and close to each other. A negative result becomes zero, and the
    distance of a point from itself is exactly zero.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        γ > 0; "scale" is 1 / (n_features · variance of all values of X) and "auto" is 1 / n_features, as in
        scikit-learn, of the training data.

    Examples
    --------
    >>> RBF(0.5)([[0, 0], [1, 1]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def gram(self, A: Points, B: Points, out: Floats | None = None) -> Floats:
        """Return the exponentials of squared distances."""
        from rosenblatt.kernels.dual_loop import exponentials, gaussian_exponents

        values = products(A, B, out)
        gaussian_exponents(A.squares, B.squares, float(self.gamma), values)
        exponentials(values)
        return values

    def prepare(self, A: Points) -> None:
        """Compute the squared norms."""
        _ = A.squares


@dataclass(frozen=True)
class Laplacian(_Scaled):
    """``k(x, x') = exp(−γ Σ |x_j − x'_j|)``.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        As for `RBF`.

    Examples
    --------
    >>> Laplacian(0.5)([[0, 0], [1, 1]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def gram(self, A: Points, B: Points, out: Floats | None = None) -> Floats:
        """Return the exponentials of distances."""
        from rosenblatt.kernels.dual_loop import exponentials

        values = distances(A, B, out)
        values *= -float(self.gamma)
        exponentials(values)
        return values


@dataclass(frozen=True)
class Function(Kernel):
    """A kernel given as a function of two tables that returns the matrix of all pairs.

    This is the convention of scikit-learn's ``SVC`` and of ``sklearn.metrics.pairwise``. For a function of two
    single points see `Pairwise`.

    Examples
    --------
    >>> from rosenblatt.kernels import Function
    >>> Function(lambda A, B: (A @ B.T) ** 2)([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[121.0]]
    """

    function: Callable[[Any, Any], Any]

    known: ClassVar[bool] = False

    def gram(self, A: Points, B: Points, out: Floats | None = None) -> Floats:
        """Call the function and check its result."""
        answer = self.function(A.native, B.native)
        try:
            values = np.array(answer.toarray() if hasattr(answer, "toarray") else answer, np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise DataTypeError(
                f"kernel={self._name} did not return a matrix of numbers for two tables of points: {error}. "
                "A function of two single points goes into kernels.Pairwise."
            ) from error
        if values.shape != (A.n_rows, B.n_rows):
            raise ShapeError(
                f"kernel={self._name} returned shape {values.shape} for {A.n_rows} and {B.n_rows} points; it must "
                "return one number for each pair. A function of two single points goes into kernels.Pairwise."
            )
        if not np.isfinite(values).all():
            raise NonFiniteError(f"kernel={self._name} returned NaN or infinity for finite points.")
        return _written(values, out)

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))


@dataclass(frozen=True)
class Pairwise(Kernel):
    """A kernel given as a function of two single points, called for each pair: general, but slow.

    Examples
    --------
    >>> Pairwise(lambda x, y: min(x[0], y[0]))([[1.0], [3.0]])
    array([[1., 1.],
           [1., 3.]])
    """

    function: Callable[[Any, Any], float]

    known: ClassVar[bool] = False

    def gram(self, A: Points, B: Points, out: Floats | None = None) -> Floats:
        """Call the function for every pair."""
        a, b = (Points(points.dense, points.n_rows, A.n_features) for points in (A, B))
        return Function(self._matrix).gram(a, b, out)

    def _matrix(self, X: Iterable[Floats], Y: Iterable[Floats]) -> Any:
        return [[self.function(x, y) for y in Y] for x in X]


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Precomputed kernel values: X is the matrix of k between its rows and the training rows.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_xor()
    >>> K = rb.kernels.Polynomial(2)(X)
    >>> rb.KernelPerceptron("precomputed").fit(K, y).stop_reason_
    'separated'
    """

    known: ClassVar[bool] = False
    streams: ClassVar[bool] = False

    def gram(self, A: Points, B: Points, out: Floats | None = None) -> Floats:
        """Return the columns of B that belong to the training rows A."""
        assert A.ids is not None, "precomputed values need the numbers of training rows"
        columns = B.rows[:, A.ids] if isinstance(B.rows, np.ndarray) else B.native[:, A.ids].toarray()
        return _written(np.ascontiguousarray(columns.T, np.float64), out)


def _written(values: Floats, out: Floats | None) -> Floats:
    """Return values, written to `out` if it is given."""
    if out is None:
        return values
    out[:] = values
    return out


NAMED: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "rbf": RBF,
    "laplacian": Laplacian,
    "precomputed": Precomputed,
}


def as_kernel(kernel: Any) -> Kernel:
    """Return the kernel that a name, a value or a function stands for.

    Examples
    --------
    >>> as_kernel("rbf")
    RBF(gamma='scale')
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel in NAMED:
            return NAMED[kernel]()
    elif callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    raise ParameterError(
        Given("kernel", kernel)
        + f" is not known; use {', '.join(map(repr, NAMED))}, a value of rosenblatt.kernels such "
        "as RBF(0.5), or a function of two tables of points."
    )


MEGABYTE = 1 << 20
SLAB_BYTES = 1 << 23  # bytes allocated at once: enough for the system to use large pages


class CachedRows:
    """The rows of the Gram matrix of some points by a resolved kernel, one at a time.

    Beyond the limit of `megabytes` the least recently used rows are dropped. `computed` counts the rows computed.
    """

    def __init__(self, kernel: Kernel, points: Points, megabytes: float) -> None:
        self.kernel, self.points = kernel, points
        self.most = int(megabytes * MEGABYTE) // (8 * points.n_rows)
        self.computed = 0
        self._rows: OrderedDict[int, Floats] = OrderedDict()
        self._room: list[Floats] = []

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, i: int) -> Floats:
        """Return k(x_i, x) for every point x."""
        row = self._rows.get(i)
        if row is not None:
            self._rows.move_to_end(i)
            return row
        row = self._empty()
        self.kernel.gram(self.points.row(i), self.points, out=row[None])
        self.computed += 1
        if self.most:
            self._rows[i] = row
        return row

    def _empty(self) -> Floats:
        """Return room for a row: new, or that of the least recently used row."""
        if not self.most:
            return np.empty(self.points.n_rows)
        if len(self._rows) >= self.most:
            return self._rows.popitem(last=False)[1]
        if not self._room:
            rows = max(1, min(SLAB_BYTES // (8 * self.points.n_rows), self.most - len(self._rows)))
            self._room = list(np.empty((rows, self.points.n_rows)))
        return self._room.pop()
