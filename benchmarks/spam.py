"""Real text: SMS messages as bags of words, told apart by an averaged perceptron and by a linear SVM."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.timing import Setup, race
from rosenblatt import Perceptron

FILE = "SMSSpamCollection"
WITHIN = 0.005


def sms(setup: Setup) -> Iterator[Comparison]:
    """Ten folds: the time to train on all of them, and the accuracy on rows held out."""
    path = None if setup.data is None else setup.data / FILE
    if path is None or not path.exists():
        print(f"SMS: left out; --data DIR names the folder that holds {FILE}", file=sys.stderr)
        return
    labels, texts = zip(*(line.split("\t", 1) for line in path.read_text("utf-8").splitlines()), strict=True)
    X, y = CountVectorizer().fit_transform(texts).astype(float), np.array(labels)
    folds = [
        (X[train], y[train], test) for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    ]
    models = {"ours": [Perceptron(average=True) for _ in folds], "peer": [LinearSVC() for _ in folds]}

    def train(name: str) -> None:
        for model, (X_train, y_train, _) in zip(models[name], folds, strict=True):
            model.fit(X_train, y_train)

    train("ours")
    timed = race({name: lambda name=name: train(name) for name in models}, setup.repeats)
    right = {
        name: np.mean(
            [model.score(X[test], y[test]) for model, (*_, test) in zip(models[name], folds, strict=True)]
        )
        for name in models
    }
    assert right["ours"] > right["peer"] - WITHIN, right
    accuracies = f"{right['ours']:.2%} / {right['peer']:.2%} right, held out"
    seconds = timed["ours"].seconds, timed["peer"].seconds
    yield Comparison("SMS spam averaged, ten folds", "LinearSVC", *seconds, AtLeast(1), models=accuracies)
