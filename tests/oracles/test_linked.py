"""Winnow keeps its bounds on disjunctions, and the link its signs."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest

from tests.oracles.linked import linked, train_linked, winnow


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 3, 6])
def test_winnow_keeps_its_bounds(seed, k):
    rng = np.random.default_rng(seed)
    d = 64
    X = (rng.random((600, d)) < rng.uniform(0.02, 0.4)).astype(int)
    y = np.where(X[:, rng.permutation(d)[:k]].any(axis=1), 1, -1).tolist()
    _, halving = winnow(X.tolist(), y, list(range(600)) * 2, d)
    _, eliminating = winnow(X.tolist(), y, list(range(600)) * 2, Fraction(d, 2), eliminates=True)
    assert halving <= 2 + 3 * k * (1 + log2(d))
    assert eliminating <= 2 + 2 * k * log2(d)


def test_the_link_is_odd():
    for p in (2, 3, 4):
        assert linked([Fraction(-3, 2)], p) == [-linked([Fraction(3, 2)], p)[0]]
        assert linked([0], p) == [0]


def test_weights_multiply_the_step():
    X, y = [[1, 0], [0, 1]], [1, -1]
    twice = train_linked(X, y, [0, 1], 3, weight=[2, 1])
    assert (twice.theta, twice.w) == ([2.0, -1.0, 1.0], [4.0, -1.0, 1.0])
