"""A first use that compiles says so, once, and numba's own log stays quiet."""

import logging
import subprocess
import sys

import numpy as np

from rosenblatt.loops import _jit
from rosenblatt.loops.compilation import MESSAGE, announced, when_compiling


def test_a_compilation_is_announced_once():
    said = []
    with announced(said.append), announced(said.append):
        for begins in (*when_compiling, *when_compiling):
            if begins in when_compiling:
                begins()
    assert said == [MESSAGE]
    with announced(said.append):
        pass
    assert said == [MESSAGE]
    assert not when_compiling


def test_loops_without_a_cache_are_announced_too(monkeypatch):
    def refuse(_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(_jit, "OwnTypesCache", refuse)
    doubled = _jit.jit(lambda x: 2.0 * x[0])
    said = []
    with announced(said.append):
        assert doubled(np.array([3.0])) == 6.0
        assert doubled(np.array([4.0])) == 8.0
    assert said == [MESSAGE]


def test_numba_logs_nothing_below_warnings_unless_asked():
    assert not logging.getLogger("numba.core.ssa").isEnabledFor(logging.DEBUG)
    asked = (
        "import logging; logging.getLogger('numba').setLevel(logging.INFO); import rosenblatt.loops._jit; "
        "print(logging.getLogger('numba').level)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert int(done.stdout) == logging.INFO
