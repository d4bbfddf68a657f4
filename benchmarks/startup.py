"""How long a fresh interpreter takes to import, and a fresh command to answer."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.comparison import AtMost, Comparison
from benchmarks.timing import Setup

BARE = "pass"
OURS = "import rosenblatt"
OUR_PERCEPTRON = "from rosenblatt import Perceptron"
SKLEARN = "import sklearn.linear_model"
NUMPY = "import numpy"
PREPARE = """
import pickle
import pandas
import rosenblatt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Perceptron
data = load_breast_cancer(as_frame=True)
data.frame.head(100).to_csv("rows.csv", index=False)
pickle.dump(Perceptron().fit(data.data, data.target), open("theirs.pickle", "wb"))
data.frame.to_csv("all.csv", index=False)
from rosenblatt.cli.main import main
main(["train", "all.csv", "-o", "ours.model", "--quiet", "--max-iter", "5"])
"""
UNPICKLE = """
import pickle
import pandas
rows = pandas.read_csv("rows.csv").drop(columns="target")
print(*pickle.load(open("theirs.pickle", "rb")).predict(rows), sep="\\n")
"""
LIGHT = "import rosenblatt, sys; assert not {'numba', 'sklearn'} & set(sys.modules)"


def imports(setup: Setup) -> Iterator[Comparison]:
    """Import, less what the bare interpreter takes."""
    _seconds(LIGHT)
    statements = (BARE, OURS, OUR_PERCEPTRON, SKLEARN, NUMPY)
    seconds: dict[str, list[float]] = {statement: [] for statement in statements}
    for turn in range(setup.repeats + 1):
        for statement in statements:
            measured = _seconds(statement)
            if turn:  # the first one fills the disk's cache
                seconds[statement].append(measured)
    bare = min(seconds[BARE])
    net = {statement: [each - bare for each in turns] for statement, turns in seconds.items()}
    yield Comparison(OURS, SKLEARN, net[OURS], net[SKLEARN], AtMost(0.25))
    yield Comparison(OURS, NUMPY, net[OURS], net[NUMPY])
    yield Comparison(OUR_PERCEPTRON, SKLEARN, net[OUR_PERCEPTRON], net[SKLEARN])


def command(setup: Setup) -> Iterator[Comparison]:
    """Predict a file of a hundred rows and thirty columns, from a cold start, by the clock; the peer unpickles."""
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", PREPARE], cwd=folder, check=True, capture_output=True)
        ours = [sys.executable, "-m", "rosenblatt", "predict", "ours.model", "rows.csv", "--quiet"]
        contestants = {"ours": ours, "theirs": [sys.executable, "-c", UNPICKLE]}
        seconds: dict[str, list[float]] = {name: [] for name in contestants}
        for turn in range(setup.repeats + 1):
            for name, arguments in contestants.items():
                began = time.perf_counter()
                answer = subprocess.run(arguments, cwd=folder, check=True, capture_output=True).stdout
                if turn:  # the first one fills the disk's cache
                    seconds[name].append(time.perf_counter() - began)
                assert len(answer.splitlines()) == 100
        assert Path(folder, "theirs.pickle").exists()
    peer = "sklearn Perceptron, unpickled, pandas"
    yield Comparison("rosenblatt predict, 100 × 30 CSV", peer, *seconds.values(), AtMost(0.5))


def _seconds(statement: str) -> float:
    """Return the processor seconds of an interpreter that only runs `statement`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
