"""One thread against two: the same work with the same bits, in seconds of the clock, taking turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

import rosenblatt as rb
from benchmarks.comparison import AtLeast, Comparison
from benchmarks.data import clusters, text_in_classes
from benchmarks.texts import _messages as messages
from benchmarks.timing import Setup, race
from rosenblatt.formats.svmlight_writer import write_svmlight
from rosenblatt.text.words import hash_texts
from rosenblatt.threads import using

PEER = "one thread"


def two_threads(setup: Setup) -> Iterator[Comparison]:
    """Measure each kind of work that runs on threads."""
    X, y = clusters(setup.rows(60_000), 200, 10, spread=3.0)
    S, z = text_in_classes(setup.rows(40_000), 30_000, 20, noise=0.1)
    yield from _predictions(setup, X, y, S, z)
    yield from _training(setup, X, y, S, z)
    yield from _texts(setup, S, z)
    yield _compared(setup, "cross-validation, 6 folds", lambda: _folds(X[::4], y[::4]), 1.7)
    rows = slice(None, None, 40)
    yield _compared(setup, "certify 10 classes", lambda: rb.certify(X[rows], y[rows], ties=False).to_json(), 1.5)
    proofs = rb.certify(X[rows], y[rows], ties=False)
    yield _compared(setup, "verify 55 proofs", lambda: proofs.verify(X[rows], y[rows]), 1.5)


def _predictions(setup: Setup, X: Any, y: Any, S: Any, z: Any) -> Iterator[Comparison]:
    dense, few = (rb.Perceptron(max_iter=1, average=True).fit(X, labels) for labels in (y, y % 2))
    sparse = rb.Perceptron(max_iter=1, average=True).fit(S, z)
    yield _compared(setup, "predict sparse, 20 classes", lambda: sparse.decision_function(S), 1.5)
    yield _compared(setup, "predict dense, 10 classes", lambda: dense.decision_function(X), 1.5)
    yield _compared(setup, "predict dense, 2 classes", lambda: few.decision_function(X), 0.95)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        write_svmlight(path, S, z)
        yield _compared(setup, "predict a file", lambda: _lines(sparse, path), 1.5)


def _training(setup: Setup, X: Any, y: Any, S: Any, z: Any) -> Iterator[Comparison]:
    for kind, rows, labels in (("dense", X, y), ("sparse", S, z)):
        for multiclass in ("ovr", "ovo"):

            def fit(rows: Any = rows, labels: Any = labels, multiclass: str = multiclass) -> Any:
                return rb.Perceptron(multiclass=multiclass, max_iter=3, decide=False).fit(rows, labels).coef_

            yield _compared(setup, f"{multiclass}, {kind}", fit, 1.6)


def _texts(setup: Setup, S: Any, z: Any) -> Iterator[Comparison]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        write_svmlight(path, S, z)
        yield _compared(setup, "read svmlight", lambda: rb.read_table(path).X.sum(), 1.6)
    texts = [each.encode() for each in messages(setup.rows(200_000), seed=0)]
    values, offsets = np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])
    yield _compared(setup, "hash words", lambda: hash_texts(values, offsets, ngrams=2, bits=18).indices, 1.6)


def _folds(X: Any, y: Any) -> Any:
    learner = rb.Perceptron(average=True, max_iter=10)
    return rb.cross_validate(learner, X, y, folds=6).total.confusion


def _lines(model: Any, path: Path) -> bytes:
    file = BytesIO()
    rb.predict_file(model, path, file)
    return file.getvalue()


def _compared(setup: Setup, workload: str, work: Callable[[], Any], target: float) -> Comparison:
    def on(n_jobs: int) -> Callable[[], Any]:
        def call() -> Any:
            with using(n_jobs):
                return work()

        return call

    contestants = {PEER: on(1), "ours": on(2)}
    race(contestants, 1)  # a warm-up
    timed = race(contestants, setup.repeats, clock=perf_counter)
    one, two = (np.asarray(timed[name].result) for name in contestants)
    assert one.tobytes() == two.tobytes() or one.item() == two.item(), workload
    return Comparison(
        workload, PEER, timed["ours"].seconds, timed[PEER].seconds, AtLeast(target), models="identical"
    )
