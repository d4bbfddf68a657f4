"""Online rules: PA-I beside scikit-learn's, and AROW beside the perceptron, on the words of a treebank."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.timing import Setup, race
from rosenblatt import ConfidenceWeightedClassifier, PassiveAggressiveClassifier, Perceptron

FILES = ("sequences/ewt-train.tsv.gz", "sequences/ewt-test.tsv.gz")
C = 0.1
SHORT, LONG = 1, 6
"""Passes of two runs: their difference is the time of passes alone."""
PATIENT = {"n_iter_no_change": 1_000_000}
PA1 = {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": C, "tol": None}


def words(setup: Setup) -> Iterator[Comparison]:
    """Nouns or not, and 17 parts of speech, by the word, its ends and its neighbours."""
    paths = [] if setup.data is None else [setup.data / name for name in FILES]
    if not paths or not all(path.exists() for path in paths):
        print(f"online: left out; --data DIR names the folder that holds {', '.join(FILES)}", file=sys.stderr)
        return
    X, tags, X_test, tags_test = _tagged(paths)
    noun, noun_test = (np.isin(each, ["NOUN", "PROPN"]) for each in (tags, tags_test))
    yield _pa(setup, "PA-I, two classes", X, noun, X_test, noun_test, AtLeast(0.9))
    yield _pa(setup, "PA-I, 17 classes", X, tags, X_test, tags_test, AtLeast(5))
    yield _arow(setup, X, noun, X_test, noun_test)


def _pa(setup: Setup, name: str, X: Any, y: Any, X_test: Any, y_test: Any, target: AtLeast) -> Comparison:
    def ours(passes: int) -> Any:
        clf = PassiveAggressiveClassifier(C=C, shuffle=False, max_iter=passes, trace=None, **PATIENT)
        return clf.fit(X, y)

    def peer(passes: int) -> Any:
        return SGDClassifier(**PA1, shuffle=False, max_iter=passes).fit(X, y)

    ours(1)  # compiles
    runs = {f"{who.__name__} {passes}": partial(who, passes) for who in (ours, peer) for passes in (SHORT, LONG)}
    timed = race(runs, setup.repeats)
    models = [timed[f"{who} {LONG}"].result for who in ("ours", "peer")]
    right = " / ".join(f"{model.score(X_test, y_test):.2%}" for model in models) + f" right after {LONG} passes"
    seconds = [_a_pass(timed, who) for who in ("ours", "peer")]
    return Comparison(f"{name}, a pass", "scikit-learn", *seconds, target, models=right)


def _a_pass(timed: Any, name: str) -> list[float]:
    """Return the time of a pass: the least disturbed long run less the least disturbed short one."""
    short, long = (min(timed[f"{name} {passes}"].seconds) for passes in (SHORT, LONG))
    return [(long - short) / (LONG - SHORT)]


def _arow(setup: Setup, X: Any, y: Any, X_test: Any, y_test: Any) -> Comparison:
    once = {"max_iter": 1, "trace": None, **PATIENT}
    arow, plain = ConfidenceWeightedClassifier(r=1.0, **once).fit(X, y), Perceptron(**once).fit(X, y)
    timed = race({"peer": lambda: plain.fit(X, y), "ours": lambda: arow.fit(X, y)}, setup.repeats)
    right = f"{arow.score(X_test, y_test):.2%} / {plain.score(X_test, y_test):.2%} right, held out"
    made = f"{arow.n_mistakes_:,} / {plain.n_mistakes_:,} mistakes"
    seconds = timed["ours"].seconds, timed["peer"].seconds
    return Comparison("AROW, 1 pass", "our Perceptron", *seconds, AtLeast(0.4), models=f"{right}, {made}")


def _tagged(paths: list[Path]) -> list[Any]:
    """Return rows and tags of each file; features are numbered by the first file, and others are left out."""
    numbers: dict[str, int] = {}
    read = []
    for path in paths:
        indices, indptr, tags = [], [0], []
        for sentence in _sentences(path):
            for at, (_, tag, *_) in enumerate(sentence):
                for feature in _features([word for word, *_ in sentence], at):
                    number = numbers.setdefault(feature, len(numbers)) if not read else numbers.get(feature)
                    if number is not None:
                        indices.append(number)
                indptr.append(len(indices))
                tags.append(tag)
        read.append((np.array(indices, np.int32), np.array(indptr, np.int32), np.array(tags)))
    found: list[Any] = []
    for indices_of, indptr_of, tags_of in read:
        X = csr_array((np.ones(len(indices_of)), indices_of, indptr_of), (len(tags_of), len(numbers)))
        X.sort_indices()
        found += [X, tags_of]
    return found


def _sentences(path: Path) -> Iterator[list[list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        sentence: list[list[str]] = []
        for line in file:
            if line.strip():
                sentence.append(line.rstrip("\n").split("\t"))
            elif sentence:
                yield sentence
                sentence = []
        if sentence:
            yield sentence


def _features(sentence: list[str], at: int) -> list[str]:
    """Return the features of a word: itself, its shape and its ends, and its neighbours."""
    word = sentence[at]
    low = word.lower()
    near = {k: sentence[at + k].lower() if 0 <= at + k < len(sentence) else "" for k in (-2, -1, 1, 2)}
    shape = "".join("X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c for c in word)
    return [
        f"word {word}",
        f"low {low}",
        f"shape {shape}",
        *(f"begins {low[:k]}" for k in (1, 2, 3) if k <= len(low)),
        *(f"ends {low[-k:]}" for k in (1, 2, 3, 4) if k <= len(low)),
        *(f"{k} {other}" for k, other in near.items()),
        f"after {near[-1]} {low}",
        f"before {low} {near[1]}",
        *(["first"] if at == 0 else []),
    ]
