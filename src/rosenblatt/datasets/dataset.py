"""The pair that every data set is, and checks of the arguments of makers."""

from __future__ import annotations

from operator import index
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Floats, Ints

Rows = TypeVar("Rows")
Seed: TypeAlias = int | np.random.Generator
"""A seed, or a generator to draw from."""


def whole(name: str, value: int, least: int) -> int:
    """Return a whole number that is at least `least`."""
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise ParameterError(f"{name} must be a whole number, at least {least}, got {value!r}")
    return number


def float_type(dtype: DTypeLike) -> np.dtype[Any]:
    """Return float64 or float32 as a dtype."""
    kind = np.dtype(dtype)
    if kind not in (np.float64, np.float32):
        raise ParameterError(f"dtype must be float64 or float32, got {kind}")
    return kind


def check_share(flip: float) -> None:
    """Require a share of labels to flip between 0 and 0.5."""
    if not 0 <= flip <= 0.5:
        raise ParameterError(f"flip must lie between 0 and 0.5, got {flip!r}")


def flip_share(y: Ints, share: float, rng: np.random.Generator) -> Ints:
    """Flip a share of the labels in place, and return which."""
    rows = np.sort(rng.choice(y.size, round(share * y.size), replace=False))
    y[rows] *= -1
    return rows


class Dataset(tuple[Rows, Ints], Generic[Rows]):
    """A pair ``(X, y)`` with a name and a description.

    Attributes
    ----------
    X : array or sparse array of shape (n, d)
        The rows.
    y : int array of shape (n,)
        The labels, −1 or +1.
    name, description : str
        Texts about the data.
    feature_names : tuple of str or None
        One name for each column.
    w : array of shape (d,) or None
        The unit normal of a hyperplane through the origin that separates the rows (before any flip), if known.
    margin : float or None
        The largest geometric margin of any hyperplane, if known exactly.
    flipped : int array
        The rows whose label was flipped, in order.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> data = load_or()
    >>> data
    <Dataset 'or': 4 rows, 2 features (x1, x2), 3 positive and 1 negative>
    >>> X, y = data
    >>> y
    array([-1,  1,  1,  1])
    """

    name: str
    description: str
    feature_names: tuple[str, ...] | None
    w: Floats | None
    margin: float | None
    flipped: Ints

    def __new__(
        cls,
        X: Rows,
        y: Ints,
        *,
        name: str = "data",
        description: str = "",
        feature_names: tuple[str, ...] | None = None,
        w: Floats | None = None,
        margin: float | None = None,
        flipped: Ints | None = None,
    ) -> Dataset[Rows]:
        """Pair X with y."""
        self = super().__new__(cls, (X, y))
        self.name, self.description, self.feature_names = name, description, feature_names
        self.w, self.margin = w, margin
        self.flipped = np.empty(0, np.int64) if flipped is None else flipped
        return self

    def __getnewargs__(self) -> tuple[Rows, Ints]:
        # The arguments with which copy and pickle call __new__; __dict__ holds the other attributes.
        return self.X, self.y

    @property
    def X(self) -> Rows:  # noqa: N802
        """The rows."""
        return self[0]

    @property
    def y(self) -> Ints:
        """The labels, −1 or +1."""
        return self[1]

    def __repr__(self) -> str:
        n, d = self.X.shape  # type: ignore[attr-defined]
        few = self.feature_names is not None and len(self.feature_names) <= 8
        names = f" ({', '.join(self.feature_names or ())})" if few else ""
        positive = int(np.count_nonzero(self.y > 0))
        return (
            f"<Dataset {self.name!r}: {n} row{'s' * (n != 1)}, {d} feature{'s' * (d != 1)}{names}, "
            f"{positive} positive and {n - positive} negative>"
        )
