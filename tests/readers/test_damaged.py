"""Files that something happened to: a clean error or rows, and nothing else."""

import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.exceptions import InputError
from tests.readers.files import read, write

CASES = 250
TABLE = {
    "a": [1.5, -2.0, 0.25, 4.0, 1e300] * 5,
    "b": [5, 6, None, 0, 9] * 5,
    "kind": ["red", "blue", None, "ω", "x y"] * 5,
    "text": ["Free, call!", "", 'say "so"', "me\tor you", "no"] * 5,
    "label": ["yes", "no", "no", "yes", "no"] * 5,
}
INTERESTING = (b"", b"\0", b"\xff", b'"', b"\n", b"\r", b",", b"\t", b"{", b"[", b"nan", b"inf", b"9" * 40, b"1e999", b"-")


def mutated(content, random):
    """Flip, cut, insert, repeat or drop a few bytes."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 5))):
        if not data:
            break
        start = random.randrange(len(data))
        match random.randrange(6):
            case 0:
                data[start] ^= 1 << random.randrange(8)
            case 1:
                data[start] = random.randrange(256)
            case 2:
                del data[start:]
            case 3:
                data[start:start] = random.choice(INTERESTING)
            case 4:
                del data[start : start + random.randrange(1, 20)]
            case 5:
                end = start + random.randrange(1, 30)
                data[start:start] = data[start:end]
    return bytes(data)


def originals(folder):
    for ending in ("csv", "tsv", "csv.gz", "csv.zst", "jsonl", "parquet", "arrow", "arrows"):
        yield write(folder, TABLE, ending)
    X = np.arange(24.0).reshape(8, 3)
    np.save(folder / "a.npy", X)
    np.savez(folder / "b.npz", X=X, y=np.array(["p", "q"] * 4))
    np.savez_compressed(folder / "c.npz", X=X, y=np.arange(8) % 2)
    matrix = sp.csr_array(np.eye(8)[:, :5])
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    np.savez(folder / "d.npz", **parts, format="csr", y=np.arange(8) % 2)
    np.savez_compressed(folder / "e.npz", **parts, format="csr", y=np.arange(8) % 2)
    yield from (str(folder / name) for name in ("a.npy", "b.npz", "c.npz", "d.npz", "e.npz"))


def outcome(path, **options):
    """Read a file; a clean error is None, anything unclean passes through."""
    try:
        X, y, source = read(path, **options)
    except InputError as error:
        assert str(error)
        return None
    assert len(X) == len(y) > 0
    assert np.isfinite(X).all()
    assert X.shape[1] == source.n_features < 1000
    return X, y


def run_cases(folder, which, seed):
    """Read many mutated copies of one file, with memory limited."""
    resource = pytest.importorskip("resource")
    path = list(originals(folder))[which]
    read(path, text=("text",) if "table" in path else (), bits=6, missing="zero")  # whatever is imported is by now
    limit = 1 << 32
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    content, shuffled = Path(path).read_bytes(), random.Random(seed)
    damaged = str(folder / f"damaged.{path.split('.', 1)[1]}")
    clean = 0
    for case in range(CASES):
        Path(damaged).write_bytes(mutated(content, shuffled))
        text = {"text": ("text",)} if "table" in path and case % 2 else {}
        skip = bool(case % 3 == 0)
        found = outcome(damaged, **text, bits=6, missing="zero", skip_bad=skip, chunk_bytes=shuffled.choice((40, 1 << 20)))
        clean += found is None
    assert 0 < clean
    return clean


@pytest.mark.parametrize("which", range(13))
def test_damage(tmp_path, which):
    # In a process of its own: one that crashes or eats memory is then a failure like any other.
    code = f"from pathlib import Path; from tests.readers.test_damaged import run_cases; run_cases(Path({str(tmp_path)!r}), {which}, {which})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", ".", os.environ.get("PYTHONPATH", "")])}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False
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
        "from rosenblatt.readers.source import open_source\n"
        "from rosenblatt.readers.options import Options\n"
        f"source = open_source([{str(path)!r}], Options(target=-1))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"assert sum(chunk.features.n_rows for chunk in source.chunks()) == {n_rows}\n"
        "assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
