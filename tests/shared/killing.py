"""Kill processes while they work, and check what they leave: ``python -m tests.ROOM.killing FOLDER KILLS``.

Each round does some work from nothing. The process that does it is killed at random moments and started again
until it comes to its end, or until there were enough kills. What it was writing when it died stays in the folder.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import traceback
import warnings
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

KILLS = int(os.environ.get("KILLS", "6"))
"""How often the tests kill and interrupt processes: few by default, a thousand in `make test-all`."""

ROOT = Path(__file__).parents[2]


class Work(ABC):
    """Work in a folder of its own that a second process can finish if a first one was killed."""

    longest: ClassVar[float]
    """Seconds that a process may live, at first; more after each kill, for machines that are busy."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number = folder, number

    @abstractmethod
    def do(self) -> None:
        """Do it, or what is left of it."""

    def check_killed(self) -> None:  # noqa: B027  most leave nothing that can be checked
        """Check what a killed process left."""

    @abstractmethod
    def check_done(self) -> None:
        """Check that the result is that of undisturbed work."""


def survives(module: str, folder: Path) -> None:
    """Run a module with a `Work` in a process of its own, which can fork."""
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", module, str(folder), str(KILLS)]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{KILLS} kills in" in done.stdout, done.stdout


def run(kind: type[Work]) -> None:
    """Kill as often as the command line asks for."""
    warnings.simplefilter("ignore")
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    rng, killed, rounds = random.Random(0), 0, 0
    while killed < kills:
        place = folder / str(rounds)
        place.mkdir()
        work = kind(place, rounds)
        killed += _until_done(work, rng, kills - killed)
        work.check_done()
        rounds += 1
    print(f"{killed} kills in {rounds} rounds: every result is that of undisturbed work.")


def _until_done(work: Work, rng: random.Random, most: int) -> int:
    """Let processes work until one of them comes to its end; return how many were killed."""
    for killed in range(most + 1):
        child = os.fork()
        if child == 0:
            _child(work)
        if killed < most:
            time.sleep(rng.uniform(0.0, rng.choice([work.longest / 8, work.longest])) * (1 + killed / 20))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, f"a process failed after {killed} kills"
            return killed
        work.check_killed()
    raise AssertionError("the last process was not killed here, and did not end")


def _child(work: Work) -> None:
    """Work and leave: a fork must never return."""
    try:
        work.do()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
