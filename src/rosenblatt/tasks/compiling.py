"""Compiling the loops ahead of their first use."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.compilation import when_compiling
from rosenblatt.parameters import unknown_name
from rosenblatt.registry import OF_OTHERS, OF_TABLES, able, command
from rosenblatt.tasks.data import Log, log_info
from rosenblatt.typing import ColumnLike, MatrixLike

__all__ = ["DEFAULT_GROUPS", "GROUPS", "compile_loops"]

Step: TypeAlias = Callable[[], object]
"""A small piece of work, done once so that its loops are compiled."""


def compile_loops(*groups: str, log: Log = log_info, progress: Callable[[int, int], object] | None = None) -> int:
    """Compile loops for this processor before their first use.

    numba keeps them in its cache on disk, so that later processes load them. Call this when an image or an
    environment is built; otherwise each loop is compiled at its first use, which takes about a second.

    Parameters
    ----------
    *groups : str
        Which loops. The default is ``"perceptrons"`` and ``"files"``; ``"all"`` stands for all groups.

        - ``"perceptrons"``: `Perceptron`, plain and averaged, on float64 rows.
        - ``"files"``: the commands, with CSV and LIBSVM files.
        - ``"narrow"``: `Perceptron` on float32 and bytes.
        - ``"machines"``: `Perceptron`, one against the rest.
        - ``"large"``: `Perceptron` on many rows.
        - ``"relatives"``: voting, pocket, lifted and soft margin.
        - ``"kernels"``: `KernelPerceptron`.
        - ``"streams"``: going on from model files, as a server does.
        - ``"taggers"``: `SequencePerceptron`.
        - ``"margins"``: certificates with a margin.
    log : callable
        Is called with one sentence before each group.
    progress : callable or None
        Is called with the number of steps done and of all steps, before the first step and after each.

    Returns
    -------
    int
        The number of loops that were compiled. It is 0 if the cache had them all.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> n = compile_loops("taggers")  # doctest: +SKIP
    """
    for name in groups:
        if name not in GROUPS and name != "all":
            raise unknown_name("groups", name, "is not a group of loops", ["all", *GROUPS])
    wanted = GROUPS if "all" in groups else groups or DEFAULT_GROUPS
    compiled = 0

    def count() -> None:
        nonlocal compiled
        compiled += 1

    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the data is made to be trained on once, not well
        work = {name: list(GROUPS[name].steps(Path(folder))) for name in dict.fromkeys(wanted)}
        total, done = sum(map(len, work.values())), 0
        when_compiling.append(count)
        try:
            for name, steps in work.items():
                log(f"{name}: {GROUPS[name].title} …")
                for step in steps:
                    if progress is not None:
                        progress(done, total)
                    step()
                    done += 1
        finally:
            when_compiling.remove(count)
        if progress is not None:
            progress(total, total)
    return compiled


def _tables(dtype: Any = np.float64) -> Iterator[tuple[Any, Any]]:
    """Yield tiny data of each kind that has its own loops: layout, two or more classes."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
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


def _learn(X: Any, y: NDArray[Any], **parameters: Any) -> None:
    """Train a perceptron at once, in parts, and by one row."""
    import rosenblatt as rb

    rb.Perceptron(max_iter=3, **parameters).fit(X, y).predict(X)
    stream = rb.Perceptron(**parameters).partial_fit(X, y, classes=np.unique(y))
    row = X[0] if isinstance(X, np.ndarray) else X.toarray()[0]
    stream.learn_one(row, y[0]).predict_one(row)


def _decide(n_rows: int, n_classes: int) -> None:
    """Train on noise, until a verdict ends it."""
    import rosenblatt as rb

    rng = np.random.default_rng(0)
    rb.Perceptron(max_iter=20).fit(rng.standard_normal((n_rows, 4)), rng.integers(0, n_classes, n_rows))


def _perceptrons(_: Path) -> Iterator[Step]:
    for (X, y), average in product(_tables(), (False, True)):
        yield partial(_learn, X, y, average=average)
    for n_rows, n_classes in product((60, 2000), (2, 3)):
        yield partial(_decide, n_rows, n_classes)


def _narrow(_: Path) -> Iterator[Step]:
    for (X, y), average in product((*_tables(np.float32), *_byte_tables()), (False, True)):
        yield partial(_learn, X, y, average=average)


def _machines(_: Path) -> Iterator[Step]:
    for (X, y), average in product((*_tables(), *_tables(np.float32), *_byte_tables()), (False, True)):
        if y.max() > 1:
            yield partial(_learn, X, y, average=average, multiclass="ovr")


def _large(_: Path) -> Iterator[Step]:
    """Train on data that is large enough for the screen, which reads fewer rows."""
    import rosenblatt as rb

    rng = np.random.default_rng(0)
    X = rng.standard_normal((80_000, 16))
    score = X @ np.arange(16.0)
    for dtype, y in product((np.float64, np.float32), (score > 0, np.digitize(score, (-20, 20)))):
        yield partial(rb.Perceptron(max_iter=6).fit, X.astype(dtype), y)


def _fit_and_predict(learner: Any, X: MatrixLike, y: ColumnLike) -> None:
    learner.fit(X, y).predict(X)


def _relatives(_: Path) -> Iterator[Step]:
    import rosenblatt as rb

    for X, y in (*_tables(), *_tables(np.float32)):
        kinds: tuple[Any, ...] = (rb.VotedPerceptron, rb.PocketPerceptron, rb.SoftMarginClassifier)
        for kind in (*kinds, rb.LiftedPerceptron) if y.max() == 1 else kinds:
            yield partial(_fit_and_predict, kind(max_iter=2), X, y)


def _kernels(_: Path) -> Iterator[Step]:
    import rosenblatt as rb

    for X, y in (*_tables(), *_tables(np.float32)):
        yield partial(_fit_and_predict, rb.KernelPerceptron("rbf", max_iter=2), X, y)


def _go_on(learner: Any, X: Any, y: NDArray[Any], path: Path) -> None:
    """Go on from a model file row by row, and in chunks, as a server does."""
    import rosenblatt as rb
    from rosenblatt.loops.passes import score_row
    from rosenblatt.rows.features import as_rows

    rb.save(learner.fit(X, y), path)
    loaded: Any = rb.load(path)
    loaded.partial_fit(X, y).decision_function(X)
    row, stream = as_rows(X[:1]).rows, loaded._stream
    stream.learn_row(row, stream.target(y[0]))
    if isinstance(learner, rb.Perceptron) and stream.state.w.ndim == 1:
        score_row(row, stream.state.w)


def _learn_named(average: bool) -> None:
    """Learn from examples that are dictionaries."""
    import rosenblatt as rb

    stream = rb.Perceptron(average=average).learn_one({"a": 1.0}, 0, classes=[0, 1])
    stream.learn_one({"a": 1.0}, 1).learn_one({"b": 1.0}, 0).predict_one({"b": 2.0})


def _streams(folder: Path) -> Iterator[Step]:

    for (X, y), name in product((*_tables(), *_tables(np.float32)), able("serves")):
        kind, fixed = command(name)
        own = {"kernel": "rbf", "budget": 8} if name == "kernel" else fixed
        yield partial(_go_on, kind(max_iter=2, **own), X, y, folder / "model")
    for average in (False, True):
        yield partial(_learn_named, average)


def _ask_tagger(items: Any, labels: ColumnLike) -> None:
    import rosenblatt as rb

    tagger = rb.SequencePerceptron(max_iter=2).fit(items, labels)
    tagger.predict(items, k=2)
    tagger.margins(items)


def _taggers(_: Path) -> Iterator[Step]:
    import rosenblatt as rb

    words, labels = [["a", "b"], ["b"]], [["A", "B"], ["B"]]
    ways: tuple[dict[str, int], ...] = ({}, {"beam": 2}, {"order": 2}, {"hash_bits": 4})
    for average, more in product((False, True), ways):
        parameters: dict[str, Any] = {"templates": "words", "average": average, "max_iter": 2, **more}
        yield partial(_fit_and_predict, rb.SequencePerceptron(**parameters), words, labels)
    yield partial(_ask_tagger, [[{"w": 2.0}, ["v"]], [["v"]]], labels)


def _margins(_: Path) -> Iterator[Step]:
    import rosenblatt as rb

    for X, y in (*_tables(), *_tables(np.float32)):
        yield partial(rb.certify, X, y, margin=True)


def _use(data: Path, model: Path, options: dict[str, Any]) -> None:
    """Do what the commands do with a file: train, predict and evaluate, certify, and follow a run."""
    from rosenblatt.certify.separability import certify
    from rosenblatt.tasks.data import read_table
    from rosenblatt.tasks.evaluating import evaluate
    from rosenblatt.tasks.training import train

    def quiet(_: str) -> None:
        pass

    for learner in (OF_TABLES, OF_OTHERS, "perceptron"):
        train(data, learner=learner, parameters={"max_iter": 20}, scale=None, log=quiet, **options).save(model)
    evaluate(model, data, log=quiet)
    if "text" not in options:
        table = read_table(data, log=quiet, **options)
        certify(table.X, table.y)
        _replay(table.X, table.y)


def _replay(X: MatrixLike, y: ColumnLike) -> None:
    """Follow the updates of a run, as its table, its page and a report do."""
    import rosenblatt as rb

    for average in (False, True):
        trace = rb.Perceptron(average=average, max_iter=20).fit(X, y).trace_
        trace.replay(X, y)
    if len(trace.classes) == 2:
        trace.path(X, y)
        rb.bounds(X, y)


def _scale(rows: Any) -> None:
    """Standardise rows that are too many to be worth no loop."""
    from rosenblatt.tables.scaling import Scaling, Statistics

    statistics = Statistics()
    statistics.add(rows, *rows.shape)
    Scaling.of(statistics).into(rows)


def _files(folder: Path) -> Iterator[Step]:
    from rosenblatt.tables.blocks import checksum
    from rosenblatt.tables.scaling import MAX_PLAIN_VALUES

    for n_classes in (2, 3):
        rows, table = folder / f"rows{n_classes}.svm", folder / f"table{n_classes}.csv"
        labels = [k % n_classes for k in range(40)]
        # Two classes are separated soon, because the summary of such a training has a margin.
        rows.write_text("".join(f"{y} 1:{k / 4} 2:{100 * y - 50}\n" for k, y in enumerate(labels)))
        lines = [f"{k / 4},{100 * y - 50},word {k} and more,{y}\n" for k, y in enumerate(labels)]
        table.write_text("a,b,text,label\n" + "".join(lines))
        for data, options in ((rows, {}), (table, {"ignore": "text"}), (table, {"text": "text"})):
            yield partial(_use, data, folder / "model", options)
    yield partial(checksum, [np.zeros(2**12)])
    for dtype in (np.float64, np.float32):
        yield partial(_scale, np.ones((MAX_PLAIN_VALUES + 1, 1), dtype))


class LoopGroup(NamedTuple):
    """Some loops: what for, and work that needs them."""

    title: str
    steps: Callable[[Path], Iterator[Step]]


GROUPS = {
    "perceptrons": LoopGroup("Perceptron, plain and averaged", _perceptrons),
    "files": LoopGroup("the commands, with CSV and LIBSVM files", _files),
    "narrow": LoopGroup("Perceptron on float32 and bytes", _narrow),
    "machines": LoopGroup("Perceptron, one against the rest", _machines),
    "large": LoopGroup("Perceptron on many rows", _large),
    "relatives": LoopGroup("voting, pocket, lifted and soft margin", _relatives),
    "kernels": LoopGroup("KernelPerceptron", _kernels),
    "streams": LoopGroup("going on from model files, as a server does", _streams),
    "taggers": LoopGroup("SequencePerceptron", _taggers),
    "margins": LoopGroup("certificates with a margin", _margins),
}
DEFAULT_GROUPS = ("perceptrons", "files")
