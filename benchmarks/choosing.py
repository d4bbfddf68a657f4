"""Which learner for which data: ``python -m benchmarks.choosing --data DIR`` prints the tables of the page.

Every learner has the parameters of its constructor's defaults but for those in `LEARNERS`. Columns of numbers are
standardised by the training rows; pixels, counts of words and sparse files are taken as they are.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from benchmarks.defaults import SETS, Split

SPLITS = 5
"""Ways to hold out 30 % of the rows of a set that has no test rows of its own."""
MANY_ROWS = 12_000
"""Sets with more training rows get one split, and no kernel, whose time grows with the square of the rows."""

LEARNERS: dict[str, Callable[[], Any]] = {
    "`Perceptron()`": rb.Perceptron,
    "`Perceptron(average=True)`": lambda: rb.Perceptron(average=True),
    "`VotedPerceptron()`": rb.VotedPerceptron,
    "`PocketPerceptron()`": rb.PocketPerceptron,
    "`PassiveAggressiveClassifier(average=True)`": lambda: rb.PassiveAggressiveClassifier(average=True),
    "`ConfidenceWeightedClassifier()`": rb.ConfidenceWeightedClassifier,
    "`SoftMarginClassifier()`": rb.SoftMarginClassifier,
    '`KernelPerceptron("rbf", average=True)`': lambda: rb.KernelPerceptron("rbf", average=True),
    "`MultilayerPerceptron(early_stopping=True)`": lambda: rb.MultilayerPerceptron(early_stopping=True),
    "scikit-learn `LogisticRegression()`": lambda: LogisticRegression(max_iter=1000),
    "scikit-learn `RandomForestClassifier()`": lambda: RandomForestClassifier(random_state=0),
}
PIXELS = {"digits"}
DENSE_ONLY = {
    '`KernelPerceptron("rbf", average=True)`',
    "`MultilayerPerceptron(early_stopping=True)`",
    "scikit-learn `RandomForestClassifier()`",
}


class Measured(NamedTuple):
    """The mean share of held-out rows predicted correctly, and the median seconds of a fit."""

    accuracy: float
    seconds: float


def main() -> None:
    """Measure every learner on every set that is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.choosing", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds real data, see README.md")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(LOADERS)}; all if none is given")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    columns = {}
    for name in arguments.sets or LOADERS:
        files, load = LOADERS[name]
        if all(arguments.data and (arguments.data / file).exists() for file in files):
            columns[name] = _measured(list(load(arguments.data or Path())), name)
        else:
            print(f"{name}: left out; --data DIR names the folder that holds {', '.join(files)}", file=sys.stderr)
    _print(columns, "accuracy", lambda found: f"{found.accuracy:.1%}")
    _print(columns, "seconds to fit", lambda found: f"{found.seconds:.2g}")


def _measured(splits: list[Split], name: str) -> dict[str, Measured]:
    splits = splits if name in PIXELS else [_scaled(split) for split in splits]
    counts = [np.unique(split.held_y, return_counts=True)[1].max() / len(split.held_y) for split in splits]
    found = {"always the most frequent class": Measured(mean(counts), 0.0)}
    for learner, make in LEARNERS.items():
        rows, sparse = len(splits[0].y), issparse(splits[0].X)
        if learner in DENSE_ONLY and (sparse or rows > MANY_ROWS):
            continue
        make().fit(splits[0].X[:200], splits[0].y[:200])  # compiles
        accuracies, seconds = [], []
        for X, held, y, held_y in splits:
            start = time.process_time()
            model = make().fit(X, y)
            seconds.append(time.process_time() - start)
            accuracies.append(float(np.mean(model.predict(held) == held_y)))
        found[learner] = Measured(mean(accuracies), median(seconds))
        print(name, learner, *found[learner], file=sys.stderr, flush=True)
    return found


def _scaled(split: Split) -> Split:
    if issparse(split.X):
        return split
    scaler = StandardScaler().fit(split.X)
    return split._replace(X=scaler.transform(split.X), held=scaler.transform(split.held))


def _print(columns: dict[str, dict[str, Measured]], title: str, show: Callable[[Measured], str]) -> None:
    print(f"\n| {title} | {' | '.join(columns)} |")
    print("|---|" + "--:|" * len(columns))
    for learner in ["always the most frequent class", *LEARNERS]:
        cells = [show(column[learner]) if learner in column else "" for column in columns.values()]
        print(f"| {learner} | {' | '.join(cells)} |")


def _bundled(load: Callable[..., Any]) -> Callable[[Path], Iterator[Split]]:
    return lambda _: _divided(*load(return_X_y=True))


def _table(file: str) -> Callable[[Path], Iterator[Split]]:
    def load(folder: Path) -> Iterator[Split]:
        table = np.genfromtxt(folder / file, delimiter=",", dtype=str)
        return _divided(table[:, :-1].astype(float), table[:, -1])

    return load


def _divided(X: Any, y: Any) -> Iterator[Split]:
    for seed in range(SPLITS):
        yield Split(*train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y))


def _again(name: str) -> tuple[tuple[str, ...], Callable[[Path], list[Split]]]:
    files, load = SETS[name]
    return files, lambda folder: [load(folder)]


LOADERS: dict[str, tuple[tuple[str, ...], Callable[[Path], Any]]] = {
    "wine": ((), _bundled(load_wine)),
    "breast cancer": ((), _bundled(load_breast_cancer)),
    "digits": ((), _bundled(load_digits)),
    "banknote": (("banknote_authentication.csv",), _table("banknote_authentication.csv")),
    "sonar": (("sonar.csv",), _table("sonar.csv")),
    "spambase": (("spambase.data",), _table("spambase.data")),
    "SMS": _again("SMS"),
    "R52": _again("R52"),
    "a9a": _again("a9a"),
    "w8a": _again("w8a"),
}

if __name__ == "__main__":
    main()
