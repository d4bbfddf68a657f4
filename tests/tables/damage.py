"""Files that something happened to, read in a process whose memory is limited."""

import random
import resource
import sys
from pathlib import Path

import numpy as np

from rosenblatt.exceptions import InputError
from rosenblatt.loops.layout import CSR
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from tests.tables.files import write

MEMORY = 1 << 32
"""Bytes of address space: what a damaged file may make the reader ask for at most, libraries included."""

TABLE = {
    "a": [1.5, -2.0, 0.25, 4.0, 1e300] * 5,
    "b": [5, 6, None, 0, 9] * 5,
    "kind": ["red", "blue", None, "ω", "x y"] * 5,
    "text": ["Free, call!", "", 'say "so"', "me\tor you", "no"] * 5,
    "label": ["yes", "no", "no", "yes", "no"] * 5,
}
INTERESTING = (
    b"",
    b"\0",
    b"\xff",
    b'"',
    b"\n",
    b"\r",
    b",",
    b"\t",
    b"{",
    b"[",
    b"nan",
    b"inf",
    b"9" * 40,
    b"1e999",
    b"-",
)


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
    parts = {"data": np.ones(5), "indices": np.arange(5), "indptr": [0, 1, 2, 3, 4, 5, 5, 5, 5], "shape": (8, 5)}
    np.savez(folder / "d.npz", **parts, format="csr", y=np.arange(8) % 2)
    np.savez_compressed(folder / "e.npz", **parts, format="csr", y=np.arange(8) % 2)
    yield from (str(folder / name) for name in ("a.npy", "b.npz", "c.npz", "d.npz", "e.npz"))


def outcome(path, **options):
    """Read a file and give the number of its rows; a clean error is None, anything unclean passes through."""
    try:
        source = open_source([path], Options(**options))
        chunks = list(source.chunks())
    except InputError:
        return None
    for chunk in chunks:
        assert chunk.n_rows == len(chunk.labels) > 0
        assert np.isfinite(chunk.values).all()
        if isinstance(chunk.rows, CSR):
            assert chunk.rows.indptr[-1] == len(chunk.rows.indices) == len(chunk.rows.data)
            assert chunk.rows.indices.max(initial=0) < chunk.n_features
        else:
            assert chunk.rows.shape == (chunk.n_rows, chunk.n_features)
    return sum(chunk.n_rows for chunk in chunks)


def run_cases(folder, which, seed, cases):
    """Read many mutated copies of one file."""
    path = list(originals(folder))[which]
    has_text = {"text": ("text",)} if "table" in path else {}
    assert outcome(path, **has_text, bits=6, missing="zero", skip_bad=True)  # whatever is imported is by now
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    content, chance = Path(path).read_bytes(), random.Random(seed)
    damaged = folder / f"damaged.{path.split('.', 1)[1]}"
    refused = 0
    for case in range(cases):
        damaged.write_bytes(mutated(content, chance))
        try:
            options = {"skip_bad": case % 3 == 0, "chunk_bytes": chance.choice((40, 1 << 20))}
            found = outcome(str(damaged), **(has_text if case % 2 else {}), bits=6, missing="zero", **options)
        except BaseException:
            print(f"case {case} of {path}: kept as {damaged}", file=sys.stderr)
            raise
        refused += found is None
    assert refused > 0
    print(f"{path}: {refused} of {cases} refused", file=sys.stderr)


if __name__ == "__main__":
    cases, seed, *several = map(int, sys.argv[2:])
    for which in several:
        run_cases(Path(sys.argv[1]), which, seed, cases)
