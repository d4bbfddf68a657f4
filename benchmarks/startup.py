"""How long a fresh interpreter takes to import."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.comparison import AtMost, Comparison
from benchmarks.timing import Setup

BARE = "pass"
OURS = "import rosenblatt"
OUR_PERCEPTRON = "from rosenblatt import Perceptron"
SKLEARN = "import sklearn.linear_model"
NUMPY = "import numpy"
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


def _seconds(statement: str) -> float:
    """Return the processor seconds of an interpreter that only runs `statement`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
