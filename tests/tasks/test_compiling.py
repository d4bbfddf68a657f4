"""Loops that are compiled ahead of their first use, and how few a first use needs."""

import json
import os
import subprocess
import sys

import pytest

from rosenblatt.exceptions import ParameterError
from rosenblatt.loops.compilation import MESSAGE
from rosenblatt.tasks.compiling import GROUPS, LoopGroup, compile_loops

COUNTING = """
import sys
from rosenblatt.loops.compilation import when_compiling
compiled = []
when_compiling.append(lambda: compiled.append(1))
"""
COMMANDS = (
    COUNTING
    + """
from rosenblatt.cli.main import main
for line in sys.argv[1:]:
    assert main(line.split()) in (0, 1), line  # 1 says that data is not separable
print(len(compiled), file=sys.stderr)
"""
)
LEARNERS = (
    COUNTING
    + """
import numpy as np
import rosenblatt as rb
X = np.random.default_rng(0).standard_normal((30, 5))
for y in ((X[:, 0] > 0).astype(int), np.digitize(X[:, 0], (-0.5, 0.5))):
    for average in (False, True):
        rb.Perceptron(average=average).fit(X, y).predict(X)
        stream = rb.Perceptron(average=average).partial_fit(X, y, classes=np.unique(y))
        stream.learn_one(X[0], y[0]).predict_one(X[0])
        stream.predict(X)
print(len(compiled), file=sys.stderr)
"""
)
TABLE = "a,b,label\n1,2,yes\n2,1,no\n3,4,yes\n4,3,no\n"


def run(*arguments, folder):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "loops")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done


def rosenblatt(*arguments, folder):
    return run("-m", "rosenblatt", *arguments, folder=folder)


def compiled_by(script, *arguments, folder):
    """Return how many loops a script compiled, and its output."""
    done = run("-c", script, *arguments, folder=folder)
    return int(done.stderr.splitlines()[-1]), done.stdout


def test_the_first_training_compiles_few_loops_and_names_their_time(tmp_path):
    (tmp_path / "four.csv").write_text(TABLE)
    first, told = compiled_by(COMMANDS, "train four.csv -o m", folder=tmp_path)
    assert 1 <= first <= 4
    assert "s to compile, once); 25 updates, 4 mistakes" in told
    again, told = compiled_by(COMMANDS, "train four.csv -o m", folder=tmp_path)
    assert again == 0
    assert "compile" not in told


@pytest.mark.slow
def test_the_first_training_says_that_it_compiles(tmp_path):
    said = [rosenblatt("train", "@or", "-o", "m", folder=tmp_path).stderr.count(MESSAGE) for _ in range(2)]
    assert said == [1, 0]


@pytest.mark.slow
def test_the_default_groups_leave_nothing_to_compile(tmp_path):
    told = rosenblatt("compile", "--json", folder=tmp_path)
    assert told.stderr.count(MESSAGE) == 1
    assert json.loads(told.stdout)["compiled"] > 20
    assert rosenblatt("compile", "--quiet", folder=tmp_path).stdout.startswith("compiled 0 loops in ")
    (tmp_path / "four.csv").write_text(TABLE)
    (tmp_path / "four.svm").write_text("1 1:1 2:2\n-1 1:2 2:1\n1 1:3 2:4\n-1 1:4 2:3\n")
    uses = [
        line
        for file in ("four.csv", "four.svm")
        for line in (
            f"train {file} -o m",
            f"predict m {file}",
            f"evaluate m {file}",
            f"certify {file}",
            f"report m {file} -o r.html",
            f"trace {file}",
        )
    ]
    more = ["train @breast-cancer -o m --scale", "train @iris -o m --learner=perceptron", "certify @iris"]
    more += ["trace four.csv --html t.html", "trace @iris --html t.html"]
    assert compiled_by(COMMANDS, *uses, *more, folder=tmp_path)[0] == 0
    assert compiled_by(LEARNERS, folder=tmp_path)[0] == 0


def test_compiling_says_what_it_does(monkeypatch):
    said, steps, done = [], [], []
    group = LoopGroup("nothing at all", lambda _: iter([lambda: done.append(1)] * 2))
    monkeypatch.setitem(GROUPS, "nothing", group)
    assert compile_loops("nothing", log=said.append, progress=lambda *step: steps.append(step)) == 0
    assert said == ["nothing: nothing at all …"]
    assert steps == [(0, 2), (1, 2), (2, 2)]
    assert done == [1, 1]


def test_an_unknown_group_is_named_with_those_there_are():
    with pytest.raises(ParameterError, match=r"'tagger' is not a group of loops. Did you mean taggers\?"):
        compile_loops("tagger")
