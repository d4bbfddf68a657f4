"""A disk that fails at any call leaves each file whole; see `tests.faults.writers`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("gcc") is None,
    reason="faults are injected by a library that gcc builds on Linux",
)
def test_a_disk_that_fails_leaves_files_whole(tmp_path):
    library = tmp_path / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    command = [sys.executable, "-m", "tests.faults.writers", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["failures"] == []
    assert found["runs"] > 100
