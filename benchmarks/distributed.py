"""Training on a Dask cluster of processes of this machine.

Seconds are those of a clock: workers are other processes. `benchmarks.scaling` measures passes of other lengths,
and simulates larger clusters.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.timing import Setup
from rosenblatt import Perceptron
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks

ROWS, PEER_ROWS, FEATURES, CLASSES, PASSES = 800_000, 100_000, 100, 10, 5


def rows(number: int, n_rows: int, d: int = FEATURES, classes: int = CLASSES) -> tuple[Any, Any]:
    """Return the rows of one partition: no hyperplanes separate them, so that every pass corrects many."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n_rows, d), np.float32)
    W = np.random.default_rng(99).standard_normal((d, classes)).astype(np.float32)
    return X, (X @ W + 5.0 * rng.standard_normal((n_rows, classes), np.float32)).argmax(axis=1)


@contextmanager
def workers(count: int) -> Iterator[Any]:
    """Start worker processes of one thread each."""
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def distributed(setup: Setup) -> Iterator[Comparison]:
    """Compare a cluster with one process, two workers with one, and parameter mixing with what peers do."""
    n_rows = setup.rows(ROWS)
    with workers(1) as one, workers(2) as two:
        yield _overhead(setup, n_rows, one)
        yield from _scaling(setup, n_rows, one, two)
        yield from _against_peers(setup, setup.rows(PEER_ROWS), two)


def _overhead(setup: Setup, n_rows: int, client: Any) -> Comparison:
    import dask

    import rosenblatt.distributed as rd

    blocks = MemoryBlocks(as_batch(*rows(0, n_rows)))
    far = rd.partition([dask.delayed(rows)(0, n_rows)], client=client)
    near, cluster = _race(setup, lambda: _model().fit_blocks(blocks), lambda: rd.fit(_model(), far))
    assert near.result.coef_.tobytes() == cluster.result.coef_.tobytes(), "one partition gives the same bits"
    return Comparison(
        f"cluster of one worker, {n_rows:,} × {FEATURES}, {CLASSES} classes, {PASSES} passes",
        "fit_blocks in this process",
        cluster.seconds,
        near.seconds,
        AtLeast(1 / 1.1),
        models="the same bits",
    )


def _scaling(setup: Setup, n_rows: int, one: Any, two: Any) -> Iterator[Comparison]:
    import dask

    import rosenblatt.distributed as rd

    data = [
        rd.partition([dask.delayed(rows)(k, n_rows // 2) for k in range(2)], client=client)
        for client in (one, two)
    ]
    single, double = _race(setup, *(partial(rd.fit, _model(), blocks) for blocks in data))
    assert single.result.coef_.tobytes() == double.result.coef_.tobytes(), "workers change no bit"
    X, y = rows(7, 20_000)
    everything = [np.concatenate(part) for part in zip(*(rows(k, n_rows // 2) for k in range(2)), strict=True)]
    sequential = _model().fit(*everything)
    yield Comparison(
        f"two workers, {n_rows:,} × {FEATURES}, {CLASSES} classes, {PASSES} passes",
        "one worker",
        double.seconds,
        single.seconds,
        AtLeast(1.5),
        models=(
            f"the same bits; {double.result.score(X, y):.1%} right on new rows, "
            f"{sequential.score(X, y):.1%} after as many passes in one sequence"
        ),
    )


def _against_peers(setup: Setup, n_rows: int, client: Any) -> Iterator[Comparison]:
    import dask

    import rosenblatt.distributed as rd

    half = n_rows // 2
    blocks = rd.partition([dask.delayed(rows)(k, half) for k in range(2)], client=client)
    X, y = rows(7, 20_000)
    for name, peer in (
        ("joblib + SGDClassifier, averaged", _by_joblib),
        ("dask-ml Incremental(SGDClassifier)", _by_dask_ml),
    ):
        try:
            call = peer(client, half)
        except ImportError as missing:
            print(f"{name} is not installed: {missing}", file=sys.stderr)
            continue
        theirs, ours = _race(setup, call, lambda: rd.fit(_model(), blocks))
        rate = [n_rows * PASSES / min(each.seconds) / 1e6 for each in (ours, theirs)]
        yield Comparison(
            f"two workers, {n_rows:,} × {FEATURES}, {CLASSES} classes, {PASSES} passes",
            name,
            ours.seconds,
            theirs.seconds,
            None,
            models=(
                f"{rate[0]:.2f} / {rate[1]:.2f} M rows/s, {ours.result.score(X, y):.1%} / "
                f"{np.mean(theirs.result(X) == y):.1%} right"
            ),
        )


def _one_pass(X: Any, y: Any, coef: Any, intercept: Any) -> Any:
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None)
    if coef is not None:
        model.partial_fit(X[:1], y[:1], np.arange(CLASSES))
        model.coef_, model.intercept_ = coef.copy(), intercept.copy()
    model.partial_fit(X, y, np.arange(CLASSES))
    return model.coef_, model.intercept_


def _made_pass(number: int, n_rows: int, coef: Any, intercept: Any) -> Any:
    """Train on a partition that the process makes once and keeps."""
    if number not in MADE:
        MADE[number] = rows(number, n_rows)
    return _one_pass(*MADE[number], coef, intercept)


MADE: dict[int, Any] = {}


def _by_joblib(client: Any, half: int) -> Callable[[], Any]:
    """Return one pass over each partition after the other by scikit-learn under joblib, mixed uniformly."""
    import joblib

    def fit() -> Any:
        coef = intercept = None
        with client.as_current(), joblib.parallel_config("dask"):
            for _ in range(PASSES):
                done = joblib.Parallel()(joblib.delayed(_made_pass)(k, half, coef, intercept) for k in range(2))
                coef, intercept = (np.mean(part, axis=0) for part in zip(*done, strict=True))
        return lambda X: (X @ coef.T + intercept).argmax(axis=1)

    return fit


def _by_dask_ml(client: Any, half: int) -> Callable[[], Any]:
    """Return dask-ml's sequence of partial fits over partitions."""
    import dask
    import dask.array as da
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import SGDClassifier

    made = [dask.delayed(rows)(k, half) for k in range(2)]
    with client.as_current():
        X = da.concatenate([da.from_delayed(part[0], (half, FEATURES), np.float32) for part in made]).persist()
        y = da.concatenate([da.from_delayed(part[1], (half,), np.int64) for part in made]).persist()

    def fit() -> Any:
        learner = SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None)
        with client.as_current():
            model = Incremental(learner)
            for _ in range(PASSES):
                model.partial_fit(X, y, classes=np.arange(CLASSES))
        return model.estimator_.predict

    return fit


class Run(NamedTuple):
    """The seconds of every turn, by the clock, and the last result."""

    seconds: list[float]
    result: Any


def _race(setup: Setup, *calls: Callable[[], Any]) -> list[Run]:
    """Let contestants take turns, after one that does not count."""
    found = [Run([], call()) for call in calls]
    for _ in range(max(1, setup.repeats)):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            result = call()
            found[k] = Run([*found[k].seconds, time.perf_counter() - start], result)
    return found


def _model() -> Perceptron:
    return Perceptron(max_iter=PASSES, decide=False, random_state=0)
