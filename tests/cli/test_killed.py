"""`rosenblatt train` survives kill -9."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = os.environ.get("ROSENBLATT_KILLS", "10")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kill_dash_nine(tmp_path):
    command = [sys.executable, "-m", "tests.cli.killing", str(tmp_path), KILLS]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every model is that of the undisturbed run" in done.stdout
