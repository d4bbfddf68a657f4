"""A first use that compiles says so, once, its time is told apart, and numba's own log stays quiet."""

import logging
import subprocess
import sys
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from rosenblatt.loops import _jit, compilation
from rosenblatt.loops.compilation import (
    MESSAGE,
    Seconds,
    Stopwatch,
    announce_compilation,
    compiling,
    when_compiling,
)

OFFSET = 0.5


def test_a_compilation_is_announced_once():
    said = []
    with announce_compilation(said.append), announce_compilation(said.append):
        for begins in (*when_compiling, *when_compiling):
            if begins in when_compiling:
                begins()
    assert said == [MESSAGE]
    with announce_compilation(said.append):
        pass
    assert said == [MESSAGE]
    assert not when_compiling


def test_loops_without_a_cache_are_announced_too(monkeypatch):
    def refuse(_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(_jit, "OwnTypesCache", refuse)
    doubled = _jit.jit(lambda x: 2.0 * x[0])
    said = []
    with announce_compilation(said.append):
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


def test_the_time_of_compiling_is_told_apart(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(compilation, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    watch = Stopwatch()
    with compiling():
        now[0] += 2.0
        with compiling():  # a loop that the other one calls
            now[0] += 3.0
    now[0] += 0.5
    assert watch.read() == Seconds(0.5, 5.0)
    assert Stopwatch().read() == Seconds(0.0, 0.0)
    assert str(Seconds(1.0, 0.25)) == "1.00 s (and 0.25 s to compile, once)"
    assert str(Seconds(1.0, 0.0)) == "1.00 s"


def test_a_failed_compilation_ends_too():
    broken = _jit.jit(lambda x: x.nothing)
    watch = Stopwatch()
    with pytest.raises(numba.TypingError):
        broken(1)
    assert watch.read().compiling > 0.0
    assert Stopwatch().read().compiling == 0.0


def test_parts_are_compiled_into_loops_and_stay_python_in_python():
    @_jit.inline
    def shifted(x):
        if x < 0.0:
            raise ValueError("below zero")
        return x + OFFSET if x in (1.0, 2.0) else x

    @_jit.inline
    def shifted_twice(x):
        return shifted(shifted(x) - 0.5)

    loop = _jit.jit(lambda x: shifted_twice(x))
    loop._cache = NullCache()  # or a second run of this test would find it compiled
    begun = []
    when_compiling.append(lambda: begun.append(1))
    try:
        found = [loop(1.0), loop(2.0), loop(5.0)]
    finally:
        when_compiling.pop()
    assert found == [shifted_twice(1.0), shifted_twice(2.0), shifted_twice(5.0)] == [1.5, 2.5, 4.5]
    assert len(begun) == 1
    with pytest.raises(ValueError, match="below zero"):
        loop(-1.0)
    assert numba.njit(lambda x: shifted_twice(x))(2.0) == 2.5
