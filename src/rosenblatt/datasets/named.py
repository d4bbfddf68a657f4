"""The lectures' worked examples, in their own order."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.datasets.arguments import Seed, whole
from rosenblatt.datasets.dataset import Dataset
from rosenblatt.typing import Floats

__all__ = ["load_and", "load_or", "load_six_points", "load_spam_table", "load_xor", "make_diagonal"]


def _named(rows: Any, labels: Any, names: tuple[str, ...], name: str, text: str) -> Dataset[Floats]:
    X, y = np.array(rows, dtype=np.float64), np.array(labels, dtype=np.int64)
    return Dataset(X, y, name=name, feature_names=names, description=text)


def _truth_table(labels: list[int], name: str, text: str) -> Dataset[Floats]:
    return _named([[0, 0], [1, 0], [0, 1], [1, 1]], labels, ("x1", "x2"), name, text)


def load_six_points() -> Dataset[Floats]:
    """Return Koski's six points in the plane, in the order of the lecture (E-1).

    Examples
    --------
    >>> X, y = load_six_points()
    >>> X[4], y[4]
    (array([ 2., -2.]), np.int64(-1))
    """
    rows = [[1.5, -0.5], [1, 1], [-2, 1], [-1, -1.5], [2, -2], [-2, -2]]
    text = "Six points in the plane, three of each class, separable."
    return _named(rows, [1, 1, 1, -1, -1, -1], ("x1", "x2"), "six points", text)


def load_spam_table() -> Dataset[Floats]:
    """Return Zhang's six e-mails as bags of five words; +1 is spam (E-2).

    Examples
    --------
    >>> load_spam_table().feature_names
    ('and', 'viagra', 'the', 'of', 'nigeria')
    """
    rows = [
        [1, 1, 0, 1, 1],
        [0, 0, 1, 1, 0],
        [0, 1, 1, 0, 0],
        [1, 0, 0, 1, 0],
        [1, 0, 1, 0, 1],
        [1, 0, 1, 1, 0],
    ]
    text = "Six e-mails, which of five words each contains, and whether it is spam (+1). Separable."
    return _named(rows, [1, -1, 1, -1, 1, -1], ("and", "viagra", "the", "of", "nigeria"), "spam table", text)


def load_or() -> Dataset[Floats]:
    """Return the truth table of OR, rows in the order 00, 10, 01, 11 (E-4).

    Examples
    --------
    >>> load_or().y
    array([-1,  1,  1,  1])
    """
    return _truth_table([-1, 1, 1, 1], "or", "The truth table of OR, separable.")


def load_and() -> Dataset[Floats]:
    """Return the truth table of AND, rows in the order 00, 10, 01, 11 (E-4).

    Examples
    --------
    >>> load_and().y
    array([-1, -1, -1,  1])
    """
    return _truth_table([-1, -1, -1, 1], "and", "The truth table of AND, separable.")


def load_xor() -> Dataset[Floats]:
    """Return the truth table of XOR, rows in the order 00, 10, 01, 11 (E-3).

    Examples
    --------
    >>> X, y = load_xor()
    >>> bool((X[y > 0].mean(axis=0) == X[y < 0].mean(axis=0)).all())  # so no line can separate them
    True
    """
    text = "The truth table of XOR, not separable: the classes share their midpoint."
    return _truth_table([-1, 1, 1, -1], "xor", text)


def make_diagonal(n: int, seed: Seed) -> Dataset[Floats]:
    """Return points uniform in the square [−1, 1]², positive above the diagonal x2 = x1 (E-5).

    Parameters
    ----------
    n : int
        Number of points.
    seed : int or numpy Generator
        Where the randomness comes from.

    Examples
    --------
    >>> make_diagonal(200, seed=0)
    <Dataset 'diagonal': 200 rows, 2 features (x1, x2), 90 positive and 110 negative>
    """
    n, rng = whole("n", n, 1), np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    while (ties := np.flatnonzero(X[:, 0] == X[:, 1])).size:
        X[ties] = rng.uniform(-1, 1, (ties.size, 2))
    y = np.where(X[:, 1] > X[:, 0], 1, -1).astype(np.int64)
    text = "Points uniform in [−1, 1]², positive where x2 > x1."
    w = np.array([-1.0, 1.0]) / np.sqrt(2.0)
    return Dataset(X, y, name="diagonal", feature_names=("x1", "x2"), description=text, w=w)
