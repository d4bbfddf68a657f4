"""The dense sets; the sparse one is `rosenblatt.datasets.make_text`."""

from __future__ import annotations

import numpy as np

from rosenblatt.typing import Floats, Ints


def gaussian(n: int, d: int, *, margin: float, noise: float = 0.0, seed: int = 0) -> tuple[Floats, Ints]:
    """Return standard normal rows moved apart along a random direction, some labels flipped.

    Parameters
    ----------
    n, d : int
        Rows and features.
    margin : float
        How far each class is moved away from the hyperplane.
    noise : float
        The share of labels flipped.
    seed : int
        Of all that is random.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.sqrt((w * w).sum())
    y = np.where((X * w).sum(axis=1) > 0.0, 1, -1)
    for start in range(0, n, 1000):  # piece by piece, in cache
        part = slice(start, start + 1000)
        X[part] += margin * y[part, None] * w
    y[rng.random(n) < noise] *= -1
    return X, y
