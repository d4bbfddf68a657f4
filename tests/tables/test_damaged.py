"""Files that something happened to: a clean error or rows, and nothing else."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import FormatError
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from tests.shared.examples import examples
from tests.tables.damage import outcome
from tests.tables.files import write

CASES = examples(200)
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "which", [range(3), range(3, 5), range(5, 8), range(8, 13)], ids=["csv", "json", "arrow", "numpy"]
)
def test_damage(tmp_path, which):
    # In a process of its own: one that crashes or eats memory is then a failure like any other.
    command = [sys.executable, "-m", "tests.tables.damage", str(tmp_path), str(CASES), "1", *map(str, which)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_cut(tmp_path):
    for ending in ("csv", "jsonl", "csv.gz", "arrow"):
        path = write(tmp_path, {"a": [1.0, 2.0], "kind": ["p", "q"], "label": ["yes", "no"]}, ending)
        content = Path(path).read_bytes()
        for length in range(0, len(content), 1 if ending in ("csv", "jsonl") else 7):
            Path(path).write_bytes(content[:length])
            found = outcome(path, skip_bad=False)
            assert found is None or ending in ("csv", "jsonl")


def test_a_bomb_is_read_in_parts(tmp_path):
    path = tmp_path / "bomb.npz"
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 4), }"
    n_rows = 2_000_000
    begin = (header % n_rows).ljust(127) + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        member.write(begin)
        for _ in range(64):
            member.write(bytes(n_rows * 32 // 64))
    code = (
        "import resource\n"
        "from rosenblatt.tables.file_source import open_source\n"
        "from rosenblatt.tables.reading import Options\n"
        f"source = open_source([{str(path)!r}], Options(target=-1))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"assert sum(chunk.n_rows for chunk in source.chunks()) == {n_rows}\n"
        "assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_damaged_parquet_gives_all_rows_or_none(tmp_path):
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "n": [5, 6, 7, 8], "label": ["x", "y", "x", "y"]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2, compression="none")
    whole = (tmp_path / "t.parquet").read_bytes()
    path, refused = tmp_path / "damaged.parquet", 0
    for at in range(4, len(whole) - 8):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            n_rows = sum(chunk.n_rows for chunk in open_source([str(path)], Options(chunk_bytes=1)).chunks())
        except FormatError:
            refused += 1
        else:
            assert n_rows == 4, at
    assert refused > 50


@pytest.mark.parametrize("name", ["t.arrow", "t.arrows"])
def test_strings_that_are_nowhere_are_refused_before_they_are_looked_at(tmp_path, name):
    """Which column is the target depends on values of the first rows; a bad place in them ended the process."""
    places = np.array([0, 2**30, 1, 2], np.int32)
    labels = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(places), pa.py_buffer(b"ab")])
    table = pa.RecordBatch.from_arrays([labels, pa.array([1.0, 2.0, 3.0]), labels], ["label", "x", "class"])
    new = pa.ipc.new_file if name == "t.arrow" else pa.ipc.new_stream
    with new(tmp_path / name, table.schema) as writer:
        writer.write_batch(table)
    with pytest.raises(FormatError, match="offset"):
        rb.read_table(tmp_path / name)
