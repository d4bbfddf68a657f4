"""Pipes of a shell, named pipes and /dev/stdin give every byte, and give it once."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import InputError
from rosenblatt.tables.file_source import open_source

pytestmark = pytest.mark.slow

ROWS = 8192


def text_of(kind):
    """Return rows of which far more than the 64 KiB that are looked at make up the text."""
    rng = np.random.default_rng(0)
    X = rng.integers(-999, 1000, (ROWS, 3))
    y = np.where(X @ [3, 2, 1] > 0, 7, 3)
    if kind == "csv":
        rows = ["a,b,c,label", *(f"{a},{b},{c},{label}" for (a, b, c), label in zip(X, y, strict=True))]
    elif kind == "jsonl":
        rows = [
            json.dumps({"a": int(a), "b": int(b), "c": int(c), "label": int(label)})
            for (a, b, c), label in zip(X, y, strict=True)
        ]
    else:
        rows = [f"{label} 1:{a} 2:{b} 3:{c}" for (a, b, c), label in zip(X, y, strict=True)]
    return "".join(row + "\n" for row in rows).encode()


def bash(script, folder, **variables):
    """Run a script in which $R is the command."""
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=os.environ | {"R": f"{sys.executable} -m rosenblatt"} | variables,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize(
    ("kind", "compressed"),
    [
        ("csv", False),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [("csv", True), ("svmlight", True), ("svmlight", False), ("jsonl", False), ("jsonl", True)]
        ),
    ],
)
def test_every_pipe_gives_the_model_of_the_file(tmp_path, kind, compressed):
    text = text_of(kind)
    (tmp_path / "f").write_bytes(gzip.compress(text) if compressed else text)
    ran = bash(
        """
        mkfifo fifo; cat f > fifo &
        $R train f -o file.model --json > file.json &
        $R train <(cat f) -o substituted.model --json > substituted.json &
        $R train fifo -o fifo.model --json > fifo.json &
        cat f | $R train /dev/stdin -o stdin.model --json > stdin.json &
        wait
        """,
        tmp_path,
    )
    expected = rb.load(tmp_path / "file.model")
    for name in ("substituted", "fifo", "stdin"):
        told = json.loads((tmp_path / f"{name}.json").read_text()), ran.stderr
        assert told[0]["rows"] == ROWS, told
        found = rb.load(tmp_path / f"{name}.model")
        found, wanted = (getattr(each, "steps", [(None, each)])[-1][1] for each in (found, expected))
        assert found.classes_.tolist() == [3, 7]
        assert found.coef_.tobytes() == wanted.coef_.tobytes()
        assert found.intercept_.tobytes() == wanted.intercept_.tobytes()


def test_a_pipe_is_predicted_to_its_last_row_and_evaluated(tmp_path):
    (tmp_path / "f.csv").write_bytes(text_of("csv"))
    ran = bash(
        """
        set -e
        $R train f.csv -o m
        $R predict m f.csv > file.txt
        $R predict m <(cat f.csv) > pipe.txt
        cmp file.txt pipe.txt
        wc -l < pipe.txt
        """,
        tmp_path,
    )
    assert ran.returncode == 0, ran
    assert int(ran.stdout.split()[-1]) == ROWS


@pytest.mark.parametrize("ending", ["parquet", "npz", "npy", "arrow"])
def test_formats_of_plain_files_refuse_a_pipe_in_a_sentence(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    X = np.array([[0.0, 1], [1, 0]])
    if ending == "npz":
        np.savez(path, X=X, y=np.array([0, 1]))
    elif ending == "npy":
        np.save(path, X)
    else:
        table = pa.table({"a": [0.0, 1], "label": [0, 1]})
        if ending == "parquet":
            pa.parquet.write_table(table, path)
        else:
            with pa.ipc.new_file(str(path), table.schema) as writer:
                writer.write_table(table)
    ran = bash(f"$R train <(cat {path}) -o m", tmp_path)
    assert ran.returncode == 2
    assert f"{ending} cannot be read from a pipe: save it to a plain file" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "m").exists()


def test_a_stream_of_arrow_comes_through_a_pipe(tmp_path):
    table = pa.table({"a": np.linspace(-1, 1, 40_000), "label": np.repeat([0, 1], 20_000)})
    with pa.ipc.new_stream(str(tmp_path / "t"), table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    ran = bash("$R train <(cat t) -o m --json", tmp_path)
    assert ran.returncode == 0, ran
    assert json.loads(ran.stdout)["rows"] == 40_000


def test_a_pipe_named_twice_and_a_closed_standard_input_are_refused(tmp_path):
    ran = bash("$R train - /dev/stdin -o m < <(echo); $R train - -o m <&-", tmp_path)
    assert "named twice" in ran.stderr
    assert "Standard input is closed" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_second_pass_over_a_pipe_says_what_to_do(tmp_path):
    reader, writer = os.pipe()
    with open(writer, "wb") as file:
        file.write(b"a,label\n1,x\n2,y\n")
    source = open_source([f"/dev/fd/{reader}"])
    assert sum(chunk.n_rows for chunk in source.chunks()) == 2
    with pytest.raises(InputError, match="is a pipe, which can be read only once: save it to a file"):
        list(source.chunks())
    os.close(reader)
