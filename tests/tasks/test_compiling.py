"""Loops that are compiled ahead of their first use."""

import os
import subprocess
import sys

import pytest

import rosenblatt as rb
from rosenblatt.loops.compilation import MESSAGE


def rosenblatt(*arguments, folder):
    command = [sys.executable, "-m", "rosenblatt", *arguments]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "loops")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_the_first_training_says_that_it_compiles(tmp_path):
    said = [rosenblatt("train", "@or", "-o", "m", folder=tmp_path).stderr.count(MESSAGE) for _ in range(2)]
    assert said == [1, 0]


@pytest.mark.slow
def test_nothing_is_left_to_compile(tmp_path):
    told = rosenblatt("compile", folder=tmp_path)
    assert told.stderr.count(MESSAGE) == 1
    assert int(told.stdout.split()[1]) > 50
    assert rosenblatt("compile", folder=tmp_path).stdout == "compiled 0 loops\n"
    for data, option in (("@breast-cancer", "--scale"), ("@iris", "--learner=perceptron")):
        assert MESSAGE not in rosenblatt("train", data, "-o", "m", option, folder=tmp_path).stderr


def test_compiling_says_what_it_does(monkeypatch):
    said = []
    monkeypatch.setattr("rosenblatt.tasks.compiling._GROUPS", {"Nothing": lambda: None})
    assert rb.compile_loops(log=said.append) == 0
    assert said == ["Nothing …"]
