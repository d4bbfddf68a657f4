"""Labels of many rows at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks import peers
from benchmarks.comparison import AtLeast, Comparison
from benchmarks.data import gaussian
from benchmarks.timing import Setup, race, read_limit
from rosenblatt import Perceptron


def batch(setup: Setup) -> Iterator[Comparison]:
    """Predict all rows, against scikit-learn and against the bare product with the weights."""
    X, y = gaussian(setup.rows(200_000), 100, margin=0.075)
    params = {"shuffle": False, "max_iter": 3}
    ours = Perceptron(**params).fit(X, y)
    sklearn = peers.sklearn_perceptron(**params).fit(X, y)
    w = ours.coef_[0]
    contestants = {
        "scikit-learn": lambda: sklearn.predict(X),
        "X @ w": lambda: X @ w,
        "ours": lambda: ours.predict(X),
    }
    race(contestants, 1)  # a warm-up
    timed = race(contestants, 4 * setup.repeats)
    np.testing.assert_array_equal(timed["ours"].result, timed["scikit-learn"].result)
    for peer, target in (("scikit-learn", AtLeast(2)), ("X @ w", AtLeast(0.9))):
        seconds = timed["ours"].seconds, timed[peer].seconds
        yield Comparison(f"predict {len(X):,} rows", peer, *seconds, target, X.nbytes, read_limit(), "identical")
