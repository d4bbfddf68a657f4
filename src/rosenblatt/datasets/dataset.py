"""The pair that every data set is."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from rosenblatt.typing import Floats, Ints

__all__ = ["Dataset"]

Rows = TypeVar("Rows")


class Dataset(tuple[Rows, Ints], Generic[Rows]):
    """A pair ``(X, y)`` that knows its name.

    Attributes
    ----------
    X : array or sparse array of shape (n, d)
        The rows.
    y : int array of shape (n,)
        The labels, −1 or +1.
    name, description : str
        What this is, and where it comes from.
    feature_names : tuple of str or None
        One name for each column.
    w : array of shape (d,) or None
        The unit normal of a hyperplane through the origin that separates the rows (before any flip),
        where one is known.
    margin : float or None
        The largest geometric margin of any hyperplane, where it is known exactly.
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
        # What copy and pickle call __new__ with; the other attributes travel in __dict__.
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
