"""How well numbers are predicted: the mean squared error beside that of the mean."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np


@dataclass(frozen=True)
class RegressionEvaluation:
    """Predicted numbers against true ones.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    squared_error : float
        The sum of the squared errors.
    mean, squares : float
        The mean of the true numbers, and the sum of their squared differences from it.

    Examples
    --------
    >>> found = RegressionEvaluation.of([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    >>> print(found)
    MSE       0.333333   3 rows; root 0.57735
    mean      0.666667   MSE of always predicting the mean, 2
    R²        0.5000
    """

    n_rows: int
    squared_error: float
    mean: float
    squares: float

    @classmethod
    def of(cls, truth: Any, predicted: Any) -> RegressionEvaluation:
        """Compare predicted numbers with true ones."""
        y, found = np.asarray(truth, np.float64), np.asarray(predicted, np.float64)
        mean = float(y.mean()) if len(y) else 0.0
        return cls(len(y), float(((y - found) ** 2).sum()), mean, float(((y - mean) ** 2).sum()))

    @property
    def mse(self) -> float:
        """The mean squared error; 0.0 without rows."""
        return self.squared_error / self.n_rows if self.n_rows else 0.0

    @property
    def variance(self) -> float:
        """The mean squared error of always predicting the mean of these rows; 0.0 without rows."""
        return self.squares / self.n_rows if self.n_rows else 0.0

    @property
    def r2(self) -> float | None:
        """The share of the variance that is explained; None if all true numbers are the same."""
        return 1.0 - self.squared_error / self.squares if self.squares else None

    def merged(self, other: RegressionEvaluation) -> RegressionEvaluation:
        """Return the evaluation of the rows of both."""
        n_rows = self.n_rows + other.n_rows
        apart, share = other.mean - self.mean, other.n_rows / max(n_rows, 1)
        squares = self.squares + other.squares + apart * apart * share * self.n_rows
        return RegressionEvaluation(
            n_rows, self.squared_error + other.squared_error, self.mean + apart * share, squares
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"rows": self.n_rows, "mse": self.mse, "r2": self.r2, "mean": self.mean, "variance": self.variance}

    def __str__(self) -> str:
        r2 = "undefined: all numbers are the same" if self.r2 is None else f"{self.r2:.4f}"
        return (
            f"MSE       {self.mse:g}   {self.n_rows:,} rows; root {sqrt(self.mse):g}\n"
            f"mean      {self.variance:g}   MSE of always predicting the mean, {self.mean:g}\n"
            f"R²        {r2}"
        )
