"""The cards of the first demonstration: a square on the left or on the right."""

from __future__ import annotations

import numpy as np

from rosenblatt.datasets.arguments import Seed, check_share, whole
from rosenblatt.datasets.dataset import Dataset
from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Floats

__all__ = ["make_cards"]


def make_cards(
    n: int, *, size: int = 20, side: tuple[int, int] = (5, 8), noise: float = 0.0, seed: Seed
) -> Dataset[Floats]:
    """Return cards with a square on the left (−1) or on the right (+1), as shown to the first perceptron (S-39).

    Parameters
    ----------
    n : int
        Number of cards.
    size : int
        Pixels along a card's edge, at least 4.
    side : pair of int
        The shortest and the longest side of a square, at most half of `size`.
    noise : float
        This share of the pixels, up to one half, is flipped.
    seed : int or numpy Generator
        Where the randomness comes from.

    Returns
    -------
    Dataset
        Rows of size² pixels, 0 or 1, line by line from the top.

    Examples
    --------
    >>> X, y = make_cards(2, size=8, side=(2, 3), seed=3)
    >>> for line in X[0].reshape(8, 8).astype(int): print(*line, sep="")
    00000000
    00000000
    00000000
    00000000
    00000000
    11000000
    11000000
    00000000
    >>> y[0]
    np.int64(-1)
    """
    n, size, rng = whole("n", n, 1), whole("size", size, 4), np.random.default_rng(seed)
    least, most = whole("side", side[0], 1), whole("side", side[1], 1)
    if not least <= most <= size // 2:
        raise ParameterError(f"side must be two lengths up to half of size = {size}, in order, got {side!r}")
    check_share(noise)
    y = rng.permutation(np.where(np.arange(n) % 2, -1, 1)).astype(np.int64)
    length = rng.integers(least, most + 1, n)
    half = size // 2
    across = rng.integers(0, half - length + 1) + np.where(y > 0, size - half, 0)
    down = rng.integers(0, size - length + 1)
    place = np.arange(size)
    columns = (place >= across[:, None]) & (place < (across + length)[:, None])
    lines = (place >= down[:, None]) & (place < (down + length)[:, None])
    X = (lines[:, :, None] & columns[:, None, :]).reshape(n, size * size)
    if noise:
        X = X ^ (rng.random(X.shape) < noise)
    text = f"Cards of {size} × {size} pixels with a square on the left (−1) or on the right (+1)."
    return Dataset(X.astype(np.float64), y, name="cards", description=text)
