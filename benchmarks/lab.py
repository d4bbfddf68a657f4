"""The lab page: script for each frame at 10,000 points, and how soon `rosenblatt lab` prints its address."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.comparison import AtMost, Comparison
from benchmarks.timing import Setup

WEB = Path(__file__).parents[1] / "web"
FRAME = 0.004
START = 1.5


def frames(setup: Setup) -> Iterator[Comparison]:
    """Step through, and jump about in, a run of 389,384 updates on 10,000 points in Chromium."""
    node, chromium = shutil.which("node"), shutil.which("chromium") or shutil.which("google-chrome")
    if node is None or chromium is None or not (WEB / "node_modules" / "playwright-core").exists():
        print("lab: left out, because it needs node, Chromium and `make web`", file=sys.stderr)
        return
    found = json.loads(
        subprocess.run([node, "bench.mjs", chromium], cwd=WEB, check=True, capture_output=True).stdout
    )
    assert found["mistakes"] > 100_000
    for name in ("step", "jump"):
        seconds = [each[name] / 1000 for each in found["rounds"]]
        yield Comparison(
            f"lab page, script of a {name}", "a quarter of a frame", seconds, [FRAME] * len(seconds), AtMost(FRAME)
        )


def start(setup: Setup) -> Iterator[Comparison]:
    """Start `rosenblatt lab` until its address can be opened."""
    seconds = []
    for turn in range(setup.repeats + 1):
        began = time.perf_counter()
        command = [sys.executable, "-m", "rosenblatt", "lab", "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("http://127.0.0.1:")
            if turn:  # the first one fills the disk's cache
                seconds.append(time.perf_counter() - began)
            process.terminate()
    yield Comparison(
        "rosenblatt lab, until its address", "a moment", seconds, [START] * len(seconds), AtMost(START)
    )
