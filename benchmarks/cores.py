"""One thread against two: the same work with the same bits, in seconds of the clock, taking turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow.csv import write_csv
from scipy.sparse import vstack
from threadpoolctl import threadpool_limits

import rosenblatt as rb
from benchmarks.comparison import AtLeast, Comparison
from benchmarks.data import clusters, text_in_classes
from benchmarks.texts import _messages as messages
from benchmarks.timing import Setup, race
from rosenblatt.tables.svmlight_plain import write_svmlight
from rosenblatt.tables.words import hash_texts
from rosenblatt.threads import using

PEER = "one thread"


def two_threads(setup: Setup) -> Iterator[Comparison]:
    """Measure each kind of work that runs on threads."""
    X, y = clusters(setup.rows(60_000), 200, 10, spread=3.0)
    S, z = text_in_classes(setup.rows(40_000), 30_000, 20, noise=0.1)
    yield from _predictions(setup, X, y, S, z)
    yield from _training(setup, X, y, S, z)
    yield from _texts(setup, S, z)
    yield from _tables(setup)
    yield _compared(setup, "cross-validation, 6 folds", lambda: _folds(X[::2], y[::2]), 1.7)
    yield from _proofs(setup, X, y)
    scores = X[:, :40] @ np.random.default_rng(0).standard_normal(40)
    apart = np.abs(scores) > 0.1 * scores.std()
    proof = rb.certify(X[apart, :40], scores[apart] > 0, ties=False)
    yield _compared(setup, "verify a proof", lambda: proof.verify(X[apart, :40], scores[apart] > 0), 1.0)


def _proofs(setup: Setup, X: Any, y: Any) -> Iterator[Comparison]:
    """Answer questions about ten classes, and check the proofs; little data is not slower on two threads."""
    for step, target in ((10, 1.5), (40, 0.95)):
        A, b = np.ascontiguousarray(X[::step]), y[::step]
        yield _compared(setup, f"certify 10 classes, {len(b):,} rows", partial(_proved, A, b), target)
    for step, target in ((3, 1.5), (40, 0.95)):
        A, b = np.ascontiguousarray(X[::step]), y[::step]
        proofs = rb.certify(A, b, ties=False)
        yield _compared(setup, f"verify 55 proofs, {len(b):,} rows", partial(proofs.verify, A, b), target)


def _proved(X: Any, y: Any) -> str:
    return rb.certify(X, y, ties=False).to_json()


def _predictions(setup: Setup, X: Any, y: Any, S: Any, z: Any) -> Iterator[Comparison]:
    dense, few = (rb.Perceptron(max_iter=1, average=True).fit(X, labels) for labels in (y, y % 2))
    sparse = rb.Perceptron(max_iter=1, average=True).fit(S, z)
    texts, points = vstack([S, S, S], format="csr"), np.concatenate([X, X, X])
    yield _compared(setup, "predict sparse, 20 classes", lambda: sparse.decision_function(texts), 1.5)
    yield _compared(setup, "predict dense, 10 classes", lambda: dense.decision_function(points), 1.5)
    yield _compared(setup, "predict dense, 2 classes", lambda: few.decision_function(points), 0.95)
    yield _compared(setup, "predict 2,000 rows", lambda: _often(few, X[:2000]), 0.95)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        write_svmlight(path, S, z)
        yield _compared(setup, "predict a file", lambda: _lines(sparse, path), 1.5)
    network = rb.MultilayerPerceptron(max_iter=1).fit(X[:2000], y[:2000])
    blas = partial(threadpool_limits, user_api="blas")  # networks leave threads to BLAS
    yield _compared(setup, "predict by a network", lambda: network.predict(points), 1.5, blas)


def _training(setup: Setup, X: Any, y: Any, S: Any, z: Any) -> Iterator[Comparison]:
    """Train many machines, where threads divide the work, and few, where each of them reads all rows again."""
    many, classes = clusters(setup.rows(60_000), 200, 40, spread=3.0)
    topics, of = text_in_classes(setup.rows(40_000), 30_000, 50, noise=0.1)
    for workload, multiclass, rows, labels, target in (
        ("ovr, dense, 40 classes", "ovr", many, classes, 1.6),
        ("ovr, dense, 10 classes", "ovr", X, y, 0.95),
        ("ovo, dense, 40 classes", "ovo", many, classes, 1.6),
        ("ovo, dense, 10 classes", "ovo", X, y, 0.95),
        ("ovr, sparse, 50 classes", "ovr", topics, of, 1.6),
        ("ovr, sparse, 20 classes", "ovr", S, z, 0.95),
        ("ovo, sparse, 20 classes", "ovo", S, z, 1.6),
    ):

        def fit(rows: Any = rows, labels: Any = labels, multiclass: str = multiclass) -> Any:
            return rb.Perceptron(multiclass=multiclass, max_iter=3, decide=False).fit(rows, labels).coef_

        yield _compared(setup, workload, fit, target)


def _texts(setup: Setup, S: Any, z: Any) -> Iterator[Comparison]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        write_svmlight(path, S, z)
        yield _compared(setup, "svmlight to rows", lambda: _values_in(path), 1.6)
        yield _compared(setup, "svmlight to one matrix", lambda: rb.read_table(path).X.sum(), None)
    texts = [each.encode() for each in messages(setup.rows(600_000), seed=0)]
    values, offsets = np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])
    yield _compared(setup, "hash words", lambda: hash_texts(values, offsets, ngrams=2, bits=18).indices, 1.6)


def _values_in(path: Path) -> float:
    return sum(float(chunk.rows.data.sum()) for chunk in rb.open_data(path).chunks())


def _tables(setup: Setup) -> Iterator[Comparison]:
    """Read CSV of numbers, of categories and of words; pyarrow has one thread of its own here."""
    n, rng = setup.rows(600_000), np.random.default_rng(0)
    labels = rng.choice(["no", "yes"], n)
    levels = np.array([f"level {k}" for k in range(50)])
    tables: dict[str, Any] = {
        "numbers": {f"x{j}": rng.standard_normal(n).round(4) for j in range(10)},
        "categories": {f"c{j}": levels[rng.integers(0, 50, n)] for j in range(6)},
        "words": {"words": messages(n, seed=0)},
    }
    with TemporaryDirectory() as folder:
        for kind, columns in tables.items():
            path = Path(folder) / f"{kind}.csv"
            first = len(next(iter(columns.values())))
            write_csv(pa.table(columns | {"label": labels[:first]}), path)
            options = {"text": ["words"]} if kind == "words" else {}

            def read(path: Path = path, options: dict[str, Any] = options) -> Any:
                return rb.read_table(path, **options).X.sum()

            yield _compared(setup, f"read CSV, {kind}", read, 1.6)


def _often(model: Any, X: Any) -> Any:
    return [model.decision_function(X) for _ in range(200)][-1]


def _folds(X: Any, y: Any) -> Any:
    learner = rb.Perceptron(average=True, max_iter=10)
    return rb.evaluate_folds(learner, X, y, folds=6).total.confusion


def _lines(model: Any, path: Path) -> bytes:
    file = BytesIO()
    rb.predict_file(model, path, file)
    return file.getvalue()


def _compared(
    setup: Setup,
    workload: str,
    work: Callable[[], Any],
    target: float | None,
    threads: Callable[[int], AbstractContextManager[Any]] = using,
) -> Comparison:
    def on(n_jobs: int) -> Callable[[], Any]:
        def call() -> Any:
            with threads(n_jobs):
                return work()

        return call

    contestants = {PEER: on(1), "ours": on(2)}
    race(contestants, 1)  # a warm-up
    timed = race(contestants, setup.repeats, clock=_clocks)
    one, two = (np.asarray(timed[name].result) for name in contestants)
    assert one.tobytes() == two.tobytes() or one.item() == two.item(), workload
    seconds = {name: np.array(each.seconds) for name, each in timed.items()}
    _, all_of_one, _ = seconds[PEER].min(axis=0)
    _, all_of_two, own = seconds["ours"].min(axis=0)
    return Comparison(
        workload,
        PEER,
        seconds["ours"][:, 0].tolist(),
        seconds[PEER][:, 0].tolist(),
        None if target is None else AtLeast(target),
        models=f"identical; at most {all_of_one / max(all_of_two / 2, own):.2f}×",
    )


def _clocks() -> Any:
    """Return seconds of the clock, of all threads and of this one.

    Processor time tells on a machine under load too how much two free cores could gain at most: the work of all
    threads is divided by two, and that of the calling thread is not.
    """
    return np.array([perf_counter(), process_time(), thread_time()])
