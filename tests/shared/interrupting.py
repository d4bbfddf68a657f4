"""``python -m tests.shared.interrupting FOLDER``: train again and again, and say what each Ctrl-C led to.

The process writes a line before each training and a line after the KeyboardInterrupt that ended it; whoever reads
these lines sends SIGINT in between. SIGINT is blocked while nothing is trained, so that it always falls into a
training. Callbacks drop objects whose weakref callbacks take long: Python ignores an exception raised in there.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rosenblatt as rb
from rosenblatt.kernels import RBF
from rosenblatt.rows.batch import Batch
from rosenblatt.tables.collect import collect
from tests.shared.strategies import noisy
from tests.tables.sources import FileSource

FOREVER = 10**9
X, Y = noisy(2000, 8)


class SlowSource(FileSource):
    """A file that is read slowly."""

    def chunks(self) -> Iterator[Batch]:
        for chunk in super().chunks():
            time.sleep(0.01)
            yield chunk


class Dropped:
    """An object that something looks at when it goes."""


def drop(report: Any) -> None:
    """Call weakref callbacks, in which Python ignores exceptions."""

    def takes_long(_: Any) -> None:
        for _ in range(20_000):
            pass

    for _ in range(5):
        watched = Dropped()
        seen = weakref.ref(watched, takes_long)
        del watched
        assert seen() is None


ENDLESS: dict[str, Any] = {"max_iter": FOREVER, "n_iter_no_change": FOREVER, "callbacks": [drop]}


def in_memory(folder: Path) -> Any:
    return rb.Perceptron(**ENDLESS), (X, Y)


def short(folder: Path) -> Any:
    return rb.Perceptron(max_iter=2), (X, Y)


def pocket(folder: Path) -> Any:
    return rb.PocketPerceptron(**ENDLESS), (X[:200], Y[:200])


def kernel(folder: Path) -> Any:
    return rb.KernelPerceptron(RBF(0.5), margin=1e9, **ENDLESS), (X[:300], Y[:300])


def network(folder: Path) -> Any:
    return rb.MultilayerPerceptron(hidden_layer_sizes=5, tol=None, **ENDLESS), (X, Y)


def cached(folder: Path) -> Any:
    source = FileSource.write(folder / "data.npy", X, Y, step=500)
    return rb.Perceptron(**ENDLESS), (collect(source, memory=0, block_bytes=1 << 13),)


def slow_source(folder: Path) -> Any:
    FileSource.write(folder / "data.npy", X, Y)
    source = SlowSource(folder / "data.npy", step=50, known=True)
    return rb.Perceptron(**ENDLESS), (collect(source, memory=0, block_bytes=1 << 12),)


KINDS: list[Callable[[Path], Any]] = [in_memory, cached, network, slow_source, kernel, pocket, short]


def train(kind: Callable[[Path], Any], folder: Path) -> Any:
    """Train until KeyboardInterrupt; return the model."""
    begun = False
    while True:
        model, data = kind(folder)
        fit = model.fit_blocks if len(data) == 1 else model.fit
        if not begun:
            begun = True
            print("begin", kind.__name__, flush=True)
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            fit(*data)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        except KeyboardInterrupt:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            return model


def main() -> None:
    warnings.simplefilter("ignore")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    for number, kind in zip(count(), cycle(KINDS), strict=False):
        with TemporaryDirectory(dir=sys.argv[1]) as folder:
            model = train(kind, Path(folder))
            left = [thread.name for thread in threading.enumerate() if thread.name == "rosenblatt reader"]
            handler = signal.getsignal(signal.SIGINT)
            assert not left, left
            assert handler is signal.default_int_handler, handler
            print("end", number, model.__dict__.get("stop_reason_", "untrained"), flush=True)
            del model


if __name__ == "__main__":
    main()
