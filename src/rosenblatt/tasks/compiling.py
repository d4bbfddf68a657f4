"""Compiling the loops ahead of their first use."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from rosenblatt.loops.compilation import when_compiling
from rosenblatt.tasks.data import Log, log_info

__all__ = ["compile_loops"]


def compile_loops(*, log: Log = log_info) -> int:
    """Compile the loops that training, certifying, predicting and serving use, for this processor.

    numba keeps them in its cache on disk, so that later processes load them. Call this when an image or an
    environment is built; otherwise each loop is compiled at its first use, which takes a few seconds.

    Parameters
    ----------
    log : callable
        Is called with one sentence before each group of loops.

    Returns
    -------
    int
        The number of loops that were compiled. It is 0 if the cache had them all.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> n = rb.compile_loops()  # doctest: +SKIP
    """
    compiled = 0

    def count() -> None:
        nonlocal compiled
        compiled += 1

    when_compiling.append(count)
    try:
        for title, group in _GROUPS.items():
            log(f"{title} …")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the data is made to be trained on once, not well
                group()
    finally:
        when_compiling.remove(count)
    return compiled


def _tables() -> Iterator[tuple[Any, Any]]:
    """Yield tiny data of each kind that has its own loops: layout, precision, two or more classes."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    for dtype, n_classes in product((np.float64, np.float32), (2, 3)):
        X = rng.standard_normal((24, 3)).astype(dtype)
        y = np.arange(24) % n_classes
        X[:, 0] += y  # so that not every pass goes wrong everywhere
        yield X, y
        yield csr_array(X), y


def _byte_tables() -> Iterator[tuple[Any, Any]]:
    """Yield tiny tables of bytes, which only perceptrons read as they are."""
    for n_classes in (2, 3):
        y = np.arange(24) % n_classes
        yield (np.arange(72).reshape(24, 3) % 7 + y[:, None]).astype(np.uint8), y


def _perceptrons() -> None:
    import rosenblatt as rb

    for (X, y), average in product((*_tables(), *_byte_tables()), (False, True)):
        for multiclass in ("direct", "ovr")[: len(np.unique(y)) - 1]:
            rb.Perceptron(average=average, multiclass=multiclass, max_iter=3).fit(X, y).predict(X)
        stream = rb.Perceptron(average=average).partial_fit(X, y, classes=np.unique(y))
        stream.learn_one(X[0] if isinstance(X, np.ndarray) else X.toarray()[0], y[0])


def _large_data() -> None:
    """Train on data that is large enough for the screen, which reads fewer rows."""
    import rosenblatt as rb

    rng = np.random.default_rng(0)
    X = rng.standard_normal((80_000, 16))
    score = X @ np.arange(16.0)
    for dtype, y in product((np.float64, np.float32), (score > 0, np.digitize(score, (-20, 20)))):
        rb.Perceptron(max_iter=6).fit(X.astype(dtype), y)


def _relatives() -> None:
    import rosenblatt as rb

    for X, y in _tables():
        for kind in (rb.VotedPerceptron, rb.PocketPerceptron, rb.SoftMarginClassifier):
            kind(max_iter=2).fit(X, y).predict(X)
        if len(np.unique(y)) == 2:
            rb.LiftedPerceptron(max_iter=2).fit(X, y).predict(X)
        rb.KernelPerceptron("rbf", max_iter=2).fit(X, y).predict(X)


def _streams() -> None:
    """Go on from model files row by row, and in chunks, as a server does."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import rosenblatt as rb
    from rosenblatt.data.features import as_rows
    from rosenblatt.loops.passes import score_row

    kinds: tuple[tuple[Any, dict[str, Any]], ...] = (
        (rb.Perceptron, {}),
        (rb.Perceptron, {"average": True}),
        (rb.PassiveAggressiveClassifier, {}),
        (rb.ConfidenceWeightedClassifier, {}),
        (rb.KernelPerceptron, {"kernel": "rbf", "budget": 8}),
    )
    with TemporaryDirectory() as folder:
        for (X, y), (kind, parameters) in product(_tables(), kinds):
            rb.save(kind(max_iter=2, **parameters).fit(X, y), Path(folder, "model"))
            learner: Any = rb.load(Path(folder, "model"))
            learner.partial_fit(X, y).decision_function(X)
            row, stream = as_rows(X[:1]).rows, learner._stream
            stream.learn_row(row, stream.target(y[0]))
            if kind is rb.Perceptron and stream.state.w.ndim == 1:
                score_row(row, stream.state.w)


def _taggers() -> None:
    import rosenblatt as rb

    words, labels = [["a", "b"], ["b"]], [["A", "B"], ["B"]]
    items = [[{"w": 2.0}, ["v"]], [["v"]]]
    ways: tuple[dict[str, int], ...] = ({}, {"beam": 2}, {"order": 2}, {"hash_bits": 4})
    for average, more in product((False, True), ways):
        parameters: dict[str, Any] = {"templates": "words", "average": average, "max_iter": 2, **more}
        rb.SequencePerceptron(**parameters).fit(words, labels).predict(words)
    tagger = rb.SequencePerceptron(max_iter=2).fit(items, labels)
    tagger.predict(items, k=2)
    tagger.margins(items)


def _certificates() -> None:
    import rosenblatt as rb

    for X, y in _tables():
        rb.certify(X, y, margin=True)


def _files() -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from rosenblatt.tasks.training import train

    with TemporaryDirectory() as folder:
        sparse, table = Path(folder) / "rows.svm", Path(folder) / "rows.csv"
        sparse.write_text("".join(f"{k % 2} 1:{k / 4} 2:{-k}\n" for k in range(40)))
        table.write_text("a,text,label\n" + "".join(f"{k / 4},word {k} and more,{k % 2}\n" for k in range(40)))
        for data, options in ((sparse, {}), (table, {"text": "text"}), (table, {"ignore": "text", "scale": True})):
            train(data, parameters={"max_iter": 2}, **options)


_GROUPS: dict[str, Callable[[], None]] = {
    "Perceptron": _perceptrons,
    "Files": _files,
    "Large data": _large_data,
    "Other learners": _relatives,
    "Streams": _streams,
    "Taggers": _taggers,
    "Certificates": _certificates,
}
