"""Killed at any moment, a server loses nothing that it acknowledged; the same test finds deliberate bugs."""

import json
import os
import subprocess
import sys

import pytest

from tests.shared.killing import KILLS, ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(os, "fork"), reason="processes are killed after os.fork, which this system lacks"
    ),
]


def killed(folder, kills, *options):
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "tests.server.killing", str(folder), str(kills), *options]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_nothing_acknowledged_is_lost(tmp_path):
    code, said, wrong = killed(tmp_path, KILLS if KILLS < 100 else 6)
    assert code == 0, wrong
    assert "kills: " in said


@pytest.mark.parametrize("more", [[], ["--workers", "2"]], ids=["alone", "workers"])
def test_an_online_scaler_is_replayed_after_kills(tmp_path, more):
    code, said, wrong = killed(tmp_path, min(KILLS, 5), "--scaled", *more)
    assert code == 0, wrong
    assert "kills: " in said


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_in_many_kills(tmp_path):
    """500 kills before a release: `make test-all` sets KILLS to 1000."""
    code, _, wrong = killed(tmp_path, max(6, KILLS // 2))
    assert code == 0, wrong


def test_nothing_acknowledged_is_lost_with_workers(tmp_path):
    """Killed are the process that writes, alone or with its two workers, which predict and pass on examples."""
    code, said, wrong = killed(tmp_path, min(KILLS, 5) if KILLS < 100 else KILLS // 50, "--workers", "2")
    assert code == 0, wrong
    assert json.loads(said.partition(" kills: ")[2])["by workers"] > 0


@pytest.mark.parametrize(
    "mutant, found",
    [
        ("answers-first", "lost: "),
        ("folds-first", "a prediction showed "),
        pytest.param("forgets-keys", "an event without its key", marks=pytest.mark.slow),
    ],
)
def test_deliberate_bugs_are_found(tmp_path, mutant, found):
    """Kills fall where they fall: now and then eight of them miss the moment, so there are up to five rounds."""
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        code, _, wrong = killed(folder, 8 + attempt, "--mutant", mutant)
        if code:
            break
    assert found in wrong, wrong
