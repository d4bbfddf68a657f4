"""Campaigns of a fuzzer: batch after batch of inputs, each batch in a process of its own."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.watch import current

BATCH = 20_000


def campaign(module, count, seed=0, kinds="", first=0, folder=None, say=lambda text: None):
    """Read `count` inputs by the batches of a module; return what became of how many, and the finds as lines."""
    total, finds = Counter(), []
    began, at, end = time.monotonic(), first, first + count
    command = [sys.executable, "-m", module, "--kinds", kinds, "--batch", str(seed)]
    while at < end:
        size = min(BATCH, end - at)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            place = Path(name)
            ran = subprocess.run([*command, str(at), str(size), name], capture_output=True, text=True, check=False)
            more = (place / "finds").read_text().splitlines() if (place / "finds").exists() else []
            if (place / "end").exists():
                total.update(json.loads((place / "end").read_text()))
                at += size
            else:
                died = current(place / "at", at)
                more.append(f"{died} ended the process with {ran.returncode}: {ran.stderr.strip()[-800:]!r}")
                at = died + 1
        finds += more
        told = ", ".join(f"{number:,} {what}" for what, number in total.items())
        say(f"{at - first:,} of {count:,} in {time.monotonic() - began:.0f} s: {told}, {len(finds)} finds")
        for each in more:
            say(f"  {each}")
    return total, finds


def main(module, one_batch):
    """Run a campaign, or one batch of it in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--batch", nargs=4)
    given = parser.parse_args()
    if given.batch:
        seed, first, count, place = given.batch
        kinds = [kind for kind in given.kinds.split(",") if kind]
        one_batch(int(seed), int(first), int(count), kinds, Path(place))
        return 0
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    say = lambda text: print(text, flush=True)  # noqa: E731
    _, finds = campaign(module, given.count, given.seed, given.kinds, given.first, shared, say)
    return 1 if finds else 0
