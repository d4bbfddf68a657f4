"""The sets; that of sparse rows in two classes is `rosenblatt.datasets.make_text`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.datasets import make_text
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


def clusters(n: int, d: int, classes: int, *, spread: float, seed: int = 0) -> tuple[Floats, Ints]:
    """Return normal clusters of standard normal centres, overlapping the more the larger their spread."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((classes, d))
    y = rng.integers(classes, size=n)
    X = rng.standard_normal((n, d))
    X *= spread
    X += centres[y]
    return X, y


def text_in_classes(n: int, d: int, classes: int, *, noise: float, seed: int = 0) -> tuple[Any, Ints]:
    """Return sparse rows like text; each has the class whose random weights score it highest, but for noise.

    Frequent words have larger weights, so that classes can be learned from fewer rows than there are words.
    """
    rng = np.random.default_rng(seed)
    X = make_text(n, d, seed=seed).X
    frequency = np.bincount(X.indices, minlength=d)
    scores = X @ (rng.standard_normal((d, classes)) * frequency[:, None])
    return X, np.argmax(scores + noise * scores.std() * rng.standard_normal(scores.shape), axis=1)
