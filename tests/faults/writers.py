"""``LD_PRELOAD=shim.so python -m tests.faults.writers FOLDER``: let the disk fail under every writer.

Each writer runs in a copy of this process in which one call for its files fails. It must end with exit code 2 and
a line that names the file, or, where the call did not matter, with everything written. Either way each file is
whole, old or new, and nothing else is left behind.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import sys
import traceback
from pathlib import Path

import numpy as np

import rosenblatt as rb
from rosenblatt.certify import check
from rosenblatt.cli.main import main
from rosenblatt.learning.checkpoint import discard

CALLS = {"open": errno.EROFS, "write": errno.ENOSPC, "fsync": errno.EIO, "fchmod": errno.EIO, "close": errno.EIO,
         "rename": errno.ENOSPC, "ftruncate": errno.EIO}  # fmt: skip
MOST = 4  # calls of one kind that fail in turn: the first ones, and the last


def train(model, *more):
    return ["train", "data.csv", "-o", model, "-q", *more]


def whole_model(path):
    rb.load(path)


def whole_page(path):
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def whole_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) == 400


def whole_trace(path):
    if path.suffix == ".npz":
        rb.Trace.load(path)
    elif path.suffix == ".csv":
        assert path.read_text(encoding="utf-8").endswith("\n")
    else:
        import pyarrow.parquet

        pyarrow.parquet.read_table(path)


CACHE, CHECKPOINT = "big.npy.rosenblatt-cache", ".out.checkpoint"
WRITERS = {
    "model": (train("out"), "out", whole_model),
    "checkpoint": (train("out", "--checkpoint", "1", "--max-iter", "3"), "out", whole_model),
    "cache": (
        ["train", "big.npy", "-o", "out", "-q", "--memory", "1", "--cache", CACHE, "--max-iter", "2"],
        "out",
        whole_model,
    ),
    "proof": (["certify", "data.csv", "-o", "out", "-q"], "out", lambda path: check.read_file(str(path))),
    "predictions": (["predict", "model", "data.csv", "-o", "out", "-q"], "out", whole_lines),
    "report": (["report", "model", "data.csv", "-o", "out.html", "-q"], "out.html", whole_page),
    "trace.npz": (["trace", "data.csv", "-o", "out.npz", "-q"], "out.npz", whole_trace),
    "trace.csv": (["trace", "data.csv", "-o", "out.csv", "-q"], "out.csv", whole_trace),
    "trace.parquet": (["trace", "data.csv", "-o", "out.parquet", "-q"], "out.parquet", whole_trace),
}


def prepare(folder):
    """Write the data and a model, in the folder above the one in which the disk fails."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3)).round(3)
    y = np.where(X @ [1.0, -2.0, 0.5] > 0, "yes", "no")
    rows = zip(X.tolist(), y.tolist(), strict=True)
    lines = ["a,b,c,y", *(",".join([*map(str, row), label]) for row, label in rows)]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    big = rng.standard_normal((20_000, 10))
    np.save(folder / "big.npy", np.column_stack([big, big[:, 0] > 0]))


def run(command, shim, fault, place):
    """Run a command in a copy of this process; return its exit code, what it said, and how often the call came."""
    said = place.parent / "said"
    child = os.fork()
    if child == 0:
        code = 99
        try:
            descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            shim.fault_set(str(place).encode(), *fault)
            code = main(command)
            (place.parent / "seen").write_text(str(shim.fault_seen()))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said.read_text(), int((place.parent / "seen").read_text())


def run_all(folder):
    shim = ctypes.CDLL(None)
    prepare(folder)
    place = folder / "disk"
    place.mkdir()
    for name in ("data.csv", "big.npy"):
        shutil.copy(folder / name, place)
    os.chdir(place)
    assert main(train("model")) == 0
    failures, runs = [], 0
    for name, (command, output, whole) in WRITERS.items():
        assert run(command, shim, (b"none", 0, 0, 0), place)[0] == 0, name
        if name == "cache":
            Path(CACHE).write_bytes(b"an old cache")
        old = {each.name: each.read_bytes() for each in place.iterdir()}
        for call, code in CALLS.items():
            _, _, count = run(command, shim, (call.encode(), 0, 0, 0), place)
            restore(place, old)
            for n in sorted({*range(1, min(count, MOST) + 1), *([count] if count else [])}):
                for lasting in (0, 1):
                    runs += 1
                    ended, said, _ = run(command, shim, (call.encode(), n, code, lasting), place)
                    problem = wrong(name, ended, said, old, place, output, whole)
                    if problem:
                        which = f"{name}, {call} {n} of {count}, lasting {lasting}"
                        failures.append(f"{which}: {problem}: {said[-400:]}")
                    restore(place, old)
        for made in place.iterdir():
            if made.name not in ("data.csv", "big.npy", "model"):
                made.unlink()
    return {"runs": runs, "failures": failures}


def wrong(name, ended, said, old, place, output, whole):
    """Return what is wrong after a fault, or None."""
    now = {each.name: each.read_bytes() for each in place.iterdir()}
    strange = set(now) - set(old) - {CHECKPOINT}
    if strange:
        return f"left behind {sorted(strange)}"
    if ended not in (0, 2) or "Traceback" in said or "defect" in said:
        return f"exit code {ended}"
    if ended == 2 and (said.count("\n") != 1 or not any(each in said for each in (output, CACHE, CHECKPOINT))):
        return "the message does not name the file"
    if not set(old) <= set(now) | {CHECKPOINT}:
        return f"removed {sorted(set(old) - set(now))}"
    try:
        whole(place / output)
    except Exception as error:
        return f"{output} is not whole: {error!r}"
    if ended == 2 and "was written, but" not in said and now[output] != old[output]:
        return "it failed, and the file is new"
    if name == "cache" and now[CACHE] != old[CACHE] and not now[CACHE].startswith(b"rosenblatt cache 1"):
        return "the cache is not whole"
    return None


def restore(place, old):
    """Put all files back as they were."""
    discard(place / "out.checkpoint")
    for each in list(place.iterdir()):
        if each.name not in old:
            each.unlink()
    for name, content in old.items():
        path = place / name
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


if __name__ == "__main__":
    print(json.dumps(run_all(Path(sys.argv[1]).resolve())))
