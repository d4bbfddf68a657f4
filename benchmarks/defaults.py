"""Default calls on real data: what people type first, with no parameter, against scikit-learn's."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import train_test_split

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.data import gaussian
from benchmarks.timing import Setup, race
from rosenblatt import Perceptron

AFFORDED = 12  # passes that an end may take where the peer is faster
SLOWEST = 2 / 3  # of the peer's speed, unless that is more than these passes
PASSES = (1, 2, 5, 10, 20, 40)  # numbers of passes that the end of an average is compared with
BYTES, SCALED = "MNIST bytes", "MNIST 10,000/255"
AVERAGES: dict[str, tuple[type[Any], ...]] = {  # peers of averages; SGDClassifier() takes many minutes on bytes
    BYTES: (LogisticRegression,),
    SCALED: (SGDClassifier, LogisticRegression),
}


class Split(NamedTuple):
    """Rows to train on and rows held out."""

    X: Any
    held: Any
    y: Any
    held_y: Any


class Turns(NamedTuple):
    """The turns of ours, and those of a peer, which may be too slow for as many."""

    ours: int
    peer: int


def defaults(setup: Setup) -> Iterator[Comparison]:
    """Train plain and averaged perceptrons, and say how they ended and how they do on rows held out."""
    for name, (files, load) in SETS.items():
        folder = setup.data
        if files and (folder is None or not all((folder / file).exists() for file in files)):
            print(f"{name}: left out; --data DIR names the folder that holds {', '.join(files)}", file=sys.stderr)
            continue
        split = load(folder or Path())
        if setup.quick:
            few = slice(None, None, 10)
            split = Split(split.X[few], split.held, split.y[few], split.held_y)
        turns = Turns(setup.repeats, 1 if name in AVERAGES else setup.repeats)
        yield _compare(turns, f"{name}: Perceptron()", Perceptron(), [Peer()], split)[0]
        peers = [kind() for kind in AVERAGES.get(name, (SGDClassifier,))]
        yield from _compare(turns, f"{name}: Perceptron(average=True)", Perceptron(average=True), peers, split)


def _compare(turns: Turns, name: str, ours: Any, peers: list[Any], split: Split) -> list[Comparison]:
    X, held, y, held_y = split
    ours.fit(X, y)  # compiles
    contestants = {"ours": ours, "fixed": _of_passes(AFFORDED, average=ours.average)}
    contestants |= {type(peer).__name__: peer for peer in peers}
    fits = {key: lambda model=model: model.fit(X, y) for key, model in contestants.items()}
    timed = race(fits, turns.peer)
    for key, more in race({key: fits[key] for key in ("ours", "fixed")}, turns.ours - turns.peer).items():
        timed[key].seconds.extend(more.seconds)
    right, *peers_right = (np.mean(model.predict(held) == held_y) for model in (ours, *peers))
    passes = f"{AFFORDED} passes {min(timed['fixed'].seconds) * 1e3:,.0f} ms"
    best = f" (best of {PASSES[0]} to {PASSES[-1]} passes {_best(split):.1%})" if ours.average else ""
    once = ", the peer one turn" if turns.peer < turns.ours else ""
    inseparable = ours.stop_reason_ in ("inseparable", "plateau")
    rows = []
    for peer, peer_right in zip(peers, peers_right, strict=True):
        seconds = timed[type(peer).__name__].seconds
        afforded = min(SLOWEST, min(seconds) / min(timed["fixed"].seconds))
        rows.append(
            Comparison(
                name,
                type(peer).__name__,
                timed["ours"].seconds,
                seconds,
                AtLeast(afforded) if inseparable else None,
                models=f"{ours.stop_reason_}, {ours.n_iter_} passes ({passes}){once}; "
                f"held out {right:.1%}{best} / {peer_right:.1%}",
            )
        )
    return rows


def _of_passes(passes: int, *, average: bool) -> Any:
    return Perceptron(average=average, max_iter=passes, n_iter_no_change=passes, decide=False)


def _best(split: Split) -> float:
    """Return the largest share of rows held out that an average of some number of passes predicts correctly."""
    models = (_of_passes(passes, average=True).fit(split.X, split.y) for passes in PASSES)
    return float(max(np.mean(model.predict(split.held) == split.held_y) for model in models))


def _svmlight(content: bytes, n_features: int | None = None) -> tuple[Any, Any]:
    X, y = load_svmlight_file(io.BytesIO(content), n_features=n_features)
    X = csr_matrix(X)
    return csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape), y


def _a9a(folder: Path) -> Split:
    X, y = _svmlight((folder / "a9a").read_bytes())
    held, held_y = _svmlight((folder / "a9a.t").read_bytes(), X.shape[1])
    return Split(X, held, y, held_y)


def _w8a(folder: Path) -> Split:
    X, y = _svmlight(gzip.decompress((folder / "w8a.gz").read_bytes()))
    return _divided(X, y)


def _r52(folder: Path) -> Split:
    tables = []
    for name in ("r52-train.csv.gz", "r52-test.csv.gz"):
        with gzip.open(folder / name, "rt", encoding="utf-8", newline="") as file:
            tables.append(list(csv.DictReader(file)))
    words = CountVectorizer()
    X = words.fit_transform([row["text"] for row in tables[0]]).astype(float)
    held = words.transform([row["text"] for row in tables[1]]).astype(float)
    return Split(X, held, *(np.array([row["label"] for row in table]) for table in tables))


def _mnist(folder: Path, rows: int, scale: float | None) -> Split:
    with np.load(folder / "mnist.npz") as file:
        X, held = (file[f"X_{part}"].reshape(-1, 784) for part in ("train", "test"))
        if scale is not None:
            X, held = X / scale, held / scale
        return Split(X[:rows], held, file["y_train"][:rows], file["y_test"])


def _spambase(folder: Path) -> Split:
    table = np.loadtxt(folder / "spambase.data", delimiter=",")
    return _divided(table[:, :-1], table[:, -1].astype(int))


def _sms(folder: Path) -> Split:
    lines = (folder / "SMSSpamCollection").read_text("utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return _divided(CountVectorizer().fit_transform(texts).astype(float), np.array(labels))


def _noise(_: Path) -> Split:
    X, y = gaussian(400_000, 20, margin=0.0, noise=0.1)
    return Split(X[::2], X[1::2], y[::2], y[1::2])


def _divided(X: Any, y: Any) -> Split:
    return Split(*train_test_split(X, y, test_size=0.3, random_state=0, stratify=y))


SETS: dict[str, tuple[tuple[str, ...], Callable[[Path], Split]]] = {
    "a9a": (("a9a", "a9a.t"), _a9a),
    "w8a": (("w8a.gz",), _w8a),
    "R52": (("r52-train.csv.gz", "r52-test.csv.gz"), _r52),
    BYTES: (("mnist.npz",), lambda folder: _mnist(folder, 60_000, None)),
    SCALED: (("mnist.npz",), lambda folder: _mnist(folder, 10_000, 255.0)),
    "spambase": (("spambase.data",), _spambase),
    "SMS": (("SMSSpamCollection",), _sms),
    "noise 200,000×20": ((), _noise),
}
