"""What commands hold of a large table, by the peak of a process of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROWS, NUMBERS, CATEGORIES = 200_000, 40, (4, 9)
HELD = ROWS * ((NUMBERS + len(CATEGORIES)) * 12 + 8)  # bytes: values of eight, their columns of four, row starts
OTHERS = 95e6  # bytes: labels, weights and orders of all rows, and what is read and copied at a time

PROGRAM = """
import sys
import rosenblatt as rb
from rosenblatt.tasks.data import all_rows, open_data
from rosenblatt.tables.blocks import TakenBlocks
from rosenblatt.tables.collect import transform_blocks
from rosenblatt.tasks.training import preparation

def peak():
    line = next(each for each in open("/proc/self/status") if each.startswith("VmHWM"))
    return int(line.split()[1]) * 1024

def train(path):
    rb.train(path, parameters={"max_iter": 2}, log=print)

def evaluate(path):
    rb.evaluate_folds("averaged", path, folds=5, parameters={"max_iter": 2}, log=print)

def certify(path):
    rb.certify(path, log=print, time_limit=0.0)

work, small, large = sys.argv[1:]
globals()[work](small)  # imports, and compiles
before = peak()
globals()[work](large)
print(peak() - before)
"""


def write(path, n_rows):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((n_rows, NUMBERS)), 3)
    words = [
        np.array([f"w{k}" for k in range(several)])[rng.integers(0, several, n_rows)] for several in CATEGORIES
    ]
    labels = np.where(X[:, 0] + rng.standard_normal(n_rows) > 0, "yes", "no")
    names = [*(f"x{j}" for j in range(NUMBERS)), "colour", "town", "label"]
    columns = [*(column.astype(str) for column in X.T), *words, labels]
    path.write_text("\n".join([",".join(names), *map(",".join, zip(*columns, strict=True))]) + "\n")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for name, n_rows in (("small.csv", 2000), ("large.csv", ROWS)):
        write(folder / name, n_rows)
    return str(folder / "small.csv"), str(folder / "large.csv")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads what Linux says of a process")
@pytest.mark.parametrize(
    ("work", "copies"),
    [("train", 2.0), ("evaluate", 1.8), ("certify", 1.0)],  # as read and scaled; four fifths are scaled; as read
)
def test_rows_of_a_large_table_are_held_no_more_often_than_needed(tables, work, copies):
    command = [sys.executable, "-c", PROGRAM, work, *tables]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(told.split()[-1]) < copies * HELD + OTHERS
