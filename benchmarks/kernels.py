"""Kernel perceptrons: the time to about the accuracy of a support vector machine, and streams in flat memory.

``python -m benchmarks.kernels`` trains on a stream of a million rows by each policy and prints the memory.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.timing import Setup, race
from rosenblatt import KernelPerceptron
from rosenblatt.kernels import RBF
from rosenblatt.kernels.kernel_state import POLICIES

FEATURES = 50
HELD_OUT = 5000
WRONG = 0.05  # labels that are wrong
BUDGET = 500
CHUNK = 10_000


def rbf(setup: Setup) -> Iterator[Comparison]:
    """Train on two shells in fifty dimensions, some labels wrong, and compare the accuracy on rows held out.

    One averaged pass is what is compared: more passes learn the wrong labels by heart.
    """
    for n in (setup.rows(5000), setup.rows(20_000)):
        X, y = shells(n + HELD_OUT, seed=n)
        ours, peer = KernelPerceptron("rbf", average=True, max_iter=1), SVC(kernel="rbf")
        ours.fit(X[:64], y[:64])  # compiles
        repeats = setup.repeats if n <= 5000 else min(setup.repeats, 2)
        timed = race({"ours": partial(ours.fit, X[:n], y[:n]), "peer": partial(peer.fit, X[:n], y[:n])}, repeats)
        accuracy = [100 * model.score(X[n:], y[n:]) for model in (ours, peer)]
        yield Comparison(
            f"K1 RBF, two shells, {n:,} × {FEATURES}, one averaged pass",
            "SVC",
            timed["ours"].seconds,
            timed["peer"].seconds,
            AtLeast(5),
            models=f"held out {accuracy[0]:.1f}% / {accuracy[1]:.1f}%",
        )


def shells(n: int, seed: int) -> tuple[Any, Any]:
    """Return points on two thick spheres around the origin, as close as their thickness, some labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, FEATURES))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    outer = rng.integers(2, size=n)
    X *= ((1.0 + 0.15 * outer) * (1.0 + 0.05 * rng.standard_normal(n)))[:, None]
    return X, np.where(rng.random(n) < WRONG, 1 - outer, outer)


def rings(n: int, seed: int) -> tuple[Any, Any]:
    """Return points on two thick circles in two of five dimensions, some labels wrong."""
    rng = np.random.default_rng(seed)
    outer, angle = rng.integers(2, size=n), rng.uniform(0.0, 2 * np.pi, n)
    X = 0.3 * rng.standard_normal((n, 5))
    X[:, 0] += (1.5 + 1.5 * outer) * np.cos(angle)
    X[:, 1] += (1.5 + 1.5 * outer) * np.sin(angle)
    return X, np.where(rng.random(n) < WRONG, 1 - outer, outer)


def main(rows: int = 1_000_000) -> None:
    """Train on a stream and print, after each tenth, the peak memory of the process and the accuracy ahead."""
    test, told = rings(HELD_OUT, seed=1)
    for policy in POLICIES:
        clf = KernelPerceptron(RBF(1.0), budget=BUDGET, budget_policy=policy, average=policy == "projection")
        began, peaks = time.perf_counter(), []
        for chunk in range(rows // CHUNK):
            clf.partial_fit(*rings(CHUNK, seed=2 + chunk))
            if (chunk + 1) % (rows // CHUNK // 10) == 0:
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        seconds = time.perf_counter() - began
        shown = ", ".join(f"{peak:.1f}" for peak in peaks)
        print(
            f"{policy}: {rows:,} rows, {len(clf.support_)} kept, {seconds:.0f} s, {clf.n_mistakes_:,} mistakes, "
            f"{100 * clf.score(test, told):.1f}% held out; peak MB after each tenth: {shown}",
            flush=True,
        )


if __name__ == "__main__":
    main()
