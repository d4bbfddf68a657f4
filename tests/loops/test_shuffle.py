"""Shuffled orders are permutations, all equally likely, and the same for the same seed."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from rosenblatt.loops._jit import jit
from rosenblatt.loops.order import Shuffled, mixed_seed, seed_of_pass, shuffle


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_permutations(n):
    order = Shuffled(n, seed=0)
    first, second = order.visits(1), order.visits(2)
    assert sorted(first) == sorted(second) == list(range(n))
    again = Shuffled(n, seed=0)
    assert again.visits(1).tolist() == first.tolist()
    assert again.visits(2).tolist() == second.tolist()
    assert Shuffled(n, seed=0, made=1).visits(1).tolist() == second.tolist()
    if n == 1000:
        assert (first != second).mean() > 0.9


def test_every_permutation_is_as_likely():
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(48_000):
        order = np.arange(4, dtype=np.uint64)
        shuffle(order, np.uint64(seed))
        counts[tuple(order.tolist())] += 1
    assert len(counts) == 24
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_every_place_is_as_likely_for_every_row():
    places = np.zeros((50, 50))
    for seed in range(20_000):
        order = np.arange(50, dtype=np.uint64)
        shuffle(order, np.uint64(seed))
        places[np.arange(50), order] += 1
    assert chisquare(places.ravel()).pvalue > 1e-4


def test_seeds_are_the_same_in_loops():
    in_loop = jit(lambda seed, number: mixed_seed(seed, number))
    for seed, number in ((0, 0), (0, 1), (7, 3), (2**64 - 1, 2**64 - 1)):
        found = in_loop(np.uint64(seed), np.uint64(number))
        assert found == seed_of_pass(np.uint64(seed), np.uint64(number))
    assert seed_of_pass(0, 1) == 0xE220A8397B1DCDAF  # the first number of SplitMix64 from 0
