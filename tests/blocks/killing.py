"""``python -m tests.blocks.killing FOLDER [--kills N] [--seed S]``: end training by SIGKILL, again and again.

Each round trains from nothing, with a cache to be written and checkpoints many times a second. The process that
trains is killed at random moments and started again with ``resume=True`` until it comes to its end, and its model
is compared with that of an undisturbed run, bit for bit. What was being written when it died stays in the folder.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import rosenblatt as rb
from rosenblatt.atomic import write_whole
from rosenblatt.blocks import checkpoint
from rosenblatt.blocks.collect import collect
from tests.blocks.sources import FileSource
from tests.shared.strategies import noisy

BLOCK_BYTES = 1 << 15
SHORT = 0.03  # seconds, in which hardly more than the cache is written
LONGEST = 0.25  # seconds that a process may live, at first; more after each kill, for machines that are busy


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.blocks.killing")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(arguments.seed)
    kills = rounds = 0
    while kills < arguments.kills:
        folder = arguments.folder / str(rounds)
        folder.mkdir()
        X, y = noisy(8000, 10, seed=rounds)
        known = bool(rounds % 2)
        FileSource.write(folder / "data.npy", X, y, step=500, known=known)
        expected = _trained(folder, known=known, disturbed=False)
        kills += _until_done(folder, known, rng)
        found = (folder / "model").read_bytes()
        if found != expected:
            sys.exit(f"Round {rounds} ended with another model than the undisturbed run.")
        rounds += 1
    print(f"{kills} kills in {rounds} rounds: every model is that of the undisturbed run.")


def _until_done(folder: Path, known: bool, rng: np.random.Generator) -> int:
    """Let processes train until one of them has come to its end; return how many were killed."""
    for killed in range(10_000):
        child = os.fork()
        if child == 0:
            _child(folder, known)
        time.sleep(rng.uniform(0.0, rng.choice([SHORT, LONGEST])) * (1 + killed / 20))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status):
                sys.exit(f"A process failed after {killed} kills.")
            return killed
    raise AssertionError("there is no progress")


def _child(folder: Path, known: bool) -> None:
    """Train, save the model and leave without a word."""
    try:
        write_whole(folder / "model", _trained(folder, known=known, disturbed=True))
    except BaseException:  # a fork must never return
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _trained(folder: Path, *, known: bool, disturbed: bool) -> bytes:
    """Return all of a model as bytes."""
    source = FileSource(folder / "data.npy", step=500, known=known)
    checkpoint.SECONDS = 0.01
    if disturbed:
        blocks = collect(source, memory=0, block_bytes=BLOCK_BYTES)
        settings = {"checkpoint": folder / "checkpoint", "every": 2, "resume": True}
    else:
        blocks, settings = collect(source, cache="no", block_bytes=BLOCK_BYTES), {}
    model = rb.Perceptron(max_iter=30, average=True, early_stopping=True, trace="counts").fit_blocks(
        blocks, **settings
    )
    told = [model.stop_reason_, model.mistakes_per_pass_.tolist(), model.curve_.validation.tolist(), model.t_]
    return model._state.w.tobytes() + model._state.u.tobytes() + repr(told).encode()


if __name__ == "__main__":
    main()
