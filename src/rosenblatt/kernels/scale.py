"""γ from the training data, as scikit-learn means it."""

from __future__ import annotations

import numpy as np

from rosenblatt.kernels.points import Points
from rosenblatt.loops.layout import CSR

BLOCK = 1 << 16
CONSTANT = 1e-14  # of the mean square: less variance than this is rounding


def resolved_gamma(gamma: str, A: Points) -> float:
    """Return 1 / n_features ("auto") or 1 / (n_features · variance of all values) ("scale"; 1 if that is zero).

    The variance is the mean of squares less the square of the mean. Both sums are exact where those of training
    are, so that dense and sparse rows then have the same γ to the bit.
    """
    if gamma == "auto":
        return 1.0 / A.n_features
    values = A.rows.data if isinstance(A.rows, CSR) else A.rows.reshape(-1)
    total = squares = 0.0
    for first in range(0, len(values), BLOCK):
        block = values[first : first + BLOCK].astype(np.float64)
        total += float(block.sum())
        squares += float(np.square(block).sum())
    count = A.n_rows * A.n_features
    mean = total / count
    variance = squares / count - mean * mean
    return 1.0 / (A.n_features * variance) if variance > CONSTANT * squares / count else 1.0
