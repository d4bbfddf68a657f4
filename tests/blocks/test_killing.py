"""Killed at random moments, training ends as if it had not been."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("ROSENBLATT_KILLS", "25"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kill_dash_nine(tmp_path):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.blocks.killing", str(tmp_path), "--kills", str(KILLS)]
    path = os.pathsep.join(filter(None, [str(root / "src"), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        command,
        cwd=root,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every model is that of the undisturbed run" in done.stdout
