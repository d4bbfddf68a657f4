"""Commands load nothing that takes long to load and is not used."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from rosenblatt.models.files import open_model
from rosenblatt.tables.svmlight_plain import write_svmlight
from tests.cli.messages import messages, write_tsv

UNUSED = ["sklearn", "pandas", "scipy.stats", "scipy.optimize", "matplotlib", "rich"]  # by training a perceptron
HEAVY = ["numba", "sklearn", "scipy", "pandas", "matplotlib", "rich", "rosenblatt.estimators"]
SCRIPT = """
import json, sys
from rosenblatt.cli.main import main
code = main(sys.argv[2:])
print(json.dumps([code, [name for name in json.loads(sys.argv[1]) if name in sys.modules]]), file=sys.stderr)
"""


def run(folder, watched, *arguments):
    """Run a command; return the process, and its exit code with those of the modules watched that it loaded."""
    command = [sys.executable, "-c", SCRIPT, json.dumps(watched), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    return ran, json.loads(ran.stderr.splitlines()[-1])


CSV = "a,b,kind,label\n1,2,u,x\n3,4,v,y\n-1,2,u,x\n"
JSONL = '{"a": 1, "b": 2, "kind": "u", "label": "x"}\n{"a": 3, "b": 4, "kind": "v", "label": "y"}\n'
SVM = "1 1:1 3:2\n-1 2:1\n1 1:2\n"


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("t.csv", CSV, []),
        ("t.jsonl", JSONL, []),
        ("t.svm", SVM, []),
        ("numbers.csv", "a,b,label\n1,2,x\n3,4,y\n", ["--missing", "mean", "--scale"]),
        ("sms.tsv", None, ["--target", "1", "--text", "2", "--no-header"]),
    ],
)
def test_little_is_loaded(done, tmp_path, name, content, options):
    if content is None:
        write_tsv(tmp_path / name, messages(50))
    else:
        (tmp_path / name).write_text(content)
    done("train", name, "-o", "m", *options)
    expected = done("predict", "m", name, "--scores")
    ran, ended = run(tmp_path, HEAVY, "predict", "m", name, "--scores", "-q")
    assert ended == [0, []]
    assert ran.stdout == expected  # by the loops, to the bit
    shown = done("inspect", "m")
    ran, ended = run(tmp_path, HEAVY[:-1], "inspect", "m")
    assert ended == [0, []]
    assert ran.stdout == shown


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("t.parquet", []),
        pytest.param("t.parquet", ["--memory", "1"], marks=pytest.mark.slow),  # through a cache
        pytest.param(  # while it is read
            "t.parquet", ["--memory", "1", "--max-iter", "1", "--no-scale"], marks=pytest.mark.slow
        ),
        ("t.csv", ["--holdout", "0.2"]),
        ("t.svm", []),
        ("t.svm", ["--learner", "perceptron"]),
        ("@digits", []),
    ],
)
def test_training_a_perceptron(tmp_path, name, options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000 if name == "t.parquet" else 200, 10))
    y = (X[:, 0] > 0).astype(np.int64)
    table = pa.table({f"x{j}": X[:, j] for j in range(10)} | {"label": y})
    if name == "t.svm":
        write_svmlight(tmp_path / name, X, y)
    elif name == "t.csv":
        pa.csv.write_csv(table, tmp_path / name)
    elif name == "t.parquet":
        pa.parquet.write_table(table, tmp_path / name)
    _ran, ended = run(tmp_path, UNUSED, "train", name, "-o", "m", *options)
    assert ended == [0, []]
    by_default = "Perceptron" if name == "t.svm" else "PassiveAggressiveClassifier"
    assert open_model(tmp_path / "m").learner == by_default


def test_saying_that_nothing_separates_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    y = (X[:, 0] > 0) ^ (rng.random(2000) < 0.1)
    pa.csv.write_csv(pa.table({f"x{j}": X[:, j] for j in range(5)} | {"label": y.astype(int)}), tmp_path / "t.csv")
    ran, ended = run(tmp_path, UNUSED, "train", "t.csv", "-o", "m", "--learner", "perceptron")
    assert ended == [0, []]
    assert ran.stderr.count("note: No hyperplane separates these rows") == 1


def test_training_on_texts(tmp_path):
    write_tsv(tmp_path / "sms.tsv", messages(50))
    _ran, ended = run(tmp_path, UNUSED, "train", "sms.tsv", "-o", "m")
    assert ended == [0, []]
    assert open_model(tmp_path / "m").learner == "PassiveAggressiveClassifier"
