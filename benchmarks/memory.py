"""``python -m benchmarks.memory``: what a fit allocates beside X, at its peak."""

from __future__ import annotations

import tracemalloc
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.data import clusters, gaussian
from rosenblatt import Perceptron

LIMIT = 1.3


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = gaussian(200_000, 100, margin=0.075, seed=4)
    patient = {"n_iter_no_change": 1_000_000}
    _tell("200,000 × 100, float64, screened", X, y, **patient)
    _tell("200,000 × 100, float64, screened, averaged", X, y, average=True, **patient)
    _tell("200,000 × 100, float32, screened", X.astype("f4"), y, **patient)
    X, y = gaussian(40_000, 784, margin=0.1, seed=4)
    _tell("40,000 × 784, float32, screened", X.astype("f4"), y, **patient)
    X, y = clusters(60_000, 784, 10, spread=9.0)
    _tell("60,000 × 784, ten classes, float64", X, y, max_iter=5)


def _tell(name: str, X: Any, y: Any, **params: Any) -> None:
    model = Perceptron(**params).fit(X, y)  # compiles, which takes memory of its own
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    times = (X.nbytes + peak) / X.nbytes
    print(
        f"| {name} | {X.nbytes / 1e6:.0f} MB | {times:.2f} × X | {'yes' if times <= LIMIT else 'no'} |", flush=True
    )


if __name__ == "__main__":
    main()
