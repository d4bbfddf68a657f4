"""Very many probes on one matrix: `Probes` on two threads against one perceptron after another.

``python -m benchmarks.probes`` measures a pass on a GPU instead, on a machine that has one and CuPy. It needs
neither numba nor scikit-learn there, and its figures are for the page "Probes on a GPU".
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.comparison import AtLeast, Comparison

if TYPE_CHECKING:
    from benchmarks.timing import Setup

N, D, K = 50_000, 512, 128
PASSES = 5
MEASURED = 8  # of the K problems: peers train one after another, so that K take K / 8 times as long
WRONG = 0.05  # the share of labels that are wrong, so that no problem ends early


def data(n: int, d: int, k: int) -> tuple[Any, Any]:
    """Return rows of float32, and the sides of k problems, one label in twenty of which is wrong."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    signs = np.where(X @ rng.standard_normal((d, k), dtype=np.float32) > 0, 1, -1).astype(np.int8)
    signs[rng.random((n, k)) < WRONG] *= -1
    return X, signs


def probes(setup: Setup) -> Iterator[Comparison]:
    """Make five passes for 128 problems, in seconds of the clock."""
    from sklearn.linear_model import Perceptron as Theirs

    import rosenblatt as rb
    from benchmarks.timing import race

    X, signs = data(setup.rows(N), D, K)
    fixed: dict[str, Any] = {"max_iter": PASSES, "n_iter_no_change": PASSES + 1, "average": False}

    def ours() -> Any:
        return rb.Probes(folds=None, decide=False, n_jobs=2, **fixed).fit(X, signs)

    def one_by_one() -> Any:
        one = rb.Perceptron(decide=False, trace="counts", **fixed)
        return np.array([one.fit(X, signs[:, j]).coef_[0] for j in range(MEASURED)])

    def theirs() -> Any:
        one = Theirs(max_iter=PASSES, tol=None, random_state=0)
        return np.array([one.fit(X, signs[:, j]).coef_[0] for j in range(MEASURED)])

    contestants: dict[str, Callable[[], Any]] = {"ours": ours, "one by one": one_by_one, "scikit-learn": theirs}
    ours()
    one_by_one()  # these compile
    timed = race(contestants, setup.repeats, clock=perf_counter)
    same = bool((timed["ours"].result.coef_[:MEASURED] == timed["one by one"].result).all())
    assert same, "probes have other bits than perceptrons"
    workload = f"{K} probes, {len(X):,}×{D} float32, two threads"
    told = {"one by one": "identical", "scikit-learn": "equal passes"}
    peers = {"one by one": ("Perceptron, one by one", 4.0), "scikit-learn": ("scikit-learn, one by one", 10.0)}
    for name, (peer, target) in peers.items():
        seconds = [each * K / MEASURED for each in timed[name].seconds]
        models = f"{told[name]}; the peer's time is that of {MEASURED} × {K // MEASURED}"
        yield Comparison(workload, peer, timed["ours"].seconds, seconds, AtLeast(target), models=models)


def on_a_gpu(n: int, d: int, ks: list[int], *, average: bool) -> None:
    """Print the seconds of a pass: the least of three after one that warms up."""
    from rosenblatt.probes.engine import Matrix, Plan, Problems
    from rosenblatt.probes.gpu import GpuEngine

    for k in ks:
        X, signs = data(n, d, k)
        engine = GpuEngine()
        engine.start(Matrix((X,), "float32"), Problems(signs, np.arange(k)), Plan(average=average))
        seconds = []
        for _ in range(4):
            began = perf_counter()
            mistakes = int(engine.train_pass(np.arange(k), None).sum())
            seconds.append(perf_counter() - began)
        name = engine.name
        engine.close()
        print(f"{name}: {k} problems, {n:,} × {d}, {min(seconds[1:]) * 1e3:.1f} ms a pass, "
              f"{mistakes / (n * k):.1%} mistakes in the last")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probes", description="Measure a pass on a GPU.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=1024)
    parser.add_argument("--problems", type=int, nargs="+", default=[1, 128, 1024])
    parser.add_argument("--average", action="store_true")
    given = parser.parse_args()
    on_a_gpu(given.rows, given.features, given.problems, average=given.average)
