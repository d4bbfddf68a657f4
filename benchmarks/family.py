"""The pocket and the vote on data that does not separate: default calls, which nothing else offers."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from sklearn.datasets import load_svmlight_file

from benchmarks.comparison import AtMost, Comparison
from benchmarks.timing import Setup, race
from rosenblatt import PocketPerceptron, VotedPerceptron


def family(setup: Setup) -> Iterator[Comparison]:
    """Fit the pocket, and predict by the vote; the last column holds test accuracies."""
    if setup.data is None:
        print("a9a: left out; --data DIR names the folder that holds it", file=sys.stderr)
        return
    X, y = load_svmlight_file(str(setup.data / "a9a"), n_features=123)
    test, right = load_svmlight_file(str(setup.data / "a9a.t"), n_features=123)
    pocket, voted = PocketPerceptron(), VotedPerceptron()
    pocket.fit(X[:1000], y[:1000])  # compiles
    timed = race({"ours": lambda: pocket.fit(X, y)}, 1)["ours"]
    score = f"{pocket.score(test, right):.2%} right"
    yield Comparison("PocketPerceptron() on a9a", "", timed.seconds, [], AtMost(5), models=score)
    voted.fit(X, y).predict(test[:10])  # compiles
    timed = race({"ours": lambda: voted.predict(test)}, setup.repeats)["ours"]
    score = f"{(timed.result == right).mean():.2%} right"
    seconds = [each / len(right) for each in timed.seconds]
    yield Comparison("VotedPerceptron() on a9a, predict a row", "", seconds, [], AtMost(2e-4), models=score)
